/** Models without a price, and how much use waits on one. */
import type { Database } from '../../database/database.ts'
import type { Viewer } from '../../database/visibility.ts'
import { timestamp } from '../../lib/duration.ts'
import { writeKeyPage } from '../../query.ts'
import { conditionOf } from '../entries/service.ts'
import { counted, listPath } from './counted.ts'
import type { RankedQuery } from './query.ts'
import type { UnpricedModel, UnpricedReport } from './schema.ts'
import { listUnpriced, type UnpricedRow } from './store/unpriced.ts'
import { tokensBody } from './wire.ts'

/** Rows that an export reads at a time. */
const EXPORT_PAGE = 1_000

/** A page of rows that are read one more than shown, to know whether there are others. */
export function pageOf<Row>(rows: Row[], { after, limit }: Pick<RankedQuery, 'after' | 'limit'>) {
  const hasMore = rows.length > limit
  return {
    shown: rows.slice(0, limit),
    page: { has_more: hasMore, next_page: hasMore ? writeKeyPage(after + limit) : null },
  }
}

/** Every row of a ranking, read page by page. */
export async function* everyRow<Row>(
  read: (page: Pick<RankedQuery, 'after' | 'limit'>) => Promise<Row[]>,
): AsyncGenerator<Row> {
  for (let after = 0; ; after += EXPORT_PAGE) {
    const rows = await read({ after, limit: EXPORT_PAGE })
    yield* rows
    if (rows.length < EXPORT_PAGE) return
  }
}

export function createUnpriced({ db }: { db: Database }) {
  const read = async (viewer: Viewer, { filter }: RankedQuery, page: Pick<RankedQuery, 'after' | 'limit'>) => {
    const condition = conditionOf(db.slow, counted(filter))
    return (await listUnpriced(db.slow, { viewer, condition, ...page })).map((row) => unpricedBody(row, filter))
  }

  return {
    /** A page of models, the most used first. */
    async unpriced(viewer: Viewer, asked: RankedQuery): Promise<UnpricedReport> {
      const { after, limit } = asked
      const { shown, page } = pageOf(await read(viewer, asked, { after, limit: limit + 1 }), asked)
      return { data: shown, ...page }
    },

    exportUnpriced: (viewer: Viewer, asked: RankedQuery): AsyncGenerator<UnpricedModel> =>
      everyRow((page) => read(viewer, asked, page)),
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
    list: listPath({ ...counted(filter), models: [model], providers: [provider ?? 'none'], priced: false }),
  }
}
