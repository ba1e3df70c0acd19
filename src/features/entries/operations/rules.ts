/** What placement rules do, or would do, to entries that exist. */
import { operation, result } from '../../../operations/operation.ts'
import { EXAMPLE_NEW_PROPOSAL, NewProposal, readProposal } from '../../placement/service.ts'
import { entryFilters } from '../../selection/parameters.ts'
import type { SelectionService } from '../../selection/service.ts'
import { EXAMPLE_APPLIED, EXAMPLE_PROPOSAL_TEST, EXAMPLE_TRIAL, EXAMPLE_TRIAL_ANSWER } from '../places/examples.ts'
import { readRuleApplication } from '../places/rule-application.ts'
import { readTrial } from '../places/rule-test.ts'
import { AppliedRules, ProposalTestAnswer, RuleApplication, RuleTrial, RuleTrialAnswer } from '../places/schema.ts'
import { appliedBody, proposalTestBody } from '../places/wire.ts'
import type { EntriesService } from '../service.ts'

interface Needs {
  entries: EntriesService
  selection: SelectionService
}

/** How long entries are moved within one call: half of what a connection may be silent. */
const APPLICATION_BUDGET_MS = 10_000

/** Moves that a dry run lists where nothing is asked for: as many as a page of any list may have. */
const LISTED = 1_000

const tag = 'Placement rules'

const applyPlacementRules = operation({
  id: 'applyPlacementRules',
  tag,
  method: 'POST',
  path: '/placement-rules/apply',
  summary: 'Apply placement rules to existing entries',
  description:
    'Places unlocked, unattributed entries; with `rule_placed`, also entries that were placed by a rule. Use the filters of the query to select entries. Entries placed by a person or by a report stay where they are, unless the report named a project or ticket that was unknown then and is known now. A dry run does the same work and rolls it back, so its result is exact. A call ends after about ten seconds, or when it has listed `limit` moves. If `complete` is false, call again with `next_page` as `page` and add up the results.',
  allow: { session: ['admin'] },
  scope: 'rules:write',
  query: entryFilters(),
  body: RuleApplication,
  example: { scope: 'unattributed', dry_run: true },
  answer: result('Entries that moved, or would move.', AppliedRules, EXAMPLE_APPLIED),
  problems: ['database_deadline'],
  run: async ({ entries, selection }: Needs, { party, asker, query, body }) => {
    const dryRun = body.dry_run ?? false
    const requested = await selection.read(asker, (timeZone) => readRuleApplication(body, query, timeZone))
    const applied = await entries.places.applyRules(requested, {
      dryRun,
      by: party.by,
      limit: body.limit ?? (dryRun ? LISTED : 0),
      budgetMs: APPLICATION_BUDGET_MS,
    })
    return appliedBody(applied, { dryRun })
  },
})

const tryPlacementRules = operation({
  id: 'tryPlacementRules',
  tag,
  method: 'POST',
  path: '/placement-rules/test/entries',
  summary: 'Test placement rules on existing entries',
  description:
    'Shows which rule would match each of the newest entries, or the newest entries that match the filters of the query, and why earlier rules do not. With `rule`, the test includes an unsaved rule; with `replaces`, it takes the place of the given rule. Nothing is saved.',
  allow: { session: ['billing', 'admin'] },
  scope: 'rules:read',
  query: entryFilters(),
  body: RuleTrial,
  example: EXAMPLE_TRIAL,
  answer: result('A page of entries.', RuleTrialAnswer, EXAMPLE_TRIAL_ANSWER),
  problems: ['not_found', 'database_deadline'],
  run: async ({ entries, selection }: Needs, { viewer, asker, query, body }) => {
    const trial = await selection.read(asker, (timeZone) => readTrial(body, query, timeZone))
    return entries.places.tryRules(viewer, trial)
  },
})

const testRuleProposal = operation({
  id: 'testRuleProposal',
  tag,
  method: 'POST',
  path: '/placement-rules/proposals/test',
  summary: 'Test a rule before proposing it',
  description:
    'For leads of the project. Counts and lists which of the unattributed entries of the repository that you see the rule would match. Nothing is saved.',
  allow: ['session'],
  scope: 'people-only',
  body: NewProposal,
  example: EXAMPLE_NEW_PROPOSAL,
  answer: result('What the rule would match.', ProposalTestAnswer, EXAMPLE_PROPOSAL_TEST),
  problems: ['rate_limited', 'database_deadline'],
  run: async ({ entries }: Needs, { party, body }) =>
    proposalTestBody(await entries.places.testProposal(party, readProposal(body))),
})

export const ruleEffectOperations = [applyPlacementRules, tryPlacementRules, testRuleProposal] as const
