import { expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { TALLY } from '../../../src/access/actor.ts'
import type { CallerOf } from '../../../src/access/caller.ts'
import { EVERYTHING } from '../../../src/access/visibility.ts'
import type { Database } from '../../../src/database/database.ts'
import { readListQuery } from '../../../src/features/entries/listing/query.ts'
import type { TokenEntry } from '../../../src/features/entries/schema.ts'
import { combine, type ReadResult } from '../../../src/features/telemetry/channels/reader.ts'
import type { Signal } from '../../../src/features/telemetry/signals.ts'
import { createServices } from '../../../src/services.ts'
import agents from '../../fixtures/agents/expected.json' with { type: 'json' }
import protobuf from '../../fixtures/agents-protobuf/expected.json' with { type: 'json' }
import cases from '../../fixtures/cases/telemetry-expected.json' with { type: 'json' }
import { forEachEngine } from '../../support/databases.ts'
import { runJobs } from '../../support/jobs.ts'
import { until } from '../../support/processes.ts'
import { OPERATOR } from '../../support/reports.ts'
import type { Capture } from '../../support/telemetry.ts'
import { capturesIn, type Expected, readOf, readSignals } from '../../support/telemetry.ts'

const NOW = Date.UTC(2026, 10, 20, 19, 30)

async function stage(db: Database) {
  let now = NOW
  const services = createServices({ db, clock: { now: () => now } })
  await services.prices.loadDefaultPrices()
  const { people, entries, telemetry } = services
  const addUser = (email: string) => people.addUser({ email, name: email, role: 'admin' }, TALLY)
  const callerFor = async <Kind extends 'svc' | 'org'>(kind: Kind, email: string) => {
    if (!(await people.findUser(email))) await addUser(email)
    const { secret } = await people.createToken({ kind, user: email, name: kind }, TALLY)
    return people.authenticate(`Bearer ${secret}`) as Promise<CallerOf<Kind extends 'svc' ? 'service' : 'organization'>>
  }
  const organization = await callerFor('org', 'admin@example.com')
  return {
    ...services,
    settings: services.organization,
    addUser,
    callerFor,
    organization,
    later: (ms: number) => {
      now += ms
    },
    push: (capture: Capture, caller: Parameters<typeof telemetry.receive>[0] = organization) =>
      telemetry.receive(caller, readOf(capture)),
    async listed(): Promise<TokenEntry[]> {
      const { data } = await entries.listing.listEntries(EVERYTHING, readListQuery({ limit: '500' }, 'UTC'))
      return data
    },
  }
}

type Stage = Awaited<ReturnType<typeof stage>>

/** Entries in the form of the expected figures. */
async function figures({ listed }: Pick<Stage, 'listed'>): Promise<Expected[]> {
  const entries = await listed()
  return entries
    .map(({ agent_harness, session_id, model, requests, tokens, reported_cost }) => ({
      agent_harness,
      session_id: session_id!,
      model,
      requests: requests!,
      input: tokens.input,
      output: tokens.output,
      cache_read: tokens.cache_read,
      cache_write: tokens.cache_write,
      cache_write_1h: tokens.cache_write_1h,
      ...(reported_cost === null ? {} : { reported_cost_otlp: reported_cost }),
    }))
    .sort(byName)
}

function byName(a: Expected, b: Expected): number {
  return `${a.session_id} ${a.model}` < `${b.session_id} ${b.model}` ? -1 : 1
}

/** What the captures can tell: that version of Claude Code does not split what it wrote into the cache. */
function tellable(expected: readonly Expected[]): Expected[] {
  return expected
    .map((each) => ({ ...each, cache_write: each.cache_write + each.cache_write_1h, cache_write_1h: 0 }))
    .sort(byName)
}

/** Without the number of requests, which no metric tells. */
const withoutRequests = (rows: Expected[]) => rows.map(({ requests: _, ...row }) => row)
const withoutCost = (rows: Expected[]) => rows.map(({ reported_cost_otlp: _, ...row }) => row)

const JSON_CAPTURES = capturesIn('agents')
const PROTOBUF_CAPTURES = capturesIn('agents-protobuf')
const ofKind = (kind: Capture['kind']) => (capture: Capture) => capture.kind === kind

forEachEngine('captures of real agents', (open) => {
  const pushed = async (captures: Capture[]) => {
    const set = await stage(await open({ priced: true }))
    for (const capture of captures) expect(await set.push(capture)).toEqual({ rejected: 0, message: null })
    return set
  }

  test('give the figures that the agents were served, in the order sent', async () => {
    const set = await pushed(JSON_CAPTURES)
    expect(await figures(set)).toEqual(tellable(agents))
    const { organization } = set
    for (const entry of await set.listed()) {
      expect(entry).toMatchObject({
        source: 'log',
        agent_manager: { id: organization.person.uid },
        manager_by: 'token',
        status: 'submitted',
        superseded: false,
      })
    }
  })

  test('give the same figures backwards, twice, and with JSON and Protocol Buffers mixed', async () => {
    const mixed = [...JSON_CAPTURES, ...PROTOBUF_CAPTURES]
    const set = await pushed([...mixed.toReversed(), ...mixed])
    expect(withoutCost(await figures(set))).toEqual(withoutCost(tellable([...agents, ...protobuf])))
  })

  test('give the same figures from logs alone', async () => {
    const set = await pushed(JSON_CAPTURES.filter(ofKind('logs')).toReversed())
    expect(await figures(set)).toEqual(tellable(agents))
  })

  test('give the same figures from metrics alone, where metrics name their session', async () => {
    const set = await pushed(JSON_CAPTURES.filter(ofKind('metrics')).toReversed())
    const named = agents.filter(({ agent_harness }) => agent_harness !== 'codex')
    expect(withoutRequests(await figures(set))).toEqual(withoutRequests(tellable(named)))
    for (const { source } of await set.listed()) expect(source).toBe('metric')
  })

  test('give the figures of each case', async () => {
    for (const { case: name, ...expected } of cases.sessions) {
      const captures = capturesIn(`cases/${name}`)
      const set = await pushed([...captures.toReversed(), ...captures])
      expect(await figures(set)).toEqual([expected])
    }
  })

  test('name the project and the labels that were set for them', async () => {
    const set = await pushed(JSON_CAPTURES)
    const [claude] = (await set.listed()).filter(({ agent_harness }) => agent_harness === 'claude-code')
    expect(claude).toMatchObject({ project: { key: 'acme-web' }, labels: { team: 'core' }, agent_name: 'claude-code' })
    for (const { labels, agent_harness } of await set.listed()) {
      if (agent_harness !== 'claude-code') expect(labels).toEqual({})
    }
  })
})

const CALL = { 'session.id': 's-1', model: 'claude-sonnet-5', input_tokens: 100, output_tokens: 10 }

interface Call {
  session?: string
  model?: string
  input?: number
  output?: number
  request?: string
  email?: string
  /** Seconds after 10 o'clock. */
  at?: number
  cost?: number
  speed?: string
  resource?: Record<string, string>
}

const TEN = BigInt(Date.UTC(2026, 10, 20, 10)) * 1_000_000n

/** What a request with calls of Claude Code brings. */
function logs(...calls: Call[]): ReadResult {
  const signals = calls.map(
    ({
      session = 's-1',
      model = CALL.model,
      input = 100,
      output = 10,
      request,
      email,
      at = 0,
      cost,
      speed,
      resource = {},
    }): Signal => ({
      kind: 'log',
      resource: new Map(Object.entries({ 'service.name': 'claude-code', ...resource })),
      scope: 'com.anthropic.claude_code.events',
      eventName: 'api_request',
      timeNanos: TEN + BigInt(at) * 1_000_000_000n,
      attributes: new Map<string, string | number>(
        Object.entries({
          'session.id': session,
          model,
          input_tokens: input,
          output_tokens: output,
          request_id: request ?? `${session} ${at} ${output}`,
          ...(email === undefined ? {} : { 'user.email': email }),
          ...(cost === undefined ? {} : { cost_usd: cost }),
          ...(speed === undefined ? {} : { speed }),
        }),
      ),
    }),
  )
  return combine(
    { records: signals.length, ignored: new Map(), rejected: 0, rejectionReason: null },
    readSignals(signals),
  )
}

/** The cumulative metric of a session so far. */
function metrics({ session = 's-1', model = CALL.model, input = 0, output = 0, at = 0 }: Call): ReadResult {
  const counts = { input, output }
  const signals = Object.entries(counts).map(
    ([type, value]): Signal => ({
      kind: 'point',
      resource: new Map([['service.name', 'claude-code']]),
      scope: 'com.anthropic.claude_code',
      metric: 'claude_code.token.usage',
      stream: type.padEnd(32, '0'),
      temporality: 'cumulative',
      startNanos: TEN,
      timeNanos: TEN + BigInt(at) * 1_000_000_000n,
      value,
      attributes: new Map(Object.entries({ 'session.id': session, model, type })),
    }),
  )
  return combine({ records: 2, ignored: new Map(), rejected: 0, rejectionReason: null }, readSignals(signals))
}

const reportBody = (output: number, more: object = {}) => ({
  agent_harness: 'claude-code',
  agent_name: 'claude-code',
  model: CALL.model,
  started_at: '2026-11-20T10:00:00Z',
  ended_at: '2026-11-20T10:10:00Z',
  tokens: { input: 100, output },
  session_id: 's-1',
  ...more,
})

/** Whose, source, output and part of every entry. */
async function shown({ listed }: Pick<Stage, 'listed'>): Promise<string[]> {
  const entries = await listed()
  return entries
    .map(
      ({ agent_manager, manager_by, source, model, tokens, part, superseded }) =>
        `${agent_manager.name.split('@')[0]} ${manager_by} ${source} ${model} ${tokens.output} ${part}${superseded ? ' superseded' : ''}`,
    )
    .sort()
}

forEachEngine('a session that telemetry brings', (open) => {
  test('goes on where it was after a restart, and counts nothing again', async () => {
    const db = await open({ priced: true })
    const { organization, telemetry, listed } = await stage(db)
    await telemetry.receive(organization, logs({ output: 10 }))
    await telemetry.receive(organization, metrics({ output: 8, at: 1 }))
    const restarted = createServices({ db, clock: { now: () => NOW } }).telemetry
    await restarted.receive(organization, logs({ output: 10 }, { output: 5, at: 7 }))
    await restarted.receive(organization, metrics({ output: 14, at: 8 }))
    expect(await shown({ listed })).toEqual(['admin token log claude-sonnet-5 15 1'])
    expect((await listed())[0]).toMatchObject({
      requests: 2,
      started_at: '2026-11-20T10:00:00.000Z',
      ended_at: '2026-11-20T10:00:07.000Z',
    })
  })

  test('has an entry per model, and is supplied by one source for all of them', async () => {
    const { organization, telemetry, listed } = await stage(await open({ priced: true }))
    await telemetry.receive(organization, logs({ output: 10 }, { output: 3, model: 'claude-haiku-4-5', at: 1 }))
    await telemetry.receive(organization, metrics({ output: 50, at: 2 }))
    expect(await shown({ listed })).toEqual([
      'admin token log claude-haiku-4-5 0 1 superseded',
      'admin token metric claude-sonnet-5 50 1',
    ])
  })

  test('belongs to who reported it with a service token, also what comes later', async () => {
    const { callerFor, organization, telemetry, entries, listed } = await stage(await open({ priced: true }))
    const ada = await callerFor('svc', 'ada@example.com')
    await telemetry.receive(organization, logs({ output: 10 }))
    await entries.reporting.reportEntry(reportBody(10), ada)
    expect(await shown({ listed })).toEqual(['ada token report claude-sonnet-5 10 1'])
    await telemetry.receive(
      organization,
      logs({ output: 15, at: 5 }, { output: 4, model: 'claude-haiku-4-5', at: 900 }),
    )
    expect(await shown({ listed })).toEqual([
      'ada token log claude-haiku-4-5 4 1',
      'ada token log claude-sonnet-5 25 1',
    ])
  })

  test('joins the session that was reported first, whoever owns it', async () => {
    const { callerFor, organization, telemetry, entries, listed } = await stage(await open({ priced: true }))
    const ada = await callerFor('svc', 'ada@example.com')
    await entries.reporting.reportEntry(reportBody(10), ada)
    await telemetry.receive(organization, logs({ output: 9 }, { output: 3, model: 'claude-haiku-4-5', at: 1 }))
    expect(await shown({ listed })).toEqual(['ada token log claude-haiku-4-5 3 1', 'ada token log claude-sonnet-5 9 1'])
  })

  test('joins the first of several that were reported, and counts nothing beside them', async () => {
    const { callerFor, organization, telemetry, entries, listed } = await stage(await open({ priced: true }))
    for (const person of ['ada@example.com', 'grace@example.com']) {
      await entries.reporting.reportEntry(reportBody(10), await callerFor('svc', person))
    }
    await telemetry.receive(organization, logs({ output: 15, at: 5 }))
    expect(await shown({ listed })).toEqual([
      'ada token log claude-sonnet-5 15 1',
      'grace token report claude-sonnet-5 10 1',
    ])
  })

  test('is the token’s creator’s, where it comes with a service token', async () => {
    const { callerFor, telemetry, listed } = await stage(await open({ priced: true }))
    await telemetry.receive(await callerFor('svc', 'ada@example.com'), logs({ email: 'grace@example.com' }))
    expect(await shown({ listed })).toEqual(['ada token log claude-sonnet-5 10 1'])
  })

  test('gets a new part behind one that is locked, and no less than what is locked', async () => {
    const { db, organization, telemetry, listed } = await stage(await open({ priced: true }))
    await telemetry.receive(organization, logs({ output: 10 }))
    await db.write(async (tx) => void (await tx.update(tx.tables.entries).set({ status: 'approved' })))
    await telemetry.receive(organization, logs({ output: 6, at: 3 }))
    expect(await shown({ listed })).toEqual([
      'admin token log claude-sonnet-5 10 1',
      'admin token log claude-sonnet-5 6 2',
    ])
    // The metric would win by its output, and has fewer input tokens than are locked.
    const answer = await telemetry.receive(organization, metrics({ input: 1, output: 40, at: 4 }))
    expect(answer).toEqual({ rejected: 0, message: null })
    expect((await shown({ listed }))[1]).toBe('admin token log claude-sonnet-5 6 2')
    expect((await telemetry.status()).channels.map(({ channel, shrunk }) => [channel, shrunk])).toContainEqual([
      'claude_code.token.usage',
      1,
    ])
    await telemetry.receive(organization, metrics({ input: 300, output: 41, at: 5 }))
    expect(await shown({ listed })).toEqual([
      'admin token log claude-sonnet-5 10 1',
      'admin token metric claude-sonnet-5 31 2',
    ])
  })

  test('is not placed by a name that a report could not give', async () => {
    const { organization, telemetry, listed, projects } = await stage(await open({ priced: true }))
    await telemetry.receive(
      organization,
      logs({ resource: { project: 'none', ticket: 'tkt_01a1fa172a0277f3983322718874f3e1' } }),
    )
    expect((await listed())[0]).toMatchObject({ project: null, ticket: null, placement: { by: 'unattributed' } })
    expect(await projects.projectRows(EVERYTHING).list({}, { after: undefined, limit: 9 })).toEqual([])
  })

  test('is placed by what its resource names, by rules, and where a person put it', async () => {
    const { organization, telemetry, listed, placement, projects } = await stage(await open({ priced: true }))
    const placed = async () => {
      const [entry] = await listed()
      return [entry!.project?.key ?? null, entry!.ticket?.key ?? null, entry!.placement.by]
    }
    await projects.addProject(OPERATOR, { key: 'inner' })
    await placement.addRule(TALLY, {
      name: 'core',
      conditions: [{ field: 'labels.team', matches: 'core' }],
      project: 'inner',
      ticket: null,
    })
    await telemetry.receive(organization, logs({ output: 1 }))
    expect(await placed()).toEqual([null, null, 'unattributed'])
    await telemetry.receive(organization, logs({ output: 2, at: 1, resource: { team: 'core' } }))
    expect(await placed()).toEqual(['inner', null, 'rule'])
    await telemetry.receive(
      organization,
      logs({ output: 3, at: 2, resource: { 'tally.ticket': 'ACME-7', project: 'acme' } }),
    )
    expect(await placed()).toEqual(['acme', 'ACME-7', 'named'])
  })

  test('costs what the agent says only where it says so of every call', async () => {
    const { organization, telemetry, listed } = await stage(await open({ priced: true }))
    await telemetry.receive(organization, logs({ output: 1, cost: 0.1 }, { output: 2, at: 1, cost: 0.2 }))
    expect((await listed())[0]).toMatchObject({ reported_cost: 0.3, cost: 0.3 })
    await telemetry.receive(organization, logs({ output: 3, at: 2, cost: 0 }))
    expect((await listed())[0]).toMatchObject({ reported_cost: null })
  })

  test('is not begun by a call from the future, which is told to its sender', async () => {
    const { organization, telemetry, listed } = await stage(await open({ priced: true }))
    const answer = await telemetry.receive(organization, logs({ at: 3 * 86_400 }, { output: 4 }))
    expect(answer).toEqual({ rejected: 1, message: expect.stringContaining('one day ahead of the server time') })
    expect(await shown({ listed })).toEqual(['admin token log claude-sonnet-5 4 1'])
    const { uncounted } = await telemetry.status()
    expect(uncounted).toMatchObject([{ kind: 'rejected', records: 1 }])
  })

  test('is forgotten call by call after a quiet week, and counts nothing again', async () => {
    const { db, organization, telemetry, listed, later } = await stage(await open({ priced: true }))
    await telemetry.receive(organization, logs({ output: 10, at: 60 }))
    const seen = () => db.read.select().from(db.read.tables.telemetrySeen)
    later(6 * 86_400_000)
    await telemetry.tidy()
    expect(await seen()).toHaveLength(1)
    later(2 * 86_400_000)
    await telemetry.tidy()
    expect(await seen()).toHaveLength(0)
    await telemetry.receive(organization, logs({ output: 10, at: 60 }, { output: 2, at: 59 }))
    expect(await shown({ listed })).toEqual(['admin token log claude-sonnet-5 10 1'])
    await telemetry.receive(organization, logs({ output: 3, at: 86_400 * 8 }))
    expect(await shown({ listed })).toEqual([
      'admin token log claude-sonnet-5 10 1',
      'admin token log claude-sonnet-5 3 2',
    ])
    later(8 * 86_400_000)
    await telemetry.tidy()
    expect(await seen()).toHaveLength(0)
    expect((await telemetry.status()).channels).toMatchObject([{ counted: 2, late: 2, repeated: 0, tokens: 213 }])
  })

  test('is valued by the length of each call, at every length where vendors change their prices', async () => {
    const { organization, telemetry, listed } = await stage(await open({ priced: true }))
    const model = 'gpt-5.4'
    await telemetry.receive(organization, logs({ model, input: 300_000 }, { model, input: 200_000, at: 1 }))
    await telemetry.receive(organization, logs({ model, input: 300_000, at: 2 }))
    const [entry] = await listed()
    // 2 × (300,000 × $5.00 + 10 × $22.50) and 200,000 × $2.50 + 10 × $15.00, each per million.
    expect(entry).toMatchObject({ requests: 3, list_value: 3.5006 })
    expect(JSON.stringify(entry)).not.toContain('tier_uncertain')
  })

  test('has an entry of its own for what ran at another speed, in any order and once', async () => {
    const fast = { speed: 'fast', output: 20 }
    const calls = [{}, { ...fast, at: 1 }, { speed: 'normal', at: 2 }, { ...fast, at: 3 }]
    for (const order of [calls, calls.toReversed()]) {
      const { organization, telemetry, listed } = await stage(await open({ priced: true }))
      for (const each of order) await telemetry.receive(organization, logs(each))
      await telemetry.receive(organization, logs(...calls))
      const told = (await listed()).map(({ speed, tokens, requests }) => [speed, tokens.output, requests])
      expect(told.sort()).toEqual([
        [null, 20, 2],
        ['fast', 40, 2],
      ])
      expect(await telemetry.verify()).toEqual([])
    }
  })

  test('is in the status of other processes soon after each push', async () => {
    const db = await open({ priced: true })
    const { organization, telemetry } = await stage(db)
    const { errors, stop } = runJobs(telemetry.jobs)
    const { telemetryChannels, telemetryPushes } = db.read.tables
    const stored = async () => [
      (await db.read.select().from(telemetryPushes))[0]?.requests,
      (await db.read.select().from(telemetryChannels))[0]?.counted,
    ]
    for (const count of [1, 2]) {
      await telemetry.receive(organization, logs({ output: count, at: count }))
      expect(await until(async () => (await stored()).every((each) => each === count))).toBe(true)
    }
    await stop()
    expect(errors).toEqual([])
  })

  test('in ever other versions does not fill what is shown of them, nor what is ignored what was rejected', async () => {
    const { organization, telemetry, listed } = await stage(await open({ priced: true }))
    for (let version = 0; version < 1_200; version += 400) {
      const calls = Array.from({ length: 400 }, (_, at) => ({
        at: version + at,
        resource: { 'service.version': `${version + at}` },
      }))
      await telemetry.receive(organization, {
        ...logs(...calls),
        ignored: new Map(Array.from({ length: 400 }, (_, name) => [`event-${version + name}`, 1])),
        rejections: new Map([['a reason', 1]]),
      })
    }
    const { channels, uncounted } = await telemetry.status()
    expect([channels.length, uncounted.length]).toEqual([500, 501])
    expect(uncounted).toContainEqual(expect.objectContaining({ what: 'a reason', records: 3 }))
    expect((await listed()).map(({ requests }) => requests)).toEqual([1_200])
  })

  test('of which many requests come at once, by two servers, adds up exactly', async () => {
    const db = await open({ priced: true })
    const { organization, telemetry, listed } = await stage(db)
    const second = createServices({ db, clock: { now: () => NOW } }).telemetry
    const requests = Array.from({ length: 8 }, (_, index) =>
      logs({ output: 1, at: index }, { output: 1, at: index + 1 }),
    )
    const answers = await Promise.all(
      requests.flatMap((one) => [telemetry, second].map((server) => server.receive(organization, one))),
    )
    expect(answers.every(({ rejected }) => rejected === 0)).toBe(true)
    expect(await shown({ listed })).toEqual(['admin token log claude-sonnet-5 9 1'])
  })

  test('at the very moment in which it is reported is one session', async () => {
    const { callerFor, organization, telemetry, entries, listed } = await stage(await open({ priced: true }))
    const ada = await callerFor('svc', 'ada@example.com')
    const sessions = Array.from({ length: 12 }, (_, index) => `s-${index}`)
    await Promise.all(
      sessions.flatMap((session) => [
        telemetry.receive(organization, logs({ output: 10, session })),
        entries.reporting.reportEntry(reportBody(10, { session_id: session }), ada),
      ]),
    )
    expect(await shown({ listed })).toEqual(sessions.map(() => 'ada token report claude-sonnet-5 10 1'))
  })
})

forEachEngine('telemetry by e-mail', (open) => {
  const byEmail = async (db: Database) => {
    const set = await stage(db)
    await set.settings.changeSettings({ telemetryByEmail: true }, TALLY)
    await set.addUser('ada@example.com')
    return set
  }

  test('is off: the address is neither followed nor kept', async () => {
    const { organization, telemetry, addUser, listed, db } = await stage(await open({ priced: true }))
    await addUser('ada@example.com')
    await telemetry.receive(organization, logs({ email: 'ada@example.com' }))
    expect(await shown({ listed })).toEqual(['admin token log claude-sonnet-5 10 1'])
    expect((await telemetry.status()).emails).toEqual([])
    expect(
      await db.read.select({ email: db.read.tables.telemetrySessions.email }).from(db.read.tables.telemetrySessions),
    ).toEqual([{ email: null }])
  })

  test('finds people by their address and by further ones, whatever the case, and says so', async () => {
    const { organization, telemetry, people, listed } = await byEmail(await open({ priced: true }))
    await people.setFurtherEmails('ada@example.com', ['Ada@users.example.com'], TALLY)
    await telemetry.receive(
      organization,
      logs({ email: 'ADA@example.com' }, { session: 's-2', email: 'ada@Users.example.com' }),
    )
    expect(await shown({ listed })).toEqual([
      'ada email log claude-sonnet-5 10 1',
      'ada email log claude-sonnet-5 10 1',
    ])
    await telemetry.receive(organization, metrics({ session: 's-2', output: 20, at: 1 }))
    expect((await shown({ listed })).at(-1)).toBe('ada email metric claude-sonnet-5 20 1')
  })

  test('finds nobody who is a viewer, and is not assigned to one', async () => {
    const { organization, telemetry, people, listed } = await byEmail(await open({ priced: true }))
    await people.changeUser('ada@example.com', { role: 'viewer' }, TALLY)
    await telemetry.receive(organization, logs({ email: 'ada@example.com' }))
    expect(await shown({ listed })).toEqual(['admin token log claude-sonnet-5 10 1'])
    const assigned = telemetry.assign({ email: 'ada@example.com', user: 'ada@example.com', dryRun: false, by: TALLY })
    expect(assigned).rejects.toThrow('viewers own no entries')
  })

  test('becomes certain by a report with a service token', async () => {
    const { organization, telemetry, callerFor, entries, listed } = await byEmail(await open({ priced: true }))
    await telemetry.receive(organization, logs({ email: 'ada@example.com' }))
    await entries.reporting.reportEntry(reportBody(10), await callerFor('svc', 'ada@example.com'))
    expect(await shown({ listed })).toEqual(['ada token report claude-sonnet-5 10 1'])
  })

  test('leaves what names nobody with the token’s creator until it is assigned', async () => {
    const { organization, telemetry, people, listed, entries, audit, db } = await byEmail(await open({ priced: true }))
    await telemetry.receive(
      organization,
      logs({ email: 'new@example.com' }, { email: 'new@example.com', session: 's-2', output: 20 }),
    )
    expect((await telemetry.status()).emails).toMatchObject([{ email: 'new@example.com', sessions: 2 }])
    await people.setFurtherEmails('ada@example.com', ['new@example.com'], TALLY)
    // Nothing moves silently, also not by what comes later of the same session.
    await telemetry.receive(organization, logs({ email: 'new@example.com', output: 5, at: 1 }))
    expect(await shown({ listed })).toEqual([
      'admin token log claude-sonnet-5 15 1',
      'admin token log claude-sonnet-5 20 1',
    ])
    await db.write(async (tx) => {
      const { entries: table } = tx.tables
      await tx.update(table).set({ status: 'approved' }).where(eq(table.output, 20))
    })
    const asked = { email: ' New@example.com', user: 'ada@example.com', by: TALLY }
    const planned = await telemetry.assign({ ...asked, dryRun: true })
    expect(planned).toMatchObject({ dry_run: true, sessions: 2, entries: 1, skipped: [], complete: true })
    expect(planned.locked).toMatchObject([{ status: 'approved' }])
    expect(await shown({ listed })).toEqual([
      'admin token log claude-sonnet-5 15 1',
      'admin token log claude-sonnet-5 20 1',
    ])
    expect(await telemetry.assign({ ...asked, dryRun: false })).toEqual({ ...planned, dry_run: false })
    expect(await shown({ listed })).toEqual([
      'ada email log claude-sonnet-5 15 1',
      'admin token log claude-sonnet-5 20 1',
    ])
    const moved = (await listed()).find(({ tokens }) => tokens.output === 15)!
    expect((await entries.listing.getHistory(moved.id, EVERYTHING)).data.at(-1)).toMatchObject({
      action: 'assigned',
      details: { because: 'telemetry_email' },
    })
    const [entry] = (await audit.listChanges({ filter: {}, limit: 1, after: undefined })).data
    expect(entry).toMatchObject({
      action: 'telemetry.assigned',
      after: { email: 'new@example.com', sessions: 2, entries: 1 },
    })
    expect((await telemetry.status()).emails).toEqual([])
    // What comes later follows, behind what is locked as well.
    await telemetry.receive(organization, logs({ email: 'new@example.com', session: 's-2', output: 7, at: 9 }))
    expect(await shown({ listed })).toContain('ada email log claude-sonnet-5 7 2')
    expect(await telemetry.assign({ ...asked, dryRun: false })).toMatchObject({ sessions: 0, skipped: [] })
  })

  test('assigns nothing that a service token has reported, and nothing to nobody', async () => {
    const { organization, telemetry, callerFor, entries, listed } = await byEmail(await open({ priced: true }))
    await telemetry.receive(organization, logs({ email: 'new@example.com' }))
    await entries.reporting.reportEntry(reportBody(10), await callerFor('svc', 'grace@example.com'))
    const asked = { email: 'new@example.com', user: 'ada@example.com', by: TALLY, dryRun: false }
    expect(await telemetry.assign(asked)).toMatchObject({
      sessions: 0,
      skipped: [{ agent_harness: 'claude-code', session_id: 's-1', reason: 'reported' }],
    })
    expect(await shown({ listed })).toEqual(['grace token report claude-sonnet-5 10 1'])
    await expect(telemetry.assign({ ...asked, user: 'who@example.com' })).rejects.toMatchObject({ code: 'not_found' })
    await expect(telemetry.assign({ ...asked, email: 'nobody' })).rejects.toMatchObject({ code: 'validation_failed' })
  })

  test('has no two people with one address', async () => {
    const { people, addUser } = await byEmail(await open({ priced: true }))
    await addUser('grace@example.com')
    const set = (who: string, emails: string[]) => people.setFurtherEmails(who, emails, TALLY)
    await set('ada@example.com', ['a@example.com'])
    await expect(set('grace@example.com', ['A@example.com'])).rejects.toMatchObject({ code: 'already_exists' })
    await expect(set('grace@example.com', ['ada@example.com'])).rejects.toMatchObject({ code: 'already_exists' })
    await expect(addUser('a@example.com')).rejects.toMatchObject({ code: 'already_exists' })
    await expect(people.changeUser('grace@example.com', { email: 'a@example.com' }, TALLY)).rejects.toMatchObject({
      code: 'already_exists',
    })
    // One's own further address may become the first.
    await people.changeUser('ada@example.com', { email: 'a@example.com' }, TALLY)
    expect((await people.getFurtherEmails('a@example.com')).emails).toEqual([])
    expect(
      (await people.changeFurtherEmails('grace@example.com', { add: ['ada@example.com'], remove: [] }, TALLY)).emails,
    ).toEqual(['ada@example.com'])
    const both = await Promise.allSettled([
      set('a@example.com', ['x@example.com']),
      set('grace@example.com', ['x@example.com']),
    ])
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  })
})
