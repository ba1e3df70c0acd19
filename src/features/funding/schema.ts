/** API schema of funding rules, shared by validation and OpenAPI. */
import { type Static, Type } from '@sinclair/typebox'
import { ENTRY_FUNDINGS, FUNDING_NOTES, FUNDING_REASONS, FUNDINGS } from '../../database/schema/values.ts'
import { conditions, isAbsent, isGiven, isOneOf, when } from '../../schema/conditions.ts'
import {
  array,
  chosen,
  component,
  day,
  flag,
  integer,
  listOf,
  moment,
  money,
  object,
  oneOf,
  orNull,
  text,
} from '../../schema/types.ts'
import { CONDITIONS_LIMIT } from '../placement/contract.ts'
import { Condition, filled, Sample } from '../placement/schema.ts'
import { RULES_LIMIT } from './rules.ts'

const said = {
  name: filled('A short, unique name.', ['CI uses the API']),
  conditions: array('Conditions, all of which must match; none to match all usage.', Condition, {
    maxItems: CONDITIONS_LIMIT,
  }),
  funding: chosen(
    FUNDINGS,
    'What pays for the usage: its price (`metered`), a `plan`, `credits` of a plan, or `unknown`.',
  ),
  plan: orNull(
    text('Id or name of the plan, with `plan` and `credits` only. The rule matches nobody who does not have it.', {
      maxLength: 200,
      examples: ['Claude Max'],
    }),
  ),
  enabled: flag('Whether the rule is evaluated. True by default.'),
}

const NEW_FIELDS = {
  name: said.name,
  conditions: Type.Optional(said.conditions),
  funding: said.funding,
  plan: Type.Optional(said.plan),
  enabled: Type.Optional(said.enabled),
  position: Type.Optional(integer('Position in the order, from 1; last by default.', { minimum: 1 })),
}

/** Checked by `rules.ts`, which says what to do. */
const PLAN_OF_FUNDING = conditions(when(isOneOf('funding', 'plan', 'credits'), isGiven('plan'), isAbsent('plan')))

export const NewFundingRule = component(
  'NewFundingRule',
  'A rule that says how usage is paid for if its report does not.',
  NEW_FIELDS,
  PLAN_OF_FUNDING,
)
export type NewFundingRule = Static<typeof NewFundingRule>

const CHANGE_FIELDS = {
  name: Type.Optional(said.name),
  conditions: Type.Optional(said.conditions),
  funding: Type.Optional(said.funding),
  plan: Type.Optional(said.plan),
  enabled: Type.Optional(said.enabled),
}

export const FundingRuleChange = component(
  'FundingRuleChange',
  'Absent fields stay unchanged. Conditions are replaced as a whole.',
  CHANGE_FIELDS,
)
export type FundingRuleChange = Static<typeof FundingRuleChange>

const PlanReference = object({ id: Type.String(), name: Type.String() })

export const FundingRuleBody = component(
  'FundingRule',
  'A rule that says how usage is paid for if its report does not.',
  {
    id: text('frl_…'),
    position: integer('Position in the order, from 1.', { minimum: 1 }),
    name: Type.String(),
    enabled: Type.Boolean(),
    conditions: Type.Array(object({ field: Type.String(), matches: Type.String() })),
    funding: oneOf(FUNDINGS),
    plan: orNull(PlanReference),
    version: integer('Increases each time the rule is changed.', { minimum: 1 }),
    created_at: moment('When the rule was created.'),
    changed_at: moment('When the rule was last changed.'),
  },
)
export type FundingRuleBody = Static<typeof FundingRuleBody>

export const FundingRuleList = listOf(FundingRuleBody, 'FundingRuleList')

const order = array('The ids of all rules, in the new order.', Type.String(), { maxItems: RULES_LIMIT })

export const FundingRuleOrder = component('FundingRuleOrder', { rules: order })

const named = (description: string) => Type.Optional(text(description, { maxLength: 200 }))

export const FundingPreviewRequest = component(
  'FundingPreviewRequest',
  'One change of the funding rules: `rule` adds one, or with `replaces` changes that one; `removes` removes one; `order` reorders them.',
  {
    rule: Type.Optional(object('The rule to add, or as it would be.', NEW_FIELDS)),
    replaces: named('Id or name of the rule that `rule` replaces.'),
    removes: named('Id or name of the rule that would be removed.'),
    order: Type.Optional(order),
  },
)
export type FundingPreviewRequest = Static<typeof FundingPreviewRequest>

const Side = object({ funding: oneOf(ENTRY_FUNDINGS), plan: orNull(PlanReference) })

export const FundingPreviewBody = component('FundingPreview', 'What a change of plans or funding rules would change.', {
  changes: array(
    'Entries that would be paid for otherwise, the most first.',
    object({
      from: Side,
      to: Side,
      entries: integer('Number of entries.'),
      cost: money('Their cost, without unpriced ones.'),
      unpriced_entries: integer('Entries without a cost.'),
    }),
  ),
  entries: integer('All of these entries.'),
  locked_entries: integer(
    'Approved, billed and voided entries that would be decided otherwise, and keep what they have.',
  ),
  searched_to: orNull(
    moment('Set if only entries from this moment on were looked at, because there are many; all of them change.'),
  ),
})
export type FundingPreviewBody = Static<typeof FundingPreviewBody>

export const FundingTest = component('FundingTest', {
  sample: Sample,
  day: Type.Optional(day('Day of the session; today by default.')),
  funding: Type.Optional(chosen(FUNDINGS, 'What the report says of its funding.')),
  plan: Type.Optional(text('What the report says of its plan.', { maxLength: 200 })),
})
export type FundingTest = Static<typeof FundingTest>

export const FUNDING_VERDICTS = ['takes', 'disabled', 'not_met', 'plan_not_held'] as const

export const FundingExplanation = component('FundingExplanation', {
  funding: oneOf(ENTRY_FUNDINGS, 'What would pay for the sample.'),
  plan: orNull(PlanReference),
  reason: oneOf(FUNDING_REASONS, 'As in `funding` of an entry.'),
  note: orNull(oneOf(FUNDING_NOTES, 'As in `funding` of an entry.')),
  steps: array(
    'Every rule up to the matching one, in order; none if the report decides.',
    object({
      rule: object({ id: Type.String(), name: Type.String() }),
      verdict: oneOf(FUNDING_VERDICTS, '`takes` means that the rule decides.'),
      failed: array(
        'The conditions that do not match, with the values they were compared with.',
        object({ field: Type.String(), matches: Type.String(), value: orNull(Type.String()) }),
      ),
    }),
  ),
})
export type FundingExplanation = Static<typeof FundingExplanation>
