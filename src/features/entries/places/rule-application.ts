/**
 * Applies the placement rules to stored entries (docs/design/concepts.md, "Placement"): to unattributed ones, and to
 * those that a rule placed.
 *
 * Entries that a person placed or a report named never move; nor do those that are approved, on a submitted sheet or
 * billed.
 */

import type { Actor } from '../../../access/actor.ts'
import type { Database, Reader, Tx } from '../../../database/database.ts'
import { rehearse } from '../../../database/dry-run.ts'
import { validationFailed } from '../../../errors.ts'
import type { Clock } from '../../../lib/clock.ts'
import { moneyNumber } from '../../../lib/money.ts'
import { badPage, Query, type QueryTexts } from '../../../schema/query.ts'
import type { AuditService } from '../../audit/service.ts'
import type { Placement, PlacementService, RuleSet } from '../../placement/service.ts'
import { type EntryFilter, type Position, readFilter } from '../../selection/contract.ts'
import { recordHistory } from '../history/record.ts'
import { placementColumns } from '../reporting/record.ts'
import { moveOwnTicketEntries } from '../reporting/store/sessions.ts'
import { costNanosOf, isLocked } from '../rows.ts'
import { type Applied, type Move, MoveTotals } from './moves.ts'
import { isForRules, placeAgain, placeOf, subjectOf } from './placed-entry.ts'
import {
  changeEntries,
  countApplicable,
  listPlaced,
  listPlacedByRule,
  listTicketUids,
  listUnattributed,
  listUsedRuleVersions,
  type PlacedEntry,
} from './store/places.ts'

/** Entries per transaction: about 50 ms if all of them move, during which reports wait. */
const BATCH = 500

/** Groups per response. A rule that composes tickets creates one per ticket, and responses must be bounded. */
const GROUPS_LIMIT = 5_000

/** The entries that rules are applied to: unplaced ones, and with `rule_placed` also those placed by rules. */
export const SCOPES = ['unattributed', 'rule_placed'] as const
export type Scope = (typeof SCOPES)[number]

export interface RuleApplicationRequest {
  scope: Scope
  filter: EntryFilter
  /** The position at which the previous call ended; undefined to start at the beginning. */
  after?: Walk | undefined
}

export interface RuleApplicationOptions {
  /** Only reports what would move: the same is done, and rolled back. */
  dryRun?: boolean | undefined
  by: Actor
  /** Number of moves to list individually, after which the call ends; 0 for sums only. */
  limit: number
  /** Ends the call after the batch that exceeds this time, so that a caller over HTTP gets a response. */
  budgetMs?: number | undefined
  /** Called with the number of processed entries, and the total. */
  onProgress?: ((done: number, total: number) => void) | undefined
}

/** The position in the walk over the entries: first unattributed ones, newest first, then each rule's, by key. */
export type Walk = { lane: 0; after: Position | undefined } | { lane: number; after: number }

function writeWalk(walk: Walk): string {
  const place = typeof walk.after === 'number' ? [walk.after] : walk.after ? [walk.after.startedAt, walk.after.id] : []
  return Buffer.from([walk.lane, ...place].join('.')).toString('base64url')
}

export function readWalk(page: string): Walk | undefined {
  const text = Buffer.from(page, 'base64url').toString('latin1')
  if (!/^(0(\.-?\d{1,15}\.\d{1,16})?|[1-9]\d{0,14}\.\d{1,16})$/.test(text)) return undefined
  const [lane, ...place] = text.split('.').map(Number)
  if (lane !== 0) return { lane: lane!, after: place[0]! }
  return { lane: 0, after: place.length === 2 ? { startedAt: place[0]!, id: place[1]! } : undefined }
}

/** Parses the parameters of a call. Throws 422 with every issue. */
export function readRuleApplication(
  { scope, page }: { scope: Scope; page?: string | undefined },
  filters: QueryTexts,
  timeZone: string,
): RuleApplicationRequest {
  const query = new Query(filters)
  const filter = readFilter(query, timeZone)
  query.finish()
  const after = page === undefined ? undefined : readWalk(page)
  if (page !== undefined && !after) throw validationFailed([badPage('/page')])
  return { scope, filter, after }
}

interface Dependencies {
  db: Database
  clock: Clock
  audit: AuditService
  placement: PlacementService
}

