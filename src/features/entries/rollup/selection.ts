/** The filter of entries and what the viewer may see, as tests of the columns of segments. Pure. */
import type { Viewer } from '../../../access/visibility.ts'
import type { EntryFilter } from '../listing/filter.ts'
import type { Key, Segment } from './segment.ts'

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

const TIMES: readonly (keyof EntryFilter)[] = ['starting_at', 'ending_at']

/** The attributes that a filter and a viewer test; undefined if the filter tests others, too. The period is not tested. */
export function testedKeys(filter: EntryFilter, viewer: Viewer): Key[] | undefined {
  const keys = new Set<Key>(viewer.sees === 'everything' ? [] : ['managerId', 'projectId'])
  for (const [name, value] of Object.entries(filter)) {
    if (value === undefined || TIMES.includes(name as keyof EntryFilter)) continue
    const key = TESTED[name as keyof EntryFilter]
    if (!key) return undefined
    keys.add(key)
  }
  return [...keys]
}

/** Keys that pass, by key + 1; 1 is true. */
export type Passing = Uint8Array

export class Selection {
  constructor(
    readonly tests: readonly { key: Key; passing: Passing }[],
    readonly visible: { managerId: number; projects: Passing } | undefined,
  ) {}

  /** The columns that a segment needs. */
  get keys(): Key[] {
    return [...new Set([...this.tests.map(({ key }) => key), ...(this.visible ? VISIBILITY_KEYS : [])])]
  }

  /** The rows that pass, in order, of those from `from` to before `to`; undefined if all rows of the segment do. */
  rowsOf(segment: Segment, from = 0, to = segment.length, isSums = false): Int32Array | undefined {
    let rows: Int32Array | undefined = from === 0 && to === segment.length ? undefined : rangeOf(from, to)
    for (const { key, passing } of this.tests) {
      // Sums are of entries that count.
      if (isSums && key === 'superseded') continue
      const { constant } = segment.column(key)
      if (constant !== undefined) {
        if (passes(passing, Number.isNaN(constant) ? -1 : constant)) continue
        return new Int32Array(0)
      }
      rows = filtered(segment.keys(key), passing, rows)
      if (rows.length === 0) return rows
    }
    return this.visible ? visibleRows(segment, this.visible, rows) : rows
  }
}

const VISIBILITY_KEYS: readonly Key[] = ['managerId', 'projectId']

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
