/** Plans and writes loads of price tables: rows are only added, in one transaction, and each load is recorded. */

import type { Actor } from '../../access/actor.ts'
import type { Database, Tx } from '../../database/database.ts'
import { databaseBusy } from '../../database/errors.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Id } from '../../lib/id.ts'
import { inPortions, yieldTurn } from '../../lib/portions.ts'
import type { AuditService, Change } from '../audit/service.ts'
import { noticeOf } from './change-notice.ts'
import type { TableReading } from './formats/reader.ts'
import { tableSteps } from './formats/table-file.ts'
import { differencesInUse, type PriceDifference, type PriceSet, priceSet, withIdentity } from './in-use.ts'
import {
  type AdditionOutcome,
  asOfTable,
  dateText,
  type LoadOptions,
  type LoadPlan,
  type PlannedTable,
  planSteps,
} from './load-plan.ts'
import type { PriceTable } from './price-table.ts'
import type { PriceSource, TableFormat } from './sources.ts'
import { confirmPrices, insertLoad, type NewLoad } from './store/loads.ts'
import { listModelsInUse, type ModelInUse } from './store/updates.ts'
import {
  addAliases,
  addPrices,
  claimRevision,
  listAliases,
  listPrices,
  type PriceOrigin,
  readRevision,
  replaceAdminAlias,
} from './store.ts'

/** Models without an entry for this long are no longer in use. */
const IN_USE_MS = 30 * 86_400_000

export interface TableOptions extends LoadOptions {
  format?: TableFormat | undefined
  /** The file or the address, without secrets. */
  name?: string | null | undefined
  /** Any moment of the day that the table is of, in the organization's time zone. */
  asOf?: number | undefined
  /** When the file was last modified, in milliseconds. */
  modifiedAt?: number | undefined
  /** The prices are current, whatever the dates of their models are. */
  isDownload?: boolean | undefined
}

export interface LoadingOptions {
  /** Checks and adjusts each plan; throws to load nothing. */
  revise?: (planned: PlannedTable) => PlannedTable
  /** Notifies people by e-mail if prices of models in use change considerably. */
  notifies?: boolean
}

/** What was written, and its record; null if there was nothing to add. */
export type LoadedTable = PlannedTable & { load: Id<'pld'> | null }

/** People and tokens change occasionally while a table is prepared; if they do every time, something is looping. */
const ATTEMPTS = 10

interface Dependencies {
  db: Database
  clock: Clock
  audit: AuditService
  table: () => PriceTable | Promise<PriceTable>
  timeZone: () => Promise<string>
}

/** A plan, and the revision and the prices that it is valid for. */
interface Planned {
  plan: LoadPlan
  revision: number
  loaded: PriceSet
}

export function createLoading({ db, clock, audit, table, timeZone }: Dependencies) {
  const loadedPrices = async (): Promise<PriceSet> => {
    const prices = await listPrices(db.read)
    await yieldTurn()
    return { prices, aliases: await listAliases(db.read), table: await table() }
  }

  const modelsInUse = (withinMs = IN_USE_MS) => listModelsInUse(db.slow, clock.now() - withinMs)

  /** `read` may depend on the loaded prices: a price set by hand keeps some of the one that it replaces. */
  async function plan(read: (loaded: PriceSet) => TableReading, options: LoadOptions): Promise<Planned> {
    const revision = await readRevision(db.read)
    const loaded = { ...(await loadedPrices()), timeZone: await timeZone() }
    await yieldTurn()
    return { plan: await inPortions(planSteps(read(loaded), loaded, clock.now(), options)), revision, loaded }
  }

  async function planFile(
    file: Pick<PlannedTable, 'format' | 'reading' | 'options' | 'origin'>,
  ): Promise<PlannedTable> {
    const { loaded, ...planned } = await plan(() => file.reading, file.options)
    const inUse = changesInUse(loaded, planned.plan, await modelsInUse(), clock.now())
    return { ...file, ...planned, inUse }
  }

  /**
   * Writes a plan if prices are still as they were when it was made. `changeOf` returns the entry of the audit log,
   * once the rows are written.
   */
  async function write(
    { plan, revision, asOf }: { plan: LoadPlan; revision: number; asOf: number },
    { by, record }: { by: Actor; record?: NewLoad },
    changeOf: (tx: Tx, load: Id<'pld'> | null) => Change | Promise<Change>,
  ): Promise<{ load: Id<'pld'> | null } | undefined> {
    return db.write(async (tx) => {
      if (!(await claimRevision(tx, revision))) return undefined
      const load = record && (await insertLoad(tx, record))
      await confirmPrices(tx, plan.confirmed, asOf)
      await addPlanned(tx, plan, { loadedAt: clock.now(), loadedBy: by.userId, loadId: load?.id ?? null })
      await audit.record(tx, by, await changeOf(tx, load?.uid ?? null))
      return { load: load?.uid ?? null }
    })
  }

  return {
    loadedPrices,
    modelsInUse,
    plan,

    /** Writes what `prepare` plans, which is asked again if prices have changed meanwhile. */
    async writePlan<Prepared extends { plan: LoadPlan; revision: number; asOf: number }>(
      prepare: () => Promise<Prepared>,
      by: Actor,
      changeOf: (tx: Tx, prepared: Prepared) => Promise<Change>,
    ): Promise<LoadPlan> {
      for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
        const prepared = await prepare()
        if (isEmpty(prepared.plan)) return prepared.plan
        if (await write(prepared, { by }, (tx) => changeOf(tx, prepared))) return prepared.plan
      }
      throw databaseBusy()
    },

    /** See `PricesService.planTable`. */
    async planTable(
      text: string,
      {
        format: requested,
        name = null,
        asOf: given,
        modifiedAt: modified,
        isDownload = false,
        ...options
      }: TableOptions,
    ): Promise<PlannedTable> {
      const { format, reading } = await inPortions(tableSteps(text, requested))
      const asOf = asOfTable(
        { given, contained: reading.asOf, newestModel: isDownload ? undefined : reading.newestModel, modified },
        { now: clock.now(), timeZone: await timeZone() },
      )
      const digest = new Bun.CryptoHasher('sha256').update(text).digest('hex')
      return planFile({ format, reading, options: { ...options, asOf: asOf.date }, origin: { name, digest, asOf } })
    },

    /** See `PricesService.load`. */
    async load(
      first: PlannedTable,
      by: Actor,
      { revise = (planned) => planned, notifies = false }: LoadingOptions = {},
    ): Promise<LoadedTable> {
      let planned = revise(first)
      for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
        const { plan, revision, origin } = planned
        const asOf = origin.asOf.date
        if (isEmpty(plan)) {
          await db.write((tx) => confirmPrices(tx, plan.confirmed, asOf))
          return { ...planned, load: null }
        }
        // Everything slow was done before, so that the write lock is held only for the rows.
        const record = recordOf(planned, { now: clock.now(), by, notifies })
        const written = await write({ plan, revision, asOf }, { by, record }, (_tx, load) =>
          changeOfLoad(load!, record),
        )
        if (written) return { ...planned, ...written }
        planned = revise(await planFile(planned))
      }
      throw databaseBusy()
    },
  }
}

