/** Share links: what whoever has one sees, what nobody sees, and who creates and revokes them. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import fc from 'fast-check'
import { TALLY } from '../../../src/access/actor.ts'
import type { Database } from '../../../src/database/database.ts'
import { movingBounds } from '../../../src/features/share-links/period.ts'
import type { NewShareLink } from '../../../src/features/share-links/schema.ts'
import { startApp, type TestApp } from '../../support/app.ts'
import { forEachEngine } from '../../support/databases.ts'
import { reportBody } from '../../support/reports.ts'

type Report = NonNullable<NewShareLink['report']>

const DAY = 86_400_000
const NOW = Date.parse('2026-12-03T12:00:00Z')

test('periods move with the calendar', () => {
  const at = (period: Parameters<typeof movingBounds>[0], today: string) => {
    const { starting_at, ending_at } = movingBounds(period, today)
    return `${starting_at} ${ending_at}`
  }
  expect(at('7d', '2026-03-01')).toBe('2026-02-23 2026-03-02')
  expect(at('12m', '2026-03-31')).toBe('2025-04-01 2026-04-01')
  expect(at('month', '2026-03-31')).toBe('2026-03-01 2026-04-01')
  expect(at('last_month', '2026-01-31')).toBe('2025-12-01 2026-01-01')
  expect(at('quarter', '2026-12-31')).toBe('2026-10-01 2027-01-01')
  expect(at('last_quarter', '2026-02-28')).toBe('2025-10-01 2026-01-01')
  expect(at('year', '2026-02-28')).toBe('2026-01-01 2026-03-01')
  expect(at('last_year', '2026-02-28')).toBe('2025-01-01 2026-01-01')
})

forEachEngine('a share link', (open) => {
  let db: Database
  let app: TestApp
  let now = NOW
  let admin: string

  beforeAll(async () => {
    db = await open({ serving: true })
    app = await startApp({ db, clock: { now: () => now }, logLevel: 'debug' })
    admin = await app.session('admin')
    const post = async (path: string, json: object) =>
      expect((await app.call(`POST /api/v1/${path}`, { session: admin, json })).status).toBe(201)
    await post('clients', { name: 'Acme' })
    await post('projects', { key: 'WEB', name: 'Acme <b>web</b>', client: 'Acme' })
    await post('projects', { key: 'OTHER', name: 'Secret other' })
  })
  afterAll(() => app.close())

  const allow = async (share_links: boolean) =>
    expect((await app.call('PATCH /api/v1/settings', { session: admin, json: { share_links } })).status).toBe(200)
  const create = (json: NewShareLink, session = admin) => app.call('POST /api/v1/share-links', { session, json })
  /** Without any credential. Its answers are pages, also where there is nothing. */
  const visit = async (link: string, rest = '') => {
    const response = await fetch(link + rest)
    return { status: response.status, headers: response.headers, text: await response.text() }
  }
  const report = async (project: string, model: string, cost: number, input: number, token?: string) => {
    const body = { ...reportBody({ project, model, reported_cost: cost }), tokens: { input, output: 5 } }
    const sent = await app.call('POST /api/v1/token-entries', {
      token: token ?? (await app.token('svc')),
      json: { ...body, started_at: '2026-11-20T10:00:00Z', ended_at: '2026-11-20T10:20:00Z' },
    })
    expect(sent.status).toBe(201)
  }
  const usage: NewShareLink = { report: { period: 'last_month', group_by: ['model'], project: ['WEB'] } }

  test('exists only while an admin allows it, and reports what is wrong with it', async () => {
    expect((await create(usage)).json.detail).toContain('turned off')
    await allow(true)
    const pointers = async (json: NewShareLink) => {
      const { status, json: answer } = await create(json)
      return [status, ...(answer.errors ?? []).map(({ pointer }: { pointer: string }) => pointer)]
    }
    expect(await pointers({})).toEqual([422, ''])
    expect(await pointers({ ...usage, bill: '2026-0001' })).toEqual([422, ''])
    expect(await pointers({ report: {} })).toEqual([422, '/report/period'])
    expect(await pointers({ report: { period: 'month', starting_at: '2026-11-01' } })).toEqual([422, '/report/period'])
    expect(await pointers({ report: { period: 'month', project: ['nothing'] } })).toEqual([422, '/report/project'])
    expect(await pointers({ report: { period: 'month', group_by: ['agent_manager'] } })).toEqual([
      422,
      '/report/group_by',
    ])
    expect(await pointers({ report: { period: 'fortnight' as 'month' } })).toEqual([422, '/report/period'])
    expect(await pointers({ report: { period: 'month', bucket_width: '2d' } })).toEqual([422, '/report/bucket_width'])
    expect(await pointers({ report: { period: 'month', time_zone: 'Nowhere' } })).toEqual([422, '/report/time_zone'])
    expect(await pointers({ report: { period: 'month', q: 'x'.repeat(501) } })).toEqual([422, '/report/q'])
    expect(await pointers({ ...usage, money: 'all' as 'cost' })).toEqual([422, '/money'])
    expect(await pointers({ ...usage, expires_at: '2026-12-01' })).toEqual([422, '/expires_at'])
    expect(await pointers({ ...usage, expires_at: '2028-01-01' })).toEqual([422, '/expires_at'])
    expect(await pointers({ bill: '2026-0001' })).toEqual([422, '/bill'])
  })

  test('shows one report without an account: tokens only, unless it shows cost', async () => {
    await report('WEB', 'cheap-model', 1, 9_000)
    await report('WEB', 'dear-model', 777.25, 10)
    await report('OTHER', 'other-model', 5, 10)
    // `null` means not given.
    const { json } = await create({ ...usage, note: null, bill: null, money: null } as never)
    expect(json).toMatchObject({ money: 'none', people: false, state: 'active', uses: 0 })
    expect(Date.parse(json.expires_at)).toBe(now + 30 * DAY)
    const { status, text, headers } = await visit(json.link)
    expect(status).toBe(200)
    expect(Object.fromEntries(headers)).toMatchObject({
      'x-robots-tag': 'noindex, nofollow',
      'cache-control': 'private, no-store',
      'referrer-policy': 'no-referrer',
    })
    expect(headers.get('content-security-policy')).toStartWith("default-src 'none'")
    expect(text).not.toMatch(/<script|777|Cost|\$|other-model|Secret|Person|example\.com/)
    // In the order of tokens: that of cost would show which one costs most.
    expect(text.indexOf('cheap-model')).toBeLessThan(text.indexOf('dear-model'))
    expect(text.indexOf('cheap-model')).toBeGreaterThan(0)
    const dear = await visit((await create({ ...usage, money: 'cost' })).json.link)
    expect(dear.text).toContain('$778.25')
    expect(dear.text.indexOf('dear-model')).toBeLessThan(dear.text.indexOf('cheap-model'))
  })

  test('shows the comparison, the order and the search that were on the screen', async () => {
    const page = async (more: object, money: 'cost' | 'none' = 'cost') => {
      const { json } = await create({ money, report: { ...usage.report, ...more } as Report })
      return (await visit(json.link)).text
    }
    const names = (text: string) => [...text.matchAll(/<td><bdi>(.*?)<\/bdi>/g)].map(([, name]) => name)
    expect(names(await page({ sort: 'tokens' }))).toEqual(['cheap-model', 'dear-model'])
    expect(names(await page({ sort: 'value', order: 'asc' }))).toEqual(['cheap-model', 'dear-model'])
    expect(names(await page({ sort: 'name', order: 'desc' }))).toEqual(['dear-model', 'cheap-model'])
    // Sorted by cost, it would show which one costs most.
    for (const sort of ['value', 'cost', 'change']) {
      expect(names(await page({ sort, compare: 'previous' }, 'none'))).toEqual(['cheap-model', 'dear-model'])
    }
    const found = await page({ names: 'DEAR' })
    expect(names(found)).toEqual(['dear-model'])
    // Totals would show what the others cost.
    expect(found).not.toContain('$778.25')

    const token = await app.token('svc')
    const earlier = { started_at: '2026-10-20T10:00:00Z', ended_at: '2026-10-20T10:20:00Z' }
    const ids: string[] = []
    for (const [model, cost] of [
      ['cheap-model', 4],
      ['gone-model', 2],
    ] as const) {
      const body = { ...reportBody({ project: 'WEB', model, reported_cost: cost }), ...earlier }
      ids.push((await app.call('POST /api/v1/token-entries', { token, json: body })).json.id)
    }
    const compared = await page({ compare: 'previous', sort: 'change', order: 'asc' })
    expect(compared).toContain('compared with 1 Oct 2026 – 31 Oct 2026')
    expect(names(compared)).toEqual(['cheap-model', 'gone-model', 'dear-model'])
    expect(compared).toMatch(/\$1\.00<\/td><td class="number">\$4\.00<\/td><td class="number">-75%/)
    expect(await page({ compare: 'previous' }, 'none')).not.toContain('$')
    const drawn = await page({ compare: 'previous', chart: 'stacked', bucket_width: '1w' })
    expect(drawn).toContain('Cost (USD) over time</')
    // In its legend, and above the table.
    expect(drawn.match(/1 Oct 2026 – 31 Oct 2026/g)).toHaveLength(2)
    expect(names(drawn)).toEqual(names(await page({ compare: 'previous' })))
    const divided = await create({ report: { ...usage.report, compare: 'year', bucket_width: '1d' } as Report })
    expect(divided.json.errors).toMatchObject([{ pointer: '/report/compare' }])
    // A bill of November would wait for those of October.
    for (const id of ids) {
      await app.call(`POST /api/v1/token-entries/${id}/void`, { session: admin, json: { reason: 'Test' } })
    }
  })

  /** Every way in which a page would show money. */
  const DOLLARS = /\$|Cost|USD|List value/

  test('is titled by its grouping and filters, and shows the chart and the organization’s logo', async () => {
    const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
    const put = await app.call('PUT /api/v1/settings/logo', {
      session: admin,
      body: Buffer.from(png, 'base64'),
      headers: { 'content-type': 'image/png' },
    })
    expect(put.status).toBe(200)
    const charted: Report = { ...usage.report, bucket_width: '1w', chart: 'stacked', client: ['Acme'] }
    const { json } = await create({ report: charted, money: 'cost' })
    expect(json.title).toBe('Cost by model, Acme, Acme <b>web</b>')
    const { text } = await visit(json.link)
    expect(text).toContain('<h1><bdi>Cost by model, Acme, Acme &lt;b&gt;web&lt;/b&gt;</bdi></h1>')
    expect(text).toContain('Last month: 1 Nov 2026 – 30 Nov 2026')
    expect(text).toContain(`data:image/png;base64,${png}`)
    expect(text).toContain('Cost (USD) over time by model')
    expect(text.match(/<svg class="on-wide"/g)).toHaveLength(1)
    await app.call('PATCH /api/v1/settings', { session: admin, json: { locale: 'de-DE' } })
    const german = (await visit(json.link)).text
    await app.call('PATCH /api/v1/settings', { session: admin, json: { locale: null } })
    expect(german).toContain('Last month: 1. Nov. 2026 – 30. Nov. 2026')
    expect(german).toContain('778,25\u00a0$')
    // The groups of the table are those of the whole period.
    expect(text).not.toContain('>Period<')
    // What is not money stays; the cost is replaced by what the link shows.
    const tokens = await create({ report: { ...charted, measure: 'cost' } })
    expect(tokens.json.title).toStartWith('Tokens by model')
    expect((await visit(tokens.json.link)).text).not.toMatch(DOLLARS)
    for (const measure of ['list_value', 'billed', 'sessions', 'people', 'duration'] as const) {
      const { link } = (await create({ report: { ...charted, measure } })).json
      expect([measure, DOLLARS.test((await visit(link)).text)]).toEqual([measure, false])
    }
    const hours: Report = { period: 'last_month', bucket_width: '1h', chart: 'lines' }
    expect((await create({ report: hours })).json.errors[0]).toMatchObject({
      pointer: '/report/bucket_width',
      code: 'too_many_buckets',
    })
  })

  test('shows what was billed instead of the cost, to whoever may see bills', async () => {
    const post = async (path: string, json: object) => {
      const sent = await app.call(`POST /api/v1/${path}`, { session: admin, json })
      expect([sent.status, sent.json.detail]).toEqual([201, sent.json.detail])
      return sent.json
    }
    await post('clients', { name: 'Billed', markup: 37 })
    await post('projects', { key: 'PAID', name: 'Paid', client: 'Billed' })
    await report('PAID', 'some-model', 100, 10)
    const bill = await post('bills', { client: 'Billed', month: '2026-11', deliver_to: [] })
    await report('PAID', 'later-model', 50, 20)
    const billed: Report = { period: 'last_month', group_by: ['project'], client: ['Billed'], chart: 'bars' }
    const pointers = async (report: object) =>
      (await create({ report: { ...billed, ...report }, money: 'billed' } as NewShareLink)).json.errors.map(
        ({ pointer }: { pointer: string }) => pointer,
      )
    expect(await pointers({ group_by: ['model'] })).toEqual(['/report/group_by'])
    expect(await pointers({ group_by: ['provider'] })).toEqual(['/report/group_by'])
    expect(await pointers({ model: ['some-model'] })).toEqual(['/report/model'])
    expect(await pointers({ label: ['team:x'], status: ['billed'] })).toEqual(['/report/label', '/report/status'])
    expect(await pointers({ client: undefined })).toEqual(['/report/client'])
    expect(await pointers({ client: ['none'] })).toEqual(['/report/client'])

    const session = await app.session('billing')
    const { id } = (await app.call('GET /api/v1/me', { session })).json.person
    const { json } = await create({ report: billed, money: 'billed' }, session)
    expect(json).toMatchObject({ money: 'billed', title: 'Billed amount by project, Billed', state: 'active' })
    const { text } = await visit(json.link)
    expect(bill.subtotal).toBe(137)
    expect(text).toContain('<dt>Billed, 1 entry</dt><dd>$137.00</dd>')
    expect(text).toContain('<dt>Not billed</dt><dd>1 entry</dd>')
    expect(text.replaceAll('$137.00', '')).not.toMatch(/\$|Cost|37 ?%|model/)
    expect(text).not.toContain('Acme')
    // Whose role no longer sees bills shows them to nobody, and others cannot begin.
    await app.services.people.changeUser(id, { role: 'member' }, TALLY)
    expect((await visit(json.link)).status).toBe(404)
    expect((await create({ report: billed, money: 'billed' }, session)).status).toBe(403)
    await app.services.people.changeUser(id, { role: 'billing' }, TALLY)
    expect((await visit(json.link)).status).toBe(200)
  })

  test('shows the same whatever its visitor adds to its address', async () => {
    const { link } = (await create({ ...usage, report: { ...usage.report!, chart: 'bars' } })).json
    const { text } = await visit(link)
    const parameters = [
      ...['money', 'group_by', 'project', 'client', 'include', 'measure', 'format', 'people', 'period', 'starting_at'],
      ...['ending_at', 'label', 'agent_manager', 'page', 'limit', 'time_zone', 'bill', 'print', 'as', 'chart'],
    ]
    const values = ['cost', 'billed', 'amounts', 'csv', 'json', 'true', 'OTHER', 'Acme', 'project', '12m', '*', 'none']
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.constantFrom(...parameters), fc.oneof(fc.constantFrom(...values), fc.string()))),
        fc.constantFrom('text/html', 'text/csv', 'application/json', 'application/pdf'),
        async (pairs, accept) => {
          const response = await fetch(`${link}?${new URLSearchParams(pairs)}`, { headers: { accept } })
          expect(await response.text()).toBe(text)
        },
      ),
      { numRuns: 60 },
    )
    for (const rest of ['/bill.pdf', '/bill.html', '/entries.csv', '/usage.csv', '/../../api/v1/reports/usage'])
      expect([401, 404]).toContain((await visit(link, rest)).status)
  })

  test('escapes names, and names people only if it may', async () => {
    const { json } = await create({
      report: { starting_at: '2026-11-01', ending_at: '2026-12-01', group_by: ['project', 'agent_manager'] },
      people: true,
    })
    const { text } = await visit(json.link)
    expect(text).toContain('Acme &lt;b&gt;web&lt;/b&gt;')
    expect(text).toContain('Person')
  })

  test('groups by no label that may name people, unless it may', async () => {
    const token = await app.token('svc')
    const labels = { author: 'Grace Hopper', repository: 'acme/compiler' }
    const sent = { ...reportBody({ project: 'OTHER', labels }), started_at: '2026-11-21T10:00:00Z' }
    const { status } = await app.call('POST /api/v1/token-entries', {
      ...{ token, json: { ...sent, ended_at: '2026-11-21T10:20:00Z' } },
    })
    expect(status).toBe(201)
    const asked = (name: string, people: boolean): NewShareLink => ({
      ...{ report: { starting_at: '2026-11-01', ending_at: '2026-12-01', group_by: ['model', name] }, people },
    })
    for (const name of ['label:author', 'label:user.email', 'label:team']) {
      const refused = await create(asked(name, false))
      expect([refused.status, refused.json.errors[0].pointer]).toEqual([422, '/report/group_by'])
    }
    expect((await visit((await create(asked('label:repository', false))).json.link)).text).toContain('acme/compiler')
    const { link, id } = (await create(asked('label:author', true))).json
    expect((await visit(link)).text).toContain('Grace Hopper')
    // As an earlier version created it.
    await db.write(async (tx) => {
      const { shareLinks } = tx.tables
      await tx.update(shareLinks).set({ showsPeople: false }).where(eq(shareLinks.uid, id))
    })
    const { status: found, text } = await visit(link)
    expect([found, text.includes('gpt-5-codex'), text.includes('Grace')]).toEqual([200, true, false])
  })

  test('counts its visits, and its secret is in no list, no log, no audit record and not in the database', async () => {
    const { json } = await create({ ...usage, note: 'For Acme' })
    const secret = json.link.split('/').at(-1)
    await visit(json.link)
    await visit(json.link)
    await fetch(json.link, { method: 'HEAD' })
    await visit(json.link, '/nothing')
    await fetch(json.link, { method: 'POST' })
    const list = await app.call('GET /api/v1/share-links', { session: admin })
    expect(list.json.data[0]).toMatchObject({
      id: json.id,
      note: 'For Acme',
      uses: 2,
      last_used_at: new Date(now).toISOString(),
    })
    const audit = await app.call('GET /api/v1/audit?action=share_link', { session: admin })
    expect(audit.json.data[0]).toMatchObject({ action: 'share_link.created', object: { id: json.id } })
    const rows = await db.read.select().from(db.read.tables.shareLinks)
    expect(`${list.text} ${audit.text} ${JSON.stringify(app.log)} ${JSON.stringify(rows)}`).not.toContain(secret)
    expect(app.log.some(({ path }) => path === '/share/…')).toBe(true)
  })

  test('that is unknown, expired, revoked or switched off gets the same answer', async () => {
    const of = async (link: string) => {
      const { status, text, headers } = await visit(link)
      const { date: _, 'x-request-id': id, ...rest } = Object.fromEntries(headers)
      return { status, text, rest, hasId: id !== undefined }
    }
    const unknown = await of(`${app.url}/share/${'x'.repeat(32)}`)
    expect(unknown).toMatchObject({ status: 404, rest: { 'x-robots-tag': 'noindex, nofollow' } })
    expect(await of(`${app.url}/share/short`)).toEqual(unknown)
    const { json } = await create({ ...usage, expires_at: '2026-12-05' })
    now += 2 * DAY
    expect(await of(json.link)).toEqual(unknown)
    now = NOW
    await allow(false)
    expect(await of(json.link)).toEqual(unknown)
    await allow(true)
    expect((await of(json.link)).status).toBe(200)
    const revoked = await app.call(`POST /api/v1/share-links/${json.id}/revoke`, { session: admin })
    expect(revoked.json.state).toBe('revoked')
    expect(await of(json.link)).toEqual(unknown)
    const audit = await app.call('GET /api/v1/audit?action=share_link.revoked', { session: admin })
    expect(audit.json.data).toHaveLength(1)
    await app.call(`POST /api/v1/share-links/${json.id}/revoke`, { session: admin })
    expect((await app.call('GET /api/v1/audit?action=share_link.revoked', { session: admin })).json).toEqual(audit.json)
  })

  test('shows what its creator sees now, and only they and admins see and revoke it', async () => {
    const session = await app.session('member')
    const { id } = (await app.call('GET /api/v1/me', { session })).json.person
    const token = await app.token('svc', id)
    await report('WEB', 'own-model', 3, 42, token)
    const { json } = await create({ report: { period: 'last_month', group_by: ['model'] } }, session)
    const seen = (await visit(json.link)).text
    expect(seen).toContain('own-model')
    expect(seen).not.toMatch(/dear-model|other-model/)
    await app.services.people.changeUser(id, { role: 'billing' }, TALLY)
    expect((await visit(json.link)).text).toContain('other-model')
    await app.services.people.changeUser(id, { role: 'member' }, TALLY)
    expect((await visit(json.link)).text).not.toContain('other-model')

    const other = await app.session('billing')
    expect((await app.call('GET /api/v1/share-links', { session: other })).json.data).toEqual([])
    expect((await app.call(`POST /api/v1/share-links/${json.id}/revoke`, { session: other })).status).toBe(404)
    expect((await app.call('GET /api/v1/share-links', { session })).json.data).toHaveLength(1)
    await app.services.people.disableUser(id, TALLY)
    expect((await visit(json.link)).status).toBe(404)
    const { data } = (await app.call('GET /api/v1/share-links', { session: admin })).json
    expect(data.find((link: { id: string }) => link.id === json.id).state).toBe('stopped')
  })

  test('keeps its project when another one gets the name', async () => {
    await app.call('POST /api/v1/projects', { session: admin, json: { key: 'OLD', name: 'Old' } })
    await report('OLD', 'old-model', 1, 10)
    const { json } = await create({ report: { period: 'last_month', group_by: ['model'], project: ['OLD'] } })
    expect(json.report.project[0]).toStartWith('prj_')
    expect((await visit(json.link)).text).toContain('old-model')
  })

  test('shows a bill and its documents, as long as its creator may see bills', async () => {
    const session = await app.session('billing')
    const { id } = (await app.call('GET /api/v1/me', { session })).json.person
    const sent = await app.call('POST /api/v1/bills', { session, json: { month: '2026-11', client: 'Acme' } })
    expect(sent.status).toBe(201)
    const { number } = sent.json
    expect((await create({ bill: number }, await app.session('member'))).status).toBe(403)
    expect((await create({ bill: number, money: 'none' }, session)).status).toBe(422)
    const { json } = await create({ bill: number }, session)
    expect(json).toMatchObject({ bill: { number }, money: 'amounts', report: null })
    expect((await visit(json.link)).text).toContain(`Bill ${number}`)
    const document = await visit(json.link, '/bill.html')
    expect(document.text).toContain(number)
    expect(document.headers.get('x-robots-tag')).toBe('noindex, nofollow')
    expect((await visit(json.link, '/entries.csv')).status).toBe(404)
    const other = (await create(usage)).json.link
    expect((await visit(other, '/bill.html')).status).toBe(404)
    await app.services.people.changeUser(id, { role: 'member' }, TALLY)
    for (const rest of ['', '/bill.html', '/bill.pdf']) expect((await visit(json.link, rest)).status).toBe(404)
  })

  test('is not made without end', async () => {
    const session = await app.session('member')
    const { id } = (await app.call('GET /api/v1/me', { session })).json.person
    const { json } = await create({ report: { period: 'month' } }, session)
    await db.write(async (tx) => {
      const { shareLinks } = tx.tables
      const [row] = (await tx.select().from(shareLinks)).filter(({ uid }) => uid === json.id)
      const copies = Array.from({ length: 199 }, () => {
        const { id: _, uid: __, ...rest } = row!
        return {
          ...rest,
          uid: `shr_${Bun.randomUUIDv7().replaceAll('-', '')}` as const,
          hash: crypto.getRandomValues(new Uint8Array(32)),
        }
      })
      await tx.insert(shareLinks).values(copies)
    })
    expect(id).toStartWith('usr_')
    expect((await create({ report: { period: 'month' } }, session)).json.detail).toContain('200 active share links')
  })
})
