import { expect, test } from 'bun:test'
import { TALLY } from '../../../../src/access/actor.ts'
import type { CallerOf } from '../../../../src/access/caller.ts'
import { EVERYTHING } from '../../../../src/access/visibility.ts'
import type { Database } from '../../../../src/database/database.ts'
import { SESSION_SOURCES, type SessionSource } from '../../../../src/database/schema/values.ts'
import { readListQuery } from '../../../../src/features/entries/listing/query.ts'
import { readReport } from '../../../../src/features/entries/reporting/report.ts'
import type { TokenEntry, TokenEntryReport } from '../../../../src/features/entries/schema.ts'
import { Random } from '../../../../src/lib/random.ts'
import { createServices } from '../../../../src/services.ts'
import { forEachEngine } from '../../../support/databases.ts'
import { OPERATOR } from '../../../support/reports.ts'

const NOW = Date.UTC(2026, 10, 20, 19, 30)
const MODELS = ['claude-sonnet-5', 'gpt-5-codex', 'local-model'] as const

/** What one source says of one model of a session at some time. */
interface Saying extends Partial<Omit<TokenEntryReport, 'session_id'>> {
  source: SessionSource
  /** The later of two that a source says of a model has the higher step. */
  step: number
  /** By a token of the organization, which identifies no one. */
  pushed?: boolean
}

async function stage(db: Database) {
  const services = createServices({ db, clock: { now: () => NOW } })
  const { people, projects, prices, placement, entries } = services
  for (const key of ['WEB', 'APP', 'OPS']) await projects.addProject(OPERATOR, { key, name: `Project ${key}` })
  await projects.addNewTicket(OPERATOR, { key: 'WEB-1', project: 'WEB' })
  await projects.addNewTicket(OPERATOR, { key: 'OPS-7', project: 'OPS' })
  const addPrice = (model: string, input: number, more: object = {}) =>
    prices.setPrice({ model, input, output: 5 * input, ...more, only: true, force: true } as never, TALLY)
  await addPrice('claude-sonnet-5', 3)
  await addPrice('claude-sonnet-5', 4, { effective_from: '2026-11-20' })
  await addPrice('claude-sonnet-5', 7, { provider: 'bedrock' })
  await addPrice('gpt-5-codex', 1)
  await placement.addRule(TALLY, {
    name: 'branches',
    conditions: [{ field: 'labels.branch', matches: 'ops/*' }],
    project: 'OPS',
  } as never)
  await placement.addRule(TALLY, {
    name: 'teams',
    conditions: [
      { field: 'labels.team', matches: 'web' },
      { field: 'provider', matches: 'anthropic' },
    ],
    project: 'WEB',
  } as never)
  await people.addUser({ email: 'ada@example.com', name: 'Ada', role: 'member' }, TALLY)
  await people.addUser({ email: 'root@example.com', name: 'Root', role: 'admin' }, TALLY)
  const callerOf = async (kind: 'svc' | 'org', user: string) => {
    const { secret } = await people.createToken({ kind, user, name: 'test' }, TALLY)
    return (await people.authenticate(`Bearer ${secret}`)) as CallerOf<'service' | 'organization'>
  }
  const [ada, organization] = [await callerOf('svc', 'ada@example.com'), await callerOf('org', 'root@example.com')]

  async function say(session_id: string, { source, step: _, pushed = false, ...said }: Saying) {
    const body = { agent_harness: 'codex', agent_name: 'codex', session_id, ...said } as TokenEntryReport
    const { entry } = await entries.reporting.recordFrom(source, readReport(body, NOW), pushed ? organization : ada)
    return entry.entry
  }

  /** Everything that counts of a session's entries, except for what identifies the rows. */
  async function shown(session: string): Promise<Partial<TokenEntry>[]> {
    const { data } = await entries.listing.listEntries(EVERYTHING, readListQuery({ session_id: [session] }, 'UTC'))
    return data
      .filter(({ superseded }) => !superseded)
      .map(({ id, session_id, continues, created_at, updated_at, possible_duplicate_of, ...entry }) => entry)
      .sort((a, b) => (a.model === b.model ? a.part! - b.part! : a.model < b.model ? -1 : 1))
  }

  return { services, say, shown }
}

