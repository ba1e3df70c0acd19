/** What applying and trying rules answers. */
import { type Static, Type } from '@sinclair/typebox'
import { PLACED_BY } from '../../database/tables.ts'
import { timestamp } from '../../lib/duration.ts'
import { moneyNumber } from '../../lib/money.ts'
import { oneOf, orNull, strict } from '../../wire.ts'
import type { Applied, Move } from './applied.ts'

const cost = (description: string) =>
  Type.Number({
    description: `${description} US dollars, at most 9 decimals; entries without a cost count as nothing.`,
  })

const Where = Type.Object(
  {
    project: orNull(Type.Object({ id: Type.String(), key: Type.String() }, strict)),
    ticket: orNull(
      Type.Object(
        { id: orNull(Type.String({ description: 'Null where the ticket is only to be made.' })), key: Type.String() },
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
    { ...strict, description: 'The rule that moves it; null where names do, or no rule takes it any more.' },
  ),
)

export const RuleApplication = Type.Object(
  {
    scope: Type.Union([Type.Literal('unattributed'), Type.Literal('rule_placed')], {
      description:
        '`unattributed`: entries that nothing placed. `rule_placed`: also those that rules placed, which become unattributed where no rule takes them any more.',
      errorMessage: 'must be one of unattributed, rule_placed',
    }),
    dry_run: Type.Optional(Type.Boolean({ description: 'Only answers what would move.' })),
    limit: Type.Optional(
      Type.Integer({
        description:
          'Moves listed in one answer: 1000 in a dry run and 0 else, where nothing is asked for. With 0 a call goes on until its time is over, for the sums.',
        minimum: 0,
        maximum: 1_000,
      }),
    ),
    page: Type.Optional(Type.String({ description: 'The `next_page` of the answer before, to the same question.' })),
  },
  { ...strict, $id: 'RuleApplication' },
)
export type RuleApplication = Static<typeof RuleApplication>

export const AppliedRules = Type.Object(
  {
    dry_run: Type.Boolean(),
    entries: Type.Integer({ description: 'Entries that moved in this call.' }),
    unpriced_entries: Type.Integer({ description: 'Those whose cost is unknown among them.' }),
    cost: cost('What they cost together.'),
    groups: Type.Array(
      Type.Object(
        {
          from: Where,
          to: Where,
          rule: ByRule,
          entries: Type.Integer(),
          unpriced_entries: Type.Integer(),
          cost: cost('What they cost together.'),
        },
        strict,
      ),
      { description: 'From where to where, the most money first.' },
    ),
    moves: Type.Array(
      Type.Object(
        {
          id: Type.String({ description: 'The entry.' }),
          started_at: Type.String({ format: 'date-time' }),
          cost: orNull(cost('What it costs.')),
          from: Where,
          to: Where,
          rule: ByRule,
          note: orNull(Type.String({ description: 'Where the rule was overruled, or could give no ticket.' })),
        },
        strict,
      ),
      { description: 'As many as were asked for.' },
    ),
    complete: Type.Boolean({ description: 'False where there are more: ask again with the `next_page`.' }),
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
