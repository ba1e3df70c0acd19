/** Errors for a bill that cannot be sent or change its state. */

import { Problem, refusal } from '../../errors.ts'
import { counted } from '../../lib/counted.ts'
import { BASIS_TITLES, type CostBasis } from '../../shared/cost-basis.ts'
import type { NotClosed } from './open-periods.ts'
import type { SentBill } from './store/bills.ts'
import type { PaymentRecord } from './store/payments.ts'

export function nothingToBill(): Problem {
  return new Problem(
    'nothing_to_bill',
    'There is nothing to bill in this scope and period. POST /bills/preview lists the entries that are excluded, and why, under `left_out`.',
  )
}

/** `subtotal` is a text with the currency. Corrections of shares that were billed make costs negative. */
export function belowZero(isOfCorrections: boolean, subtotal: string): Problem {
  if (isOfCorrections) {
    return refusal(
      '/basis',
      'too_small',
      `makes a subtotal of ${subtotal}, because corrections of shares exceed the usage, and a bill is not for less than 0. Bill a longer period, so that more usage is on it, or give the money back with a credit note for the earlier bill (POST /bills/{id}/credit-note)`,
    )
  }
  return refusal(
    '/extra_lines',
    'too_small',
    `make a subtotal of ${subtotal}, and a bill is not for less than 0. To give money back, correct the bill that was paid with a credit note (POST /bills/{id}/credit-note)`,
  )
}

export function unpricedEntries(entries: number, basis: CostBasis): Problem {
  if (basis !== 'cost') {
    const reason =
      basis === 'list'
        ? 'Add prices for their models (GET /reports/unpriced lists them)'
        : 'Nothing says what pays for them, they have no price, or they arrived after the period of their plan was closed and no correction has settled them. Add a plan or a funding rule, a price, or close the next period'
    return new Problem(
      'unpriced_entries',
      `${counted(entries, 'entry', 'entries')} in this scope and period ${entries === 1 ? 'has' : 'have'} no known ${BASIS_TITLES[basis].toLowerCase()}. ${reason}, or send with "leave_unpriced": true.`,
    )
  }
  return new Problem(
    'unpriced_entries',
    `${counted(entries, 'entry', 'entries')} in this scope and period ${entries === 1 ? 'has' : 'have'} no known cost. Add prices for their models (GET /reports/unpriced lists them), or send with "leave_unpriced": true.`,
  )
}

export function earlierEntries({ entries, isMore }: { entries: number; isMore: boolean }, since: string): Problem {
  return new Problem(
    'earlier_entries',
    `${isMore ? 'More than ' : ''}${counted(entries, 'entry', 'entries')} in this scope from before the period (since ${since}) ${entries === 1 && !isMore ? 'has' : 'have'} not been billed. Set "include_earlier": true to bill them in a separate section, or false to leave them out.`,
  )
}

/** More are not named. */
const NAMED_PERIODS = 10

export function periodNotClosed(periods: readonly NotClosed[]): Problem {
  const named = periods
    .slice(0, NAMED_PERIODS)
    .map(({ plan, firstDay, entries }) => `${plan.name} from ${firstDay} (${counted(entries, 'entry', 'entries')})`)
  const others = periods.length > NAMED_PERIODS ? `, and ${periods.length - NAMED_PERIODS} more` : ''
  const [first] = periods
  return new Problem(
    'period_not_closed',
    `The amounts may still change, because ${counted(periods.length, 'period')} of plans ${periods.length === 1 ? 'is' : 'are'} not closed: ${named.join(', ')}${others}. Close ${periods.length === 1 ? 'it' : 'each'} (tally plans close ${quoted(first!.plan.name)} ${first!.firstDay}), or set "provisional": true to bill the shares as they are now: the difference becomes a correction in the next period.`,
    {
      periods: periods.slice(0, NAMED_PERIODS).map(({ plan, firstDay, lastDay, entries }) => ({
        plan,
        first_day: firstDay,
        last_day: lastDay,
        entries,
      })),
    },
  )
}

const quoted = (name: string) => (/^[\w.@-]+$/.test(name) ? name : `"${name}"`)

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

export function draftGone(id: string): Problem {
  return new Problem(
    'draft_gone',
    `The draft '${id}' was already sent or deleted, by you or by somebody else. Nothing was sent. Look for its bill in the list; if there is none, send the bill without the draft.`,
  )
}

