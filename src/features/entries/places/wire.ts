import { timestamp } from '../../../lib/duration.ts'
import { moneyNumber } from '../../../lib/money.ts'
import { costNanosOf } from '../rows.ts'
import type { Applied, Move } from './moves.ts'
import type { ProposalTest } from './proposal-test.ts'
import type { AppliedRules, ProposalTestAnswer, RuleTrialAnswer } from './schema.ts'
import type { PlacedEntry } from './store/places.ts'

export function appliedBody(applied: Applied, { dryRun }: { dryRun: boolean }): AppliedRules {
  return {
    dry_run: dryRun,
    entries: applied.entries,
    unpriced_entries: applied.unpricedEntries,
    cost: moneyNumber(applied.costNanos),
    groups: applied.groups.map(({ from, to, rule, entries, unpricedEntries, costNanos }) => ({
      from,
      to,
      rule: ruleBody(rule),
      entries,
      unpriced_entries: unpricedEntries,
      cost: moneyNumber(costNanos),
    })),
    moves: applied.moves.map(({ placed, from, to, rule, note, costNanos }) => ({
      id: placed.entry.uid,
      started_at: timestamp(placed.entry.startedAt),
      cost: moneyNumber(costNanos),
      from,
      to,
      rule: ruleBody(rule),
      note,
    })),
    complete: applied.isComplete,
    next_page: applied.nextPage,
  }
}

function ruleBody(rule: Move['rule']) {
  return rule && { id: rule.uid, name: rule.name, version: rule.version }
}

export function proposalTestBody({ matched, ...test }: ProposalTest): ProposalTestAnswer {
  return {
    entries: test.entries,
    cost: moneyNumber(test.costNanos),
    unpriced_entries: test.unpricedEntries,
    earlier_rules: test.earlier,
    tried: test.tried,
    complete: !test.hasMore,
    data: matched.map(({ placed, ticketKey, note }) => ({ entry: trialEntryBody(placed), ticket: ticketKey, note })),
  }
}

/** An entry that rules are tested on. */
export function trialEntryBody({
  entry,
  manager,
  harness,
  agent,
  model,
  labels,
  project,
  ticket,
}: PlacedEntry): RuleTrialAnswer['data'][number]['entry'] {
  return {
    id: entry.uid,
    started_at: timestamp(entry.startedAt),
    agent_manager: manager.name,
    agent_harness: harness,
    agent_name: agent,
    model,
    summary: entry.summary,
    labels: labels ?? {},
    cost: moneyNumber(costNanosOf(entry)),
    project: project && { id: project.uid, key: project.key },
    ticket: ticket && { id: ticket.uid, key: ticket.key },
    placed_by: entry.placedBy ?? 'unattributed',
  }
}
