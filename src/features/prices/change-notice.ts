/** The e-mail about changed prices of models in use. Pure. */

import type { PriceChangeNotice } from '../../database/schema/records.ts'
import { counted } from '../../lib/counted.ts'
import { momentText, timestampOrNull } from '../../lib/duration.ts'
import { formatDecimal } from '../../lib/money.ts'
import type { Formats } from '../../shared/locales.ts'
import { PER_MILLION_DIGITS } from './formats/reader.ts'
import type { PriceDifference } from './in-use.ts'
import { COUNT_KINDS, PRICE_FIELDS, type PriceRow } from './rates.ts'

/** Smaller changes are in the list of loads only. */
const NOTABLE_CHANGE = 0.05

/** Beyond this, nobody reads on; the rest is counted. */
const LISTED_LIMIT = 50

/** The changes above 5%; null if there are none. */
export function noticeOf(differences: readonly PriceDifference[]): PriceChangeNotice | null {
  const notable = differences.filter(({ change }) => change !== null && change > NOTABLE_CHANGE)
  if (notable.length === 0) return null
  const changes = notable.slice(0, LISTED_LIMIT).map(({ model, provider, before, after }) => ({
    provider: provider ?? after!.provider,
    model,
    effective_from: timestampOrNull(after!.effectiveFrom),
    prices: changedPrices(before!, after!),
  }))
  return { models: notable.length, changes }
}

function changedPrices(before: PriceRow, after: PriceRow): PriceChangeNotice['changes'][number]['prices'] {
  return COUNT_KINDS.filter((kind) => before[kind] !== after[kind]).map((kind) => ({
    kind: PRICE_FIELDS[kind],
    before: priceText(before[kind]),
    after: priceText(after[kind]),
  }))
}

function priceText(picos: bigint | null): string {
  return picos === null ? 'none' : `$${formatDecimal(picos, PER_MILLION_DIGITS)}`
}

export interface NoticeParts {
  notice: PriceChangeNotice
  organization: string
  formats: Formats
  /** The organization's. */
  timeZone: string
  /** The address or the file that the prices are from. */
  source: string
  /** The command that shows and undoes the load. */
  load: string
}

export function noticeSubject({ models }: PriceChangeNotice): string {
  return `Prices of ${counted(models, 'model')} in use have changed`
}

export function noticeText({ notice, organization, formats, timeZone, source, load }: NoticeParts): string {
  const { changes, models } = notice
  const write = { day: formats.day, time: (at: number) => `${formats.moment(at, 'UTC')} UTC` }
  return [
    `An update of the prices on ${organization}'s Tally server changed the prices of models in use by more than 5%.`,
    `The source is ${source}. Prices are in US dollars per million tokens.`,
    '',
    ...changes.flatMap(({ provider, model, effective_from, prices }) => [
      `${model} (${provider})${effective_from === null ? '' : `, from ${momentText(Date.parse(effective_from), timeZone, write)}`}`,
      ...prices.map(({ kind, before, after }) => `  ${kind.replaceAll('_', ' ').padEnd(14)}  ${before} -> ${after}`),
      ...(prices.length === 0 ? ['  long-context prices'] : []),
    ]),
    ...(models > changes.length ? [`… and ${models - changes.length} more.`] : []),
    '',
    'Existing list values do not change. To undo the update while no entry has a list value from it:',
    `  tally prices undo ${load}`,
  ]
    .map((line) => line.replaceAll(/\p{Cc}/gu, ' '))
    .join('\n')
}
