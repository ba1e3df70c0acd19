import { operation, result, several } from '../../../operations/operation.ts'
import { lastPage } from '../../../schema/lists.ts'
import { EXAMPLE_LEAD_RULE } from '../examples.ts'
import { LeadRuleChange, RuleBody, RuleList } from '../schema.ts'
import type { PlacementService } from '../service.ts'
import { ruleBody } from '../wire.ts'

interface Needs {
  placement: PlacementService
}

/** What a person may see and change is decided by who they lead at that moment. */
const ofLeads = { tag: 'Placement rules', allow: ['session'], scope: 'people-only' } as const
const params = { id: 'Id of the rule (rul_…).' }

const listLeadRules = operation({
  ...ofLeads,
  id: 'listLeadRules',
  method: 'GET',
  path: '/placement-rules/of-leads',
  summary: 'List the rules of leads',
  description:
    'The rules that leads made without an admin for projects that you lead, in evaluation order, without pagination.',
  answer: several('The rules.', RuleList, EXAMPLE_LEAD_RULE),
  run: async ({ placement }: Needs, { party }) => lastPage((await placement.listLeadRules(party)).map(ruleBody)),
})

const changeLeadRule = operation({
  ...ofLeads,
  id: 'changeLeadRule',
  method: 'PATCH',
  path: '/placement-rules/of-leads/:id',
  params,
  summary: 'Update a rule of leads',
  description:
    'For leads of its project, with the setting `lead_rules`. Its repository, project and position stay. Entries that the rule already placed do not move.',
  body: LeadRuleChange,
  example: { ticket: null },
  answer: result('The rule.', RuleBody, EXAMPLE_LEAD_RULE),
  problems: ['not_found', 'already_exists', 'rate_limited'],
  run: async ({ placement }: Needs, { party, params, body }) =>
    ruleBody(await placement.changeLeadRule(party, params.id, body)),
})

const removeLeadRule = operation({
  ...ofLeads,
  id: 'removeLeadRule',
  method: 'DELETE',
  path: '/placement-rules/of-leads/:id',
  params,
  summary: 'Remove a rule of leads',
  description: 'For leads of its project. Entries that the rule placed do not move, and still show it.',
  answer: { status: 204, description: 'The rule was removed.' },
  problems: ['not_found'],
  run: ({ placement }: Needs, { party, params }) => placement.removeLeadRule(party, params.id),
})

export const leadRuleOperations = [listLeadRules, changeLeadRule, removeLeadRule] as const
