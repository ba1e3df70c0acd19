/** Bills as CSV, one row each. */
import type { CsvColumn } from '../../lib/csv-column.ts'
import type { BillHead } from './schema.ts'

// Money is an exact JSON number; a cell needs a plain one, otherwise negative amounts would be written as text.
const money = (amount: number) => Number(JSON.stringify(amount))

export const BILL_COLUMNS: CsvColumn<BillHead>[] = [
  { heading: 'id', cell: ({ id }) => id },
  { heading: 'number', cell: ({ number }) => number },
  { heading: 'kind', cell: ({ kind }) => kind },
  { heading: 'state', cell: ({ state }) => state },
  { heading: 'client', cell: ({ client }) => client?.name },
  { heading: 'project', cell: ({ project }) => project?.key },
  { heading: 'period_from', cell: ({ period }) => period.from },
  { heading: 'period_to', cell: ({ period }) => period.to },
  { heading: 'issued_on', cell: ({ issued_on }) => issued_on },
  { heading: 'due_on', cell: ({ due_on }) => due_on },
  { heading: 'currency', cell: ({ currency }) => currency },
  { heading: 'subtotal', cell: ({ subtotal }) => money(subtotal) },
  { heading: 'tax', cell: ({ tax }) => money(tax) },
  { heading: 'total', cell: ({ total }) => money(total) },
  { heading: 'entries', cell: ({ entries }) => entries },
  { heading: 'delivery', cell: ({ delivery }) => delivery },
  { heading: 'paid_on', cell: ({ paid }) => paid?.on },
  { heading: 'void_reason', cell: (bill) => bill.void?.reason },
  { heading: 'amount_paid', cell: ({ amount_paid }) => money(amount_paid) },
  { heading: 'balance', cell: ({ balance }) => money(balance) },
  { heading: 'overdue', cell: ({ overdue }) => overdue },
]
