/** Which changes in the audit log are events, and of which type. */
import { type EventType, isEventType } from '../../shared/event-types.ts'

/**
 * Decisions about entries are events of each entry, which are recorded with its history: those of many entries are one
 * row in the audit log.
 */
const OF_ENTRIES = /^(entry|entries)\./
const IMPORTED = 'entries.imported'

/** Actions whose event has another name. Besides, credit notes have the events of bills. */
const RENAMED: Record<string, EventType> = {
  'bill.payment_reversed': 'bill.unpaid',
  'credit_note.sent': 'bill.credited',
}

/**
 * The type of the event that a change is; undefined if it is none: drafts on sheets, sign-ins, links and passwords of
 * people, and what continues or repeats an earlier change.
 */
export function eventTypeOf(action: string): EventType | undefined {
  if (OF_ENTRIES.test(action) && action !== IMPORTED) return undefined
  const ofBill = RENAMED[action] ?? action.replace(/^credit_note\./, 'bill.')
  const type = RENAMED[ofBill] ?? ofBill
  return isEventType(type) ? type : undefined
}
