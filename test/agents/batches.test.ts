import { afterEach, expect, test } from 'bun:test'
import type { Cell, SessionUse } from '../../src/agents/agent.ts'
import { previewUses, reportUses } from '../../src/agents/batches.ts'

interface Item {
  session_id: string
  slices?: object[]
  tokens?: object
}

let server: Bun.Server<undefined> | undefined
afterEach(() => server?.stop(true))

/** Answers each batch as `answer` says, and keeps the sessions of each. */
function listen(answer: (sessions: string[], call: number, items: Item[]) => Response): {
  url: string
  batches: string[][]
} {
  const batches: string[][] = []
  server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const items = (await request.json()) as Item[]
      const sessions = items.map(({ session_id }) => session_id)
      batches.push(sessions)
      return answer(sessions, batches.length, items)
    },
  })
  return { url: `http://127.0.0.1:${server.port}`, batches }
}

const results = (of: { result: string; problem: object | null }[]) => Response.json({ results: of })
const created = { result: 'created', problem: null }
const busy = { result: 'rejected', problem: { status: 503, code: 'busy', detail: 'The database is busy.' } }
const wrong = { result: 'rejected', problem: { status: 422, code: 'validation_failed', detail: 'No.' } }

const CELL: Cell = {
  place: { repository: null, branch: null },
  ...{ firstAt: Date.parse('2026-11-20T10:00:00Z'), lastAt: Date.parse('2026-11-20T10:00:00Z') },
  tokens: { input: 1, output: 1, cache_read: 0, cache_write: 0, cache_write_1h: 0 },
  ...{ requestsAbove: [], tools: {}, requests: 1, reportedCost: null, activeMs: null },
}

function uses(count: number): SessionUse[] {
  return Array.from({ length: count }, (_, index) => ({
    agentHarness: 'codex',
    sessionId: `s${index}`,
    model: 'gpt-5-codex',
    provider: null,
    startedAt: '2026-11-20T10:00:00.000Z',
    endedAt: '2026-11-20T10:00:00.000Z',
    tokens: { input: 1, output: 1, cache_read: 0, cache_write: 0, cache_write_1h: 0 },
    requests: 1,
    ...{ reportedCost: null, activeMs: null },
    folder: null,
    repository: null,
    branch: null,
    ...{ cells: () => [CELL], days: [CELL] },
    summary: 'Codex',
    title: null,
    ...{ missing: null, plan: null, entrypoint: null, funding: null },
    ...{ requestsAbove: [], service: {}, tools: {} },
    file: '/nowhere',
  }))
}

const send = (url: string, count: number) => reportUses({ url, token: 'tally_svc_x' }, uses(count))

test('sessions are sent a thousand at a time', async () => {
  const { url, batches } = listen((sessions) => results(sessions.map(() => created)))
  expect(await send(url, 2_001)).toMatchObject({ created: 2_001, left: 0, issue: null })
  expect(batches.map(({ length }) => length)).toEqual([1_000, 1_000, 1])
})

test('entries that the server holds are counted among the others', async () => {
  const held = { ...created, entry: { status: 'held' } }
  const { url } = listen(() => results([held, { ...created, entry: { status: 'submitted' } }]))
  expect(await send(url, 2)).toMatchObject({ created: 2, held: 1, refused: [] })
})

test('a batch is sent again if the server is briefly unavailable', async () => {
  const { url, batches } = listen((sessions, call) =>
    call === 1 ? new Response('', { status: 503 }) : results(sessions.map(() => created)),
  )
  expect(await send(url, 2)).toMatchObject({ created: 2, left: 0, issue: null })
  expect(batches).toEqual([
    ['s0', 's1'],
    ['s0', 's1'],
  ])
})

test('of a batch only that is sent again which the server could not take at that moment', async () => {
  const { url, batches } = listen((sessions, call) =>
    results(call === 1 ? [created, busy, wrong] : sessions.map(() => created)),
  )
  const { refused, ...outcome } = await send(url, 3)
  expect(outcome).toMatchObject({ created: 2, left: 0, issue: null })
  expect(refused.map(({ use, refusal }) => [use.sessionId, refusal.code])).toEqual([['s2', 'validation_failed']])
  expect(batches).toEqual([['s0', 's1', 's2'], ['s1']])
})

test('a permanent refusal ends it, and the number of remaining sessions is reported', async () => {
  const problem = { status: 401, code: 'unauthorized', detail: 'The token was revoked.' }
  const { url, batches } = listen((sessions, call) =>
    call === 1
      ? results(sessions.map(() => created))
      : Response.json(problem, { status: 401, headers: { 'content-type': 'application/problem+json' } }),
  )
  const { created: made, left, issue } = await send(url, 2_500)
  expect([made, left]).toEqual([1_000, 1_500])
  expect(issue?.message).toContain('The token was revoked.')
  expect(batches).toHaveLength(2)
})

