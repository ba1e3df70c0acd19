/** Decisions of people about entries, one or many: approving, rejecting, reopening, withdrawing an approval. */

import { type Actor, actingFor, type Party } from '../../../access/actor.ts'
import type { Represented } from '../../../access/caller.ts'
import { type Approver, approversOf, EVERYTHING, type PendingScope, type Viewer } from '../../../access/visibility.ts'
import type { Database, Reader, Tx } from '../../../database/database.ts'
import type { LaterReports, SessionDuplicate, Status } from '../../../database/schema/values.ts'
import { type Issue, notFound, Problem, validationFailed } from '../../../errors.ts'
import type { Clock } from '../../../lib/clock.ts'
import { isId } from '../../../lib/id.ts'
import { moneyNumber } from '../../../lib/money.ts'
import { type AuditService, requireUnchanged } from '../../audit/service.ts'
import type { EntryFilter } from '../../selection/contract.ts'
import type { FundingRedecision } from '../funding/redecision.ts'
import { recordHistory } from '../history/record.ts'
import { type Selected, type Selection, select } from '../listing/selection.ts'
import { findView } from '../listing/store/lists.ts'
import { afterAllStarts } from '../reporting/report.ts'
import { costNanosOf } from '../rows.ts'
import type { TokenEntry } from '../schema.ts'
import { followSessions } from '../session-owner.ts'
import { toTokenEntry } from '../wire.ts'
import { type Decision, ENTRY_TRANSITIONS, requireRight, transitionFrom } from './states.ts'
import {
  countHeld,
  type DecidableEntry,
  decideSessions,
  listDecidable,
  listDecidableByIds,
  listDecidableOfSessions,
  listProjectsById,
  saveLaterReports,
  updateStatuses,
} from './store.ts'
import { dearestFirst, sumByProject, type WaitingSum } from './waiting.ts'

/** Whose approval entries wait for. */
export type Approving = NonNullable<Party['person']> & Pick<Represented, 'uid'>

export interface DecisionRequest {
  action: Decision
  /** Required to reject or void, not allowed otherwise. */
  reason?: string | undefined
  /** Only to void; by default they add a new part. */
  laterReports?: LaterReports | undefined
  /** Only reports what would be done. */
  dryRun?: boolean | undefined
}

/** The result for one of many entries. */
export interface Decided {
  id: string
  /** Its status after the decision; null if it does not exist or is not visible to the caller. */
  status: Status | null
  /** Why nothing was done; null if the decision was carried out. */
  problem: Problem | null
}

export interface DecidedMany {
  results: Decided[]
  done: number
  /** The sum of the known costs of these entries. */
  costNanos: bigint
  /** The number of these entries that have no known cost. */
  unpricedEntries: number
}

/** The names of the actions in the history of an entry and in the audit log. */
const DONE = {
  approve: 'approved',
  reject: 'rejected',
  reopen: 'reopened',
  withdraw_approval: 'approval_withdrawn',
  release: 'released',
  discard: 'discarded',
  void: 'voided',
  restore: 'restored',
} as const satisfies Record<Decision, string>

/** Decisions that have to be explained to the owner of the entry. */
const EXPLAINED: ReadonlySet<Decision> = new Set(['reject', 'void'])

/** What a decision says of the session, if it is about possible duplicates. */
const DUPLICATE: Partial<Record<Decision, SessionDuplicate>> = { release: 'released', discard: 'discarded' }

/** After these, entries can change again, and follow what has happened to their session. */
const FOLLOWED: ReadonlySet<Decision> = new Set(['withdraw_approval', 'reopen', 'restore'])

function isFrom(action: Decision, status: Status): boolean {
  return ENTRY_TRANSITIONS.some((transition) => transition.action === action && transition.from === status)
}

function targetOf(action: Decision): Status {
  return ENTRY_TRANSITIONS.find((transition) => transition.action === action)!.to
}

function sessionsOf(entries: readonly DecidableEntry[]): number[] {
  return [...new Set(entries.flatMap(({ sessionId }) => sessionId ?? []))]
}

/** To everyone else, the entry still is what it was before. */
function beingBilled({ uid }: DecidableEntry): Problem {
  return new Problem(
    'wrong_status',
    `Entry ${uid} is on a bill that is being sent or voided at this moment. Try again in a few seconds.`,
  )
}

