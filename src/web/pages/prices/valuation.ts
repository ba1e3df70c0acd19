/** Entries without a price that get a list value when a price is added. */
import { counted } from '../../format/counts.ts'
import { answer, api } from '../../server/api.ts'
import type { Repricing } from './price.ts'

/** Parts of the API that a new price can change. */
export const PRICE_CHANGES = ['prices', 'entries', 'reports', 'sheets', 'audit'] as const

/** Continues repricing after a call that stopped at its time limit. Returns how many entries were valued in all. */
export async function valueTheRest({ entries, complete }: Repricing): Promise<number> {
  let sum = entries
  let isComplete = complete
  while (!isComplete) {
    const more = await answer(api.prices.reprice.post({}))
    sum += more.entries
    isComplete = more.complete
  }
  return sum
}

export const valuedText = (entries: number): string =>
  entries === 0
    ? ''
    : ` ${counted(entries, 'entry', 'entries')} without a price now ${entries === 1 ? 'has' : 'have'} one.`
