/** Viewers: what an admin grants to them, what they see of it, and that nobody becomes one with duties. */
import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Database } from '../../../src/database/database.ts'
import { startApp, type TestApp } from '../../support/app.ts'
import { forEachEngine } from '../../support/databases.ts'
import { reportBody } from '../../support/reports.ts'

const NOW = Date.parse('2026-12-03T12:00:00Z')
const NOVEMBER = 'starting_at=2026-11-01&ending_at=2026-12-01&bucket_width=all'

forEachEngine('a viewer', (open) => {
  let db: Database
  let app: TestApp
  let admin: string
  let viewer: string
  let email: string

  beforeAll(async () => {
    db = await open({ serving: true })
    app = await startApp({ db, clock: { now: () => NOW } })
    admin = await app.session('admin')
    await post('clients', { name: 'Globex', markup: 10 })
    await post('clients', { name: 'Initech' })
    await post('projects', { key: 'SHOP', name: 'Globex shop', client: 'Globex' })
    await post('projects', { key: 'BLOG', name: 'Globex blog', client: 'Globex', markup: 50 })
    await post('projects', { key: 'GIFT', name: 'Globex gift', client: 'Globex', billable: false })
    await post('projects', { key: 'LAB', name: 'Initech lab', client: 'Initech' })
    await post('projects', { key: 'FREE', name: 'Nobody’s' })
    await report('SHOP', { reported_cost: 1.005, model: 'one', ticket: 'SHOP-1' }, 100)
    await report('SHOP', { reported_cost: 2, model: 'two' }, 200)
    await report('BLOG', { reported_cost: 4, model: 'one' }, 400)
    await report('GIFT', { reported_cost: 8, model: 'one' }, 50)
    await report('LAB', { reported_cost: 16, model: 'one' }, 1_600)
    await report('FREE', { reported_cost: 32, model: 'one' }, 3_200)
    email = await app.person('viewer', { password: true })
    viewer = await signIn(email)
  })
  afterEach(() => revokeAll())
  afterAll(() => app.close())

  async function signIn(who: string): Promise<string> {
    const { secret } = await app.services.people.signIn({
      email: who,
      password: 'correct horse battery',
      address: '::1',
    })
    return `tally_session=${secret}`
  }
  const post = async (path: string, json: object | undefined, status = 201) => {
    const answer = await app.call(`POST /api/v1/${path}`, { session: admin, ...(json && { json }) })
    expect([path, answer.status, answer.json?.detail]).toEqual([path, status, answer.json?.detail])
    return answer.json
  }
  const report = async (project: string, more: object, input: number, token?: string) => {
    const sent = await app.call('POST /api/v1/token-entries', {
      token: token ?? (await app.token('svc')),
      json: {
        ...reportBody({ project, ...more }),
        tokens: { input, output: 0 },
        started_at: '2026-11-20T10:00:00Z',
        ended_at: '2026-11-20T10:20:00Z',
      },
    })
    expect(sent.status).toBe(201)
    return sent.json.id as string
  }
  const grant = async (json: object, status?: number) => {
    const answer = await app.call(`POST /api/v1/users/${email}/grants`, { session: admin, json })
    if (status !== undefined) expect([answer.status, answer.json.detail]).toEqual([status, answer.json.detail])
    return answer
  }
  const revokeAll = async () => {
    const { data } = (await app.call(`GET /api/v1/users/${email}/grants`, { session: admin })).json
    for (const { client, project } of data) {
      const path = `DELETE /api/v1/users/${email}/grants/${(client ?? project).id}`
      expect((await app.call(path, { session: admin })).status).toBe(204)
    }
  }
  const get = (path: string, session = viewer) => app.call(`GET /api/v1/${path}`, { session })
  const usage = async (more = '') => {
    const { status, json } = await get(`shared/usage?${NOVEMBER}${more}`)
    expect([status, json.detail]).toEqual([200, undefined])
    return json
  }
  /** By the key of the project: tokens, cost and amounts. */
  const byProject = async (more = '') => {
    const { data } = await usage(`&group_by=project${more}`)
    return Object.fromEntries(
      (data[0]?.results ?? []).map((row: Row) => [row.project.key, [row.tokens.total, row.cost, moneyOf(row)]]),
    )
  }
  interface Row {
    project: { key: string }
    tokens: { total: number }
    cost: number | null
    amounts: { currency: string; amount: number }[]
  }
  const moneyOf = ({ amounts }: Row) => amounts.map(({ currency, amount }) => `${amount} ${currency}`).join()

  test('sees nothing until something is granted, and whom to ask', async () => {
    await app.call('PATCH /api/v1/settings', { session: admin, json: { name: 'Acme', email: 'hello@acme.example' } })
    expect((await get('shared')).json).toMatchObject({
      grants: [],
      shows_people: false,
      shows_bills: false,
      contact: { name: 'Acme', email: 'hello@acme.example' },
    })
    expect(await usage()).toMatchObject({ totals: { entries: 0, cost: null, amounts: [] }, data: [] })
    expect((await get('shared/bills')).json.data).toEqual([])
  })

  test('sees what was granted, with the cost that was granted', async () => {
    await grant({ client: 'Globex', money: 'cost' }, 201)
    await grant({ project: 'lab' }, 201)
    expect(await byProject()).toEqual({
      LAB: [1600, null, ''],
      BLOG: [400, 4, ''],
      SHOP: [300, 3.005, ''],
      GIFT: [50, 8, ''],
    })
    const { totals } = await usage()
    expect(totals).toMatchObject({ entries: 5, cost: 15.005, cost_entries: 4, amounts: [], amount_entries: 0 })
    const all = await app.call(`GET /api/v1/reports/usage?${NOVEMBER}&client=Globex`, { session: admin })
    expect(totals.cost).toBe(all.json.totals.cost)
    // The grant of a project counts instead of that of its client.
    expect((await grant({ project: 'SHOP' }, 201)).json).toMatchObject({ money: 'none' })
    expect(await byProject()).toMatchObject({ SHOP: [300, null, ''], BLOG: [400, 4, ''] })
    expect((await usage()).totals).toMatchObject({ cost: 12, cost_entries: 2 })
    await revokeAll()
    expect(await byProject()).toEqual({})
  })

  test('sees the amounts that were billed, to the cent of each bill, and nothing before', async () => {
    await grant({ client: 'Globex', money: 'amounts' }, 201)
    expect((await usage()).totals).toMatchObject({ cost: null, cost_entries: 0, amounts: [], amount_entries: 0 })
    const bill = await post('bills', { client: 'Globex', month: '2026-11', deliver_to: [] })
    // Whatever the markup becomes: 10 % and 50 % were billed.
    const markup = (percent: number) =>
      app.call('PATCH /api/v1/clients/Globex', { session: admin, json: { markup: percent } })
    await markup(99)
    expect(await byProject()).toEqual({
      BLOG: [400, null, '6 USD'],
      SHOP: [300, null, '3.31 USD'],
      GIFT: [50, null, ''],
    })
    const { data, totals } = await usage('&group_by=project,ticket')
    expect(totals).toMatchObject({ amounts: [{ currency: 'USD', amount: bill.subtotal }], amount_entries: 3 })
    const lines = bill.document.sections[0].lines.map(({ amount }: { amount: number }) => `${amount} USD`)
    const amounts = data[0].results.map(moneyOf).filter((amount: string) => amount !== '')
    expect(amounts.toSorted()).toEqual(lines.toSorted())
    // What was used later is not billed yet.
    await report('SHOP', { reported_cost: 100, model: 'two' }, 1)
    expect((await usage()).totals).toMatchObject({ entries: 5, amounts: totals.amounts, amount_entries: 3 })
    const euros = { currency: 'EUR', exchange_rate: 0.5, markup: 20, group_by: ['model'] }
    const second = await post('bills', { client: 'Globex', month: '2026-11', ...euros, deliver_to: [] })
    expect((await usage()).totals).toMatchObject({
      amounts: [
        { currency: 'EUR', amount: second.subtotal },
        { currency: 'USD', amount: bill.subtotal },
      ],
      amount_entries: 4,
    })
    expect(moneyOf((await usage('&project=SHOP')).totals)).toBe('60 EUR,3.31 USD')
    const months = await get('shared/usage?starting_at=2026-10-01&ending_at=2026-12-01&bucket_width=1mo')
    expect(months.json.data.map(({ results }: { results: Row[] }) => moneyOf(results[0]!))).toEqual(['60 EUR,9.31 USD'])
    for (const { number } of [bill, second])
      await post(`bills/${number}/void`, { reason: 'A test', deliver: false }, 200)
    expect((await usage()).totals).toMatchObject({ amounts: [], amount_entries: 0 })
    await markup(10)
  })

  test('sees billed and unbilled entries beside each other, which add up to all of those whose amounts it sees', async () => {
    await grant({ client: 'Globex', money: 'amounts' }, 201)
    await grant({ project: 'LAB' }, 201)
    const bill = await post('bills', { client: 'Globex', month: '2026-11', deliver_to: [] })
    await report('SHOP', { reported_cost: 100, model: 'two' }, 1)
    const [all, billed, unbilled] = await Promise.all(['', '&billed=true', '&billed=false'].map((more) => usage(more)))
    expect(billed.totals).toMatchObject({
      entries: billed.totals.amount_entries,
      amounts: [{ currency: 'USD', amount: bill.subtotal }],
    })
    expect(unbilled.totals).toMatchObject({ amounts: [], amount_entries: 0 })
    const lab = (await usage('&project=LAB')).totals.entries
    expect(lab).toBeGreaterThan(0)
    expect(billed.totals.entries + unbilled.totals.entries + lab).toBe(all.totals.entries)
    // Whether entries are billed is not shared for projects whose amounts are not.
    for (const filter of ['true', 'false'])
      expect((await usage(`&project=LAB&billed=${filter}`)).totals.entries).toBe(0)
    await post(`bills/${bill.number}/void`, { reason: 'A test', deliver: false }, 200)
  })

  test('gets neither cost nor names of others, whatever it asks', async () => {
    await grant({ client: 'Globex', money: 'amounts', bills: true }, 201)
    const parameters = [
      ...['group_by', 'project', 'client', 'billed', 'bucket_width', 'format', 'fill_gaps', 'include', 'money'],
      ...['agent_manager', 'label', 'model', 'bill', 'status', 'q', 'page', 'measure', 'starting_at', 'ticket'],
    ]
    const values = [
      ...['project', 'client', 'ticket', 'model', 'agent_manager', 'label:author', 'provider', 'true', 'false', 'csv'],
      ...['SHOP', 'LAB', 'Initech', 'FREE', 'Globex', 'none', 'cost', 'billed', 'all', '1mo', '2026-01-01', ''],
    ]
    const paths = ['shared/usage', 'shared/bills', 'shared']
    const hidden =
      /Initech|"LAB"|,LAB,|Nobody|FREE|"cost":[^n]|"name":"[^"]*(person|svc)|markup|"list_value"|"reported_cost"/i
    const asked = fc.tuple(fc.constantFrom(...parameters), fc.constantFrom(...values))
    let answered = 0
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...paths), fc.array(asked, { maxLength: 4 }), async (path, pairs) => {
        const query = new URLSearchParams([['ending_at', '2026-12-01'], ...pairs])
        const { status, text } = await get(`${path}?${query}`)
        expect([200, 422]).toContain(status)
        if (status === 200) answered += 1
        // A refusal repeats what was asked, but names nothing else.
        const own = pairs.reduce((rest, [, value]) => (value === '' ? rest : rest.replaceAll(value, '')), text)
        expect(status === 200 ? text : own).not.toMatch(hidden)
      }),
      { numRuns: 300 },
    )
    expect(answered).toBeGreaterThan(30)
  })

  test('sees no amounts by model, where they would show the markup', async () => {
    await grant({ client: 'Globex', money: 'amounts' }, 201)
    const bill = await post('bills', { client: 'Globex', month: '2026-11', deliver_to: [] })
    const { data, totals } = await usage('&group_by=model')
    expect(data[0].results.map((row: Row & { model: string }) => [row.model, row.cost, moneyOf(row)])).toEqual([
      ['one', null, ''],
      ['two', null, ''],
    ])
    expect(totals.amounts).toEqual([])
    const csv = await app.call(`GET /api/v1/shared/usage?${NOVEMBER}&group_by=project&format=csv`, { session: viewer })
    expect(csv.text.split('\r\n')[0]).toBe(
      'starting_at,ending_at,project,entries,input,output,cache_read,cache_write,cache_write_1h,total,cost,cost_entries,amounts,amount_entries',
    )
    expect(csv.text).toContain(',6 USD,')
    await post(`bills/${bill.number}/void`, { reason: 'A test', deliver: false }, 200)
  })

  test('sees people only of projects whose people are shared', async () => {
    await grant({ project: 'SHOP', people: true }, 201)
    await grant({ project: 'BLOG' }, 201)
    const { data } = await usage('&group_by=project,agent_manager')
    for (const { project, agent_manager } of data[0].results) {
      expect([project.key, agent_manager === null]).toEqual([project.key, project.key === 'BLOG'])
    }
    await grant({ project: 'SHOP' }, 200)
    const refused = await get(`shared/usage?${NOVEMBER}&group_by=agent_manager`)
    expect([refused.status, refused.json.errors[0].pointer]).toEqual([422, '/query/group_by'])
  })

  test('learns nothing from filters: what was not granted is as unknown as what does not exist', async () => {
    await grant({ project: 'SHOP' }, 201)
    expect(await byProject('&project=shop')).toHaveProperty('SHOP')
    const refusal = async (filter: string, value: string) => {
      const { status, json } = await get(`shared/usage?${NOVEMBER}&${filter}=${value}`)
      return [status, JSON.stringify(json.errors).replaceAll(value, 'x')]
    }
    expect(await refusal('project', 'BLOG')).toEqual(await refusal('project', 'BLOX'))
    expect(await refusal('client', 'Initech')).toEqual(await refusal('client', 'Initecx'))
    // Of which client the project is was not granted either.
    expect(await refusal('client', 'Globex')).toEqual(await refusal('client', 'Globax'))
    expect((await usage('&group_by=client')).data[0].results[0].client).toBeNull()
    expect((await get(`shared/usage?${NOVEMBER}&project=SHOT`)).text).toContain("did you mean 'SHOP'")
  })

  test('sees the sent bills of a client, and their documents, if they were granted', async () => {
    const mine = await post('bills', { client: 'Globex', month: '2026-11', deliver_to: [] })
    const others = await post('bills', { client: 'Initech', month: '2026-11', deliver_to: [] })
    await grant({ client: 'Globex', money: 'amounts' }, 201)
    await grant({ project: 'LAB', money: 'amounts' }, 201)
    expect((await get('shared/bills')).json.data).toEqual([])
    expect((await get(`shared/bills/${mine.number}`)).status).toBe(404)
    await grant({ client: 'Globex', money: 'amounts', bills: true }, 200)
    const { data } = (await get('shared/bills')).json
    expect(data.map(({ number, state }: { number: string; state: string }) => [number, state])).toEqual([
      [mine.number, 'sent'],
      ['2026-0004', 'void'],
      ['2026-0003', 'void'],
      ['2026-0002', 'void'],
      ['2026-0001', 'void'],
    ])
    expect(data[0]).toMatchObject({ total: mine.total, balance: mine.total, client: { name: 'Globex' } })
    expect(Object.keys(data[0])).not.toContain('created_by')
    expect((await get(`shared/bills/${mine.number}/pdf`)).headers.get('content-type')).toBe('application/pdf')
    expect((await get(`shared/bills/${mine.id}/html`)).text).toContain(mine.number)
    for (const rest of ['', '/pdf', '/html']) {
      const [theirs, nobodys] = [others.number, '2026-9999'].map((number) => get(`shared/bills/${number}${rest}`))
      expect((await theirs!).status).toBe(404)
      expect((await theirs!).json.detail.replace(others.number, '')).toBe(
        (await nobodys!).json.detail.replace('2026-9999', ''),
      )
    }
    expect(moneyOf((await usage('&client=globex')).totals)).toBe(`${mine.subtotal} USD`)
    await revokeAll()
    expect((await get(`shared/bills/${mine.number}`)).status).toBe(404)
  })

  test('is granted only what exists, and bills only of clients with amounts', async () => {
    const issue = async (json: object) => {
      const { status, json: answer } = await grant(json)
      return [status, answer.errors[0].pointer]
    }
    expect(await issue({})).toEqual([422, ''])
    expect(await issue({ client: 'Globex', project: 'SHOP' })).toEqual([422, ''])
    expect(await issue({ client: 'Globexx' })).toEqual([422, '/client'])
    expect((await grant({ client: 'Globexx' })).text).toContain("did you mean 'Globex'")
    expect((await grant({ project: 'SHOPP' })).text).toContain("did you mean 'SHOP'")
    expect(await issue({ client: 'Globex', bills: true })).toEqual([422, '/bills'])
    expect(await issue({ client: 'Globex', money: 'cost', bills: true })).toEqual([422, '/bills'])
    expect(await issue({ project: 'SHOP', money: 'amounts', bills: true })).toEqual([422, '/bills'])
    const member = await app.person('member')
    const refused = await app.call(`POST /api/v1/users/${member}/grants`, {
      session: admin,
      json: { client: 'Globex' },
    })
    expect([refused.status, refused.text]).toEqual([422, expect.stringContaining('grants are for viewers only')])
    const unknown = await app.call(`DELETE /api/v1/users/${email}/grants/cli_none`, { session: admin })
    expect(unknown.status).toBe(404)
    for (const role of ['billing', 'member'] as const) {
      const session = await app.session(role)
      const answer = await app.call(`POST /api/v1/users/${email}/grants`, { session, json: { client: 'Globex' } })
      expect(answer.status).toBe(403)
    }
  })

  test('changes of grants are in the audit log, and guarded by If-Match', async () => {
    await grant({ project: 'SHOP', money: 'cost', people: true }, 201)
    await grant({ project: 'SHOP', money: 'cost', people: true }, 200)
    await grant({ project: 'SHOP' }, 200)
    const { id } = (await app.call(`GET /api/v1/users/${email}`, { session: admin })).json
    const tag = (await app.call(`GET /api/v1/users/${id}`, { session: admin })).headers.get('etag')!
    await revokeAll()
    const late = await app.call(`POST /api/v1/users/${id}/grants`, {
      session: admin,
      json: { project: 'SHOP' },
      headers: { 'if-match': tag },
    })
    expect(late.status).toBe(412)
    const { data } = (await get(`audit?object=${id}&limit=3`, admin)).json
    expect(data.map(({ action, before, after }: Record<string, unknown>) => [action, before, after])).toEqual([
      ['user.grant_removed', { project: 'SHOP', money: 'none', people: false, bills: false }, null],
      [
        'user.grant_changed',
        { project: 'SHOP', money: 'cost', people: true, bills: false },
        { project: 'SHOP', money: 'none', people: false, bills: false },
      ],
      ['user.grant_added', null, { project: 'SHOP', money: 'cost', people: true, bills: false }],
    ])
  })

  test('follows the clients of projects, but not merges', async () => {
    await grant({ client: 'Initech', money: 'cost' }, 201)
    await post('projects', { key: 'MOVES', name: 'Moving', client: 'Initech' })
    await post('projects', { key: 'OLD', name: 'Old one' })
    await post('projects', { key: 'NEW', name: 'New one' })
    await report('MOVES', { reported_cost: 1 }, 7)
    await report('OLD', { reported_cost: 1 }, 8)
    await report('NEW', { reported_cost: 1 }, 9)
    expect(await byProject()).toHaveProperty('MOVES')
    const change = (client: string) => app.call('PATCH /api/v1/projects/MOVES', { session: admin, json: { client } })
    await change('Globex')
    expect(await byProject()).not.toHaveProperty('MOVES')
    await change('Initech')
    await post('projects/MOVES/archive', undefined, 200)
    expect(await byProject()).toMatchObject({ MOVES: [7, 1, ''] })
    // Who saw the one project would see everything of the other.
    await grant({ project: 'OLD', money: 'cost' }, 201)
    await post('projects/OLD/merge', { into: 'NEW' }, 200)
    const seen = await byProject()
    expect([seen.OLD, seen.NEW]).toEqual([undefined, undefined])
    await revokeAll()
    await grant({ project: 'NEW' }, 201)
    expect(await byProject()).toEqual({ NEW: [17, null, ''] })
  })

  test('can go with an unused project or client', async () => {
    await post('clients', { name: 'Short' })
    await post('projects', { key: 'BRIEF', name: 'Brief' })
    await grant({ client: 'Short' }, 201)
    await grant({ project: 'BRIEF' }, 201)
    for (const path of ['projects/BRIEF', 'clients/Short']) {
      expect((await app.call(`DELETE /api/v1/${path}`, { session: admin })).status).toBe(204)
    }
    expect((await get('shared')).json.grants).toEqual([])
  })

  test('loses the grants with the account', async () => {
    const who = await app.person('viewer')
    await post(`users/${who}/grants`, { client: 'Globex' })
    const pseudonym = { name: 'Somebody', email: 'somebody@erased.invalid' }
    await app.services.db.write((tx) => app.services.people.releaseAccount(tx, who, pseudonym))
    expect((await get(`users/${pseudonym.email}/grants`, admin)).json.data).toEqual([])
    const late = await app.call(`POST /api/v1/users/${pseudonym.email}/grants`, {
      session: admin,
      json: { client: 'Globex' },
    })
    expect(late.json.code).toBe('person_erased')
  })

  test('has an account like others, and no part in anything else', async () => {
    expect((await get('me')).json.person).toMatchObject({ role: 'viewer' })
    expect((await get('me/sessions')).json.data).toHaveLength(1)
    await grant({ client: 'Globex', money: 'amounts' }, 201)
    const exported = await get('me/export')
    expect([exported.status, exported.json.grants]).toMatchObject([200, [{ name: 'Globex', money: 'amounts' }]])
    await revokeAll()
    const renamed = await app.call('PATCH /api/v1/me', { session: viewer, json: { name: 'Vera' } })
    expect([renamed.status, renamed.json.person.name]).toEqual([200, 'Vera'])
    const next = { current: 'correct horse battery', new: 'staple of another kind' }
    expect((await app.call('PUT /api/v1/me/password', { session: viewer, json: next })).status).toBe(204)
    const user = email
    const services = app.services
    const by = { userId: null, tokenId: null, origin: 'test' }
    const refused = async (doing: Promise<unknown>) => {
      const message = await doing.then(
        () => 'done',
        ({ more }) => more?.issues?.[0]?.message ?? 'another error',
      )
      expect(message).toContain('has the role viewer, and viewers')
    }
    await refused(services.people.createToken({ kind: 'svc', user, name: 'x' }, by))
    await refused(services.people.createToken({ kind: 'read', user, name: 'x' }, by))
    const json = (field: string) => ({ session: admin, json: { [field]: [user] } })
    for (const path of ['projects/SHOP', 'clients/Globex']) {
      for (const field of ['leads', 'approvers']) {
        const answer = await app.call(`PATCH /api/v1/${path}`, json(field))
        expect([answer.status, answer.text]).toEqual([422, expect.stringContaining('viewers lead and approve nothing')])
      }
    }
    const lead = await app.person('member')
    await app.call('PATCH /api/v1/projects/SHOP', { session: admin, json: { leads: [lead] } })
    for (const [path, body] of [
      ['deputies', { person: lead, deputy: user, from: '2026-12-03', to: '2026-12-04' }],
      ['token-sheets', { person: user, month: '2026-11' }],
    ] as const) {
      const answer = await app.call(`POST /api/v1/${path}`, { session: admin, json: body })
      expect([path, answer.status, answer.text]).toEqual([path, 422, expect.stringContaining('and viewers')])
    }
    await app.call('PATCH /api/v1/settings', { session: admin, json: { share_links: true } })
    await refused(services.shareLinks.createShareLink(user, { report: { period: 'month' } }, by))
  })

  test('is nobody who has tokens, sheets, share links or responsibilities', async () => {
    const who = await app.person('member', { password: true })
    const session = await signIn(who)
    const become = (role: string) => app.call(`PATCH /api/v1/users/${who}`, { session: admin, json: { role } })
    const { id } = (await app.call('GET /api/v1/me', { session })).json.person
    const token = await app.call('POST /api/v1/tokens', { session, json: { kind: 'read', name: 'x' } })
    const sheet = await app.call('POST /api/v1/token-sheets', { session, json: { month: '2026-11' } })
    const link = await app.call('POST /api/v1/share-links', { session, json: { report: { period: 'month' } } })
    await app.call('PATCH /api/v1/projects/FREE', { session: admin, json: { leads: [who], approvers: [who] } })
    const days = { person: who, deputy: await app.person('member'), from: '2026-12-03', to: '2026-12-04' }
    const deputy = await post('deputies', days)
    const refused = await become('viewer')
    expect([refused.status, refused.json.code]).toEqual([409, 'has_duties'])
    expect(refused.json.detail).toContain(
      'First revoke their 1 token, revoke their 1 share link, settle their 1 token sheet that is not approved, remove them as lead of 1 client or project, remove them as approver of 1 client or project, end 1 deputization by or of them.',
    )
    await app.call(`DELETE /api/v1/token-sheets/${sheet.json.id}`, { session })
    await post(`share-links/${link.json.id}/revoke`, undefined, 200)
    await app.call(`DELETE /api/v1/deputies/${deputy.id}`, { session: admin })
    await app.call('PATCH /api/v1/projects/FREE', { session: admin, json: { leads: [], approvers: [] } })
    expect((await become('viewer')).json.detail).toContain('First revoke their 1 token.')
    await post(`tokens/${token.json.id}/revoke`, undefined, 200)
    expect((await become('viewer')).status).toBe(200)
    expect((await get('token-entries', session)).status).toBe(403)
    // Who no longer is a viewer does not get the grants back later.
    await post(`users/${who}/grants`, { client: 'Globex' })
    expect((await become('member')).status).toBe(200)
    expect((await get('token-entries', session)).json.data).toEqual([])
    const { data } = (await get(`audit?object=${id}&limit=2`, admin)).json
    expect(data.map(({ action }: { action: string }) => action).toSorted()).toEqual([
      'user.changed',
      'user.grant_removed',
    ])
    expect((await become('viewer')).status).toBe(200)
    expect((await get('shared', session)).json.grants).toEqual([])
    const { email: last } = (await get('me', admin)).json.person
    for (const other of (await get('users?role=admin&limit=1000', admin)).json.data) {
      if (other.email !== last) await post(`users/${other.id}/disable`, undefined, 200)
    }
    const demoted = await app.call(`PATCH /api/v1/users/${last}`, { session: admin, json: { role: 'viewer' } })
    expect(demoted.json.code).toBe('last_admin')
  })
})
