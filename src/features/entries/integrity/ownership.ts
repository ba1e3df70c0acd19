/**
 * Whose an entry is: its manager's, who created the service token that reported it, and whose its session is. `tally verify`
 * asks so of all entries (`store.ts`), and imports of each that is added. Pure.
 */
import type { Status, TokenKind } from '../../../database/schema/values.ts'
import { LOCKED_STATUSES } from '../store.ts'

/** Whoever creates such a token is the manager of what it reports. */
export const OWNING_TOKENS: TokenKind = 'svc'

/** What reports do to a session, and to the places of its entries. */
export const REPORTED_ACTIONS = ['shrunk', 'source_changed', 'superseded', 'adopted', 'placed']

/** Reasons for which the token of somebody else may change an entry: it sends and voids bills. */
export const REASONS_OF_BILLS = ['bill_voided', 'bill_credited', 'bill_not_sent']

/** Their session may be somebody else's: it was assigned to them without these. */
export const STAYING_STATUSES: readonly Status[] = LOCKED_STATUSES

/** Nothing counts them any more, so that it no longer matters whose they are. */
export const SETTLED_STATUSES: readonly Status[] = ['voided', 'discarded']

export interface OwnerToken<Person> {
  kind: string
  createdBy: Person
}

/** An entry with everyone who had to do with it. */
export interface Claim<Person> {
  manager: Person
  status: Status
  token: OwnerToken<Person> | null
  /** Whose its session is. */
  session: Person | null
  history: { action: string; because: unknown; token: OwnerToken<Person> | null }[]
}

/** Whether an entry is, by one of these, somebody else's than its manager's. */
export function isForeign<Person>({ manager, status, token, session, history }: Claim<Person>): boolean {
  if (SETTLED_STATUSES.includes(status)) return false
  const isOfOther = (used: OwnerToken<Person> | null) => used?.kind === OWNING_TOKENS && used.createdBy !== manager
  return (
    isOfOther(token) ||
    (session !== null && session !== manager && !STAYING_STATUSES.includes(status)) ||
    history.some(
      (step) =>
        isOfOther(step.token) &&
        REPORTED_ACTIONS.includes(step.action) &&
        !REASONS_OF_BILLS.includes(step.because as string),
    )
  )
}