/** As servers of earlier versions answer. */
const refusesSlices = {
  result: 'rejected',
  problem: {
    status: 422,
    code: 'validation_failed',
    detail: 'The report has issues.',
    errors: [
      { pointer: '/tokens', code: 'required', message: 'is required' },
      { pointer: '/slices', code: 'unknown_field', message: 'is not a known field' },
    ],
  },
}

test('a server that knows no slices gets the totals, and is not asked again', async () => {
  const bodies: Item[][] = []
  const server = { url: '', token: 'tally_svc_x' }
  const { url, batches } = listen((_sessions, _call, items) => {
    bodies.push(items)
    return results(items.map(({ slices }) => (slices ? refusesSlices : created)))
  })
  server.url = url
  expect(await reportUses(server, uses(1_500))).toMatchObject({ created: 1_500, refused: [], left: 0, issue: null })
  expect(batches.map(({ length }) => length)).toEqual([1_000, 1_000, 500])
  expect(bodies.map(([first]) => [first!.slices?.length, first!.tokens])).toEqual([
    [1, undefined],
    [undefined, CELL.tokens],
    [undefined, CELL.tokens],
  ])
})

test('a server that knows no plans gets the same without them, and is not asked again', async () => {
  const bodies: Item[][] = []
  const unknown = (pointer: string) => ({ pointer, code: 'unknown_field', message: 'is not a known field' })
  const problem = { ...refusesSlices.problem, errors: [unknown('/funding'), unknown('/plan')] }
  const { url } = listen((_sessions, _call, items) => {
    bodies.push(items)
    return results(items.map((item) => ('plan' in item ? { result: 'rejected', problem } : created)))
  })
  const server = { url, token: 'tally_svc_x' }
  const paid = () => uses(2).map((use) => ({ ...use, plan: 'codex:plus', funding: 'credits' as const }))
  for (const _ of [1, 2])
    expect(await reportUses(server, paid())).toMatchObject({ created: 2, refused: [], issue: null })
  const shown = bodies.map(([first]) => [first && 'plan' in first, first && 'funding' in first, first!.slices?.length])
  expect(shown).toEqual([
    [true, true, 1],
    [false, false, 1],
    [false, false, 1],
  ])
})

test('a slice that is refused for another reason does not make the report one without slices', async () => {
  const problem = { ...refusesSlices.problem, errors: [{ pointer: '/slices', code: 'too_large', message: 'no' }] }
  const { url, batches } = listen(() => results([{ result: 'rejected', problem }]))
  expect((await send(url, 1)).refused).toHaveLength(1)
  expect(batches).toHaveLength(1)
})

test('all models of a session are in one batch, also of those that a dry run asks about', async () => {
  const models = uses(1_500).flatMap((use) => [use, { ...use, model: 'gpt-5.4' }])
  const mixed = [...models.filter((_, index) => index % 2 === 0), ...models.filter((_, index) => index % 2 === 1)]
  const queries: string[] = []
  const batches: string[][] = []
  server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { pathname, search } = new URL(request.url)
      queries.push(`${pathname}${search}`)
      if (request.method === 'GET') return Response.json({ organization: { name: 'Acme', time_zone: 'Europe/Berlin' } })
      const sessions = ((await request.json()) as Item[]).map(({ session_id }) => session_id)
      batches.push(sessions)
      const entries = sessions.map((id) => ({ result: 'created', before: null, after: { id } }))
      return Response.json({ results: sessions.map(() => created), entries })
    },
  })
  const preview = await previewUses({ url: `http://127.0.0.1:${server.port}`, token: 'tally_svc_x' }, mixed)
  expect(preview).toMatchObject({ refused: [], timeZone: 'Europe/Berlin' })
  expect(preview!.entries).toHaveLength(3_000)
  expect(batches.map(({ length }) => length)).toEqual([1_000, 1_000, 1_000])
  for (const sessions of batches) expect(new Set(sessions).size).toBe(500)
  expect([...new Set(queries)]).toEqual(['/api/v1/me', '/api/v1/token-entries/batch?dry_run=true'])
})

test('a session with more models than a batch can have is in several', async () => {
  const { url, batches } = listen((sessions) => results(sessions.map(() => created)))
  const models = uses(1_002).map((use, index) => ({ ...use, sessionId: index === 0 ? 'a' : 'b', model: `m${index}` }))
  expect(await reportUses({ url, token: 'tally_svc_x' }, models)).toMatchObject({ created: 1_002, issue: null })
  expect(batches.map(({ length }) => length)).toEqual([1_000, 2])
})
