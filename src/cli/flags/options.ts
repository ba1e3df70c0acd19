/** The options of `config.ts` as commander takes them, and how every command shows its examples. */
import { Option } from 'commander'
import { OPTIONS, type OptionName } from '../../config.ts'

/** Without commander's own default: `config.ts` decides between flag, variable and default. */
export function optionOf(name: OptionName): Option {
  const { flag, variable, default: usual, doc } = OPTIONS[name]
  return new Option(flag, `${doc} (${variable}${usual ? `, default ${usual}` : ''})`)
}

export function examples(...lines: string[]): string {
  return `\nExamples:\n${lines.map((line) => `  $ ${line}\n`).join('')}`
}
