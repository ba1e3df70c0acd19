/**
 * Sums of entries by time and group, on which every report of usage and money is based.
 *
 * Drafts and entries on submitted sheets are not usage yet, so they are excluded unless the filter contains their
 * status. A superseded entry counts as nothing: its usage is 0, and the entries of the other source contain its
 * session.
 *
 * Whole days and months come from the roll-up if it contains the requested groups, the rest from the entries. The
 * reading is planned first; the statement that then reads also checks whether the plan is still valid, so that the
 * result is consistent.
 */

import type { Viewer } from '../../access/visibility.ts'
import type { Database, Reader } from '../../database/database.ts'
import { isOverflow } from '../../database/errors.ts'
import type { EntryFilter } from '../entries/listing/filter.ts'
import { conditionOf } from '../entries/listing/store/conditions.ts'
import { counted } from './counted-entries.ts'
import { findGrain, type RolledColumn } from './rollup-grain.ts'
import { planReading, type Range, type ReadingPlan } from './rollup-plan.ts'
import { listZones, readState } from './store/rollup.ts'
import {
  COMPARED,
  type Figure,
  type GroupColumn,
  type GroupQuery,
  type GroupSums,
  isRolled,
  listNamed,
  type Named,
  sumGroups,
  USE,
} from './store/sums.ts'

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
  /** A client or an agent manager. */
  | { id: string; name: string }

