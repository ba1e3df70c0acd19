/** What the prices of long requests add to list values (docs/design/pricing.md, "Surcharges of long requests"). */

import type { Viewer } from '../../access/visibility.ts'
import type { Database, SlowTask } from '../../database/database.ts'
import { refusal } from '../../errors.ts'
import { divideHalfEven, moneyNumber, NANO_DIGITS, type Nanos } from '../../lib/money.ts'
import { readLongContext } from '../entries/listing/store/long-context-entries.ts'
import { readPriceTable, SURCHARGE_DIGITS, type Surcharge, surchargeAtPrice } from '../prices/service.ts'
import { type EntryFilter, listPath } from '../selection/contract.ts'
import { counted } from './counted-entries.ts'
import type { ModelNames } from './priced-sums.ts'
import type { PeriodQuery } from './query.ts'
import type { SurchargeModel, SurchargesReport } from './schema.ts'
import { type Billing, settledRead } from './settled-sums.ts'
import { ROW_LIMIT, tooManyGroups } from './usage.ts'
import { queryBody, ratioNumber } from './wire.ts'

interface SurchargeFigures {
  entries: number
  /** Entries whose surcharge is unknown. */
  unvaluedEntries: number
  costNanos: Nanos
  listValueNanos: Nanos
  /** Of the entries whose surcharge is known. */
  surcharge: Surcharge
  chargedNanos: Nanos
}

type SurchargeRow = ModelNames & SurchargeFigures

const NOTHING: SurchargeFigures = {
  entries: 0,
  unvaluedEntries: 0,
  costNanos: 0n,
  listValueNanos: 0n,
  surcharge: 0n,
  chargedNanos: 0n,
}

interface SurchargesTaskQuery {
  viewer: Viewer
  filter: EntryFilter
}

/** By model and provider. Undefined if there are too many. */
export const SURCHARGES_TASK: SlowTask<SurchargesTaskQuery, SurchargeRow[] | undefined> = {
  name: 'reports.surcharges',
  async run(reader, query) {
    const { table } = await readPriceTable(reader)
    const rows = new Map<string, SurchargeRow>()
    for await (const { model, provider, usage, priceId, costNanos, listValueNanos } of readLongContext(reader, query)) {
      const name = JSON.stringify([model, provider])
      const surcharge = surchargeAtPrice(table, priceId, usage)
      rows.set(name, {
        model,
        provider,
        ...sumOf(rows.get(name) ?? NOTHING, {
          entries: 1,
          unvaluedEntries: surcharge === undefined ? 1 : 0,
          costNanos,
          listValueNanos,
          surcharge: surcharge ?? 0n,
          chargedNanos: surcharge === undefined ? 0n : listValueNanos,
        }),
      })
    }
    return rows.size > ROW_LIMIT ? undefined : [...rows.values()].sort(largestFirst)
  },
}

function sumOf(one: SurchargeFigures, other: SurchargeFigures): SurchargeFigures {
  return {
    entries: one.entries + other.entries,
    unvaluedEntries: one.unvaluedEntries + other.unvaluedEntries,
    costNanos: one.costNanos + other.costNanos,
    listValueNanos: one.listValueNanos + other.listValueNanos,
    surcharge: one.surcharge + other.surcharge,
    chargedNanos: one.chargedNanos + other.chargedNanos,
  }
}

function largestFirst(one: SurchargeRow, other: SurchargeRow): number {
  if (one.surcharge !== other.surcharge) return one.surcharge > other.surcharge ? -1 : 1
  return JSON.stringify([one.model, one.provider]) < JSON.stringify([other.model, other.provider]) ? -1 : 1
}

export function createSurcharges({ db, billing }: { db: Database; billing: Billing }) {
  return {
    /** Throws `validation_failed` (422) for too many models or if the filter excludes all of them, and `database_deadline` (503). */
    async surcharges(viewer: Viewer, query: PeriodQuery): Promise<SurchargesReport> {
      if (query.filter.long_context === false) throw nothingLeft()
      const filter = longContext(query)
      const rows = await settledRead(billing, filter, () => db.slowly(SURCHARGES_TASK, { viewer, filter }))
      if (!rows) throw tooManyGroups(ROW_LIMIT)
      return {
        ...queryBody(query),
        totals: { ...figuresBody(rows.reduce(sumOf, NOTHING)), ...listsOf(filter) },
        data: rows.map((row) => modelBody(row, filter)),
      }
    },
  }
}

function nothingLeft() {
  const message = 'must not be false: the report is of entries at prices of long requests. Leave it out'
  return refusal('/query/long_context', 'not_allowed', message)
}

/** The entries that the report is of, which is also what its lists show. */
function longContext({ filter, startingAt, endingAt }: PeriodQuery): EntryFilter {
  return { ...counted(filter), long_context: true, starting_at: startingAt, ending_at: endingAt }
}

function modelBody(row: SurchargeRow, filter: EntryFilter): SurchargeModel {
  const { model, provider } = row
  return {
    model,
    provider,
    ...figuresBody(row),
    ...listsOf({ ...filter, model: [model], provider: [provider ?? 'none'] }),
  }
}

/** The list of all entries, and that of those whose surcharge is unknown. */
const listsOf = (filter: EntryFilter) => ({
  list: listPath(filter),
  unvalued_list: listPath({ ...filter, without_base_price: true }),
})

function figuresBody(figures: SurchargeFigures) {
  const { entries, unvaluedEntries, costNanos, listValueNanos, chargedNanos } = figures
  const isKnown = entries === 0 || unvaluedEntries < entries
  const nanos = divideHalfEven(figures.surcharge, 10n ** BigInt(SURCHARGE_DIGITS - NANO_DIGITS))
  return {
    entries,
    unvalued_entries: unvaluedEntries,
    cost: moneyNumber(costNanos),
    list_value: moneyNumber(listValueNanos),
    surcharge: moneyNumber(isKnown ? nanos : null),
    base_value: moneyNumber(isKnown ? chargedNanos - nanos : null),
    share: isKnown ? ratioNumber(nanos, chargedNanos) : null,
  }
}
