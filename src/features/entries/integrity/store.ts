/** Queries for rows of entries and sessions that should not exist. Each reads every row once. */
import {
  aliasedTable,
  and,
  asc,
  type Column,
  eq,
  exists,
  gt,
  inArray,
  isNotNull,
  isNull,
  lt,
  ne,
  not,
  notExists,
  notInArray,
  or,
  type SQL,
  sql,
} from 'drizzle-orm'
import { ledProjects } from '../../../access/visibility.ts'
import type { Reader } from '../../../database/database.ts'
import { portionsOf } from '../../../database/portions.ts'
import type { LabelMap } from '../../../database/schema/records.ts'
import type { SheetStatus, Status } from '../../../database/schema/values.ts'
import type { Id } from '../../../lib/id.ts'
import { figuresOf, rowsOf, wholeOf } from '../division/divided.ts'
import { listOtherParts } from '../division/store.ts'
import { type EntryRecord, getViews } from '../store.ts'
import { OWNING_TOKENS, REASONS_OF_BILLS, REPORTED_ACTIONS, SETTLED_STATUSES, STAYING_STATUSES } from './ownership.ts'

/** Statuses that entries may have: without a sheet, and on a sheet in each of its states. */
export interface AllowedStatuses {
  reported: readonly Status[]
  onSheets: Record<SheetStatus, readonly Status[]>
}

/**
 * Entries with a status that no transition leads to, that does not match their sheet's, or on another person's sheet.
 */
export function listMisplacedStatuses(reader: Reader, { reported, onSheets }: AllowedStatuses, limit: number) {
  const { entries, sheets } = reader.tables
  const matchesSheet = or(
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
        and(
          isNotNull(entries.sheetId),
          or(isNull(sheets.id), ne(sheets.managerId, entries.managerId), not(matchesSheet!)),
        ),
      ),
    )
    .limit(limit)
}

/**
 * Parts that do not continue the previous one, of their slice if their model has slices, where the first one continues
 * none; and entries without a session that continue another. A part of a session without slices that was open again when
 * these arrived is one of them now, whatever continues it.
 */
export function listBrokenParts(reader: Reader, limit: number) {
  const { entries, entryHistory, sessions } = reader.tables
  const before = aliasedTable(entries, 'before')
  const other = aliasedTable(entries, 'other')
  const sliced = reader
    .select({ id: other.id })
    .from(other)
    .where(
      and(
        eq(other.sessionId, entries.sessionId),
        eq(other.chainModelId, entries.chainModelId),
        isNotNull(other.sliceDay),
      ),
    )
  const becameSlice = reader
    .select({ id: entryHistory.id })
    .from(entryHistory)
    .where(and(eq(entryHistory.entryId, before.id), eq(entryHistory.action, 'sliced')))
  const continued = reader
    .select({ id: before.id })
    .from(before)
    .where(
      and(
        eq(before.sessionId, entries.sessionId),
        eq(before.chainModelId, entries.chainModelId),
        eq(before.id, entries.continuesId),
        or(eq(before.part, sql`${entries.part} - 1`), and(lt(before.part, entries.part), exists(sliced))),
        or(
          isNull(before.sliceDay),
          and(eq(before.sliceDay, entries.sliceDay), eq(before.slicePlace, entries.slicePlace)),
          exists(becameSlice),
        ),
      ),
    )
  return reader
    .select({ uid: entries.uid, part: entries.part, session: sessions.sessionKey })
    .from(entries)
    .leftJoin(sessions, eq(sessions.id, entries.sessionId))
    .where(
      or(
        and(sql`coalesce(${entries.part}, 1) = 1`, isNotNull(entries.continuesId)),
        and(gt(entries.part, 1), or(isNotNull(entries.continuesId), notExists(sliced)), notExists(continued)),
      ),
    )
    .limit(limit)
}

/**
 * Sessions that were reported and have no entry. Telemetry leaves these if none of the data in its request could be
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

/** Entries whose funding does not exist: nothing in the database prevents it. */
export function listUnknownFundings(reader: Reader, limit: number) {
  const { entries, fundings } = reader.tables
  const known = reader.select({ id: fundings.id }).from(fundings).where(eq(fundings.id, entries.fundingId))
  return reader
    .select({ uid: entries.uid })
    .from(entries)
    .where(and(isNotNull(entries.fundingId), notExists(known)))
    .limit(limit)
}

/** Sessions with several sources that lack the totals of the source that supplies their entries. */
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

