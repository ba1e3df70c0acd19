/** The price table: the list value of a model's tokens (docs/design/pricing.md). */

import { type Actor, TALLY } from '../../access/actor.ts'
import { Cached } from '../../database/cached.ts'
import type { Database, Reader, Tx } from '../../database/database.ts'
import { notFound } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { isId } from '../../lib/id.ts'
import type { Nanos } from '../../lib/money.ts'
import { type Page, pageOf } from '../../schema/lists.ts'
import { writeKeyPage, writeSortPage } from '../../schema/query.ts'
import type { AuditService } from '../audit/service.ts'
import type { OrganizationService } from '../organization/service.ts'
import { defaultRecords, defaultSources, defaultTable, defaultTableVersion } from './default-table.ts'
import { explainSteps, type Resolution } from './explain.ts'
import { readTable } from './formats/table-file.ts'
import { type ExportFormat, exportText } from './formats/tally-export.ts'
import {
  differencesInUse,
  inOrder,
  type ListedPrice,
  listed,
  outdatedInUse,
  type PriceComparison,
  pricedModels,
  priceSet,
  withIdentity,
} from './in-use.ts'
import { type PlannedTable, startOfToday } from './load-plan.ts'
import { createLoading, type LoadedTable, type LoadingOptions, type TableOptions } from './loading.ts'
import { createLoads } from './loads.ts'
import { type Price, type PriceAlias, PriceTable } from './price-table.ts'
import { type PriceListQuery, readResolve } from './query.ts'
import { type CountsValue, longContextSurcharge, type Surcharge, type TimedUsage, valueCounts } from './rates.ts'
import { recordOf, rowOf } from './records.ts'
import { createSetByHand } from './set-by-hand.ts'
import type { TableFormat } from './sources.ts'
import { findNewestDate, insertLoad, listEmbeddedVersions } from './store/loads.ts'
import {
  type AliasView,
  addAliases,
  addRecords,
  deleteAdminAlias,
  findAdminAlias,
  findView,
  listAliases,
  listAliasViews,
  listPrices,
  listViews,
  listWithdrawn,
  type PriceFilter,
  type PriceView,
  replaceAdminAlias,
} from './store.ts'
import { offeredRows } from './update-offer.ts'
import { createPriceUpdates, type PriceUpdate, type PriceUpdates, type UpdatesConfig } from './updates.ts'

export { normalizeModelName } from '../../shared/model-name.ts'
export type { PriceLoadBody } from './load-schema.ts'
export type { Price, PriceTable } from './price-table.ts'
export { SURCHARGE_DIGITS, type Surcharge } from './rates.ts'
export { REVALUATION_BUDGET_MS, type Repriced, type Revaluation, repricedBody } from './repricing.ts'
export { readWithdrawal } from './request.ts'
export { RepricingBody } from './schema.ts'
export type { UpdateState } from './store/updates.ts'
export type { TableFile } from './table-source.ts'
export { placeIssue, readTableFile } from './table-source.ts'
export {
  aliasBody,
  comparisonBody,
  listedPriceBody,
  loadBody,
  priceBody,
  priceChangeBody,
  resolutionBody,
  setPriceBody,
  tableBody,
  updateStateBody,
  valueBody,
  withdrawalBody,
} from './wire.ts'
export type {
  AliasView,
  ExportFormat,
  PlannedTable,
  PriceFilter,
  PriceUpdate,
  PriceUpdates,
  PriceView,
  Resolution,
  UpdatesConfig,
}
export { createPriceUpdates, readResolve }