function* permutationsOf<Item>(items: readonly Item[]): Generator<Item[]> {
  if (items.length === 0) yield []
  for (const [position, item] of items.entries()) {
    for (const others of permutationsOf(items.toSpliced(position, 1))) yield [item, ...others]
  }
}

/** Random statements: few counts, so that sources often agree, and every other field present or absent. */
function randomSayings(random: Random, count: number, pushes: boolean): Saying[] {
  const sayings: Saying[] = []
  while (sayings.length < count) {
    const source = random.pick(SESSION_SOURCES)
    const model = random.pick(MODELS)
    const step = sayings.filter((other) => other.source === source && other.model === model).length
    if (step > 1) continue
    const output = 500 * (1 + step)
    const tokens = random.pick([
      { input: 1000, output, cache_read: 50 },
      { input: 1000, output, cache_read: 50, cache_write: 20 },
      { input: 1000, output, cache_read: 50, cache_write_1h: 20 },
      { input: 250_000, output: output + 200, over_200k: { input: 250_000, output: output + 200 } },
    ])
    const place = random.pick([
      {},
      {},
      { project: 'APP' },
      { project: 'WEB' },
      { ticket: 'WEB-1' },
      { ticket: 'OPS-7' },
    ])
    const labels = random.pick([
      undefined,
      { branch: 'main', repository: 'acme/site' },
      { branch: 'ops/fix' },
      { team: 'web' },
      { team: 'web', branch: 'dev' },
    ])
    sayings.push({
      source,
      step,
      model,
      ...(pushes && source !== 'report' && { pushed: true }),
      started_at: random.pick(['2026-11-19T23:40:00Z', '2026-11-19T22:00:00Z', '2026-11-20T00:10:00Z']),
      ended_at: `2026-11-20T0${2 + step}:00:00Z`,
      tokens,
      ...place,
      ...(labels && { labels }),
      ...(random.chance(0.5) && { provider: random.pick(['anthropic', 'bedrock']) }),
      ...(random.chance(0.3) && { summary: random.pick(['fix the build', 'write tests']) }),
      ...(random.chance(0.3) && { agent_name: random.pick(['builder', 'reviewer']) }),
      ...(random.chance(0.5) && { requests: random.pick([3, 4]) }),
      ...(random.chance(0.5) && { reported_cost: random.pick([0.25, 1, 2.5]) }),
    } as Saying)
  }
  return sayings
}

const SONNET = {
  model: 'claude-sonnet-5',
  started_at: '2026-11-20T10:00:00Z',
  ended_at: '2026-11-20T11:00:00Z',
  tokens: { input: 1000, output: 500 },
}

