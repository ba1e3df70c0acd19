/** Sessions with slices: whether their entries are on their days, and sum to what the source that counts has said. */
import type { Reader } from '../../../database/database.ts'
import { dayNumberAt, dayText } from '../../../lib/calendar.ts'
import type { Id } from '../../../lib/id.ts'
import { COUNT_KINDS, PRICE_FIELDS } from '../../../shared/usage.ts'
import { isDivided, wholeOf } from '../division/divided.ts'
import { readTotals, reportedPart } from '../rows.ts'
import type { EntryRecord } from '../store.ts'
import type { Totals } from '../totals.ts'
import { listEntriesOf, listSlicedEntries, listSlicedSessions, listSuppliedTotals } from './store.ts'

/** Entries in memory at a time. */
const PAGE = 5_000

/** Sessions at a time, each with at most some thousand entries. */
const SESSIONS = 20

/** Entries whose start is not on the day of their slice, unless a person has corrected their times. */
export async function listStraySlices(reader: Reader, limit: number): Promise<{ uid: Id<'ent'>; day: string }[]> {
  const stray: { uid: Id<'ent'>; day: string }[] = []
  for (let after = 0; stray.length < limit; ) {
    const page = await listSlicedEntries(reader, after, PAGE)
    for (const { uid, day, startedAt, zone, corrected } of page) {
      const isOnDay = dayNumberAt(startedAt, zone!) === day || corrected?.includes('figures')
      if (!isOnDay) stray.push({ uid, day: dayText(day!) })
    }
    if (page.length < PAGE) break
    after = page.at(-1)!.id
  }
  return stray.slice(0, limit)
}

interface Uneven {
  session: string
  model: string
  count: string
  sum: number
  total: number
}

/** Models of sessions with several sources whose entries do not sum to the totals of the source that counts. */
export async function listUnevenSessions(reader: Reader, limit: number): Promise<Uneven[]> {
  const uneven: Uneven[] = []
  for (let after = 0; uneven.length < limit; ) {
    const sessions = await listSlicedSessions(reader, after, SESSIONS)
    const ids = sessions.map(({ id }) => id)
    const chains = Map.groupBy(
      await listEntriesOf(reader, ids),
      ({ sessionId, chainModelId }) => `${sessionId} ${chainModelId}`,
    )
    for (const { sessionId, session, chainModelId, totals } of await listSuppliedTotals(reader, ids)) {
      const wrong = unevenCount(chains.get(`${sessionId} ${chainModelId}`) ?? [], readTotals(totals).totals)
      if (wrong) uneven.push({ session, model: totals.model, ...wrong })
    }
    if (sessions.length < SESSIONS) break
    after = ids.at(-1)!
  }
  return uneven.slice(0, limit)
}

function unevenCount(parts: readonly EntryRecord[], { counts }: Totals): Omit<Uneven, 'session' | 'model'> | undefined {
  // Of one that was restored since, the next report has what was ignored.
  if (parts.some(({ amendment }) => amendment?.later_reports === 'ignore')) return undefined
  return COUNT_KINDS.map((kind) => ({
    count: PRICE_FIELDS[kind],
    sum: parts.reduce((sum, part) => sum + reportedWhole(part).counts[kind], 0),
    total: counts[kind],
  })).find(({ sum, total }) => sum !== total)
}

function reportedWhole(entry: EntryRecord) {
  return reportedPart(isDivided(entry) ? wholeOf({ entry }).entry : entry)
}
