/** The calculation of an entry's list value, as shown in JSON: counts × prices = parts. */

import { timestamp } from '../../../lib/duration.ts'
import { moneyNumber } from '../../../lib/money.ts'
import { explainValue, type PriceTable, valueBody } from '../../prices/service.ts'
import { partOf } from '../rows.ts'
import type { TokenEntryDetail } from '../schema.ts'
import type { EntryRecord } from '../store.ts'

/** Null if the entry has no list value. */
export function valuationOf(entry: EntryRecord, table: PriceTable): TokenEntryDetail['valuation'] {
  if (entry.priceId === null || entry.listValue === null) return null
  const explained = explainValue(table, entry.priceId, partOf(entry))
  if (!explained) return null
  const { price, value } = explained
  return {
    price: {
      id: price.uid,
      provider: price.provider,
      model: price.model,
      source: price.source,
      effective_from: price.effectiveFrom === null ? null : timestamp(price.effectiveFrom),
    },
    ...valueBody(value),
    list_value: moneyNumber(entry.listValue),
  }
}
