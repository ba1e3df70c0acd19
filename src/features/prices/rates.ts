/**
 * The list value of a usage at a price row (docs/design/pricing.md, "Units", "A price row", "Tiers", "Other charges").
 * Pure, and exact: prices are integers of pico-dollars, products are summed as integers, and the sum is rounded once,
 * half to even, to nano-dollars.
 */
import { divideHalfEven, type Nanos, type Picos } from '../../lib/money.ts'
import { PRICE_NOTES, type PriceNote } from '../../shared/price-texts.ts'
import {
  COUNT_KINDS,
  type CountKind,
  type Counts,
  MEDIA_KINDS,
  type MediaKind,
  requestsFrom,
  SERVICE_KINDS,
  type ServiceKind,
  type Usage,
  ZERO_COUNTS,
} from '../../shared/usage.ts'

export { COUNT_KINDS, type CountKind, type Counts, PRICE_FIELDS, type Usage } from '../../shared/usage.ts'

/** Null is unknown, 0 is free. */
export type TokenPrices = Record<CountKind, Picos | null>

/** A count with a price of its own. */
export type TokenKind = CountKind | MediaKind

/** Prices of a request with `fromTokens` or more input-side tokens; an absent kind has the price of the level below. */
export interface PriceTier {
  fromTokens: number
  prices: Partial<Record<TokenKind, Picos>>
}

/** Other prices under some condition: a multiplier of all prices of tokens, or prices that replace those of the row. */
export interface Adjustment {
  /** In millionths: 1,100,000 is 1.1 times the price. Null if the prices are listed. */
  multiplier: bigint | null
  prices: Partial<Record<TokenKind, Picos>>
  /** As in a row. */
  tiers: PriceTier[]
}

/** The prices of a service tier, a speed or a region. */
export interface PriceVariant extends Adjustment {
  kind: ServiceKind
  /** As in reports, such as `batch`, `fast` or `us`. */
  name: string
}

/** The prices of some hours, in minutes after midnight UTC. They may span midnight. */
export interface PriceHours extends Adjustment {
  from: number
  to: number
  /** The days of the week in UTC on which they begin, from 1 for Monday to 7; null for every day. */
  days: number[] | null
}

/** What a vendor charges besides the five prices. */
export interface ExtraPrices {
  media: Partial<Record<MediaKind, Picos>>
  /** Pico-dollars per use, by the name of the tool. */
  tools: Record<string, Picos>
  variants: PriceVariant[]
  hours: PriceHours[]
}

/** The charges in an order of their own, so that equal ones have equal text; null if there are none. */
export function extraPrices({ media = {}, tools = {}, variants = [], hours = [] }: Partial<ExtraPrices>) {
  const extras: ExtraPrices = {
    media,
    tools: Object.fromEntries(Object.entries(tools).sort(([one], [other]) => (one < other ? -1 : 1))),
    variants: variants.toSorted(
      (one, other) =>
        SERVICE_KINDS.indexOf(one.kind) - SERVICE_KINDS.indexOf(other.kind) || (one.name < other.name ? -1 : 1),
    ),
    hours: hours.toSorted((one, other) => one.from - other.from),
  }
  return Object.values(extras).some((each) => Object.keys(each).length > 0) ? extras : null
}

/** A price in tables and in the database. */
export interface PriceRow extends TokenPrices {
  provider: string
  model: string
  /** Ascending by `fromTokens`. */
  tiers: PriceTier[]
  /** Absent if the row has only the prices above. */
  extras?: ExtraPrices | null
  /** The start of its effect, in milliseconds since 1970; null if it has always been in effect. */
  effectiveFrom: number | null
  /** The end of its effect, exclusive; null or absent if it has none. */
  effectiveUntil?: number | null
}

/**
 * 1,000 dollars per million tokens. The most expensive known model charges 600 for text; higher prices are mistakes of
 * units, unless an admin confirms them.
 */
export const PRICE_LIMIT_PICOS: Picos = 1_000_000_000n

/**
 * Keeps every value within 64 bits, even with `force`: five counts of 10^12 tokens at this price are 9 × 10^18
 * nano-dollars.
 */
export const PRICE_CEILING_PICOS: Picos = 1_800_000_000n

