import type { PricesService } from '../../features/prices/service.ts'
import { note } from '../terminal/print.ts'

/** For commands that only read: they show the prices of the database, and change nothing to have others. */
export async function noteMissingTable(prices: Pick<PricesService, 'hasDefaultPrices'>): Promise<void> {
  if (await prices.hasDefaultPrices()) return
  note(
    'The price table that this version of Tally includes is not in the database yet. `tally serve` adds it when it starts.',
  )
}
