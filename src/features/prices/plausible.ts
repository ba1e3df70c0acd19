/** What no vendor charges: mistakes of units and placeholders that published tables hold (pricing.md). Pure. */
import { formatDecimal, type Picos } from '../../lib/money.ts'
import { PER_MILLION_DIGITS, type Reason } from './formats/reading.ts'
import {
  PRICE_CEILING_PICOS,
  PRICE_FIELDS,
  PRICE_LIMIT_PICOS,
  PRICED_KINDS,
  type PricedKind,
  type PriceRow,
} from './rate.ts'

/** What an admin knows better. */
export interface Insistence {
  /** Take what looks like a mistake. */
  force?: boolean | undefined
  /** Take models that cost nothing; published tables write 0 as well for what they do not know. */
  allowFree?: boolean | undefined
}

/** Vendors charge 1.25 times the input price for writing to the cache, 2 times for an hour; nobody charges four times. */
const CACHE_WRITE_FACTOR = 4n

/** Everything that speaks against a row; empty where it can be taken. */
export function doubtsOf(row: Omit<PriceRow, 'effectiveFrom'>, { force, allowFree }: Insistence): Reason[] {
  const levels = [row, ...row.tiers.map((tier) => ({ ...tier.prices, fromTokens: tier.fromTokens }))]
  const doubts = levels.flatMap((level) => levelDoubts(level, force ?? false))
  if (row.input === 0n && row.output === 0n && !allowFree) {
    doubts.push({
      code: 'free',
      message: 'costs nothing, neither for input nor for output; --allow-free takes it as free',
    })
  }
  return doubts
}

type Level = Partial<Record<PricedKind, Picos | null>> & { fromTokens?: number }

function levelDoubts(level: Level, force: boolean): Reason[] {
  const where = level.fromTokens === undefined ? '' : ` from ${level.fromTokens} tokens on`
  const doubts: Reason[] = []
  for (const kind of PRICED_KINDS) {
    const picos = level[kind] ?? 0n
    const what = `${PRICE_FIELDS[kind]}${where} is $${perMillion(picos)} per million tokens`
    if (picos > PRICE_CEILING_PICOS) doubts.push(beyondLimit(what, force ? 'cannot' : 'doubted'))
    else if (picos > PRICE_LIMIT_PICOS && !force) doubts.push(beyondLimit(what, 'doubted'))
  }
  for (const kind of ['cacheWrite', 'cacheWrite1h'] as const) {
    const { input } = level
    const picos = level[kind]
    if (force || !input || !picos || picos <= input * CACHE_WRITE_FACTOR) continue
    doubts.push({
      code: 'cache_write_out_of_line',
      message: `${PRICE_FIELDS[kind]}${where} is ${picos / input} times the price of input, where vendors charge twice at most; --force takes it`,
    })
  }
  return doubts
}

function beyondLimit(what: string, how: 'doubted' | 'cannot'): Reason {
  const limit = perMillion(PRICE_LIMIT_PICOS)
  const ceiling = perMillion(PRICE_CEILING_PICOS)
  return {
    code: 'above_limit',
    message:
      how === 'doubted'
        ? `${what}, above $${limit}: a mistake of units`
        : `${what}; above $${ceiling} not even --force takes it, since values could exceed what the database holds`,
  }
}

function perMillion(picos: Picos): string {
  return formatDecimal(picos, PER_MILLION_DIGITS)
}
