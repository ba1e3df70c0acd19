/**
 * The content of a price file, model by model, before it is compared with the loaded prices. The readers of the formats
 * are in this folder; each is pure and returns a {@link TableReading}.
 */
import { parseMoment } from '../../../lib/duration.ts'
import { numberText } from '../../../lib/exact-json.ts'
import { divideHalfEven, type Picos, parseDecimal } from '../../../lib/money.ts'
import type { PriceAlias } from '../price-table.ts'
import {
  type Adjustment,
  COUNT_KINDS,
  type CountKind,
  PRICE_FIELDS,
  type PriceRow,
  type PriceTier,
  type TokenKind,
} from '../rates.ts'
import { TOKEN_KINDS } from '../records.ts'
import type { PriceSource } from '../sources.ts'
import { isSamePrice } from '../update-offer.ts'
import { MODELS_LIMIT, tooManyModels } from './document.ts'

/** A price as a file lists it. */
export interface ListedPrice extends Omit<PriceRow, 'effectiveFrom'> {
  source: PriceSource
  /** Null if the file states that it has always been in effect, undefined if the file has no date for it. */
  effectiveFrom: number | null | undefined
  /** The date of the row, if the file has one that differs from its own; a midnight in UTC. */
  asOf?: number | undefined
}

/** Why a row, or one of its prices, is refused. */
export interface Reason {
  /** Stable, for programs and counts. */
  code: ReasonCode
  message: string
}

export type ReasonCode =
  | 'bad_name'
  | 'unreadable'
  | 'listed_twice'
  | 'bad_date'
  | 'bad_tier'
  | 'bad_tool'
  | 'bad_variant'
  | 'unknown_field'
  | 'not_a_number'
  | 'negative'
  | 'too_fine'
  | 'no_input_price'
  | 'output_in_parts'
  | 'above_limit'
  | 'cache_write_out_of_line'
  | 'free'
  | 'changed_too_much'

export interface RefusedPrice {
  provider: string
  model: string
  reasons: Reason[]
}

/** A price with digits below a pico-dollar per token, which are noise from floating-point arithmetic. */
export interface RoundedPrice {
  provider: string
  model: string
  /** As in the file, in the file's unit. */
  text: string
  picos: Picos
}

export interface TableReading {
  rows: ListedPrice[]
  aliases: PriceAlias[]
  refused: RefusedPrice[]
  /** Skipped models, counted by the reason: a mode other than text generation. */
  skipped: Record<string, number>
  /** Prices of accepted models that Tally does not use, counted by the name of their column. */
  unused: Record<string, number>
  rounded: RoundedPrice[]
  /** The date of the table, if the file contains it; a midnight in UTC. */
  asOf?: number | undefined
  /** The newest date of a model, if the file has any: the table is at least as recent. */
  newestModel?: number | undefined
}

/** Per token a price has twelve decimals of a dollar, per million tokens six: both are pico-dollars per token. */
export const PER_TOKEN_DIGITS = 12
export const PER_MILLION_DIGITS = 6

/** An unchecked JSON object of a file. */
export type Holder = Record<string, unknown>

