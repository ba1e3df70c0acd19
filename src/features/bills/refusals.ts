/** Errors for a bill that cannot be sent or change its state. */
import { Problem, validationFailed } from '../../errors.ts'
import type { BillState } from './store/bills.ts'

const counted = (entries: number) => `${entries.toLocaleString('en')} ${entries === 1 ? 'entry' : 'entries'}`

export function nothingToBill(): Problem {
  return new Problem(
    'nothing_to_bill',
    'There is nothing to bill in this scope and period. POST /bills/preview lists the entries that are excluded, and why, under `left_out`.',
  )
}

export function unpricedEntries(entries: number): Problem {
  return new Problem(
    'unpriced_entries',
    `${counted(entries)} in this scope and period ${entries === 1 ? 'has' : 'have'} no known cost. Add prices for their models (GET /reports/unpriced lists them), or send with "leave_unpriced": true.`,
  )
}

export function earlierEntries({ entries, isMore }: { entries: number; isMore: boolean }, since: string): Problem {
  return new Problem(
    'earlier_entries',
    `${isMore ? 'More than ' : ''}${counted(entries)} in this scope from before the period (since ${since}) ${entries === 1 && !isMore ? 'has' : 'have'} not been billed. Set "include_earlier": true to bill them in a separate section, or false to leave them out.`,
  )
}

export function tooLarge(): Problem {
  return new Problem(
    'bill_too_large',
    'The bill exceeds 9 billion dollars, or an amount in its currency that fits into 63 bits. Look for entries with an implausible cost (GET /token-entries) and reject them, or bill each project separately.',
  )
}

export function previewChanged(): Problem {
  return new Problem(
    'preview_changed',
    'The bill has changed since the preview: entries, prices, names or settings are different. Nothing was sent. Preview the bill again.',
  )
}

export function keyReused(key: string): Problem {
  return new Problem(
    'idempotency_key_reused',
    `The Idempotency-Key '${key}' was already used with a different body. Use a new key for a new bill, or send the original body again.`,
  )
}

export function noRecipient(number: string): Problem {
  return validationFailed([
    {
      pointer: '/to',
      code: 'required',
      message: `is required because bill ${number} has no client, or its client has no e-mail address`,
    },
  ])
}

export function wrongState(number: string, state: BillState, to: 'paid' | 'void' | 'credited'): Problem {
  const next = {
    paid: 'Only a sent bill can be marked as paid.',
    void:
      state === 'paid'
        ? 'To correct a paid bill, create a credit note: POST /bills/{id}/credit-note.'
        : 'Only a sent bill can be voided.',
    credited: 'Only a paid bill can be corrected with a credit note. Void a sent bill instead.',
  }
  return new Problem('wrong_status', `Bill ${number} is ${state}. ${next[to]}`)
}
