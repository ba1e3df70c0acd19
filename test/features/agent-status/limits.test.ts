/** How much of the limits of plans people use: whose it is, who sees it, what of an hour is kept, and for how long. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import fc from 'fast-check'
import { TALLY } from '../../../src/access/actor.ts'
import type { Database } from '../../../src/database/database.ts'
import { projectionOf } from '../../../src/features/agent-status/projection.ts'
import type { LimitReading, LimitUse } from '../../../src/features/agent-status/schema.ts'
import { PASSWORD, startApp, type TestApp } from '../../support/app.ts'
import { forEachEngine } from '../../support/databases.ts'
import { runJobs } from '../../support/jobs.ts'
import { runs } from '../../support/tier.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const START = Date.parse('2026-11-20T12:00:00Z')

forEachEngine('the limits of plans', (open) => {
  let db: Database
  let app: TestApp
  let now = START
  const tokens: Record<string, string> = {}
  const sessions: Record<string, string> = {}
  const emails: Record<string, string> = {}

  beforeAll(async () => {
    db = await open({ serving: true })
    app = await startApp({ db, clock: { now: () => now } })
    for (const [name, role] of [
      ['admin', 'admin'],
      ['billing', 'billing'],
      ['ada', 'member'],
      ['grace', 'member'],
      ['eve', 'viewer'],
    ] as const) {
      emails[name] = await app.person(role, { password: true })
      const { secret } = await app.services.people.signIn({ email: emails[name]!, password: PASSWORD, address: '::1' })
      sessions[name] = `tally_session=${secret}`
      if (role !== 'viewer') tokens[name] = await app.token('svc', emails[name])
    }
  })
  afterAll(() => app.close())
  beforeEach(async () => {
    now = START
    await db.write(async (tx) => void (await tx.delete(tx.tables.limitReadings)))
  })

  const put = (name: string, limits: LimitReading[], { machine = 'aa', agent = 'codex' } = {}) =>
    app.call('PUT /api/v1/agent-status', {
      token: tokens[name]!,
      json: {
        machine: machine.padStart(16, '0'),
        tally_version: '1.4.0',
        agents: [{ agent_harness: agent, version: null, sessions: 1, not_read: [], limits }],
      },
    })
  const limit = (used_percent: number, more: Partial<LimitReading> = {}): LimitReading => ({
    ...{ name: 'codex', window_minutes: 300, used_percent },
    ...more,
  })
  const report = async (name: string, query = '') => {
    const { status, json } = await app.call(`GET /api/v1/reports/limits${query}`, { session: sessions[name]! })
    expect([name, query, status]).toEqual([name, query, 200])
    return json
  }
  const list = async (name: string, query = ''): Promise<LimitUse[]> => (await report(name, query)).data
  const at = (moment: number) => new Date(moment).toISOString()
  const count = async () => (await db.read.select().from(db.read.tables.limitReadings)).length
  /** The rows that are left when the jobs have run, at the latest when there are as many as expected. */
  async function afterCleanUp(expected: number): Promise<number> {
    const cleanUp = app.services.agentStatus.jobs
    const jobs = runJobs(cleanUp)
    while ((await count()) > expected) await Bun.sleep(5)
    await jobs.stop()
    return count()
  }

  test('are kept by the hour of the server: the highest of it, and the latest', async () => {
    const resets_at = at(now + 4 * HOUR)
    await put('ada', [limit(30, { resets_at, plan: 'codex:pro', credits_left: 12.123456789 })])
    now += 10 * 60_000
    await put('ada', [limit(41.256, { resets_at, plan: 'codex:pro', credits_left: 0.1 })])
    // Another machine has seen less of the same window, and one more a window before it.
    now += 60_000
    await put('ada', [limit(35, { resets_at: at(Date.parse(resets_at) + 30_000) })], { machine: 'bb' })
    await put('ada', [limit(95, { resets_at: at(now - 1) })], { machine: 'cc' })
    const [use, ...others] = await list('ada')
    expect(others).toEqual([])
    expect(use).toMatchObject({
      user: { name: expect.any(String) },
      ...{ agent_harness: 'codex', name: 'codex', window_minutes: 300 },
      latest: { used_percent: 41.26, read_at: at(now) },
      days: [{ day: '2026-11-20', highest_percent: 95 }],
    })
    now += HOUR
    await put('ada', [limit(50, { resets_at })])
    now += DAY
    // The window has begun again.
    await put('ada', [limit(3, { resets_at: at(now + 4.5 * HOUR), credits_left: 3 })])
    expect(await list('ada')).toMatchObject([
      {
        latest: { used_percent: 3, credits_left: 3 },
        projection: { used_percent: 30, reaches_limit: false, reaches_at: null },
        days: [{ highest_percent: 95 }, { day: '2026-11-21', highest_percent: 3 }],
      },
    ])
    expect(await list('ada', '?from=2026-11-20&to=2026-11-20')).toMatchObject([{ latest: { used_percent: 50 } }])
    expect(await list('ada', '?to=2026-11-19')).toEqual([])
    expect(await count()).toBe(3)
  })

  test('belong to the person whose token reports them, and are seen by them and by who sees everything', async () => {
    const step = fc.record({
      who: fc.constantFrom('admin', 'billing', 'ada', 'grace'),
      agent: fc.constantFrom('codex', 'claude-code'),
      name: fc.constantFrom('five_hour', 'seven_day'),
      used: fc.nat(200),
    })
    const property = fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
      await db.write(async (tx) => void (await tx.delete(tx.tables.limitReadings)))
      const highest = new Map<string, number>()
      for (const { who, agent, name, used } of steps) {
        expect((await put(who, [limit(used, { name })], { agent })).status).toBe(204)
        const key = `${who} ${agent} ${name}`
        highest.set(key, Math.max(highest.get(key) ?? 0, used))
      }
      const nameOf = Object.fromEntries(
        await Promise.all(
          Object.entries(emails).map(async ([name, email]) => [(await app.services.people.getUser(email)).uid, name]),
        ),
      )
      for (const name of Object.keys(tokens).filter((name) => sessions[name])) {
        const seesAll = name === 'admin' || name === 'billing'
        const visible = [...highest].filter(([key]) => seesAll || key.startsWith(`${name} `))
        const body = await report(name)
        const seen = body.data.map((use: LimitUse) => [
          `${nameOf[use.user.id]} ${use.agent_harness} ${use.name}`,
          use.days[0]!.highest_percent,
        ])
        expect(seen.sort()).toEqual(visible.sort())
        expect(body.limits).toBe(visible.length)
        expect(body.left_out).toBe(0)
        const filtered = await list(name, `?user=${emails.ada}&agent_harness=codex`)
        const allowed = visible.filter(([key]) => key.startsWith('ada codex '))
        expect(filtered).toHaveLength(allowed.length)
      }
    })
    await fc.assert(property, { numRuns: runs(40, 6) })
  })

  test('are not for people with the role viewer', async () => {
    expect((await app.call('GET /api/v1/reports/limits', { session: sessions.eve! })).status).toBe(403)
  })

  test('of an agent are at most 20 with strict fields, and a status without them is one as before', async () => {
    const many = Array.from({ length: 21 }, (_, index) => limit(1, { name: `limit_${index}` }))
    expect((await put('ada', many)).status).toBe(422)
    for (const wrong of [
      { used_percent: -1 },
      { used_percent: 1_001 },
      { window_minutes: 0 },
      { window_minutes: 1.5 },
      { name: 'a path/with spaces' },
      { resets_at: 'tomorrow' },
      { plan: 'Some text\n' },
      { credits_left: -0.1 },
      { more: true },
    ]) {
      expect([wrong, (await put('ada', [limit(1, wrong as object)])).status]).toEqual([wrong, 422])
    }
    expect(await list('ada')).toEqual([])
    expect((await app.call('GET /api/v1/reports/limits?from=2020-01-01', { session: sessions.ada! })).status).toBe(422)
    expect((await app.call('GET /api/v1/reports/limits?to=x', { session: sessions.ada! })).status).toBe(422)
  })

  test('of a person are those read last, and end after 400 days: nobody fills the table', async () => {
    for (let round = 0; round < 4; round += 1) {
      now += HOUR
      await put(
        'ada',
        Array.from({ length: 20 }, (_, index) => limit(1, { name: `limit_${20 * round + index}` })),
      )
    }
    const names = (await list('ada')).map(({ name }) => Number(name.slice('limit_'.length)))
    expect(names.sort((one, other) => one - other)).toEqual(Array.from({ length: 40 }, (_, index) => 40 + index))
    // However often and from however many machines: one row an hour of each.
    for (let times = 0; times < 5; times += 1)
      await put('ada', [limit(times, { name: 'limit_79' })], { machine: `${times}` })
    expect(await count()).toBe(40)
    await put('grace', [limit(5)])
    now += 399 * DAY
    await put('grace', [limit(6)])
    expect(await afterCleanUp(42)).toBe(42)
    now += 2 * DAY
    expect(await afterCleanUp(1)).toBe(1)
  })

  test('go with the person when they are erased', async () => {
    const email = await app.person('member')
    const token = await app.token('svc', email)
    tokens.gone = token
    await put('gone', [limit(5)])
    await put('grace', [limit(6)])
    const { uid } = await app.services.people.getUser(email)
    const exported = await app.call(`GET /api/v1/users/${uid}/export`, { session: sessions.admin! })
    expect(exported.json.limit_readings).toMatchObject([{ name: 'codex', used_percent: 5, credits_left: null }])
    await app.services.personalData.erasure.erase(email, [], TALLY)
    expect(await count()).toBe(1)
    expect((await list('admin')).map(({ latest }) => latest.used_percent)).toEqual([6])
  })

  test('that are reached first are listed first', async () => {
    const window = { window_minutes: 100, resets_at: at(now + 50 * 60_000) }
    await put('ada', [
      limit(20, { name: 'calm', ...window }),
      limit(10, { name: 'unknown', window_minutes: 100 }),
      limit(60, { name: 'soon', ...window }),
      limit(100, { name: 'reached', ...window }),
      limit(50, { name: 'just', ...window }),
      limit(90, { name: 'over', window_minutes: 100, resets_at: at(now - 1) }),
    ])
    const uses = await list('ada')
    expect(uses.map(({ name, projection }) => [name, projection?.used_percent, projection?.reaches_at])).toEqual([
      ['reached', 100, null],
      ['soon', 120, at(now + Math.round((40 / 60) * 50 * 60_000))],
      ['just', 100, at(now + 50 * 60_000)],
      ['calm', 40, null],
      ['unknown', undefined, undefined],
      ['over', undefined, undefined],
    ])
  })
})

test('a projection is what is used by the elapsed part of the window', () => {
  const at = (elapsed: number, used: number) =>
    projectionOf({ used: used * 100, readAt: elapsed * 60_000, resetsAt: 300 * 60_000, windowMinutes: 300 }, 0)
  expect(at(150, 40)).toEqual({ used: 8_000, reachesLimit: false, reachesAt: null })
  expect(at(75, 40)).toEqual({ used: 16_000, reachesLimit: true, reachesAt: 187.5 * 60_000 })
  // Too early, unless nothing is left.
  expect(at(14, 40)).toBeNull()
  expect(at(14, 100)).toEqual({ used: 10_000, reachesLimit: true, reachesAt: null })
  fc.assert(
    fc.property(fc.integer({ min: 15, max: 300 }), fc.integer({ min: 1, max: 99 }), (elapsed, used) => {
      const found = at(elapsed, used)!
      expect(found.reachesLimit).toBe(Math.round((used * 100 * 300) / elapsed) >= 10_000)
      if (found.reachesAt !== null) expect(found.reachesAt).toBeLessThanOrEqual(300 * 60_000 + 60_000)
    }),
  )
})
