/** Reported costs compared with list values. */
import type { Viewer } from '../../access/visibility.ts'
import { pageOf } from '../../schema/lists.ts'
import { writeKeyPage } from '../../schema/query.ts'
import type { VarianceQuery } from './query.ts'
import type { Variance, VarianceReport } from './schema.ts'
import type { ComparedRow, Sums } from './sums.ts'
import { differenceBody, queryBody } from './wire.ts'

interface Totals extends Pick<ComparedRow, 'entries' | 'comparedEntries' | 'reportedCostNanos' | 'listValueNanos'> {}

const NOTHING: Totals = { entries: 0, comparedEntries: 0, reportedCostNanos: null, listValueNanos: null }

export function createVariance({ compare }: Pick<Sums, 'compare'>) {
  async function read(viewer: Viewer, { filter, startingAt, endingAt }: VarianceQuery) {
    const rows = await compare({ viewer, filter, dimensions: ['model', 'agent_name'], bounds: [startingAt, endingAt] })
    const compared = rows.filter(({ comparedEntries }) => comparedEntries > 0)
    return { totals: rows.reduce<Totals>(sumOf, NOTHING), ranked: compared.sort(largestFirst).map(varianceBody) }
  }

  return {
    /** A page of models and agents, the largest difference first, over entries with both values. */
    async variance(viewer: Viewer, query: VarianceQuery): Promise<VarianceReport> {
      const { totals, ranked } = await read(viewer, query)
      const { after, limit } = query
      return {
        ...queryBody(query),
        totals: { entries: totals.entries, compared_entries: totals.comparedEntries, ...differenceBody(totals) },
        ...pageOf(ranked.slice(after, after + limit + 1), limit, () => writeKeyPage(after + limit)),
      }
    },

    async *exportVariance(viewer: Viewer, query: VarianceQuery): AsyncGenerator<Variance> {
      yield* (await read(viewer, query)).ranked
    },
  }
}

function sumOf(sum: Totals, row: ComparedRow): Totals {
  const add = (one: bigint | null, other: bigint | null) => (other === null ? one : (one ?? 0n) + other)
  return {
    entries: sum.entries + row.entries,
    comparedEntries: sum.comparedEntries + row.comparedEntries,
    reportedCostNanos: add(sum.reportedCostNanos, row.reportedCostNanos),
    listValueNanos: add(sum.listValueNanos, row.listValueNanos),
  }
}

function varianceBody({ keys, comparedEntries, ...sums }: ComparedRow): Variance {
  return { model: keys[0] as string, agent_name: keys[1] as string, entries: comparedEntries, ...differenceBody(sums) }
}

/** By the absolute difference, then by names, so that the order is deterministic. */
function largestFirst(one: ComparedRow, other: ComparedRow): number {
  const [difference, otherDifference] = [differenceOf(one), differenceOf(other)]
  if (difference !== otherDifference) return difference > otherDifference ? -1 : 1
  return JSON.stringify(one.keys) < JSON.stringify(other.keys) ? -1 : 1
}

function differenceOf({ reportedCostNanos, listValueNanos }: ComparedRow): bigint {
  const difference = reportedCostNanos! - listValueNanos!
  return difference < 0n ? -difference : difference
}
