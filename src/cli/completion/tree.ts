import type { Command } from 'commander'
import { fullNameOf, withSubcommands } from '../command-tree.ts'

/** What may follow a command: its sub-commands and options, each with a description of one line. */
export interface Completed {
  /** Without the program's name: `bills send`; empty for the program itself. */
  path: string
  words: readonly Word[]
}

export interface Word {
  word: string
  description: string
  kind: 'command' | 'option'
  /** Whether a value follows the option. */
  takesValue: boolean
}

const firstLine = (text: string) => text.split(/[\n;:]/, 1)[0]!.trim()

/** Of every command of the program, itself first. */
export const completions = (program: Command): Completed[] =>
  [...withSubcommands(program)].map((command) => ({
    path: fullNameOf(command).slice(program.name().length).trim(),
    words: [...subcommandsOf(command), ...optionsOf(command)],
  }))

const subcommandsOf = (command: Command) =>
  command.commands.map((each) => ({
    word: each.name(),
    description: firstLine(each.description()),
    kind: 'command' as const,
    takesValue: false,
  }))

const optionsOf = (command: Command) =>
  command
    .createHelp()
    .visibleOptions(command)
    .map(({ long, short, description, required }) => ({
      word: (long ?? short)!,
      description: firstLine(description),
      kind: 'option' as const,
      takesValue: required,
    }))
