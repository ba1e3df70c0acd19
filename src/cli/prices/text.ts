/** Prices and their dates as a command line writes and shows them: in US dollars per million tokens. */
import { InvalidArgumentError } from 'commander'
import type { ListedPriceBody, PriceBody, ResolutionBody } from '../../features/prices/schema.ts'
import { dayAt } from '../../lib/calendar.ts'
import { momentText, parseMoment } from '../../lib/duration.ts'
import { parseDecimal } from '../../lib/money.ts'
import { chargesTexts, tierTexts } from '../../shared/price-texts.ts'
import { exactText } from '../terminal/numbers.ts'
import type { Column } from '../terminal/print.ts'

/** The service, loaded with the database and not before: `--help` does without it. */
export const priceService = () => import('../../features/prices/service.ts')

/** Decimals of such a price: Tally's unit is the pico-dollar per token. */
const PRICE_DIGITS = 6

/** US dollars per million tokens. */
export function parsePrice(text: string): number {
  const picos = parseDecimal(text, PRICE_DIGITS)
  const isExact = picos !== undefined && parseDecimal(text, 2 * PRICE_DIGITS) === picos * 10n ** BigInt(PRICE_DIGITS)
  if (picos !== undefined && picos >= 0n && isExact) return Number(text)
  throw new InvalidArgumentError('Use US dollars per million tokens with at most 6 decimals, such as 2.5.')
}

/** A date or a timestamp, as written: which moment a date is depends on the organization's time zone. */
export function parseDay(text: string): string {
  if (parseMoment(text, 'UTC') !== undefined) return text
  throw new InvalidArgumentError(
    'Use a date (2026-12-01) or a timestamp with a UTC offset (2026-12-01T00:00:00+01:00).',
  )
}

/** When a price takes effect, as written. */
export function parseStart(text: string): string {
  return text === 'always' ? text : parseDay(text)
}

/** As the services take it: the first moment of a day, and null for `always`. */
export function momentOf(start: string | undefined, timeZone: string): number | null | undefined {
  return start === undefined ? undefined : start === 'always' ? null : parseMoment(start, timeZone)
}

export function startText(effectiveFrom: string | null, timeZone: string): string {
  return effectiveFrom === null ? 'always' : momentText(Date.parse(effectiveFrom), timeZone)
}

/** The same in a sentence. */
export function effectiveText(effectiveFrom: string | null, timeZone: string): string {
  return effectiveFrom === null ? 'always in effect' : `in effect from ${startText(effectiveFrom, timeZone)}`
}

export type PriceRow = Omit<PriceBody, 'id' | 'source' | 'as_of' | 'loaded_at' | 'loaded_by' | 'withdrawn_at'>

/** The five prices, by their titles. */
export const PRICE_TITLES = {
  input: 'INPUT',
  output: 'OUTPUT',
  cache_read: 'CACHE READ',
  cache_write: 'WRITE',
  cache_write_1h: 'WRITE 1H',
} as const

export const priceColumns = (timeZone: string): Column<PriceRow>[] => [
  { title: 'PROVIDER', of: ({ provider }) => provider || '(any)' },
  { title: 'MODEL', rank: -1, of: ({ model }) => model },
  ...Object.entries(PRICE_TITLES).map(
    ([field, title]): Column<PriceRow> => ({
      title,
      of: (row) => exactText(row[field as keyof typeof PRICE_TITLES]),
      align: 'right',
    }),
  ),
  {
    title: 'LONG CONTEXT FROM',
    rank: 2,
    of: ({ tiers }) => tiers.map((tier) => tier.from_tokens.toLocaleString('en')).join(' '),
  },
  { title: 'EFFECTIVE FROM', of: (row) => startText(row.effective_from, timeZone) },
  {
    title: 'UNTIL',
    rank: 1,
    of: ({ effective_until: end }) => (end === null ? '' : startText(end, timeZone)),
  },
]

export const SOURCE: Column<PriceBody> = { title: 'SOURCE', rank: 1, of: ({ source }) => source }
export const IN_USE: Column<ListedPriceBody> = { title: 'IN USE', rank: 1, of: ({ in_use }) => (in_use ? 'yes' : '') }
export const ID: Column<PriceBody> = { title: 'ID', of: ({ id }) => id }

/** The price that applies to a model as a sentence, and a line for each further price. */
export function resolutionText(
  { model, provider, at, step, price, sources }: ResolutionBody,
  timeZone: string,
): string {
  const day = dayAt(Date.parse(at), timeZone)
  const subject = `'${model}'${provider === null ? '' : ` at ${provider}`}`
  if (!price)
    return `${subject} has no price on ${day}. Add one with \`tally prices set\` or \`tally prices alias add\`.`
  const kinds = [
    ['input', price.input],
    ['output', price.output],
    ['cache read', price.cache_read],
    ['cache write', price.cache_write],
    ['one-hour cache write', price.cache_write_1h],
  ] as const
  const known = kinds.filter(([, value]) => value !== null).map(([kind, value]) => `${kind} ${exactText(value)}`)
  return `${subject} costs ${known.join(', ')} per million tokens on ${day}: step ${step}, '${price.model}' at ${price.provider || 'any provider'} (${originText(price, sources)}).${chargesLines(price)}`
}

/** `default, from litellm 1.109.1 of 2026-11-12` */
function originText({ source, as_of }: PriceBody, sources: ResolutionBody['sources']): string {
  if (sources.length === 0) return as_of === null ? source : `${source}, as of ${as_of}`
  const texts = sources.map((each) => `${each.source} ${each.version} of ${each.as_of}`)
  return `${source}, from ${texts.join(', ')}`
}

/** What a price charges besides the five prices, a line each. */
export const otherPrices = (price: PriceRow): string[] => [
  ...tierTexts(price.tiers, exactText),
  ...chargesTexts(price, exactText),
]

function chargesLines(price: PriceBody): string {
  const lines = otherPrices(price)
  return lines.length === 0 ? '' : `\nOther prices:\n${lines.map((line) => `  ${line}`).join('\n')}`
}
