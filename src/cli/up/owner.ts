/** Whose machine this is, as git and the system know them. */
import { hostname, userInfo } from 'node:os'
import { foldEmail, issuesOfEmail, issuesOfName, issuesOfTimeZone } from '../../schema/fields.ts'
import { localeOf } from '../../shared/locales.ts'

export interface Owner {
  name: string
  email: string
  /** Where both are from. */
  isFromGit: boolean
}

export function findOwner(): Owner {
  const [name, email] = [gitSetting('user.name'), gitSetting('user.email')]
  const known = {
    name: name !== undefined && issuesOfName(name, '').length === 0 ? name : undefined,
    email: email !== undefined && isEmail(email) ? email : undefined,
  }
  return {
    name: known.name ?? userInfo().username,
    email: known.email ?? systemEmail(),
    isFromGit: known.name !== undefined && known.email !== undefined,
  }
}

const isEmail = (text: string) => issuesOfEmail(foldEmail(text), '').length === 0

/** Undefined without git. Of the person rather than of the repository in which the command happens to run. */
function gitSetting(name: string): string | undefined {
  const git = Bun.which('git')
  if (!git) return undefined
  for (const scope of [['--global'], []]) {
    const { exitCode, stdout } = Bun.spawnSync([git, 'config', ...scope, '--get', name], {
      stdin: 'ignore',
      stderr: 'ignore',
    })
    const value = stdout.toString().trim()
    if (exitCode === 0 && value !== '') return value
  }
  return undefined
}

/** An address that nothing is sent to, but by which the person is known. */
function systemEmail(): string {
  const email = `${userInfo().username}@${hostname().toLowerCase()}.local`
  return isEmail(email) ? email : 'you@localhost.invalid'
}

/** As this machine is set. */
export function ownOrganization(name: string) {
  const { timeZone, locale } = new Intl.DateTimeFormat().resolvedOptions()
  return {
    name,
    timeZone: issuesOfTimeZone(timeZone, '').length === 0 ? timeZone : 'UTC',
    currency: 'USD',
    locale: localeOf(locale) ?? null,
  }
}
