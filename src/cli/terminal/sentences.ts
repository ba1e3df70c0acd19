/** How sentences about recorded changes write numbers and times on a terminal. */
import { actorOf, type RecordedChange, sentenceOf } from '../../shared/change-sentences.ts'
import { type Formats, say, textOf } from '../../shared/sentences.ts'
import { minute } from './print.ts'

/** As exact as prices: the currency decides on at least how many digits there are. */
const MAX_DIGITS = 9

export const FORMATS: Formats = {
  money: (amount, currency) =>
    new Intl.NumberFormat('en', { style: 'currency', currency, maximumFractionDigits: MAX_DIGITS }).format(amount),
  count: (value) => value.toLocaleString('en', { maximumFractionDigits: MAX_DIGITS }),
  day: (day) => day,
  moment: (at) => `${minute(at)} UTC`,
}

/** “Ada approved 12 entries ($3.40)”. */
export const changeText = (change: RecordedChange & Parameters<typeof actorOf>[0]): string =>
  textOf(say`${actorOf(change)} ${sentenceOf(change, FORMATS)}`)
