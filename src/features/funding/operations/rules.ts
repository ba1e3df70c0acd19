import { operation, result, several } from '../../../operations/operation.ts'
import { lastPage } from '../../../schema/lists.ts'
import {
  EXAMPLE_FUNDING_EXPLANATION,
  EXAMPLE_FUNDING_RULE,
  EXAMPLE_FUNDING_TEST,
  EXAMPLE_NEW_FUNDING_RULE,
} from '../examples.ts'
import { newRuleOf } from '../request.ts'
import type { ListedFundingRule } from '../rules.ts'
import {
  FundingExplanation,
  FundingRuleBody,
  FundingRuleChange,
  FundingRuleList,
  FundingRuleOrder,
  FundingTest,
  NewFundingRule,
} from '../schema.ts'
import type { FundingService } from '../service.ts'
import { explanationBody, fundingRuleBody } from '../wire.ts'
import { CHANGING, READING } from './shared.ts'

interface Needs {
  funding: FundingService
}

const one = { object: 'frl', params: { id: 'Id (frl_…) or name of the rule.' } } as const
/** The list as a whole: the order is an object of its own. */
const all = { object: 'funding-rules' } as const

const RULE = result('The rule.', FundingRuleBody, EXAMPLE_FUNDING_RULE)
const RULES = several('All rules, in the order in which they are tried.', FundingRuleList, EXAMPLE_FUNDING_RULE)

const listBody = (rules: ListedFundingRule[]) => lastPage(rules.map(fundingRuleBody))

const DECIDES_AGAIN =
  'Unlocked entries that it concerns are decided again within seconds; `POST /funding-rules/preview` counts them before.'

export const listFundingRules = operation({
  ...READING,
  ...all,
  id: 'listFundingRules',
  method: 'GET',
  path: '/funding-rules',
  summary: 'List funding rules',
  description: 'Returns all rules, in the order in which they are tried, without pagination.',
  answer: RULES,
  run: async ({ funding }: Needs) => listBody(await funding.listFundingRules()),
})

export const addFundingRule = operation({
  ...CHANGING,
  id: 'addFundingRule',
  method: 'POST',
  path: '/funding-rules',
  summary: 'Create a funding rule',
  description: `The first rule that matches says how usage is paid for, unless its report does; without one, it is the plan of its person. ${DECIDES_AGAIN}`,
  body: NewFundingRule,
  example: EXAMPLE_NEW_FUNDING_RULE,
  answer: { ...RULE, status: 201, description: 'The rule was created.' },
  problems: ['already_exists'],
  run: async ({ funding }: Needs, { party, body }) =>
    fundingRuleBody(await funding.addFundingRule(party.by, newRuleOf(body))),
})

export const orderFundingRules = operation({
  ...CHANGING,
  ...all,
  id: 'orderFundingRules',
  method: 'PUT',
  path: '/funding-rules/order',
  summary: 'Reorder the funding rules',
  description: `The body names every rule exactly once. ${DECIDES_AGAIN}`,
  body: FundingRuleOrder,
  example: { rules: [EXAMPLE_FUNDING_RULE.id] },
  answer: RULES,
  problems: ['rules_changed'],
  run: async ({ funding }: Needs, { party, body }) => listBody(await funding.orderFundingRules(party.by, body.rules)),
})

export const testFunding = operation({
  ...READING,
  allow: { session: ['billing', 'admin'] },
  id: 'testFunding',
  method: 'POST',
  path: '/funding-rules/test',
  summary: 'Test how a sample is paid for',
  description:
    'Returns what would pay for a session like the sample on a day, and why earlier rules do not decide. `agent_manager` of the sample is the e-mail address of a person whose plans count. Writes nothing.',
  body: FundingTest,
  example: EXAMPLE_FUNDING_TEST,
  answer: result('What would pay for it.', FundingExplanation, EXAMPLE_FUNDING_EXPLANATION),
  run: async ({ funding }: Needs, { body }) => explanationBody(await funding.testFunding(body)),
})

export const getFundingRule = operation({
  ...READING,
  ...one,
  id: 'getFundingRule',
  method: 'GET',
  path: '/funding-rules/:id',
  summary: 'Get a funding rule',
  answer: RULE,
  run: async ({ funding }: Needs, { params }) => fundingRuleBody(await funding.getFundingRule(params.id)),
})

export const changeFundingRule = operation({
  ...CHANGING,
  ...one,
  id: 'changeFundingRule',
  method: 'PATCH',
  path: '/funding-rules/:id',
  summary: 'Update a funding rule',
  description: `Absent fields stay unchanged. ${DECIDES_AGAIN}`,
  body: FundingRuleChange,
  example: { enabled: false },
  answer: RULE,
  problems: ['already_exists'],
  run: async ({ funding }: Needs, { party, params, body }) =>
    fundingRuleBody(await funding.changeFundingRule(party.by, params.id, body)),
})

export const removeFundingRule = operation({
  ...CHANGING,
  ...one,
  id: 'removeFundingRule',
  method: 'DELETE',
  path: '/funding-rules/:id',
  summary: 'Remove a funding rule',
  description: DECIDES_AGAIN,
  answer: { status: 204, description: 'The rule was removed.' },
  run: ({ funding }: Needs, { party, params }) => funding.removeFundingRule(party.by, params.id),
})

export const fundingRuleOperations = [
  listFundingRules,
  addFundingRule,
  orderFundingRules,
  testFunding,
  getFundingRule,
  changeFundingRule,
  removeFundingRule,
] as const
