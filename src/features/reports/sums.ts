/**
 * Sums of entries by time and group, on which every report of usage and money is based.
 *
 * Drafts and entries on submitted sheets are not usage yet, so they are excluded unless the filter contains their
 * status. A superseded entry counts as nothing: its usage is 0, and the entries of the other source contain its
 * session.
 */

import type { Viewer } from '../../access/visibility.ts'
import type { Database, Reader } from '../../database/database.ts'
import type { CostBasis } from '../../shared/cost-basis.ts'
import {
  exactAt,
  type Figure,
  FUNDING_KEYS,
  type Grouping,
  SOURCE_KEYS,
  STATUS_KEYS,
  SUMS_TASK,
  type SummedColumns,
  type SumsTask,
  sumColumns,
} from '../rollup/service.ts'
import type { EntryFilter } from '../selection/contract.ts'
import { counted } from './counted-entries.ts'
import { listNamed, type Named } from './store/names.ts'

/**
 * A new one also needs an item of `KEYS` below, its key in `schema.ts` and `csv.ts`, and its attribute in the columns of the
 * roll-up: `KEYS`, the grains and the format of `rollup/segment.ts`, `build.ts`, and `entries.ts` and `sums.ts` of its `store/`.
 */
export const DIMENSIONS = [
  'project',
  'ticket',
  'client',
  'agent_manager',
  'agent_name',
  'agent_harness',
  'provider',
  'model',
  'status',
  'source',
  'plan',
  'funding',
] as const

/** Dimensions that entries can be grouped by; `label:` is followed by the label's name. */
export type Dimension = (typeof DIMENSIONS)[number] | `label:${string}`

export interface SumsQuery {
  viewer: Viewer
  /** Its `starting_at` and `ending_at` narrow the bounds further where they are set. */
  filter: EntryFilter
  /** At most three; the keys of a row are in the same order. */
  dimensions: readonly Dimension[]
  /** Ascending moments: bucket `i` is from `bounds[i]` to just before `bounds[i + 1]`. */
  bounds: readonly number[]
  /** Of cost, and of `unpricedEntries`; `cost` where absent. */
  basis?: CostBasis
  /** Whether to sum only sessions that continued past the end of their bucket. */
  onlyStraddling?: boolean
  /** The maximum number of rows, from the first bucket on; the rest is missing. */
  limit?: number
}

/** The value of an entry in one dimension, as the API returns it: a text or an object. */
export type Key =
  | string
  /** A project. */
  | { id: string; key: string; name: string }
  /** A ticket. */
  | { id: string; key: string }
  /** A client, an agent manager or a plan. */
  | { id: string; name: string }

/** The sums of one group in one bucket. Groups without entries have no row. */
export interface SumsRow {
  bucket: number
  /** Null if the entries have no value in a dimension. */
  keys: (Key | null)[]
  entries: number
  /** Entries with an unknown cost. */
  unpricedEntries: number
  tokens: { input: bigint; output: bigint; cacheRead: bigint; cacheWrite: bigint; cacheWrite1h: bigint }
  /** Each sum is of the entries with a known value, and null if there are none. */
  costNanos: bigint | null
  listValueNanos: bigint | null
  reportedCostNanos: bigint | null
  /** Entries whose session continued past the end of the bucket. */
  straddling: number
}

/** Reported costs and list values of one group in one bucket. */
export interface ComparedRow {
  bucket: number
  /** As in {@link SumsRow}. */
  keys: (Key | null)[]
  entries: number
  /** Entries with both values, and the sums of those; null if there are none. */
  comparedEntries: number
  reportedCostNanos: bigint | null
  listValueNanos: bigint | null
}

export interface Sums {
  /** Rows in the same order and under the same conditions as those of {@link sums}, all of them. */
  compare(query: Omit<SumsQuery, 'limit'>): Promise<ComparedRow[]>
  /** Rows in the order of their buckets, unordered within a bucket. Throws `database_deadline` if it takes too long. */
  sums(query: SumsQuery): Promise<SumsRow[]>
}

/** The metrics of a group in most reports. */
export const USE = [
  'input',
  'output',
  'cacheRead',
  'cacheWrite',
  'cacheWrite1h',
  'cost',
  'listValue',
  'reportedCost',
] as const satisfies Figure[]

/** Of entries with both a reported cost and a list value. */
const COMPARED = ['comparedEntries', 'comparedReportedCost', 'comparedListValue'] as const satisfies Figure[]

/** How a dimension is read: what entries are grouped by, and what its keys stand for. */
interface DimensionKeys {
  grouping: Grouping
  /** The table whose rows have these keys. */
  named?: Parameters<typeof listNamed>[1]
  keyOf?: (named: Named) => Key | null
  /** The texts that have these keys. */
  texts?: Record<string, number>
}

const idAndName = ({ uid, name }: Named): Key => ({ id: uid!, name: name! })
const nameOnly = ({ name }: Named): Key => name!

