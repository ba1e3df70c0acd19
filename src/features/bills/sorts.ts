/** What lists of bills can be sorted by. Amounts are compared in the minor units of their currencies. */
export const BILL_SORTS = {
  number: 'text',
  recipient: 'text',
  period: 'text',
  issued_on: 'text',
  due_on: 'text',
  state: 'text',
  entries: 'number',
  total: 'number',
  balance: 'number',
} as const
