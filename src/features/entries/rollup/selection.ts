/** The filter of entries and what the viewer may see, as tests of the columns of segments. Pure. */
import type { Viewer } from '../../../access/visibility.ts'
import type { EntryFilter } from '../listing/filter.ts'
import type { Column } from './column.ts'
import type { Key, Measure, Segment } from './segment.ts'

/** The filters that a segment's columns can answer, with the attribute that each of them tests. */
export const TESTED: Partial<Record<keyof EntryFilter, Key>> = {
  project: 'projectId',
  client: 'projectId',
  billable: 'projectId',
  ticket: 'ticketId',
  agent_manager: 'managerId',
  agent_name: 'agentId',
  agent_harness: 'harnessId',
  model: 'modelId',
  provider: 'providerId',
  status: 'status',
  source: 'source',
  label: 'labelSetId',
  without_label: 'labelSetId',
  placed: 'placedBy',
  superseded: 'superseded',
  possible_duplicate: 'isPossibleDuplicate',
}

/** Those that the measures of an entry answer. */
const MEASURED = {
  priced: ['listValue', 'reportedCost'],
  ended_after: ['startedAt', 'duration'],
} as const satisfies Partial<Record<keyof EntryFilter, readonly Measure[]>>

const VISIBILITY_KEYS: readonly Key[] = ['managerId', 'projectId']

const TIMES: readonly (keyof EntryFilter)[] = ['starting_at', 'ending_at']

/** The columns that a test of entries reads. */
export interface TestedColumns {
  keys: Key[]
  /** Which only segments of entries have. */
  measures: Measure[]
}

/** What a filter and a viewer test; undefined if columns can't answer the filter. The period is not tested. */
export function testedColumns(filter: EntryFilter, viewer: Viewer): TestedColumns | undefined {
  const keys = new Set<Key>(viewer.sees === 'everything' ? [] : VISIBILITY_KEYS)
  const measures = new Set<Measure>()
  for (const [name, value] of Object.entries(filter) as [keyof EntryFilter, unknown][]) {
    if (value === undefined || TIMES.includes(name)) continue
    const key = TESTED[name]
    const measured = MEASURED[name as keyof typeof MEASURED] as readonly Measure[] | undefined
    if (!key && !measured) return undefined
    if (key) keys.add(key)
    for (const measure of measured ?? []) measures.add(measure)
  }
  return { keys: [...keys], measures: [...measures] }
}

/** Keys that pass, by key + 1; 1 is true. */
export type Passing = Uint8Array

export class Selection {
  constructor(
    readonly tests: readonly { key: Key; passing: Passing }[],
    readonly measured: Pick<EntryFilter, keyof typeof MEASURED>,
    readonly visible: { managerId: number; projects: Passing } | undefined,
  ) {}

  /** The rows that pass, in order, of those from `from` to before `to`; undefined if all rows of the segment do. */
  rowsOf(segment: Segment, from = 0, to = segment.length): Int32Array | undefined {
    let rows: Int32Array | undefined = from === 0 && to === segment.length ? undefined : rangeOf(from, to)
    for (const { key, passing } of this.tests) {
      const column = segment.column(key)
      if (!mayPass(passing, column)) return NO_ROWS
      if (column.constant !== undefined) continue
      rows = filtered(segment.keys(key), passing, rows)
      if (rows.length === 0) return rows
    }
    const { priced, ended_after: moment } = this.measured
    if (priced !== undefined) rows = pricedRows(segment, priced, rows)
    if (moment !== undefined) rows = laterRows(segment, moment, rows)
    return this.visible ? visibleRows(segment, this.visible, rows) : rows
  }
}

const NO_ROWS = new Int32Array(0)

/** Whether a value of the column may pass; of a constant, whether it does. */
function mayPass(passing: Passing, { range, hasNulls }: Column): boolean {
  if (hasNulls && passes(passing, -1)) return true
  return range !== undefined && passing.subarray(range.min + 1, range.max + 2).includes(1)
}

function passes(passing: Passing, key: number): boolean {
  return passing[key + 1] === 1
}

function rangeOf(from: number, to: number): Int32Array {
  return Int32Array.from({ length: Math.max(0, to - from) }, (_, at) => from + at)
}

function filtered(keys: Int32Array, passing: Passing, rows: Int32Array | undefined): Int32Array {
  const found = new Int32Array(rows?.length ?? keys.length)
  let count = 0
  if (rows) {
    for (const row of rows) if (passing[keys[row]! + 1] === 1) found[count++] = row
  } else {
    for (let row = 0; row < keys.length; row += 1) if (passing[keys[row]! + 1] === 1) found[count++] = row
  }
  return found.subarray(0, count)
}

function pricedRows(segment: Segment, isPriced: boolean, rows: Int32Array | undefined): Int32Array {
  const isAllPriced = !segment.column('listValue').hasNulls || !segment.column('reportedCost').hasNulls
  if (isAllPriced) return isPriced ? (rows ?? rangeOf(0, segment.length)) : NO_ROWS
  const [list, reported] = [segment.integers('listValue').values, segment.integers('reportedCost').values]
  const isUnknown = (row: number) => Number.isNaN(list[row]!) && Number.isNaN(reported[row]!)
  return (rows ?? rangeOf(0, segment.length)).filter((row) => isUnknown(row) !== isPriced)
}

function laterRows(segment: Segment, moment: number, rows: Int32Array | undefined): Int32Array {
  const [start, duration] = [segment.column('startedAt'), segment.column('duration')]
  if (start.range!.max + duration.range!.max <= moment) return NO_ROWS
  const [starts, durations] = [segment.integers('startedAt').values, segment.integers('duration').values]
  return (rows ?? rangeOf(0, segment.length)).filter((row) => starts[row]! + durations[row]! > moment)
}

function visibleRows(
  segment: Segment,
  { managerId, projects }: NonNullable<Selection['visible']>,
  rows: Int32Array | undefined,
): Int32Array {
  const [managers, placed] = [segment.keys('managerId'), segment.keys('projectId')]
  const all = rows ?? rangeOf(0, segment.length)
  return all.filter((row) => managers[row] === managerId || passes(projects, placed[row]!))
}

export function passingOf(keys: readonly number[]): Passing {
  const passing = new Uint8Array(keys.reduce((most, key) => Math.max(most, key), -1) + 2)
  for (const key of keys) passing[key + 1] = 1
  return passing
}
