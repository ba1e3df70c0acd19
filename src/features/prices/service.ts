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
import type { ListedPrice, TableReading } from './formats/reader.ts'
import { readTable, TABLE_FORMATS, type TableFormat } from './formats/table-file.ts'
import { EXPORT_FORMATS, type ExportFormat, exportText } from './formats/tally-export.ts'
import { dayOf, type LoadOptions, type LoadPlan, type PlannedTable, planLoad } from './load-plan.ts'
import { PRICE_SOURCES, type Price, type PriceAlias, type PriceSource, PriceTable } from './price-table.ts'
import type { PriceListQuery } from './query.ts'
import { type CountsValue, type TimedUsage, type TokenCounts, valueCounts } from './rates.ts'
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
export { REVALUATION_BUDGET_MS, type Repriced, type Revaluation, repricedBody } from './repricing.ts'
export { readNewPrice } from './request.ts'
export { RepricingBody } from './schema.ts'
export { aliasBody, priceBody, resolutionBody, tableBody, valueBody } from './wire.ts'
export type { AliasView, ExportFormat, PlannedTable, PriceFilter, PriceSource, PriceView, Resolution, TableFormat }
export { EXPORT_FORMATS, PRICE_SOURCES, TABLE_FORMATS }

export interface PricesService {
  /**
   * Loads the embedded table if the database does not have its version; otherwise this costs one read. A database
   * without the table gets all of it; one with an older version gets new and changed rows, with dates. A table older
   * than the loaded one is ignored: a newer Tally has already opened the database. Returns whether anything was added.
   * Then entries may be priceable: see `valueUnpriced` of the entries.
   */
  loadDefaultPrices(): Promise<boolean>
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
  planTable(text: string, options: LoadOptions & { format?: TableFormat | undefined }): Promise<PlannedTable>
  /**
   * Writes the plan in one transaction, and returns the plan that was written: if prices have changed since, it is made
   * again. Entries without a price are not updated here: see `valueUnpriced` of the entries.
   */
  load(table: PlannedTable, by: Actor): Promise<PlannedTable>
  /**
   * Adds a single custom price, which takes precedence over every table. Without a date it is in effect from today, or
   * always if the name had no price so far. Adds nothing if the price is already in effect. Throws `validation_failed`
   * (422) for apparent mistakes, unless `force`.
   */
  addPrice(
    row: Omit<ListedPrice, 'source'>,
    by: Actor,
    options?: { force?: boolean | undefined },
  ): Promise<{ isAdded: boolean; price: PriceView }>
  /** A page of prices, the last loaded first. */
  listPrices(query: Pick<PriceListQuery, 'filter' | 'limit' | 'after'>): Promise<Page<PriceView>>
  /** All prices that match the filter, by provider and model, the newest first. */
  everyPrice(filter: PriceFilter): Promise<PriceView[]>
  /** The text of a file in Tally's own format, from which `planTable` reads the same rows. */
  exportPrices(format: ExportFormat, filter: PriceFilter): Promise<string>
  /** Throws `not_found`. */
  getPrice(id: string): Promise<PriceView>
  /**
   * The row that values a model at a moment (by default now), the step that found it, and why earlier steps did not;
   * with `counts` also the value of a request with these tokens.
   */
  resolve(model: string, provider: string | null, at?: number, counts?: TokenCounts): Promise<Resolution>
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

interface PricesDependencies {
  db: Database
  clock: Clock
  audit: AuditService
}

export function createPricesService({ db, clock, audit }: PricesDependencies): PricesService {
  const cached = new Cached(async (reader) => new PriceTable(await listPrices(reader), await listAliases(reader)))

  /** Plans what a table adds to the loaded prices, as of a revision that is checked when the plan is written. */
  async function plan(reading: TableReading, options: LoadOptions): Promise<{ plan: LoadPlan; revision: number }> {
    const revision = await readRevision(db.read)
    const loaded = {
      prices: await listPrices(db.read),
      aliases: await listAliases(db.read),
      table: await cached.get(db.read),
    }
    await yieldTurn()
    return { plan: planLoad(reading, loaded, clock.now(), options), revision }
  }

  /** `changeOf` returns the entry of the audit log, once the rows are written. */
  async function load(
    table: PlannedTable,
    by: Actor,
    changeOf: (planned: PlannedTable, tx: Tx) => Change | Promise<Change>,
  ): Promise<PlannedTable> {
    for (let planned = table, attempt = 1; ; attempt += 1) {
      if (planned.plan.additions.length + planned.plan.aliases.length === 0) return planned
      // Everything slow was done before, so that the write lock is held only for the rows.
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
        const aliases = defaultAliases()
        const known = await listPrices(tx, 'default')
        const offered = offeredRows(known, defaultRows(), dayOf(loading.loadedAt), aliases)
        await addPrices(tx, offered, loading)
        await addAliases(tx, aliases, loading)
        const after = { format: 'default', version: DEFAULT_TABLE_VERSION, prices: offered.length }
        await audit.record(tx, TALLY, { action: 'prices.loaded', after })
        return true
      })
    },

    async planTable(text, { format: requested, ...options }) {
      const { format, reading } = readTable(text, requested)
      await yieldTurn()
      return { format, reading, options, ...(await plan(reading, options)) }
    },

    load: (table, by) => load(table, by, changeOfTable),

    async addPrice(row, by, { force } = {}) {
      const reading: TableReading = { ...NOTHING_READ, rows: [{ ...row, source: 'admin' }] }
      // A person who enters 0 means it.
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
      const value =
        hit &&
        counts &&
        valueCounts(hit.price.rates, { counts, details: null, requests: 1, startedAt: at, endedAt: at })
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

/** The entry of the audit log for a loaded table; the rows themselves record who loaded them. */
function changeOfTable({ format, plan: { additions, aliases } }: PlannedTable): Change {
  const changed = additions.filter(({ before }) => before !== undefined).length
  const counts = { new: additions.length - changed, changed, aliases: aliases.length }
  return { action: 'prices.loaded', after: { format, ...counts } }
}

/** The step after all that can find a row. */
const UNPRICED_STEP = 8

/** People and tokens change occasionally while a table is prepared; if they do every time, something is looping. */
const LOAD_ATTEMPTS = 10

const NOTHING_READ: TableReading = { rows: [], aliases: [], refused: [], skipped: {}, unused: {}, rounded: [] }

/** Keeps the order of rows: a higher key always means that a row was loaded later, even if sources alternate. */
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

/** Yields to waiting requests: reading and planning a large table take a tenth of a second each. */
function yieldTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

function isNewerTable(version: string): boolean {
  return Bun.semver.order(version, DEFAULT_TABLE_VERSION) > 0
}
