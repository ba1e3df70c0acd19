/** API schema of placement rules, shared by validation and OpenAPI. */
import { type Static, Type } from '@sinclair/typebox'
import { PROPOSAL_STATES } from '../../database/schema/values.ts'
import { LABEL_NAMES, listOf, moment, named, oneOf, orNull, PLAIN_TEXT, SHOWN, strict } from '../../schema/types.ts'
import { VERDICTS } from './match.ts'
import { CONDITIONS_LIMIT, FIELD_EXPECTED, FIELD_PATTERN, PATTERN_LIMIT, RULES_LIMIT } from './rule-issues.ts'
import { KEY_LIMIT } from './ticket-template.ts'

const textOf = (description: string, examples: string[], maxLength = 200) =>
  Type.String({
    description,
    minLength: 1,
    maxLength,
    pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$',
    errorMessage: 'must be a string without control characters',
    examples,
  })

/** Which the service checks to be more than white space. */
const filled = (...of: Parameters<typeof textOf>) => ({ ...textOf(...of), [SHOWN]: { pattern: PLAIN_TEXT } })

const Condition = Type.Object(
  {
    field: Type.String({
      pattern: FIELD_PATTERN,
      errorMessage: FIELD_EXPECTED,
      description:
        'Field to compare. `agent_manager` is compared with the e-mail address and with the name. A field that an entry does not have never matches.',
      examples: ['labels.branch', 'agent_harness'],
    }),
    matches: filled(
      'Either a glob that matches the whole value, ignoring case, in which `*` matches any number of characters and `?` matches one; or an RE2 regular expression between slashes, which matches anywhere in the value. Append `i` to ignore case.',
      ['acme/*', '/(?<ticket>[A-Z]+-[0-9]+)/'],
      PATTERN_LIMIT,
    ),
  },
  strict,
)

