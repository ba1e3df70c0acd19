import type { Reader } from '../../database/database.ts'
import { isOverflow } from '../../database/errors.ts'
import { Groups, type Rows } from './groups.ts'
import { keyOf, mergeOf } from './merges.ts'
import type { Range } from './plan.ts'
import { type SumsTask, scanOf } from './scan.ts'
import { integersOf } from './segment.ts'
import { type EntrySums, sumEntries } from './store/sums.ts'
import { figureOfIntegers, type SummedColumns, SummedGroups } from './summed-columns.ts'

export async function sumColumns(reader: Reader, task: SumsTask): Promise<SummedColumns> {
  const { bounds, filter, groupings, limit } = task
  const within = {
    from: Math.max(bounds[0]!, filter.starting_at ?? Number.NEGATIVE_INFINITY),
    to: Math.min(bounds.at(-1)!, filter.ending_at ?? Number.POSITIVE_INFINITY),
  }
  const merges = await Promise.all(groupings.map((grouping) => mergeOf(reader, grouping)))
  const result = new SummedGroups(merges)
  if (within.from >= within.to) return result.columns(0)
  const scan = await scanOf(reader, task, within)
  const raw = await rawByBucket(reader, task, scan.plan.raw)
  const open = new Map<number, Groups>()
  const groupsOf = (bucket: number): Groups => {
    let groups = open.get(bucket)
    if (!groups) {
      groups = new Groups(groupings.length, 1 + scan.figures.length)
      open.set(bucket, groups)
    }
    return groups
  }
  const buckets = new Set(raw.keys())
  /** Ends all buckets before this one. */
  const finish = async (before: number) => {
    for (const bucket of [...buckets].filter((known) => known < before).sort((one, other) => one - other)) {
      const rows = raw.get(bucket)
      if (rows) groupsOf(bucket).add(rows)
      buckets.delete(bucket)
      const groups = open.get(bucket)
      open.delete(bucket)
      if (groups) await result.add(bucket, groups.rows())
      if (limit !== undefined && result.length > limit) return true
    }
    return false
  }
  for await (const { bucket, rows } of scan.read()) {
    if (!buckets.has(bucket) && (await finish(bucket))) return result.columns(limit)
    buckets.add(bucket)
    groupsOf(bucket).add(rows)
  }
  await finish(Number.POSITIVE_INFINITY)
  return result.columns(limit)
}

/** The groups of what is read from the table of entries. */
async function rawByBucket(reader: Reader, task: SumsTask, ranges: readonly Range[]): Promise<Map<number, Rows>> {
  if (ranges.length === 0) return new Map()
  const query = { ...task, columns: task.groupings.map(keyOf), ranges }
  const sums = await sumEntries(reader, query).catch((error) => {
    if (!isOverflow(error)) throw error
    return sumEntries(reader, { ...query, inHalves: true })
  })
  return new Map([...Map.groupBy(sums, ({ bucket }) => bucket)].map(([bucket, rows]) => [bucket, rowsOf(rows, task)]))
}

function rowsOf(sums: readonly EntrySums[], { groupings, figures }: SumsTask): Rows {
  const figure = (of: (sum: EntrySums) => bigint | number | null) => figureOfIntegers(integersOf(sums.map(of)))
  return {
    length: sums.length,
    keys: groupings.map((_, at) => Int32Array.from(sums, ({ keys }) => keys[at]!)),
    figures: [
      figure(({ straddling }) => straddling),
      figure(({ entries }) => entries),
      figure(({ unpricedEntries }) => unpricedEntries),
      ...figures.map((_, at) => figure((sum) => sum.figures[at]!)),
    ],
  }
}