export interface PricesService extends ReturnType<typeof createSetByHand> {
  /**
   * Loads the embedded table if the database does not have its version; otherwise this costs one read. A database
   * without the table gets all of it; one with an older version gets new and changed rows, with dates. A table older
   * than the loaded one is ignored: a newer Tally has already opened the database. Returns whether anything was added.
   * Then entries may be priceable: see `valueOwed` of the entries.
   */
  loadDefaultPrices(): Promise<boolean>
  /** Whether the database has the embedded table, or one of a newer Tally. */
  hasDefaultPrices(): Promise<boolean>
  /**
   * The prices as `reader` sees them; not a promise if the cached ones are current. Reading them takes about 15 ms, and
   * a table read inside a transaction is cached only after its commit: so call this with `db.read` before a write, and
   * again with its `tx` inside.
   */
  table(reader: Reader | Tx): PriceTable | Promise<PriceTable>
  /**
   * Reads a price file and plans what loading it would add, without writing anything. Throws `unreadable_price_table`
   * (422) if the file is not a price table at all; refused rows are listed in the plan.
   */
  planTable(text: string, options: TableOptions): Promise<PlannedTable>
  /**
   * Writes the plan in one transaction, and returns the plan that was written: if prices have changed since, it is made
   * again. Entries without a price are not updated here: see `valueUnpriced` of the entries.
   */
  load(table: PlannedTable, by: Actor, options?: LoadingOptions): Promise<LoadedTable>
  /** The recorded loads of price tables, and how they are undone. */
  loads: ReturnType<typeof createLoads>
  /** The date of the newest price that applies, a midnight in UTC; null without prices. */
  newestDate(): Promise<number | null>
  /** The models of recent entries whose price is as of a day before a moment, the oldest first. */
  outdatedInUse(before: number): Promise<{ model: string; asOf: number }[]>
  /** The models of recent entries whose price differs in another table, the embedded one by default. */
  compare(file?: { text: string; format?: TableFormat | undefined }): Promise<PriceComparison>
  /** A page of prices, the last loaded first unless the query has another order. */
  listPrices(query: Pick<PriceListQuery, 'filter' | 'limit' | 'after' | 'by'>): Promise<Page<ListedPrice>>
  /** All prices that match the filter, models in use first, by name, the newest first. */
  everyPrice(filter: PriceFilter): Promise<ListedPrice[]>
  /** The prices of these models, by name, the newest first. */
  pricesOf(models: string[]): Promise<PriceView[]>
  /** The text of a file in Tally's own format, from which `planTable` reads the same rows. */
  exportPrices(format: ExportFormat, filter: PriceFilter): Promise<string>
  /** Throws `not_found`. */
  getPrice(id: string): Promise<ListedPrice>
  /**
   * The row that values a model at a moment (by default now), the step that found it, and why earlier steps did not;
   * with `usage` also the value of a single request.
   */
  resolve(
    model: string,
    provider: string | null,
    at?: number,
    usage?: Pick<TimedUsage, 'counts' | 'details'>,
  ): Promise<Resolution>
  /** Aliases by name: those that admins set, and with `all` also those from tables. */
  listAliases(options: { all: boolean }): Promise<AliasView[]>
  /** Adds an alias, or changes the model of an existing one. */
  setAlias(alias: Omit<PriceAlias, 'source'>, by: Actor): Promise<void>
  /** Removes an admin's alias. Throws `not_found`. */
  removeAlias(alias: string, by: Actor): Promise<void>
}

/** Its start decides which of a model's dated prices applies. */
export interface UsageOfModel extends TimedUsage {
  model: string
  /** The provider that ran the model, if the report contains it. */
  provider: string | null
}

export interface Valuation {
  listValueNanos: Nanos
  price: Price
  /** The step, 1 to 7, that found the price. */
  step: number
  /** Null, or some of `PRICE_NOTES` in their order, separated by commas. */
  note: string | null
}

/**
 * The list value of one entry's usage. Undefined if it is unpriced: there is no row, or the row has no price for some
 * tokens.
 */
export function value(table: PriceTable, usage: UsageOfModel): Valuation | undefined {
  const hit = table.find(usage.model, usage.provider, usage.startedAt)
  if (!hit) return undefined
  const valued = valueCounts(hit.price.rates, usage)
  if (!valued) return undefined
  return { listValueNanos: valued.listValueNanos, price: hit.price, step: hit.step, note: valued.note }
}

/**
 * The list value at a price row that was found before: an updated entry keeps its row, regardless of prices loaded
 * since. Undefined if the row has no price for some tokens.
 */
export function valueAtPrice(
  table: PriceTable,
  priceId: number,
  usage: TimedUsage,
): Pick<Valuation, 'listValueNanos' | 'note'> | undefined {
  const price = table.findPrice(priceId)
  return price && valueCounts(price.rates, usage)
}

