/** The flags that filter the entries of a list or report; they correspond to the parameters of the API. */
import { type Command, Option } from 'commander'
import type { QueryTexts } from '../../schema/query.ts'
import {
  ENTRY_FILTER_LIST,
  type EntryFilterName,
  isListFilter,
  type ListFilterName,
} from '../../shared/entry-filters.ts'
import { collect } from './options.ts'
import { addDayAndEarlierFlags, type DayFlags, dayTexts } from './period.ts'
import { readYesNo } from './yes-no.ts'

/** As commander names the value of `--agent-name`: `agentName`. */
type CamelCase<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Name

export type EntryFilterFlags = DayFlags & {
  [Name in EntryFilterName as CamelCase<Name>]?: Name extends ListFilterName ? string[] : string
}

/** A label as in other commands, or as in the API; the name of a label contains neither sign. */
const collectLabel = (text: string, before?: string[]): string[] => collect(text.replace(/^([^=:]+)=/, '$1:'), before)

/** The period has flags of its own. */
const OPTIONS = ENTRY_FILTER_LIST.filter(([, { group }]) => group !== 'period').map(
  ([name, { kind, argument, help, group }]) => {
    const option = new Option(`--${name.replaceAll('_', '-')} <${argument}>`, help)
    if (kind === 'flag') option.argParser((text) => String(readYesNo(text)))
    if (isListFilter(name)) option.argParser<string[]>(kind === 'labels' ? collectLabel : collect)
    return { name, group, option }
  },
)

type Group = (typeof OPTIONS)[number]['group']

function addGroups(command: Command, groups: Group[]): Command {
  for (const one of groups) {
    for (const { group, option } of OPTIONS) if (group === one) command.addOption(option)
  }
  return command
}

export const addEntryFilters = (command: Command): Command =>
  addGroups(addDayAndEarlierFlags(command, 'sessions that started'), ['subject', 'state'])

/** For a report with flags for a period of its own. */
export const addReportFilters = (command: Command): Command => addGroups(command, ['subject', 'state'])

/** For a report that itself selects the state of the entries, too. */
export const addSubjectFilters = (command: Command): Command => addGroups(command, ['subject'])

/** The flags as parameters of the API, which validates them. */
export function entryFilterTexts(flags: EntryFilterFlags): QueryTexts {
  const others = OPTIONS.map(({ name, option }) => [name, flags[option.attributeName() as keyof EntryFilterFlags]])
  return { ...dayTexts(flags), ...Object.fromEntries(others) }
}
