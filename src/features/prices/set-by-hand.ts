/**
 * Prices that people set by hand (docs/design/pricing.md, "Prices set by hand"): they take precedence over every table,
 * keep what they don't replace, and end when they are withdrawn.
 */

import type { Actor } from '../../access/actor.ts'
import type { Database } from '../../database/database.ts'
import { notFound } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { momentText, timestamp } from '../../lib/duration.ts'
import type { AuditService } from '../audit/service.ts'
import type { TableReading } from './formats/reader.ts'
import { type PriceSet, priceSet } from './in-use.ts'
import { dateOf, type LoadPlan, startOfToday } from './load-plan.ts'
import { type createLoading, pricesAfter } from './loading.ts'
import type { PriceTable, StoredPrice } from './price-table.ts'
import type { PriceRow } from './rates.ts'
import { type CompletePrice, completePrice, refusedPrice, startOf, type WithdrawnModel } from './request.ts'
import type { NewPrice } from './schema.ts'
import type { SetPrice, Withdrawal } from './set-price.ts'
import { endPrices, listViews, type PriceView } from './store.ts'
import { ALWAYS, rowAt } from './update-offer.ts'
import { rowBody } from './wire.ts'

interface Dependencies {
  db: Database
  clock: Clock
  audit: AuditService
  loading: ReturnType<typeof createLoading>
  timeZone: () => Promise<string>
}