/** Entries that were reported with a service token of someone other than their owner: the rule of `isForeign`. */
export function listForeignEntries(reader: Reader, limit: number) {
  const { entries, tokens } = reader.tables
  const { managers, actors } = people(reader)
  return reader
    .select({ uid: entries.uid, manager: managers.email, by: actors.email })
    .from(entries)
    .innerJoin(tokens, eq(tokens.id, entries.tokenId))
    .innerJoin(managers, eq(managers.id, entries.managerId))
    .innerJoin(actors, eq(actors.id, tokens.createdBy))
    .where(and(isOfOther(reader), notInArray(entries.status, [...SETTLED_STATUSES])))
    .limit(limit)
}

/** Whether the token is a service token of someone other than the entry's owner. */
function isOfOther({ tables: { entries, tokens } }: Reader): SQL | undefined {
  return and(eq(tokens.kind, OWNING_TOKENS), ne(tokens.createdBy, entries.managerId))
}

/** Entries with a change in their history by another person's service token: the same. */
export function listForeignChanges(reader: Reader, limit: number) {
  const { entries, entryHistory, tokens } = reader.tables
  const { managers, actors } = people(reader)
  return reader
    .selectDistinct({ uid: entries.uid, manager: managers.email, by: actors.email, action: entryHistory.action })
    .from(entryHistory)
    .innerJoin(entries, eq(entries.id, entryHistory.entryId))
    .innerJoin(tokens, eq(tokens.id, entryHistory.tokenId))
    .innerJoin(managers, eq(managers.id, entries.managerId))
    .innerJoin(actors, eq(actors.id, tokens.createdBy))
    .where(
      and(
        isOfOther(reader),
        notInArray(entries.status, [...SETTLED_STATUSES]),
        inArray(entryHistory.action, REPORTED_ACTIONS),
        ...REASONS_OF_BILLS.map((reason) => not(hasReason(entryHistory.details, reason))),
      ),
    )
    .limit(limit)
}

/**
 * Entries that a member's own rows or reports moved to another project with a ticket, though the member does not lead
 * it. Of what happened in another Tally, its roles decided.
 */
export function listForeignMoves(reader: Reader, limit: number) {
  const { entries, entryHistory } = reader.tables
  const { managers, actors } = people(reader)
  const led = ledProjects(reader, sql`(${actors.id})`)
  const later = aliasedTable(entryHistory, 'later')
  const importedLater = reader
    .select({ id: later.id })
    .from(later)
    .where(and(eq(later.entryId, entries.id), eq(later.action, 'imported'), gt(later.id, entryHistory.id)))
  return reader
    .selectDistinct({ uid: entries.uid, manager: managers.email, by: actors.email })
    .from(entryHistory)
    .innerJoin(entries, eq(entries.id, entryHistory.entryId))
    .innerJoin(managers, eq(managers.id, entries.managerId))
    .innerJoin(actors, eq(actors.id, entryHistory.userId))
    .where(
      and(
        isNull(entryHistory.tokenId),
        ne(actors.id, entries.managerId),
        eq(actors.role, 'member'),
        hasReason(entryHistory.details, 'ticket_found_project'),
        or(isNull(entries.projectId), notInArray(entries.projectId, led)),
        notExists(importedLater),
      ),
    )
    .limit(limit)
}

/** Entries that may still change and have another owner than their session: the same. */
export function listStrayedEntries(reader: Reader, limit: number) {
  const { entries, sessions } = reader.tables
  const { managers, actors: owners } = people(reader)
  return reader
    .select({ uid: entries.uid, manager: managers.email, session: sessions.sessionKey, owner: owners.email })
    .from(entries)
    .innerJoin(sessions, eq(sessions.id, entries.sessionId))
    .innerJoin(managers, eq(managers.id, entries.managerId))
    .innerJoin(owners, eq(owners.id, sessions.managerId))
    .where(
      and(
        ne(sessions.managerId, entries.managerId),
        notInArray(entries.status, [...STAYING_STATUSES, ...SETTLED_STATUSES]),
      ),
    )
    .limit(limit)
}

function people({ tables: { users } }: Reader) {
  return { managers: aliasedTable(users, 'manager'), actors: aliasedTable(users, 'actor') }
}

/** Whether the details of a history row contain this reason. */
function hasReason(details: Column, reason: string): SQL {
  return sql`${details} LIKE ${`%"because":"${reason}"%`}`
}

/** Names with a canonical name that has another canonical name itself. */
export function listChainedNames(reader: Reader, limit: number) {
  const { names } = reader.tables
  const canonical = aliasedTable(names, 'canonical')
  return reader
    .select({ name: names.text, canonical: canonical.text })
    .from(names)
    .innerJoin(canonical, eq(canonical.id, names.canonicalId))
    .where(isNotNull(canonical.canonicalId))
    .limit(limit)
}

