import type { Command } from 'commander'
import { readConfig } from '../../config.ts'
import { passwordLinkBody } from '../../features/people/schema.ts'
import { linkBaseOf, noteUnsetPublicUrl } from '../address.ts'
import { examples, optionOf } from '../flags/options.ts'
import { note, print, printJson } from '../terminal/print.ts'
import type { CommandFlags } from '../with-services.ts'
import { withServices } from '../with-services.ts'
import { USER } from './user.ts'

/** `tally users invite` and `reset-password`. */
export function addUsersLinkCommands(users: Command): void {
  users
    .command('invite')
    .description('Print a one-time link to choose a first password; it expires in a week')
    .argument('<user>', USER)
    .addOption(optionOf('publicUrl'))
    .addOption(optionOf('host'))
    .addOption(optionOf('port'))
    .option('--json', 'print the link, its expiry and the person as JSON')
    .addHelpText(
      'after',
      examples(
        'tally users invite grace@example.com',
        'tally users invite grace@example.com --json',
        'tally users invite grace@example.com --public-url https://tally.example.com',
      ),
    )
    .action((who: string, _flags, command: Command) => printLink(who, 'invitation', command))

  users
    .command('reset-password')
    .description('Print a one-time link to choose a new password; it expires in a day')
    .argument('<user>', USER)
    .addOption(optionOf('publicUrl'))
    .addOption(optionOf('host'))
    .addOption(optionOf('port'))
    .option('--json', 'print the link, its expiry and the person as JSON')
    .addHelpText('after', examples('tally users reset-password grace@example.com'))
    .action((who: string, _flags, command: Command) => printLink(who, 'password', command))
}

/** Prints a one-time link to choose a password, and when it expires. */
async function printLink(who: string, purpose: 'invitation' | 'password', command: Command): Promise<void> {
  const flags = command.optsWithGlobals<CommandFlags & { publicUrl?: string; host?: string; port?: string }>()
  const { made, base } = await withServices(flags, async (services, { by }) => {
    const base = await linkBaseOf(services, readConfig(flags))
    return { made: await services.people.createPasswordLink(who, purpose, base.url, by), base }
  })
  const { user, link, expires_at } = passwordLinkBody(made)
  if (flags.json) {
    printJson({ user, link, expires_at })
    return noteUnsetPublicUrl(base)
  }
  // The link alone goes to standard output, so that a script can send it.
  print(link)
  note(
    `${user.name} (${user.email}) can use this link once to choose a password, until ${expires_at}. Earlier links no longer work.`,
  )
  noteUnsetPublicUrl(base)
}
