/** What callers reported against what the price table says. */
import type { Database } from '../../database/database.ts'
import type { Viewer } from '../../database/visibility.ts'
import { conditionOf } from '../entries/service.ts'
import { counted } from './counted.ts'
import type { RankedQuery, VarianceQuery } from './query.ts'
import type { Variance, VarianceReport } from './schema.ts'
import { listVariance, sumCompared, type VarianceRow } from './store/variance.ts'
import { everyRow, pageOf } from './unpriced.ts'
import { askedBody, differenceBody } from './wire.ts'

export function createVariance({ db }: { db: Database }) {
  const among = (viewer: Viewer, { filter, startingAt, endingAt }: VarianceQuery) => ({
    viewer,
    condition: conditionOf(db.slow, counted({ ...filter, startingAt, endingAt })),
  })
  const read = async (viewer: Viewer, asked: VarianceQuery, page: Pick<RankedQuery, 'after' | 'limit'>) =>
    (await listVariance(db.slow, { ...among(viewer, asked), ...page })).map(varianceBody)

  return {
    /** A page of models and agents, the largest difference first, over entries of which both figures are known. */
    async variance(viewer: Viewer, asked: VarianceQuery): Promise<VarianceReport> {
      const { after, limit } = asked
      const [rows, { entries, comparedEntries, ...sums }] = await Promise.all([
        read(viewer, asked, { after, limit: limit + 1 }),
        sumCompared(db.slow, among(viewer, asked)),
      ])
      const { shown, page } = pageOf(rows, asked)
      return {
        ...askedBody(asked),
        totals: { entries, compared_entries: comparedEntries, ...differenceBody(sums) },
        data: shown,
        ...page,
      }
    },

    exportVariance: (viewer: Viewer, asked: VarianceQuery): AsyncGenerator<Variance> =>
      everyRow((page) => read(viewer, asked, page)),
  }
}

function varianceBody({ model, agent, entries, ...sums }: VarianceRow): Variance {
  return { model, agent_name: agent, entries, ...differenceBody(sums) }
}
