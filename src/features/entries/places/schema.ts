/** Requests and responses of applying placement rules to existing entries, and of testing rules on them. */
import { type Static, Type } from '@sinclair/typebox'
import { PLACED_BY } from '../../../database/schema/values.ts'
import { money, oneOf, orNull, strict } from '../../../schema/types.ts'
import { ExplanationBody, unsavedRule } from '../../placement/schema.ts'

const cost = (description: string) => money(`${description} Unpriced entries are not included.`)

const Where = Type.Object(
  {
    project: orNull(Type.Object({ id: Type.String(), key: Type.String() }, strict)),
    ticket: orNull(
      Type.Object(
        { id: orNull(Type.String({ description: 'Null if the ticket does not exist yet.' })), key: Type.String() },
        strict,
      ),
    ),
    placed_by: oneOf([...PLACED_BY, 'unattributed']),
  },
  strict,
)
const ByRule = orNull(
  Type.Object(
    { id: Type.String(), name: Type.String(), version: Type.Integer() },
    { ...strict, description: 'The rule that moves the entry; null if names do, or if no rule matches it any more.' },
  ),
)

export const RuleApplication = Type.Object(
  {
    scope: Type.Union([Type.Literal('unattributed'), Type.Literal('rule_placed')], {
      description:
        '`unattributed`: only unattributed entries. `rule_placed`: also entries that were placed by a rule; they become unattributed if no rule matches them any more.',
      errorMessage: 'must be one of unattributed, rule_placed',
    }),
    dry_run: Type.Optional(Type.Boolean({ description: 'Return the moves without saving them.' })),
    limit: Type.Optional(
      Type.Integer({
        description:
          'Maximum number of moves to list. Default: 1000 in a dry run, otherwise 0. With 0, only the totals are returned and a call uses its full time.',
        minimum: 0,
        maximum: 1_000,
      }),
    ),
    page: Type.Optional(Type.String({ description: 'The `next_page` of the previous response to the same request.' })),
  },
  { ...strict, $id: 'RuleApplication' },
)
export type RuleApplication = Static<typeof RuleApplication>

export const AppliedRules = Type.Object(
  {
    dry_run: Type.Boolean(),
    entries: Type.Integer({ description: 'Entries that moved in this call.' }),
    unpriced_entries: Type.Integer({ description: 'Unpriced entries among them.' }),
    cost: cost('Total cost.'),
    groups: Type.Array(
      Type.Object(
        {
          from: Where,
          to: Where,
          rule: ByRule,
          entries: Type.Integer(),
          unpriced_entries: Type.Integer(),
          cost: cost('Total cost.'),
        },
        strict,
      ),
      { description: 'Moves grouped by origin and destination, highest cost first.' },
    ),
    moves: Type.Array(
      Type.Object(
        {
          id: Type.String({ description: 'ID of the entry.' }),
          started_at: Type.String({ format: 'date-time' }),
          cost: orNull(cost('Cost of the entry.')),
          from: Where,
          to: Where,
          rule: ByRule,
          note: orNull(Type.String({ description: 'Why the rule was overruled or could not determine a ticket.' })),
        },
        strict,
      ),
      { description: 'At most `limit` moves.' },
    ),
    complete: Type.Boolean({ description: 'False if there are more. Call again with `next_page`.' }),
    next_page: orNull(Type.String()),
  },
  { ...strict, $id: 'AppliedRules' },
)
export type AppliedRules = Static<typeof AppliedRules>

/** Entries per call that tests rules: as many as a page of any list. */
const TRIAL_LIMIT = 1_000
export const TRIAL_LIMIT_DEFAULT = 50

export const RuleTrial = Type.Object(
  {
    ...unsavedRule,
    limit: Type.Optional(
      Type.Integer({
        description: `Number of entries to test. Default: ${TRIAL_LIMIT_DEFAULT}. With many rules, a page may be shorter.`,
        minimum: 1,
        maximum: TRIAL_LIMIT,
      }),
    ),
    page: Type.Optional(Type.String({ description: 'The `next_page` of the previous response to the same request.' })),
  },
  { ...strict, $id: 'PlacementRuleTrial' },
)
export type RuleTrial = Static<typeof RuleTrial>

const Reference = orNull(Type.Object({ id: Type.String(), key: Type.String() }, strict))

const TrialEntry = Type.Object(
  {
    id: Type.String(),
    started_at: Type.String({ format: 'date-time' }),
    agent_manager: Type.String({ description: 'Name of the person.' }),
    agent_harness: Type.String(),
    agent_name: Type.String(),
    model: Type.String(),
    summary: orNull(Type.String()),
    labels: Type.Record(Type.String(), Type.String()),
    cost: orNull(money('Null if unknown.')),
    project: Reference,
    ticket: Reference,
    placed_by: oneOf([...PLACED_BY, 'unattributed']),
  },
  { ...strict, description: 'The entry in its current state.' },
)

export const RuleTrialAnswer = Type.Object(
  {
    data: Type.Array(
      Type.Object(
        {
          entry: TrialEntry,
          applies: Type.Boolean({
            description:
              'Whether applying rules can move the entry. False if a report or a person placed it, or if it is locked.',
          }),
          taken: ExplanationBody.properties.taken,
          steps: ExplanationBody.properties.steps,
        },
        strict,
      ),
      { description: 'Newest first.' },
    ),
    has_more: Type.Boolean(),
    next_page: orNull(Type.String()),
  },
  { ...strict, $id: 'PlacementRuleTrialAnswer' },
)
export type RuleTrialAnswer = Static<typeof RuleTrialAnswer>

export const ProposalTestAnswer = Type.Object(
  {
    entries: Type.Integer({ description: 'Number of unattributed entries that the rule would match.' }),
    cost: money('Their cost, as far as it is known.'),
    unpriced_entries: Type.Integer({ description: 'Those of them whose cost is unknown.' }),
    earlier_rules: Type.Integer({ description: 'Number of entries that an existing rule matches first.' }),
    tried: Type.Integer({ description: 'Number of entries of the repository that were tested, the newest first.' }),
    complete: Type.Boolean({ description: 'Whether these were all.' }),
    data: Type.Array(
      Type.Object(
        {
          entry: TrialEntry,
          ticket: orNull(Type.String({ description: 'The ticket key that the rule produces.' })),
          note: orNull(Type.String({ description: 'Why no ticket would be assigned although the rule has one.' })),
        },
        strict,
      ),
      { description: 'The newest matching entries.' },
    ),
  },
  { ...strict, $id: 'RuleProposalTest' },
)
export type ProposalTestAnswer = Static<typeof ProposalTestAnswer>
