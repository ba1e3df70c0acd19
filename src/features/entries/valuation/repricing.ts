/**
 * Valuing entries again (docs/design/pricing.md, "Repricing"): those that had no price whenever prices are added, others
 * only on request. Billed entries never change; approved and pending ones only get a value if their cost was unknown.
 */

import { type Actor, TALLY } from '../../../access/actor.ts'
import type { Database, Reader, Tx } from '../../../database/database.ts'
import { findOwed, settleOwed } from '../../../database/owed-work.ts'
import { type Issue, validationFailed } from '../../../errors.ts'
import type { Clock } from '../../../lib/clock.ts'
import { counted } from '../../../lib/counted.ts'
import { parseMoment, timestamp } from '../../../lib/duration.ts'
import { Job } from '../../../lib/jobs.ts'
import { moneyNumber } from '../../../lib/money.ts'
import { badPage } from '../../../schema/query.ts'
import type { AuditService } from '../../audit/service.ts'
import { type PricesService, type PriceTable, type Repriced, repricedBody } from '../../prices/service.ts'
import { type EntryFilter, type Position, readPage, writePage } from '../../selection/contract.ts'
import { isDivided, wholeOf } from '../division/divided.ts'
import { divideValues, listFixedDivisions } from '../division/values.ts'
import { recordHistory } from '../history/record.ts'
import { valuationColumns } from '../reporting/record.ts'
import { costNanosOf, isLocked, partOf } from '../rows.ts'
import type { Repricing } from '../schema.ts'
import {
  countUnpriced,
  listPriced,
  listRepriceable,
  listUnpriced,
  listUnpricedModels,
  type PricedEntry,
  updateValuations,
} from './store.ts'

/** Entries per transaction: about 20 ms, during which reports wait. */
const BATCH = 500

/** How soon a server values what another process owes. A look reads one row. */
const LOOK_EVERY_MS = 5_000

export interface RepricingOptions {
  /** Only reports what would change. */
  dryRun?: boolean | undefined
  /** The prices that a dry run assumes; those of the database if absent. */
  table?: PriceTable | undefined
  /** The person who started it; Tally itself if absent. */
  by?: Actor | undefined
  /** Ends the call after the batch that exceeds this time, so that a caller over HTTP gets a response. */
  budgetMs?: number | undefined
  /** Called with the number of processed entries, and the total if it is known. */
  onProgress?: ((done: number, total: number | undefined) => void) | undefined
}

/** One entry's new value. */
interface Revalued {
  priced: PricedEntry
  columns: { listValue: bigint; priceId: number; priceStep: number; priceNote: string | null }
  price: string
}

/** The entries with a value that are valued again. */
export interface RepricingRequest {
  filter: EntryFilter
  /** The position at which the previous call ran out of time; undefined to start at the beginning. */
  after?: Position | undefined
}

/**
 * Parses a request; undefined for one that only values unpriced entries. Dates are days of the time zone. Throws 422 with
 * every issue.
 */
export function readRepricing(
  { all, starting_at, ending_at, models, page }: Repricing,
  timeZone: string,
): RepricingRequest | undefined {
  const issues: Issue[] = []
  for (const [name, value] of Object.entries({ starting_at, ending_at, models, page })) {
    if (all || value === undefined) continue
    const message = 'is only allowed together with all'
    issues.push({ pointer: `/${name}`, code: 'needs_all', message })
  }
  const momentOf = (pointer: string, text: string | undefined) => {
    const moment = text === undefined ? undefined : parseMoment(text, timeZone)
    if (text !== undefined && moment === undefined) {
      issues.push({ pointer, code: 'no_such_time', message: 'is not a valid date and time' })
    }
    return moment
  }
  const filter = {
    starting_at: momentOf('/starting_at', starting_at),
    ending_at: momentOf('/ending_at', ending_at),
    model: models && models.length > 0 ? models : undefined,
  }
  const after = page === undefined ? undefined : readPage(page)
  if (page !== undefined && !after) issues.push(badPage('/page'))
  if (issues.length > 0) throw validationFailed(issues)
  return all ? { filter, after } : undefined
}

