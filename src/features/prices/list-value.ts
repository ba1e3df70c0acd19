/** The list value of usage by the embedded price table, for programs without a database. */
import { newId } from '../../lib/id.ts'
import type { Nanos } from '../../lib/money.ts'
import { defaultTable } from './default-table.ts'
import { PriceTable } from './price-table.ts'
import { valueCounts } from './rates.ts'
import type { UsageOfModel } from './service.ts'

/** The list value of a usage, as a server without custom prices would calculate it. Undefined if it is unpriced. */
export type ListValue = (usage: UsageOfModel) => Nanos | undefined

/** Reads the table, which takes a few milliseconds. */
export function createListValue(): ListValue {
  const uid = newId('prc')
  const { rows, aliases } = defaultTable()
  const source = 'default' as const
  const table = new PriceTable(
    rows.map((row, id) => ({ ...row, id, uid, source })),
    aliases.map((alias) => ({ ...alias, source })),
  )
  return (usage) => {
    const hit = table.find(usage.model, usage.provider, usage.startedAt)
    return hit && valueCounts(hit.price.rates, usage)?.listValueNanos
  }
}
