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

/** As a list of commands shows it: all of them have options. */
export const subcommandTerm = (command: Command): string =>
  [[command.name(), ...command.aliases()].join('|'), command.usage().replace(/\[(options|command)\] ?/g, '')]
    .join(' ')
    .trimEnd()

/** The commands of the program by their headings in its help, which end in a colon there. */
export const commandsByHeading = (program: Command): [heading: string, commands: Command[]][] => [
  ...Map.groupBy(program.commands, (command) => command.helpGroup().slice(0, -1)),
]