/** 1,000 dollars per use: the most expensive known tool charges a few cents. */
export const TOOL_PRICE_LIMIT_PICOS: Picos = 1_000_000_000_000_000n

/** Vendors charge at most six times the price; a thousand is a mistake. */
export const MULTIPLIER_DIGITS = 6
export const MULTIPLIER_LIMIT = 100_000_000n

const NOTE_ORDER = Object.keys(PRICE_NOTES) as PriceNote[]

const UNPRICED_SERVICE = {
  serviceTier: 'service_tier_unpriced',
  speed: 'speed_unpriced',
  region: 'region_unpriced',
} as const satisfies Record<ServiceKind, PriceNote>

const UNPRICED_MEDIA = {
  inputAudio: 'audio_unpriced',
  inputImage: 'image_unpriced',
  outputAudio: 'audio_unpriced',
  outputImage: 'image_unpriced',
} as const satisfies Record<MediaKind, PriceNote>

/** The prices from a certain length on, as listed. */
interface ListedLevel {
  /** Null for the base price. */
  fromTokens: number | null
  prices: Partial<Record<TokenKind, Picos | null>>
  /** Set for a price that is not that of the requested service. */
  notes: Partial<Record<TokenKind, PriceNote>>
}

/** With substitutes for absent prices, and a note for each. */
interface Level extends ListedLevel {
  prices: Record<TokenKind, Picos | null>
}

/** A price row prepared for valuation. */
export interface Rates {
  /** The base price, then the tiers in ascending order. */
  levels: Level[]
  listed: ListedLevel[]
  extras: ExtraPrices | null
}

/** A usage with its time, for prices that differ between hours of the day. */
export interface TimedUsage extends Usage {
  startedAt: number
  endedAt: number
}

/** One product of the calculation. */
export interface ValuedPart {
  kind: TokenKind
  /** The threshold of the long-context price; null for the base price. */
  fromTokens: number | null
  tokens: number
  pricePicos: Picos
  amountPicos: Picos
}

export interface ValuedTool {
  name: string
  uses: number
  pricePicos: Picos
  amountPicos: Picos
}

/** A multiplier of the amounts of all tokens, and why it applies. */
export interface AppliedMultiplier {
  kind: ServiceKind | 'hours'
  name: string
  /** In millionths. */
  multiplier: bigint
}

/** The list value is the sum of the parts, times the multipliers, plus the sum of the tools, rounded once. */
export interface CountsValue {
  listValueNanos: Nanos
  /** Null, or some of `PRICE_NOTES` in their order, separated by commas. */
  note: string | null
  parts: ValuedPart[]
  tools: ValuedTool[]
  multipliers: AppliedMultiplier[]
}

export function ratesOf(row: Pick<PriceRow, CountKind | 'tiers' | 'extras'>): Rates {
  const listed = listedLevels(row)
  return { levels: listed.map(levelOf), listed, extras: row.extras ?? null }
}

function listedLevels({ tiers, extras, ...row }: Pick<PriceRow, CountKind | 'tiers' | 'extras'>): ListedLevel[] {
  let prices: ListedLevel['prices'] = { ...pricesOf(row), ...extras?.media }
  const levels: ListedLevel[] = [{ fromTokens: null, prices, notes: {} }]
  for (const tier of tiers) {
    prices = { ...prices, ...tier.prices }
    levels.push({ fromTokens: tier.fromTokens, prices, notes: {} })
  }
  return levels
}

function pricesOf({ input, output, cacheRead, cacheWrite, cacheWrite1h }: TokenPrices): TokenPrices {
  return { input, output, cacheRead, cacheWrite, cacheWrite1h }
}

/**
 * A missing one-hour write price is replaced with the five-minute price; a missing cache price with the input price, and
 * a missing price of audio or images with that of text, which is noted.
 */
function levelOf({ fromTokens, prices, notes }: ListedLevel): Level {
  const level: Level = { fromTokens, prices: { ...UNKNOWN, ...prices }, notes: { ...notes } }
  const substitute = (kind: TokenKind, other: TokenKind, note?: PriceNote) => {
    if (level.prices[kind] !== null) return
    level.prices[kind] = level.prices[other]
    const noted = note ?? level.notes[other]
    if (noted) level.notes[kind] = noted
  }
  substitute('cacheRead', 'input', 'cache_price_assumed')
  substitute('cacheWrite', 'input', 'cache_price_assumed')
  substitute('cacheWrite1h', 'cacheWrite')
  for (const kind of MEDIA_KINDS) substitute(kind, SIDE_OF[kind], UNPRICED_MEDIA[kind])
  return level
}

