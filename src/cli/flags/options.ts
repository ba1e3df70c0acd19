/** What the options of all commands have in common. */
import { type Command, Option } from 'commander'
import { OPTIONS, type OptionName } from '../../config.ts'
import { CommandError } from '../failures.ts'
import { NONE } from './none.ts'

/** An option of `config.ts`, without commander's own default: `config.ts` decides between flag, variable and default. */
export function optionOf(name: OptionName): Option {
  const { flag, variable, default: usual, doc } = OPTIONS[name]
  return new Option(flag, `${doc} (${variable}${usual ? `, default ${usual}` : ''})`)
}

export function examples(...lines: string[]): string {
  return `\nExamples:\n${lines.map((line) => `  $ ${line}\n`).join('')}`
}

/** For an option that is repeatable or comma-separated, as in a query of the API. */
export function collect(text: string, before: string[] = []): string[] {
  return [...before, ...text.split(',')]
}

/** A text that may be cleared; absent stays absent. */
export function textOrNone(text: string | undefined): string | null | undefined {
  return text === NONE ? null : text
}

/** Throws if a change names no fields. */
export function requireFields(fields: object, command: Command): void {
  if (Object.values(fields).some((value) => value !== undefined)) return
  const options = command.options.map(({ long }) => long).filter((long) => long !== '--json' && long !== '--yes')
  throw new CommandError(`Nothing to change. Use ${options.join(', ')}.`, 2)
}