/** Sets of labels starting after a key. */
export function listLabelSets(
  reader: Reader,
  after: number,
  limit: number,
): Promise<{ id: number; labels: LabelMap }[]> {
  const { labelSets } = reader.tables
  return reader.select().from(labelSets).where(gt(labelSets.id, after)).orderBy(asc(labelSets.id)).limit(limit)
}

/** The pairs of all sets, by which entries are found, grouped by set: one pass, since no index has them by set. */
export async function pairsBySet(reader: Reader): Promise<Map<number, LabelMap>> {
  const { labelPairs } = reader.tables
  const bySet = Map.groupBy(await reader.select().from(labelPairs), ({ labelSetId }) => labelSetId)
  // A label may be named `__proto__`, which an assignment would lose.
  const labelsOf = (pairs: { name: string; value: string }[]) =>
    Object.fromEntries(pairs.map(({ name, value }) => [name, value]))
  return new Map([...bySet].map(([id, pairs]) => [id, labelsOf(pairs)]))
}

/** Divided entries whose parts do not sum to the whole that they keep. */
export async function listUnevenDivisions(reader: Reader, limit: number) {
  const { entries } = reader.tables
  const divided = await reader
    .select({ id: entries.id, uid: entries.uid })
    .from(entries)
    .where(
      inArray(
        entries.id,
        reader
          .select({ id: sql`${entries.dividedFromId}` })
          .from(entries)
          .where(isNotNull(entries.dividedFromId)),
      ),
    )
  const uneven: { uid: Id<'ent'> }[] = []
  for (const portion of portionsOf(divided)) {
    const ids = portion.map(({ id }) => id)
    const [firsts, others] = [await getViews(reader, ids), await listOtherParts(reader, ids)]
    for (const [position, first] of firsts.entries()) {
      const stored = [first, ...others[position]!].map(({ entry }) => figuresOf({ entry, model: '', provider: null }))
      const due = rowsOf(wholeOf(first), others[position]!).map(({ entry }) =>
        figuresOf({ entry, model: '', provider: null }),
      )
      if (JSON.stringify(stored) !== JSON.stringify(due)) uneven.push({ uid: first.entry.uid })
    }
    if (uneven.length >= limit) break
  }
  return uneven.slice(0, limit)
}

interface SlicedEntry extends Pick<EntryRecord, 'id' | 'uid' | 'startedAt' | 'corrected'> {
  day: number | null
  zone: string | null
}

/** Entries that are parts of slices, also the other parts of divided ones, starting after a key. */
export function listSlicedEntries(reader: Reader, after: number, limit: number): Promise<SlicedEntry[]> {
  const { entries, sessions } = reader.tables
  const divided = aliasedTable(entries, 'divided')
  return reader
    .select({
      id: entries.id,
      uid: entries.uid,
      day: entries.sliceDay,
      startedAt: entries.startedAt,
      corrected: entries.corrected,
      zone: sessions.zone,
    })
    .from(entries)
    .leftJoin(divided, eq(divided.id, entries.dividedFromId))
    .innerJoin(sessions, eq(sessions.id, sql`coalesce(${entries.sessionId}, ${divided.sessionId})`))
    .where(and(gt(entries.id, after), isNotNull(entries.sliceDay), eq(entries.superseded, false)))
    .orderBy(asc(entries.id))
    .limit(limit)
}

/** Sessions with slices and several sources, starting after a key. */
export function listSlicedSessions(reader: Reader, after: number, limit: number): Promise<{ id: number }[]> {
  const { sessions } = reader.tables
  return reader
    .select({ id: sessions.id })
    .from(sessions)
    .where(and(gt(sessions.id, after), eq(sessions.contested, true), isNotNull(sessions.zone)))
    .orderBy(asc(sessions.id))
    .limit(limit)
}

/** What the source that counts has said of each model of these sessions. */
export function listSuppliedTotals(reader: Reader, sessionIds: readonly number[]) {
  const { sessions, sessionSources } = reader.tables
  return reader
    .select({
      sessionId: sessions.id,
      session: sessions.sessionKey,
      chainModelId: sessionSources.chainModelId,
      totals: sessionSources.totals,
    })
    .from(sessionSources)
    .innerJoin(sessions, and(eq(sessions.id, sessionSources.sessionId), eq(sessions.source, sessionSources.source)))
    .where(inArray(sessions.id, [...sessionIds]))
}

export function listEntriesOf(reader: Reader, sessionIds: readonly number[]): Promise<EntryRecord[]> {
  const { entries } = reader.tables
  return reader
    .select()
    .from(entries)
    .where(inArray(entries.sessionId, [...sessionIds]))
}