function isEmpty({ additions, aliases }: LoadPlan): boolean {
  return additions.length + aliases.length === 0
}

/** The models in use whose price differs once the plan is written, also from a later date on. */
function changesInUse(loaded: PriceSet, plan: LoadPlan, models: ModelInUse[], now: number): PriceDifference[] {
  if (models.length === 0 || isEmpty(plan)) return []
  return differencesInUse(models, loaded, pricesAfter(loaded, plan), {
    now,
    later: plan.additions.flatMap(({ row }) => row.effectiveFrom ?? []),
  })
}

/** The prices as they will be once the plan is written. */
export function pricesAfter(loaded: PriceSet, plan: LoadPlan): PriceSet {
  const newest = loaded.prices.reduce((last, { id }) => Math.max(last, id), 0)
  const added = plan.additions.map(({ row, source, asOf }, index) =>
    withIdentity({ ...row, source, asOf }, newest + index + 1),
  )
  const kept = loaded.aliases.filter((alias) => !plan.replacedAliases.includes(alias))
  return priceSet([...loaded.prices, ...added], [...kept, ...plan.aliases])
}

export function countsOf({ plan }: Pick<PlannedTable, 'plan'>) {
  const outcomes = Map.groupBy(plan.additions, ({ outcome }) => outcome)
  const number = (outcome: AdditionOutcome) => outcomes.get(outcome)?.length ?? 0
  return {
    new: number('new'),
    changed: number('changed'),
    same_price: number('same'),
    overridden: number('overridden'),
    unchanged: plan.unchanged,
    removed: plan.removed.length,
    older: plan.older.length,
    refused: plan.refused.length,
    aliases: plan.aliases.length,
  }
}

function recordOf(
  planned: PlannedTable,
  { now, by, notifies }: { now: number; by: Actor; notifies: boolean },
): NewLoad {
  const { format, origin, plan } = planned
  const notice = notifies ? noticeOf(planned.inUse) : null
  const replaced = plan.replacedAliases.map(({ loadId = null, ...alias }) => ({ ...alias, load_id: loadId }))
  return {
    format,
    name: origin.name,
    digest: origin.digest,
    asOf: origin.asOf.date,
    counts: countsOf(planned),
    replacedAliases: replaced.length > 0 ? replaced : null,
    loadedAt: now,
    loadedBy: by.userId,
    notice,
    noticeDueAt: notice && now,
  }
}

function changeOfLoad(id: Id<'pld'>, { format, name, digest, asOf, counts }: NewLoad): Change {
  const after = { format, digest, as_of: dateText(asOf), ...counts }
  return { action: 'prices.loaded', object: { id, name: name ?? format }, after }
}

/** Keeps the order of rows: a higher key always means that a row was loaded later, even if sources alternate. */
async function addPlanned(
  tx: Tx,
  { additions, aliases }: LoadPlan,
  loading: Omit<PriceOrigin, 'source'>,
): Promise<void> {
  for (const [source, added] of runsOf(additions)) {
    const rows = added.map(({ row, asOf }) => ({ ...row, asOf }))
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
