/** The price table: the list value of a model's tokens (docs/design/pricing.md). */

import { type Actor, TALLY } from '../../access/actor.ts'
import { Cached } from '../../database/cached.ts'
import type { Database, Reader, Tx } from '../../database/database.ts'
import { databaseBusy } from '../../database/errors.ts'
import { notFound } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { isId } from '../../lib/id.ts'
import type { Nanos } from '../../lib/money.ts'
import { type Page, pageOf } from '../../lists.ts'
import { writeKeyPage } from '../../query.ts'
import type { AuditService, Change } from '../audit/service.ts'
import { DEFAULT_TABLE_VERSION, defaultAliases, defaultRows } from './default-table.ts'
import { explainSteps, type Resolution } from './explain.ts'
import type { ListedPrice, TableReading } from './formats/reading.ts'
import { readTable, TABLE_FORMATS, type TableFormat } from './formats/table-file.ts'
import { EXPORT_FORMATS, type ExportFormat, exportText } from './formats/tally-export.ts'
import { dayOf, type LoadOptions, type LoadPlan, type PlannedTable, planLoad } from './load-plan.ts'
import { PRICE_SOURCES, type Price, type PriceAlias, type PriceSource, PriceTable } from './price-table.ts'
import type { PriceListQuery } from './query.ts'
import { type TokenCounts, type Usage, type ValuedPart, valueCounts } from './rates.ts'
import { refusedPrice } from './request.ts'
import {
  type AliasView,
  addAliases,
  addPrices,
  claimRevision,
  deleteAdminAlias,
  findAdminAlias,
  findView,
  insertTableVersion,
  listAliases,
  listAliasViews,
  listPrices,
  listTableVersions,
  listViews,
  type PriceFilter,
  type PriceOrigin,
  type PriceView,
  readRevision,
  replaceAdminAlias,
} from './store.ts'
import { ALWAYS, offeredRows, rowAt } from './update-offer.ts'
import { rowBody } from './wire.ts'

export { normalizeModelName } from './model-name.ts'
export type { Price, PriceTable } from './price-table.ts'
export type { TokenCounts, Usage, ValuedPart } from './rates.ts'
export { REVALUATION_BUDGET_MS, type Repriced, type Revaluation, repricedBody } from './repricing.ts'
export { readNewPrice } from './request.ts'
export { RepricingBody } from './schema.ts'
export { aliasBody, partBody, priceBody, resolutionBody, tableBody } from './wire.ts'
export type { AliasView, ExportFormat, PlannedTable, PriceFilter, PriceSource, PriceView, Resolution, TableFormat }
export { EXPORT_FORMATS, PRICE_SOURCES, TABLE_FORMATS }

