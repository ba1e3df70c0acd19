/** Why a bill is not sent, or does not move. */
import { Problem, validationFailed } from '../../errors.ts'
import type { BillState } from './store/bills.ts'

const counted = (entries: number) => `${entries.toLocaleString('en')} ${entries === 1 ? 'entry' : 'entries'}`

export function nothingToBill(): Problem {
  return new Problem(
    'nothing_to_bill',
    'Nothing in this scope and period can be billed. POST /bills/preview says under `left_out` what is there and why it is not on the bill.',
  )
}

export function unpricedEntries(entries: number): Problem {
  return new Problem(
    'unpriced_entries',
    `${counted(entries)} of the scope and period ${entries === 1 ? 'has' : 'have'} no known cost. Give their models a price (GET /reports/unpriced lists them), or send with "leave_unpriced": true.`,
  )
}

export function earlierEntries({ entries, isMore }: { entries: number; isMore: boolean }, since: string): Problem {
  return new Problem(
    'earlier_entries',
    `${isMore ? 'More than ' : ''}${counted(entries)} of the scope from before the period, since ${since}, ${entries === 1 && !isMore ? 'was' : 'were'} never billed. Say "include_earlier": true to bill them in a section of their own, or false to leave them.`,
  )
}

export function tooLarge(): Problem {
  return new Problem(
    'bill_too_large',
    'The bill comes to more than 9 thousand million dollars, or to more of its currency than fits into 63 bits. Look for entries with a cost that cannot be (GET /token-entries), reject them, or bill project by project.',
  )
}

export function previewChanged(): Problem {
  return new Problem(
    'preview_changed',
    'The bill is no longer the one that was previewed: entries, prices, names or settings have changed. Nothing was sent; preview it again.',
  )
}

export function keyReused(key: string): Problem {
  return new Problem(
    'idempotency_key_reused',
    `The Idempotency-Key '${key}' was used before with a different body. Use a new key for a new bill, or send the first body again.`,
  )
}

export function noRecipient(number: string): Problem {
  return validationFailed([
    {
      pointer: '/to',
      code: 'required',
      message: `is required: the client of the bill ${number} has no e-mail address, or it has no client`,
    },
  ])
}

export function wrongState(number: string, state: BillState, to: 'paid' | 'void' | 'credited'): Problem {
  const next = {
    paid: 'Only a sent bill can be marked as paid.',
    void:
      state === 'paid'
        ? 'A paid bill is corrected by a credit note: POST /bills/{id}/credit-note.'
        : 'Only a sent bill can be made void.',
    credited: 'A credit note corrects a paid bill; one that is only sent can be made void instead.',
  }
  return new Problem('wrong_status', `The bill ${number} is ${state}. ${next[to]}`)
}
