import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { TALLY } from '../../../../src/access/actor.ts'
import { startApp, type TestApp } from '../../../support/app.ts'
import { reportBody } from '../../../support/reports.ts'

let app: TestApp
let admin: string
let ada: string
let bob: string
let adaReads: string
const ids: Record<string, string> = {}

/** Three entries of Ada, one of Bob, an hour apart. */
beforeAll(async () => {
  app = await startApp()
  await app.services.prices.loadDefaultPrices()
  ada = await app.person('member')
  bob = await app.person('member')
  admin = await app.token('read', await app.person('admin'))
  adaReads = await app.token('read', ada)
  const tokens = { ada: await app.token('svc', ada), bob: await app.token('svc', bob) }
  const report = async (name: string, who: 'ada' | 'bob', hour: number, change: Record<string, unknown>) => {
    const { json } = await app.call('POST /api/v1/token-entries', {
      token: tokens[who],
      json: reportBody({ started_at: `2026-11-20T${hour}:00:00Z`, ended_at: `2026-11-20T${hour}:30:00Z`, ...change }),
    })
    ids[name] = json.id
  }
  await report('web', 'ada', 10, {
    project: 'Acme Web',
    ticket: 'ACME-1',
    summary: '100% of the login_test',
    labels: { repository: 'acme/web', branch: 'a,b' },
  })
  await report('api', 'ada', 11, {
    project: 'acme-api',
    session_id: 'S-1',
    agent_name: 'reviewer',
    labels: { repository: 'acme/api' },
  })
  await report('loose', 'ada', 12, { model: 'no-such-model', agent_harness: 'claude-code', summary: '=HYPERLINK("x")' })
  await report('bobs', 'bob', 13, { project: 'acme-api', model: 'claude-haiku-4-5', reported_cost: 0 })
})
afterAll(() => app.close())

async function names(query: string, token = admin): Promise<string[]> {
  const { json } = await app.call(`GET /api/v1/token-entries${query}`, { token })
  return json.data.map(({ id }: { id: string }) => Object.keys(ids).find((name) => ids[name] === id))
}

test('a list is newest first', async () => {
  expect(await names('')).toEqual(['bobs', 'loose', 'api', 'web'])
})

describe('a filter', () => {
  const cases: [string, string[]][] = [
    ['starting_at=2026-11-20T11:00:00Z&ending_at=2026-11-20T13:00:00Z', ['loose', 'api']],
    ['starting_at=2026-11-20T14:00:00%2B02:00', ['bobs', 'loose']],
    ['ended_after=2026-11-20T11:30:00Z', ['bobs', 'loose']],
    ['ending_at=2026-11-20T12:00:00Z&ended_after=2026-11-20T11:00:00Z', ['api']],
    ['possible_duplicate=true', []],
    ['possible_duplicate=false&project=acme-api', ['bobs', 'api']],
    ['superseded=true', []],
    ['superseded=false&project=acme-api', ['bobs', 'api']],
    ['project=ACME-API', ['bobs', 'api']],
    ['project=acme-api,acme%20web', ['bobs', 'api', 'web']],
    ['project=acme-api&project=acme%20web&model=gpt-5-codex', ['api', 'web']],
    ['ticket=acme-1', ['web']],
    ['client=none', ['bobs', 'api', 'web']],
    ['client=none&agent_name=reviewer', ['api']],
    ['project=none', ['loose']],
    ['project=none,acme%20web', ['loose', 'web']],
    ['billable=true', ['bobs', 'loose', 'api', 'web']],
    ['billable=false', []],
    ['agent_name=reviewer', ['api']],
    ['agent_harness=claude-code', ['loose']],
    ['model=no-such-model,claude-haiku-4-5', ['bobs', 'loose']],
    ['provider=aws', []],
    ['provider=aws,none&project=acme-api', ['bobs', 'api']],
    ['status=submitted', ['bobs', 'loose', 'api', 'web']],
    ['status=billed', []],
    ['source=report', ['bobs', 'loose', 'api', 'web']],
    ['source=log,span', []],
    ['session_id=S-1', ['api']],
    ['label=repository:acme/web', ['web']],
    ['label=branch:a,b', ['web']],
    ['label=repository:acme/web&label=repository:acme/api', ['api', 'web']],
    ['label=repository:acme/api&label=branch:main', []],
    ['placed=none', ['loose']],
    ['placed=named', ['bobs', 'api', 'web']],
    ['placed=none,named', ['bobs', 'loose', 'api', 'web']],
    ['priced=false', ['loose']],
    ['priced=true', ['bobs', 'api', 'web']],
    ['bill=none', ['bobs', 'loose', 'api', 'web']],
    ['q=LOGIN_', ['web']],
    ['q=100%25', ['web']],
    ['q=loginxtest', []],
  ]
  for (const [query, expected] of cases) {
    test(query, async () => expect(await names(`?${query}`)).toEqual(expected))
  }

  test('takes public ids as well', async () => {
    const { json } = await app.call(`GET /api/v1/token-entries/${ids.web}`, { token: admin })
    expect(await names(`?project=${json.project.id}`)).toEqual(['web'])
    expect(await names(`?ticket=${json.ticket.id}`)).toEqual(['web'])
    expect(await names(`?agent_manager=${json.agent_manager.id}&limit=1`)).toEqual(['loose'])
    expect(await names(`?agent_manager=${encodeURIComponent(ada.toUpperCase())}`)).toEqual(['loose', 'api', 'web'])
  })

  const bad: [string, string][] = [
    ['sort=price', '/query/sort'],
    ['order=up', '/query/order'],
    ['sort=cost&format=csv', '/query/sort'],
    ['order=asc&format=csv', '/query/order'],
    ['starting_at=yesterday', '/query/starting_at'],
    ['status=open', '/query/status'],
    ['placed=somewhere', '/query/placed'],
    ['priced=maybe', '/query/priced'],
    ['ended_after=noon', '/query/ended_after'],
    ['possible_duplicate=1', '/query/possible_duplicate'],
    ['label=repository', '/query/label'],
    ['bill=2026-0001', '/query/bill'],
    ['limit=0', '/query/limit'],
    ['limit=1001', '/query/limit'],
    ['page=zzz', '/query/page'],
    ['format=xml', '/query/format'],
    ['modell=x', '/query/modell'],
  ]
  for (const [query, pointer] of bad) {
    test(`${query} is refused`, async () => {
      const { status, json } = await app.call(`GET /api/v1/token-entries?${query}`, { token: admin })
      expect([status, json.errors[0].pointer]).toEqual([422, pointer])
    })
  }
})

