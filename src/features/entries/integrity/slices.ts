/** Sessions with slices: whether their entries are on their days, and sum to what the source that counts has said. */
import type { Reader } from '../../../database/database.ts'
import { dayNumberAt, dayText } from '../../../lib/calendar.ts'
import type { Id } from '../../../lib/id.ts'
import { COUNT_KINDS, PRICE_FIELDS } from '../../../shared/usage.ts'
import { isDivided, wholeOf } from '../division/divided.ts'
import { ignoresReports, readTotals, reportedPart } from '../rows.ts'
import type { EntryRecord } from '../store.ts'
import { listSlicedEntries, listSuppliedTotals } from './store.ts'

/** Entries whose start is not on the day of their slice, unless a person has corrected their times. */
export async function listStraySlices(reader: Reader, limit: number): Promise<{ uid: Id<'ent'>; day: string }[]> {
  const stray = (await listSlicedEntries(reader)).flatMap(({ entry, zone }) => {
    const { uid, sliceDay, startedAt, superseded, corrected } = entry
    if (sliceDay === null || superseded || corrected?.includes('figures')) return []
    return dayNumberAt(startedAt, zone) === sliceDay ? [] : [{ uid, day: dayText(sliceDay) }]
  })
  return stray.slice(0, limit)
}

/** Models of sessions with several sources whose entries do not sum to the totals of the source that counts. */
export async function listUnevenSessions(
  reader: Reader,
  limit: number,
): Promise<{ session: string; model: string; count: string; sum: number; total: number }[]> {
  const chains = Map.groupBy(
    (await listSlicedEntries(reader)).map(({ entry }) => entry),
    ({ sessionId, chainModelId }) => `${sessionId} ${chainModelId}`,
  )
  const uneven = (await listSuppliedTotals(reader)).flatMap(({ sessionId, session, chainModelId, totals }) => {
    const parts = chains.get(`${sessionId} ${chainModelId}`) ?? []
    if (parts.some(ignoresReports)) return []
    const { counts } = readTotals(totals).totals
    const wrong = COUNT_KINDS.map((kind) => ({
      count: PRICE_FIELDS[kind],
      sum: parts.reduce((sum, part) => sum + reportedWhole(part).counts[kind], 0),
      total: counts[kind],
    })).find(({ sum, total }) => sum !== total)
    return wrong ? [{ session, model: totals.model, ...wrong }] : []
  })
  return uneven.slice(0, limit)
}

function reportedWhole(entry: EntryRecord) {
  return reportedPart(isDivided(entry) ? wholeOf({ entry }).entry : entry)
}
