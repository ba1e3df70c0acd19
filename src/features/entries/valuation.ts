/** The arithmetic of an entry's list value, as its JSON shows it: counts × prices = parts. */

import { timestamp } from '../../lib/duration.ts'
import { decimalNumber, moneyNumber, PICO_DIGITS } from '../../lib/money.ts'
import { PER_MILLION_DIGITS, PRICE_FIELDS, type PriceTable, partsAtPrice } from '../prices/service.ts'
import { countsOf, over200kOf } from './rows.ts'
import type { TokenEntryDetail } from './schema.ts'
import type { EntryRecord } from './store/entries.ts'

/** Null where the entry has no list value. */
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
    parts: parts.map(({ kind, fromTokens, tokens, pricePicos, amountPicos }) => ({
      kind: PRICE_FIELDS[kind],
      tokens,
      price: decimalNumber(pricePicos, PER_MILLION_DIGITS),
      from_tokens: fromTokens,
      amount: decimalNumber(amountPicos, PICO_DIGITS),
    })),
    list_value: moneyNumber(entry.listValue),
  }
}
