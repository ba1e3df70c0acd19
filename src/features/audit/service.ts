/** The audit log: every change by a person or the command line, kept permanently. */
import type { Actor } from '../../access/actor.ts'
import type { Database, Reader, Tx } from '../../database/database.ts'
import type { Clock } from '../../lib/clock.ts'
import { isId } from '../../lib/id.ts'
import { eachPage, type Page, pageOf } from '../../schema/lists.ts'
import { writeKeyPage } from '../../schema/query.ts'
import type { ChangeAction } from '../../shared/change-sentences.ts'
import type { EventsService } from '../events/service.ts'
import { eventTypeOf } from './events.ts'
import { requireUnchanged } from './precondition.ts'
import type { AuditQuery } from './query.ts'
import { readVersion, readVersions } from './store/versions.ts'
import { type AuditFilter, type AuditView, insertChange, listChanges, listChangesOf } from './store.ts'

export { requireUnchanged } from './precondition.ts'
export { readAuditQuery } from './query.ts'
export type { AuditFilter, AuditView, ChangeAction }

/** A recorded change. `before` and `after` hold the changed fields under their API names, never secrets. */
export interface Change {
  /** `<object>.<what happened>`, such as `project.archived`. */
  action: ChangeAction
  /** The public id and a readable name of the changed object; absent for several objects or the organization. */
  object?: { id: string; name: string } | undefined
  before?: Record<string, unknown> | undefined
  after?: Record<string, unknown> | undefined
}

export type AuditService = ReturnType<typeof createAuditService>

interface Dependencies {
  db: Database
  clock: Clock
  events: Pick<EventsService, 'record'>
}

export function createAuditService({ db, clock, events }: Dependencies) {
  return {
    /**
     * Records the change in the transaction that makes it, and as an event if it is one (events.ts). Throws `changed_meanwhile` (412) if the actor requires that
     * nobody else has changed the object.
     */
    async record(tx: Tx, by: Actor, { action, object, before, after }: Change): Promise<void> {
      // What an entry's history has of this change is written already: those who change entries ask before.
      if (object && !isId('ent', object.id)) await requireUnchanged(tx, by, object.id)
      const { userId, tokenId, origin, for: represented } = by
      const at = clock.now()
      await insertChange(tx, {
        at,
        userId,
        tokenId,
        origin,
        forId: represented?.id ?? null,
        action,
        objectId: object?.id ?? null,
        objectName: object?.name ?? null,
        before: before ?? null,
        after: after ?? null,
      })
      const type = eventTypeOf(action)
      if (type) await events.record(tx, [{ type, at, by, object, before, after }])
    },

    /** The version of an object, as entity tags have it. Read it before the object. */
    version: (objectId: string): Promise<string> => readVersion(db.read, objectId),

    /** The versions of several objects by their ids, of kinds other than entries. */
    versions: (objectIds: readonly string[]): Promise<Map<string, string>> => readVersions(db.read, objectIds),

    /** The newest change of an object with one of these actions; undefined if there is none. */
    async findLatest(
      object: string,
      actions: readonly string[],
      reader: Reader = db.read,
    ): Promise<{ at: number; action: string; origin: string; after: Record<string, unknown> | null } | undefined> {
      const [latest] = await listChangesOf(reader, { object, actions, limit: 1 })
      return latest
    },

    /** A page of changes, the newest first. */
    async listChanges({
      filter,
      limit,
      after,
    }: Pick<AuditQuery, 'filter' | 'limit' | 'after'>): Promise<Page<AuditView>> {
      const changes = await listChanges(db.slow, filter, { after, limit: limit + 1 })
      return pageOf(changes, limit, ({ id }) => writeKeyPage(id))
    },

    /** All changes that match the filter, newest first. */
    async *everyChange(filter: AuditFilter): AsyncGenerator<AuditView> {
      const pages = eachPage(
        (page) => listChanges(db.slow, filter, page),
        ({ id }: AuditView) => id,
      )
      for await (const changes of pages) yield* changes
    },
  }
}

/**
 * The members of `after` that differ from `before`, on both sides; undefined if there are none. Values are compared as
 * JSON.
 */
export function difference<T extends object>(
  before: T,
  after: T,
): { before: Record<string, unknown>; after: Record<string, unknown> } | undefined {
  const changed = (Object.keys(after) as (keyof T & string)[]).filter(
    (name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  )
  if (changed.length === 0) return undefined
  const only = (of: T) => Object.fromEntries(changed.map((name) => [name, of[name]]))
  return { before: only(before), after: only(after) }
}
