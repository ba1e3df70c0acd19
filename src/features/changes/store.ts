/** What changed between two positions of the event log. */
import { and, eq, gt, lte, sql } from 'drizzle-orm'
import type { Reader } from '../../database/database.ts'
import type { ChangedThing } from './kinds.ts'

/** By type, person, project and status, however many events there are. */
export async function listChanged(
  reader: Reader,
  { after, until }: { after: number; until: number },
): Promise<ChangedThing[]> {
  const { events, entries } = reader.tables
  return reader
    .selectDistinct({
      type: events.type,
      managerId: sql<number | null>`coalesce(${entries.managerId}, ${events.managerId})`.mapWith(Number),
      projectId: sql<number | null>`coalesce(${entries.projectId}, ${events.projectId})`.mapWith(Number),
      status: entries.status,
    })
    .from(events)
    .leftJoin(entries, eq(entries.id, events.entryId))
    .where(and(gt(events.id, after), lte(events.id, until)))
}
