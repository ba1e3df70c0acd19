/**
 * The weekly grid of a sheet: rows are what is worked on, columns are days, and a cell shows one number of the entries
 * that started on its day. Pure.
 */
import { count, roughCount } from '../../format/counts.ts'
import { addDays, dayOf, momentOf, timeAt } from '../../format/moments.ts'
import { fineMoney } from '../../format/money.ts'
import { type NumberRead, plainNumber, readCount, readDecimal } from '../../format/read-numbers.ts'
import type { Period } from '../../parts/period.ts'
import { isCostOnly } from './entry-values.ts'
import type { SheetEntry } from './sheet-body.ts'

export const MEASURES = {
  cost: 'Cost (USD)',
  input: 'Input tokens',
  output: 'Output tokens',
  cache_read: 'Cache read tokens',
  cache_write: 'Cache write tokens',
  total: 'All tokens',
} as const
export type Measure = keyof typeof MEASURES

/** Sums of several fields: their cells cannot be edited. */
export const isReadOnly = (measure: Measure): boolean => measure === 'total'

/** What the entries of a row have in common, and what a new one in it gets. Empty strings if absent. */
export interface RowSubject {
  agent_harness: string
  agent_name: string
  model: string
  provider: string
  project: string
  ticket: string
  summary: string
  labels: Record<string, string>
}

export interface GridRow {
  key: string
  subject: RowSubject
  /** The entries of each day of the week. */
  days: Map<string, SheetEntry[]>
}

/** Rows are distinguished by what is worked on and by whom, not by summaries and labels. */
const rowKey = ({ ticket, project, agent_harness, agent_name, model, provider }: RowSubject): string =>
  JSON.stringify([project, ticket, agent_harness, agent_name, model, provider])

/** A place that a rule assigned is left out: rules also place the next entry, by its labels. */
export function subjectOf(entry: SheetEntry): RowSubject {
  const { placement } = entry
  const isNamed = placement.by !== 'rule'
  return {
    agent_harness: entry.agent_harness,
    agent_name: entry.agent_name,
    model: entry.model,
    provider: entry.provider ?? '',
    project: (isNamed && entry.project?.key) || placement.named_project || '',
    ticket: (isNamed && entry.ticket?.key) || placement.named_ticket || '',
    summary: entry.summary ?? '',
    labels: entry.labels,
  }
}

/** The first days of the period's weeks; `firstDayOfWeek` is 0 for Sunday. */
export function weeksOf({ from, to }: Period, firstDayOfWeek: number): string[] {
  const weekday = new Date(`${from}T00:00:00Z`).getUTCDay()
  const weeks: string[] = []
  for (let week = addDays(from, -((weekday - firstDayOfWeek + 7) % 7)); week <= to; week = addDays(week, 7)) {
    weeks.push(week)
  }
  return weeks
}

/** The days of a week within the period. */
export const daysOfWeek = (week: string, { from, to }: Period): string[] =>
  [0, 1, 2, 3, 4, 5, 6].map((day) => addDays(week, day)).filter((day) => day >= from && day <= to)

/** The week with a day, or else the nearest one. */
export const weekWith = (weeks: string[], day: string): string => weeks.findLast((week) => week <= day) ?? weeks[0]!

/** The day whose week a grid shows first: today if something can be added then, or else the day of the last entry. */
export function firstDayShown(
  entries: readonly SheetEntry[],
  { to }: Period,
  { today, mayEdit, time_zone }: { today: string; mayEdit: boolean; time_zone: string },
): string {
  if (mayEdit && today <= to) return today
  const last = entries
    .map(({ started_at }) => started_at)
    .toSorted()
    .at(-1)
  return last === undefined ? today : dayOf(new Date(last), time_zone)
}

/** Rows of entries, oldest first, and rows that have none yet. */
export function rowsOf(entries: SheetEntry[], added: RowSubject[], timeZone: string): GridRow[] {
  const rows = new Map<string, GridRow>()
  for (const entry of entries.toSorted((one, other) => (one.started_at < other.started_at ? -1 : 1))) {
    const subject = subjectOf(entry)
    const key = rowKey(subject)
    const row: GridRow = rows.get(key) ?? { key, subject, days: new Map() }
    const day = dayOf(new Date(entry.started_at), timeZone)
    row.days.set(day, [...(row.days.get(day) ?? []), entry])
    // A new entry is like the last one.
    rows.set(key, { ...row, subject })
  }
  for (const subject of added) {
    const key = rowKey(subject)
    if (!rows.has(key)) rows.set(key, { key, subject, days: new Map() })
  }
  return [...rows.values()]
}

