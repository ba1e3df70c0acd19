/** What people decide about entries: approving, rejecting, re-opening, withdrawing an approval; of one or of many. */

import type { Actor, Party } from '../../../access/actor.ts'
import type { Viewer } from '../../../access/visibility.ts'
import type { Database, Reader, Tx } from '../../../database/database.ts'
import type { Status } from '../../../database/schema/values.ts'
import { notFound, Problem, validationFailed } from '../../../errors.ts'
import type { Clock } from '../../../lib/clock.ts'
import { isId } from '../../../lib/id.ts'
import { moneyNumber } from '../../../lib/money.ts'
import type { AuditService } from '../../audit/service.ts'
import { insertHistory } from '../history/store.ts'
import type { EntryFilter } from '../listing/filter.ts'
import { type Selected, type Selection, select } from '../listing/selection.ts'
import { findView } from '../listing/store/lists.ts'
import { costNanosOf } from '../rows.ts'
import type { TokenEntry } from '../schema.ts'
import { toTokenEntry } from '../wire.ts'
import { type Decision, ENTRY_TRANSITIONS, requireRight, transitionFrom } from './states.ts'
import {
  type DecidableEntry,
  listDecidable,
  listDecidableByIds,
  listLedIds,
  sumWaiting,
  updateStatuses,
  type WaitingSum,
} from './store.ts'

export interface DecisionRequest {
  action: Decision
  /** Why; a rejection has one. */
  reason?: string | undefined
  /** Only says what would be done. */
  dryRun?: boolean | undefined
}

/** What became of one of many entries. */
export interface Decided {
  id: string
  /** The status that it has now; null for one that is not there to be seen. */
  status: Status | null
  /** Why nothing was done; null where it was. */
  problem: Problem | null
}

export interface DecidedMany {
  results: Decided[]
  done: number
  /** The sum of the known costs of what was done. */
  costNanos: bigint
  /** Those among what was done whose cost is unknown. */
  unpricedEntries: number
}

/** How the history of an entry and the audit trail call what was done. */
const DONE: Record<Decision, string> = {
  approve: 'approved',
  reject: 'rejected',
  reopen: 'reopened',
  withdraw_approval: 'approval_withdrawn',
}

function onASheet({ uid, sheet }: DecidableEntry): Problem {
  return new Problem(
    'on_a_sheet',
    `Entry ${uid} belongs to token sheet ${sheet}. Approve, return or withdraw the approval of the sheet instead.`,
  )
}

/** Throws 422 where a reason is missing, or given for what asks for none. */
function requireReason({ action, reason }: Pick<DecisionRequest, 'action' | 'reason'>): void {
  const isNeeded = action === 'reject'
  if ((reason !== undefined) === isNeeded) return
  const message = isNeeded
    ? 'is required: explain the rejection to the owner of the entry'
    : 'is only allowed for the action reject'
  throw validationFailed([{ pointer: '/reason', code: isNeeded ? 'required' : 'not_allowed', message }])
}

interface Dependencies {
  db: Database
  clock: Clock
  audit: Pick<AuditService, 'record'>
}