export function isHolder(value: unknown): value is Holder {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** What the name of a column contains if it changes what a request costs. */
const CHANGES_MONEY = /cost|pric|multiplier|uplift|surcharge|discount|(?:^|_)(?:fee|rate)s?(?:_|$)/i

/** Lists and objects contain amounts; 0 and texts are none. */
function isAmount(value: unknown): boolean {
  return typeof value === 'string' ? Number(value) > 0 : typeof value !== 'boolean' && Boolean(value)
}

/** Published tables have about forty such columns. */
const UNUSED_LIMIT = 100
const COLUMN_NAME = /^[\w.-]{1,100}$/

/** The number of tokens in a name, with or without a unit: `64000`, `200k`, `1m`. Undefined for any other. */
export function tokensIn(text: string): number | undefined {
  const [, number, unit = ''] = /^(\d+(?:\.\d+)?)([km]?)$/i.exec(text) ?? []
  const exact = Number(number) * UNITS[unit.toLowerCase() as keyof typeof UNITS]
  const tokens = Math.round(exact)
  // 1.1 × 1,000,000 is not exact as a double.
  return Number.isSafeInteger(tokens) && Math.abs(tokens - exact) < 1e-6 ? tokens : undefined
}

const UNITS = { '': 1, k: 1_000, m: 1_000_000 }

/** Collects the results of a reader. */
export class TableNotes implements TableReading {
  rows: ListedPrice[] = []
  readonly aliases: PriceAlias[] = []
  readonly refused: RefusedPrice[] = []
  readonly skipped: Record<string, number> = {}
  readonly unused: Record<string, number> = {}
  readonly rounded: RoundedPrice[] = []
  asOf: number | undefined
  newestModel: number | undefined

  skip(reason: string): void {
    this.skipped[reason] = (this.skipped[reason] ?? 0) + 1
  }

  /**
   * Counts the prices of an accepted model that are not read, by the names of their columns. Within an object that only
   * has prices, `within`, all of its columns are prices.
   */
  leaveUnused(columns: Holder, isUsed: (name: string) => boolean = () => false, within = ''): void {
    for (const [name, value] of Object.entries(columns)) {
      if (isUsed(name) || !isAmount(value) || (within === '' && !CHANGES_MONEY.test(name))) continue
      const column = within === '' ? name : `${within}.${name}`
      const isListed = column in this.unused || Object.keys(this.unused).length < UNUSED_LIMIT
      const counted = isListed && COLUMN_NAME.test(column) ? column : 'other columns'
      this.unused[counted] = (this.unused[counted] ?? 0) + 1
    }
  }

  /**
   * Of rows with the same name and dates, equal ones are one. Nobody knows which of different ones is right, so that
   * none of them is kept.
   */
  settleDuplicates(): void {
    const duplicates = [...Map.groupBy(this.rows, rowKey).values()].filter(({ length }) => length > 1)
    if (duplicates.length === 0) return
    const dropped = new Set<ListedPrice>()
    for (const [first, ...others] of duplicates) {
      const isOne = others.every((other) => isSamePrice(first!, other))
      for (const row of isOne ? others : [first!, ...others]) dropped.add(row)
      if (isOne) for (const _other of others) this.skip('listed twice')
      else this.refused.push({ provider: first!.provider, model: first!.model, reasons: [LISTED_TWICE] })
    }
    this.rows = this.rows.filter((row) => !dropped.has(row))
  }

  /** The date of a model, `2026-11-20`; other texts are ignored. */
  noteDate(written: unknown): void {
    const at = typeof written === 'string' ? parseMoment(written, 'UTC') : undefined
    if (at !== undefined) this.newestModel = Math.max(at, this.newestModel ?? at)
  }

  /** Throws RangeError if there are too many models. */
  model(provider: unknown, model: unknown): ModelNotes {
    if (this.rows.length + this.refused.length >= MODELS_LIMIT) throw tooManyModels()
    return new ModelNotes(this, provider, model)
  }
}

const LISTED_TWICE: Reason = {
  code: 'listed_twice',
  message: 'is listed more than once, with different prices; keep the right one',
}

function rowKey({ source, provider, model, effectiveFrom, effectiveUntil }: ListedPrice): string {
  return JSON.stringify([source, provider, model, effectiveFrom ?? String(effectiveFrom), effectiveUntil])
}

/** A name that reports may contain: without control characters, and within their length limit. */
const NAME = /^[^\p{Cc}]{1,200}$/u

/** When a listed price applies, and of which date it is; see {@link ListedPrice}. */
export interface ListedDates {
  effectiveFrom?: number | null | undefined
  effectiveUntil?: number | undefined
  asOf?: number | undefined
}

type Prices = Omit<ListedPrice, 'provider' | 'model' | 'source' | keyof ListedDates>

/** A model being read from a file: its issues are collected, and it is accepted only if there are none. */
export class ModelNotes {
  readonly provider: string
  readonly model: string
  readonly #reasons: Reason[] = []
  readonly #rounded: RoundedPrice[] = []

  constructor(
    readonly table: TableNotes,
    provider: unknown,
    model: unknown,
  ) {
    this.provider = String(provider ?? '')
    this.model = String(model ?? '')
    if (typeof model !== 'string' || !NAME.test(model)) {
      this.refuse('bad_name', 'the model name must be a string of 1 to 200 characters without control characters')
    }
    if (typeof provider !== 'string' || (provider !== '' && !NAME.test(provider))) {
      this.refuse('bad_name', 'the provider must be a string of at most 200 characters without control characters')
    }
  }

  refuse(code: ReasonCode, message: string): void {
    // A tier often repeats an issue of the base price.
    if (!this.#reasons.some((reason) => reason.message === message)) this.#reasons.push({ code, message })
  }

  /** Records a model that cannot be read at all. */
  reject(problem: string): void {
    const { provider, model } = this
    this.refuse('unreadable', problem)
    this.table.refused.push({ provider, model, reasons: this.#reasons })
  }

  /** The price under a key of a JSON object, in pico-dollars per token; null if absent. */
  priceAt(holder: Holder, key: string, digits: number): Picos | null {
    const value = holder[key]
    if (value === undefined || value === null) return null
    if (typeof value === 'number') return this.price(numberText(holder as Record<string, number>, key), key, digits)
    this.refuse('not_a_number', `${key} is not a number`)
    return null
  }

  /** Parses a decimal price. An invalid price is an issue of the row. */
  price(text: string, label: string, digits: number): Picos | null {
    const picos = parseDecimal(text, digits)
    if (picos === undefined) {
      this.refuse('not_a_number', `${label} is '${text.slice(0, 40)}', which is not a number`)
      return null
    }
    if (picos < 0n || text.trim().startsWith('-')) {
      this.refuse('negative', `${label} is negative`)
      return null
    }
    const finer = parseDecimal(text, digits + FINER_DIGITS)!
    const off = finer - picos * 10n ** BigInt(FINER_DIGITS)
    if (off === 0n) return picos
    if ((off < 0n ? -off : off) * NOISE_SHARE > finer) {
      this.refuse('too_fine', `${label} is more precise than one pico-dollar per token, Tally’s smallest price unit`)
      return null
    }
    this.#rounded.push({ provider: this.provider, model: this.model, text, picos })
    return picos
  }

  /** Adds the model, or records why it was refused. Returns false if it was refused. */
  take(prices: Prices, source: PriceSource, { effectiveFrom, effectiveUntil, asOf }: ListedDates = {}): boolean {
    if (prices.input === null && this.#reasons.length === 0) {
      this.refuse('no_input_price', 'has no input price (a missing price means unknown, not free)')
    }
    const { provider, model } = this
    if (this.#reasons.length > 0) {
      this.table.refused.push({ provider, model, reasons: this.#reasons })
      return false
    }
    this.table.rounded.push(...this.#rounded)
    const { extras, ...others } = source === 'tally' ? prices : withCachePrices(prices)
    const optional = {
      ...(extras && { extras }),
      ...(effectiveUntil !== undefined && { effectiveUntil }),
      ...(asOf !== undefined && { asOf }),
    }
    this.table.rows.push({ provider, model, ...others, ...optional, source, effectiveFrom })
    return true
  }
}

/** Twelve more decimals than a price may have: as many as a double can produce for any price. */
const FINER_DIGITS = 12

/**
 * Rounding noise is negligible: if rounding would change a price by more than a thousandth, the price is really that
 * precise.
 */
const NOISE_SHARE = 1_000n

/** The five prices of a JSON object with Tally's own field names. */
export function pricesWithOurNames(notes: ModelNotes, holder: Holder): Record<CountKind, Picos | null> {
  return Object.fromEntries(
    COUNT_KINDS.map((kind) => [kind, notes.priceAt(holder, PRICE_FIELDS[kind], PER_MILLION_DIGITS)]),
  ) as Record<CountKind, Picos | null>
}

/** In this order: an hour in the cache costs a multiple of five minutes. */
const CACHE_KINDS = ['cacheRead', 'cacheWrite', 'cacheWrite1h'] as const

/**
 * Published tables leave out of a tier what they don't know, not what costs the same as in shorter requests. Where a tier
 * has a price of input but none of the cache, the latter therefore keeps its proportion to it, as vendors charge it, and
 * one-hour writes theirs to those of five minutes.
 */
function withCachePrices(row: Prices): Prices {
  const { extras } = row
  const completed = <Priced extends Adjustment>(each: Priced) => ({
    ...each,
    tiers: completeTiers(each.prices, each.tiers),
  })
  return {
    ...row,
    tiers: completeTiers(row, row.tiers),
    ...(extras && {
      extras: { ...extras, variants: extras.variants.map(completed), hours: extras.hours.map(completed) },
    }),
  }
}

type ListedPrices = Partial<Record<TokenKind, Picos | null>>

/** Tiers with the prices of the cache that they leave out. */
export function completeTiers(base: ListedPrices, tiers: PriceTier[]): PriceTier[] {
  let below = base
  return tiers.map(({ fromTokens, prices: listed }) => {
    const prices = { ...listed }
    for (const kind of CACHE_KINDS) {
      const basis = kind === 'cacheWrite1h' && prices.cacheWrite !== undefined ? 'cacheWrite' : 'input'
      const [price, from, to] = [below[kind], below[basis], prices[basis]]
      if (listed[kind] === undefined && price && from && to) prices[kind] = divideHalfEven(price * to, from)
    }
    below = { ...below, ...prices }
    return { fromTokens, prices }
  })
}

/** Long-context prices, grouped by their threshold. */
export class TierNotes {
  readonly #tiers = new Map<number, PriceTier>()

  add(fromTokens: number, kind: TokenKind, picos: Picos | null): void {
    if (picos === null) return
    const tier = this.#tiers.get(fromTokens) ?? { fromTokens, prices: {} }
    tier.prices[kind] = picos
    this.#tiers.set(fromTokens, tier)
  }

  addAll(fromTokens: number, prices: Partial<Record<TokenKind, Picos | null>>): void {
    for (const kind of TOKEN_KINDS) this.add(fromTokens, kind, prices[kind] ?? null)
  }

  ascending(): PriceTier[] {
    return [...this.#tiers.values()].sort((one, other) => one.fromTokens - other.fromTokens)
  }
}