export function createSetByHand({ db, clock, audit, loading, timeZone }: Dependencies) {
  async function plan(body: NewPrice) {
    const { force } = body
    const zone = await timeZone()
    const start = startOf(body, zone)
    let before: StoredPrice | undefined
    let completed: CompletePrice | undefined
    const read = (loaded: PriceSet): TableReading => {
      before = priceAt(loaded, { ...body, at: start === null ? ALWAYS : (start ?? clock.now()) })
      completed = completePrice(body, { current: before, timeZone: zone })
      return { ...NOTHING_READ, rows: [{ ...completed.row, effectiveFrom: undefined, source: 'admin' }] }
    }
    // A person who enters 0 means it, and means it now.
    const planned = await loading.plan(read, { force, allowFree: true, allowOlder: true, effectiveFrom: start })
    const [refused] = planned.plan.refused
    if (refused) throw refusedPrice(refused.reasons)
    return { ...planned, before, ...completed! }
  }

  function effectOf({ plan: { additions }, loaded, before, row, kept }: Awaited<ReturnType<typeof plan>>): SetPrice {
    const [addition] = additions
    if (addition) return { isAdded: true, before, after: addition.row, kept }
    const own = loaded.prices.filter((price) => isSetFor(price, row))
    return { isAdded: false, before, after: rowAt(own, row.effectiveFrom ?? clock.now())!, kept }
  }

  async function planWithdrawal({ model, provider, from: given }: WithdrawnModel) {
    const zone = await timeZone()
    const from = given ?? startOfToday(clock.now(), zone)
    const loaded = await loading.loadedPrices()
    const isEnded = (price: StoredPrice) =>
      isSetFor(price, { model, provider }) && (price.effectiveUntil ?? Number.POSITIVE_INFINITY) > endOf(price, from)
    const ended = loaded.prices.filter(isEnded)
    if (ended.length === 0) throw nothingToWithdraw({ model, provider, on: momentText(from, zone) })
    const prices = loaded.prices.map((price) =>
      isEnded(price) ? { ...price, effectiveUntil: endOf(price, from) } : price,
    )
    const at = { model, provider, at: from }
    return { from, zone, ended, before: priceAt(loaded, at), after: priceAt(priceSet(prices, loaded.aliases), at) }
  }

  return {
    /** What setting a price would do, and the prices as they would be. Throws as `setPrice`. */
    async planPrice(body: NewPrice): Promise<SetPrice & { table: PriceTable }> {
      const planned = await plan(body)
      return { ...effectOf(planned), table: pricesAfter(planned.loaded, planned.plan).table }
    },

    /**
     * Adds a price of a model from a date on: without one from today, or always if the name had no price so far. Adds
     * nothing if the same price is already set. Throws `validation_failed` (422), also for apparent mistakes unless
     * `force`.
     */
    async setPrice(body: NewPrice, by: Actor): Promise<SetPrice & { price: PriceView }> {
      const filter = { providers: [body.provider ?? ''], models: [body.model], sources: ['admin' as const] }
      let planned: Awaited<ReturnType<typeof plan>>
      const prepare = async () => {
        planned = await plan(body)
        return { ...planned, asOf: dateOf(clock.now(), await timeZone()) }
      }
      await loading.writePlan(prepare, by, async (tx, { plan: { additions } }: { plan: LoadPlan }) => {
        const { replaced, isSame, row } = additions[0]!
        const view = viewOf(await listViews(tx, filter), row)
        const before = replaced && !isSame ? rowBody(replaced) : undefined
        return { action: 'price.set', object: { id: view.uid, name: view.model }, before, after: rowBody(view) }
      })
      const effect = effectOf(planned!)
      const views = await listViews(db.read, filter)
      const set = effect.after as StoredPrice
      return { ...effect, price: effect.isAdded ? viewOf(views, set) : views.find(({ id }) => id === set.id)! }
    },

    /** What `withdraw` would do. Throws as it does. */
    planWithdrawal: async (model: WithdrawnModel): Promise<Withdrawal> => {
      const { ended, from, zone: _zone, ...prices } = await planWithdrawal(model)
      const views = await listViews(db.read, { ids: ended.map(({ id }) => id) })
      return { ended: views.map((view) => ({ ...view, effectiveUntil: endOf(view, from) })), until: from, ...prices }
    },

    /**
     * Ends the prices of a model that were set by hand, so that those of the tables apply again. Entries that have a
     * value keep it, and the price that it is from. Throws `not_found` if there is none that applies from then on.
     */
    async withdraw(model: WithdrawnModel, by: Actor): Promise<Withdrawal> {
      const { from, zone, ended, ...prices } = await planWithdrawal(model)
      return db.write(async (tx) => {
        const ids = await endPrices(tx, { ids: ended.map(({ id }) => id), until: from })
        const views = await listViews(tx, { ids })
        const [last] = views
        if (!last) throw nothingToWithdraw({ ...model, on: momentText(from, zone) })
        await audit.record(tx, by, {
          action: 'price.withdrawn',
          object: { id: last.uid, name: last.model },
          before: { provider: last.provider, effective_until: null },
          after: { provider: last.provider, effective_until: timestamp(from) },
        })
        return { ended: views, until: from, ...prices }
      })
    },
  }
}

/** The last set price of a model with the date of a row. */
function viewOf(views: PriceView[], { effectiveFrom }: PriceRow): PriceView {
  return views.find((view) => view.effectiveFrom === effectiveFrom)!
}

const NOTHING_READ: TableReading = { rows: [], aliases: [], refused: [], skipped: {}, unused: {}, rounded: [] }

function isSetFor(price: StoredPrice, { model, provider }: { model: string; provider: string }): boolean {
  return price.source === 'admin' && price.model === model && price.provider === provider
}

/** A price that begins later than it ends never applies. */
function endOf({ effectiveFrom }: PriceRow, from: number): number {
  return Math.max(effectiveFrom ?? from, from)
}

function priceAt(
  { prices, table }: PriceSet,
  { model, provider, at }: { model: string; provider?: string | null | undefined; at: number },
): StoredPrice | undefined {
  const hit = table.find(model, provider || null, at)
  return hit && prices.find(({ id }) => id === hit.price.id)
}

function nothingToWithdraw({ model, provider, on }: { model: string; provider: string; on: string }) {
  const where = provider === '' ? '' : ` at ${provider}`
  return notFound(`A price of '${model}'${where} that is set by hand and applies on ${on} or later`)
}
