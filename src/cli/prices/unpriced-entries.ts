/** The valuation of unpriced entries after a price was added. */
import type { Actor } from '../../access/actor.ts'
import type { RepricingBody } from '../../features/prices/schema.ts'
import type { PriceTable } from '../../features/prices/service.ts'
import type { Services } from '../../services.ts'
import { counted, exactText } from '../terminal/numbers.ts'
import { print } from '../terminal/print.ts'
import { Progress } from '../terminal/progress.ts'

/** Values the entries without a price, as every command does that adds a price. */
export async function valueUnpriced(
  entries: Services['entries'],
  by: Actor,
  { dryRun = false, table }: { dryRun?: boolean; table?: PriceTable } = {},
) {
  const progress = new Progress('Valuing entries')
  try {
    return await entries.valuation.valueUnpriced({
      by,
      dryRun,
      table,
      onProgress: (done, total) => progress.show(done, total),
    })
  } finally {
    progress.end()
  }
}

/** Prints how many unpriced entries were valued, if any. */
export function printValued({ entries, cost, dry_run }: RepricingBody): void {
  if (entries === 0) return
  const verb = dry_run ? 'would be valued' : 'valued'
  print(`${counted(entries, 'entry', 'entries')} without a price ${verb}, list value $${exactText(cost.after)}.`)
}
