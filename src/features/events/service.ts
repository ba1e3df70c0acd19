/** The event log: what happened, in order, for programs that follow it (docs/design/api.md, "Events"). */
import type { Database, Tx } from '../../database/database.ts'
import { notFound, Problem, refusal } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import type { EventType } from '../../shared/event-types.ts'
import { EventFeed } from './feed.ts'
import { type EventsQuery, readEventId, writeEventId } from './query.ts'
import type { EventReader } from './reader.ts'
import {
  countEvents,
  type EventSelection,
  type EventsRead,
  type EventView,
  findEvent,
  listEvents,
} from './store/list.ts'
import { lastPosition, positionBefore, removedPosition, settledPosition } from './store/position.ts'
import { type EventRow, insertEvents, insertOccurrence, listOccurrences } from './store/record.ts'
import { countOlder, PORTION, removeOccurrences, removeOldest } from './store/retention.ts'
import { WaitingRequests } from './waiting.ts'

export { type EventsQuery, readEventsQuery, writeEventId } from './query.ts'
export { EVERY_EVENT, eventReaderOf, mayRead, scopesToRead } from './reader.ts'
export { WaitingRequests } from './waiting.ts'
export { eventBody } from './wire.ts'
export type { EventReader, EventSelection, EventView }

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

export interface ReadOptions extends EventSelection {
  /** The position to continue from. */
  after: number
  limit: number
}

/** A batch of a stream; without events if there were none for a while. */
export interface EventBatch {
  views: EventView[]
  /** The position after it. */
  next: number
}

/** Finds what a reader sees now. Throws if they may not read at all any more. */
type FindReader = () => Promise<EventReader>

interface WaitOptions {
  timeoutMs: number
  /** The reader is asked for again as often, even if nothing happens. */
  renewMs: number
  /** Of a client that has left. */
  signal: AbortSignal
}

/** Rows that are read on the main thread's connection: some milliseconds. */
const QUICK_ROWS = 1_000

export type EventsService = ReturnType<typeof createEventsService>

