/** Bills as CSV, one row each. */
import { type CsvColumn, fieldColumns } from '../../lib/csv-column.ts'
import type { BillHead } from './schema.ts'

// Money is an exact JSON number; a cell needs a plain one, otherwise negative amounts would be written as text.
const money = (amount: number) => Number(JSON.stringify(amount))

export const BILL_COLUMNS: CsvColumn<BillHead>[] = [
  ...fieldColumns<BillHead>('id', 'number', 'kind', 'state'),
  { heading: 'client', cell: ({ client }) => client?.name },
  { heading: 'project', cell: ({ project }) => project?.key },
  { heading: 'period_from', cell: ({ period }) => period.from },
  { heading: 'period_to', cell: ({ period }) => period.to },
  ...fieldColumns<BillHead>('issued_on', 'due_on', 'currency'),
  { heading: 'subtotal', cell: ({ subtotal }) => money(subtotal) },
  { heading: 'tax', cell: ({ tax }) => money(tax) },
  { heading: 'total', cell: ({ total }) => money(total) },
  ...fieldColumns<BillHead>('entries', 'delivery'),
  { heading: 'paid_on', cell: ({ paid }) => paid?.on },
  { heading: 'void_reason', cell: (bill) => bill.void?.reason },
  { heading: 'amount_paid', cell: ({ amount_paid }) => money(amount_paid) },
  { heading: 'balance', cell: ({ balance }) => money(balance) },
  { heading: 'overdue', cell: ({ overdue }) => overdue },
]
