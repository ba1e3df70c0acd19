/** The entries of a bill as CSV, made off the main thread: there may be a hundred thousand. */
import type { SlowStream } from '../../../database/database.ts'
import type { CostBasis } from '../../../shared/cost-basis.ts'
import { listBilledLabelNames, pagesOfBilledEntries } from '../store/billed-entries.ts'
import { entriesCsv } from './csv.ts'

export const ENTRIES_STREAM: SlowStream<{ billId: number; number: string; basis: CostBasis }> = {
  name: 'bills.entries-csv',
  async *run(reader, { billId, ...bill }) {
    const encoder = new TextEncoder()
    const labelNames = await listBilledLabelNames(reader, billId)
    const texts = entriesCsv(bill, labelNames, pagesOfBilledEntries(reader, billId))
    for await (const text of texts) yield encoder.encode(text)
  },
}