/** What prices of long requests add to the value at a row. Undefined as above, or if there is no base price to compare. */
export function surchargeAtPrice(table: PriceTable, priceId: number, usage: TimedUsage): Surcharge | undefined {
  const price = table.findPrice(priceId)
  return price && longContextSurcharge(price.rates, usage)
}

/** The calculation of a value at a row. Undefined as above. */
export function explainValue(
  table: PriceTable,
  priceId: number,
  usage: TimedUsage,
): { price: Price; value: CountsValue } | undefined {
  const price = table.findPrice(priceId)
  const value = price && valueCounts(price.rates, usage)
  return value && { price, value }
}

interface TableOfTask {
  table: PriceTable
  /** The moments at which some price begins or ends. */
  moments: number[]
}

/** Of each connection that runs tasks: to read and index thousands of prices takes longer than most of the sums they value. */
const TABLES_OF_TASKS = new WeakMap<Reader, Cached<TableOfTask>>()

/** The price table for tasks off the main thread, as their state of the database has it. */
export async function readPriceTable(reader: Reader): Promise<TableOfTask> {
  let cached = TABLES_OF_TASKS.get(reader)
  if (!cached) {
    cached = new Cached(loadTableOfTask)
    TABLES_OF_TASKS.set(reader, cached)
  }
  return cached.get(reader)
}

async function loadTableOfTask(reader: Reader): Promise<TableOfTask> {
  const prices = await listPrices(reader)
  const table = new PriceTable(prices, await listAliases(reader), await listWithdrawn(reader))
  const moments = new Set(
    prices.flatMap(({ effectiveFrom, effectiveUntil }) => [effectiveFrom, effectiveUntil ?? null]),
  )
  moments.delete(null)
  return { table, moments: ([...moments] as number[]).sort((one, other) => one - other) }
}

interface PricesDependencies {
  db: Database
  clock: Clock
  audit: AuditService
  organization: Pick<OrganizationService, 'settings'>
}

/** Models without an entry for this long are listed after the others. */
const LISTED_FIRST_MS = 90 * 86_400_000

/** Models that are used for the first time move up after this long. */
const USED_FRESH_MS = 60_000

