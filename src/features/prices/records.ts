/** Tiers and other charges as the database stores them, with prices as decimal text. */
import type {
  PriceExtras as ExtrasRecord,
  Prices as PricesRecord,
  PriceTier as TierRecord,
} from '../../database/schema/records.ts'
import { MEDIA_FIELDS, type MediaKind, PRICE_FIELDS, SERVICE_FIELDS, SERVICE_KINDS } from '../../shared/usage.ts'
import type { Adjustment, ExtraPrices, PriceRow, PriceTier, TokenKind } from './rates.ts'

/** The JSON fields of all prices of tokens. */
export const TOKEN_FIELDS = { ...PRICE_FIELDS, ...MEDIA_FIELDS }
export const TOKEN_KINDS = Object.keys(TOKEN_FIELDS) as TokenKind[]

type Other<Row> = Omit<Row, 'tiers' | 'extras'>

/** A row as the database stores it. */
export interface PriceRecord extends Other<PriceRow> {
  tiers: TierRecord[] | null
  extras: ExtrasRecord | null
}

export function recordOf<Row extends PriceRow>(row: Row): Other<Row> & Pick<PriceRecord, 'tiers' | 'extras'> {
  const { tiers, extras } = row
  return {
    ...row,
    tiers: tiers.length > 0 ? tiers.map(tierRecord) : null,
    extras: extras ? extrasRecord(extras) : null,
  }
}

export function rowOf<Stored extends Pick<PriceRecord, 'tiers' | 'extras'>>(
  record: Stored,
): Other<Stored> & Pick<PriceRow, 'tiers'> & { extras: ExtraPrices | null } {
  const { tiers, extras } = record
  return { ...record, tiers: (tiers ?? []).map(tierOf), extras: extras && extrasOf(extras) }
}

export function tierRecord({ fromTokens, prices }: PriceTier): TierRecord {
  return { from_tokens: fromTokens, ...pricesRecord(prices) }
}

function tierOf({ from_tokens: fromTokens, ...prices }: TierRecord): PriceTier {
  return { fromTokens, prices: pricesOf(prices) }
}

export function extrasRecord({ media, tools, variants, hours }: ExtraPrices): ExtrasRecord {
  const record: ExtrasRecord = pricesRecord(media)
  const uses = Object.entries(tools)
  if (uses.length > 0) record.tools = Object.fromEntries(uses.map(([name, price]) => [name, price.toString()]))
  if (variants.length > 0) {
    record.variants = variants.map(({ kind, name, ...adjustment }) => ({
      [SERVICE_FIELDS[kind]]: name,
      ...adjustmentRecord(adjustment),
    }))
  }
  if (hours.length > 0) {
    record.hours = hours.map(({ from, to, days, ...adjustment }) => ({
      from,
      to,
      ...(days ? { days } : {}),
      ...adjustmentRecord(adjustment),
    }))
  }
  return record
}

function extrasOf({ tools = {}, variants = [], hours = [], ...media }: ExtrasRecord): ExtraPrices {
  return {
    media: pricesOf(media) as Partial<Record<MediaKind, bigint>>,
    tools: Object.fromEntries(Object.entries(tools).map(([name, price]) => [name, BigInt(price)])),
    variants: variants.map((variant) => {
      const kind = SERVICE_KINDS.find((one) => variant[SERVICE_FIELDS[one]] !== undefined)!
      return { kind, name: variant[SERVICE_FIELDS[kind]]!, ...adjustmentOf(variant) }
    }),
    hours: hours.map(({ from, to, days = null as number[] | null, ...adjustment }) => ({
      from,
      to,
      days,
      ...adjustmentOf(adjustment),
    })),
  }
}

type AdjustmentRecord = PricesRecord & { multiplier?: string; tiers?: TierRecord[] }

function adjustmentRecord({ multiplier, prices, tiers }: Adjustment): AdjustmentRecord {
  const record: AdjustmentRecord = pricesRecord(prices)
  if (multiplier !== null) record.multiplier = multiplier.toString()
  if (tiers.length > 0) record.tiers = tiers.map(tierRecord)
  return record
}

function adjustmentOf({ multiplier, tiers = [], ...prices }: AdjustmentRecord): Adjustment {
  return {
    multiplier: multiplier === undefined ? null : BigInt(multiplier),
    prices: pricesOf(prices),
    tiers: tiers.map(tierOf),
  }
}

function pricesRecord(prices: Partial<Record<TokenKind, bigint>>): PricesRecord {
  const record: PricesRecord = {}
  for (const kind of TOKEN_KINDS) if (prices[kind] !== undefined) record[TOKEN_FIELDS[kind]] = prices[kind].toString()
  return record
}

function pricesOf(record: PricesRecord): Partial<Record<TokenKind, bigint>> {
  const prices: Partial<Record<TokenKind, bigint>> = {}
  for (const kind of TOKEN_KINDS) {
    const text = record[TOKEN_FIELDS[kind]]
    if (text !== undefined) prices[kind] = BigInt(text)
  }
  return prices
}
