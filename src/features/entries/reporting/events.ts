/** The events of a set of reports: of the entries that it added and changed. Pure. */
import { timestamp } from '../../../lib/duration.ts'
import { moneyNumber } from '../../../lib/money.ts'
import { COUNT_KINDS, type CountKind } from '../../../shared/usage.ts'
import type { NewEvent } from '../../events/service.ts'
import { eventsOfHistory } from '../history/events.ts'
import type { Change, HistoryRow } from '../history/store.ts'
import { placeOf } from '../places/placed-entry.ts'
import { costNanosOf } from '../rows.ts'
import type { EntryRecord, EntryView, ReportedChange } from '../store.ts'

export interface ChangedEntry extends ReportedChange {
  /** Whose report changed it last. */
  by: Change['by']
}

interface ReportedSet {
  added: readonly EntryView[]
  changed: readonly ChangedEntry[]
  history: readonly HistoryRow[]
}

/** What the history has of a change that its event takes from the entry itself. */
const TOLD_BY_ENTRY: ReadonlySet<string> = new Set(['placed'])

/** One event for an entry that was added, whatever else happened to it in the set. */
export function eventsOfReports({ added, changed, history }: ReportedSet): NewEvent[] {
  const events: NewEvent[] = added.map(({ entry }) => ({
    type: 'entry.created',
    entryId: entry.id,
    by: { userId: null, tokenId: entry.tokenId },
  }))
  for (const change of changed) addChanges(events, change)
  if (history.length === 0) return events
  const isAdded = new Set(added.map(({ entry }) => entry.id))
  const others = history.filter(({ entryId, change }) => !isAdded.has(entryId) && !TOLD_BY_ENTRY.has(change.action))
  return [...events, ...eventsOfHistory(others)]
}

function addChanges(events: NewEvent[], { before, after, by }: ChangedEntry): void {
  const common = { entryId: after.entry.id, by: { userId: by.userId, tokenId: by.tokenId } }
  if (UPDATED.some((column) => before.entry[column] !== after.entry[column])) {
    events.push({ ...common, type: 'entry.updated', ...updatedFields(before, after) })
  }
  if (before.entry.projectId !== after.entry.projectId || before.entry.ticketId !== after.entry.ticketId) {
    events.push({ ...common, type: 'entry.placed', before: { ...placeOf(before) }, after: { ...placeOf(after) } })
  }
}

/** Columns whose change callers see in the entry, apart from its place, owner and status, which have other events. */
const UPDATED = [
  ...COUNT_KINDS,
  'usageDetails',
  'requests',
  'reportedCost',
  'listValue',
  'startedAt',
  'endedAt',
  'source',
  'superseded',
  'agentId',
  'providerId',
  'summary',
  'labelSetId',
] as const satisfies (keyof EntryRecord)[]

const TOKENS: Record<CountKind, string> = {
  input: 'input',
  output: 'output',
  cacheRead: 'cache_read',
  cacheWrite: 'cache_write',
  cacheWrite1h: 'cache_write_1h',
}

/** Of the counts, only those that changed; of summaries and labels, nothing. */
function updatedFields(before: EntryView, after: EntryView): Pick<NewEvent, 'before' | 'after'> {
  const changed = { before: {} as Record<string, unknown>, after: {} as Record<string, unknown> }
  const note = (name: string, from: unknown, to: unknown) => {
    changed.before[name] = from
    changed.after[name] = to
  }
  const [from, to] = [before.entry, after.entry]
  const kinds = COUNT_KINDS.filter((kind) => from[kind] !== to[kind])
  const countsOf = (entry: EntryRecord) => Object.fromEntries(kinds.map((kind) => [TOKENS[kind], entry[kind]]))
  if (kinds.length > 0) note('tokens', countsOf(from), countsOf(to))
  if (from.requests !== to.requests) note('requests', from.requests, to.requests)
  const costs = [costNanosOf(from), costNanosOf(to)] as const
  if (costs[0] !== costs[1]) note('cost', moneyNumber(costs[0]), moneyNumber(costs[1]))
  if (from.startedAt !== to.startedAt) note('started_at', timestamp(from.startedAt), timestamp(to.startedAt))
  if (from.endedAt !== to.endedAt) note('ended_at', timestamp(from.endedAt), timestamp(to.endedAt))
  if (before.agent !== after.agent) note('agent_name', before.agent, after.agent)
  if (before.provider !== after.provider) note('provider', before.provider, after.provider)
  if (from.source !== to.source) note('source', from.source, to.source)
  if (from.superseded !== to.superseded) note('superseded', from.superseded, to.superseded)
  return Object.keys(changed.after).length > 0 ? changed : {}
}
