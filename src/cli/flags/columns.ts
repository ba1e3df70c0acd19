/** The flags of lists that choose columns; `printTable` takes their values. */
import { Option } from 'commander'
import { collect } from './options.ts'

export function columnsOption(): Option {
  return new Option('--columns <names>', 'columns to show, such as name,id; repeatable or comma-separated')
    .argParser<string[]>(collect)
    .conflicts(['csv', 'json', 'wide'])
}

export function wideOption(): Option {
  return new Option('--wide', 'show all columns, even if the terminal is too narrow for them').conflicts('json')
}