const UNKNOWN: Level['prices'] = {
  input: null,
  output: null,
  cacheRead: null,
  cacheWrite: null,
  cacheWrite1h: null,
  inputAudio: null,
  inputImage: null,
  outputAudio: null,
  outputImage: null,
}

/** The count that includes a share. */
const SIDE_OF = {
  inputAudio: 'input',
  inputImage: 'input',
  outputAudio: 'output',
  outputImage: 'output',
} as const satisfies Record<MediaKind, CountKind>

/**
 * The value of a usage at a row's rates; shares never exceed `counts`. Undefined if the row has no price for some of the
 * tokens, or if the value would exceed 64 bits.
 */
export function valueCounts(rates: Rates, usage: TimedUsage): CountsValue | undefined {
  const valuation = new Valuation()
  const levels = valuation.levelsFor(rates, usage)
  const isPriced = valuation.addTokens(levels, usage)
  if (!isPriced) return undefined
  if (usage.details?.tools) valuation.addTools(usage.details.tools, rates.extras?.tools)
  return valuation.value()
}

/** An amount of `SURCHARGE_DIGITS` decimals: pico-dollars with every multiplier, unrounded, so that sums are exact. */
export type Surcharge = bigint

/** Multipliers of millionths, of which hours and each choice of service add one at most. */
const MULTIPLIERS_LIMIT = SERVICE_KINDS.length + 1
export const SURCHARGE_DIGITS = 12 + MULTIPLIERS_LIMIT * MULTIPLIER_DIGITS

/**
 * What the prices of long requests add to the list value: the tokens of tiers at the prices of these, minus the same at
 * the base prices of the same service and hours. Negative if long requests are cheaper; undefined if some tokens have no
 * base price, or the usage has no value.
 */
export function longContextSurcharge(rates: Rates, usage: TimedUsage): Surcharge | undefined {
  if (!hasBasePrices(rates, usage)) return undefined
  const valuation = new Valuation()
  const levels = valuation.levelsFor(rates, usage)
  const value = valuation.addTokens(levels, usage) ? valuation.value() : undefined
  if (!value) return undefined
  const base = levels[0]!.prices
  let picos = 0n
  for (const { kind, fromTokens, tokens, pricePicos } of value.parts) {
    if (fromTokens === null) continue
    const basePicos = base[kind]
    if (basePicos === null) return undefined
    picos += BigInt(tokens) * (pricePicos - basePicos)
  }
  const multiplied = value.multipliers.reduce((product, { multiplier }) => product * multiplier, picos)
  return multiplied * MILLION ** BigInt(MULTIPLIERS_LIMIT - value.multipliers.length)
}

/** Whether the row itself, without other services and hours, has a base price for each kind of tokens of the usage. */
const hasBasePrices = ({ levels }: Rates, { counts }: Usage): boolean =>
  COUNT_KINDS.every((kind) => counts[kind] === 0 || levels[0]!.prices[kind] !== null)

const PICOS_PER_NANO = 1_000n
const MILLION = 1_000_000n
/** The largest amount that a database can store. */
const VALUE_LIMIT_NANOS: Nanos = 2n ** 63n - 1n

/** Tokens at one level of prices. */
interface Share {
  level: Level
  counts: Partial<Record<TokenKind, number>>
}

class Valuation {
  readonly #parts: ValuedPart[] = []
  readonly #tools: ValuedTool[] = []
  readonly #multipliers: AppliedMultiplier[] = []
  #tokenPicos = 0n
  #toolPicos = 0n
  #notes: Set<PriceNote> | undefined

