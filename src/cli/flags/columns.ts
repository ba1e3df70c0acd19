/** The flags of lists that choose columns; `printTable` takes their values. */
import { Option } from 'commander'
import { type Column, columnName } from '../terminal/columns.ts'
import { collect } from './options.ts'

/** @param columns those that the table has; undefined where these depend on what is printed */
export function columnsOption(columns?: readonly Pick<Column<never>, 'title'>[]): Option {
  const names = columns ? `of ${columns.map(columnName).join(', ')}` : 'such as name,id'
  return new Option('--columns <names>', `columns to show, ${names}; repeatable or comma-separated`)
    .argParser<string[]>(collect)
    .conflicts(['csv', 'json', 'wide'])
}

export function wideOption(): Option {
  return new Option('--wide', 'show all columns, even if the terminal is too narrow for them').conflicts('json')
}