export interface Sum {
  /** Of the known values; null if there are none. */
  value: number | null
  /** Entries whose cost is unknown, which the sum leaves out. */
  unpriced: number
}

const NANOS = 1e9

/** Adds costs as integers, because a sum of decimal fractions is not exact. */
export function sumOf(entries: readonly SheetEntry[], measure: Measure): Sum {
  const values = entries.map((entry) => numberOf(entry, measure))
  const known = values.filter((value) => value !== null)
  const scale = measure === 'cost' ? NANOS : 1
  const sum = known.reduce((total, value) => total + Math.round(value * scale), 0) / scale
  return { value: known.length === 0 ? null : sum, unpriced: values.length - known.length }
}

function numberOf(entry: SheetEntry, measure: Measure): number | null {
  return measure === 'cost' ? entry.cost : isCostOnly(entry) ? null : entry.tokens[measure]
}

/** The number of a cell or a total; empty if there is none. */
export function cellText({ value, unpriced }: Sum, measure: Measure): string {
  if (value === null) return measure === 'cost' && unpriced > 0 ? 'no price' : ''
  return measure === 'cost' ? fineMoney(value) : roughCount(value)
}

/** All digits, for the editor, for copying, and on hover. */
export const exactText = ({ value }: Sum): string => (value === null ? '' : plainNumber(value))

const COST_DIGITS = 9

export const readCell = (text: string, measure: Measure): NumberRead =>
  measure === 'cost' ? readDecimal(text, { digits: COST_DIGITS, currency: 'USD', min: 0 }) : readCount(text)

/** The cells of a block that is copied from a spreadsheet. */
export function cellsOfBlock(text: string): string[][] {
  const lines = text.replace(/\r\n?/g, '\n').replace(/\n$/, '').split('\n')
  return lines.map((line) => line.split('\t'))
}

type Counts = { input: number; output: number; cache_read?: number; cache_write?: number; cache_write_1h?: number }

/** A change of one cell, as requests of the API, and the requests that undo it. */
export type Edit =
  | { kind: 'add'; row: GridRow; day: string; tokens: Counts; reportedCost: number | null }
  | { kind: 'change'; entry: SheetEntry; tokens?: Counts; reportedCost?: number | null }
  | { kind: 'remove'; entry: SheetEntry }
  /** Adds an entry again that was removed. */
  | { kind: 'restore'; entry: SheetEntry }

/** What setting a cell to a value does; an empty string clears it. Undefined if nothing changes, or why it can't be. */
export function editOf(
  row: GridRow,
  day: string,
  { measure, value }: { measure: Measure; value: number | '' },
): Edit | { issue: string } | undefined {
  const [entry, ...others] = row.days.get(day) ?? []
  if (others.length > 0) {
    return { issue: `This cell is the sum of ${count(others.length + 1)} entries. Edit them in the list.` }
  }
  if (measure === 'total') return { issue: 'This is a sum. Choose one kind of tokens to edit it.' }
  if (!entry) {
    if (value === '') return undefined
    const tokens = { input: 0, output: 0, ...(measure === 'cost' ? {} : { [measure]: value }) }
    return { kind: 'add', row, day, tokens, reportedCost: measure === 'cost' ? value : null }
  }
  if (measure === 'cost') {
    if (value === '' && entry.tokens.total === 0) return { kind: 'remove', entry }
    const reportedCost = value === '' ? null : value
    return reportedCost === entry.reported_cost ? undefined : { kind: 'change', entry, reportedCost }
  }
  const otherTokens = entry.tokens.total - entry.tokens[measure]
  if (value === '' && otherTokens === 0 && entry.reported_cost === null) return { kind: 'remove', entry }
  const next = value === '' ? 0 : value
  return next === entry.tokens[measure]
    ? undefined
    : { kind: 'change', entry, tokens: { ...countsOf(entry), [measure]: next } }
}

/** The counts of an entry with its audio and images, which a change of the others keeps. */
export function countsOf({ tokens }: Pick<SheetEntry, 'tokens'>): Counts {
  const { input, output, cache_read, cache_write, cache_write_1h } = tokens
  const { input_audio, input_image, output_audio, output_image } = tokens
  const media = Object.entries({ input_audio, input_image, output_audio, output_image })
  return {
    ...{ input, output, cache_read, cache_write, cache_write_1h },
    ...Object.fromEntries(media.filter(([, counted]) => counted !== null)),
  }
}

