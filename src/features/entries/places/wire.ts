/** What applying and trying rules answers. */
import { type Static, Type } from '@sinclair/typebox'
import { PLACED_BY } from '../../../database/schema/values.ts'
import { timestamp } from '../../../lib/duration.ts'
import { moneyNumber } from '../../../lib/money.ts'
import { oneOf, orNull, strict } from '../../../schema.ts'
import type { Applied, Move } from './moves.ts'

const cost = (description: string) =>
  Type.Number({
    description: `${description} In US dollars, at most 9 decimals. Unpriced entries are not included.`,
  })

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

const NOWHERE = { project: null, ticket: null, placed_by: 'unattributed' as const }
const ONTO = {
  project: { id: 'prj_01a1fa172a0277f3983322718874f2e2', key: 'ACME' },
  ticket: { id: 'tkt_01a1fa172a0277f3983322718874f2e3', key: 'ACME-42' },
  placed_by: 'rule' as const,
}
const RULE = { id: 'rul_01a1fa172a0277f3983322718874f2e4', name: 'Branches of ACME', version: 1 }
const ONE = { cost: 0.0263781, from: NOWHERE, to: ONTO, rule: RULE }

export const EXAMPLE_APPLIED: AppliedRules = {
  dry_run: true,
  entries: 1,
  unpriced_entries: 0,
  cost: 0.0263781,
  groups: [{ ...ONE, entries: 1, unpriced_entries: 0 }],
  moves: [{ id: 'ent_01a1fa172a0277f3983322718874f2ef', started_at: '2026-11-20T17:53:04.000Z', ...ONE, note: null }],
  complete: true,
  next_page: null,
}
