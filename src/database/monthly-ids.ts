/**
 * The ids of a database whose entries are partitioned (engines/postgres/partitions.ts): those of sessions and entries begin
 * with the month in which they were recorded, so that an id says in which partition its row is. Ids from before, and all
 * ids of other databases, are below those of any month.
 */

/** What follows the month: no month has so many entries. */
export const IDS_PER_MONTH = 10_000_000_000

/** A month of UTC as a number: 202612 for December 2026. */
export function monthOf(moment: number): number {
  const date = new Date(moment)
  return date.getUTCFullYear() * 100 + date.getUTCMonth() + 1
}

/** The month after this one. */
export const monthAfter = (month: number): number => (month % 100 === 12 ? month + 89 : month + 1)

/** The lowest id of a month. A safe integer until the year 9007. */
export const firstIdOf = (month: number): number => month * IDS_PER_MONTH

/**
 * The lowest id that an entry of a session can have: an entry is never recorded in an earlier month than its session.
 * PostgreSQL leaves out the partitions before it.
 */
export const lowestEntryId = (sessionId: number): number => firstIdOf(Math.floor(sessionId / IDS_PER_MONTH))
