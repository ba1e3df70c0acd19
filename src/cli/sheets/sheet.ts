/** A token sheet on the command line. */
import type { Command } from 'commander'
import type { Party } from '../../access/actor.ts'
import type { TokenEntry } from '../../features/entries/schema.ts'
import type { TokenSheet } from '../../features/sheets/schema.ts'
import type { Services } from '../../services.ts'
import { act } from '../act.ts'
import type { ColumnFlags } from '../terminal/columns.ts'
import { type Column, minute, note, print, printTable } from '../terminal/print.ts'

/** The service, loaded with the database and not before: `--help` does without it. */
export const sheetService = () => import('../../features/sheets/service.ts')

export const SHEET = 'id of the sheet (sht_…)'

const SHEET_COLUMNS: Column<TokenSheet>[] = [
  { title: 'FROM', of: ({ period }) => period.from },
  { title: 'TO', of: ({ period }) => period.to },
  { title: 'PERSON', of: ({ agent_manager }) => agent_manager.name },
  { title: 'STATUS', of: ({ status }) => status },
  { title: 'ENTRIES', of: ({ entries }) => entries.toLocaleString('en'), align: 'right' },
  { title: 'COST (USD)', of: ({ cost, unpriced_entries }) => costText(cost, unpriced_entries), align: 'right' },
  { title: 'PROJECTS', rank: 1, of: ({ projects, has_unplaced }) => placesText(projects, has_unplaced) },
  { title: 'ID', of: ({ id }) => id },
]

/** Money is JSON's exact number, not one to calculate with; its text is that of the JSON. */
export function costText(cost: number, unpriced: number): string {
  return `${JSON.stringify(cost)}${unpriced > 0 ? ` + ${unpriced} unpriced` : ''}`
}

function placesText(projects: TokenSheet['projects'], hasUnplaced: boolean): string {
  return [...projects.map(({ key }) => key), ...(hasUnplaced ? ['(none)'] : [])].join(', ') || '–'
}

export function printSheets(sheets: TokenSheet[], flags?: ColumnFlags): void {
  printTable(SHEET_COLUMNS, sheets, flags)
}

/** What was done with a sheet, and how it is now. */
export const sheetText = (done: string, sheet: TokenSheet): string =>
  [
    `${done} ${sheet.id} (${sheet.agent_manager.name}, ${sheet.period.from} to ${sheet.period.to}).`,
    `  status   ${sheet.status}${sheet.reason === null ? '' : `: ${sheet.reason}`}`,
    `  entries  ${sheet.entries}, ${costText(sheet.cost, sheet.unpriced_entries)} USD`,
    `  on       ${placesText(sheet.projects, sheet.has_unplaced)}`,
  ].join('\n')

/** Changes one sheet and prints the result. */
export function actOnSheet(
  command: Command,
  done: string,
  work: (services: Services, self: Party) => Promise<TokenSheet>,
): Promise<void> {
  return act(
    command,
    work,
    (sheet) => sheet,
    (sheet) => print(sheetText(done, sheet)),
  )
}

export const ENTRY_COLUMNS: Column<TokenEntry>[] = [
  { title: 'STARTED (UTC)', of: ({ started_at }) => minute(started_at) },
  { title: 'HARNESS', rank: 3, of: ({ agent_harness }) => agent_harness },
  { title: 'AGENT', rank: 3, of: ({ agent_name }) => agent_name },
  { title: 'MODEL', rank: 2, of: ({ model }) => model },
  { title: 'TOKENS', rank: 1, of: ({ tokens }) => tokens.total.toLocaleString('en'), align: 'right' },
  { title: 'COST (USD)', of: ({ cost }) => (cost === null ? 'unpriced' : JSON.stringify(cost)), align: 'right' },
  { title: 'PLACE', of: ({ project, ticket }) => [project?.key, ticket?.key].filter(Boolean).join(' ') || '–' },
  { title: 'STATUS', rank: 1, of: ({ status }) => status },
  { title: 'ID', of: ({ id }) => id },
]

/** Says which entries have a reported cost that is far from their list value. */
export function noteMismatches(entries: TokenEntry[]): void {
  for (const entry of entries.filter(({ cost_mismatch }) => cost_mismatch)) {
    note(
      `${entry.id}: the reported cost, $${JSON.stringify(entry.reported_cost)}, is far from the list value, $${JSON.stringify(entry.list_value)}. Check that it is in US dollars, and the price of the model.`,
    )
  }
}

type Overlaps = { entry: Span; reported: Span }[]
interface Span {
  id: string
  agent_harness: string
  started_at: string
  ended_at: string
}

export function printOverlaps(overlaps: Overlaps): void {
  note(`\nThese entries overlap with reported entries of the same person and harness:`)
  for (const { entry, reported } of overlaps) {
    note(`  ${spanText(entry)} and ${spanText(reported)}, both ${entry.agent_harness}`)
  }
}

function spanText({ id, started_at, ended_at }: Span): string {
  return `${id} (${minute(started_at)} to ${minute(ended_at)})`
}