export function createEventsService({ db, clock }: { db: Database; clock: Clock }) {
  const feed = new EventFeed(() => settledPosition(db))
  const stopping = new AbortController()
  const waiting = new WaitingRequests()

  async function read(who: EventReader, options: ReadOptions): Promise<EventsRead> {
    const { after } = options
    const until = await settledPosition(db)
    if (until <= after) return { views: [], next: after, hasMore: false }
    return listEvents(until - after > QUICK_ROWS ? db.slow : db.read, who, { ...options, until })
  }

  /** The first events after a position, for which it waits if there are none yet. Asks for its reader before each look. */
  async function readNext(who: FindReader, options: ReadOptions, { timeoutMs, renewMs, signal: left }: WaitOptions) {
    const signal = AbortSignal.any([left, stopping.signal])
    const endsAt = performance.now() + timeoutMs
    for (let { after } = options; ; ) {
      const found = await read(await who(), { ...options, after })
      const leftMs = endsAt - performance.now()
      if (found.views.length > 0 || leftMs <= 0 || signal.aborted) return found
      after = found.next
      if (!found.hasMore) await feed.wait(after, { timeoutMs: Math.min(leftMs, renewMs), signal })
    }
  }

  return {
    /** Records events, in order, in the transaction of what causes them. */
    record: (tx: Tx, events: readonly NewEvent[]): Promise<void> => recordEvents(tx, events, clock.now()),

    /**
     * Records events if none with their key were recorded before, and returns whether it did: for jobs, which look
     * again and again, and may run on several servers. Without events, it only notes that somebody has looked.
     */
    async recordOnce(tx: Tx, key: string, events: readonly NewEvent[]): Promise<boolean> {
      const now = clock.now()
      if (!(await insertOccurrence(tx, { key, at: now }))) return false
      await recordEvents(tx, events, now)
      return true
    },

    /** Those of the keys with which nothing was recorded yet. */
    async unrecorded(keys: readonly string[]): Promise<string[]> {
      const known = await listOccurrences(db.read, keys)
      return keys.filter((key) => !known.has(key))
    },

    /**
     * The position to begin at. Throws `events_expired` (410) if retention has removed events after it, and 422 if the
     * database, which a backup has probably replaced, has never had it.
     */
    async begin(after: EventsQuery['after']): Promise<number> {
      if (after === 'now') return settledPosition(db)
      const removed = await removedPosition(db.read)
      if (after === undefined) return removed
      if (after < removed) throw eventsExpired(removed)
      if (after > (await lastPosition(db))) throw replacedDatabase()
      return after
    },

    /** The position up to which the log is complete: no event appears before it any more. */
    settled: (): Promise<number> => settledPosition(db),

    /** The position after all events, also those of transactions that are still running. */
    last: (): Promise<number> => lastPosition(db),

    /** The position before a moment. */
    positionBefore: (moment: number): Promise<number> => positionBefore(db.slow, moment),

    /** The number of events after a position that the reader can see, at most `limit`. */
    count: async (who: EventReader, options: ReadOptions): Promise<number> =>
      countEvents(db.slow, who, { ...options, until: await settledPosition(db) }),

    /** What the reader can see after a position, oldest first. May be empty although there is more. */
    read,

    /** The same, but reads on until the page is full or there is no more: for a person, who would not follow. */
    async readFull(who: EventReader, { limit, ...options }: ReadOptions): Promise<EventsRead> {
      const views: EventView[] = []
      for (let { after } = options; ; ) {
        const found = await read(who, { ...options, after, limit: limit - views.length })
        views.push(...found.views)
        after = found.next
        if (!found.hasMore || views.length === limit) return { ...found, views }
      }
    },

    /** The same; waits for events if there are none. */
    readNext,

    /** Throws `not_found` if the event does not exist, or the reader can't see it. */
    async get(id: string, who: EventReader): Promise<EventView> {
      const key = readEventId(id)
      const view = key === undefined ? undefined : await findEvent(db.read, who, key)
      if (!view) throw notFound(`The event ${id}`)
      return view
    },

    /** Counts a request that waits, until the returned function is called. Throws `too_many_waiting` (429). */
    beginWaiting: (personId: number): (() => void) => waiting.begin(personId),

    /** Removes the events from before the moment, the oldest first, and returns their number. */
    async removeBefore(before: number): Promise<number> {
      let rows = 0
      for (;;) {
        const removed = await db.write((tx) => removeOldest(tx, before))
        rows += removed
        if (removed < PORTION) break
      }
      await db.write((tx) => removeOccurrences(tx, before))
      return rows
    },

    countBefore: (before: number): Promise<number> => countOlder(db.slow, before),

    /** Ends what waits: the server stops. */
    stop: (): void => stopping.abort(),

    /** Batches from a position on, until the signal is aborted; an empty one after each `idleMs` without events. */
    async *follow(
      who: FindReader,
      options: ReadOptions,
      { idleMs, ...wait }: { idleMs: number } & Omit<WaitOptions, 'timeoutMs'>,
    ): AsyncGenerator<EventBatch> {
      for (let { after } = options; !wait.signal.aborted && !stopping.signal.aborted; ) {
        const { views, next } = await readNext(who, { ...options, after }, { ...wait, timeoutMs: idleMs })
        after = next
        yield { views, next }
      }
    },
  }
}

function eventsExpired(removed: number): Problem {
  return new Problem(
    'events_expired',
    `Events up to ${writeEventId(removed)} were removed, because they are older than the retention period, and some of them are after the one that you have. Read what you missed from the lists, and continue with after=${writeEventId(removed)}.`,
  )
}

function replacedDatabase(): Problem {
  const message =
    'is of a later state than that of the database, which a backup has probably replaced: begin again without it'
  return refusal('/query/after', 'not_allowed', message)
}

/** The same, for changes whose time is known. */
export async function recordEvents(tx: Tx, events: readonly NewEvent[], now: number): Promise<void> {
  if (events.length === 0) return
  await insertEvents(
    tx,
    events.map((event) => rowOf(event, now)),
  )
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