function countedElsewhere(uid: string, whole: string): Problem {
  return new Problem(
    'wrong_status',
    `Entry ${uid} was a part of entry ${whole} until its division was undone. Its usage counts there, so it cannot be restored.`,
  )
}

function onASheet({ uid, sheet }: DecidableEntry): Problem {
  return new Problem(
    'on_a_sheet',
    `Entry ${uid} belongs to token sheet ${sheet}. Approve, return or withdraw the approval of the sheet instead.`,
  )
}

/** Throws 422 if a required reason is missing, or if a field belongs to another action. */
function requireFields({ action, reason, laterReports }: DecisionRequest): void {
  const issues: Issue[] = []
  if (reason === undefined && EXPLAINED.has(action)) {
    const message = 'is required: explain the decision to the owner of the entry'
    issues.push({ pointer: '/reason', code: 'required', message })
  }
  const foreign = (field: string, actions: Iterable<Decision>) => {
    const message = `is only allowed for the action ${[...actions].join(' or ')}`
    issues.push({ pointer: `/${field}`, code: 'not_allowed', message })
  }
  if (reason !== undefined && !EXPLAINED.has(action)) foreign('reason', EXPLAINED)
  if (laterReports !== undefined && action !== 'void') foreign('later_reports', ['void'])
  if (issues.length > 0) throw validationFailed(issues)
}

/** The fields of a decision that the history and the audit log keep. */
function explanationOf({ reason, laterReports }: DecisionRequest): Record<string, unknown> {
  return { ...(reason !== undefined && { reason }), ...(laterReports !== undefined && { later_reports: laterReports }) }
}

interface Dependencies {
  db: Database
  clock: Clock
  audit: Pick<AuditService, 'record'>
  decideAgain: FundingRedecision['decideAgain']
}

