/** Placement rules on the wire. One source for validation and OpenAPI. */
import { type Static, Type } from '@sinclair/typebox'
import { listOf, moment, oneOf, orNull, strict } from '../../wire.ts'
import { VERDICTS } from './match.ts'
import { CONDITIONS_LIMIT, FIELD_EXPECTED, FIELD_PATTERN, PATTERN_LIMIT, RULES_LIMIT } from './rule-issues.ts'
import { KEY_LIMIT } from './ticket-template.ts'

/** No control characters (C0, DEL, C1). */
const PLAIN_TEXT = '^[^\\u0000-\\u001f\\u007f-\\u009f]*$'

const textOf = (description: string, examples: string[], maxLength = 200) =>
  Type.String({
    description,
    minLength: 1,
    maxLength,
    pattern: PLAIN_TEXT,
    errorMessage: 'must be a text without control characters',
    examples,
  })

const Condition = Type.Object(
  {
    field: Type.String({
      pattern: FIELD_PATTERN,
      errorMessage: FIELD_EXPECTED,
      description:
        'What is compared. `agent_manager` is met by the e-mail address or the name; a field that an entry does not have meets nothing.',
      examples: ['labels.branch', 'agent_harness'],
    }),
    matches: textOf(
      'A glob for the whole value, in which `*` stands for any number of characters and `?` for one, without regard to case; or an expression in RE2 syntax between slashes, found anywhere in the value, with an `i` behind it to ignore case.',
      ['acme/*', '/(?<ticket>[A-Z]+-[0-9]+)/'],
      PATTERN_LIMIT,
    ),
  },
  strict,
)

const said = {
  name: textOf('A few words, unlike those of the other rules.', ['ACME by branch']),
  enabled: Type.Boolean({ description: 'Whether it is tried. True where nothing is said.' }),
  conditions: Type.Array(Condition, {
    description: 'All must hold.',
    minItems: 1,
    maxItems: CONDITIONS_LIMIT,
  }),
  project: textOf('Id, key, name or alias of the project on which it places entries.', ['ACME']),
  ticket: Type.Union(
    [
      textOf(
        'The ticket on which it places them. `{name}` stands for what the named group of an expression matched.',
        ['{ticket}'],
        KEY_LIMIT,
      ),
      Type.Null(),
    ],
    {
      description: 'Without it entries are placed on the project alone.',
      errorMessage: `must be a text of at most ${KEY_LIMIT} characters, or null`,
    },
  ),
}

const position = Type.Integer({
  description: 'Where it stands in the order, from 1; the last where nothing is said.',
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
      'What is absent stays; `"ticket": null` places on the project alone. Conditions are replaced as a whole.',
  },
)
export type RuleChange = Static<typeof RuleChange>

const ProjectReference = Type.Object({ id: Type.String(), key: Type.String(), name: Type.String() }, strict)

export const RuleBody = Type.Object(
  {
    id: Type.String({ description: 'rul_…' }),
    position: Type.Integer({ description: 'Where it stands in the order, from 1.', minimum: 1 }),
    name: Type.String(),
    enabled: Type.Boolean(),
    conditions: Type.Array(Type.Object({ field: Type.String(), matches: Type.String() }, strict)),
    project: ProjectReference,
    ticket: orNull(Type.String()),
    version: Type.Integer({ description: 'Goes up with every change of what it says.', minimum: 1 }),
    warnings: Type.Array(Type.String(), { description: 'Why it is not tried although it is enabled.' }),
    created_at: moment('When it was made.'),
    changed_at: moment('When what it says was last changed.'),
  },
  { ...strict, $id: 'PlacementRule', description: 'Places entries that nobody named a project or ticket for.' },
)
export type RuleBody = Static<typeof RuleBody>

export const RuleList = listOf(RuleBody, 'PlacementRuleList')

export const RuleOrder = Type.Object(
  {
    rules: Type.Array(Type.String(), {
      description: 'The ids of all rules, in the order in which they are to be tried.',
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
      errorMessage: 'must be a text without control characters',
    }),
  )

export const Sample = Type.Object(
  {
    agent_harness: sampled('Name of the harness.'),
    agent_name: sampled('Name of the agent.'),
    model: sampled('Name of the model.'),
    provider: sampled('Who sold the model.'),
    agent_manager: sampled('E-mail address or name of the person.', 254),
    summary: sampled('What the session did.', 1_000),
    labels: Type.Optional(
      Type.Record(
        Type.String({ pattern: '^[a-z0-9_.-]{1,64}$' }),
        Type.String({ maxLength: 256, pattern: PLAIN_TEXT, errorMessage: 'must be a text without control characters' }),
        { ...strict, maxProperties: 16 },
      ),
    ),
  },
  { ...strict, description: 'What an entry says, as far as rules look at it. Absent fields meet no condition.' },
)
export type Sample = Static<typeof Sample>

/** What is tried before it is saved, whether on a sample or on entries. */
export const unsavedRule = {
  rule: Type.Optional(
    Type.Object(NewRule.properties, {
      ...strict,
      description: 'A rule to try at its position among the saved ones, without saving it.',
    }),
  ),
  replaces: Type.Optional(
    Type.String({
      description: 'Id or name of the saved rule in whose place `rule` is tried: as if that one were changed.',
      maxLength: 200,
      examples: ['rul_01a1fa172a0277f3983322718874f2ef'],
    }),
  ),
}

export const RuleTest = Type.Object({ sample: Sample, ...unsavedRule }, { ...strict, $id: 'PlacementRuleTest' })
export type RuleTest = Static<typeof RuleTest>

const RuleReference = Type.Object(
  {
    id: orNull(Type.String({ description: 'Null for the rule that is not saved.' })),
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
          ticket: orNull(Type.String({ description: 'The key that the rule composed.' })),
          note: orNull(Type.String({ description: 'Why there is no ticket although the rule gives one.' })),
        },
        { ...strict, description: 'The first rule that takes it; null leaves it unattributed.' },
      ),
    ),
    steps: Type.Array(
      Type.Object(
        {
          rule: RuleReference,
          verdict: oneOf(VERDICTS, 'Only `takes` ends the search.'),
          failed: Type.Array(
            Type.Object({ field: Type.String(), matches: Type.String(), value: orNull(Type.String()) }, strict),
            { description: 'The conditions that do not hold, with what they looked at.' },
          ),
        },
        strict,
      ),
      { description: 'Every rule up to the one that takes it, in order.' },
    ),
  },
  { ...strict, $id: 'PlacementExplanation' },
)
export type ExplanationBody = Static<typeof ExplanationBody>
