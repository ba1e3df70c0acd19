/** Serialization of prices for the API and the command line. */

import { timestamp, timestampOrNull } from '../../lib/duration.ts'
import type { Id } from '../../lib/id.ts'
import { decimalNumber, moneyNumber, PICO_DIGITS, type Picos } from '../../lib/money.ts'
import { type MediaKind, SERVICE_FIELDS } from '../../shared/usage.ts'
import type { Resolution } from './explain.ts'
import { PER_MILLION_DIGITS } from './formats/reader.ts'
import type { ListedPrice, PriceComparison, PriceDifference } from './in-use.ts'
import { type Addition, dateText, type PlannedTable } from './load-plan.ts'
import type { ComparisonBody, PriceLoadBody, UpdateStateBody } from './load-schema.ts'
import { countsOf } from './loading.ts'
import type { StoredPrice } from './price-table.ts'
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
import type {
  AddedPrice,
  AliasBody,
  ListedPriceBody,
  PriceBody,
  PriceTableBody,
  RepricingBody,
  ResolutionBody,
  WithdrawnPrices,
} from './schema.ts'
import type { SetPrice, Withdrawal } from './set-price.ts'
import type { PriceSource } from './sources.ts'
import type { LoadView } from './store/loads.ts'
import type { UpdateState } from './store/updates.ts'
import type { AliasView, PriceView } from './store.ts'

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

export function rowBody(row: PriceRow): Omit<PriceTableBody['new'][number], 'source' | 'as_of'> {
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
    effective_until: timestampOrNull(row.effectiveUntil ?? null),
  }
}

/** A price with its source and its date; `asOf` is a midnight in UTC. */
function sourcedBody(row: PriceRow, { source, asOf }: { source: PriceSource; asOf?: number | null | undefined }) {
  return { ...rowBody(row), source, as_of: dateOrNull(asOf) }
}

const storedBody = (price: StoredPrice) => sourcedBody(price, price)
const additionBody = (addition: Addition) => sourcedBody(addition.row, addition)

export function priceBody(price: PriceView): PriceBody {
  return {
    id: price.uid,
    ...rowBody(price),
    source: price.source,
    as_of: dateOrNull(price.asOf),
    loaded_at: timestamp(price.loadedAt),
    loaded_by: personBody(price.loadedBy),
    withdrawn_at: timestampOrNull(price.withdrawnAt),
  }
}

export const listedPriceBody = (price: ListedPrice): ListedPriceBody => ({ ...priceBody(price), in_use: price.inUse })

export function aliasBody({ alias, provider, model, source, createdAt, createdBy }: AliasView): AliasBody {
  return {
    alias,
    provider,
    model,
    source,
    created_at: timestamp(createdAt),
    created_by: personBody(createdBy),
  }
}

export function tableBody(
  planned: Pick<PlannedTable, 'format' | 'origin' | 'reading' | 'plan' | 'inUse'>,
  { dryRun, load, valued }: { dryRun: boolean; load: Id<'pld'> | null; valued: Repriced | null },
): PriceTableBody {
  const { format, origin, reading, plan, inUse } = planned
  const { additions, older, refused } = plan
  return {
    dry_run: dryRun,
    format,
    as_of: dateText(origin.asOf.date),
    as_of_from: origin.asOf.from,
    load,
    counts: {
      ...countsOf(planned),
      skipped: Object.values(reading.skipped).reduce((sum, count) => sum + count, 0),
      rounded: reading.rounded.length,
    },
    new: additions.filter(({ outcome }) => outcome === 'new').map(additionBody),
    changed: additions.filter(({ outcome }) => outcome === 'changed').flatMap(replacementBody),
    same_price: additions.filter(({ outcome }) => outcome === 'same').map(additionBody),
    overridden: additions.filter(({ outcome }) => outcome === 'overridden').flatMap(replacementBody),
    older: older.map(({ replaced, ...addition }) => ({
      before: storedBody(replaced),
      after: additionBody({ ...addition, replaced }),
    })),
    removed: plan.removed.map(storedBody),
    in_use: inUse.map(differenceBody),
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

function replacementBody(addition: Addition): PriceTableBody['changed'] {
  return addition.inForce ? [{ before: storedBody(addition.inForce), after: additionBody(addition) }] : []
}

function differenceBody(difference: PriceDifference): PriceTableBody['in_use'][number] {
  const { model, provider, entries, at, before, after, change } = difference
  return {
    model,
    provider,
    entries,
    at: timestamp(at),
    before: before ? storedBody(before) : null,
    after: after ? storedBody(after) : null,
    // JSON has no infinity.
    change: change !== null && Number.isFinite(change) ? change : null,
  }
}

export function setPriceBody(
  effect: SetPrice,
  { price, valued }: { price: PriceView | null; valued: RepricingBody },
): AddedPrice {
  return { dry_run: valued.dry_run, price: price && priceBody(price), ...priceChangeBody(effect), valued }
}

export function priceChangeBody({ isAdded, before, after, kept }: SetPrice) {
  return { added: isAdded, before: before ? storedBody(before) : null, after: rowBody(after), kept }
}

export function withdrawalBody(
  { ended, until, before, after }: Withdrawal,
  { dryRun }: { dryRun: boolean },
): WithdrawnPrices {
  return {
    dry_run: dryRun,
    effective_until: timestamp(until),
    prices: ended.map(priceBody),
    before: before ? storedBody(before) : null,
    after: after ? storedBody(after) : null,
  }
}

export function comparisonBody({ format, models, differences }: PriceComparison): ComparisonBody {
  return { format, models, differences: differences.map(differenceBody) }
}

export function loadBody({ load, loadedBy, undoneBy }: LoadView): PriceLoadBody {
  return {
    id: load.uid,
    format: load.format as PriceLoadBody['format'],
    name: load.name,
    sha256: load.digest,
    as_of: dateText(load.asOf),
    counts: load.counts,
    loaded_at: timestamp(load.loadedAt),
    loaded_by: personBody(loadedBy),
    undone_at: timestampOrNull(load.undoneAt),
    undone_by: personBody(undoneBy),
  }
}

export function updateStateBody(state: UpdateState): UpdateStateBody {
  return {
    configured: state.isConfigured,
    every_seconds: state.everyMs === undefined ? null : state.everyMs / 1_000,
    source: state.source,
    attempted_at: timestampOrNull(state.attemptedAt),
    succeeded_at: timestampOrNull(state.succeededAt),
    error: state.error,
    failures: state.failures,
  }
}

function personBody(person: { uid: string; name: string } | null) {
  return person && { id: person.uid, name: person.name }
}

function dateOrNull(at: number | null | undefined): string | null {
  return at === null || at === undefined ? null : dateText(at)
}

export function resolutionBody({
  model,
  provider,
  at,
  step,
  price,
  sources,
  steps,
  value,
}: Resolution): ResolutionBody {
  return {
    model,
    provider,
    at: timestamp(at),
    step,
    price: price && priceBody(price),
    sources: sources.map(({ source, version, as_of }) => ({ source, version, as_of })),
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
