/** The declaration of commands that ask before they change something. */
import type { Command } from 'commander'
import { requireTerminal } from '../terminal/confirm.ts'

/** Whether this command line asks. One that first shows what it changes leaves the refusal to `confirm`. */
type Asks<Flags> = (flags: Flags, args: string[]) => boolean

/** Of a command that asks only if it finds something to ask about: nothing is refused before that. */
export const DEPENDS_ON_DATA = () => false

/**
 * Declares that a command asks before it does what cannot be undone, or changes everything that filters select: on a
 * terminal, `confirm` shows a question; without one, the command refuses before it opens the database. `--yes` answers,
 * and a dry run changes nothing.
 */
export function asksFirst<Flags>(command: Command, asks: Asks<Flags> = () => true): Command {
  return command.option('-y, --yes', 'skip the confirmation').hook('preAction', (_command, self) => {
    const flags = self.optsWithGlobals<Flags & { yes?: boolean; dryRun?: boolean }>()
    if (flags.yes || flags.dryRun || !asks(flags, self.args)) return
    requireTerminal({ dryRun: self.options.some(({ long }) => long === '--dry-run') })
  })
}