  /** The prices of the usage's service and hours. What has no price is noted. */
  levelsFor({ levels, listed, extras }: Rates, { details, startedAt, endedAt }: TimedUsage): Level[] {
    if (!details && !extras) return levels
    let replaced: ListedLevel[] | undefined
    const apply = (adjustment: Adjustment, name: string, kind: AppliedMultiplier['kind'], note: PriceNote) => {
      if (adjustment.multiplier !== null) {
        this.#multipliers.push({ kind, name, multiplier: adjustment.multiplier })
      } else if (replaced) {
        // Nobody has listed the prices of both together.
        this.#note(note)
      } else replaced = replacePrices(listed, adjustment, note)
    }
    const hours = extras && hoursAt(extras.hours, startedAt, endedAt)
    if (hours === 'uncertain') this.#note('hours_uncertain')
    else if (hours) apply(hours, hoursText(hours), 'hours', 'hours_uncertain')
    for (const kind of SERVICE_KINDS) {
      const name = details?.[kind] ?? null
      if (name === null) continue
      const variant = extras?.variants.find((one) => one.kind === kind && one.name === name)
      if (variant) apply(variant, name, kind, UNPRICED_SERVICE[kind])
      else this.#note(UNPRICED_SERVICE[kind])
    }
    return replaced ? replaced.map(levelOf) : levels
  }

  /** Returns false if the price of some tokens is unknown. */
  addTokens(levels: Level[], usage: Usage): boolean {
    const shares = this.#sharesOf(levels, usage)
    const media = usage.details?.media
    if (media) for (const kind of MEDIA_KINDS) this.#takeOut(kind, media[kind] ?? 0, shares)
    const kinds = media ? VALUED_KINDS : COUNT_KINDS
    for (const share of shares) {
      for (const kind of kinds) if (!this.#add(kind, share)) return false
    }
    return true
  }

  addTools(uses: Record<string, number>, prices: Record<string, Picos> | undefined): void {
    for (const [name, count] of Object.entries(uses)) {
      if (count === 0) continue
      if (!prices || !Object.hasOwn(prices, name)) {
        this.#note('tool_unpriced')
        continue
      }
      const pricePicos = prices[name]!
      const amountPicos = BigInt(count) * pricePicos
      this.#toolPicos += amountPicos
      this.#tools.push({ name, uses: count, pricePicos, amountPicos })
    }
  }

  value(): CountsValue | undefined {
    let [sum, scale] = [this.#tokenPicos, 1n]
    for (const { multiplier } of this.#multipliers) {
      sum *= multiplier
      scale *= MILLION
    }
    const listValueNanos = divideHalfEven(sum + this.#toolPicos * scale, PICOS_PER_NANO * scale)
    if (listValueNanos > VALUE_LIMIT_NANOS) return undefined
    const notes = this.#notes
    return {
      listValueNanos,
      note: notes ? NOTE_ORDER.filter((note) => notes.has(note)).join(',') : null,
      parts: this.#parts,
      tools: this.#tools,
      multipliers: this.#multipliers,
    }
  }

  /** Long-context prices apply per request, but an entry sums a session; so the known data of single requests decides. */
  #sharesOf(levels: Level[], usage: Usage): Share[] {
    const base = levels[0]!
    if (levels.length === 1) return [{ level: base, counts: usage.counts }]
    const shares: Share[] = []
    let reached = usage.counts
    let level = base
    for (let position = 1; position < levels.length; position += 1) {
      const tier = levels[position]!
      const longer = requestsFrom(usage, tier.fromTokens!)
      if (!longer.isExact) this.#note('tier_uncertain')
      // Most requests are short, and none that is shorter than one tier reaches the next.
      else if (longer.counts === ZERO_COUNTS) break
      shares.push({ level, counts: difference(reached, longer.counts) })
      reached = longer.counts
      level = tier
    }
    shares.push({ level, counts: reached })
    return shares
  }

  /**
   * Separates a share from its count. If the count is spread over several levels, the share is taken from the longest
   * requests, which results in the lower bound.
   */
  #takeOut(kind: MediaKind, tokens: number, shares: Share[]): void {
    if (tokens === 0) return
    const side = SIDE_OF[kind]
    if (shares.filter(({ counts }) => counts[side]).length > 1) this.#note('tier_uncertain')
    let left = tokens
    for (const share of shares.toReversed()) {
      const taken = Math.min(left, share.counts[side] ?? 0)
      share.counts = { ...share.counts, [kind]: taken, [side]: share.counts[side]! - taken }
      left -= taken
    }
  }

  /** Adds the amount of some tokens. Returns false if there are any and their price is unknown. */
  #add(kind: TokenKind, { level, counts }: Share): boolean {
    const tokens = counts[kind] ?? 0
    if (tokens === 0) return true
    const pricePicos = level.prices[kind]
    if (pricePicos === null) return false
    const amountPicos = BigInt(tokens) * pricePicos
    this.#tokenPicos += amountPicos
    const note = level.notes[kind]
    if (note) this.#note(note)
    this.#parts.push({ kind, fromTokens: level.fromTokens, tokens, pricePicos, amountPicos })
    return true
  }