interface Dependencies {
  db: Database
  clock: Clock
  audit: AuditService
  prices: Pick<PricesService, 'table'>
}

export function createRepricing({ db, clock, audit, prices }: Dependencies) {
  /** Values the entries of all pages. Each batch is durable by itself: an interrupted call can simply be repeated. */
  async function revalue(
    pages: AsyncGenerator<PricedEntry[]>,
    total: number | undefined,
    { dryRun = false, table, by = TALLY, budgetMs = Number.POSITIVE_INFINITY, onProgress }: RepricingOptions,
  ): Promise<Repriced> {
    const startedAt = performance.now()
    const repriced = nothingRepriced()
    let done = 0
    try {
      for await (const page of pages) {
        const changing = revaluedOf(page, (dryRun && table) || (await prices.table(db.read)))
        const changed = dryRun || changing.length === 0 ? changing : await write(changing, by)
        for (const one of changed) count(repriced, one)
        done += page.length
        onProgress?.(done, total)
        if (performance.now() - startedAt < budgetMs) continue
        repriced.isComplete = false
        repriced.nextPage = positionOf(page.at(-1)!)
        break
      }
    } finally {
      // Also for an interrupted call: its finished batches are durable.
      if (!dryRun && repriced.entries > 0) await keep(repriced, by)
    }
    return repriced
  }

  /** Adds one event to the audit log, in addition to the history of each entry. */
  async function keep(repriced: Repriced, by: Actor): Promise<void> {
    const { entries, list_value, cost } = repricedBody(repriced, { dryRun: false })
    const after = { entries, list_value, cost }
    await db.write((tx) => audit.record(tx, by, { action: 'entries.repriced', after }))
  }

  /** Reads the entries again inside the transaction: meanwhile a session may have continued, or a bill been sent. */
  async function write(changing: Revalued[], by: Actor): Promise<Revalued[]> {
    const ids = changing.map(({ priced }) => priced.entry.id)
    return db.write(async (tx) => {
      const table = await prices.table(tx)
      const current = await listPriced(tx, ids)
      const fixed = await listFixedDivisions(tx, current)
      const changeable = current.filter((one) => mayChange(one) && !fixed.has(one.entry.id))
      return record(tx, revaluedOf(changeable, table), clock.now(), by)
    })
  }

  async function valueUnpriced(options: RepricingOptions = {}): Promise<Repriced> {
    // Read before the prices: what changes after them is still owed.
    const owed = options.dryRun ? undefined : await findOwed(db.read, 'valuation')
    const total = options.onProgress && (await countUnpriced(db.slow))
    const repriced = await revalue(
      unpricedPages(db.slow, options.table ?? (await prices.table(db.read))),
      total,
      options,
    )
    if (owed && repriced.isComplete) await db.write((tx) => settleOwed(tx, owed))
    // Entries that have been valued are not found again, so the next call continues where this one ended.
    return { ...repriced, nextPage: null }
  }

  async function valueOwed(): Promise<void> {
    if (await findOwed(db.read, 'valuation')) await valueUnpriced()
  }

  return {
    /** Values entries that have no cost and are not on a bill, as far as there is a price for them now. */
    valueUnpriced,

    /** Values what a change of prices owes, which the process that made it may not have finished. */
    valueOwed,

    job: new Job({
      name: 'valuation',
      task: 'value entries whose price was added',
      everyMs: LOOK_EVERY_MS,
      run: valueOwed,
    }),

    /** A sentence if entries wait for their value: until then, sums leave them out. */
    async verifyOwed(): Promise<string[]> {
      const owed = await findOwed(db.slow, 'valuation')
      const waiting = owed ? (await valueUnpriced({ dryRun: true })).entries : 0
      if (!owed || waiting === 0) return []
      return [
        `${counted(waiting, 'entry has', 'entries have')} no cost, although there is a price since ${timestamp(owed.since)}. A running server values them; otherwise use \`tally prices reprice\`.`,
      ]
    },

    /** Values all unlocked entries that match the filter again. */
    async reprice({ filter, after }: RepricingRequest, options: RepricingOptions = {}): Promise<Repriced> {
      return revalue(repriceablePages(db.slow, filter, after), undefined, options)
    },
  }
}

