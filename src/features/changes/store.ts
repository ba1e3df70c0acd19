/** What changed between two positions of the event log. */
import { and, eq, gt, lte, sql } from 'drizzle-orm'
import { reachesByLabels } from '../../access/visibility.ts'
import type { Reader } from '../../database/database.ts'
import type { ChangedThing } from './kinds.ts'

/** By type, person, project, status and labels of unattributed entries, however many events there are. */
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
      labelSetId: sql<number | null>`CASE WHEN ${reachesByLabels(reader)} THEN ${entries.labelSetId} END`.mapWith(
        Number,
      ),
    })
    .from(events)
    .leftJoin(entries, eq(entries.id, events.entryId))
    .where(and(gt(events.id, after), lte(events.id, until)))
}
