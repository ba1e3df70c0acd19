/** The events of an entry's history. Pure. */
import type { EventType } from '../../../shared/event-types.ts'
import type { NewEvent } from '../../events/service.ts'
import type { HistoryRow } from './store.ts'

/**
 * The actions that are events. Entries follow their sheets, whose events say so once; what a later report of a session
 * changed comes from the entry itself (reporting/events.ts).
 */
const TYPES: Record<string, EventType> = {
  placed: 'entry.placed',
  assigned: 'entry.assigned',
  adopted: 'entry.assigned',
  approved: 'entry.approved',
  approval_withdrawn: 'entry.approval_withdrawn',
  rejected: 'entry.rejected',
  reopened: 'entry.reopened',
  voided: 'entry.voided',
  restored: 'entry.restored',
  corrected: 'entry.corrected',
  settled: 'entry.created',
  divided: 'entry.divided',
  division_undone: 'entry.division_undone',
  held: 'entry.held',
  released: 'entry.released',
  discarded: 'entry.discarded',
  repriced: 'entry.repriced',
}

/** Texts of entries: they may contain anything, and are removed earlier than events. */
const TEXTS = new Set(['summary', 'labels'])

type Fields = Record<string, unknown>

export function eventsOfHistory(rows: readonly HistoryRow[]): NewEvent[] {
  return rows.flatMap(({ entryId, details, change: { action, at, by } }) => {
    const type = TYPES[action]
    if (!type) return []
    return [{ type, at, by: { userId: by.userId, tokenId: by.tokenId }, entryId, ...changedFields(type, details) }]
  })
}

/** Histories have `{ field: { from, to } }`, or the whole place or owner as `from` and `to`, and explanations. */
function changedFields(type: EventType, details: Fields): { before?: Fields; after?: Fields } {
  const before: Fields = {}
  const after: Fields = {}
  for (const [name, value] of Object.entries(details)) {
    if (TEXTS.has(name)) continue
    if (name === 'from') Object.assign(before, wholeOf(type, value))
    else if (name === 'to') Object.assign(after, wholeOf(type, value))
    else if (isChange(value)) {
      before[name] = value.from
      after[name] = value.to
    } else after[name] = name === 'project' ? idOf(value) : value
  }
  return { ...(hasFields(before) && { before }), ...(hasFields(after) && { after }) }
}

function wholeOf(type: EventType, value: unknown): Fields {
  if (typeof value !== 'string') return value as Fields
  return { [type === 'entry.assigned' ? 'agent_manager' : 'project']: idOf(value) }
}

function idOf(value: unknown): unknown {
  return typeof value === 'string' ? { id: value } : value
}

function isChange(value: unknown): value is { from: unknown; to: unknown } {
  return typeof value === 'object' && value !== null && 'from' in value && 'to' in value
}

function hasFields(fields: Fields): boolean {
  return Object.keys(fields).length > 0
}
