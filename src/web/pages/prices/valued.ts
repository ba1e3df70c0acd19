/** Entries without a price that are valued when one comes. */
import { counted } from '../../format/counts.ts'
import { answer, api } from '../../server/api.ts'
import type { Repricing } from './price.ts'

/** What may be different once there is another price. */
export const PRICE_CHANGES = ['prices', 'entries', 'reports', 'sheets', 'audit'] as const

/** A call that added a price values entries for some seconds; this goes on where it ended. Answers how many there were. */
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
    : ` ${counted(entries, 'entry', 'entries')} that waited for a price ${entries === 1 ? 'has' : 'have'} one now.`
