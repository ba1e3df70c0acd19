/** Models without a price, and their usage. */

import type { Viewer } from '../../access/visibility.ts'
import type { Database } from '../../database/database.ts'
import { timestamp } from '../../lib/duration.ts'
import { pageOf } from '../../schema/lists.ts'
import { writeKeyPage } from '../../schema/query.ts'
import type { EntriesService } from '../entries/service.ts'
import { conditionOf, listPath } from '../selection/contract.ts'
import { counted } from './counted-entries.ts'
import type { RankedQuery } from './query.ts'
import type { UnpricedModel, UnpricedReport } from './schema.ts'
import { settledRead } from './settled-sums.ts'
import { listUnpriced, type UnpricedRow } from './store/unpriced.ts'
import { tokensBody } from './wire.ts'

/** Rows per page of an export. */
const EXPORT_PAGE = 1_000

interface UnpricedDependencies {
  db: Database
  billing: Pick<EntriesService['billing'], 'settled'>
}

export function createUnpriced({ db, billing }: UnpricedDependencies) {
  const read = async (viewer: Viewer, { filter }: RankedQuery, page: Pick<RankedQuery, 'after' | 'limit'>) => {
    const { starting_at: from, ending_at: to, ...others } = filter
    const condition = conditionOf(db.slow, counted(others))
    const query = { viewer, condition, from, to, ...page }
    const rows = await settledRead(billing, filter, () => listUnpriced(db.slow, query))
    return rows.map((row) => unpricedBody(row, filter))
  }

  return {
    /** A page of models, the most used first. */
    async unpriced(viewer: Viewer, query: RankedQuery): Promise<UnpricedReport> {
      const { after, limit } = query
      const rows = await read(viewer, query, { after, limit: limit + 1 })
      return pageOf(rows, limit, () => writeKeyPage(after + limit))
    },

    async *exportUnpriced(viewer: Viewer, query: RankedQuery): AsyncGenerator<UnpricedModel> {
      for (let after = 0; ; after += EXPORT_PAGE) {
        const rows = await read(viewer, query, { after, limit: EXPORT_PAGE })
        yield* rows
        if (rows.length < EXPORT_PAGE) return
      }
    },
  }
}

function unpricedBody(row: UnpricedRow, filter: RankedQuery['filter']): UnpricedModel {
  const { model, provider } = row
  const names = new URLSearchParams({ model, ...(provider === null ? {} : { provider }), at: timestamp(row.lastAt) })
  return {
    model,
    provider,
    entries: row.entries,
    tokens: tokensBody(row.tokens),
    first_at: timestamp(row.firstAt),
    last_at: timestamp(row.lastAt),
    explanation: `/api/v1/prices/resolve?${names}`,
    list: listPath({ ...counted(filter), model: [model], provider: [provider ?? 'none'], priced: false }),
  }
}
