/** The filter of entries and what the viewer may see, as tests of the columns of segments. Pure. */

import type { VisibleKeys } from '../../access/visibility.ts'
import type { EntryFilter } from '../selection/contract.ts'
import type { Column } from './column.ts'
import { isMeasured, type MeasureTest, measureTests, type RowTest } from './measure-tests.ts'
import type { Key, Measure, Segment, Summed } from './segment.ts'

/** The filters that the keys of a segment can answer, with the attribute that each of them tests. */
export const TESTED: Partial<Record<keyof EntryFilter, Key>> = {
  project: 'projectId',
  client: 'projectId',
  has_client: 'projectId',
  billable: 'projectId',
  ticket: 'ticketId',
  agent_manager: 'managerId',
  without_agent_manager: 'managerId',
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
  funding: 'fundingId',
  plan: 'fundingId',
}

const VISIBILITY_KEYS: readonly Key[] = ['managerId', 'projectId']
/** What approvers see depends on the status, too, and what is unattributed on its labels. */
const APPROVAL_KEYS: readonly Key[] = ['status']
const LABEL_KEYS: readonly Key[] = ['placedBy', 'labelSetId', 'source']

function visibilityKeys(isLabelled: boolean, isApproving: boolean): readonly Key[] {
  return [...VISIBILITY_KEYS, ...(isLabelled ? LABEL_KEYS : []), ...(isApproving ? APPROVAL_KEYS : [])]
}

const TIMES: readonly (keyof EntryFilter)[] = ['starting_at', 'ending_at']

/** The columns that a test of entries reads. */
export interface TestedColumns {
  keys: Key[]
  /** Which only segments of entries have. */
  measures: Measure[]
  /** By which sums are tested. */
  figures: Summed[]
}

/**
 * What a filter and what a viewer sees test; undefined if columns can't answer the filter. The period is not tested.
 * @param seen undefined for everything
 */
export function testedColumns(filter: EntryFilter, seen: VisibleKeys | undefined): TestedColumns | undefined {
  const { answered, rest } = answeredPart(filter)
  if (Object.keys(rest).length > 0) return undefined
  const keys = new Set<Key>(seen ? visibilityKeys(seen.labelSetIds.length > 0, seen.approvedIds.length > 0) : [])
  for (const name of Object.keys(answered) as (keyof EntryFilter)[]) if (TESTED[name]) keys.add(TESTED[name])
  const tests = measureTests(answered)
  return {
    keys: [...keys],
    measures: [...new Set(tests.flatMap(({ measures }) => measures))],
    figures: tests.flatMap(({ figures }) => figures),
  }
}

/** The part of a filter that columns can answer, with its period, and the rest. */
export function answeredPart(filter: EntryFilter): { answered: EntryFilter; rest: EntryFilter } {
  const used = (Object.entries(filter) as [keyof EntryFilter, unknown][]).filter(([, value]) => value !== undefined)
  const isAnswered = ([name]: [keyof EntryFilter, unknown]) =>
    TIMES.includes(name) || TESTED[name] !== undefined || isMeasured(name)
  return {
    answered: Object.fromEntries(used.filter(isAnswered)),
    rest: Object.fromEntries(used.filter((each) => !isAnswered(each))),
  }
}

/** Keys that pass, by key + 1; 1 is true. */
export type Passing = Uint8Array

interface KeyTest {
  key: Key
  passing: Passing
}

/** Entries of the manager, those of the projects, unattributed ones with some labels, and those to approve. */
interface VisibleRows {
  managerId: number
  projects: Passing
  unattributed: { labelSets: Passing; exceptSources: Passing } | undefined
  approved: { projects: Passing; statuses: Passing } | undefined
}

export class Selection {
  constructor(
    readonly tests: readonly KeyTest[],
    readonly measured: readonly MeasureTest[],
    readonly visible: VisibleRows | undefined,
  ) {}

  /** The rows that pass, in order, of those from `from` to before `to`; undefined if all rows of the segment do. */
  rowsOf(segment: Segment, from = 0, to = segment.length): Int32Array | undefined {
    let rows: Int32Array | undefined = from === 0 && to === segment.length ? undefined : rangeOf(from, to)
    rows = keyedRows(segment, this.tests, rows)
    // A day that no key lets through need not have its measures unpacked.
    for (const test of this.measured) if (rows?.length !== 0) rows = testedRows(segment, test.ofEntries(segment), rows)
    return this.visible ? visibleRows(segment, this.visible, rows) : rows
  }