export function createApproval({ db, clock, audit }: Dependencies) {
  /** Moves the entries, all of which may be moved, and leaves a trace with each. */
  async function carryOut(
    tx: Tx,
    entries: DecidableEntry[],
    { action, reason }: DecisionRequest,
    by: Actor,
  ): Promise<Status> {
    const now = clock.now()
    const { from, to } = ENTRY_TRANSITIONS.find((transition) => transition.action === action)!
    await updateStatuses(tx, { ids: entries.map(({ id }) => id), from: from!, to, now })
    await insertHistory(
      tx,
      { action: DONE[action], at: now, by },
      entries.map(({ id }) => ({
        entryId: id,
        details: { status: { from, to }, ...(reason === undefined ? {} : { reason }) },
      })),
    )
    return to
  }

  return {
    /**
     * Approves, rejects, re-opens or withdraws the approval of one entry. Throws `not_found`, `forbidden` (403),
     * `on_a_sheet` and `wrong_status` (409).
     */
    async decideEntry(id: string, asked: DecisionRequest, { viewer, person, by }: Party): Promise<TokenEntry> {
      requireReason(asked)
      if (!isId('ent', id)) throw notFound(`The entry ${id}`)
      return db.write(async (tx) => {
        const [entry] = await listDecidableByIds(tx, [id], viewer)
        if (!entry) throw notFound(`The entry ${id}`)
        requireDecidable(entry, asked.action, person, await ledBy(tx, person))
        const to = await carryOut(tx, [entry], asked, by)
        await audit.record(tx, by, {
          action: `entry.${DONE[asked.action]}`,
          object: { id, name: id },
          before: { status: entry.status },
          after: { status: to, ...(asked.reason === undefined ? {} : { reason: asked.reason }) },
        })
        return toTokenEntry((await findView(tx, id, viewer))!)
      })
    },

    /**
     * The same of up to 10,000 entries in one transaction. What cannot be done with one of them is told of that one,
     * and done with the others. Throws `too_many_entries` (422).
     */
    async decideEntries(
      selection: Selection,
      asked: DecisionRequest,
      { viewer, person, by }: Party,
    ): Promise<DecidedMany> {
      requireReason(asked)
      const decide = async (reader: Reader) => {
        const ledIds = await ledBy(reader, person)
        return judged(await selectDecidable(reader, selection, viewer), (entry) =>
          requireDecidable(entry, asked.action, person, ledIds),
        )
      }
      if (asked.dryRun) return summed(await decide(db.slow), asked.action)
      return db.write(async (tx) => {
        const all = await decide(tx)
        const entries = all.flatMap(({ entry, problem }) => (entry && !problem ? [entry] : []))
        const summary = summed(all, asked.action)
        if (entries.length === 0) return summary
        await carryOut(tx, entries, asked, by)
        await audit.record(tx, by, {
          action: `entries.${DONE[asked.action]}`,
          after: {
            entries: entries.length,
            cost: moneyNumber(summary.costNanos),
            unpriced_entries: summary.unpricedEntries,
            ...(asked.reason === undefined ? {} : { reason: asked.reason }),
          },
        })
        return summary
      })
    },

    /** The keys of the projects that the person leads. */
    listLedIds: ledBy,

    /** What waits for this person's approval and is on no sheet, by project, the dearest first. */
    sumWaiting: (person: Party['person'], filter: EntryFilter): Promise<WaitingSum[]> =>
      sumWaiting(db.slow, waitingFor(person), filter),
  }
}

/** Whose entries and sheets wait for a person. */
export function waitingFor(person: Party['person']): { notOf: number | undefined; ledBy: number | undefined } {
  return {
    notOf: person === null || person.role === 'admin' ? undefined : person.id,
    ledBy: person?.role === 'member' ? person.id : undefined,
  }
}

async function ledBy(reader: Reader, person: Party['person']): Promise<Set<number>> {
  return person === null ? new Set() : listLedIds(reader, person.id)
}

function selectDecidable(reader: Reader, selection: Selection, viewer: Viewer): Promise<Selected<DecidableEntry>[]> {
  return select(selection, {
    byFilter: (filter, limit) => listDecidable(reader, { filter, viewer, limit }),
    byIds: (ids) => listDecidableByIds(reader, ids, viewer),
    idOf: ({ uid }) => uid,
  })
}

interface Judged extends Selected<DecidableEntry> {
  problem: Problem | null
}

function judged(selected: Selected<DecidableEntry>[], judge: (entry: DecidableEntry) => void): Judged[] {
  return selected.map(({ id, entry }) => {
    try {
      if (!entry) throw notFound(`The entry ${id}`)
      judge(entry)
      return { id, entry, problem: null }
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem
      return { id, entry, problem }
    }
  })
}

/** Throws where this person may not take the action with this entry, as it is. */
function requireDecidable(
  entry: DecidableEntry,
  action: Decision,
  person: Party['person'],
  ledIds: ReadonlySet<number>,
): void {
  const name = `entry ${entry.uid}`
  const subject = { name, ownerId: entry.managerId, projectIds: [entry.projectId] }
  requireRight(action, ENTRY_TRANSITIONS, subject, person, ledIds)
  if (entry.sheet !== null) throw onASheet(entry)
  transitionFrom(ENTRY_TRANSITIONS, action, entry.status, name)
}

function summed(all: Judged[], action: Decision): DecidedMany {
  const { to } = ENTRY_TRANSITIONS.find((transition) => transition.action === action)!
  const summary: DecidedMany = { results: [], done: 0, costNanos: 0n, unpricedEntries: 0 }
  for (const { id, entry, problem } of all) {
    const isDone = entry !== undefined && problem === null
    summary.results.push({ id, status: isDone ? to : (entry?.status ?? null), problem })
    if (!isDone) continue
    const costNanos = costNanosOf(entry)
    summary.done += 1
    summary.costNanos += costNanos ?? 0n
    if (costNanos === null) summary.unpricedEntries += 1
  }
  return summary
}