const said = {
  name: filled('A short, unique name.', ['ACME by branch']),
  enabled: Type.Boolean({ description: 'Whether the rule is evaluated. True by default.' }),
  conditions: Type.Array(Condition, {
    description: 'Conditions, all of which must match.',
    minItems: 1,
    maxItems: CONDITIONS_LIMIT,
  }),
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

const position = Type.Integer({
  description: 'Position in the evaluation order, from 1; last by default.',
  minimum: 1,
})

export const NewRule = Type.Object(
  {
    name: said.name,
    conditions: said.conditions,
    project: said.project,
    ticket: Type.Optional(said.ticket),
    enabled: Type.Optional(said.enabled),
    position: Type.Optional(position),
  },
  { ...strict, $id: 'NewPlacementRule' },
)
export type NewRule = Static<typeof NewRule>

export const RuleChange = Type.Object(
  {
    name: Type.Optional(said.name),
    conditions: Type.Optional(said.conditions),
    project: Type.Optional(said.project),
    ticket: Type.Optional(said.ticket),
    enabled: Type.Optional(said.enabled),
  },
  {
    ...strict,
    $id: 'PlacementRuleChange',
    description:
      'Absent fields stay unchanged; `"ticket": null` assigns entries to the project without a ticket. Conditions are replaced as a whole.',
  },
)
export type RuleChange = Static<typeof RuleChange>

const ProjectReference = Type.Object({ id: Type.String(), key: Type.String(), name: Type.String() }, strict)

export const RuleBody = Type.Object(
  {
    id: Type.String({ description: 'rul_…' }),
    position: Type.Integer({ description: 'Position in the evaluation order, from 1.', minimum: 1 }),
    name: Type.String(),
    enabled: Type.Boolean(),
    conditions: Type.Array(Type.Object({ field: Type.String(), matches: Type.String() }, strict)),
    project: ProjectReference,
    ticket: orNull(Type.String()),
    lead_repository: orNull(
      Type.String({
        description:
          'Of a rule that a lead made without an admin, the repository that it is limited to; null for rules of admins. Such rules come after all others. An admin who changes more than `enabled` makes it a rule of admins.',
      }),
    ),
    version: Type.Integer({ description: 'Increases each time the rule is changed.', minimum: 1 }),
    warnings: Type.Array(Type.String(), { description: 'Why the rule is skipped although it is enabled.' }),
    created_at: moment('When the rule was created.'),
    changed_at: moment('When the rule was last changed.'),
  },
  {
    ...strict,
    $id: 'PlacementRule',
    description: 'A rule that places entries whose report names no project or ticket.',
  },
)
export type RuleBody = Static<typeof RuleBody>

export const RuleList = listOf(RuleBody, 'PlacementRuleList')

export const RuleOrder = Type.Object(
  {
    rules: Type.Array(Type.String(), {
      description: 'The ids of all rules, in the new evaluation order.',
      maxItems: RULES_LIMIT,
    }),
  },
  { ...strict, $id: 'PlacementRuleOrder' },
)

const sampled = (description: string, maxLength = 200) =>
  Type.Optional(
    Type.String({
      description,
      maxLength,
      pattern: PLAIN_TEXT,
      errorMessage: 'must be a string without control characters',
    }),
  )

export const Sample = Type.Object(
  {
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
  },
  { ...strict, description: 'The fields of an entry that rules can match. Absent fields match no condition.' },
)
export type Sample = Static<typeof Sample>

/** An unsaved rule to test, on a sample or on entries. */
export const unsavedRule = {
  rule: Type.Optional(
    Type.Object(NewRule.properties, {
      ...strict,
      description: 'A rule to test at its position among the saved rules, without saving it.',
    }),
  ),
  replaces: Type.Optional(
    Type.String({
      description: 'Id or name of the saved rule that `rule` replaces in the test.',
      maxLength: 200,
      examples: ['rul_01a1fa172a0277f3983322718874f2ef'],
    }),
  ),
}

export const RuleTest = Type.Object({ sample: Sample, ...unsavedRule }, { ...strict, $id: 'PlacementRuleTest' })
export type RuleTest = Static<typeof RuleTest>

const RuleReference = Type.Object(
  {
    id: orNull(Type.String({ description: 'Null for the unsaved rule.' })),
    name: Type.String(),
  },
  strict,
)

export const ExplanationBody = Type.Object(
  {
    taken: orNull(
      Type.Object(
        {
          rule: RuleReference,
          project: ProjectReference,
          ticket: orNull(Type.String({ description: 'The ticket key that the rule produced.' })),
          note: orNull(Type.String({ description: 'Why no ticket was assigned although the rule has one.' })),
        },
        { ...strict, description: 'The first matching rule; null if the sample remains unattributed.' },
      ),
    ),
    steps: Type.Array(
      Type.Object(
        {
          rule: RuleReference,
          verdict: oneOf(VERDICTS, '`takes` means that the rule matches, which ends the evaluation.'),
          failed: Type.Array(
            Type.Object({ field: Type.String(), matches: Type.String(), value: orNull(Type.String()) }, strict),
            { description: 'The conditions that do not match, with the values they were compared with.' },
          ),
        },
        strict,
      ),
      { description: 'Every rule up to the matching one, in order.' },
    ),
  },
  { ...strict, $id: 'PlacementExplanation' },
)
export type ExplanationBody = Static<typeof ExplanationBody>

const repository = Type.String({
  description: 'One of the repositories of the project: the rule matches only entries with exactly this label.',
  minLength: 1,
  maxLength: 256,
  examples: ['acme/web'],
})

/** Fewer than a rule has: a lead needs a branch, a summary and an exception or two. */
const FURTHER_CONDITIONS_LIMIT = 4

export const NewProposal = Type.Object(
  {
    name: said.name,
    repository,
    conditions: Type.Optional(
      Type.Array(Condition, {
        description: 'Further conditions, all of which must match.',
        maxItems: FURTHER_CONDITIONS_LIMIT,
      }),
    ),
    project: said.project,
    ticket: Type.Optional(said.ticket),
  },
  { ...strict, $id: 'NewRuleProposal' },
)
export type NewProposal = Static<typeof NewProposal>

export const LeadRuleChange = Type.Object(
  {
    name: Type.Optional(said.name),
    conditions: Type.Optional(
      Type.Array(Condition, {
        description: 'The conditions besides the one on the repository, which stays. Replaced as a whole.',
        maxItems: FURTHER_CONDITIONS_LIMIT,
      }),
    ),
    ticket: Type.Optional(said.ticket),
  },
  { ...strict, $id: 'LeadRuleChange', description: 'Absent fields stay unchanged.' },
)

const REASON_LIMIT = 500

export const ProposalDecline = Type.Object(
  {
    reason: Type.String({
      description: 'Why, for the person who proposed the rule.',
      minLength: 1,
      maxLength: REASON_LIMIT,
    }),
  },
  strict,
)

const PersonReference = Type.Object({ id: Type.String(), name: Type.String() }, strict)

export const ProposalBody = Type.Object(
  {
    id: Type.String({ description: 'rpr_…' }),
    name: Type.String({ description: 'Name of the rule.' }),
    repository: Type.String(),
    conditions: Type.Array(Type.Object({ field: Type.String(), matches: Type.String() }, strict), {
      description: 'All conditions of the rule, beginning with the one on the repository.',
    }),
    project: ProjectReference,
    ticket: orNull(Type.String()),
    state: oneOf(PROPOSAL_STATES),
    proposed_by: PersonReference,
    created_at: moment('When it was proposed.'),
    decided_by: orNull(PersonReference),
    decided_at: orNull(moment('When it was accepted, declined or withdrawn.')),
    reason: orNull(Type.String({ description: 'Why it was declined.' })),
    rule: orNull(Type.String({ description: 'Id of the rule that was created from it (rul_…).' })),
  },
  { ...strict, $id: 'RuleProposal', description: 'A placement rule that a lead proposes, and an admin decides about.' },
)
export type ProposalBody = Static<typeof ProposalBody>

export const ProposalList = listOf(ProposalBody, 'RuleProposalList')
