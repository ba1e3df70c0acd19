/** What should be nowhere in the tables of entries and sessions. Every query reads each of its rows once. */
import {
  aliasedTable,
  and,
  asc,
  eq,
  gt,
  inArray,
  isNotNull,
  isNull,
  ne,
  not,
  notExists,
  notInArray,
  or,
  sql,
} from 'drizzle-orm'
import type { Reader } from '../../../database/database.ts'
import type { LabelMap } from '../../../database/records.ts'
import type { SheetStatus, Status } from '../../../database/tables.ts'

/** Which statuses entries may have: beside sheets, and on a sheet of each status. */
export interface AllowedStatuses {
  reported: readonly Status[]
  onSheets: Record<SheetStatus, readonly Status[]>
}

/** Entries in a status that nothing leads to, or that are not as far as their sheet is, or on another person's. */
export function listMisplacedStatuses(reader: Reader, { reported, onSheets }: AllowedStatuses, limit: number) {
  const { entries, sheets } = reader.tables
  const isAsFar = or(
    ...Object.entries(onSheets).map(([sheet, statuses]) =>
      and(eq(sheets.status, sheet as SheetStatus), inArray(entries.status, [...statuses])),
    ),
  )
  return reader
    .select({ uid: entries.uid, status: entries.status, sheet: sheets.uid, sheetStatus: sheets.status })
    .from(entries)
    .leftJoin(sheets, eq(sheets.id, entries.sheetId))
    .where(
      or(
        and(isNull(entries.sheetId), notInArray(entries.status, [...reported])),
        and(isNotNull(entries.sheetId), or(isNull(sheets.id), ne(sheets.managerId, entries.managerId), not(isAsFar!))),
      ),
    )
    .limit(limit)
}

/** Parts that do not continue the one before them, and entries without a session that continue anything. */
export function listBrokenParts(reader: Reader, limit: number) {
  const { entries, sessions } = reader.tables
  const before = aliasedTable(entries, 'before')
  const continued = reader
    .select({ id: before.id })
    .from(before)
    .where(
      and(
        eq(before.sessionId, entries.sessionId),
        eq(before.chainModelId, entries.chainModelId),
        eq(before.part, sql`${entries.part} - 1`),
        eq(before.id, entries.continuesId),
      ),
    )
  return reader
    .select({ uid: entries.uid, part: entries.part, session: sessions.sessionKey })
    .from(entries)
    .leftJoin(sessions, eq(sessions.id, entries.sessionId))
    .where(
      or(
        and(sql`coalesce(${entries.part}, 1) = 1`, isNotNull(entries.continuesId)),
        and(gt(entries.part, 1), notExists(continued)),
      ),
    )
    .limit(limit)
}

/**
 * Sessions that were reported and have no entry. Telemetry leaves such ones where nothing of what it brought could be
 * counted.
 */
export function listEmptySessions(reader: Reader, limit: number) {
  const { entries, sessions } = reader.tables
  const own = reader.select({ id: entries.id }).from(entries).where(eq(entries.sessionId, sessions.id))
  return reader
    .select({ session: sessions.sessionKey })
    .from(sessions)
    .where(and(eq(sessions.source, 'report'), notExists(own)))
    .limit(limit)
}

/** Sessions that several sources know, without what the one said that supplies their figures. */
export function listUnsuppliedSessions(reader: Reader, limit: number) {
  const { sessions, sessionSources } = reader.tables
  const supplied = reader
    .select({ id: sessionSources.sessionId })
    .from(sessionSources)
    .where(and(eq(sessionSources.sessionId, sessions.id), eq(sessionSources.source, sessions.source)))
  return reader
    .select({ session: sessions.sessionKey, source: sessions.source })
    .from(sessions)
    .where(and(eq(sessions.contested, true), notExists(supplied)))
    .limit(limit)
}

/** Names whose spelling for comparing is itself another's. */
export function listNamesWithoutEnd(reader: Reader, limit: number) {
  const { names } = reader.tables
  const canonical = aliasedTable(names, 'canonical')
  return reader
    .select({ name: names.text, canonical: canonical.text })
    .from(names)
    .innerJoin(canonical, eq(canonical.id, names.canonicalId))
    .where(isNotNull(canonical.canonicalId))
    .limit(limit)
}

/** Sets of labels from behind a key. */
export function listLabelSets(
  reader: Reader,
  after: number,
  limit: number,
): Promise<{ id: number; labels: LabelMap }[]> {
  const { labelSets } = reader.tables
  return reader.select().from(labelSets).where(gt(labelSets.id, after)).orderBy(asc(labelSets.id)).limit(limit)
}

/** The pairs of all sets, by which they are found, set by set: one reading, since no index has them by set. */
export async function pairsBySet(reader: Reader): Promise<Map<number, LabelMap>> {
  const { labelPairs } = reader.tables
  const bySet = Map.groupBy(await reader.select().from(labelPairs), ({ labelSetId }) => labelSetId)
  // A label may be called `__proto__`, which is lost where it is assigned.
  const labelsOf = (pairs: { name: string; value: string }[]) =>
    Object.fromEntries(pairs.map(({ name, value }) => [name, value]))
  return new Map([...bySet].map(([id, pairs]) => [id, labelsOf(pairs)]))
}