describe('an order', () => {
  const cases: [string, string[]][] = [
    ['sort=started_at', ['bobs', 'loose', 'api', 'web']],
    ['order=asc', ['web', 'api', 'loose', 'bobs']],
    ['sort=cost', ['api', 'web', 'bobs', 'loose']],
    ['sort=cost&order=asc', ['bobs', 'web', 'api', 'loose']],
    ['sort=tokens&order=asc&project=acme-api', ['api', 'bobs']],
    ['sort=duration&q=login', ['web']],
  ]
  for (const [query, expected] of cases) {
    test(`${query} is the same in one page and in pages of one`, async () => {
      expect(await names(`?${query}`)).toEqual(expected)
      const found: string[] = []
      for (let page = ''; ; ) {
        const { json } = await app.call(`GET /api/v1/token-entries?${query}&limit=1${page}`, { token: admin })
        found.push(...json.data.map(({ id }: { id: string }) => Object.keys(ids).find((name) => ids[name] === id)))
        if (!json.has_more) break
        page = `&page=${json.next_page}`
      }
      expect(found).toEqual(expected)
    })
  }

  test('refuses the page of another one', async () => {
    for (const [of, other] of [
      ['sort=cost', 'sort=tokens'],
      ['sort=cost', 'sort=cost&order=asc'],
      ['sort=cost', ''],
      ['order=asc', ''],
      ['', 'order=asc'],
    ]) {
      const { json } = await app.call(`GET /api/v1/token-entries?limit=1&${of}`, { token: admin })
      const answer = await app.call(`GET /api/v1/token-entries?${other}&page=${json.next_page}`, { token: admin })
      expect([other, answer.status, answer.json.errors?.[0].pointer]).toEqual([other, 422, '/query/page'])
    }
  })
})

test('every issue of a query is told at once', async () => {
  const { json } = await app.call('GET /api/v1/token-entries?status=open&starting_at=x&limit=0&page=zzz', {
    token: admin,
  })
  expect(json.errors.map(({ pointer }: { pointer: string }) => pointer).sort()).toEqual([
    '/query/limit',
    '/query/page',
    '/query/starting_at',
    '/query/status',
  ])
})

test('pages follow each other without gap or repeat, also when entries arrive meanwhile', async () => {
  const seen: string[] = []
  let page = ''
  for (let calls = 0; calls < 5; calls += 1) {
    const { json } = await app.call(
      `GET /api/v1/token-entries?limit=1&agent_manager=${encodeURIComponent(ada)}${page}`,
      { token: admin },
    )
    seen.push(...json.data.map(({ id }: { id: string }) => id))
    if (!json.has_more) break
    page = `&page=${json.next_page}`
    await app.call('POST /api/v1/token-entries', {
      token: await app.token('svc', ada),
      json: {
        agent_harness: 'x',
        agent_name: 'x',
        model: 'x',
        started_at: '2026-11-20T15:00:00Z',
        ended_at: '2026-11-20T15:00:00Z',
        tokens: { input: 1, output: 1 },
        session_id: `late-${calls}`,
      },
    })
  }
  expect(seen).toEqual([ids.loose!, ids.api!, ids.web!])
})

