/** Plans over HTTP: terms from a day on, people, periods, and files. */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { TALLY } from '../../../src/access/actor.ts'
import { createServices } from '../../../src/services.ts'
import { startApp } from '../../support/app.ts'
import { forEachEngine } from '../../support/databases.ts'
import { reportBody } from '../../support/reports.ts'

const NOW = Date.parse('2026-11-29T12:00:00Z')
const ADA = { person: 'ada@example.com' }
const MAX = { like: 'claude-max', people: [ADA], from: '2026-10-17' }

forEachEngine('plans', (open) => {
  async function start() {
    const app = await startApp({ db: await open(), clock: { now: () => NOW } })
    const admin = await app.session('admin')
    await app.call('POST /api/v1/users', {
      session: admin,
      json: { ...{ email: 'ada@example.com', name: 'Ada' }, role: 'member' },
    })
    await app.call('POST /api/v1/users', {
      session: admin,
      json: { ...{ email: 'bob@example.com', name: 'Bob' }, role: 'member' },
    })
    const send = (operation: string, json?: object) =>
      app.call(`${operation.replace(' ', ' /api/v1')}`, { session: admin, ...(json && { json }) })
    const call = async (operation: string, json?: object) => {
      const answer = await send(operation, json)
      expect([answer.status, answer.json?.detail]).toEqual([answer.status < 300 ? answer.status : 200, undefined])
      return answer.json
    }
    const refused = async (operation: string, json?: object) => {
      const { status, json: body } = await send(operation, json)
      return [status, ...(body.errors ?? []).map(({ pointer, code }: Record<string, string>) => `${pointer} ${code}`)]
    }
    return { app, admin, call, refused }
  }

  test('begin with the terms of a common plan, and belong to nobody but their people', async () => {
    const { call } = await start()
    const plan = await call('POST /plans', MAX)
    expect(plan).toMatchObject({
      name: 'Claude Max',
      vendor: 'Anthropic',
      holder: 'person',
      people: [{ name: 'Ada', from: '2026-10-17', to: null }],
      starts_on: '2026-10-17',
      state: 'active',
      current_period: { from: '2026-11-17', to: '2026-12-16', whole_to: '2026-12-16', fee: 100, fee_usd: 100 },
    })
    const { data } = await call('GET /common-plans')
    const common = data.find(({ code }: { code: string }) => code === 'claude-max')
    expect(plan.versions).toMatchObject([{ fee: common.fee, covers: common.covers, source_url: common.source_url }])
    expect(await call('GET /plans/claude%20max')).toEqual(plan)
    expect((await call('GET /plans')).data).toEqual([plan])
    // The price of the source is another one.
    const dear = await call('POST /plans', { ...MAX, name: 'Dear', fee: 110.000000001 })
    expect(dear.versions).toMatchObject([{ fee: 110.000000001, source_url: null, source_day: null }])
    const all = await call('POST /plans', { name: 'All', vendor: 'V', product: 'P', fee: 0, from: '2026-12-01' })
    expect(all).toMatchObject({ holder: 'organization', people: [], state: 'planned', current_period: null })
  })

  test('get new terms from a day on, after it is said what the period costs that they cut', async () => {
    const { call, refused } = await start()
    const { id } = await call('POST /plans', MAX)
    const change = (json: object) => call(`PATCH /plans/${id}`, json)
    expect(await refused(`PATCH /plans/${id}`, { fee: 200 })).toEqual([422, '/from required'])
    expect(await refused(`PATCH /plans/${id}`, { fee: 200, from: '2026-11-01' })).toEqual([422, '/prorate required'])
    await change({ fee: 200, product: 'Claude Ultra', from: '2026-11-01', prorate: true })
    const periods = async (query = '') =>
      (await call(`GET /plans/${id}/periods${query}`)).data.map(({ from, to, fee_usd }: Record<string, unknown>) => [
        from,
        to,
        fee_usd,
      ])
    expect(await periods()).toEqual([
      ['2026-11-01', '2026-11-30', 200],
      ['2026-10-17', '2026-10-31', 48.387096774],
    ])
    // Without a cut, nothing has to be said.
    expect((await change({ seats: 3, from: '2026-12-01' })).versions[0]).toMatchObject({
      seats: 3,
      fee: 200,
      prorate: null,
    })
    // The first day of terms corrects them.
    expect((await change({ fee: 150, from: '2026-11-01' })).versions.map(({ fee }: { fee: number }) => fee)).toEqual([
      200, 150, 100,
    ])
    expect(await refused(`DELETE /plans/${id}/versions/2026-11-02`)).toEqual([404])
    await call(`DELETE /plans/${id}/versions/2026-12-01`)
    expect(await periods('?from=2026-12-05&to=2026-12-06')).toEqual([['2026-12-01', '2026-12-31', 150]])

    expect(await refused(`POST /plans/${id}/end`, { on: '2026-12-15' })).toEqual([422, '/prorate required'])
    expect(await call(`POST /plans/${id}/end`, { on: '2026-11-28', prorate: false })).toMatchObject({
      ends_on: '2026-11-28',
      end_prorate: false,
      state: 'ended',
      current_period: null,
    })
    expect(await refused(`POST /plans/${id}/end`, { on: '2026-10-20' })).toEqual([422, '/ends_on not_allowed'])
    expect(await call(`POST /plans/${id}/end`, { on: null })).toMatchObject({
      ends_on: null,
      end_prorate: null,
      state: 'active',
    })
    const { data } = await call(`GET /audit?object=${id}`)
    expect(data.map(({ action }: { action: string }) => action)).toEqual([
      ...['plan.changed', 'plan.ended', 'plan.changed', 'plan.changed', 'plan.changed', 'plan.changed', 'plan.added'],
    ])
  })

  test('refuse what does not fit together, with what to do', async () => {
    const { call, refused } = await start()
    const add = (json: object) =>
      refused('POST /plans', { vendor: 'V', product: 'P', fee: 1, from: '2026-11-01', ...json })
    expect(await refused('POST /plans', { from: '2026-11-01' })).toEqual([
      ...[422, '/fee required', '/vendor required', '/product required'],
    ])
    expect(await add({ from: '2026-02-30' })).toEqual([422, '/from bad_format'])
    expect(await add({ period: 'decade', holder: 'nobody' })).toEqual([422, '/holder bad_format', '/period bad_format'])
    expect(await add({ currency: 'EUR' })).toEqual([422, '/exchange_rate required'])
    expect(await add({ exchange_rate: 0.92 })).toEqual([422, '/exchange_rate not_allowed'])
    expect(await add({ currency: 'XYZ', exchange_rate: 1 })).toEqual([422, '/currency not_allowed'])
    expect(await add({ fee: 0.0000000001 })).toEqual([422, '/fee too_fine'])
    expect(await add({ allowance: 10 })).toEqual([422, '/allowance not_allowed'])
    expect(await add({ allowance: 1.5, allowance_unit: 'requests' })).toEqual([422, '/allowance too_fine'])
    expect(await add({ overage_price: 1 })).toEqual([422, '/overage_price not_allowed'])
    expect(await add({ allowance: 10_000_000_000, allowance_unit: 'usd' })).toEqual([422, '/allowance too_large'])
    expect(await add({ currency: 'IDR', exchange_rate: 1e10 })).toEqual([422, '/exchange_rate too_large'])
    expect(await add({ fee: 1e9, seats: 5 })).toEqual([422, '/fee too_large'])
    expect(await add({ covers: [{ field: 'model', matches: '/(/' }] })).toEqual([
      422,
      '/covers/0/matches bad_expression',
    ])
    expect(await add({ source_url: 'javascript:alert(1)' })).toEqual([422, '/source_url bad_format'])
    expect(await add({ like: 'claude-mox' })).toEqual([422, '/like not_allowed'])
    expect(await add({ people: [{ person: 'nobody@example.com' }] })).toEqual([422, '/people unknown_name'])
    expect(await add({ people: [ADA, ADA] })).toEqual([422, '/people not_allowed', '/people not_allowed'])
    expect(await add({ holder: 'people' })).toEqual([422, '/people not_allowed'])
    expect(await add({ holder: 'organization', people: [ADA] })).toEqual([422, '/holder not_allowed'])
    const both = [ADA, { person: 'bob@example.com' }]
    expect(await add({ holder: 'person', people: both })).toEqual([422, '/people not_allowed'])
    const inTurn = [
      { ...ADA, to: '2026-11-10' },
      { person: 'bob@example.com', from: '2026-11-11' },
    ]
    expect(
      await call('POST /plans', {
        vendor: 'V',
        product: 'Seat',
        fee: 1,
        from: '2026-11-01',
        holder: 'person',
        people: inTurn,
      }),
    ).toMatchObject({ holder: 'person' })
    expect(await add({ product: 'SEAT' })).toEqual([409])
  })

  test('come back from a file as they were, which loaded again changes nothing', async () => {
    const { app, admin, call, refused } = await start()
    const { id } = await call('POST /plans', { ...MAX, note: 'Ünpaid', vendor_codes: ['claude:max'] })
    await call(`PATCH /plans/${id}`, {
      ...{ fee: 92.5, currency: 'EUR', exchange_rate: 0.9200000001 },
      from: '2026-11-20',
      prorate: true,
    })
    await call('POST /plans', {
      ...{ vendor: 'GitHub', product: 'Copilot', fee: 10 },
      allowance: 10.5,
      allowance_unit: 'usd',
      overage_price: 1,
      from: '2026-11-01',
    })
    const file = await call('GET /plans/export')
    const before = await call('GET /plans')
    expect(await call('POST /plans/load', file)).toMatchObject({ added: 0, changed: 0, unchanged: 2 })
    expect(await call('GET /plans')).toEqual(before)

    const other = structuredClone(file)
    other.plans[0].versions[0].seats = 4
    other.plans.push({ ...other.plans[1], name: 'Third' })
    expect(await call('POST /plans/load', { ...other, dry_run: true })).toMatchObject({
      ...{ added: 1, changed: 1, unchanged: 1, dry_run: true },
      plans: [
        { name: 'Claude Max', result: 'changed' },
        { name: 'Copilot', result: 'unchanged' },
        { name: 'Third', result: 'added' },
      ],
    })
    expect(await call('GET /plans')).toEqual(before)
    await call('POST /plans/load', other)
    expect(await call('POST /plans/load', file)).toMatchObject({ added: 0, changed: 1, unchanged: 1 })
    expect(await call(`GET /plans/${id}`)).toEqual(before.data.find((plan: { id: string }) => plan.id === id))
    // Nothing of a file with an error is loaded.
    delete other.plans[0].versions[1].prorate
    other.plans[1].name = 'Fourth'
    expect(await refused('POST /plans/load', { plans: [other.plans[1], other.plans[0]] })).toEqual([
      ...[422, '/plans/1/versions/1/prorate required'],
    ])
    expect((await call('GET /plans')).data).toHaveLength(3)
    const twice = { plans: [other.plans[1], other.plans[1]] }
    expect(await refused('POST /plans/load', twice)).toEqual([422, '/plans/1/name not_allowed'])
    expect((await app.call('GET /api/v1/plans', { session: admin })).status).toBe(200)
  })

  test('are previewed: what a change would decide otherwise, which it then decides', async () => {
    const { app, admin, call, refused } = await start()
    const token = await app.token('svc')
    const report = (summary: string) =>
      app.call('POST /api/v1/token-entries', {
        token,
        json: reportBody({
          summary,
          started_at: '2026-11-20T10:00:00Z',
          agent_harness: 'claude-code',
          reported_cost: 2,
        }),
      })
    await report('open')
    const { json: approved } = await report('approved')
    await call(`POST /token-entries/${approved.id}/approve`)
    const side = (plan: { id: string; name: string } | null) => ({ funding: plan ? 'plan' : 'unknown', plan })
    const counted = (from: object | null, to: object | null) => ({
      changes: [{ from: side(from as never), to: side(to as never), entries: 1, cost: 2, unpriced_entries: 0 }],
      entries: 1,
      locked_entries: 1,
      searched_to: null,
    })
    const NOTHING = { changes: [], entries: 0, locked_entries: 0, searched_to: null }
    const everyone = { like: 'claude-max', from: '2026-10-17' }

    const preview = await app.call('POST /api/v1/plans', { session: admin, json: { ...everyone, dry_run: true } })
    expect([preview.status, preview.headers.get('location')]).toEqual([200, null])
    expect(preview.json).toEqual(counted(null, { id: expect.any(String), name: 'Claude Max' }))
    expect((await call('GET /plans')).data).toEqual([])
    expect((await call('GET /audit?action=plan.added')).data).toEqual([])

    const { id, name } = await call('POST /plans', { ...everyone, covers: [] })
    await app.services.entries.funding.decideOwed()
    const plan = { id, name }
    const before = await call(`GET /plans/${id}`)
    const change = (json: object) => call(`PATCH /plans/${id}`, { ...json, dry_run: true })
    expect(await change({ note: 'seen' })).toEqual(NOTHING)
    // Approved usage was unknown, and would be again.
    const unlocked = { ...counted(plan, null), locked_entries: 1 }
    expect(await change({ people: [ADA] })).toEqual(unlocked)
    const codex = { covers: [{ field: 'agent_harness', matches: 'codex' }], from: '2026-11-17' }
    expect(await change(codex)).toEqual(unlocked)
    expect(await call(`POST /plans/${id}/end`, { on: '2026-11-16', dry_run: true })).toEqual(unlocked)
    await call(`PATCH /plans/${id}`, codex)
    await app.services.entries.funding.decideOwed()
    expect(await call(`DELETE /plans/${id}/versions/2026-11-17?dry_run=true`)).toEqual(counted(null, plan))
    const file = { plans: [{ ...everyone, vendor: 'V', product: 'Other', versions: [{ from: '2026-10-17', fee: 1 }] }] }
    delete (file.plans[0] as Record<string, unknown>).like
    delete (file.plans[0] as Record<string, unknown>).from
    expect((await call('POST /plans/load', { ...file, dry_run: true })).funding).toMatchObject({ entries: 1 })
    expect((await call('POST /plans/load', file)).funding).toBeNull()
    expect((await call(`GET /plans/${id}`)).versions).toHaveLength(before.versions.length + 1)
    // What is refused is refused in a preview as well.
    expect(await refused(`PATCH /plans/${id}`, { fee: 1, dry_run: true })).toEqual([422, '/from required'])
    expect(await refused('POST /plans', { ...everyone, dry_run: true })).toEqual([409])
  })

  test('two simultaneous ones with the same name, on two servers, do not both exist', async () => {
    const { app, call } = await start()
    const clock = { now: () => NOW }
    const other = createServices({ db: await open({ sharing: app.services.db }), clock })
    const { like, from } = MAX
    for (let round = 0; round < 5; round += 1) {
      const outcomes = await Promise.allSettled(
        [app.services, other, app.services, other].map(({ plans }, at) =>
          plans.addPlan({ like, from, name: `${at % 3 === 0 ? 'TWIN' : 'Twin'} ${round}` }, { by: TALLY }),
        ),
      )
      const codes = outcomes.map((outcome) => (outcome.status === 'fulfilled' ? 'added' : outcome.reason.code)).sort()
      expect(codes).toEqual(['added', 'already_exists', 'already_exists', 'already_exists'])
    }
    expect((await call('GET /plans')).data).toHaveLength(5)
  })

  test('have the same periods in whichever order their terms were added', async () => {
    const { call } = await start()
    const days = ['2026-06-10', '2026-08-31', '2026-09-05', '2026-10-01']
    let added = 0
    await fc.assert(
      fc.asyncProperty(fc.shuffledSubarray(days, { minLength: 4 }), async (order) => {
        const of = (day: string) => ({ from: day, fee: days.indexOf(day) + 1, prorate: days.indexOf(day) % 2 === 0 })
        const [first, ...others] = order.map(of)
        const { prorate: _, ...terms } = first!
        added += 1
        const { id } = await call('POST /plans', { vendor: 'V', product: 'P', name: `P${added}`, ...terms })
        for (const other of others) await call(`PATCH /plans/${id}`, other)
        // The terms that were first have cut nothing then, and may cut something now.
        await call(`PATCH /plans/${id}`, of(first!.from))
        const { data } = await call(`GET /plans/${id}/periods?from=2026-01-01&to=2026-11-30`)
        expect(data.map(({ from, fee }: Record<string, unknown>) => [from, fee])).toEqual([
          ...[
            ['2026-11-01', 4],
            ['2026-10-01', 4],
            ['2026-09-05', 3],
            ['2026-08-31', 0.333333333],
          ],
          ...[
            ['2026-08-10', 1],
            ['2026-07-10', 1],
            ['2026-06-10', 1],
          ],
        ])
      }),
      { numRuns: 10 },
    )
  })

  test('are for billing and admins alone', async () => {
    const { app, call } = await start()
    const { id } = await call('POST /plans', MAX)
    for (const [role, status] of [
      ['billing', 200],
      ['member', 403],
      ['viewer', 403],
    ] as const) {
      const session = await app.session(role)
      for (const path of ['/plans', `/plans/${id}`, `/plans/${id}/periods`, '/plans/export', '/common-plans']) {
        expect([role, path, (await app.call(`GET /api/v1${path}`, { session })).status]).toEqual([role, path, status])
      }
      const answer = await app.call(`PATCH /api/v1/plans/${id}`, { session, json: { note: role } })
      expect([role, answer.status]).toEqual([role, status])
    }
  })
})