export function keyReused(key: string): Problem {
  return new Problem(
    'idempotency_key_reused',
    `The Idempotency-Key '${key}' was already used with a different body. Use a new key for a new bill, or send the original body again.`,
  )
}

export function noRecipient(number: string): Problem {
  return refusal(
    '/to',
    'required',
    `is required because bill ${number} has no client, or its client has no e-mail address`,
  )
}

type Named = Pick<SentBill, 'number' | 'kind'>

/** In the middle of a sentence. */
export const nameOf = ({ kind, number }: Named): string => `${kind === 'bill' ? 'bill' : 'credit note'} ${number}`

/** At the start of a sentence. */
const titleOf = ({ kind, number }: Named) => `${kind === 'bill' ? 'Bill' : 'Credit note'} ${number}`

export function wrongState(bill: Named & Pick<SentBill, 'state'>, to: 'paid' | 'void' | 'credited'): Problem {
  const next = {
    paid: 'Only a sent bill with an open balance can be paid.',
    void:
      bill.state !== 'paid'
        ? 'Only a sent bill can be voided.'
        : bill.kind === 'bill'
          ? 'To correct a paid bill, create a credit note: POST /bills/{id}/credit-note. If the payment was recorded by mistake, reverse it first: POST /bills/{id}/unpaid.'
          : 'If the refund was recorded by mistake, reverse it first: POST /bills/{id}/unpaid.',
    credited:
      'Only a bill that was paid, at least in part, can be corrected with a credit note. Void a sent bill instead.',
  }
  return new Problem('wrong_status', `${titleOf(bill)} is ${bill.state}. ${next[to]}`)
}

export function alreadyReversed(bill: Named, { number, reverseReason }: PaymentRecord): Problem {
  return new Problem(
    'wrong_status',
    `Payment ${number} of ${nameOf(bill)} was already reversed (${reverseReason}). If the money was received after all, record a new payment.`,
  )
}

export function wasOffset(bill: Named, { number }: PaymentRecord, other: Named): Problem {
  const note = bill.kind === 'credit_note' ? bill : other
  return new Problem(
    'wrong_status',
    `Payment ${number} of ${nameOf(bill)} was offset against ${nameOf(other)}. To undo it, void credit note ${note.number}.`,
  )
}

export function nothingToReverse(bill: Named & Pick<SentBill, 'state'>): Problem {
  return new Problem('wrong_status', `${titleOf(bill)} is ${bill.state} and has no payment to reverse.`)
}

export function partlyPaid(bill: Named): Problem {
  return new Problem(
    'wrong_status',
    `${titleOf(bill)} has been paid in part. Credit the rest (POST /bills/{id}/credit-note), or reverse its payments first (POST /bills/{id}/unpaid).`,
  )
}

export function wasCredited(bill: Named): Problem {
  return new Problem(
    'wrong_status',
    `${titleOf(bill)} has been corrected by a credit note. Credit the rest (POST /bills/{id}/credit-note), or void its credit notes first.`,
  )
}

/** The open balance of a bill, and the amounts that may be paid for it, as texts. */
export function wrongAmount(bill: Named, { open, decimals }: { open: string; decimals: number }): Problem {
  const precision = decimals === 0 ? 'without decimals' : `with at most ${decimals} decimals`
  const refund = bill.kind === 'credit_note' ? '; refunds are negative' : ''
  return refusal(
    '/amount',
    'not_allowed',
    `must be a part of the open balance of ${nameOf(bill)}, ${open}, ${precision}${refund}`,
  )
}

export function notWholeRemaining(bill: Named): Problem {
  return refusal(
    '/release',
    'not_allowed',
    `needs a credit note for the whole remaining amount of ${nameOf(bill)}; leave out the lines`,
  )
}

/** Of a credit note of a bill whose entries `releasing` has released: without it, the client would owe for them twice. */
export function entriesReleased(
  note: Named,
  { corrected, releasing }: { corrected: Named; releasing: Named },
): Problem {
  return new Problem(
    'wrong_status',
    `${titleOf(releasing)} has released the entries of ${nameOf(corrected)}, which may be on another bill by now, so ${releasing.number === note.number ? 'it' : nameOf(note)} cannot be voided. Send another bill for these entries instead.`,
  )
}
