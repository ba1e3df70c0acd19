/** How entries are paid for: what reports say, rules and plans decide, and what changes of them decide again. */
import { expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { TALLY } from '../../../../src/access/actor.ts'
import { EVERYTHING } from '../../../../src/access/visibility.ts'
import { createServices } from '../../../../src/services.ts'
import { forEachEngine, type Open } from '../../../support/databases.ts'
import { addPlan, endPlan } from '../../../support/plans.ts'
import { addReporter, OPERATOR, reportBody } from '../../../support/reports.ts'

const NOW = Date.UTC(2026, 10, 21, 12)

async function stage(open: Open) {
  const db = await open()
  const services = createServices({ db, clock: { now: () => NOW } })
  const { entries, funding, people } = services
  const ada = await addReporter(people)
  const bob = await addReporter(people, { name: 'Bob', role: 'member' })
  const report = async (changes: Record<string, unknown> = {}, caller = ada) =>
    (await entries.reporting.reportEntry(reportBody(changes), caller)).entry
  const entry = async (id: string) =>
    (await entries.listing.getEntry(id, EVERYTHING)) as Awaited<ReturnType<typeof report>>
  const addRule = (rule: Partial<Parameters<typeof funding.rulesIn.add>[2]>) =>
    db.write((tx) =>
      funding.rulesIn.add(tx, TALLY, { name: 'rule', conditions: [], funding: 'metered', plan: null, ...rule }),
    )
  /** What the job has changed. */
  const decideOwed = () => entries.funding.decideOwed()
  return { db, services, entries, funding, ada, bob, report, entry, addRule, decideOwed }
}

const paidBy = ({
  funding: { kind, plan, reason, note },
}: {
  funding: { kind: string; plan: { name: string } | null; reason: string; note: string | null }
}) => [kind, plan?.name ?? null, reason, note].join(' ')

forEachEngine('funding', (open) => {
  test('the first that says how an entry is paid for decides: the report, a rule, the plan of its person', async () => {
    const { db, ada, bob, report, addRule } = await stage(open)
    expect(paidBy(await report())).toBe('unknown  none ')
    const uid = await addPlan(db, { name: 'Team', covers: [] })
    await addPlan(db, {
      name: 'Pro',
      holder: 'person',
      people: [{ id: ada.person.id, from: '2026-11-01', to: '2026-11-20' }],
      codes: ['codex:pro'],
      covers: [{ field: 'agent_harness', matches: 'codex' }],
    })
    expect(paidBy(await report({ summary: 'a' }))).toBe('plan Pro person ')
    expect(paidBy(await report({ summary: 'b' }, bob))).toBe('plan Team person ')
    expect(paidBy(await report({ agent_harness: 'claude-code' }))).toBe('plan Team person ')
    const later = { started_at: '2026-11-21T10:00:00Z', ended_at: '2026-11-21T11:00:00Z' }
    expect(paidBy(await report(later))).toBe('plan Team person ')

    expect(paidBy(await report({ plan: 'team' }))).toBe('plan Team report ')
    expect(paidBy(await report({ plan: uid, funding: 'credits' }))).toBe('credits Team report ')
    expect(paidBy(await report({ plan: 'codex:PRO' }))).toBe('plan Pro agent ')
    expect(paidBy(await report({ plan: 'pro' }, bob))).toBe('plan Team person plan_not_held')
    expect(paidBy(await report({ plan: 'no such' }))).toBe('plan Pro person plan_not_held')
    expect(paidBy(await report({ funding: 'metered' }))).toBe('metered  report ')
    expect(paidBy(await report({ funding: 'plan' }))).toBe('plan Pro report ')
    expect(paidBy(await report({ funding: 'unknown' }))).toBe('unknown  report ')

    await addRule({
      name: 'CI',
      conditions: [{ field: 'labels.entrypoint', matches: 'ci' }],
      funding: 'metered',
    })
    expect(paidBy(await report({ labels: { entrypoint: 'ci' } }))).toBe('metered  rule ')
    expect(paidBy(await report({ labels: { entrypoint: 'ci' }, plan: 'Team' }))).toBe('plan Team report ')
    await addRule({
      name: 'Pro for models',
      conditions: [{ field: 'model', matches: 'o3' }],
      funding: 'plan',
      plan: 'Pro',
    })
    expect(paidBy(await report({ model: 'o3' }))).toBe('plan Pro rule ')
    expect(paidBy(await report({ model: 'o3' }, bob))).toBe('plan Team person plan_not_held')
  })

  test('says what was reported, and by which rule', async () => {
    const { report, addRule } = await stage(open)
    const { rule } = await addRule({ name: 'All' })
    const { funding } = await report({ plan: 'Max' })
    expect(funding).toEqual({
      kind: 'metered',
      plan: null,
      reason: 'rule',
      rule: { id: rule.uid, name: 'All', version: 1 },
      note: 'plan_not_held',
      reported_funding: null,
      reported_plan: 'Max',
      metered_share: null,
    })
  })

  test('a session keeps what was said of it until it says otherwise, and each part of it what it was said of', async () => {
    const { db, report, entries, entry } = await stage(open)
    await addPlan(db, { name: 'Max' })
    const body = { session_id: 's', tokens: { input: 10, output: 5 } }
    const first = await report({ ...body, funding: 'metered' })
    const grown = await report({ ...body, tokens: { input: 20, output: 5 } })
    expect(grown.id).toBe(first.id)
    expect(paidBy(grown)).toBe('metered  report ')
    expect(paidBy(await report({ ...body, tokens: { input: 30, output: 5 }, plan: 'Max' }))).toBe('plan Max report ')
    await entries.approval.decideEntry(first.id, { action: 'approve' }, OPERATOR)
    const next = await report({ ...body, tokens: { input: 40, output: 5 }, funding: 'credits' })
    expect(next.id).not.toBe(first.id)
    expect([paidBy(next), paidBy(await entry(first.id))]).toEqual(['credits Max report ', 'plan Max report '])
  })

  test('entries whose labels were removed with their retention period keep what was decided by these', async () => {
    const { db, services, report, entry, addRule, decideOwed } = await stage(open)
    const condition = { field: 'labels.entrypoint', matches: 'ci' } as never
    await addRule({ conditions: [condition] })
    const times = { started_at: '2026-10-01T10:00:00Z', ended_at: '2026-10-01T10:10:00Z' }
    const old = await report({ ...times, labels: { entrypoint: 'ci' } })
    const unlabeled = await report({ ...times, ended_at: '2026-10-01T10:11:00Z' })
    const recent = await report({ labels: { entrypoint: 'ci' } })
    const removed = async (id: string) => {
      const { entries: e } = db.read.tables
      await db.write((tx) =>
        tx
          .update(e)
          .set({ labelSetId: null, summary: null })
          .where(eq(e.uid, id as never)),
      )
    }
    for (const { id } of [old, unlabeled, recent]) await removed(id)
    await services.organization.changeSettings({ retentionTexts: 1 } as never, TALLY)
    await addPlan(db, { name: 'Max' })
    await decideOwed()
    const found = await Promise.all([old, unlabeled, recent].map(async ({ id }) => paidBy(await entry(id))))
    expect(found).toEqual(['metered  rule ', 'plan Max person ', 'plan Max person '])
  })

  test('slices say it for themselves; of an entry, some may be metered and a plan pay for the rest', async () => {
    const { db, services, report, entries, entry, decideOwed } = await stage(open)
    await addPlan(db, { name: 'Max' })
    const cell = (hour: number, more: object) => ({
      started_at: `2026-11-20T${hour}:00:00Z`,
      ended_at: `2026-11-20T${hour}:10:00Z`,
      tokens: { input: 5, output: 5 },
      ...more,
    })
    const sliced = (...slices: object[]) =>
      report({ session_id: crypto.randomUUID(), plan: 'Max', tokens: undefined, slices })
    const alike = await sliced(cell(10, {}), cell(10, { plan: 'Max' }))
    expect(paidBy(alike)).toBe('plan Max report ')
    const metered = { funding: 'metered', tokens: { input: 6, output: 14 } }
    const differing = await sliced(cell(10, {}), cell(10, metered))
    expect(paidBy(differing)).toBe('mixed Max report mixed_by_tokens')
    expect(differing.funding).toMatchObject({ reported_funding: 'mixed', metered_share: 0.666666667 })
    const listed = await entries.listing.listEntries(EVERYTHING, { filter: { funding: ['mixed'] }, limit: 9 } as never)
    expect(listed.data.map(({ id }) => id)).toEqual([differing.id])
    // What the metered part costs is unknown without a price.
    await services.funding.calculateOwed()
    expect(await entry(differing.id)).toMatchObject({ cost: null, marginal_cost: null })
    for (const [basis, unpriced] of [
      ['list', 1],
      ['marginal', 1],
    ] as const) {
      const filter = { funding: ['mixed'], unknown_cost: [basis] }
      const unknown = await entries.listing.listEntries(EVERYTHING, { filter, limit: 9 } as never)
      expect([basis, unknown.data.length]).toEqual([basis, unpriced])
    }
    const unknown = await sliced(cell(10, {}), cell(10, { funding: 'unknown' }), cell(10, metered))
    expect(paidBy(unknown)).toBe('unknown  report parts_differ')
    const other = await sliced(cell(10, { plan: 'Pro' }), cell(10, { ...metered, plan: 'Pro' }))
    expect(paidBy(other)).toBe('unknown  report plan_not_held')
    expect(other.funding.metered_share).toBe(0.666666667)
    await addPlan(db, { name: 'Pro' })
    await decideOwed()
    expect(paidBy(await entry(other.id))).toBe('mixed Pro report mixed_by_tokens')
    const { data: history } = await entries.listing.getHistory(other.id, EVERYTHING)
    expect(history.at(-1)!.details).toMatchObject({ to: { funding: 'mixed', plan: { name: 'Pro' } } })
    const apart = await sliced(cell(10, { project: 'A' }), cell(10, { funding: 'metered', project: 'B' }))
    const { data } = await entries.listing.listEntries(EVERYTHING, {
      filter: { session_id: [apart.session_id!] },
      limit: 10,
    } as never)
    expect(data.map((one) => `${one.project?.key} ${paidBy(one)}`).sort()).toEqual([
      'A plan Max report ',
      'B metered  report ',
    ])
  })

  test('slices that are metered or paid with credits of no plan are metered, until a plan is known for the credits', async () => {
    const { db, report, entry, decideOwed } = await stage(open)
    const cell = {
      started_at: '2026-11-20T10:00:00Z',
      ended_at: '2026-11-20T10:10:00Z',
      tokens: { input: 5, output: 5 },
    }
    const slices = [
      { ...cell, funding: 'metered' },
      { ...cell, funding: 'credits' },
    ]
    const both = await report({ session_id: crypto.randomUUID(), tokens: undefined, slices })
    expect(paidBy(both)).toBe('metered  report ')
    expect(both.funding).toMatchObject({ reported_funding: 'mixed_credits', metered_share: 0.5 })
    // All are metered, whatever plan one of them names beside it.
    const other = [slices[0]!, { ...cell, funding: 'metered', plan: 'Copilot' }]
    expect(paidBy(await report({ session_id: crypto.randomUUID(), tokens: undefined, slices: other }))).toBe(
      'metered  report ',
    )
    await addPlan(db, { name: 'Copilot' })
    await decideOwed()
    expect(paidBy(await entry(both.id))).toBe('mixed Copilot report mixed_by_tokens')
  })

  test('somebody who is renamed has what a rule by their name decides', async () => {
    const { services, report, entry, addRule, decideOwed, db } = await stage(open)
    const own = await report()
    await addRule({ name: 'CI', conditions: [{ field: 'agent_manager', matches: 'CI *' }] })
    await decideOwed()
    expect(paidBy(await entry(own.id))).toBe('unknown  none ')
    const { users } = db.read.tables
    const [user] = await db.read
      .select()
      .from(users)
      .where(eq(users.uid, own.agent_manager.id as never))
    await services.people.changeUser(user!.email, { name: 'CI runner' }, TALLY)
    await decideOwed()
    expect(paidBy(await entry(own.id))).toBe('metered  rule ')
    await services.people.changeUser('bob@example.com', { role: 'billing' }, TALLY)
    expect(await db.read.select().from(db.read.tables.fundingOwed)).toEqual([])
  })

  test('a change of plans or rules decides unlocked entries again, and shows it in their history', async () => {
    const { db, report, entries, entry, addRule, decideOwed, funding } = await stage(open)
    const [open1, locked] = [await report(), await report({ summary: 'locked' })]
    await entries.approval.decideEntry(locked.id, { action: 'approve' }, OPERATOR)
    await addPlan(db, { name: 'Max' })
    await decideOwed()
    expect([paidBy(await entry(open1.id)), paidBy(await entry(locked.id))]).toEqual([
      'plan Max person ',
      'unknown  none ',
    ])
    const { data: history } = await entries.listing.getHistory(open1.id, EVERYTHING)
    expect(history.at(-1)).toMatchObject({
      action: 'funding_decided',
      details: {
        from: { funding: 'unknown', plan: null, reason: 'none' },
        to: { funding: 'plan', plan: { name: 'Max' }, reason: 'person' },
      },
    })
    await addRule({ name: 'All' })
    await decideOwed()
    expect(paidBy(await entry(open1.id))).toBe('metered  rule ')
    await db.write((tx) => funding.rulesIn.remove(tx, TALLY, 'All'))
    await endPlan(db, 'Max', '2026-11-19')
    await decideOwed()
    expect(paidBy(await entry(open1.id))).toBe('unknown  none ')
  })

  test('an entry that is reopened or corrected is decided by the plans and rules of that time', async () => {
    const { db, report, entries, entry, addRule, decideOwed } = await stage(open)
    const locked = await report()
    await entries.approval.decideEntry(locked.id, { action: 'approve' }, OPERATOR)
    await addPlan(db, { name: 'Max' })
    await addRule({ name: 'o3', conditions: [{ field: 'labels.kind', matches: 'paid' }] })
    await decideOwed()
    expect(paidBy(await entry(locked.id))).toBe('unknown  none ')
    await entries.approval.decideEntry(locked.id, { action: 'withdraw_approval' }, OPERATOR)
    expect(paidBy(await entry(locked.id))).toBe('plan Max person ')
    await entries.places.changeEntry(locked.id, { labels: { kind: 'paid' } }, OPERATOR)
    expect(paidBy(await entry(locked.id))).toBe('metered  rule ')
  })

  test('a preview counts what would change, and changes nothing', async () => {
    const { db, report, entries, entry, funding } = await stage(open)
    await addPlan(db, { name: 'Max' })
    const [first, second] = [await report({ reported_cost: 1.5 }), await report({ summary: 'other' })]
    await entries.approval.decideEntry(second.id, { action: 'approve' }, OPERATOR)
    const all = { name: 'All', conditions: [], funding: 'metered', plan: null } as const
    const preview = await entries.funding.preview((tx) => funding.rulesIn.add(tx, TALLY, { ...all, conditions: [] }))
    expect(preview).toMatchObject({
      changes: [
        {
          from: { funding: 'plan', plan: { name: 'Max' } },
          to: { funding: 'metered', plan: null },
          entries: 1,
          costNanos: 1_500_000_000n,
          unpricedEntries: 0,
        },
      ],
      lockedEntries: 1,
      searchedTo: null,
    })
    expect(await funding.listFundingRules()).toEqual([])
    expect(paidBy(await entry(first.id))).toBe('plan Max person ')
  })
})
