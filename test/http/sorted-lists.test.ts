/** Lists in an order that the caller chose: every row once, in the same order on both databases. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startApp, type TestApp } from '../support/app.ts'
import { forEachEngine } from '../support/databases.ts'
import { reportBody } from '../support/reports.ts'

// biome-ignore lint/suspicious/noExplicitAny: rows of any list
type Row = any

const lower = (text: string | null | undefined) => text?.toLowerCase() ?? null

/** The lists with their orders, and what of a row each order compares. */
const LISTS: Record<string, Record<string, (row: Row) => string | number | null>> = {
  users: {
    name: ({ name }) => lower(name),
    email: ({ email }) => email,
    role: ({ role }) => role,
    last_signed_in_at: ({ last_signed_in_at }) => last_signed_in_at,
    created_at: ({ created_at }) => created_at,
  },
  tokens: {
    name: ({ name }) => lower(name),
    kind: ({ kind }) => kind,
    user: ({ user }) => lower(user.name),
    last_used_at: ({ last_used_at }) => last_used_at,
    created_at: ({ created_at }) => created_at,
    expires_at: ({ expires_at }) => expires_at,
  },
  clients: { name: ({ name }) => lower(name), created_at: ({ created_at }) => created_at },
  projects: {
    key: ({ key }) => lower(key),
    name: ({ name }) => lower(name),
    client: ({ client }) => lower(client?.name),
    created_at: ({ created_at }) => created_at,
  },
  tickets: {
    key: ({ key }) => lower(key),
    title: ({ title }) => lower(title),
    created_at: ({ created_at }) => created_at,
  },
  'token-sheets': {
    period: ({ period }) => period.from,
    agent_manager: ({ agent_manager }) => lower(agent_manager.name),
    status: ({ status }) => status,
    updated_at: ({ updated_at, created_at }) => updated_at ?? created_at,
  },
  bills: {
    number: ({ number }) => number,
    recipient: ({ client, project }) => lower(client?.name ?? project?.key),
    period: ({ period }) => period.from,
    issued_on: ({ issued_on }) => issued_on,
    due_on: ({ kind, due_on }) => (kind === 'bill' ? due_on : null),
    state: ({ state }) => state,
    entries: ({ entries }) => entries,
    total: ({ total }) => total,
    balance: ({ balance }) => balance,
  },
}

forEachEngine('a sorted list', (open) => {
  let app: TestApp
  let session: string
  const add = async (path: string, json: object) => {
    const { status, json: added, text } = await app.call(`POST /api/v1/${path}`, { session, json })
    expect([path, status, status >= 300 ? text : '']).toEqual([path, expect.any(Number), ''])
    return added as Row
  }
  const get = (path: string) => app.call(`GET /api/v1/${path}`, { session })

  beforeAll(async () => {
    app = await startApp({ db: await open({ serving: true }) })
    session = await app.session('admin')
    await app.session('member')
    await app.session('billing')
    for (const name of ['zebra', 'Apple', 'apple', 'Émile', 'Zoë']) {
      await add('users', { email: `${Bun.hash(name)}@example.com`, name, role: 'member' })
    }
    for (const [index, name] of ['zeta', 'Alpha', 'beta', 'Älg'].entries()) {
      const { id } = await add('clients', { name })
      await add('projects', {
        key: `P${index}`,
        name: index % 2 ? `q${index}` : name,
        ...(index < 3 && { client: id }),
      })
      await add('tickets', { key: `t-${9 - index}`, ...(index < 2 && { title: `T${index}` }), project: `P${index}` })
    }
    for (const [index, month] of ['2026-09', '2026-11', '2026-09', '2026-10'].entries()) {
      const sheet = await add('token-sheets', { month })
      if (index === 1) await app.call(`PATCH /api/v1/token-sheets/${sheet.id}`, { session, json: { note: 'late' } })
    }
    await add('tokens', { kind: 'read', name: 'reader', expires_at: '2027-01-01T00:00:00Z' })
    for (const name of ['Job', 'job', 'other']) await add('tokens', { kind: 'svc', name })
    const token = await app.token('svc')
    for (const [index, cost] of [5, 20, 5, 1].entries()) {
      const report = reportBody({
        session_id: `s-${index}`,
        project: `P${index}`,
        reported_cost: cost,
        started_at: `2026-10-0${index + 1}T10:00:00Z`,
        ended_at: `2026-10-0${index + 1}T11:00:00Z`,
      })
      expect((await app.call('POST /api/v1/token-entries', { token, json: report })).status).toBe(201)
    }
    const month = { month: '2026-10' }
    const first = await add('bills', { ...month, project: 'P0' })
    const second = await add('bills', { ...month, client: 'Alpha', due_days: 3 })
    await add('bills', { ...month, project: 'P2' })
    await add('bills', month)
    await app.call(`POST /api/v1/bills/${first.id}/void`, { session, json: { reason: 'wrong' } })
    await add(`bills/${second.id}/payments`, {})
    await add(`bills/${second.id}/credit-note`, {})
  })
  afterAll(() => app.close())

  for (const [path, orders] of Object.entries(LISTS)) {
    test(`of ${path} has every row once, in order, with what is unknown at the end`, async () => {
      const whole = (await get(`${path}?limit=1000`)).json.data as Row[]
      expect(whole.length).toBeGreaterThan(3)
      for (const [sort, compared] of Object.entries(orders)) {
        const seen: Record<string, string[]> = {}
        for (const order of ['asc', 'desc'] as const) {
          const rows: Row[] = []
          for (let page = ''; ; ) {
            const { status, json } = await get(`${path}?sort=${sort}&order=${order}&limit=2${page}`)
            expect([sort, status]).toEqual([sort, 200])
            rows.push(...json.data)
            if (json.next_page === null) break
            page = `&page=${json.next_page}`
            const other = await get(`${path}?sort=${sort}&order=${order === 'asc' ? 'desc' : 'asc'}${page}`)
            expect(other.status).toBe(422)
          }
          const ids = rows.map(({ id }) => id)
          expect(ids.toSorted()).toEqual(whole.map(({ id }) => id).toSorted())
          const values = rows.map(compared)
          expect([sort, order, values]).toEqual([sort, order, values.toSorted(comparing(order))])
          seen[order] = ids.filter((_, at) => values[at] !== null)
        }
        expect(seen.desc).toEqual(seen.asc!.toReversed())
      }
    })
  }

  const comparing = (order: 'asc' | 'desc') => (one: Row, other: Row) => {
    if (one === null || other === null) return Number(one === null) - Number(other === null)
    const difference =
      typeof one === 'number' ? one - other : Buffer.compare(Buffer.from(String(one)), Buffer.from(String(other)))
    return order === 'asc' ? difference : -difference
  }

  test('is refused by an unknown order, an order of nothing, and a position that no list gave', async () => {
    const token = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const refused = [
      'sort=password',
      'order=asc',
      `sort=name&page=${token(['name', 'desc', 5, 1])}`,
      `sort=name&page=${token(['name', 'desc', 'a\0', 1])}`,
      `sort=name&page=${token(['name', 'desc', 'a', 1.5])}`,
      `sort=created_at&page=${token(['created_at', 'desc', '99999999999999999999', 1])}`,
      `sort=created_at&page=${token(['created_at', 'desc', 'a', 1])}`,
      'sort=name&page=x',
    ]
    for (const query of refused) expect([query, (await get(`users?${query}`)).status]).toEqual([query, 422])
  })
})