export interface PricesService {
  /**
   * Loads the embedded table where the database has not seen its version, which costs one read otherwise. A database
   * without it gets all of it; one with an older version gets what is new or changed, as new dated rows. A table older
   * than what was loaded is left alone: the database was already opened by a newer Tally.
   * Answers whether anything was added, and with it entries may have found a price: see `valueUnpriced` of the entries.
   */
  loadDefaultPrices(): Promise<boolean>
  /**
   * The prices as `reader` sees them; not a promise where the held ones still hold. Reading them anew takes about 15 ms,
   * and what is read inside a transaction is held only after its commit: so ask with `db.read` before a write, and
   * again with its `tx` inside.
   */
  table(reader: Reader | Tx): PriceTable | Promise<PriceTable>
  /**
   * Reads a file of prices and says what loading it would add, without writing anything. Throws
   * `unreadable_price_table` (422) where the file as a whole is no table; rows that are wrong are in the plan by name.
   */
  planTable(text: string, options: LoadOptions & { format?: TableFormat | undefined }): Promise<PlannedTable>
  /**
   * Writes what was planned, all of it or nothing, and answers what was written: where prices changed since, that is
   * planned anew. Entries that had no price are not touched here: see `valueUnpriced` of the entries.
   */
  load(table: PlannedTable, by: Actor): Promise<PlannedTable>
  /**
   * Adds one price by hand, which comes before those of every table. Without a date it holds from today, or from
   * always where the name had no price so far. Adds nothing where it says what held already. Throws `validation_failed`
   * (422) for what looks like a mistake, unless `force`.
   */
  addPrice(
    row: Omit<ListedPrice, 'source'>,
    by: Actor,
    options?: { force?: boolean | undefined },
  ): Promise<{ isAdded: boolean; price: PriceView }>
  /** A page of prices, the last loaded first. */
  listPrices(query: Pick<PriceListQuery, 'filter' | 'limit' | 'after'>): Promise<Page<PriceView>>
  /** Every price that the filter lets through, by provider and model, the newest first. */
  everyPrice(filter: PriceFilter): Promise<PriceView[]>
  /** The text of a file in Tally's own format, which `planTable` reads back to the same rows. */
  exportPrices(format: ExportFormat, filter: PriceFilter): Promise<string>
  /** Throws `not_found`. */
  getPrice(id: string): Promise<PriceView>
  /**
   * Which row values a model at a moment (now, unless said), which step found it, and why the steps before did not; with
   * `counts` also what one request of so many tokens is worth.
   */
  resolve(model: string, provider: string | null, at?: number, counts?: TokenCounts): Promise<Resolution>
  /** Aliases by name: those that an admin made, and where `all`, those that came with tables as well. */
  listAliases(options: { all: boolean }): Promise<AliasView[]>
  /** Makes an alias, or moves the one of this name to another model. */
  setAlias(alias: Omit<PriceAlias, 'source'>, by: Actor): Promise<void>
  /** Removes an admin's alias. Throws `not_found`. */
  removeAlias(alias: string, by: Actor): Promise<void>
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
  /** The step, 1 to 7, that found the price. */
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

/** The arithmetic of a value: the row, and the products whose sum, rounded once, it is. Undefined as above. */
export function partsAtPrice(
  table: PriceTable,
  priceId: number,
  usage: Usage,
): { price: Price; parts: ValuedPart[] } | undefined {
  const price = table.findPrice(priceId)
  const valued = price && valueCounts(price.rates, usage)
  return valued && { price, parts: valued.parts }
}

interface PricesDependencies {
  db: Database
  clock: Clock
  audit: AuditService
}

export function createPricesService({ db, clock, audit }: PricesDependencies): PricesService {
  const cached = new Cached(async (reader) => new PriceTable(await listPrices(reader), await listAliases(reader)))

  /** Reads what is loaded and says what the reading would add to it. The revision tells later whether that still holds. */
  async function plan(reading: TableReading, options: LoadOptions): Promise<{ plan: LoadPlan; revision: number }> {
    const revision = await readRevision(db.read)
    const loaded = {
      prices: await listPrices(db.read),
      aliases: await listAliases(db.read),
      table: await cached.get(db.read),
    }
    await turn()
    return { plan: planLoad(reading, loaded, clock.now(), options), revision }
  }

  /** `changeOf` says what the audit log keeps of it, once the rows are there. */
  async function load(
    table: PlannedTable,
    by: Actor,
    changeOf: (planned: PlannedTable, tx: Tx) => Change | Promise<Change>,
  ): Promise<PlannedTable> {
    for (let planned = table, attempt = 1; ; attempt += 1) {
      if (planned.plan.additions.length + planned.plan.aliases.length === 0) return planned
      // All that takes time was done before, so that the write lock is held for the rows alone.
      const loading = { loadedAt: clock.now(), loadedBy: by.userId }
      const isLoaded = await db.write(async (tx) => {
        if (!(await claimRevision(tx, planned.revision))) return false
        await addPlanned(tx, planned.plan, loading)
        await audit.record(tx, by, await changeOf(planned, tx))
        return true
      })
      if (isLoaded) return planned
      if (attempt === LOAD_ATTEMPTS) throw databaseBusy()
      planned = { ...planned, ...(await plan(planned.reading, planned.options)) }
    }
  }

  return {
    table: (reader) => cached.get(reader),

    async loadDefaultPrices() {
      const versions = await listTableVersions(db.read, 'default')
      if (versions.some((version) => version === DEFAULT_TABLE_VERSION || isNewerTable(version))) return false
      const loading = { source: 'default', loadedAt: clock.now(), loadedBy: null } as const
      return db.write(async (tx) => {
        if (!(await insertTableVersion(tx, 'default', DEFAULT_TABLE_VERSION, loading.loadedAt))) return false
        const offered = offeredRows(await listPrices(tx, 'default'), defaultRows(), dayOf(loading.loadedAt))
        await addPrices(tx, offered, loading)
        await addAliases(tx, defaultAliases(), loading)
        const after = { format: 'default', version: DEFAULT_TABLE_VERSION, prices: offered.length }
        await audit.record(tx, TALLY, { action: 'prices.loaded', after })
        return true
      })
    },

    async planTable(text, { format: asked, ...options }) {
      const { format, reading } = readTable(text, asked)
      await turn()
      return { format, reading, options, ...(await plan(reading, options)) }
    },

    load: (table, by) => load(table, by, changeOfTable),

    async addPrice(row, by, { force } = {}) {
      const reading: TableReading = { ...NOTHING_READ, rows: [{ ...row, source: 'admin' }] }
      // A person who writes 0 means it.
      const options = { force, allowFree: true }
      const filter = { providers: [row.provider], models: [row.model], sources: ['admin'] as PriceSource[] }
      const table = { format: 'tally' as const, reading, options, ...(await plan(reading, options)) }
      const planned = await load(table, by, async (added, tx) => {
        const [view] = await listViews(tx, filter, { after: undefined, limit: 1 })
        const { before } = added.plan.additions[0]!
        const object = { id: view!.uid, name: view!.model }
        return { action: 'price.set', object, before: before && rowBody(before), after: rowBody(view!) }
      })
      const [refused] = planned.plan.refused
      if (refused) throw refusedPrice(refused.reasons)
      const isAdded = planned.plan.additions.length > 0
      const views = await listViews(db.read, filter)
      const price = isAdded ? views[0]! : rowAt(views.toReversed(), row.effectiveFrom ?? clock.now())!
      return { isAdded, price }
    },

    async listPrices({ filter, limit, after }) {
      const views = await listViews(db.read, filter, { after, limit: limit + 1 })
      return pageOf(views, limit, ({ id }) => writeKeyPage(id))
    },

    async everyPrice(filter) {
      return (await listViews(db.read, filter)).sort(byModel)
    },

    async exportPrices(format, filter) {
      const views = await listViews(db.read, filter)
      return exportText(format, views.toReversed(), await listAliases(db.read))
    },

    async getPrice(id) {
      const view = isId('prc', id) ? await findView(db.read, id) : undefined
      if (!view) throw notFound(`The price ${id}`)
      return view
    },

    async resolve(model, provider, at = clock.now(), counts = undefined) {
      const { hit, lookups } = (await cached.get(db.read)).explain(model, provider, at)
      const price = hit && (await findView(db.read, hit.price.uid))
      const steps = explainSteps({ model, at, hit, lookups })
      const value = hit && counts && valueCounts(hit.price.rates, { counts, over200k: null, requests: 1 })
      return {
        model,
        provider,
        at,
        step: hit?.step ?? UNPRICED_STEP,
        price: price ?? null,
        steps,
        value: value ?? null,
      }
    },

    listAliases: (options) => listAliasViews(db.read, options),

    async setAlias(alias, by) {
      const loading = { loadedAt: clock.now(), loadedBy: by.userId }
      await db.write(async (tx) => {
        const before = await findAdminAlias(tx, alias.alias)
        await replaceAdminAlias(tx, alias, loading)
        const { alias: name, model, provider } = alias
        await audit.record(tx, by, { action: 'price_alias.set', before, after: { alias: name, model, provider } })
      })
    },

    async removeAlias(alias, by) {
      await db.write(async (tx) => {
        const before = await findAdminAlias(tx, alias)
        if (!before) throw notFound(`The alias '${alias}'`)
        await deleteAdminAlias(tx, alias)
        await audit.record(tx, by, { action: 'price_alias.removed', before })
      })
    },
  }
}

/** What the audit log keeps of a table that was loaded: the rows themselves name who loaded them. */
function changeOfTable({ format, plan: { additions, aliases } }: PlannedTable): Change {
  const changed = additions.filter(({ before }) => before !== undefined).length
  const counts = { new: additions.length - changed, changed, aliases: aliases.length }
  return { action: 'prices.loaded', after: { format, ...counts } }
}

/** The last of the steps that find a row. */
const UNPRICED_STEP = 8

/** People and tokens change now and then while a table is prepared; that they do so every time means that something spins. */
const LOAD_ATTEMPTS = 10

const NOTHING_READ: TableReading = { rows: [], aliases: [], refused: [], skipped: {}, unused: {}, rounded: [] }

/** Rows in their order: where sources take turns, a higher key still means that a row was loaded later. */
async function addPlanned(
  tx: Tx,
  { additions, aliases }: LoadPlan,
  loading: Omit<PriceOrigin, 'source'>,
): Promise<void> {
  for (const [source, added] of runsOf(additions)) {
    const rows = added.map(({ row }) => row)
    await addPrices(tx, rows, { source, ...loading })
  }
  for (const [source, added] of runsOf(aliases)) {
    if (source !== 'admin') await addAliases(tx, added, { source, ...loading })
    else for (const alias of added) await replaceAdminAlias(tx, alias, loading)
  }
}

function runsOf<Item extends { source: PriceSource }>(items: Item[]): [PriceSource, Item[]][] {
  const runs: [PriceSource, Item[]][] = []
  for (const item of items) {
    const last = runs.at(-1)
    if (last?.[0] === item.source) last[1].push(item)
    else runs.push([item.source, [item]])
  }
  return runs
}

function byModel(one: PriceView, other: PriceView): number {
  return (
    one.provider.localeCompare(other.provider) ||
    one.model.localeCompare(other.model) ||
    (other.effectiveFrom ?? ALWAYS) - (one.effectiveFrom ?? ALWAYS)
  )
}

/** Gives what waits its turn: reading and planning a large table take a tenth of a second each. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

function isNewerTable(version: string): boolean {
  return Bun.semver.order(version, DEFAULT_TABLE_VERSION) > 0
}
