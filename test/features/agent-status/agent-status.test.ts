/** The status of agents: whose it is, who sees and changes it, what fits into it, and how long it is kept. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import fc from 'fast-check'
import { TALLY } from '../../../src/access/actor.ts'
import type { Database } from '../../../src/database/database.ts'
import { EXAMPLE_REPORT } from '../../../src/features/agent-status/examples.ts'
import type { AgentStatus, AgentStatusReport } from '../../../src/features/agent-status/schema.ts'
import { NOT_READ_REASONS } from '../../../src/shared/not-read.ts'
import { PASSWORD, startApp, type TestApp } from '../../support/app.ts'
import { forEachEngine } from '../../support/databases.ts'
import { runJobs } from '../../support/jobs.ts'
import { runs } from '../../support/tier.ts'

const DAY = 86_400_000

const MACHINE = '00000000000000aa'
const UNREAD = [{ reason: 'unknown_session', name: 'session_v3', count: 14 }] as const

const reportOf = (change: Partial<AgentStatusReport> = {}): AgentStatusReport => ({
  ...EXAMPLE_REPORT,
  machine: MACHINE,
  ...change,
})

const agent = (agent_harness: string, not_read: AgentStatusReport['agents'][number]['not_read'] = []) => ({
  ...{ agent_harness, version: '2.0.3', sessions: 3 },
  not_read,
})

forEachEngine('the status of agents', (open) => {
  let db: Database
  let app: TestApp
  let now = Date.parse('2026-12-03T12:00:00Z')

  interface Somebody {
    email: string
    id: string
    token: string
    session: string
  }
  const people: Record<string, Somebody> = {}

  async function add(role: 'admin' | 'billing' | 'member'): Promise<Somebody> {
    const email = await app.person(role, { password: true })
    const { secret } = await app.services.people.signIn({ email, password: PASSWORD, address: '::1' })
    const { uid } = await app.services.people.getUser(email)
    return { email, id: uid, token: await app.token('svc', email), session: `tally_session=${secret}` }
  }

  beforeAll(async () => {
    db = await open({ serving: true })
    app = await startApp({ db, clock: { now: () => now } })
    for (const [name, role] of [
      ['admin', 'admin'],
      ['billing', 'billing'],
      ['ada', 'member'],
      ['grace', 'member'],
    ] as const) {
      people[name] = await add(role)
    }
  })
  afterAll(() => app.close())

  const put = ({ token }: Pick<Somebody, 'token'>, json: unknown) =>
    app.call('PUT /api/v1/agent-status', { token, json })
  const get = async ({ session }: Pick<Somebody, 'session'>, query = ''): Promise<AgentStatus[]> => {
    const { status, json } = await app.call(`GET /api/v1/agent-status?limit=1000${query}`, { session })
    expect(status).toBe(200)
    return json.data
  }
  const clear = () => db.write(async (tx) => void (await tx.delete(tx.tables.agentStatuses)))

  test('is what each machine reported last, and nobody sees or changes that of others', async () => {
    const step = fc.record({
      who: fc.constantFrom('admin', 'billing', 'ada', 'grace'),
      machine: fc.constantFrom(MACHINE, '00000000000000bb'),
      agents: fc.uniqueArray(
        fc.record({
          agent_harness: fc.constantFrom('codex', 'opencode', 'claude-code'),
          version: fc.option(fc.constantFrom('1.0', '2.0.3')),
          sessions: fc.nat(50),
          not_read: fc.array(
            fc.record({
              reason: fc.constantFrom(...NOT_READ_REASONS),
              name: fc.option(fc.constantFrom('session_v3', 'usage.new')),
              count: fc.integer({ min: 1, max: 99 }),
            }),
            { maxLength: 2 },
          ),
        }),
        { selector: ({ agent_harness }) => agent_harness, maxLength: 3 },
      ),
    })
    const property = fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 6 }), async (steps) => {
      await clear()
      const expected = new Map<string, object>()
      for (const { who, machine, agents } of steps) {
        const { status } = await put(people[who]!, reportOf({ machine, agents }))
        expect(status).toBe(204)
        for (const each of agents) {
          expected.set(`${people[who]!.id} ${machine} ${each.agent_harness}`, { machine, ...each })
        }
      }
      for (const [name, somebody] of Object.entries(people)) {
        const seen = await get(somebody)
        const keyed = new Map(
          seen.map(({ user, tally_version: _, reported_at: __, ...rest }) => [
            `${user.id} ${rest.machine} ${rest.agent_harness}`,
            rest as object,
          ]),
        )
        const visible = [...expected].filter(([key]) => name === 'admin' || key.startsWith(somebody.id))
        expect(keyed).toEqual(new Map(visible))
        // A filter shows no more.
        for (const other of Object.values(people)) {
          const whose = new Set((await get(somebody, `&user=${other.id}`)).map(({ user }) => user.id))
          const allowed = name === 'admin' || other === somebody ? [other.id] : []
          expect([...whose].filter((id) => !allowed.includes(id))).toEqual([])
        }
        const unread = await get(somebody, '&reads_all=false')
        expect(unread.length).toBe(seen.filter(({ not_read }) => not_read.length > 0).length)
        const { json } = await app.call('GET /api/v1/inbox', { session: somebody.session })
        const item = json.data.find(({ kind }: { kind: string }) => kind === 'unread_agents')
        const own = unread.filter(({ user }) => user.id === somebody.id)
        expect(item?.count ?? 0).toBe(own.length)
        if (item) expect((await app.call(`GET ${item.list}`, { session: somebody.session })).json.data).toEqual(own)
      }
    })
    await fc.assert(property, { numRuns: runs(60, 8) })
  })

  test('is taken with service tokens alone, and shown to people', async () => {
    const { ada } = people
    await app.services.organization.changeSettings({ apiTokens: true }, TALLY)
    for (const kind of ['read', 'org', 'api'] as const) {
      const token = await app.token(kind, kind === 'read' ? ada!.email : undefined, {
        ...(kind === 'api' && { scopes: ['telemetry:read'] }),
      })
      expect((await put({ token }, reportOf())).status).toBe(403)
      expect((await app.call('GET /api/v1/agent-status', { token })).status).toBe(403)
    }
    expect((await app.call('GET /api/v1/agent-status', { token: ada!.token })).status).toBe(403)
    expect((await app.call('PUT /api/v1/agent-status', { session: ada!.session, json: reportOf() })).status).toBe(403)
    expect((await app.call('PUT /api/v1/agent-status', { json: reportOf() })).status).toBe(401)
  })

  test('has no room for paths, addresses or sentences', async () => {
    const texts = [
      ...['/home/ada/secret', '~/secret', 'C:\\Users\\Ada', '..', 'a b', 'a/b', 'ada@example.com', ''],
      ...['x'.repeat(65), 'line\nbreak', '‮', 'файл', '{}'],
    ]
    const bodies = texts.flatMap((text): unknown[] => [
      reportOf({ machine: text }),
      reportOf({ tally_version: text }),
      reportOf({ agents: [agent(text)] }),
      reportOf({ agents: [{ ...agent('codex'), version: text }] }),
      reportOf({ agents: [agent('codex', [{ ...UNREAD[0], name: text }])] }),
      reportOf({ agents: [agent('codex', [{ ...UNREAD[0], reason: text as 'unknown_file' }])] }),
      { ...reportOf(), note: text },
    ])
    const wrong = [
      ...bodies,
      reportOf({ agents: [agent('codex', [{ ...UNREAD[0], count: 0 }])] }),
      reportOf({ agents: [agent('codex', [{ ...UNREAD[0], count: 1.5 }])] }),
      reportOf({ agents: [agent('codex', new Array(51).fill(UNREAD[0]))] }),
      reportOf({ agents: Array.from({ length: 51 }, (_, at) => agent(`agent-${at}`)) }),
      reportOf({ agents: [agent('codex'), agent('opencode'), agent('codex')] }),
    ]
    await clear()
    for (const body of wrong) expect([body, (await put(people.ada!, body)).status]).toEqual([body, 422])
    expect(await get(people.admin!)).toEqual([])
  })

  test('keeps what was reported last of many machines, and takes no place from others', async () => {
    await clear()
    await put(people.grace!, reportOf({ agents: [agent('codex', [...UNREAD])] }))
    await put(people.ada!, reportOf({ agents: [agent('codex', [...UNREAD])] }))
    const machines = Array.from({ length: 8 }, (_, at) => at.toString(16).padStart(16, '0'))
    for (const machine of machines) {
      now += 1_000
      await put(people.ada!, reportOf({ machine, agents: Array.from({ length: 30 }, (_, at) => agent(`agent-${at}`)) }))
    }
    const own = await get(people.ada!)
    expect(own).toHaveLength(200)
    expect(own.filter(({ machine }) => machine === machines.at(-1))).toHaveLength(30)
    expect(own.filter(({ machine }) => machine === machines[0])).toHaveLength(0)
    expect(own.filter(({ machine }) => machine === MACHINE)).toHaveLength(1)
    expect(await get(people.grace!)).toHaveLength(1)
  })

  test('is complete and within the limit if many machines report at once', async () => {
    await clear()
    const machines = Array.from({ length: 20 }, (_, at) => at.toString(16).padStart(16, '0'))
    const sent = await Promise.all(
      machines.flatMap((machine) =>
        ['codex', 'opencode', 'codex'].map((harness) =>
          put(people.ada!, reportOf({ machine, agents: [agent(harness), agent('gemini-cli')] })),
        ),
      ),
    )
    expect(new Set(sent.map(({ status }) => status))).toEqual(new Set([204]))
    expect(await get(people.ada!)).toHaveLength(60)
  })

  test('is forgotten when a machine is silent for long, with a disabled person hidden, and with an erased one gone', async () => {
    await clear()
    // Signed-in people would have to sign in again by then.
    const everyones = async () =>
      (await app.services.agentStatus.list({ person: null }, {}, { after: undefined, limit: 100 })).data
    await put(people.ada!, reportOf())
    now += 60 * DAY
    await put(people.grace!, reportOf({ agents: [agent('opencode', [...UNREAD])] }))
    now += 31 * DAY
    const jobs = runJobs(app.services.agentStatus.jobs)
    while ((await everyones()).length > 1) await Bun.sleep(5)
    await jobs.stop()
    const late = await add('member')
    await put(late, reportOf({ agents: [agent('opencode', [...UNREAD])] }))
    expect((await everyones()).map(({ user }) => user.email)).toEqual([late.email, people.grace!.email])
    expect(await app.services.agentStatus.countUnread(null)).toBe(2)
    await app.services.people.disableUser(late.email, TALLY)
    expect((await everyones()).map(({ user }) => user.email)).toEqual([people.grace!.email])
    expect(await app.services.agentStatus.countUnread(null)).toBe(1)
    await app.services.people.enableUser(late.email, TALLY)
    const { id } = await app.services.people.getUser(late.email)
    await app.services.personalData.erasure.erase(late.email, [], TALLY)
    expect(await db.read.select().from(db.read.tables.agentStatuses)).toHaveLength(1)
    // A call that was on its way.
    await app.services.agentStatus.report(id, reportOf())
    expect(await db.read.select().from(db.read.tables.agentStatuses)).toHaveLength(1)
  })
})
