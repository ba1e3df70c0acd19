/**
 * Trying a rule that a lead proposes, on the unattributed entries of its repository that they see. Writes nothing. Of the
 * existing rules, which may name people and clients, it says only that one of them comes first.
 */

import type { Party } from '../../../access/actor.ts'
import type { Database } from '../../../database/database.ts'
import { yieldTurn } from '../../../lib/portions.ts'
import { Query } from '../../../schema/query.ts'
import { type CheckedProposal, matchOf, type PlacementService } from '../../placement/service.ts'
import { readFilter } from '../../selection/contract.ts'
import { costNanosOf, isLocked } from '../rows.ts'
import { isForRules, subjectOf } from './placed-entry.ts'
import { listPlacedNewest, type PlacedEntry } from './store/places.ts'

/** The newest entries that are tried: more than a lead looks through. */
const TRIED_LIMIT = 1_000

/** Entries that are listed one by one. */
const LISTED = 20

/** How long rules are compared before other requests get a turn, and altogether; an ordinary test takes 20 ms. */
const PORTION_MS = 10
const TOTAL_MS = 250

export interface ProposalTest {
  /** Entries that the rule would assign, the newest first. */
  matched: { placed: PlacedEntry; ticketKey: string | null; note: string | null }[]
  entries: number
  costNanos: bigint
  unpricedEntries: number
  /** Entries that an existing rule would assign instead. */
  earlier: number
  tried: number
  /** Whether there are more entries than were tried. */
  hasMore: boolean
}

export function createProposalTest({ db, placement }: { db: Database; placement: PlacementService }) {
  type Given = Parameters<PlacementService['checkProposal']>[1]

  /** The last test of each person who has one running. Their share of time is checked as each begins. */
  const turns = new Map<number, Promise<unknown>>()
  function inTurn(personId: number, work: () => Promise<ProposalTest>): Promise<ProposalTest> {
    const turn = (turns.get(personId) ?? Promise.resolve()).then(work)
    const ended = turn
      .catch(() => undefined)
      .then(() => {
        if (turns.get(personId) === ended) turns.delete(personId)
      })
    turns.set(personId, ended)
    return turn
  }

  async function test(party: Party, given: Given): Promise<ProposalTest> {
    const proposal = await placement.checkProposal(party, given)
    const filter = readFilter(new Query({ label: `repository:${given.repository}`, placed: 'none' }), 'UTC')
    const { viewer } = party
    const found = await listPlacedNewest(db.slow, { filter, viewer, limit: TRIED_LIMIT + 1 })
    const rules = await placement.rules(db.read)
    return tryAll(proposal, rules, found)
  }

  return {
    /** One at a time for each person, so that nobody keeps the server busy with many. Throws as `proposeRule`. */
    testProposal: (party: Party, given: Given): Promise<ProposalTest> =>
      party.person === null ? test(party, given) : inTurn(party.person.id, () => test(party, given)),
  }
}

async function tryAll(
  proposal: CheckedProposal,
  rules: Awaited<ReturnType<PlacementService['rules']>>,
  found: PlacedEntry[],
): Promise<ProposalTest> {
  const result: ProposalTest = {
    matched: [],
    entries: 0,
    costNanos: 0n,
    unpricedEntries: 0,
    earlier: 0,
    tried: 0,
    hasMore: false,
  }
  let spentMs = 0
  let startedAt = performance.now()
  const stop = () => {
    const ms = performance.now() - startedAt
    spentMs += ms
    proposal.charge(ms)
  }
  for (const placed of found.slice(0, TRIED_LIMIT)) {
    const ms = performance.now() - startedAt
    if (spentMs + ms > TOTAL_MS) break
    if (ms > PORTION_MS) {
      stop()
      await yieldTurn()
      startedAt = performance.now()
    }
    result.tried += 1
    if (!isForRules(placed) || isLocked(placed.entry)) continue
    const subject = subjectOf(placed)
    if (rules.findMatch(subject)) {
      result.earlier += 1
      continue
    }
    const match = matchOf(proposal, subject)
    if (!match) continue
    const costNanos = costNanosOf(placed.entry)
    result.entries += 1
    result.costNanos += costNanos ?? 0n
    if (costNanos === null) result.unpricedEntries += 1
    if (result.matched.length < LISTED) result.matched.push({ placed, ...match })
  }
  stop()
  result.hasMore = found.length > result.tried
  return result
}