/** Noon, so that no change of clocks moves an entry to another day. */
const TIME_OF_DAY = '12:00:00'

/** When an entry that is added to a day starts and ends: now if it is today. */
export function momentOfDay(day: string, timeZone: string, now = new Date()): string {
  const clock = timeAt(now.toISOString(), timeZone)
  return momentOf(clock.startsWith(day) ? `${clock.slice(0, 16)}:00` : `${day} ${TIME_OF_DAY}`, timeZone)
}

/** The request that adds an entry to a row. */
export function draftOfEdit(
  { row, day, tokens, reportedCost }: Extract<Edit, { kind: 'add' }>,
  timeZone: string,
  now?: Date,
) {
  const at = momentOfDay(day, timeZone, now)
  return {
    ...draftOfSubject(row.subject),
    started_at: at,
    ended_at: at,
    tokens,
    ...(reportedCost === null ? {} : { reported_cost: reportedCost }),
  }
}

function draftOfSubject({ agent_harness, agent_name, model, labels, ...optional }: RowSubject) {
  const texts = Object.fromEntries(Object.entries(optional).filter(([, text]) => text !== ''))
  return {
    agent_harness,
    agent_name,
    model,
    ...(texts as Partial<typeof optional>),
    ...(Object.keys(labels).length === 0 ? {} : { labels }),
  }
}

/** The request that adds an entry again after it was removed. */
export const draftOfEntry = (entry: SheetEntry) => ({
  ...draftOfSubject(subjectOf(entry)),
  started_at: entry.started_at,
  ended_at: entry.ended_at,
  tokens: countsOf(entry),
  ...(entry.reported_cost === null ? {} : { reported_cost: entry.reported_cost }),
  ...present({
    requests: entry.requests,
    requests_above: entry.requests_above,
    service_tier: entry.service_tier,
    speed: entry.speed,
    region: entry.region,
    tools: entry.tools,
  }),
})

type Present<Fields> = { [Name in keyof Fields]?: NonNullable<Fields[Name]> }

const present = <Fields extends object>(fields: Fields): Present<Fields> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)) as Present<Fields>

/** The request that changes an entry. Long requests are kept: the API replaces them with the counts. */
export const changeOfEdit = ({ entry, tokens, reportedCost }: Extract<Edit, { kind: 'change' }>) => ({
  ...(tokens === undefined ? {} : { tokens, ...present({ requests_above: entry.requests_above }) }),
  ...(reportedCost === undefined ? {} : { reported_cost: reportedCost }),
})

/** The optional fields that the organization requires and an entry lacks, as the server counts them. */
export function missingFields(entry: SheetEntry, required: readonly string[]): string[] {
  const { placement } = entry
  const has: Record<string, boolean> = {
    project: entry.project !== null || placement.named_project !== null,
    ticket: entry.ticket !== null || placement.named_ticket !== null,
    summary: entry.summary !== null,
    provider: entry.provider !== null,
    requests: entry.requests !== null,
    reported_cost: entry.reported_cost !== null,
  }
  return required.filter((field) =>
    field.startsWith('label:') ? !Object.hasOwn(entry.labels, field.slice('label:'.length)) : has[field] === false,
  )
}

/** The edits of a block that is pasted at a cell; or the first text that can't be read, and where. */
export function editsOfBlock(
  block: string[][],
  { rows, days, at, measure }: { rows: GridRow[]; days: string[]; at: { row: number; day: number }; measure: Measure },
): { edits: Edit[] } | { issue: string } {
  const edits: Edit[] = []
  for (const [down, cells] of block.entries()) {
    for (const [right, text] of cells.entries()) {
      const row = rows[at.row + down]
      const day = days[at.day + right]
      const place = `Row ${down + 1}, column ${right + 1} of what you pasted`
      if (!row || day === undefined) return { issue: `${place} is outside of the grid. Nothing was pasted.` }
      const read = readCell(text, measure)
      if ('issue' in read) return { issue: `${place}: ${read.issue} Nothing was pasted.` }
      const edit = editOf(row, day, { measure, value: read.value })
      if (edit && 'issue' in edit) return { issue: `${place}: ${edit.issue} Nothing was pasted.` }
      if (edit) edits.push(edit)
    }
  }
  return { edits }
}
