/**
 * Notifies open pages that something they may show has changed, and never what. Based on the event log, which everything
 * that changes is in already: one query a second per server, and none while no page is open.
 */
import { type Viewer, visibleLabelSets, visibleProjects } from '../../access/visibility.ts'
import type { Database } from '../../database/database.ts'
import { portionsOf } from '../../database/portions.ts'
import { type EventsService, WaitingRequests } from '../events/service.ts'
import { type ChangedThing, type ChangeKind, everyKindFor, kindsFor, type Watcher } from './kinds.ts'
import { listChanged } from './store.ts'

/** How often pages are notified at most. */
const EVERY_MS = 1_000

/** Events that are read on the main thread's connection: some milliseconds. */
const QUICK_EVENTS = 1_000

/** Of more events, which pages they concern is not looked up: everyone is notified of everything that they may see. */
const MOST_EVENTS = 20_000

/** A browser has one stream, while its page is visible; and a server far fewer than the requests that it may wait for. */
const LIMITS = { perOwner: 8, total: 512 }

export interface Change {
  /** The position after it. */
  position: number
  /** Empty if nothing changed for a while. */
  kinds: ChangeKind[]
}

interface ReadOptions {
  viewer: Viewer
  isAdmin: boolean
  /** The position to continue from; now, if undefined. */
  after: number | undefined
}

interface WatchOptions {
  /** Finds what the caller sees now. Throws if they may not read at all any more. */
  sight: () => Promise<Pick<ReadOptions, 'viewer' | 'isAdmin'>>
  after: number | undefined
  idleMs: number
  /** Of a client that has left. */
  signal: AbortSignal
}

interface Span {
  after: number
  until: number
}

export type ChangesService = ReturnType<typeof createChangesService>

export function createChangesService({ db, events }: { db: Database; events: EventsService }) {
  const streams = new WaitingRequests(LIMITS)
  const stopping = new AbortController()
  /** The last span that was read: streams that are notified at the same time share it. */
  let last: (Span & { things: Promise<ChangedThing[] | undefined> }) | undefined

  /** Undefined if there are too many. */
  function read(span: Span): Promise<ChangedThing[] | undefined> {
    if (last?.after === span.after && last.until === span.until) return last.things
    const events = span.until - span.after
    const things =
      events > MOST_EVENTS ? Promise.resolve(undefined) : listChanged(events > QUICK_EVENTS ? db.slow : db.read, span)
    last = { ...span, things }
    return things
  }

  /** The position up to which changes are reported, the same for all streams of a second. */
  let settled: { at: number; position: Promise<number> } | undefined
  function position(): Promise<number> {
    const now = performance.now()
    if (!settled || now - settled.at >= EVERY_MS / 2) settled = { at: now, position: events.settled() }
    return settled.position
  }

  const watcherOf = async (viewer: Viewer, isAdmin: boolean): Promise<Watcher> => ({
    keys: await visibleProjects(db.read, viewer),
    isAdmin,
  })

  async function changedFor(
    viewer: Viewer,
    watcher: Watcher,
    things: ChangedThing[] | undefined,
  ): Promise<ChangeKind[]> {
    if (!things) return everyKindFor(watcher)
    const kinds = kindsFor(watcher, things)
    // Those who lead nothing cannot see entries by their labels, and who is notified of entries anyway need not know why.
    if (!watcher.keys || watcher.keys.ledIds.length === 0 || kinds.includes('entries')) return kinds
    const labelSetIds = [...new Set(things.flatMap(({ labelSetId }) => labelSetId ?? []))]
    if (labelSetIds.length === 0) return kinds
    const visible = new Set<number>()
    for (const portion of portionsOf(labelSetIds)) {
      for (const id of await visibleLabelSets(db.read, viewer, portion)) visible.add(id)
    }
    return visible.size === 0 ? kinds : kindsFor({ ...watcher, labelSetIds: visible }, things)
  }

  return {
    /** What changed since a position, at once. */
    async read({ viewer, isAdmin, after }: ReadOptions): Promise<Change> {
      const until = await events.settled()
      const watcher = await watcherOf(viewer, isAdmin)
      if (after === undefined || after === until) return { position: until, kinds: [] }
      const things = after > until ? undefined : await read({ after, until })
      return { position: until, kinds: await changedFor(viewer, watcher, things) }
    },

    /** Counts a stream until the returned function is called. Throws `too_many_waiting` (429). */
    begin: (personId: number): (() => void) => streams.begin(personId),

    /** Ends all streams: the server stops. */
    stop: (): void => stopping.abort(),

    /** What changed, at most once a second, until the signal is aborted; an empty change after each `idleMs` without one. */
    async *watch({ sight, after, idleMs, signal }: WatchOptions): AsyncGenerator<Change> {
      let at = after ?? (await position())
      let sentAt = performance.now()
      yield { position: at, kinds: [] }
      while (!signal.aborted && !stopping.signal.aborted) {
        const { viewer, isAdmin } = await sight()
        const until = await position()
        // A position of a database that a backup has replaced.
        if (until < at) {
          at = until
          yield { position: at, kinds: everyKindFor(await watcherOf(viewer, isAdmin)) }
        } else if (until > at) {
          const things = await read({ after: at, until })
          at = until
          const kinds = await changedFor(viewer, await watcherOf(viewer, isAdmin), things)
          if (kinds.length > 0) {
            sentAt = performance.now()
            yield { position: at, kinds }
          }
        }
        if (performance.now() - sentAt >= idleMs) {
          sentAt = performance.now()
          yield { position: at, kinds: [] }
        }
        await pause(EVERY_MS, [signal, stopping.signal])
      }
    },
  }
}

/** Resolves after the time, or as soon as one of the signals is aborted. */
async function pause(ms: number, signals: AbortSignal[]): Promise<void> {
  const signal = AbortSignal.any(signals)
  if (signal.aborted) return
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  signal.addEventListener('abort', () => resolve(), { once: true })
  await promise
  clearTimeout(timer)
}
