/** Entries as decisions need them: their owner, placement and status. */

import { and, asc, desc, eq, inArray, sql } from 'drizzle-orm'
import { type Viewer, visibleEntries } from '../../../access/visibility.ts'
import type { Reader, Tx } from '../../../database/database.ts'
import { portionsOf } from '../../../database/portions.ts'
import type { EntryAmendment } from '../../../database/schema/records.ts'
import type { LaterReports, SessionDuplicate, Status } from '../../../database/schema/values.ts'
import type { Id } from '../../../lib/id.ts'
import { conditionOf, type EntryFilter } from '../../selection/contract.ts'
import { notingChanges } from '../../spending/contract.ts'
import { isBilledOn, isOfSessions } from '../store.ts'

export interface DecidableEntry {
  id: number
  uid: Id<'ent'>
  managerId: number
  projectId: number | null
  sessionId: number | null
  status: Status
  amendment: EntryAmendment | null
  reportedCost: bigint | null
  listValue: bigint | null
  sheet: Id<'sht'> | null
  bill: Id<'bil'> | null
}

function selectDecidable(reader: Reader) {
  const { entries, sheets, bills } = reader.tables
  return reader
    .select({
      id: entries.id,
      uid: entries.uid,
      managerId: entries.managerId,
      projectId: entries.projectId,
      sessionId: entries.sessionId,
      status: entries.status,
      amendment: entries.amendment,
      reportedCost: entries.reportedCost,
      listValue: entries.listValue,
      sheet: sheets.uid,
      bill: bills.uid,
    })
    .from(entries)
    .leftJoin(sheets, eq(sheets.id, entries.sheetId))
    .leftJoin(bills, isBilledOn(reader.tables))
}

/** The entries with these ids that the viewer may see. */
export async function listDecidableByIds(
  reader: Reader,
  uids: readonly Id<'ent'>[],
  viewer: Viewer,
): Promise<DecidableEntry[]> {
  const found: DecidableEntry[] = []
  for (const portion of portionsOf(uids)) {
    found.push(
      ...(await selectDecidable(reader).where(
        and(inArray(reader.tables.entries.uid, portion), await visibleEntries(reader, viewer)),
      )),
    )
  }
  return found
}

/** The entries that match the filter and that the viewer may see, newest first. */
export async function listDecidable(
  reader: Reader,
  { filter, viewer, limit }: { filter: EntryFilter; viewer: Viewer; limit: number },
): Promise<DecidableEntry[]> {
  const { entries } = reader.tables
  return selectDecidable(reader)
    .where(and(conditionOf(reader, filter), await visibleEntries(reader, viewer)))
    .orderBy(desc(entries.startedAt), desc(entries.id))
    .limit(limit)
}

/** The entries of these sessions with the other parts of divided ones, oldest first, whoever may see them. */
export async function listDecidableOfSessions(
  reader: Reader,
  sessionIds: readonly number[],
): Promise<DecidableEntry[]> {
  const found: DecidableEntry[] = []
  for (const portion of portionsOf(sessionIds)) {
    found.push(...(await selectDecidable(reader).where(isOfSessions(reader, portion))))
  }
  return found.sort((one, other) => one.id - other.id)
}

/** The status is literal, so that SQLite knows that the index of held entries has them all. */
export async function countHeld(reader: Reader, managerId: number): Promise<number> {
  const [row] = await reader
    .prepared('entries.count-held', (prepare) => {
      const { entries } = prepare.tables
      return prepare
        .select({ held: sql`count(*)`.mapWith(Number) })
        .from(entries)
        .where(and(eq(entries.managerId, sql.placeholder('managerId')), sql`${entries.status} = 'held'`))
    })
    .execute({ managerId })
  return row!.held
}

/** Later reports of these sessions follow what was decided about them. */
export async function decideSessions(
  tx: Tx,
  sessionIds: readonly number[],
  duplicate: SessionDuplicate,
): Promise<void> {
  const { sessions } = tx.tables
  for (const portion of portionsOf(sessionIds)) {
    await tx.update(sessions).set({ duplicate }).where(inArray(sessions.id, portion))
  }
}

/** Keeps what happens to later reports of the sessions of entries that are voided. */
export async function saveLaterReports(
  tx: Tx,
  voided: readonly DecidableEntry[],
  laterReports: LaterReports,
): Promise<void> {
  const { entries } = tx.tables
  for (const alike of Map.groupBy(voided, ({ amendment }) => JSON.stringify(amendment)).values()) {
    const { later_reports: before, ...kept }: EntryAmendment = alike[0]!.amendment ?? {}
    const amendment: EntryAmendment = laterReports === 'ignore' ? { ...kept, later_reports: laterReports } : kept
    if (before === amendment.later_reports) continue
    const ids = alike.map(({ id }) => id)
    const value = Object.keys(amendment).length > 0 ? amendment : null
    for (const portion of portionsOf(ids)) {
      await tx.update(entries).set({ amendment: value }).where(inArray(entries.id, portion))
    }
  }
}

/** Changes the status of entries. Entries whose status has changed meanwhile stay unchanged and are not returned. */
export async function updateStatuses(
  tx: Tx,
  { ids, from, to, now }: { ids: readonly number[]; from: Status; to: Status; now: number },
): Promise<Set<number>> {
  const { entries } = tx.tables
  const moved = new Set<number>()
  for (const portion of portionsOf(ids)) {
    const rows = await notingChanges(tx, portion, () =>
      tx
        .update(entries)
        .set({ status: to, updatedAt: now })
        .where(and(inArray(entries.id, portion), eq(entries.status, from)))
        .returning({ id: entries.id }),
    )
    for (const { id } of rows) moved.add(id)
  }
  return moved
}

export interface NamedProject {
  id: number
  uid: Id<'prj'>
  key: string
  name: string
}

/** In the order of their keys. */
export function listProjectsById(reader: Reader, ids: readonly number[]): Promise<NamedProject[]> {
  const { projects } = reader.tables
  return Promise.resolve(
    reader
      .select({ id: projects.id, uid: projects.uid, key: projects.key, name: projects.name })
      .from(projects)
      .where(inArray(projects.id, [...ids]))
      .orderBy(asc(projects.id)),
  )
}
