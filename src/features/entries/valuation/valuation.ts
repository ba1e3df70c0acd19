/** The calculation of an entry's list value, as shown in JSON: counts × prices = parts. */

import { timestamp } from '../../../lib/duration.ts'
import { moneyNumber } from '../../../lib/money.ts'
import { type PriceTable, partBody, partsAtPrice } from '../../prices/service.ts'
import { countsOf, over200kOf } from '../rows.ts'
import type { TokenEntryDetail } from '../schema.ts'
import type { EntryRecord } from '../store.ts'

/** Null if the entry has no list value. */
export function valuationOf(entry: EntryRecord, table: PriceTable): TokenEntryDetail['valuation'] {
  if (entry.priceId === null || entry.listValue === null) return null
  const usage = { counts: countsOf(entry), over200k: over200kOf(entry), requests: entry.requests }
  const valued = partsAtPrice(table, entry.priceId, usage)
  if (!valued) return null
  const { price, parts } = valued
  return {
    price: {
      id: price.uid,
      provider: price.provider,
      model: price.model,
      source: price.source,
      effective_from: price.effectiveFrom === null ? null : timestamp(price.effectiveFrom),
    },
    parts: parts.map(partBody),
    list_value: moneyNumber(entry.listValue),
  }
}
