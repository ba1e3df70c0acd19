import { type Command, Option } from 'commander'
import type { AgentName } from '../../agents/agent.ts'
import { credentialsPath, removeCredentials, storeCredentials } from '../../agents/credentials.ts'
import { HOOKED_AGENTS } from '../../agents/install/install.ts'
import { readMe } from '../../agents/server.ts'
import { type ClientConfig, readAgentsEnvironment, readAgentsServer, readClientConfigOf } from '../../config.ts'
import type { Me } from '../../features/people/schema.ts'
import { CommandError, EXIT_USAGE } from '../failures.ts'
import { quoted } from '../first-steps.ts'
import { examples, optionOf } from '../flags/options.ts'
import { askSecretly, pipedSecret } from '../terminal/password.ts'
import { note, print } from '../terminal/print.ts'
import { installHooks, planHooks } from './install.ts'
import { withServerIssues } from './server.ts'

interface LoginFlags {
  url?: string
  tokenStdin?: boolean
  install?: AgentName[]
  report?: boolean
}

const KINDS: Record<Exclude<Me['kind'], 'service'>, string> = {
  read: 'a read token, which cannot report',
  organization: 'an organization token, which is only for telemetry',
  api: 'an API token, which cannot report',
  session: 'not a token',
}

const OF_JOB = 'the token of a CI job, which expires within the hour'

export function addAgentsLoginCommands(agents: Command): void {
  agents
    .command('login')
    .description(
      'Check a service token and store it with the URL of its server, for the agents commands and hooks; TALLY_URL and TALLY_TOKEN take precedence',
    )
    .summary('Check a service token, and store it for the agents commands and hooks')
    .addOption(optionOf('url'))
    .option('--token-stdin', 'read the token from standard input instead of asking for it')
    .addOption(
      new Option(
        '--install <agents...>',
        'also install the hooks of these agents, as `tally agents install --yes` does',
      ).choices(HOOKED_AGENTS),
    )
    .option('--report', 'also report past sessions: of the agents of --install, or else of all')
    .addHelpText(
      'after',
      examples(
        'tally agents login --url http://tally.lan:4747',
        'tally agents login --url http://tally.lan:4747 --token-stdin < token.txt',
        'tally agents login --url http://tally.lan:4747 --install claude-code codex --report',
      ),
    )
    .action(async (_flags, command: Command) => {
      const { url, tokenStdin = false, install: agents, report = false } = command.optsWithGlobals<LoginFlags>()
      const token = tokenStdin ? usable(await pipedSecret()) : await askToken('Pipe it in and add --token-stdin.')
      const server = readClientConfigOf(token, { url })
      const { person } = await requireServiceToken(server)
      const hooks = agents && planHooks(agents)
      const path = storeCredentials(readAgentsEnvironment(), server)
      print(`Agents on this machine now report to ${server.url} for ${person.name} (${person.email}).`)
      print(`The token is stored in ${path}, which only you can read.`)
      printOverridden(server)
      if (hooks) await installHooks(hooks, { yes: true })
      if (!report) return
      // Loaded here and not above, as for `tally agents scan`.
      const { runScan } = await import('./scan-run.ts')
      await runScan({ report, ...(agents && { agent: agents }) })
    })

  agents
    .command('logout')
    .description('Remove the token that `tally agents login` stored; it stays valid until it is revoked')
    .addHelpText('after', examples('tally agents logout'))
    .action(() => {
      const environment = readAgentsEnvironment()
      if (!removeCredentials(environment)) return print('No token is stored.')
      print(
        `Removed ${credentialsPath(environment)}. The token stays valid; revoke it on the server with \`tally tokens revoke\`.`,
      )
    })
}

/** `otherwise` is what to do without a terminal. */
export async function askToken(otherwise: string): Promise<string> {
  if (!process.stdin.isTTY) {
    throw new CommandError(`Cannot prompt for the token without a terminal. ${otherwise}`, EXIT_USAGE)
  }
  return usable(await askSecretly((ask) => ask('Service token: '), 'No token was entered. Nothing was stored.'))
}

function usable(token: string): string {
  if (token.trim() === '') throw new CommandError('No token was entered. Nothing was stored.', EXIT_USAGE)
  return token.trim()
}

/** Whose token it is. Throws for one that does not report. */
export async function requireServiceToken(server: ClientConfig): Promise<Me> {
  const me = await withServerIssues(() => readMe(server))
  const other = me.token?.limit ? OF_JOB : me.kind !== 'service' && KINDS[me.kind]
  if (!other) return me
  throw new CommandError(
    `This is ${other}. Create a service token on the server: tally tokens create --kind svc --user ${quoted(me.person.email)} --name agents`,
  )
}

/** Warns if the environment overrides what was just stored. */
function printOverridden(stored: ClientConfig): void {
  const inForce = readAgentsServer({}, stored)
  if (inForce.url !== stored.url) note(`In this shell TALLY_URL is set to ${inForce.url}, which takes precedence.`)
  else if (inForce.token !== stored.token)
    note('In this shell TALLY_TOKEN is set to another token, which takes precedence.')
}
