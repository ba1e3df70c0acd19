/** What a vendor charges besides the five prices, in Tally's own format: US dollars per million tokens or per use. */
import { PICO_DIGITS, type Picos } from '../../../lib/money.ts'
import {
  MEDIA_FIELDS,
  MEDIA_KINDS,
  SERVICE_FIELDS,
  SERVICE_KINDS,
  SERVICE_NAME,
  TOOL_NAME,
} from '../../../shared/usage.ts'
import {
  type Adjustment,
  type ExtraPrices,
  extraPrices,
  MULTIPLIER_DIGITS,
  MULTIPLIER_LIMIT,
  minutesOf,
  type PriceHours,
  type PriceTier,
  type PriceVariant,
  TOOL_PRICE_LIMIT_PICOS,
} from '../rates.ts'
import { TOKEN_FIELDS, TOKEN_KINDS } from '../records.ts'
import { type Holder, isHolder, type ModelNotes, PER_MILLION_DIGITS, TierNotes } from './reader.ts'

/** The fields of a row, in the order of an export. */
export const EXTRA_FIELDS = [...Object.values(MEDIA_FIELDS), 'tools', 'variants', 'hours'] as const

/** More than any vendor lists. */
const LIMITS = { tools: 32, variants: 32, hours: 24 }

/** Null if the row has only the five prices and tiers. */
export function readExtras(notes: ModelNotes, row: Holder): ExtraPrices | null {
  const media = mediaWithOurNames(notes, row)
  const tools = readTools(notes, row.tools)
  const variants = readList(notes, row, 'variants').flatMap((listed) => readVariant(notes, listed) ?? [])
  const hours = readList(notes, row, 'hours').flatMap((listed) => readHours(notes, listed) ?? [])
  refuseTwice(notes, variants)
  refuseOverlap(notes, hours)
  return extraPrices({ media, tools, variants, hours })
}

/** The prices of audio and images of a JSON object with Tally's own field names. */
export function mediaWithOurNames(notes: ModelNotes, holder: Holder): ExtraPrices['media'] {
  const media: ExtraPrices['media'] = {}
  for (const kind of MEDIA_KINDS) {
    const price = notes.priceAt(holder, MEDIA_FIELDS[kind], PER_MILLION_DIGITS)
    if (price !== null) media[kind] = price
  }
  return media
}

/** `[{from_tokens, input, …}]` */
export function readTiers(notes: ModelNotes, listed: unknown): PriceTier[] {
  const tiers = new TierNotes()
  if (listed !== undefined && listed !== null && !Array.isArray(listed)) notes.refuse('bad_tier', 'tiers is not a list')
  for (const tier of Array.isArray(listed) ? listed : []) {
    const from = isHolder(tier) ? tier.from_tokens : undefined
    if (!isHolder(tier) || typeof from !== 'number' || !Number.isSafeInteger(from) || from < 1) {
      notes.refuse('bad_tier', 'has a tier without from_tokens, the number of tokens from which it applies')
    } else {
      refuseUnknown(notes, tier, ['from_tokens'])
      tiers.addAll(from, readPrices(notes, tier))
    }
  }
  return tiers.ascending()
}

/** A misspelled price would be lost silently. */
function refuseUnknown(notes: ModelNotes, holder: Holder, others: readonly string[]): void {
  const known: string[] = [...others, ...Object.values(TOKEN_FIELDS)]
  for (const name of Object.keys(holder)) {
    if (!known.includes(name)) notes.refuse('unknown_field', `unknown field '${name}' in tiers, variants or hours`)
  }
}

function readPrices(notes: ModelNotes, holder: Holder): Adjustment['prices'] {
  const prices: Adjustment['prices'] = {}
  for (const kind of TOKEN_KINDS) {
    const price = notes.priceAt(holder, TOKEN_FIELDS[kind], PER_MILLION_DIGITS)
    if (price !== null) prices[kind] = price
  }
  return prices
}

function readTools(notes: ModelNotes, listed: unknown): Record<string, Picos> {
  if (listed === undefined || listed === null) return {}
  const names = isHolder(listed) ? Object.keys(listed) : []
  if (!isHolder(listed) || names.length > LIMITS.tools || !names.every((name) => new RegExp(TOOL_NAME).test(name))) {
    notes.refuse('bad_tool', `tools must be an object of at most ${LIMITS.tools} names and prices per use`)
    return {}
  }
  const tools: [string, Picos][] = []
  for (const name of names) {
    const price = notes.priceAt(listed, name, PICO_DIGITS)
    if (price !== null && price <= TOOL_PRICE_LIMIT_PICOS) tools.push([name, price])
    else notes.refuse('bad_tool', `the price of the tool ${name} must be US dollars per use, at most 1,000`)
  }
  return Object.fromEntries(tools)
}

