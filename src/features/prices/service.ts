/** The price table: what tokens of a model are worth at list price (pricing.md). */
import { Cached } from '../../database/cached.ts'
import type { Database, Reader, Tx } from '../../database/database.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Nanos } from '../../lib/money.ts'
import { DEFAULT_TABLE_VERSION, defaultAliases, defaultRows } from './default-table.ts'
import { offeredRows } from './offer.ts'
import { type Usage, valueCounts } from './rate.ts'
import { type Price, PriceTable } from './resolve.ts'
import { addAliases, addPrices, insertTableVersion, listAliases, listPrices, listTableVersions } from './store.ts'

export { normalizeModelName } from './model-name.ts'
export type { TokenCounts, Usage } from './rate.ts'
export type { Price, PriceTable } from './resolve.ts'

export interface PricesService {
  /**
   * Loads the embedded table where the database has not seen its version, which costs one read otherwise. A database
   * without it gets all of it; one with an older version gets what is new or changed, as new dated rows. A table older
   * than what was loaded is left alone: the database was already opened by a newer Tally.
   */
  loadDefaultPrices(): Promise<void>
  /**
   * The prices as `reader` sees them; not a promise where the held ones still hold. Reading them anew takes about 15 ms,
   * and what is read inside a transaction is held only after its commit: so ask with `db.read` before a write, and
   * again with its `tx` inside.
   */
  table(reader: Reader | Tx): PriceTable | Promise<PriceTable>
}

export interface UsageOfModel extends Usage {
  model: string
  /** Who ran the model, where the report says so. */
  provider: string | null
  /** Decides which of a model's dated prices holds. */
  startedAt: number
}

export interface Valuation {
  listValueNanos: Nanos
  price: Price
  /** The step of pricing.md, 1 to 7, that found the price. */
  step: number
  /** Null, or `cache_price_assumed`, `tier_uncertain`, or both in this order with a comma between. */
  note: string | null
}

/** The list value of what one entry used. Undefined where it is unpriced: no row holds, or the row lacks a price. */
export function value(table: PriceTable, usage: UsageOfModel): Valuation | undefined {
  const hit = table.find(usage.model, usage.provider, usage.startedAt)
  if (!hit) return undefined
  const valued = valueCounts(hit.price.rates, usage)
  if (!valued) return undefined
  return { listValueNanos: valued.listValueNanos, price: hit.price, step: hit.step, note: valued.note }
}

/**
 * The same at a price row that was found before: an entry that is updated keeps to the row at which it was valued,
 * whatever was loaded since. Undefined where the row lacks a price that is needed now.
 */
export function valueAtPrice(
  table: PriceTable,
  priceId: number,
  usage: Usage,
): Pick<Valuation, 'listValueNanos' | 'note'> | undefined {
  const price = table.findPrice(priceId)
  return price && valueCounts(price.rates, usage)
}

const DAY_MS = 86_400_000

export function createPricesService({ db, clock }: { db: Database; clock: Clock }): PricesService {
  const cached = new Cached(async (reader) => new PriceTable(await listPrices(reader), await listAliases(reader)))

  return {
    table: (reader) => cached.get(reader),

    async loadDefaultPrices() {
      const versions = await listTableVersions(db.read, 'default')
      if (versions.some((version) => version === DEFAULT_TABLE_VERSION || isNewerTable(version))) return
      const loading = { source: 'default', loadedAt: clock.now(), loadedBy: null } as const
      const today = Math.floor(loading.loadedAt / DAY_MS) * DAY_MS
      await db.write(async (tx) => {
        if (!(await insertTableVersion(tx, 'default', DEFAULT_TABLE_VERSION, loading.loadedAt))) return
        await addPrices(tx, offeredRows(await listPrices(tx, 'default'), defaultRows(), today), loading)
        await addAliases(tx, defaultAliases(), loading)
      })
    },
  }
}

function isNewerTable(version: string): boolean {
  return Bun.semver.order(version, DEFAULT_TABLE_VERSION) > 0
}
