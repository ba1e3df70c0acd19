/**
 * Prices that no vendor charges: mistakes of units, and placeholders in published tables (docs/design/pricing.md, "Tables
 * that can be loaded"). Pure.
 */
import { formatDecimal, type Picos } from '../../lib/money.ts'
import { PER_MILLION_DIGITS, type Reason } from './formats/reader.ts'
import {
  type CountKind,
  PRICE_CEILING_PICOS,
  PRICE_FIELDS,
  PRICE_LIMIT_PICOS,
  type PriceRow,
  type PriceTier,
  type TokenKind,
} from './rates.ts'
import { TOKEN_FIELDS, TOKEN_KINDS } from './records.ts'

/** Checks that an admin overrides. */
export interface Overrides {
  /** Accepts prices that look like mistakes. */
  force?: boolean | undefined
  /** Accepts models that cost nothing; published tables use 0 for unknown prices as well. */
  allowFree?: boolean | undefined
}

/** Vendors charge 1.25 times the input price for writing to the cache, 2 times for an hour; none charges four times. */
const CACHE_WRITE_FACTOR = 4n

/** All reasons to refuse a row; empty if it can be accepted. */
export function reasonsAgainst(row: Omit<PriceRow, 'effectiveFrom'>, { force, allowFree }: Overrides): Reason[] {
  const levels = [...levelsOf({ prices: { ...row, ...row.extras?.media }, tiers: row.tiers }), ...adjustedLevels(row)]
  const doubts = levels.flatMap((level) => levelDoubts(level, force ?? false))
  if (row.input === 0n && row.output === 0n && !allowFree) {
    doubts.push({
      code: 'free',
      message: 'is free for both input and output; use --allow-free to accept free models',
    })
  }
  return doubts
}

type Level = Partial<Record<TokenKind, Picos | null>> & { fromTokens?: number; service?: string }

function levelsOf({ prices, tiers }: { prices: Level; tiers: PriceTier[] }, service = ''): Level[] {
  const tierLevels = tiers.map((tier, index) => {
    // An hour costs what it does below, unless the tier has a price for it.
    const lower = [prices, ...tiers.slice(0, index).map((one) => one.prices)]
    const cacheWrite1h = lower.findLast((level) => level.cacheWrite1h != null)?.cacheWrite1h ?? null
    return { cacheWrite1h, ...tier.prices, fromTokens: tier.fromTokens, service }
  })
  return [{ ...prices, service }, ...tierLevels]
}

function adjustedLevels({ extras }: Pick<PriceRow, 'extras'>): Level[] {
  if (!extras) return []
  return [
    ...extras.variants.flatMap((variant) => levelsOf(variant, ` of ${variant.name}`)),
    ...extras.hours.flatMap((hours) => levelsOf(hours, ` of some hours`)),
  ]
}

function levelDoubts(level: Level, force: boolean): Reason[] {
  const where = `${level.service ?? ''}${level.fromTokens === undefined ? '' : ` from ${level.fromTokens} tokens`}`
  const doubts: Reason[] = []
  for (const kind of TOKEN_KINDS) {
    const picos = level[kind] ?? 0n
    const why = limitDoubt(picos, force)
    if (why === undefined) continue
    const message = `${TOKEN_FIELDS[kind]}${where} is ${perMillion(picos)} per million tokens, ${why}`
    doubts.push({ code: 'above_limit', message })
  }
  return force ? doubts : [...doubts, ...cacheWriteDoubts(level, where)]
}

function cacheWriteDoubts({ input, cacheWrite, cacheWrite1h }: Level, where: string): Reason[] {
  const doubts: Reason[] = []
  const doubt = (what: string) => {
    doubts.push({ code: 'cache_write_out_of_line', message: `${what}; use --force to accept it` })
  }
  for (const [kind, picos] of Object.entries({ cacheWrite, cacheWrite1h })) {
    if (!input || !picos || picos <= input * CACHE_WRITE_FACTOR) continue
    const name = PRICE_FIELDS[kind as CountKind]
    doubt(`${name}${where} is ${picos / input} times the input price, but vendors charge at most twice`)
  }
  if (cacheWrite && cacheWrite1h && cacheWrite1h < cacheWrite) {
    const [hour, minutes] = [PRICE_FIELDS.cacheWrite1h, PRICE_FIELDS.cacheWrite]
    doubt(`${hour}${where} is lower than ${minutes}, although caching for an hour costs more than for five minutes`)
  }
  return doubts
}

function limitDoubt(picos: Picos, force: boolean): string | undefined {
  if (picos > PRICE_CEILING_PICOS && force) {
    return `above ${perMillion(PRICE_CEILING_PICOS)}, the maximum even with --force: larger amounts could overflow the database`
  }
  if (picos <= PRICE_LIMIT_PICOS || (force && picos <= PRICE_CEILING_PICOS)) return undefined
  const advice = picos > PRICE_CEILING_PICOS ? '' : ', or use --force to accept it'
  return `above the limit of ${perMillion(PRICE_LIMIT_PICOS)}; check the unit${advice}`
}

/** Dollars per million tokens: `$15,000`. */
function perMillion(picos: Picos): string {
  const [whole, fraction] = formatDecimal(picos, PER_MILLION_DIGITS).split('.')
  return `$${BigInt(whole!).toLocaleString('en')}${fraction ? `.${fraction}` : ''}`
}
