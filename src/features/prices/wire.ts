/** Serialization of prices for the API and the command line. */
import { timestamp, timestampOrNull } from '../../lib/duration.ts'
import { decimalNumber, moneyNumber, PICO_DIGITS, type Picos } from '../../lib/money.ts'
import type { Resolution } from './explain.ts'
import { PER_MILLION_DIGITS } from './formats/reader.ts'
import type { PlannedTable } from './load-plan.ts'
import { PRICE_FIELDS, PRICED_KINDS, type PriceRow, type PriceTier, type ValuedPart } from './rates.ts'
import { type Repriced, repricedBody } from './repricing.ts'
import type { AliasBody, PriceBody, PriceTableBody, ResolutionBody } from './schema.ts'
import type { AliasView, PriceView } from './store.ts'

function perMillion(picos: Picos): number {
  return decimalNumber(picos, PER_MILLION_DIGITS)
}

function tierBody({ fromTokens, prices }: PriceTier): PriceBody['tiers'][number] {
  const body: PriceBody['tiers'][number] = { from_tokens: fromTokens }
  for (const kind of PRICED_KINDS) {
    const price = prices[kind]
    if (price !== undefined) body[PRICE_FIELDS[kind]] = perMillion(price)
  }
  return body
}

export function rowBody(row: PriceRow): PriceTableBody['new'][number] {
  const priceOf = (picos: Picos | null) => (picos === null ? null : perMillion(picos))
  return {
    provider: row.provider,
    model: row.model,
    input: priceOf(row.input),
    output: priceOf(row.output),
    cache_read: priceOf(row.cacheRead),
    cache_write: priceOf(row.cacheWrite),
    cache_write_1h: priceOf(row.cacheWrite1h),
    tiers: row.tiers.map(tierBody),
    effective_from: timestampOrNull(row.effectiveFrom),
  }
}

export function priceBody(price: PriceView): PriceBody {
  return {
    id: price.uid,
    ...rowBody(price),
    source: price.source,
    loaded_at: timestamp(price.loadedAt),
    loaded_by: price.loadedBy && { id: price.loadedBy.uid, name: price.loadedBy.name },
  }
}

export function aliasBody({ alias, provider, model, source, createdAt, createdBy }: AliasView): AliasBody {
  return {
    alias,
    provider,
    model,
    source,
    created_at: timestamp(createdAt),
    created_by: createdBy && { id: createdBy.uid, name: createdBy.name },
  }
}

export function tableBody(
  { format, reading, plan }: Pick<PlannedTable, 'format' | 'reading' | 'plan'>,
  { dryRun, valued }: { dryRun: boolean; valued: Repriced | null },
): PriceTableBody {
  const { additions, aliases, refused, unchanged } = plan
  const added = additions.filter(({ before }) => before === undefined)
  const changed = additions.flatMap(({ before, row }) => (before ? [{ before, after: row }] : []))
  return {
    dry_run: dryRun,
    format,
    counts: {
      new: added.length,
      changed: changed.length,
      unchanged,
      refused: refused.length,
      skipped: Object.values(reading.skipped).reduce((sum, count) => sum + count, 0),
      aliases: aliases.length,
      rounded: reading.rounded.length,
    },
    new: added.map(({ row }) => rowBody(row)),
    changed: changed.map(({ before, after }) => ({ before: rowBody(before), after: rowBody(after) })),
    refused,
    skipped: reading.skipped,
    unused: reading.unused,
    rounded: reading.rounded.map(({ provider, model, text, picos }) => ({
      provider,
      model,
      text,
      price: perMillion(picos),
    })),
    valued: valued && repricedBody(valued, { dryRun }),
  }
}

export function resolutionBody({ model, provider, at, step, price, steps, value }: Resolution): ResolutionBody {
  return {
    model,
    provider,
    at: timestamp(at),
    step,
    price: price && priceBody(price),
    steps,
    value: value && {
      parts: value.parts.map(partBody),
      note: value.note,
      list_value: moneyNumber(value.listValueNanos),
    },
  }
}

/** One product in the calculation of a list value. */
export function partBody({ kind, fromTokens, tokens, pricePicos, amountPicos }: ValuedPart) {
  return {
    kind: PRICE_FIELDS[kind],
    tokens,
    price: perMillion(pricePicos),
    from_tokens: fromTokens,
    amount: decimalNumber(amountPicos, PICO_DIGITS),
  }
}