export function createApproval({ db, clock, audit, decideAgain }: Dependencies) {
  /**
   * Changes the status of the entries, all of which must allow it, and records it in the history of each. Returns what
   * the status of each is then.
   */
  async function changeStatuses(
    tx: Tx,
    entries: DecidableEntry[],
    request: DecisionRequest,
    by: Actor,
  ): Promise<(entry: DecidableEntry) => Status> {
    const now = clock.now()
    const { action } = request
    const to = targetOf(action)
    for (const [from, alike] of Map.groupBy(entries, ({ status }) => status)) {
      const ids = alike.map(({ id }) => id)
      await updateStatuses(tx, { ids, from, to, now })
    }
    if (action === 'void') await saveLaterReports(tx, entries, request.laterReports ?? 'new_part')
    await recordHistory(
      tx,
      { action: DONE[action], at: now, by },
      entries.map(({ id, status: from }) => ({
        entryId: id,
        details: { status: { from, to }, ...explanationOf(request) },
      })),
    )
    const duplicate = DUPLICATE[action]
    if (duplicate) await decideSessions(tx, sessionsOf(entries), duplicate)
    if (!FOLLOWED.has(action)) return () => to
    const ids = entries.map(({ id }) => id)
    const followed = await followSessions(tx, ids, { at: now, by })
    await decideAgain(tx, ids, by)
    return ({ id }) => followed.get(id) ?? to
  }

  /** A decision about a possible duplicate is one about its session: the other entries that it can change follow. */
  async function withSession(
    reader: Reader,
    entries: DecidableEntry[],
    { action }: DecisionRequest,
  ): Promise<DecidableEntry[]> {
    if (!DUPLICATE[action]) return entries
    const selected = new Set(entries.map(({ id }) => id))
    const others = await listDecidableOfSessions(reader, sessionsOf(entries))
    const follows = ({ id, status }: DecidableEntry) => !selected.has(id) && isFrom(action, status)
    return [...entries, ...others.filter(follows)]
  }

  return {
    /**
     * Approves, rejects or reopens one entry, or withdraws its approval. Throws `not_found`, `forbidden` (403),
     * `on_a_sheet` and `wrong_status` (409).
     */
    async decideEntry(id: string, request: DecisionRequest, { viewer, person, by }: Party): Promise<TokenEntry> {
      requireFields(request)
      if (!isId('ent', id)) throw notFound(`The entry ${id}`)
      return db.write(async (tx) => {
        const [entry] = await listDecidableByIds(tx, [id], viewer)
        if (!entry) throw notFound(`The entry ${id}`)
        const forId = requireDecidable(entry, request.action, person, await approversOf(tx, viewer))
        await requireUnchanged(tx, by, id)
        const acting = actingFor({ person, by }, forId)
        const statusOf = await changeStatuses(tx, await withSession(tx, [entry], request), request, acting)
        await audit.record(tx, acting, {
          action: `entry.${DONE[request.action]}`,
          object: { id, name: id },
          before: { status: entry.status },
          after: { status: statusOf(entry), ...explanationOf(request) },
        })
        // An approver may no longer see it, such as when it is held again.
        return toTokenEntry((await findView(tx, id, EVERYTHING))!)
      })
    },

    /**
     * Does the same for up to 10,000 entries in one transaction. An entry that can't be changed has its problem in the
     * results; the others are changed. Throws `too_many_entries` (422).
     */
    async decideEntries(
      selection: Selection,
      request: DecisionRequest,
      { viewer, person, by }: Party,
    ): Promise<DecidedMany> {
      requireFields(request)
      const decide = async (reader: Reader) => {
        const approvers = await approversOf(reader, viewer)
        const selected = checked(await selectDecidable(reader, selection, viewer), (entry) =>
          requireDecidable(entry, request.action, person, approvers),
        )
        const entries = selected.flatMap(({ entry, problem }) => (entry && !problem ? [entry] : []))
        const following = (await withSession(reader, entries, request)).slice(entries.length)
        return [...selected, ...following.map((entry) => ({ id: entry.uid, entry, problem: null }))]
      }
      if (request.dryRun) return summaryOf(await decide(db.slow), request.action)
      return db.write(async (tx) => {
        const all = await decide(tx)
        const statuses = new Map<DecidableEntry, Status>()
        // A deputy's decisions are recorded apart for each person for whom they were made.
        for (const [forId, alike] of Map.groupBy(all.filter(isDone), (one) => one.forId)) {
          const acting = actingFor({ person, by }, forId)
          const entries = alike.map(({ entry }) => entry)
          const statusOf = await changeStatuses(tx, entries, request, acting)
          for (const entry of entries) statuses.set(entry, statusOf(entry))
          const { costNanos, unpricedEntries } = summaryOf(alike, request.action)
          await audit.record(tx, acting, {
            action: `entries.${DONE[request.action]}`,
            after: {
              entries: entries.length,
              cost: moneyNumber(costNanos),
              unpriced_entries: unpricedEntries,
              ...explanationOf(request),
            },
          })
        }
        return summaryOf(all, request.action, (entry) => statuses.get(entry)!)
      })
    },

    /** The number of a person's entries that wait for a decision about a possible duplicate. */
    countHeld: (userId: number): Promise<number> => countHeld(db.read, userId),

    /** Filters of the entries that {@link sumWaiting} sums; none for somebody who approves nothing. */
    waitingFilters: (person: Approving, viewer: Viewer): Promise<EntryFilter[]> =>
      waitingFilters(db.read, person, viewer),

    /**
     * Entries that wait for this person's approval and are not on a sheet, summed by project, the highest cost first.
     */
    async sumWaiting(
      { person, viewer }: { person: Approving | null; viewer: Viewer },
      period: Pick<EntryFilter, 'starting_at' | 'ending_at'>,
    ): Promise<WaitingSum[]> {
      const bounds: [number, number] = [period.starting_at ?? 0, period.ending_at ?? afterAllStarts(clock.now())]
      const sums = await Promise.all(
        (await waitingFilters(db.read, person, viewer)).map((filter) => sumByProject(db, { viewer, filter, bounds })),
      )
      return sums.flat().sort(dearestFirst)
    },
  }
}

/**
 * Filters of which each entry that {@link sumWaiting} sums matches exactly one, and no other entry any: whoever decides
 * for somebody else may not decide about that person's entries in the projects that they have no right of their own in.
 */