test('pages of several projects and people have neither gap nor repeat', async () => {
  const projects = 'project=acme%20web,acme-api,Acme%20Web'
  const people = [ada, bob].map(encodeURIComponent).join(',')
  for (const filter of [projects, `${projects}&agent_manager=${people}`]) {
    const whole = await names(`?${filter}`)
    const seen: (string | undefined)[] = []
    for (let page = '', more = true; more; ) {
      const { json } = await app.call(`GET /api/v1/token-entries?limit=1&${filter}${page}`, { token: admin })
      seen.push(...json.data.map(({ id }: { id: string }) => Object.keys(ids).find((name) => ids[name] === id)))
      more = json.has_more
      page = `&page=${json.next_page}`
    }
    expect(seen).toEqual(whole)
    expect(seen.length).toBeGreaterThan(1)
  }
})

describe('what a read token sees', () => {
  test('of a member are their own entries', async () => {
    const seen = await names('', adaReads)
    expect(seen).toContain('web')
    expect(seen).not.toContain('bobs')
    for (const path of ['', '/history']) {
      const { status } = await app.call(`GET /api/v1/token-entries/${ids.bobs}${path}`, { token: adaReads })
      expect(status).toBe(404)
    }
  })

  test('of a lead are all entries of the project, as long as they lead it', async () => {
    const { db, people } = app.services
    const { entries, users, projectLeads } = db.read.tables
    const [entry] = await db.read
      .select()
      .from(entries)
      .where(eq(entries.uid, ids.bobs as never))
    const [user] = await db.read.select().from(users).where(eq(users.email, ada))
    await db.write(
      async (tx) => void (await tx.insert(projectLeads).values({ projectId: entry!.projectId!, userId: user!.id })),
    )
    expect(await names('?project=acme-api', adaReads)).toEqual(['bobs', 'api'])
    // What is their own and of the project is shown once.
    const shown = await names('', adaReads)
    expect(shown.filter((name) => name !== undefined)).toEqual(['bobs', 'loose', 'api', 'web'])
    await db.write(async (tx) => void (await tx.delete(projectLeads).where(eq(projectLeads.userId, user!.id))))
    expect(await names('?project=acme-api', adaReads)).toEqual(['api'])
    await people.changeUser(ada, { role: 'billing' }, TALLY)
    expect(await names('?project=acme-api', adaReads)).toEqual(['bobs', 'api'])
    await people.changeUser(ada, { role: 'member' }, TALLY)
  })

  test('is refused for service and organization tokens', async () => {
    for (const kind of ['svc', 'org'] as const) {
      const token = await app.token(kind)
      for (const path of ['', `/${ids.web}`, `/${ids.web}/history`]) {
        expect((await app.call(`GET /api/v1/token-entries${path}`, { token })).status).toBe(403)
      }
    }
  })
})

test('CSV holds every entry of the filter, with money exact, unknown money empty and formulas made harmless', async () => {
  const { text, headers } = await app.call('GET /api/v1/token-entries?ending_at=2026-11-20T14:00:00Z&format=csv', {
    token: admin,
  })
  expect(headers.get('content-type')).toContain('text/csv')
  const [heading, ...rows] = text.trimEnd().split('\r\n')
  const column = heading!.split(',').indexOf('cost')
  expect(rows).toHaveLength(4)
  expect(rows.map((row) => row.split(',')[column])).toEqual(['0', '', '0.0000625', '0.0000625'])
  expect(text).toContain(`"'=HYPERLINK(""x"")"`)
  const accepted = await app.call('GET /api/v1/token-entries?ending_at=2026-11-20T14:00:00Z', {
    token: admin,
    headers: { accept: 'text/csv' },
  })
  expect(accepted.text).toBe(text)
})

test('NDJSON holds the objects of the list, byte by byte', async () => {
  const path = 'GET /api/v1/token-entries?ending_at=2026-11-20T14:00:00Z'
  const list = await app.call(path, { token: admin })
  const { text, headers } = await app.call(`${path}&format=ndjson&limit=1`, { token: admin })
  expect(headers.get('content-type')).toContain('application/x-ndjson')
  expect(headers.get('content-disposition')).toContain('token-entries.ndjson')
  const lines = text.trimEnd().split('\n')
  expect(lines).toHaveLength(4)
  expect(list.text).toStartWith(`{"data":[${lines.join(',')}],"has_more":false`)
  const answered = async (accept: string) => (await app.call(path, { token: admin, headers: { accept } })).text
  expect(await answered('application/x-ndjson')).toBe(text)
  expect(await answered('application/x-ndjson;q=0.9, text/csv')).toBe(text)
  expect(await answered('application/json, */*')).toBe(list.text)
})

test('an entry that does not exist is not found, whatever its id looks like', async () => {
  for (const id of ['ent_00000000000000000000000000000000', 'ent_x', '1', "'%20OR%201=1"]) {
    expect((await app.call(`GET /api/v1/token-entries/${id}`, { token: admin })).status).toBe(404)
  }
})
