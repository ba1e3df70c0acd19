import { expect, test } from 'bun:test'
import type { Database } from '../../src/database/database.ts'
import { EVERYTHING } from '../../src/database/visibility.ts'
import { TALLY } from '../../src/features/audit/service.ts'
import { readListQuery, type TokenEntry } from '../../src/features/entries/service.ts'
import type { CallerOf } from '../../src/features/people/service.ts'
import { createServices } from '../../src/services.ts'
import agents from '../fixtures/agents/expected.json' with { type: 'json' }
import protobuf from '../fixtures/agents-protobuf/expected.json' with { type: 'json' }
import cases from '../fixtures/cases/telemetry-expected.json' with { type: 'json' }
import { forEachEngine } from '../support/databases.ts'
import type { Capture } from '../support/telemetry.ts'
import { capturesIn, type Expected, readOf } from '../support/telemetry.ts'

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
    addUser,
    callerFor,
    organization,
    later: (ms: number) => {
      now += ms
    },
    push: (capture: Capture, caller: Parameters<typeof telemetry.receive>[0] = organization) =>
      telemetry.receive(caller, readOf(capture)),
    async listed(): Promise<TokenEntry[]> {
      const { data } = await entries.listEntries(EVERYTHING, readListQuery({ limit: '500' }))
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
    const set = await stage(await open())
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
