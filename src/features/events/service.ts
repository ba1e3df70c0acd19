/** The event log: what happened, in order, for programs that follow it (docs/design/api.md, "Events"). */
import type { Database, Tx } from '../../database/database.ts'
import type { EventType } from '../../event-types.ts'
import type { Clock } from '../../lib/clock.ts'
import { type EventRow, insertEvents } from './store.ts'

export interface NewEvent {
  type: EventType
  /** Now, if absent. */
  at?: number | undefined
  /** Who caused it; Tally itself, if absent. */
  by?: { userId: number | null; tokenId: number | null } | undefined
  /** The public id and a readable name of what it happened to. */
  object?: { id: string; name: string } | undefined
  /** The key of an entry, instead of an object. */
  entryId?: number | undefined
  /** Whose entry or sheet it is. */
  managerId?: number | null | undefined
  /** Of which project it is. */
  projectId?: number | null | undefined
  /** The changed fields under their API names. Never summaries, labels or secrets. */
  before?: Record<string, unknown> | undefined
  after?: Record<string, unknown> | undefined
}

export type EventsService = ReturnType<typeof createEventsService>

export function createEventsService({ clock }: { db: Database; clock: Clock }) {
  return {
    /** Records events, in order, in the transaction of what causes them. */
    async record(tx: Tx, events: readonly NewEvent[]): Promise<void> {
      if (events.length === 0) return
      const now = clock.now()
      await insertEvents(
        tx,
        events.map((event) => rowOf(event, now)),
      )
    },
  }
}

/** Every row has the same properties, so that they are written together. */
function rowOf(
  { type, at, by, object, entryId, managerId, projectId, before, after }: NewEvent,
  now: number,
): EventRow {
  return {
    at: at ?? now,
    type,
    objectId: object?.id ?? null,
    objectName: object?.name ?? null,
    entryId: entryId ?? null,
    managerId: managerId ?? null,
    projectId: projectId ?? null,
    userId: by?.userId ?? null,
    tokenId: by?.tokenId ?? null,
    details: before || after ? { before, after } : null,
  }
}