/** Skips models that no price row could value. */
async function* unpricedPages(reader: Reader, table: PriceTable): AsyncGenerator<PricedEntry[]> {
  for (const model of await listUnpricedModels(reader)) {
    if (!table.find(model.model, model.provider, Number.MAX_SAFE_INTEGER)) continue
    let after = 0
    for (;;) {
      const page = await listUnpriced(reader, model, { after, limit: BATCH })
      if (page.length > 0) yield page
      if (page.length < BATCH) break
      after = page.at(-1)!.entry.id
    }
  }
}

async function* repriceablePages(
  reader: Reader,
  filter: EntryFilter,
  from: Position | undefined,
): AsyncGenerator<PricedEntry[]> {
  let after = from
  for (;;) {
    const page = await listRepriceable(reader, { filter, after, limit: BATCH })
    if (page.length > 0) yield page
    if (page.length < BATCH) return
    after = page.at(-1)!.entry
  }
}

function mayChange({ entry }: PricedEntry): boolean {
  return !isLocked(entry) || (entry.billId === null && costNanosOf(entry) === null)
}

/** The entries with a new value. Entries that the table cannot value keep their value. */
function revaluedOf(priced: PricedEntry[], table: PriceTable): Revalued[] {
  return priced.flatMap((one) => {
    // The other parts of a divided entry follow the whole.
    if (one.entry.dividedFromId !== null) return []
    const { entry, model, provider } = isDivided(one.entry) ? wholeOf(one) : one
    const { columns, price } = valuationColumns(
      { model, provider: provider ?? undefined, totals: partOf(entry) },
      table,
    )
    // Another price row with the same price is not a change.
    if (price === null || columns.listValue === entry.listValue) return []
    return [{ priced: { ...one, entry }, columns, price }]
  })
}

async function record(tx: Tx, changing: Revalued[], now: number, by: Actor): Promise<Revalued[]> {
  const isWhole = ({ priced: { entry } }: Revalued) => isDivided(entry)
  const changeOf = ({ priced: { entry }, columns }: Revalued) => ({ id: entry.id, ...columns, updatedAt: now })
  await updateValuations(tx, changing.filter((one) => !isWhole(one)).map(changeOf))
  await divideValues(tx, changing.filter(isWhole).map(changeOf))
  await recordHistory(
    tx,
    { action: 'repriced', at: now, by },
    changing.map(({ priced: { entry, price: from }, columns, price: to }) => ({
      entryId: entry.id,
      details: {
        price: { from, to },
        list_value: { from: moneyNumber(entry.listValue), to: moneyNumber(columns.listValue) },
      },
    })),
  )
  return changing
}

function nothingRepriced(): Repriced {
  const none = () => ({ before: 0n, after: 0n })
  return { entries: 0, listValueNanos: none(), costNanos: none(), models: new Map(), isComplete: true, nextPage: null }
}

function count(repriced: Repriced, { priced: { entry, model }, columns }: Revalued): void {
  const ofModel = repriced.models.get(model) ?? { entries: 0, listValueNanos: { before: 0n, after: 0n } }
  repriced.models.set(model, ofModel)
  repriced.entries += 1
  ofModel.entries += 1
  for (const sum of [repriced.listValueNanos, ofModel.listValueNanos]) {
    sum.before += entry.listValue ?? 0n
    sum.after += columns.listValue
  }
  repriced.costNanos.before += costNanosOf(entry) ?? 0n
  repriced.costNanos.after += costNanosOf({ ...entry, ...columns }) ?? 0n
}

function positionOf({ entry }: PricedEntry): string {
  return writePage({ startedAt: entry.startedAt, id: entry.id })
}