async function waitingFilters(reader: Reader, person: Approving | null, viewer: Viewer): Promise<EntryFilter[]> {
  const waiting: EntryFilter = { status: ['submitted'], superseded: false }
  if (viewer.sees === 'everything') {
    return [!person || person.role === 'admin' ? waiting : { ...waiting, without_agent_manager: [person.uid] }]
  }
  if (!person) return []
  const [own, ...represented] = await approversOf(reader, viewer)
  const excludedOf = (projectId: number): string[] => {
    const deciders = represented.filter(({ projectIds }) => projectIds.has(projectId))
    const isOnlyFor = own!.projectIds.has(projectId) || deciders.length !== 1 ? undefined : deciders[0]!.userId
    const principal = person.actsFor?.find(({ id }) => id === isOnlyFor)
    return [person.uid, ...(principal ? [principal.uid] : [])]
  }
  const ids = [own!, ...represented].flatMap(({ projectIds }) => [...projectIds])
  const projects = await listProjectsById(reader, [...new Set(ids)])
  const groups = Map.groupBy(projects, ({ id }) => excludedOf(id).join())
  return [...groups.values()].map((alike) => ({
    ...waiting,
    project: alike.map(({ uid }) => uid),
    without_agent_manager: excludedOf(alike[0]!.id),
  }))
}

/** Filter for the entries and sheets that wait for a person's approval. */
export function waitingFor(person: Party['person'], viewer: Viewer): PendingScope {
  return {
    notOf: person === null || person.role === 'admin' ? undefined : person.id,
    approverIds: viewer.sees === 'everything' ? undefined : viewer.decidesFor,
  }
}

function selectDecidable(reader: Reader, selection: Selection, viewer: Viewer): Promise<Selected<DecidableEntry>[]> {
  return select(selection, {
    byFilter: (filter, limit) => listDecidable(reader, { filter, viewer, limit }),
    byIds: (ids) => listDecidableByIds(reader, ids, viewer),
    idOf: ({ uid }) => uid,
  })
}

interface Checked extends Selected<DecidableEntry> {
  problem: Problem | null
  /** The person for whom a deputy decides. */
  forId?: number | undefined
}

function checked(
  selected: Selected<DecidableEntry>[],
  check: (entry: DecidableEntry) => number | undefined,
): Checked[] {
  return selected.map(({ id, entry }) => {
    try {
      if (!entry) throw notFound(`The entry ${id}`)
      return { id, entry, problem: null, forId: check(entry) }
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem
      return { id, entry, problem }
    }
  })
}

function isDone(one: Checked): one is Checked & { entry: DecidableEntry } {
  return one.entry !== undefined && one.problem === null
}

/**
 * Returns the person for whom a deputy does it. Throws if this person may not take the action with this entry in its
 * current state.
 */
function requireDecidable(
  entry: DecidableEntry,
  action: Decision,
  person: Party['person'],
  approvers: readonly Approver[],
): number | undefined {
  const name = `entry ${entry.uid}`
  const subject = { name, ownerId: entry.managerId, projectIds: [entry.projectId] }
  const forId = requireRight(action, ENTRY_TRANSITIONS, subject, person, approvers)
  if (entry.status === 'billed' && entry.bill === null) throw beingBilled(entry)
  if (entry.sheet !== null) throw onASheet(entry)
  if (action === 'restore' && entry.amendment?.undivided) throw countedElsewhere(entry.uid, entry.amendment.undivided)
  transitionFrom(ENTRY_TRANSITIONS, action, entry.status, name)
  return forId
}

function summaryOf(
  all: Checked[],
  action: Decision,
  statusOf: (entry: DecidableEntry) => Status = () => targetOf(action),
): DecidedMany {
  const summary: DecidedMany = { results: [], done: 0, costNanos: 0n, unpricedEntries: 0 }
  for (const one of all) {
    const { id, entry, problem } = one
    summary.results.push({ id, status: isDone(one) ? statusOf(one.entry) : (entry?.status ?? null), problem })
    if (!isDone(one)) continue
    const costNanos = costNanosOf(one.entry)
    summary.done += 1
    summary.costNanos += costNanos ?? 0n
    if (costNanos === null) summary.unpricedEntries += 1
  }
  return summary
}