forEachEngine('what the sources of a session say', (open, engine) => {
  test('makes the same entries in every order of arrival', async () => {
    const { say, shown } = await stage(await open())
    const random = new Random(20)
    const sizes = engine === 'sqlite' ? [...Array(20).fill(4), ...Array(4).fill(5)] : Array(4).fill(4)
    let permutations = 0
    for (const [scenario, size] of sizes.entries()) {
      const sayings = randomSayings(random, size, scenario % 3 === 2)
      const orders = [...permutationsOf(sayings)]
      permutations += orders.length
      // Together, so that their reports share commits.
      const shownAfter = await Promise.all(
        orders.map(async (order, number) => {
          const session = `${scenario}-${number}`
          for (const saying of order) await say(session, saying)
          return shown(session)
        }),
      )
      for (const [number, actual] of shownAfter.entries()) {
        // The whole order, which a difference between two lists of entries does not show.
        if (!Bun.deepEquals(actual, shownAfter[0])) {
          throw new Error(`not as in another order: ${JSON.stringify(orders[number])}`)
        }
      }
    }
    expect(permutations).toBe(engine === 'sqlite' ? 20 * 24 + 4 * 120 : 4 * 24)
  }, 180_000)

  test('is merged: a scan that names nothing leaves project and labels to telemetry', async () => {
    const { say, shown } = await stage(await open())
    const models = ['claude-sonnet-5', 'gpt-5-codex', 'local-model'].map((model) => ({ ...SONNET, model, step: 0 }))
    const said = { project: 'WEB', labels: { team: 'web', branch: 'old' }, reported_cost: 0.5, requests: 4 }
    const telemetry = models.slice(0, 2).map((each): Saying => ({ ...each, ...said, source: 'log', pushed: true }))
    const scan = models.map((each): Saying => ({ ...each, source: 'report', labels: { branch: 'dev' } }))
    for (const [session, sayings] of [
      ['telemetry-first', [...telemetry, ...scan]],
      ['scan-first', [...scan, ...telemetry]],
    ] as const) {
      for (const saying of sayings) await say(session, saying)
      const entries = await shown(session)
      expect(
        entries.map(({ source, project, labels, reported_cost, requests, agent_manager }) => [
          source,
          project?.key,
          labels,
          reported_cost,
          requests,
          agent_manager?.name,
        ]),
      ).toEqual([
        ['report', 'WEB', { team: 'web', branch: 'dev' }, 0.5, 4, 'Ada'],
        ['report', 'WEB', { team: 'web', branch: 'dev' }, 0.5, 4, 'Ada'],
        // Telemetry does not know this model, but whose work the session is.
        ['report', 'WEB', { team: 'web', branch: 'dev' }, null, null, 'Ada'],
      ])
    }
  })

  test('a cost is kept with the tokens that it was reported for, and not used for others', async () => {
    const { say, shown } = await stage(await open())
    const report = { ...SONNET, source: 'report', step: 0 } as const
    const costOf = async (session: string) =>
      (await shown(session)).map(({ cost, reported_cost }) => [cost, reported_cost])
    const listValue = 1000 * 4e-6 + 500 * 20e-6

    await say('equal', { ...report, source: 'log', reported_cost: 0.02 })
    await say('equal', report)
    expect(await costOf('equal')).toEqual([[0.02, 0.02]])
    // A further request that only the scan has seen: the cost of the others is not the cost of all.
    await say('equal', { ...report, ended_at: '2026-11-20T11:30:00Z', tokens: { input: 1200, output: 500 } })
    expect(await costOf('equal')).toEqual([[listValue + 200 * 4e-6, null]])
    // Telemetry catches up.
    const caughtUp = { ended_at: '2026-11-20T11:30:00Z', tokens: { input: 1200, output: 500 }, reported_cost: 0.025 }
    await say('equal', { ...report, source: 'log', ...caughtUp })
    expect(await costOf('equal')).toEqual([[0.025, 0.025]])

    // A report that does not repeat the cost of the same tokens does not take it back.
    await say('repeated', { ...report, reported_cost: 0.03 })
    await say('repeated', { ...report, ended_at: '2026-11-20T11:30:00Z' })
    expect(await costOf('repeated')).toEqual([[0.03, 0.03]])
    // Of two costs of the same tokens, the report's is believed.
    await say('repeated', { ...report, source: 'log', reported_cost: 0.02 })
    expect(await costOf('repeated')).toEqual([[0.03, 0.03]])
  })

  test('changes nothing that is locked, and no cost of it', async () => {
    const { services, say, shown } = await stage(await open())
    const report = { ...SONNET, source: 'report', step: 0 } as const
    const { uid } = await say('locked', { ...report, labels: { branch: 'dev' } })
    await services.entries.approval.decideEntries({ ids: [uid] }, { action: 'approve' }, OPERATOR)
    const approved = await shown('locked')
    const said = { project: 'WEB', labels: { team: 'web' }, provider: 'bedrock', reported_cost: 9, summary: 'late' }
    await say('locked', { ...report, ...said, source: 'log' })
    await say('locked', { ...report, ...said, ended_at: '2026-11-20T10:30:00Z' })
    expect(await shown('locked')).toEqual(approved)
    // What is used from now on has everything that was said.
    await say('locked', { ...report, ended_at: '2026-11-20T12:00:00Z', tokens: { input: 1500, output: 500 } })
    const [first, second] = await shown('locked')
    expect(first).toEqual(approved[0]!)
    expect([second!.tokens!.input, second!.project?.key, second!.labels, second!.provider, second!.summary]).toEqual([
      500,
      'WEB',
      { branch: 'dev', team: 'web' },
      'bedrock',
      'late',
    ])
  })
})
