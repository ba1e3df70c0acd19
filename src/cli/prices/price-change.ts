/** A change of a model's price, before it is made and after. */
import type { AddedPrice } from '../../features/prices/schema.ts'
import { chargesTexts, tierTexts } from '../../shared/price-texts.ts'
import { exactText } from '../terminal/numbers.ts'
import { print, printTable } from '../terminal/print.ts'
import { effectiveText, PRICE_TITLES, type PriceRow, startText } from './text.ts'

type Change = Pick<AddedPrice, 'added' | 'before' | 'after' | 'kept'>

const KINDS = Object.keys(PRICE_TITLES) as (keyof typeof PRICE_TITLES)[]

/** Each price before and after, and what is kept; the other charges below, if there are any. */
export function printPriceChange({ added, before, after, kept }: Change, timeZone: string): void {
  const name = `'${after.model}' at ${after.provider || 'any provider'}`
  if (!added) print('This price already exists:')
  print(`${name}, ${periodText(after, timeZone)}, in US dollars per million tokens:`)
  const isReplaced = added && before !== null
  printTable<(typeof KINDS)[number]>(
    [
      { title: 'PRICE', of: (kind) => PRICE_TITLES[kind].toLowerCase() },
      ...(isReplaced
        ? [{ title: 'BEFORE', of: (kind: (typeof KINDS)[number]) => exactText(before[kind]), align: 'right' as const }]
        : []),
      { title: isReplaced ? 'AFTER' : 'AMOUNT', of: (kind) => exactText(after[kind]), align: 'right' },
      { title: '', of: (kind) => (kept.includes(kind) ? 'kept' : '') },
    ],
    KINDS,
  )
  printCharges({ added, before, after, kept })
  if (isReplaced) print(`Before: '${before.model}' at ${before.provider || 'any provider'} (${before.source}).`)
}

function printCharges({ before, after }: Change): void {
  const now = otherCharges(after)
  const gone = before ? otherCharges(before).filter((text) => !now.includes(text)) : []
  for (const text of now) print(text)
  for (const text of gone) print(`no longer: ${text}`)
}

function otherCharges(price: PriceRow): string[] {
  return [...tierTexts(price.tiers, exactText), ...chargesTexts(price, exactText)]
}

function periodText({ effective_from, effective_until }: PriceRow, timeZone: string): string {
  const end = effective_until === null ? '' : ` until ${startText(effective_until, timeZone)}`
  return `${effectiveText(effective_from, timeZone)}${end}`
}