function readList(notes: ModelNotes, row: Holder, field: 'variants' | 'hours'): Holder[] {
  const listed = row[field]
  if (listed === undefined || listed === null) return []
  if (Array.isArray(listed) && listed.length <= LIMITS[field] && listed.every(isHolder)) return listed
  notes.refuse('bad_variant', `${field} must be a list of at most ${LIMITS[field]} objects`)
  return []
}

function readVariant(notes: ModelNotes, listed: Holder): PriceVariant | undefined {
  const named = SERVICE_KINDS.filter((kind) => listed[SERVICE_FIELDS[kind]] !== undefined)
  const [kind] = named
  const name = kind && listed[SERVICE_FIELDS[kind]]
  if (named.length !== 1 || typeof name !== 'string' || !new RegExp(SERVICE_NAME).test(name)) {
    notes.refuse('bad_variant', 'has a variant without exactly one of service_tier, speed and region, a short name')
    return undefined
  }
  refuseUnknown(notes, listed, [...Object.values(SERVICE_FIELDS), ...ADJUSTMENT_FIELDS])
  const adjustment = readAdjustment(notes, listed, `the variant ${name}`)
  return adjustment && { kind: kind!, name: name.toLowerCase(), ...adjustment }
}

function readHours(notes: ModelNotes, listed: Holder): PriceHours | undefined {
  const [from, to] = [minutesOf(listed.from), minutesOf(listed.to)]
  if (from === undefined || to === undefined || from === to) {
    notes.refuse('bad_variant', 'has hours without different times from and to, in UTC, such as 16:30')
    return undefined
  }
  const days = listed.days === undefined ? null : daysOf(listed.days)
  if (days === undefined) notes.refuse('bad_variant', 'has hours with days other than 1 (Monday) to 7 (Sunday)')
  refuseUnknown(notes, listed, ['from', 'to', 'days', ...ADJUSTMENT_FIELDS])
  const adjustment = readAdjustment(notes, listed, `the hours from ${listed.from}`)
  return adjustment && { from, to, days: days ?? null, ...adjustment }
}

function daysOf(listed: unknown): number[] | undefined {
  if (!Array.isArray(listed) || listed.length === 0) return undefined
  const days = [...new Set(listed as unknown[])]
  return days.every((day) => WEEK.includes(day)) ? (days as number[]).sort() : undefined
}

const WEEK: unknown[] = [1, 2, 3, 4, 5, 6, 7]

const ADJUSTMENT_FIELDS = ['multiplier', 'tiers']

function readAdjustment(notes: ModelNotes, listed: Holder, what: string): Adjustment | undefined {
  const prices = readPrices(notes, listed)
  const tiers = readTiers(notes, listed.tiers)
  const isListed = Object.keys(prices).length + tiers.length > 0
  if (isListed === (listed.multiplier !== undefined)) {
    notes.refuse('bad_variant', `${what} must have either a multiplier or prices`)
    return undefined
  }
  return { multiplier: isListed ? null : readMultiplier(notes, listed, what), prices, tiers }
}

function readMultiplier(notes: ModelNotes, listed: Holder, what: string): bigint {
  const multiplier = notes.priceAt(listed, 'multiplier', MULTIPLIER_DIGITS)
  if (multiplier !== null && multiplier > 0n && multiplier <= MULTIPLIER_LIMIT) return multiplier
  notes.refuse('bad_variant', `the multiplier of ${what} must be above 0 and at most ${MULTIPLIER_LIMIT / 1_000_000n}`)
  return 1n
}

function refuseTwice(notes: ModelNotes, variants: PriceVariant[]): void {
  const names = new Set(variants.map(({ kind, name }) => `${kind} ${name}`))
  if (names.size < variants.length) notes.refuse('bad_variant', 'has the same variant twice')
}

function refuseOverlap(notes: ModelNotes, hours: PriceHours[]): void {
  const minutes = new Set<number>()
  for (const { from, to } of hours) {
    for (let minute = from; minute !== to; minute = (minute + 1) % 1_440) {
      if (minutes.has(minute)) {
        notes.refuse('bad_variant', 'has hours that overlap')
        return
      }
      minutes.add(minute)
    }
  }
}
