/**
 * CSV for sheets: the template to fill in, the parser for filled templates, and the columns of the exported list. Pure.
 */

import { type Issue, refusal, validationFailed } from '../../errors.ts'
import { isClockTime, momentOfClockTime } from '../../lib/calendar.ts'
import { counted } from '../../lib/counted.ts'
import { type CsvColumn, fieldColumns } from '../../lib/csv-column.ts'
import { csvLines } from '../../lib/csv-lines.ts'
import { timestamp } from '../../lib/duration.ts'
import { parseExactJson } from '../../lib/exact-json.ts'
import { moneyNumber, NANO_DIGITS, parseDecimal } from '../../lib/money.ts'
import type { TokenSheet } from './schema.ts'

/** A row as the body of a draft. Its issues so far are cells that must be numbers but are not. */
export interface DraftRow {
  /** The first line of the row in the file, from 1. */
  line: number
  body: unknown
  issues: Issue[]
}

type Cell = { value: unknown } | { issue: string }

const text = (cell: string): Cell => ({ value: cell })
const count = (cell: string): Cell =>
  /^\d{1,15}$/.test(cell) ? { value: Number(cell) } : { issue: 'must be a whole number, such as 1200' }
const dollars = (cell: string): Cell => {
  const nanos = parseDecimal(cell, NANO_DIGITS)
  return nanos === undefined
    ? { issue: 'must be a decimal number of US dollars, such as 0.063354' }
    : { value: moneyNumber(nanos) }
}
/** A timestamp, or what a clock in the organization's time zone showed. */
const time = (cell: string, timeZone: string): Cell => {
  if (!isClockTime(cell)) return { value: cell }
  const moment = momentOfClockTime(cell, timeZone)
  if (moment !== undefined) return { value: timestamp(moment) }
  return {
    issue: `is not a time in ${timeZone}, or one that occurs twice when clocks are set back: add its UTC offset`,
  }
}
const flag = (cell: string): Cell =>
  /^(true|false)$/i.test(cell) ? { value: cell.toLowerCase() === 'true' } : { issue: 'must be true or false' }

interface Column {
  /** The field of the body. */
  path: string[]
  read: (cell: string, timeZone: string) => Cell
}

/**
 * For each column, the field of the body and the parser of its cells. Single requests and tokens of audio and images are
 * available only in the API: they do not suit a table for people.
 */
const COLUMNS: Record<string, Column> = {
  agent_harness: { path: ['agent_harness'], read: text },
  agent_name: { path: ['agent_name'], read: text },
  model: { path: ['model'], read: text },
  provider: { path: ['provider'], read: text },
  started_at: { path: ['started_at'], read: time },
  ended_at: { path: ['ended_at'], read: time },
  input: { path: ['tokens', 'input'], read: count },
  output: { path: ['tokens', 'output'], read: count },
  cache_read: { path: ['tokens', 'cache_read'], read: count },
  cache_write: { path: ['tokens', 'cache_write'], read: count },
  cache_write_1h: { path: ['tokens', 'cache_write_1h'], read: count },
  input_includes_cache: { path: ['tokens', 'input_includes_cache'], read: flag },
  requests: { path: ['requests'], read: count },
  service_tier: { path: ['service_tier'], read: text },
  speed: { path: ['speed'], read: text },
  region: { path: ['region'], read: text },
  reported_cost: { path: ['reported_cost'], read: dollars },
  project: { path: ['project'], read: text },
  ticket: { path: ['ticket'], read: text },
  summary: { path: ['summary'], read: text },
}

/** Matches a column `label:<name>` or `tool:<name>`, of which there may be any number. */
const NAMED = /^(label|tool):(.+)$/

/** Only the header: an example below it would become an entry for everyone who forgets to remove it. */
export const TEMPLATE = `${[...Object.keys(COLUMNS), 'label:repository', 'label:branch'].join(',')}\r\n`

function columnOf(name: string): Column | undefined {
  const [, kind, named] = NAMED.exec(name) ?? []
  if (named === undefined) return Object.hasOwn(COLUMNS, name) ? COLUMNS[name] : undefined
  return kind === 'label' ? { path: ['labels', named], read: text } : { path: ['tools', named], read: count }
}

/** Converts a pointer into a row's body to one into the file: `/tokens/input` of line 7 becomes `/lines/7/input`. */
export function pointerInFile(line: number, pointer: string): string {
  const path = pointer.slice(1)
  const column = Object.entries(COLUMNS).find(([, { path: way }]) => way.join('/') === path)?.[0]
  return `/lines/${line}/${
    column ??
    path
      .replace(/^labels\//, 'label:')
      .replace(/^tools\//, 'tool:')
      .replace(/^tokens$/, 'input')
  }`
}

