/** The commands as a tree, for what describes all of them. */
import type { Command } from 'commander'

/** A command and those below it, each before its own. */
export function* withSubcommands(command: Command): Generator<Command> {
  yield command
  for (const each of command.commands) yield* withSubcommands(each)
}

/** As it is called: `tally bills send`. */
export const fullNameOf = (command: Command): string =>
  command.parent ? `${fullNameOf(command.parent)} ${command.name()}` : command.name()
