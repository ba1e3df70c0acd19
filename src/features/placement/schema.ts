/** API schema of placement rules, shared by validation and OpenAPI. */
import { type Static, Type } from '@sinclair/typebox'
import { PROPOSAL_STATES } from '../../database/schema/values.ts'
import {
  array,
  component,
  flag,
  integer,
  LABEL_NAMES,
  listOf,
  moment,
  named,
  object,
  oneOf,
  orNull,
  PLAIN_TEXT,
  SHOWN,
  text,
} from '../../schema/types.ts'
import { VERDICTS } from './match.ts'
import { CONDITIONS_LIMIT, FIELD_EXPECTED, FIELD_PATTERN, PATTERN_LIMIT, RULES_LIMIT } from './rule-issues.ts'
import { KEY_LIMIT } from './ticket-template.ts'

const textOf = (description: string, examples: string[], maxLength = 200) =>
  text(description, {
    minLength: 1,
    maxLength,
    pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$',
    errorMessage: 'must be a string without control characters',
    examples,
  })

/** Which the service checks to be more than white space. */
export const filled = (...of: Parameters<typeof textOf>) => ({ ...textOf(...of), [SHOWN]: { pattern: PLAIN_TEXT } })

export const Condition = object({
  field: text(
    'Field to compare. `agent_manager` is compared with the e-mail address and with the name. A field that an entry does not have never matches.',
    { pattern: FIELD_PATTERN, errorMessage: FIELD_EXPECTED, examples: ['labels.branch', 'agent_harness'] },
  ),
  matches: filled(
    'Either a glob that matches the whole value, ignoring case, in which `*` matches any number of characters and `?` matches one; or an RE2 regular expression between slashes, which matches anywhere in the value. Append `i` to ignore case.',
    ['acme/*', '/(?<ticket>[A-Z]+-[0-9]+)/'],
    PATTERN_LIMIT,
  ),
})

const said = {
  name: filled('A short, unique name.', ['ACME by branch']),
  enabled: flag('Whether the rule is evaluated. True by default.'),
  conditions: array('Conditions, all of which must match.', Condition, { minItems: 1, maxItems: CONDITIONS_LIMIT }),
  project: textOf('Id, key, name or alias of the project to which the rule assigns entries.', ['ACME']),
  ticket: Type.Union(
    [
      textOf(
        'Key of the ticket to which the rule assigns entries. `{name}` is replaced by the text that the named group of a regular expression matched.',
        ['{ticket}'],
        KEY_LIMIT,
      ),
      Type.Null(),
    ],
    {
      description: 'Without it, entries are assigned to the project without a ticket.',
      errorMessage: `must be a string of at most ${KEY_LIMIT} characters, or null`,
    },
  ),
}

const position = integer('Position in the evaluation order, from 1; last by default.', { minimum: 1 })

export const NewRule = component('NewPlacementRule', {
  name: said.name,
  conditions: said.conditions,
  project: said.project,
  ticket: Type.Optional(said.ticket),
  enabled: Type.Optional(said.enabled),
  position: Type.Optional(position),
})
export type NewRule = Static<typeof NewRule>

export const RuleChange = component(
  'PlacementRuleChange',
  'Absent fields stay unchanged; `"ticket": null` assigns entries to the project without a ticket. Conditions are replaced as a whole.',
  {
    name: Type.Optional(said.name),
    conditions: Type.Optional(said.conditions),
    project: Type.Optional(said.project),
    ticket: Type.Optional(said.ticket),
    enabled: Type.Optional(said.enabled),
  },
)
export type RuleChange = Static<typeof RuleChange>

const ProjectReference = object({ id: Type.String(), key: Type.String(), name: Type.String() })

export const RuleBody = component(
  'PlacementRule',
  'A rule that places entries whose report names no project or ticket.',
  {
    id: text('rul_…'),
    position: integer('Position in the evaluation order, from 1.', { minimum: 1 }),
    name: Type.String(),
    enabled: Type.Boolean(),
    conditions: Type.Array(object({ field: Type.String(), matches: Type.String() })),
    project: ProjectReference,
    ticket: orNull(Type.String()),
    lead_repository: orNull(
      text(
        'Of a rule that a lead made without an admin, the repository that it is limited to; null for rules of admins. Such rules come after all others. An admin who changes more than `enabled` makes it a rule of admins.',
      ),
    ),
    version: integer('Increases each time the rule is changed.', { minimum: 1 }),
    warnings: array('Why the rule is skipped although it is enabled.', Type.String()),
    created_at: moment('When the rule was created.'),
    changed_at: moment('When the rule was last changed.'),
  },
)
export type RuleBody = Static<typeof RuleBody>

export const RuleList = listOf(RuleBody, 'PlacementRuleList')

