/**
 * The work left for a period before it can be billed or trusted: entries that are not placed, priced, approved or billed,
 * sessions that continue past its ends, and possible duplicates.
 */

import type { Viewer } from '../../access/visibility.ts'
import type { Database } from '../../database/database.ts'
import { STATUSES } from '../../database/schema/values.ts'
import { moneyNumber } from '../../lib/money.ts'
import { type EntryFilter, listPath } from '../entries/listing/filter.ts'
import { conditionOf } from '../entries/listing/store/conditions.ts'
import { CHECKS, type CheckName } from './checks.ts'
import type { CompletenessQuery } from './query.ts'
import type { CompletenessCheck, CompletenessReport } from './schema.ts'
import { countEntries, type EntryCount } from './store/completeness.ts'
import type { Sums, SumsRow } from './sums.ts'
import { askedBody } from './wire.ts'

const NOTHING: EntryCount = { entries: 0, unpricedEntries: 0, costNanos: null }

export function createCompleteness({ db, sums }: { db: Database } & Pick<Sums, 'sums'>) {
  const sumByStatus = (viewer: Viewer, filter: EntryFilter, onlyStraddling = false): Promise<SumsRow[]> => {
    const bounds = [filter.starting_at!, filter.ending_at!]
    return sums({ viewer, filter, bounds, dimensions: ['status'], onlyStraddling })
  }

  return {
    /** Each check with the number of entries it finds, their cost, and the path that lists them. */
    async completeness(viewer: Viewer, asked: CompletenessQuery): Promise<CompletenessReport> {
      const within: EntryFilter = { ...asked.filter, starting_at: asked.startingAt, ending_at: asked.endingAt }
      const ofPeriod = sumByStatus(viewer, { ...within, status: [...STATUSES], superseded: false })

      async function count(name: CheckName, filter: EntryFilter): Promise<EntryCount> {
        switch (CHECKS[name].readFrom) {
          case 'entries':
            return countEntries(db.slow, { viewer, condition: conditionOf(db.slow, filter) })
          case 'straddling':
            return (await sumByStatus(viewer, { ...filter, ended_after: undefined }, true)).reduce(added, NOTHING)
          case 'statuses': {
            const counted = (await ofPeriod).filter(({ keys }) => filter.status!.some((status) => status === keys[0]))
            const { entries, unpricedEntries, costNanos } = counted.reduce(added, NOTHING)
            if (filter.priced !== false) return { entries, unpricedEntries, costNanos }
            return { entries: unpricedEntries, unpricedEntries, costNanos: null }
          }
        }
      }

      const data = (Object.keys(CHECKS) as CheckName[]).map(async (name): Promise<CompletenessCheck> => {
        const filter: EntryFilter = { ...within, superseded: false, ...CHECKS[name].filter(asked) }
        const { entries, unpricedEntries, costNanos } = await count(name, filter)
        return {
          check: name,
          entries,
          unpriced_entries: unpricedEntries,
          cost: moneyNumber(costNanos),
          list: listPath(filter),
        }
      })
      return { ...askedBody(asked), data: await Promise.all(data) }
    },
  }
}

function added(sum: EntryCount, { entries, unpricedEntries, costNanos }: EntryCount): EntryCount {
  return {
    entries: sum.entries + entries,
    unpricedEntries: sum.unpricedEntries + unpricedEntries,
    costNanos: costNanos === null ? sum.costNanos : (sum.costNanos ?? 0n) + costNanos,
  }
}
