/** The recorded loads of price tables, and how they are undone. */

import type { Actor } from '../../access/actor.ts'
import type { Database } from '../../database/database.ts'
import { notFound, Problem } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { counted } from '../../lib/counted.ts'
import { isId } from '../../lib/id.ts'
import { type Page, pageOf } from '../../schema/lists.ts'
import { type ListPage, writeKeyPage } from '../../schema/query.ts'
import type { AuditService } from '../audit/service.ts'
import {
  countValued,
  findLaterLoad,
  findLatestLoad,
  findLoad,
  findNewestEntry,
  isValuedAfter,
  type LoadRecord,
  type LoadView,
  listLoads,
  undoLoad,
} from './store/loads.ts'

interface Dependencies {
  db: Database
  clock: Clock
  audit: AuditService
}

export function createLoads({ db, clock, audit }: Dependencies) {
  async function getLoad(id: string): Promise<LoadView> {
    const view = isId('pld', id) ? await findLoad(db.read, id) : undefined
    if (!view) throw notFound(`The price load ${id}`)
    return view
  }

  return {
    /** A page of loads, the newest first. */
    async list({ limit, after }: Pick<ListPage, 'limit' | 'after'>): Promise<Page<LoadView>> {
      const views = await listLoads(db.read, { after, limit: limit + 1 })
      return pageOf(views, limit, ({ load }) => writeKeyPage(load.id))
    },

    /** A load, and the number of entries that have a price of it. Throws `not_found`. */
    async get(id: string): Promise<LoadView & { entries: number }> {
      const view = await getLoad(id)
      return { ...view, entries: await countValued(db.slow, view.load.id) }
    },

    /** The newest load of a file that was not undone. Throws `not_found`. */
    async getLatest(): Promise<LoadView> {
      const view = await findLatestLoad(db.read)
      if (!view)
        throw new Problem(
          'not_found',
          'There is no load of a price table to undo. List all loads with `tally prices loads`.',
        )
      return view
    },

    /**
     * Withdraws the prices of a load and puts back the aliases that it changed. Throws `not_found`, and
     * `price_load_in_use` (409) if entries have a price of it, if it was undone already, or if a later load of the same
     * format builds on it.
     */
    async undo(id: string, by: Actor): Promise<LoadView> {
      const { load } = await getLoad(id)
      await requireUndoable(load)
      const newest = await findNewestEntry(db.read)
      const entries = await countValued(db.slow, load.id)
      if (entries > 0) throw inUse(valuedText(load, entries))
      await db.write(async (tx) => {
        // The count may take seconds, and must not stop reports: here only the entries since then are looked at.
        if (await isValuedAfter(tx, load.id, newest)) throw inUse(valuedText(load, 1))
        const later = await findLaterLoad(tx, load)
        if (later) throw inUse(laterText(later))
        const undone = await undoLoad(tx, load, { undoneAt: clock.now(), undoneBy: by.userId })
        if (!undone) throw inUse('The load is already undone.')
        const object = { id: load.uid, name: load.name ?? load.format }
        await audit.record(tx, by, { action: 'prices.load_undone', object, before: { ...load.counts } })
      })
      return getLoad(id)
    },
  }

  async function requireUndoable(load: LoadRecord): Promise<void> {
    if (load.undoneAt !== null) throw inUse('The load is already undone.')
    const later = await findLaterLoad(db.read, load)
    if (later) throw inUse(laterText(later))
  }
}

function inUse(detail: string): Problem {
  return new Problem('price_load_in_use', detail)
}

function valuedText({ uid }: LoadRecord, entries: number): string {
  const what = counted(entries, 'entry has a list value', 'entries have list values')
  return `${what} from this load, so it can no longer be undone. List them with \`tally entries list --price-load ${uid}\` or the filter price_load=${uid}. To correct them, load the right prices and reprice the entries.`
}

function laterText({ uid }: LoadRecord): string {
  return `A later load of the same format builds on this one. Undo ${uid} first.`
}
