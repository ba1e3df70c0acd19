import { operation, result, several } from '../../../operations/operation.ts'
import { lastPage } from '../../../schema/lists.ts'
import { EXAMPLE_EXPLANATION, EXAMPLE_NEW_RULE, EXAMPLE_RULE, EXAMPLE_RULE_TEST } from '../examples.ts'
import { readNewRule, readSample } from '../request.ts'
import type { ListedRule } from '../rule-list.ts'
import { ExplanationBody, NewRule, RuleBody, RuleChange, RuleList, RuleOrder, RuleTest } from '../schema.ts'
import type { PlacementService } from '../service.ts'
import { explanationBody, ruleBody } from '../wire.ts'

interface Needs {
  placement: PlacementService
}

/** A rule may name people and clients, so members do not read them. */
const READING = {
  tag: 'Placement rules',
  allow: { read: ['billing', 'admin'], session: ['billing', 'admin'] },
  scope: 'rules:read',
} as const

/** A rule could draw everyone's entries into someone's sight (docs/design/concepts.md, "Roles"). */
const CHANGING = { tag: 'Placement rules', allow: { session: ['admin'] }, scope: 'rules:write' } as const

const one = { object: 'rul', params: { id: 'Id (rul_…) or name of the rule.' } } as const
/** The list as a whole: the order of evaluation is an object of its own. */
const all = { object: 'placement-rules' } as const

const RULE = result('The rule.', RuleBody, EXAMPLE_RULE)
const RULES = several('All rules, in evaluation order.', RuleList, EXAMPLE_RULE)

const listBody = (rules: ListedRule[]) => lastPage(rules.map(ruleBody))

export const listPlacementRules = operation({
  ...READING,
  ...all,
  id: 'listPlacementRules',
  method: 'GET',
  path: '/placement-rules',
  summary: 'List placement rules',
  description: 'Returns all rules, in evaluation order, without pagination.',
  answer: RULES,
  run: async ({ placement }: Needs) => listBody(await placement.listRules()),
})

export const addPlacementRule = operation({
  ...CHANGING,
  id: 'addPlacementRule',
  method: 'POST',
  path: '/placement-rules',
  summary: 'Create a placement rule',
  description:
    'The rule applies to new reports only. `warnings` is not empty if the rule is skipped because its project is archived.',
  body: NewRule,
  example: EXAMPLE_NEW_RULE,
  answer: { ...RULE, status: 201, description: 'The rule was created.' },
  problems: ['already_exists'],
  run: async ({ placement }: Needs, { party, body }) => ruleBody(await placement.addRule(party.by, readNewRule(body))),
})

const orderPlacementRules = operation({
  ...CHANGING,
  ...all,
  id: 'orderPlacementRules',
  method: 'PUT',
  path: '/placement-rules/order',
  summary: 'Reorder the placement rules',
  description: 'The body names every rule exactly once. The first rule that matches an entry places it.',
  body: RuleOrder,
  example: { rules: [EXAMPLE_RULE.id] },
  answer: RULES,
  problems: ['rules_changed'],
  run: async ({ placement }: Needs, { party, body }) => listBody(await placement.orderRules(party.by, body.rules)),
})

const testPlacementRules = operation({
  ...READING,
  allow: { session: ['billing', 'admin'] },
  id: 'testPlacementRules',
  method: 'POST',
  path: '/placement-rules/test',
  summary: 'Test the placement rules with a sample',
  description:
    'Returns the rule that matches the sample, and why earlier rules do not. With `rule`, evaluates as if that rule were saved; with `replaces`, in place of that existing rule. Writes nothing.',
  body: RuleTest,
  example: EXAMPLE_RULE_TEST,
  answer: result('How the sample is placed.', ExplanationBody, EXAMPLE_EXPLANATION),
  problems: ['not_found'],
  run: async ({ placement }: Needs, { body: { sample, rule, replaces } }) =>
    explanationBody(await placement.testRules(readSample(sample), { unsaved: rule && readNewRule(rule), replaces })),
})

export const getPlacementRule = operation({
  ...READING,
  ...one,
  id: 'getPlacementRule',
  method: 'GET',
  path: '/placement-rules/:id',
  summary: 'Get a placement rule',
  answer: RULE,
  run: async ({ placement }: Needs, { params }) => ruleBody(await placement.getRule(params.id)),
})

export const changePlacementRule = operation({
  ...CHANGING,
  ...one,
  id: 'changePlacementRule',
  method: 'PATCH',
  path: '/placement-rules/:id',
  summary: 'Update a placement rule',
  description:
    'Absent fields stay unchanged. Entries that the rule already placed do not move, and still show the version of the rule that placed them.',
  body: RuleChange,
  example: { enabled: false },
  answer: RULE,
  problems: ['already_exists'],
  run: async ({ placement }: Needs, { party, params, body }) =>
    ruleBody(await placement.changeRule(party.by, params.id, body)),
})

export const removePlacementRule = operation({
  ...CHANGING,
  ...one,
  id: 'removePlacementRule',
  method: 'DELETE',
  path: '/placement-rules/:id',
  summary: 'Remove a placement rule',
  description: 'Entries that the rule placed do not move, and still show it.',
  answer: { status: 204, description: 'The rule was removed.' },
  run: ({ placement }: Needs, { party, params }) => placement.removeRule(party.by, params.id),
})

export const placementRuleOperations = [
  listPlacementRules,
  addPlacementRule,
  orderPlacementRules,
  testPlacementRules,
  getPlacementRule,
  changePlacementRule,
  removePlacementRule,
] as const