export const RuleOrder = component('PlacementRuleOrder', {
  rules: array('The ids of all rules, in the new evaluation order.', Type.String(), { maxItems: RULES_LIMIT }),
})

const sampled = (description: string, maxLength = 200) =>
  Type.Optional(
    text(description, { maxLength, pattern: PLAIN_TEXT, errorMessage: 'must be a string without control characters' }),
  )

export const Sample = object('The fields of an entry that rules can match. Absent fields match no condition.', {
  agent_harness: sampled('Name of the harness.'),
  agent_name: sampled('Name of the agent.'),
  model: sampled('Name of the model.'),
  provider: sampled('Provider of the model.'),
  agent_manager: sampled('E-mail address or name of the person.', 254),
  summary: sampled('Summary of the session.', 1_000),
  labels: Type.Optional(
    named(
      LABEL_NAMES,
      16,
      Type.String({
        maxLength: 256,
        pattern: PLAIN_TEXT,
        errorMessage: 'must be a string without control characters',
      }),
    ),
  ),
})
export type Sample = Static<typeof Sample>

/** An unsaved rule to test, on a sample or on entries. */
export const unsavedRule = {
  rule: Type.Optional(
    object('A rule to test at its position among the saved rules, without saving it.', NewRule.properties),
  ),
  replaces: Type.Optional(
    text('Id or name of the saved rule that `rule` replaces in the test.', {
      maxLength: 200,
      examples: ['rul_01a1fa172a0277f3983322718874f2ef'],
    }),
  ),
}

export const RuleTest = component('PlacementRuleTest', { sample: Sample, ...unsavedRule })
export type RuleTest = Static<typeof RuleTest>

const RuleReference = object({
  id: orNull(text('Null for the unsaved rule.')),
  name: Type.String(),
})

export const ExplanationBody = component('PlacementExplanation', {
  taken: orNull(
    object('The first matching rule; null if the sample remains unattributed.', {
      rule: RuleReference,
      project: ProjectReference,
      ticket: orNull(text('The ticket key that the rule produced.')),
      note: orNull(text('Why no ticket was assigned although the rule has one.')),
    }),
  ),
  steps: array(
    'Every rule up to the matching one, in order.',
    object({
      rule: RuleReference,
      verdict: oneOf(VERDICTS, '`takes` means that the rule matches, which ends the evaluation.'),
      failed: array(
        'The conditions that do not match, with the values they were compared with.',
        object({ field: Type.String(), matches: Type.String(), value: orNull(Type.String()) }),
      ),
    }),
  ),
})
export type ExplanationBody = Static<typeof ExplanationBody>

const repository = text(
  'One of the repositories of the project: the rule matches only entries with exactly this label.',
  { minLength: 1, maxLength: 256, examples: ['acme/web'] },
)

/** Fewer than a rule has: a lead needs a branch, a summary and an exception or two. */
const FURTHER_CONDITIONS_LIMIT = 4

export const NewProposal = component('NewRuleProposal', {
  name: said.name,
  repository,
  conditions: Type.Optional(
    array('Further conditions, all of which must match.', Condition, { maxItems: FURTHER_CONDITIONS_LIMIT }),
  ),
  project: said.project,
  ticket: Type.Optional(said.ticket),
})
export type NewProposal = Static<typeof NewProposal>

export const LeadRuleChange = component('LeadRuleChange', 'Absent fields stay unchanged.', {
  name: Type.Optional(said.name),
  conditions: Type.Optional(
    array('The conditions besides the one on the repository, which stays. Replaced as a whole.', Condition, {
      maxItems: FURTHER_CONDITIONS_LIMIT,
    }),
  ),
  ticket: Type.Optional(said.ticket),
})

const REASON_LIMIT = 500

export const ProposalDecline = object({
  reason: text('Why, for the person who proposed the rule.', { minLength: 1, maxLength: REASON_LIMIT }),
})

const PersonReference = object({ id: Type.String(), name: Type.String() })

export const ProposalBody = component(
  'RuleProposal',
  'A placement rule that a lead proposes, and an admin decides about.',
  {
    id: text('rpr_…'),
    name: text('Name of the rule.'),
    repository: Type.String(),
    conditions: array(
      'All conditions of the rule, beginning with the one on the repository.',
      object({ field: Type.String(), matches: Type.String() }),
    ),
    project: ProjectReference,
    ticket: orNull(Type.String()),
    state: oneOf(PROPOSAL_STATES),
    proposed_by: PersonReference,
    created_at: moment('When it was proposed.'),
    decided_by: orNull(PersonReference),
    decided_at: orNull(moment('When it was accepted, declined or withdrawn.')),
    reason: orNull(text('Why it was declined.')),
    rule: orNull(text('Id of the rule that was created from it (rul_…).')),
  },
)
export type ProposalBody = Static<typeof ProposalBody>

export const ProposalList = listOf(ProposalBody, 'RuleProposalList')