const KEYS: Record<(typeof DIMENSIONS)[number], DimensionKeys> = {
  project: {
    grouping: { key: 'projectId' },
    named: 'projects',
    keyOf: ({ uid, key, name }) => ({ id: uid!, key: key!, name: name! }),
  },
  ticket: { grouping: { key: 'ticketId' }, named: 'tickets', keyOf: ({ uid, key }) => ({ id: uid!, key: key! }) },
  client: { grouping: { client: true }, named: 'clients', keyOf: idAndName },
  agent_manager: { grouping: { key: 'managerId' }, named: 'users', keyOf: idAndName },
  agent_name: { grouping: { key: 'agentId' }, named: 'names', keyOf: nameOnly },
  agent_harness: { grouping: { key: 'harnessId' }, named: 'names', keyOf: nameOnly },
  provider: { grouping: { key: 'providerId' }, named: 'names', keyOf: nameOnly },
  model: { grouping: { key: 'modelId' }, named: 'names', keyOf: nameOnly },
  status: { grouping: { key: 'status' }, texts: STATUS_KEYS },
  source: { grouping: { key: 'source' }, texts: SOURCE_KEYS },
  plan: { grouping: { paidBy: 'plan' }, named: 'plans', keyOf: idAndName },
  funding: { grouping: { paidBy: 'funding' }, texts: FUNDING_KEYS },
}

function keysOf(dimension: Dimension): DimensionKeys {
  if (!dimension.startsWith('label:')) return KEYS[dimension as (typeof DIMENSIONS)[number]]
  return { grouping: { label: dimension.slice('label:'.length) } }
}

export const groupingOf = (dimension: Dimension): Grouping => keysOf(dimension).grouping

/** What the rows of a report are made from. */
export interface ReportSums {
  sums: SummedColumns
  /** By dimension. */
  keys: Keys[]
}

/** The sums of the figures of most reports, and what their keys stand for. */
export const readUse = (reader: Reader, query: SumsQuery): Promise<ReportSums> =>
  readSums(reader, (task) => sumColumns(reader, task), query, USE)

/** Sums of any figures. */
export async function readSums(
  reader: Reader,
  sum: (task: SumsTask) => Promise<SummedColumns>,
  { viewer, filter, dimensions, basis, bounds, limit, onlyStraddling = false }: SumsQuery,
  figures: readonly Figure[],
): Promise<ReportSums> {
  const requested = dimensions.map(keysOf)
  const groupings = requested.map(({ grouping }) => grouping)
  const sums = await sum({ viewer, filter: counted(filter), basis, bounds, limit, onlyStraddling, groupings, figures })
  return { sums, keys: await Promise.all(requested.map((each, at) => namedKeys(reader, each, sums, at))) }
}

export function createSums({ db }: { db: Database }): Sums {
  const read = (query: SumsQuery, figures: readonly Figure[]) =>
    readSums(db.slow, (task) => db.slowly(SUMS_TASK, task), query, figures)

  return {
    async sums(query) {
      const { sums, keys } = await read(query, USE)
      const [input, output, cacheRead, cacheWrite, cacheWrite1h, cost, listValue, reportedCost] = USE.map(
        (_, at) => (row: number) => exactAt(sums.figures[at]!, row),
      ) as Figures<typeof USE>
      return rowsOf(sums, (row) => ({
        bucket: sums.buckets[row]!,
        keys: keys.map((key) => key(row)),
        entries: sums.entries[row]!,
        unpricedEntries: sums.unpricedEntries[row]!,
        straddling: sums.straddling[row]!,
        tokens: {
          input: input(row) ?? 0n,
          output: output(row) ?? 0n,
          cacheRead: cacheRead(row) ?? 0n,
          cacheWrite: cacheWrite(row) ?? 0n,
          cacheWrite1h: cacheWrite1h(row) ?? 0n,
        },
        costNanos: cost(row),
        listValueNanos: listValue(row),
        reportedCostNanos: reportedCost(row),
      }))
    },

    async compare(query) {
      const { sums, keys } = await read(query, COMPARED)
      const [entries, reported, listed] = sums.figures
      return rowsOf(sums, (row) => ({
        bucket: sums.buckets[row]!,
        keys: keys.map((key) => key(row)),
        entries: sums.entries[row]!,
        comparedEntries: Number(exactAt(entries!, row) ?? 0n),
        reportedCostNanos: exactAt(reported!, row),
        listValueNanos: exactAt(listed!, row),
      }))
    },
  }
}

type Figures<Names extends readonly Figure[]> = { [At in keyof Names]: (row: number) => bigint | null }

function rowsOf<Row>({ length }: SummedColumns, rowAt: (row: number) => Row): Row[] {
  return Array.from({ length }, (_, row) => rowAt(row))
}

/** The value of a dimension in a row. */
export type Keys = (row: number) => Key | null

async function namedKeys(
  reader: Reader,
  { named, keyOf, texts }: DimensionKeys,
  sums: SummedColumns,
  at: number,
): Promise<Keys> {
  const keys = sums.keys[at]!
  if (!named) {
    const values = texts ? Object.keys(texts) : sums.texts[at]!
    return (row) => values[keys[row]!] ?? null
  }
  const ids = new Set(keys)
  ids.delete(-1)
  const values = new Map<number, Key | null>()
  for (const [id, row] of await listNamed(reader, named, ids)) values.set(id, keyOf!(row))
  return (row) => values.get(keys[row]!) ?? null
}
