/** Reports by each basis of cost, and who may take which. */
import { expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { startApp } from '../../support/app.ts'
import { forEachEngine } from '../../support/databases.ts'
import { reportBody } from '../../support/reports.ts'

const NOW = Date.parse('2026-11-29T12:00:00Z')
const USD = 1_000_000_000n
const NOVEMBER = 'starting_at=2026-11-01&ending_at=2026-12-01'

forEachEngine('reports by a basis of cost', (open) => {
  /** Ada's entries: metered, of a plan with a share of its fee, of a plan without, and of which nothing is known. */
  async function start() {
    const db = await open({ serving: true })
    const app = await startApp({ db, clock: { now: () => NOW } })
    const admin = await app.session('admin')
    const call = async (operation: string, json?: object) => {
      const answer = await app.call(operation.replace(' ', ' /api/v1'), { session: admin, ...(json && { json }) })
      expect([answer.status < 300, answer.json?.detail]).toEqual([true, undefined])
      return answer.json
    }
    const member = await app.session('member')
    const { json: me } = await app.call('GET /api/v1/me', { session: member })
    const person = { person: me.person.email }
    const plan = await call('POST /plans', { like: 'claude-max', people: [person], from: '2026-11-01' })
    const token = await app.token('svc', me.person.id)
    const report = async (reported_cost: number, more: object = {}) => {
      const times = { started_at: '2026-11-20T10:00:00Z', ended_at: '2026-11-20T10:20:00Z' }
      const json = { ...reportBody({ project: 'WEB', model: 'house', reported_cost, ...more }), ...times }
      const sent = await app.call('POST /api/v1/token-entries', { token, json })
      expect(sent.status).toBe(201)
      return sent.json.id as string
    }
    await report(3, { funding: 'metered' })
    const shared = await report(5, { plan: plan.name })
    await report(7, { plan: plan.name })
    await report(11, { funding: 'unknown' })
    await db.write(async (tx) => {
      const { entries, plans, planGenerations, planPeriods, planShares } = tx.tables
      const [{ id: planId }] = (await tx.select({ id: plans.id }).from(plans)) as [{ id: number }]
      const [entry] = await tx
        .select({ id: entries.id })
        .from(entries)
        .where(eq(entries.uid, shared as never))
      const of = { planId, firstDay: '2026-11-01' }
      const [generation] = await tx
        .insert(planGenerations)
        .values({ ...of, createdAt: NOW })
        .returning({ id: planGenerations.id })
      const generationId = generation!.id
      const counts = { unused: 0n, unusedSeats: 0, pending: 60n * USD, entries: 1, unpricedEntries: 0, lateEntries: 0 }
      await tx.insert(planPeriods).values({ ...of, lastDay: '2026-11-30', generationId, fee: 100n * USD, ...counts })
      await tx.insert(planShares).values({ entryId: entry!.id, generationId, fee: 40n * USD, charge: 2n * USD })
    })
    const usage = (basis: string, more = '', session = admin) =>
      app.call(`GET /api/v1/reports/usage?${NOVEMBER}&bucket_width=all&basis=${basis}${more}`, { session })
    return { db, app, admin, member, call, usage, plan }
  }

  test('replace the cost, count what is unknown on it, and name it', async () => {
    const { usage, call, app, plan } = await start()
    const totals = async (basis: string) => {
      const { totals, basis: named, provisional } = (await usage(basis)).json
      return [named, provisional, totals.entries, totals.unpriced_entries, totals.cost, totals.reported_cost]
    }
    expect(await totals('cost')).toEqual(['cost', undefined, 4, 0, 26, 26])
    expect(await totals('list')).toEqual(['list', undefined, 4, 4, null, 26])
    // Its plan has no allowance: what is paid beside its fee does not change.
    expect(await totals('marginal')).toEqual(['marginal', undefined, 4, 2, 5, 26])
    expect(await totals('allocated')).toEqual(['allocated', true, 4, 2, 45, 26])
    expect((await call(`GET /reports/usage?${NOVEMBER}&bucket_width=all`)).totals).toEqual(
      (await usage('cost')).json.totals,
    )

    const groups = async (by: string) =>
      (await usage('allocated', `&group_by=${by}`)).json.data[0].results.map(
        ({ [by]: key, entries, cost }: Record<string, unknown>) => [key, entries, cost],
      )
    expect(await groups('plan')).toEqual([
      [{ id: plan.id, name: plan.name }, 2, 42],
      [null, 2, 3],
    ])
    expect(await groups('funding')).toEqual([
      ['plan', 2, 42],
      ['metered', 1, 3],
      ['unknown', 1, null],
    ])
    const csv = async (basis: string) => (await usage(basis, '&group_by=plan&format=csv')).text.split('\r\n')
    expect((await csv('allocated'))[0]).toContain(',plan,plan_id,')
    expect((await csv('allocated'))[0]).toContain(',cost (allocated),list_value,')
    expect((await csv('cost'))[0]).toContain(',cost,list_value,')

    const overview = await call(`GET /reports/overview?${NOVEMBER}&basis=allocated`)
    expect([overview.usage.basis, overview.usage.totals.cost, overview.groups.totals.cost]).toEqual([
      'allocated',
      45,
      45,
    ])
    expect(overview.completeness.data[0]).toMatchObject({ check: 'all', cost: 26 })
    const wrong = await usage('billed')
    expect([wrong.status, wrong.json.errors[0].pointer]).toEqual([422, '/query/basis'])
    await app.close()
  })

  test('show fees only to those who may see them', async () => {
    const { app, usage, member, call } = await start()
    const paths = [`usage?${NOVEMBER}`, `overview?${NOVEMBER}`, `outliers?${NOVEMBER}`]
    for (const path of paths) {
      const refused = await app.call(`GET /api/v1/reports/${path}&basis=allocated`, { session: member })
      expect([path, refused.status, refused.json.code]).toEqual([path, 403, 'fees_hidden'])
      const answered = await app.call(`GET /api/v1/reports/${path}&basis=marginal`, { session: member })
      expect([path, answered.status]).toEqual([path, 200])
    }
    // A member leads nothing, whatever leads may see.
    await call('PATCH /settings', { leads_see_fees: true })
    expect((await usage('allocated', '', member)).status).toBe(403)
    const { data } = await call('GET /projects')
    const { json: me } = await app.call('GET /api/v1/me', { session: member })
    await call(`PATCH /projects/${data[0].id}`, { leads: [me.person.id] })
    expect((await usage('allocated', '', member)).json.totals).toMatchObject({ cost: 45, unpriced_entries: 2 })
    await app.close()
  })

  test('are kept by links, which never show fees, and by views', async () => {
    const { app, admin, call } = await start()
    await call('PATCH /settings', { share_links: true })
    const share = (basis: string, money: string) => {
      const report = { period: 'month', group_by: ['project'], basis }
      return app.call('POST /api/v1/share-links', { session: admin, json: { report, money } })
    }
    const refused = await share('allocated', 'cost')
    expect([refused.status, refused.json.errors[0].pointer]).toEqual([422, '/report/basis'])
    const made = await share('marginal', 'cost')
    expect([made.json.title, made.json.report.basis]).toEqual(['Marginal cost by project', 'marginal'])
    const page = await (await fetch(made.json.link)).text()
    expect(page).toContain('<dt>Marginal cost (USD)</dt><dd>$5.00</dd>')
    expect(page).toContain('The cost of 2 entries is not known yet')
    expect(page).not.toContain('Cost (USD)<')
    const hidden = await (await fetch((await share('marginal', 'none')).json.link)).text()
    expect(hidden).not.toContain('$')
    const view = await call('POST /report-views', { name: 'Fees', parameters: { basis: 'allocated' } })
    expect(view.parameters).toEqual({ basis: 'allocated' })
    await app.close()
  })
})
