/** Serialization of prices for the API and the command line. */
import { timestamp, timestampOrNull } from '../../lib/duration.ts'
import { decimalNumber, moneyNumber, PICO_DIGITS, type Picos } from '../../lib/money.ts'
import type { Resolution } from './explain.ts'
import { PER_MILLION_DIGITS } from './formats/reader.ts'
import type { PlannedTable } from './load-plan.ts'
import {
  type Adjustment,
  type CountsValue,
  clockText,
  type ExtraPrices,
  MULTIPLIER_DIGITS,
  type PriceRow,
  type PriceTier,
  type TokenKind,
  type ValuedPart,
} from './rates.ts'
import { TOKEN_FIELDS, TOKEN_KINDS } from './records.ts'
import { type Repriced, repricedBody } from './repricing.ts'
import type { AliasBody, PriceBody, PriceTableBody, ResolutionBody } from './schema.ts'
import type { AliasView, PriceView } from './store.ts'
import { type MediaKind, SERVICE_FIELDS } from './usage.ts'

function perMillion(picos: Picos): number {
  return decimalNumber(picos, PER_MILLION_DIGITS)
}

function pricesBody(
  prices: Partial<Record<TokenKind, Picos>>,
): Partial<Record<(typeof TOKEN_FIELDS)[TokenKind], number>> {
  const body: ReturnType<typeof pricesBody> = {}
  for (const kind of TOKEN_KINDS) if (prices[kind] !== undefined) body[TOKEN_FIELDS[kind]] = perMillion(prices[kind])
  return body
}

function tierBody({ fromTokens, prices }: PriceTier): PriceBody['tiers'][number] {
  return { from_tokens: fromTokens, ...pricesBody(prices) }
}

function adjustmentBody({ multiplier, prices, tiers }: Adjustment) {
  return {
    ...(multiplier === null ? {} : { multiplier: decimalNumber(multiplier, MULTIPLIER_DIGITS) }),
    ...pricesBody(prices),
    ...(tiers.length > 0 ? { tiers: tiers.map(tierBody) } : {}),
  }
}

function extrasBody({ media, tools, variants, hours }: ExtraPrices) {
  const mediaOf = (kind: MediaKind) => (media[kind] === undefined ? null : perMillion(media[kind]))
  return {
    input_audio: mediaOf('inputAudio'),
    input_image: mediaOf('inputImage'),
    output_audio: mediaOf('outputAudio'),
    output_image: mediaOf('outputImage'),
    tools: Object.fromEntries(Object.entries(tools).map(([name, price]) => [name, decimalNumber(price, PICO_DIGITS)])),
    variants: variants.map(({ kind, name, ...adjustment }) => ({
      [SERVICE_FIELDS[kind]]: name,
      ...adjustmentBody(adjustment),
    })),
    hours: hours.map(({ from, to, days, ...adjustment }) => ({
      from: clockText(from),
      to: clockText(to),
      ...(days ? { days } : {}),
      ...adjustmentBody(adjustment),
    })),
  }
}

const NO_EXTRAS: ExtraPrices = { media: {}, tools: {}, variants: [], hours: [] }

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
    ...extrasBody(row.extras ?? NO_EXTRAS),
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
    value: value && { ...valueBody(value), note: value.note },
  }
}

/** The calculation of a list value. */
export function valueBody({ parts, multipliers, tools, listValueNanos }: CountsValue) {
  return {
    parts: parts.map(partBody),
    multipliers: multipliers.map(({ kind, name, multiplier }) => ({
      kind: kind === 'hours' ? kind : SERVICE_FIELDS[kind],
      name,
      multiplier: decimalNumber(multiplier, MULTIPLIER_DIGITS),
    })),
    tools: tools.map(({ name, uses, pricePicos, amountPicos }) => ({
      name,
      uses,
      price: decimalNumber(pricePicos, PICO_DIGITS),
      amount: decimalNumber(amountPicos, PICO_DIGITS),
    })),
    list_value: moneyNumber(listValueNanos),
  }
}

function partBody({ kind, fromTokens, tokens, pricePicos, amountPicos }: ValuedPart) {
  return {
    kind: TOKEN_FIELDS[kind],
    tokens,
    price: perMillion(pricePicos),
    from_tokens: fromTokens,
    amount: decimalNumber(amountPicos, PICO_DIGITS),
  }
}