  /** Whether a group of these sums may contain entries that pass. Sums have some of the tested keys only. */
  mayPassIn(sums: Segment, keys: readonly Key[]): boolean {
    const tests = this.tests.filter(({ key }) => keys.includes(key))
    let rows = keyedRows(sums, tests, undefined)
    for (const test of this.measured) if (rows?.length !== 0) rows = testedRows(sums, test.ofSums(sums), rows)
    const { visible } = this
    const needed = visible && visibilityKeys(visible.unattributed !== undefined, visible.approved !== undefined)
    if (needed?.every((key) => keys.includes(key))) rows = visibleRows(sums, visible!, rows)
    return rows?.length !== 0
  }
}

const NO_ROWS = new Int32Array(0)

function keyedRows(segment: Segment, tests: readonly KeyTest[], rows: Int32Array | undefined) {
  let passed = rows
  for (const { key, passing } of tests) {
    const column = segment.column(key)
    if (!mayPass(passing, column)) return NO_ROWS
    if (column.constant !== undefined) continue
    const found = filtered(segment.keys(key), passing, passed)
    if (found.length === 0) return found
    // Without a selection, columns are read as they are.
    if (found.length < (passed?.length ?? segment.length)) passed = found
  }
  return passed
}

/** Whether a value of the column may pass; of a constant, whether it does. */
function mayPass(passing: Passing, { range, hasNulls }: Column): boolean {
  if (hasNulls && passes(passing, -1)) return true
  return range !== undefined && passing.subarray(range.min + 1, range.max + 2).includes(1)
}

function passes(passing: Passing, key: number): boolean {
  return passing[key + 1] === 1
}

function rangeOf(from: number, to: number): Int32Array {
  const rows = new Int32Array(Math.max(0, to - from))
  for (let at = 0; at < rows.length; at += 1) rows[at] = from + at
  return rows
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

/** The rows that pass, of these; undefined if all rows of the segment do. */
export function testedRows({ length }: Segment, test: RowTest, rows: Int32Array | undefined): Int32Array | undefined {
  if (typeof test === 'boolean') return test ? rows : NO_ROWS
  const found = new Int32Array(rows?.length ?? length)
  let count = 0
  // `filter` takes many times as long.
  for (let at = 0; at < found.length; at += 1) {
    const row = rows ? rows[at]! : at
    if (test(row)) found[count++] = row
  }
  return found.subarray(0, count)
}

function visibleRows(
  segment: Segment,
  { managerId, projects, unattributed, approved }: VisibleRows,
  rows: Int32Array | undefined,
): Int32Array {
  const [managers, placed] = [segment.keys('managerId'), segment.keys('projectId')]
  const isUnattributed = unattributed && unattributedTest(segment, unattributed)
  const isApproved = approved && approvedTest(segment, approved)
  return (rows ?? rangeOf(0, segment.length)).filter(
    (row) =>
      managers[row] === managerId ||
      passes(projects, placed[row]!) ||
      isUnattributed?.(row) === true ||
      isApproved?.(row) === true,
  )
}

function unattributedTest(segment: Segment, { labelSets, exceptSources }: NonNullable<VisibleRows['unattributed']>) {
  const [by, labels, sources] = [segment.keys('placedBy'), segment.keys('labelSetId'), segment.keys('source')]
  return (row: number) => by[row] === -1 && passes(labelSets, labels[row]!) && !passes(exceptSources, sources[row]!)
}

function approvedTest(segment: Segment, { projects, statuses }: NonNullable<VisibleRows['approved']>) {
  const [placed, status] = [segment.keys('projectId'), segment.keys('status')]
  return (row: number) => passes(projects, placed[row]!) && passes(statuses, status[row]!)
}

export function passingOf(keys: readonly number[]): Passing {
  const passing = new Uint8Array(keys.reduce((most, key) => Math.max(most, key), -1) + 2)
  for (const key of keys) passing[key + 1] = 1
  return passing
}
