import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { FUNDINGS, PLAN_HOLDERS } from '../../../src/database/schema/values.ts'
import type { SaidFunding } from '../../../src/features/funding/contract.ts'
import { type CompiledPlan, type CompiledRule, decideFunding, plansOf } from '../../../src/features/funding/decide.ts'
import { compileCondition } from '../../../src/features/placement/contract.ts'

const PEOPLE = [1, 2, 3]
const DAYS = ['2026-10-31', '2026-11-01', '2026-11-15', '2026-12-01']
const day = fc.constantFrom(...DAYS)
const orNull = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { freq: 2 })
const conditions = fc
  .array(
    fc.record({
      field: fc.constantFrom('agent_harness', 'model', 'labels.entrypoint'),
      matches: fc.constantFrom('codex', 'o3', 'c*'),
    }),
    { maxLength: 2 },
  )
  .map((all) => all.map(compileCondition))

const plan = fc.record({
  holder: fc.constantFrom(...PLAN_HOLDERS),
  vendorCodes: fc.subarray(['codex:pro', 'codex:team']),
  endsOn: orNull(day),
  holders: fc.array(fc.record({ userId: fc.constantFrom(...PEOPLE), fromDay: day, toDay: orNull(day) }), {
    maxLength: 3,
  }),
  versions: fc.uniqueArray(fc.record({ fromDay: day, conditions, hasAllowance: fc.boolean() }), {
    selector: ({ fromDay }) => fromDay,
    minLength: 1,
    maxLength: 2,
  }),
})

const plans = fc.array(plan, { maxLength: 6 }).map((all) =>
  all.map(
    (one, at): CompiledPlan => ({
      ...one,
      id: at,
      uid: `pln_${at}`,
      name: `Plan ${at}`,
      holders: one.holder === 'organization' ? [] : one.holders,
      versions: one.versions.toSorted((a, b) => (a.fromDay < b.fromDay ? -1 : 1)),
    }),
  ),
)
const rules = fc
  .array(fc.record({ conditions, funding: fc.constantFrom(...FUNDINGS), planId: fc.nat(6) }), { maxLength: 4 })
  .map((all) =>
    all.map(
      ({ planId, ...rule }, at): CompiledRule => ({
        ...rule,
        ...{ id: at, uid: `frl_${at}`, versionId: at, version: 1, name: `Rule ${at}` },
        planId: rule.funding === 'plan' || rule.funding === 'credits' ? planId : null,
      }),
    ),
  )
const said: fc.Arbitrary<SaidFunding | null> = orNull(
  fc.record({
    funding: orNull(fc.constantFrom(...FUNDINGS, 'mixed' as const)),
    plan: orNull(fc.constantFrom('plan 1', 'pln_2', 'codex:pro', 'no such')),
  }),
)
const subject = fc
  .record({
    managerId: fc.constantFrom(...PEOPLE),
    harness: fc.constantFrom('codex', 'claude-code'),
    model: fc.constantFrom('o3', 'gpt-5'),
    entrypoint: orNull(fc.constantFrom('ci', 'cli')),
  })
  .map(({ managerId, harness, model, entrypoint }) => ({
    managerId,
    agentHarness: harness,
    agentName: harness,
    model,
    provider: null,
    manager: { email: `${managerId}@example.com`, name: `${managerId}` },
    summary: null,
    labels: entrypoint === null ? null : { entrypoint },
  }))

const isHeldBy = ({ holder, holders, versions, endsOn }: CompiledPlan, managerId: number, on: string) =>
  versions[0]!.fromDay <= on &&
  (endsOn === null || on <= endsOn) &&
  (holder === 'organization' ||
    holders.some(
      (held) => held.userId === managerId && held.fromDay <= on && (held.toDay === null || on <= held.toDay),
    ))

describe('what pays for an entry', () => {
  test('is never a plan that its person does not have on its day, whoever names it', () => {
    fc.assert(
      fc.property(subject, said, day, plans, rules, (of, what, on, all, tried) => {
        const decided = decideFunding(of, what, on, { held: plansOf(of.managerId, on, all), rules: tried })
        if (decided.plan) expect(isHeldBy(decided.plan, of.managerId, on)).toBe(true)
        expect(decided.plan !== null).toBe(
          decided.funding === 'plan' || (decided.funding === 'credits' && decided.plan !== null),
        )
        expect(decided.rule !== null).toBe(decided.reason === 'rule')
      }),
      { numRuns: 2_000 },
    )
  })

  test('does not depend on the order of plans, and on plans of other people', () => {
    fc.assert(
      fc.property(subject, said, day, plans, rules, (of, what, on, all, tried) => {
        const held = plansOf(of.managerId, on, all)
        const decided = decideFunding(of, what, on, { held, rules: tried })
        const own = all.filter((one) => isHeldBy(one, of.managerId, on)).toReversed()
        expect(decideFunding(of, what, on, { held: plansOf(of.managerId, on, own), rules: tried })).toEqual(decided)
      }),
      { numRuns: 1_000 },
    )
  })

  test('is unknown for no reason without plans, rules and statements', () => {
    fc.assert(
      fc.property(subject, day, (of, on) => {
        expect(decideFunding(of, null, on, { held: [], rules: [] })).toEqual({
          funding: 'unknown',
          plan: null,
          rule: null,
          reason: 'none',
          note: null,
        })
      }),
    )
  })

  test('is the plan of one person before that of several, then the one with more conditions, then the later one', () => {
    const covers = [compileCondition({ field: 'model', matches: '*' })]
    const named = (
      name: string,
      more: Partial<CompiledPlan> & { from?: string; conditions?: typeof covers },
    ): CompiledPlan => {
      const { from = '2026-11-01', conditions: covered = [], ...fields } = more
      return {
        ...{ id: 1, uid: `pln_${name}`, name, holder: 'organization', vendorCodes: [], endsOn: null, holders: [] },
        versions: [{ fromDay: from, conditions: covered, hasAllowance: false }],
        ...fields,
      }
    }
    const holders = [{ userId: 1, fromDay: '2026-11-01', toDay: null }]
    const all = [
      named('later', { from: '2026-11-02' }),
      named('everyone', {}),
      named('covering', { conditions: covers }),
      named('team', { holder: 'people', holders }),
      named('own', { holder: 'person', holders }),
    ]
    expect(plansOf(1, '2026-11-15', all).map(({ name }) => name)).toEqual([
      'own',
      'team',
      'covering',
      'later',
      'everyone',
    ])
    expect(plansOf(2, '2026-11-01', all).map(({ name }) => name)).toEqual(['covering', 'everyone'])
  })
})