/** The sums of one group in one bucket. Groups without entries have no row. */
export interface SumsRow {
  bucket: number
  /** Null if the entries have no value in a dimension. */
  keys: (Key | null)[]
  entries: number
  /** Entries with an unknown cost: neither reported nor valued. */
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

/**
 * After this number of plans that became invalid, a report reads the entries. Each time a day changed that had been
 * quiet.
 */
const ATTEMPTS = 3

/** Filters that the roll-up supports, and the columns that they need there. */
const ROLLED_FILTERS: Partial<Record<keyof EntryFilter, RolledColumn[]>> = {
  starting_at: [],
  ending_at: [],
  superseded: [],
  project: ['projectId'],
  client: ['projectId'],
  agent_manager: ['managerId'],
  agent_name: ['agentId'],
  agent_harness: ['harnessId'],
  model: ['modelId'],
  provider: ['providerId'],
  status: ['status'],
  source: ['source'],
}

/** How a dimension is read: the column that entries are grouped by, and the names of its values. */
interface Grouping {
  column: GroupColumn
  /** Undefined if the column contains the text itself. */
  named?: Parameters<typeof listNamed>[1]
  keyOf?: (named: Named) => Key | null
  /** Whether several values of the column form one group. */
  isCoarser?: boolean
}

const idAndName = ({ uid, name }: Named): Key => ({ id: uid!, name: name! })
const nameOnly = ({ name }: Named): Key => name!

const GROUPINGS: Record<(typeof DIMENSIONS)[number], Grouping> = {
  project: {
    column: 'projectId',
    named: 'projects',
    keyOf: ({ uid, key, name }) => ({ id: uid!, key: key!, name: name! }),
  },
  ticket: { column: 'ticketId', named: 'tickets', keyOf: ({ uid, key }) => ({ id: uid!, key: key! }) },
  client: { column: 'projectId', named: 'clients', keyOf: idAndName, isCoarser: true },
  agent_manager: { column: 'managerId', named: 'users', keyOf: idAndName },
  agent_name: { column: 'agentId', named: 'names', keyOf: nameOnly },
  agent_harness: { column: 'harnessId', named: 'names', keyOf: nameOnly },
  provider: { column: 'providerId', named: 'names', keyOf: nameOnly },
  model: { column: 'modelId', named: 'names', keyOf: nameOnly },
  status: { column: 'status' },
  source: { column: 'source' },
}

function groupingOf(dimension: Dimension): Grouping {
  if (!dimension.startsWith('label:')) return GROUPINGS[dimension as (typeof DIMENSIONS)[number]]
  const label = dimension.slice('label:'.length)
  // A label may be named `constructor`, which every object has.
  const keyOf: Grouping['keyOf'] = ({ labels }) => (labels && Object.hasOwn(labels, label) ? labels[label]! : null)
  return { column: 'labelSetId', named: 'labels', keyOf, isCoarser: true }
}

/** The grain of the roll-up to read: with the columns of the dimensions, the filters, and the visibility of entries. */
function findGrainFor({ filter, viewer }: SumsQuery, groupings: Grouping[]): number | undefined {
  // Superseded entries are not in the roll-up.
  if (filter.superseded !== false) return undefined
  const columns: RolledColumn[] = viewer.sees === 'everything' ? [] : ['managerId', 'projectId']
  for (const { column } of groupings) {
    if (!isRolled(column)) return undefined
    columns.push(column)
  }
  for (const [name, value] of Object.entries(filter)) {
    if (value === undefined) continue
    const needed = ROLLED_FILTERS[name as keyof EntryFilter]
    if (!needed) return undefined
    columns.push(...needed)
  }
  return findGrain(columns)
}

export function createSums({ db }: { db: Database }): Sums {
  /**
   * The plan for the time zone whose roll-up leaves least to read from entries; while zones are changed there are two.
   */
  async function plan(bounds: readonly number[], within: Range): Promise<{ plan: ReadingPlan; zone?: string }> {
    const plans = []
    for (const { zone, ready } of await listZones(db.read)) {
      if (ready) plans.push({ zone, plan: planReading(bounds, within, await readState(db.read, zone, within)) })
    }
    const length = ({ raw }: ReadingPlan) => raw.reduce((sum, { from, to }) => sum + to - from, 0)
    plans.sort((a, b) => length(a.plan) - length(b.plan))
    return plans[0] ?? { plan: allRaw(within) }
  }

  async function read<Asked extends Figure>(
    asked: SumsQuery,
    groupings: Grouping[],
    figures: readonly Asked[],
    inHalves = false,
  ): Promise<GroupSums<Asked>[]> {
    const { viewer, filter, bounds, limit, onlyStraddling = false } = asked
    const within = {
      from: Math.max(bounds[0]!, filter.starting_at ?? Number.NEGATIVE_INFINITY),
      to: Math.min(bounds.at(-1)!, filter.ending_at ?? Number.POSITIVE_INFINITY),
    }
    if (within.from >= within.to) return []
    const withoutTime = { ...filter, starting_at: undefined, ending_at: undefined }
    const grain = findGrainFor(asked, groupings)
    for (let attempt = 1; ; attempt += 1) {
      const planned = grain !== undefined && attempt <= ATTEMPTS ? await plan(bounds, within) : { plan: allRaw(within) }
      const query: GroupQuery<Asked> = {
        viewer,
        condition: conditionOf(db.slow, withoutTime),
        rolledCondition: conditionOf(db.slow, { ...withoutTime, superseded: undefined }),
        columns: groupings.map(({ column }) => column),
        figures,
        onlyStraddling,
        bounds,
        plan: planned.plan,
        zone: planned.zone,
        grain: grain ?? 0,
        limit: groupings.some(({ isCoarser }) => isCoarser) ? undefined : limit,
        inHalves,
      }
      const groups = await sumGroups(db.slow, query)
      if (groups) return groups
    }
  }

  /** The groups with the names of their keys. */
  async function readNamed<Asked extends Figure>(
    query: SumsQuery,
    figures: readonly Asked[],
  ): Promise<NamedGroup<Asked>[]> {
    const asked = { ...query, filter: counted(query.filter) }
    const groupings = query.dimensions.map(groupingOf)
    const groups = await read(asked, groupings, figures).catch((error) => {
      if (!isOverflow(error)) throw error
      return read(asked, groupings, figures, true)
    })
    return name(db.slow, groups, groupings)
  }

  return {
    async sums(query) {
      const rows = (await readNamed(query, USE)).map(useRow)
      return query.limit === undefined ? rows : rows.slice(0, query.limit)
    },

    async compare(query) {
      return (await readNamed(query, COMPARED)).map(({ bucket, keys, entries, figures }) => ({
        bucket,
        keys,
        entries,
        comparedEntries: Number(figures.comparedEntries ?? 0n),
        reportedCostNanos: figures.comparedReportedCost,
        listValueNanos: figures.comparedListValue,
      }))
    },
  }
}

function allRaw(within: Range): ReadingPlan {
  return { periods: [], raw: [within], trusted: [], trustedDays: 0 }
}

interface NamedGroup<Asked extends Figure> extends Omit<GroupSums<Asked>, 'keys'> {
  keys: SumsRow['keys']
}

/** Groups with the names of their keys; those with the same bucket and names are combined. */
async function name<Asked extends Figure>(
  reader: Reader,
  groups: GroupSums<Asked>[],
  groupings: Grouping[],
): Promise<NamedGroup<Asked>[]> {
  const names = await Promise.all(
    groupings.map(async ({ named }, at) => {
      const ids = new Set(groups.map(({ keys }) => keys[at]).filter((key) => typeof key === 'number'))
      return named ? listNamed(reader, named, [...ids]) : new Map<number, Named>()
    }),
  )
  const rows = new Map<string, NamedGroup<Asked>>()
  for (const group of groups) {
    const keys = group.keys.map((key, at) => {
      if (typeof key !== 'number') return key
      const named = names[at]!.get(key)
      return named ? groupings[at]!.keyOf!(named) : null
    })
    const place = JSON.stringify([group.bucket, keys])
    const row = rows.get(place)
    if (row) add(row, group)
    else rows.set(place, { ...group, keys, figures: { ...group.figures } })
  }
  return [...rows.values()].sort((a, b) => a.bucket - b.bucket)
}

function add<Asked extends Figure>(row: NamedGroup<Asked>, other: GroupSums<Asked>): void {
  row.entries += other.entries
  row.unpricedEntries += other.unpricedEntries
  row.straddling += other.straddling
  for (const figure of Object.keys(row.figures) as Asked[]) {
    const added = other.figures[figure]
    if (added !== null) row.figures[figure] = (row.figures[figure] ?? 0n) + added
  }
}

function useRow({ figures, ...row }: NamedGroup<(typeof USE)[number]>): SumsRow {
  const { input, output, cacheRead, cacheWrite, cacheWrite1h, cost, listValue, reportedCost } = figures
  return {
    ...row,
    tokens: {
      input: input ?? 0n,
      output: output ?? 0n,
      cacheRead: cacheRead ?? 0n,
      cacheWrite: cacheWrite ?? 0n,
      cacheWrite1h: cacheWrite1h ?? 0n,
    },
    costNanos: cost,
    listValueNanos: listValue,
    reportedCostNanos: reportedCost,
  }
}
