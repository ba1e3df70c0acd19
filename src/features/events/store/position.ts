/** Positions in the log: up to where it can be read, and what of it is gone. */
import { desc, lt, sql } from 'drizzle-orm'
import type { Database, Reader } from '../../../database/database.ts'

/**
 * The last id before which no further event will appear. On PostgreSQL, a transaction that draws an id may commit after
 * one that draws the next, and shows where it began until it has ended (migration 17); SQLite has one writer. Read it in a
 * statement before the one that reads the events.
 */
export function settledPosition(db: Database): Promise<number> {
  return readPosition(db, 'events.settled', `settled_id('events')`)
}

/** The last id that was ever drawn. A later position is of a database that a backup has replaced. */
export function lastPosition(db: Database): Promise<number> {
  return readPosition(db, 'events.last', `pg_sequence_last_value(pg_get_serial_sequence('events', 'id')::regclass)`)
}

/** The position before a moment: that of the last event before it. */
export async function positionBefore(reader: Reader, moment: number): Promise<number> {
  const { events } = reader.tables
  const [row] = await reader
    .select({ id: events.id })
    .from(events)
    .where(lt(events.at, moment))
    .orderBy(desc(events.id))
    .limit(1)
  return row?.id ?? 0
}

async function readPosition(db: Database, key: string, onPostgres: string): Promise<number> {
  const id = db.engine === 'postgres' ? onPostgres : '(SELECT max(id) FROM events)'
  const query = db.read.prepared(key, (prepare) =>
    prepare.select({ id: sql<number>`coalesce(${sql.raw(id)}, 0)`.mapWith(Number) }).from(sql`(SELECT 1) AS one`),
  )
  const [row] = await query.execute()
  return row!.id
}

/** The last event that retention has removed; 0 for none. */
export async function removedPosition(reader: Reader): Promise<number> {
  const query = reader.prepared('events.removed', (prepare) => {
    const { organization } = prepare.tables
    return prepare.select({ id: organization.eventsRemovedTo }).from(organization)
  })
  const [row] = await query.execute()
  return row?.id ?? 0
}