  #note(note: PriceNote): void {
    this.#notes ??= new Set()
    this.#notes.add(note)
  }
}

const VALUED_KINDS: readonly TokenKind[] = [...COUNT_KINDS, ...MEDIA_KINDS]

function difference(counts: Counts, less: Counts): Counts {
  return {
    input: counts.input - less.input,
    output: counts.output - less.output,
    cacheRead: counts.cacheRead - less.cacheRead,
    cacheWrite: counts.cacheWrite - less.cacheWrite,
    cacheWrite1h: counts.cacheWrite1h - less.cacheWrite1h,
  }
}

/**
 * The levels of a row with the listed prices of an adjustment. Where the adjustment has no price, although the row has
 * one, or although the row's price changes with the length, the row's price holds, and is noted.
 */
function replacePrices(row: ListedLevel[], { prices, tiers }: Adjustment, note: PriceNote): ListedLevel[] {
  const lengths = new Set([...row.map(({ fromTokens }) => fromTokens ?? 0), ...tiers.map((tier) => tier.fromTokens)])
  const own: Partial<Record<TokenKind, Picos>> = {}
  let before: ListedLevel | undefined
  return [...lengths]
    .sort((one, other) => one - other)
    .map((length) => {
      const standard = row.findLast((level) => (level.fromTokens ?? 0) <= length)!
      const given = length === 0 ? prices : tiers.find((tier) => tier.fromTokens === length)?.prices
      const notes: ListedLevel['notes'] = {}
      for (const kind of VALUED_KINDS) {
        if (given?.[kind] !== undefined) own[kind] = given[kind]
        else if (before && before.prices[kind] !== standard.prices[kind]) delete own[kind]
        if (own[kind] === undefined && standard.prices[kind] != null) notes[kind] = note
      }
      before = standard
      return { fromTokens: length === 0 ? null : length, prices: { ...standard.prices, ...own }, notes }
    })
}

const DAY_MINUTES = 1_440
const MINUTE_MS = 60_000

/** The hours that include a whole session; `uncertain` if some hours include only a part of it. */
function hoursAt(hours: PriceHours[], startedAt: number, endedAt: number): PriceHours | 'uncertain' | undefined {
  const duration = (endedAt - startedAt) / MINUTE_MS
  let isTouched = false
  for (const one of hours) {
    const length = (one.to - one.from + DAY_MINUTES) % DAY_MINUTES || DAY_MINUTES
    const start = startedAt / MINUTE_MS - one.from
    const offset = start - Math.floor(start / DAY_MINUTES) * DAY_MINUTES
    const begin = startedAt / MINUTE_MS - offset
    const isIn = offset < length && isOn(one, begin)
    if (isIn && offset + duration <= length) return one
    isTouched ||= isIn || (offset + duration > DAY_MINUTES && isOn(one, begin + DAY_MINUTES))
  }
  return isTouched ? 'uncertain' : undefined
}

/** Whether hours that begin at this minute since 1970, a Thursday, are on their days. */
function isOn({ days }: PriceHours, begin: number): boolean {
  return days === null || days.includes(((Math.floor(begin / DAY_MINUTES) + 3) % 7) + 1)
}

/** `16:30-00:30`, in UTC. */
function hoursText({ from, to }: Pick<PriceHours, 'from' | 'to'>): string {
  return `${clockText(from)}-${clockText(to)}`
}

export function clockText(minutes: number): string {
  return `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`
}

/** Minutes after midnight of a time such as `16:30`; undefined if it is none. */
export function minutesOf(clock: unknown): number | undefined {
  const [, hours, minutes] = (typeof clock === 'string' && /^([01]\d|2[0-3]):([0-5]\d)$/.exec(clock)) || []
  return hours === undefined ? undefined : Number(hours) * 60 + Number(minutes)
}
