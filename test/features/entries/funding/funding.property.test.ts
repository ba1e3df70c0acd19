/**
 * Whatever is reported, decided and changed in whatever order: what pays for entries depends on them and on the plans and
 * rules as they are then; locked entries keep what they had, and nobody's report changes the funding of somebody else.
 */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { TALLY } from '../../../../src/access/actor.ts'
import type { CallerOf } from '../../../../src/access/caller.ts'
import { EVERYTHING } from '../../../../src/access/visibility.ts'
import { Problem } from '../../../../src/errors.ts'
import type { TokenEntry } from '../../../../src/features/entries/schema.ts'
import { createServices } from '../../../../src/services.ts'
import { forEachEngine, type Open } from '../../../support/databases.ts'
import { addPlan, endPlan } from '../../../support/plans.ts'
import { addReporter, OPERATOR, reportBody } from '../../../support/reports.ts'
import { runs } from '../../../support/tier.ts'

const NOW = Date.UTC(2026, 10, 28)
const PEOPLE = ['Ada', 'Bob'] as const
type Person = (typeof PEOPLE)[number]
const PLANS = ['Team', 'Pro', 'Max'] as const

const person = fc.constantFrom(...PEOPLE)
const day = fc.constantFrom('2026-11-10', '2026-11-12', '2026-11-14')
const said = {
  funding: fc.option(fc.constantFrom('metered', 'plan', 'credits', 'unknown'), { nil: undefined, freq: 2 }),
  plan: fc.option(fc.constantFrom(...PLANS, 'codex:pro'), { nil: undefined, freq: 2 }),
}
const report = fc.record({
  what: fc.constant('report' as const),
  who: person,
  on: day,
  session: fc.option(fc.nat(2), { nil: undefined }),
  size: fc.integer({ min: 1, max: 50 }),
  entrypoint: fc.option(fc.constantFrom('cli', 'ci'), { nil: undefined }),
  ...said,
  /** What a second cell of as many tokens says; without, the report has no slices. */
  other: fc.option(fc.record(said), { nil: undefined, freq: 3 }),
})
const change = fc.oneof(
  fc.record({
    what: fc.constant('plan' as const),
    name: fc.constantFrom(...PLANS),
    holder: fc.option(person),
    from: day,
    code: fc.boolean(),
    covers: fc.boolean(),
  }),
  fc.record({ what: fc.constant('end' as const), name: fc.constantFrom(...PLANS), on: day }),
  fc.record({
    what: fc.constant('rule' as const),
    entrypoint: fc.constantFrom('cli', 'ci'),
    funding: fc.constantFrom('metered' as const, 'plan' as const, 'credits' as const),
    plan: fc.constantFrom(...PLANS),
  }),
)
const act = fc.oneof(
  { weight: 5, arbitrary: report },
  { weight: 3, arbitrary: change },
  { weight: 1, arbitrary: fc.record({ what: fc.constant('approve' as const), at: fc.nat() }) },
  {
    weight: 1,
    arbitrary: fc.record({
      what: fc.constant('relabel' as const),
      at: fc.nat(),
      entrypoint: fc.constantFrom('cli', 'ci'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ what: fc.constant('decide' as const) }) },
)
type Act = typeof act extends fc.Arbitrary<infer Each> ? Each : never

async function stage(open: Open) {
  const db = await open()
  const services = createServices({ db, clock: { now: () => NOW } })
  const { entries, funding, people } = services
  const callers = new Map<Person, CallerOf<'service'>>()
  for (const name of PEOPLE) callers.set(name, await addReporter(people, { name }))
  const all = async (): Promise<TokenEntry[]> => {
    const found: TokenEntry[] = []
    for await (const entry of entries.listing.exportEntries(EVERYTHING, {})) found.push(entry)
    return found
  }
  const idOf = (name: Person) => callers.get(name)!.person.id

  async function carryOut(act: Act): Promise<void> {
    if (act.what === 'report') {
      const { who, on, session, size, entrypoint, funding: kind, plan, other } = act
      const times = { started_at: `${on}T10:00:00Z`, ended_at: `${on}T10:${String(size).padStart(2, '0')}:00Z` }
      const cell = (says: object) => ({ ...times, tokens: { input: size, output: size }, ...says })
      const body = reportBody({
        ...times,
        ...(other && session !== undefined
          ? { tokens: undefined, slices: [cell({}), cell(other)] }
          : { tokens: { input: size, output: size } }),
        ...(session !== undefined && { session_id: `s${session}` }),
        ...(entrypoint !== undefined && { labels: { entrypoint } }),
        ...(kind !== undefined && { funding: kind }),
        ...(plan !== undefined && { plan }),
      })
      await entries.reporting.reportEntry(body, callers.get(who)!)
    } else if (act.what === 'plan') {
      const { name, holder, from, code, covers } = act
      const known = (await db.read.select().from(db.read.tables.plans)).some((plan) => plan.name === name)
      if (known) return
      await addPlan(db, {
        name,
        from,
        ...(holder && { people: [{ id: idOf(holder) }] }),
        codes: code ? ['codex:pro'] : [],
        covers: covers ? [{ field: 'labels.entrypoint', matches: 'cli' }] : [],
      })
    } else if (act.what === 'end') await endPlan(db, act.name, act.on)
    else if (act.what === 'rule') {
      const { entrypoint, funding: kind, plan } = act
      const conditions = [{ field: 'labels.entrypoint', matches: entrypoint }]
      await funding.addFundingRule(TALLY, {
        name: `${entrypoint} ${kind} ${plan}`,
        conditions,
        funding: kind,
        plan: kind === 'metered' ? null : plan,
      })
    } else if (act.what === 'decide') await entries.funding.decideOwed()
    else {
      const listed = await all()
      const entry = listed[act.at % Math.max(1, listed.length)]
      if (!entry) return
      if (act.what === 'approve') await entries.approval.decideEntry(entry.id, { action: 'approve' }, OPERATOR)
      else await entries.places.changeEntry(entry.id, { labels: { entrypoint: act.entrypoint } }, OPERATOR)
    }
  }
  /** Some acts are refused, such as a rule with a plan that there is not. */
  const tried = async (act: Act) => {
    try {
      await carryOut(act)
    } catch (error) {
      if (!(error instanceof Problem)) throw error
    }
  }
  return { db, services, all, tried }
}

const fundingsOf = (found: readonly TokenEntry[]) =>
  new Map(found.map(({ id, funding }) => [id, JSON.stringify(funding)]))

forEachEngine('whatever is reported and changed', (open) => {
  test('each entry has what the plans and rules decide now, locked ones what they had, and only own reports change it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(act, { minLength: 3, maxLength: 25 }), async (acts) => {
        const { db, services, all, tried } = await stage(open)
        for (const act of acts) {
          const before = await all()
          await tried(act)
          const after = new Map((await all()).map((entry) => [entry.id, entry]))
          for (const entry of before) {
            const now = JSON.stringify(after.get(entry.id)!.funding)
            const isForeign = act.what === 'report' && entry.agent_manager.name !== act.who
            if (entry.status === 'approved' || isForeign) expect(now).toBe(JSON.stringify(entry.funding))
          }
        }
        await services.entries.funding.decideOwed()
        const decided = fundingsOf(await all())
        // Deciding all of them again changes nothing.
        const ids = (await db.read.select({ id: db.read.tables.entries.id }).from(db.read.tables.entries)).map(
          ({ id }) => id,
        )
        expect(await db.write((tx) => services.entries.funding.decideAgain(tx, ids))).toBe(0)
        expect(fundingsOf(await all())).toEqual(decided)
        const plans = await db.read.select().from(db.read.tables.plans)
        const holders = await db.read.select().from(db.read.tables.planHolders)
        const users = await db.read.select().from(db.read.tables.users)
        for (const { status, funding, agent_manager, started_at } of await all()) {
          const plan = plans.find(({ uid }) => uid === funding.plan?.id)
          if (!plan || status === 'approved') continue
          const manager = users.find(({ uid }) => uid === agent_manager.id)!
          const isHeld = holders.some(({ planId, userId }) => planId === plan.id && userId === manager.id)
          expect(plan.holder === 'organization' || isHeld).toBe(true)
          expect(plan.endsOn === null || started_at.slice(0, 10) <= plan.endsOn).toBe(true)
        }
      }),
      { numRuns: runs(50, 5) },
    )
  })

  test('the order of reports, plans and rules makes no difference', async () => {
    const changes = fc.uniqueArray(change, { selector: (one) => JSON.stringify(one), maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(fc.array(report, { minLength: 1, maxLength: 6 }), changes, async (reports, changed) => {
        const single = reports.map((each, at) => ({ ...each, session: each.other && at, size: at + 1 }))
        const outcome = async (acts: readonly Act[]) => {
          const { services, all, tried } = await stage(open)
          for (const each of acts) await tried(each)
          await services.entries.funding.decideOwed()
          return (await all())
            .map(({ agent_manager, tokens, funding: { kind, plan, reason, note, metered_share } }) =>
              [agent_manager.name, tokens.total, kind, plan?.name, reason, note, metered_share].join(' '),
            )
            .sort()
        }
        const expected = await outcome([...changed, ...single])
        expect(await outcome([...single, ...changed])).toEqual(expected)
        expect(await outcome([...single.toReversed(), ...changed])).toEqual(expected)
      }),
      { numRuns: runs(30, 4) },
    )
  })
})