export function createRuleApplication({ db, clock, audit, placement }: Dependencies) {
  /** Applies the current rules to the current state of the entries, both as of this transaction. */
  async function moveAll(tx: Tx, ids: number[], by: Actor): Promise<Move[]> {
    const rules = await placement.rules(tx)
    const moves: Move[] = []
    const current = new Map((await listPlaced(tx, ids)).map((placed) => [placed.entry.id, placed]))
    for (const placed of ids.flatMap((id) => current.get(id) ?? [])) {
      if (isLocked(placed.entry) || !isForRules(placed)) continue
      const found = await placeAgain(tx, placement, placed)
      const move = moveOf(placed, found, rules)
      if (!move) continue
      await changeEntries(tx, [placed.entry.id], { ...placementColumns(found), updatedAt: clock.now() })
      moves.push(move)
      if (found.ticketFoundProject) moves.push(...(await moveAlong(tx, found, placed, move.rule)))
    }
    await record(tx, moves, by)
    return moves
  }

  /** Moves the person's other entries on a ticket that got its project from this entry. */
  async function moveAlong(tx: Tx, found: Placement, placed: PlacedEntry, rule: Move['rule']): Promise<Move[]> {
    const ids = await moveOwnTicketEntries(tx, {
      ticketId: found.ticket!.id,
      projectId: found.project!.id,
      managerId: placed.manager.id,
    })
    const others = await listPlaced(
      tx,
      ids.filter((id) => id !== placed.entry.id),
    )
    return others.map((other) => ({
      placed: other,
      from: { ...placeOf(other), project: null },
      to: placeOf(other),
      rule,
      costNanos: costNanosOf(other.entry),
      note: `Ticket ${found.ticket!.key} was assigned to its project.`,
    }))
  }

  async function record(tx: Tx, moves: Move[], by: Actor): Promise<void> {
    if (moves.length === 0) return
    await recordHistory(
      tx,
      { action: 'placed', at: clock.now(), by },
      moves.map(({ placed, from, to, rule, note }) => ({
        entryId: placed.entry.id,
        details: {
          because: 'rules_applied',
          from,
          to,
          ...(rule && { rule: { id: rule.uid, name: rule.name, version: rule.version } }),
          ...(note !== null && { note }),
        },
      })),
    )
    await audit.record(tx, by, {
      action: 'placement_rules.applied',
      after: {
        entries: moves.length,
        cost: moneyNumber(moves.reduce((sum, { costNanos }) => sum + (costNanos ?? 0n), 0n)),
      },
    })
  }

  async function carryOut(ids: number[], { dryRun, by }: RuleApplicationOptions): Promise<Move[]> {
    if (ids.length === 0) return []
    if (!dryRun) return db.write((tx) => moveAll(tx, ids, by))
    return withoutLostTickets(db.read, await rehearse(db, (tx) => moveAll(tx, ids, by)))
  }

  return {
    /**
     * Applies the rules and moves entries that they place elsewhere; an entry that a rule placed and that no rule
     * matches any more becomes unattributed. Each batch is durable by itself, so an interrupted call can simply be
     * repeated.
     */
    async applyRules(request: RuleApplicationRequest, options: RuleApplicationOptions): Promise<Applied> {
      const { limit, budgetMs = Number.POSITIVE_INFINITY, onProgress } = options
      const startedAt = performance.now()
      const tally = new MoveTotals()
      const batch = limit === 0 ? BATCH : Math.min(BATCH, limit)
      const total = onProgress && (await countApplicable(db.slow, request))
      let done = 0
      for await (const { page, next } of pagesOf(db, request, batch)) {
        // Entries that the rules leave in place don't have to wait for the writer.
        const rules = await placement.rules(db.read)
        const candidates = page.filter((placed) => mayMove(placed, rules)).map(({ entry }) => entry.id)
        tally.add(await carryOut(candidates, options), limit > 0)
        done += page.length
        onProgress?.(done, total!)
        if (!next) break
        const isFull = tally.groups.size >= GROUPS_LIMIT || (limit > 0 && tally.moves.length + batch > limit)
        if (isFull || performance.now() - startedAt >= budgetMs) return tally.applied(writeWalk(next))
      }
      return tally.applied(null)
    },
  }
}

/** The moves without the ids of tickets that were rolled back with their transaction. */
async function withoutLostTickets(reader: Reader, moves: Move[]): Promise<Move[]> {
  const uids = new Set(moves.flatMap(({ to }) => to.ticket?.id ?? []))
  const kept = await listTicketUids(reader, [...uids])
  return moves.map((move) => {
    const { ticket } = move.to
    return ticket?.id && !kept.has(ticket.id) ? { ...move, to: { ...move.to, ticket: { ...ticket, id: null } } } : move
  })
}

/** Whether applying the rules could move the entry, as far as this is known without looking up tickets. */
function mayMove(placed: PlacedEntry, rules: RuleSet): boolean {
  const { entry, ticket } = placed
  if (entry.namedProject !== null || entry.namedTicket !== null) return true
  const match = rules.findMatch(subjectOf(placed))
  if (!match) return entry.placedBy !== null
  return entry.projectId !== match.rule.project.id || (ticket?.key ?? null) !== match.ticketKey
}

/** The entry's move; undefined if it stays. */
function moveOf(placed: PlacedEntry, found: Placement, rules: RuleSet): Move | undefined {
  const { entry } = placed
  if (entry.projectId === (found.project?.id ?? null) && entry.ticketId === (found.ticket?.id ?? null)) return undefined
  return {
    placed,
    from: placeOf(placed),
    to: placeOf({ project: found.project, ticket: found.ticket, by: found.by ?? 'unattributed' }),
    rule: rules.rules.find(({ versionId }) => versionId === found.ruleVersionId) ?? null,
    costNanos: costNanosOf(entry),
    note: found.note,
  }
}

/** Pages of entries to apply rules to, each with the position of the next one; undefined after the last. */
async function* pagesOf(
  { slow }: Pick<Database, 'slow'>,
  { scope, filter, after }: RuleApplicationRequest,
  limit: number,
): AsyncGenerator<{ page: PlacedEntry[]; next: Walk | undefined }> {
  const first = after ?? { lane: 0, after: undefined }
  const versions = scope === 'rule_placed' ? await listUsedRuleVersions(slow, Math.max(1, first.lane)) : []
  for (const lane of first.lane === 0 ? [0, ...versions] : versions) {
    const following = versions.find((version) => version > lane)
    const nextLane: Walk | undefined = following === undefined ? undefined : { lane: following, after: 0 }
    let from = first.lane === lane ? first.after : undefined
    for (;;) {
      const page: PlacedEntry[] =
        lane === 0
          ? await listUnattributed(slow, { filter, after: from as Position | undefined, limit })
          : await listPlacedByRule(slow, lane, { filter, after: (from as number | undefined) ?? 0, limit })
      const last = page.at(-1)?.entry
      if (!last || page.length < limit) {
        yield { page, next: nextLane }
        break
      }
      from = lane === 0 ? { startedAt: last.startedAt, id: last.id } : last.id
      yield { page, next: { lane, after: from } as Walk }
    }
  }
}