export function createPricesService({ db, clock, audit, organization }: PricesDependencies): PricesService {
  const cached = new Cached(
    async (reader) => new PriceTable(await listPrices(reader), await listAliases(reader), await listWithdrawn(reader)),
  )
  const timeZone = async () => (await organization.settings()).timeZone
  const loading = createLoading({ db, clock, audit, table: () => cached.get(db.read), timeZone })

  let used: { at: number; models: Promise<ReadonlySet<string>> } | undefined

  /** Counted again after a while only, as it reads all entries of the time; meanwhile the last result is good enough. */
  function usedModels(): Promise<ReadonlySet<string>> {
    const at = clock.now()
    if (used && at - used.at < USED_FRESH_MS) return used.models
    const models = Promise.all([loading.modelsInUse(LISTED_FIRST_MS), cached.get(db.read)]).then(([models, table]) =>
      pricedModels(models, table, at),
    )
    const last = used
    used = { at, models: last?.models ?? models }
    models.then(
      () => {
        used = { at, models }
      },
      () => {
        used = last
      },
    )
    return used.models
  }

  async function hasDefaultPrices(): Promise<boolean> {
    const versions = await listEmbeddedVersions(db.read)
    return versions.some((version) => version === defaultTableVersion() || isNewerTable(version))
  }

  return {
    table: (reader) => cached.get(reader),

    loads: createLoads({ db, clock, audit }),

    hasDefaultPrices,

    async loadDefaultPrices() {
      if (await hasDefaultPrices()) return false
      const now = clock.now()
      const today = startOfToday(now, await timeZone())
      const version = defaultTableVersion()
      const { records, aliases, asOf } = defaultRecords()
      return db.write(async (tx) => {
        const known = await listPrices(tx, 'default')
        const isNew = known.length === 0
        const offered = isNew ? records : offeredRows(known, records.map(rowOf), today, aliases).map(recordOf)
        const record = {
          format: 'default',
          name: version,
          digest: null,
          asOf,
          counts: { new: offered.length },
          loadedAt: now,
          loadedBy: null,
        }
        const load = await insertLoad(tx, record)
        if (!load) return false
        const origin = { source: 'default', loadedAt: now, loadedBy: null, loadId: load.id } as const
        await addRecords(tx, offered, origin)
        await addAliases(tx, aliases, origin)
        const after = { format: 'default', version, prices: offered.length }
        await audit.record(tx, TALLY, { action: 'prices.loaded', after })
        return true
      })
    },

    planTable: loading.planTable,
    load: loading.load,

    newestDate: () => findNewestDate(db.read),

    outdatedInUse: async (before) =>
      outdatedInUse(await loading.modelsInUse(), await loading.loadedPrices(), { now: clock.now(), before }),

    async compare(file) {
      const { format, rows, aliases } = file ? listedIn(file) : embeddedTable()
      const prices = rows.map((row, index) => withIdentity(row, index + 1))
      const models = await loading.modelsInUse()
      const differences = differencesInUse(models, await loading.loadedPrices(), priceSet(prices, aliases), {
        now: clock.now(),
      })
      return { format, models: models.length, differences }
    },

    ...createSetByHand({ db, clock, audit, loading, timeZone }),

    async listPrices({ filter, limit, after, by }) {
      if (!by) {
        const views = await listViews(db.read, filter, { after, limit: limit + 1 })
        return pageOf(listed(views, await usedModels()), limit, ({ id }) => writeKeyPage(id))
      }
      const ordered = inOrder(listed(await listViews(db.read, filter), await usedModels()), by.order)
      const begin = ordered.findIndex(({ id }) => id === by.after?.id) + 1
      return pageOf(ordered.slice(begin), limit, ({ model, id }) => writeSortPage(by, { value: model, id }))
    },

    everyPrice: async (filter) => inOrder(listed(await listViews(db.read, filter), await usedModels())),

    // Without counting where they are used, which reads the entries of months.
    pricesOf: async (models) => inOrder(listed(await listViews(db.read, { models }), new Set())),

    async exportPrices(format, filter) {
      const views = await listViews(db.read, filter)
      return exportText(format, views.toReversed(), await listAliases(db.read))
    },

    async getPrice(id) {
      const view = isId('prc', id) ? await findView(db.read, id) : undefined
      if (!view) throw notFound(`The price ${id}`)
      return listed([view], await usedModels())[0]!
    },

    async resolve(model, provider, at = clock.now(), usage = undefined) {
      const { hit, lookups } = (await cached.get(db.read)).explain(model, provider, at)
      const price = hit && (await findView(db.read, hit.price.uid))
      const steps = explainSteps({ model, at, timeZone: await timeZone(), hit, lookups })
      const value = hit && usage && valueCounts(hit.price.rates, { ...usage, requests: 1, startedAt: at, endedAt: at })
      return {
        model,
        provider,
        at,
        step: hit?.step ?? UNPRICED_STEP,
        price: price ?? null,
        sources: price?.source === 'default' ? defaultSources(price) : [],
        steps,
        value: value ?? null,
      }
    },

    listAliases: (options) => listAliasViews(db.read, options),

    async setAlias(alias, by) {
      const setting = { loadedAt: clock.now(), loadedBy: by.userId, loadId: null }
      await db.write(async (tx) => {
        const before = await findAdminAlias(tx, alias.alias)
        await replaceAdminAlias(tx, alias, setting)
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

/** The step after all that can find a row. */
const UNPRICED_STEP = 8

function listedIn({ text, format }: { text: string; format?: TableFormat | undefined }) {
  const table = readTable(text, format)
  const { rows, aliases, asOf } = table.reading
  return { format: table.format, rows: rows.map((row) => ({ asOf, ...row })), aliases }
}

function embeddedTable() {
  const source = 'default' as const
  const { rows, aliases } = defaultTable()
  return {
    format: null,
    rows: rows.map((row) => ({ ...row, source })),
    aliases: aliases.map((alias) => ({ ...alias, source })),
  }
}

function isNewerTable(version: string): boolean {
  return Bun.semver.order(version, defaultTableVersion()) > 0
}