/**
 * The rows of a filled template; times without an offset are in the time zone. Throws 422 for text that is not CSV, and
 * for unknown or duplicate columns.
 */
export function readRows(file: string, timeZone: string): DraftRow[] {
  const [first, ...lines] = linesOf(file)
  const names = first?.cells.map((name) => name.trim().toLowerCase()) ?? []
  if (names.length > COLUMNS_LIMIT) {
    throw validationFailed([issue(1, '', 'too_many', `has ${names.length} columns, but the limit is ${COLUMNS_LIMIT}`)])
  }
  const issues = names.flatMap((name, index) => issuesOfColumn(name, names.indexOf(name) !== index))
  if (issues.length > 0) throw validationFailed(issues)
  if (lines.length === 0) throw validationFailed([issue(2, '', 'required', 'is missing: the file has no entries')])
  return lines.map(({ number, cells }) => rowOf(number, names, cells, timeZone))
}

/** Sufficient for a thousand rows with every column, sixteen labels and summaries of several lines. */
const FILE_LIMITS = { lines: 10_000, cells: 60_000 }

/** More columns than any file made from the template has. */
const COLUMNS_LIMIT = 200

function linesOf(file: string) {
  try {
    return csvLines(file, FILE_LIMITS)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw refusal('/lines', 'bad_format', `is not valid CSV: ${error.message}`)
  }
}

function issue(line: number, column: string, code: string, message: string): Issue {
  return { pointer: `/lines/${line}${column && `/${column}`}`, code, message }
}

function issuesOfColumn(name: string, isRepeated: boolean): Issue[] {
  if (isRepeated) return [issue(1, name, 'not_allowed', 'is a duplicate column')]
  if (columnOf(name)) return []
  const hint = name.includes(';')
    ? 'use commas to separate values'
    : `valid columns are ${Object.keys(COLUMNS).join(', ')}, label:… and tool:…`
  return [issue(1, name, 'unknown_field', `is not a column of the template; ${hint}`)]
}

function rowOf(line: number, names: string[], cells: string[], timeZone: string): DraftRow {
  const body: Record<string, unknown> = { tokens: {} }
  const issues: Issue[] = []
  if (cells.length > names.length) {
    issues.push(
      issue(line, '', 'unknown_field', `has ${counted(cells.length, 'value')} for ${counted(names.length, 'column')}`),
    )
  }
  for (const [index, name] of names.entries()) {
    const cell = cells[index]?.trim() ?? ''
    if (cell === '') continue
    const { path, read } = columnOf(name)!
    const cellValue = read(cell, timeZone)
    if ('issue' in cellValue) issues.push(issue(line, name, 'wrong_type', cellValue.issue))
    else put(body, path, cellValue.value)
  }
  // Parsed from text, so that money keeps its exact digits.
  return { line, body: parseExactJson(JSON.stringify(body)), issues }
}

function put(body: Record<string, unknown>, [field, inner]: string[], value: unknown): void {
  if (inner === undefined) body[field!] = value
  else body[field!] = { ...(body[field!] as object | undefined), [inner]: value }
}

const decimal = (money: number | null) => (money === null ? null : JSON.stringify(money))

/** A sheet, and the addresses of the people in it, which lists of sheets do not have. */
export type SheetLine = TokenSheet & { agent_manager_email: string; decided_by_email: string | null }

export const SHEET_COLUMNS: CsvColumn<SheetLine>[] = [
  ...fieldColumns<SheetLine>('id', 'status'),
  { heading: 'agent_manager', cell: ({ agent_manager }) => agent_manager.name },
  { heading: 'from', cell: ({ period }) => period.from },
  { heading: 'to', cell: ({ period }) => period.to },
  ...fieldColumns<SheetLine>('entries', 'unpriced_entries', 'tokens'),
  { heading: 'cost', cell: ({ cost }) => decimal(cost) },
  { heading: 'list_value', cell: ({ list_value }) => decimal(list_value) },
  { heading: 'projects', cell: ({ projects }) => projects.map(({ key }) => key).join(' ') },
  ...fieldColumns<SheetLine>('note', 'reason', 'submitted_at', 'decided_at'),
  { heading: 'decided_by', cell: ({ decided_by }) => decided_by?.name },
  { heading: 'created_at', cell: ({ created_at }) => created_at },
  { heading: 'agent_manager_id', cell: ({ agent_manager }) => agent_manager.id },
  { heading: 'agent_manager_email', cell: ({ agent_manager_email }) => agent_manager_email },
  { heading: 'decided_by_id', cell: ({ decided_by }) => decided_by?.id },
  { heading: 'decided_by_email', cell: ({ decided_by_email }) => decided_by_email },
]
