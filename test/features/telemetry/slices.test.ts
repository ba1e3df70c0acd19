import { describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import fc from 'fast-check'
import { TALLY } from '../../../src/access/actor.ts'
import type { CallerOf } from '../../../src/access/caller.ts'
import { EVERYTHING } from '../../../src/access/visibility.ts'
import type { Database } from '../../../src/database/database.ts'
import type { TelemetryTotals } from '../../../src/database/schema/records.ts'
import { readListQuery } from '../../../src/features/entries/listing/query.ts'
import { readReport } from '../../../src/features/entries/reporting/report.ts'
import type { TokenEntryReport } from '../../../src/features/entries/schema.ts'
import { account, type Keyed, type Known, type Point, reportOf } from '../../../src/features/telemetry/accounting.ts'
import { type Observation, PARTS } from '../../../src/features/telemetry/channels/observation.ts'
import { combine } from '../../../src/features/telemetry/channels/reader.ts'
import type { Signal } from '../../../src/features/telemetry/signals.ts'
import { dayAt, dayText } from '../../../src/lib/calendar.ts'
import { Random } from '../../../src/lib/random.ts'
import { createServices } from '../../../src/services.ts'
import { forEachEngine } from '../../support/databases.ts'
import { readSignals } from '../../support/telemetry.ts'
import { runs } from '../../support/tier.ts'

const NOW = Date.UTC(2026, 10, 20, 19, 30)
const NOTHING: Known = { totals: [], seen: new Set(), streams: new Map(), facts: {}, forgottenTo: null }

/** Whose clocks change, whose offsets are no whole hours, and whose days end elsewhere than those of UTC. */
const ZONES = ['UTC', 'Europe/Berlin', 'Asia/Kathmandu', 'Australia/Lord_Howe', 'America/St_Johns', 'Pacific/Auckland']

const observed = (change: Partial<Observation>): Observation => ({
  ...{ channel: 'channel', source: 'log', harness: 'agent', version: null, agent: 'agent', session: 's', model: 'm' },
  ...{ provider: null, service: null, project: null, ticket: null, labels: null, email: null },
  ...{ startedAt: NOW - 5_000, endedAt: NOW, usage: call('a', 1) },
  ...change,
})

function call(identity: string, input: number, costNanos: bigint | null = 1n): Observation['usage'] {
  const parts = { input, inputSide: 0, output: 1, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0 }
  return { kind: 'request', identity, claims: [], repeats: [], parts, costNanos }
}

const keyedOf = (observation: Observation): Keyed => ({ observation, modelKey: observation.model === 'm' ? 1 : 2 })

/** What is stored after a request. */
function after(known: Known, observations: readonly Observation[], timeZone = 'UTC'): Known {
  const accounted = account(known, observations.map(keyedOf), NOW, timeZone)
  return {
    totals: accounted.totals.map((each) => ({ ...each, totals: JSON.parse(JSON.stringify(each.totals)) })),
    seen: new Set([...known.seen, ...accounted.seen]),
    streams: new Map<string, Point>([...known.streams, ...accounted.streams]),
    facts: structuredClone(accounted.facts),
    forgottenTo: known.forgottenTo,
  }
}

const rowsOf = ({ totals }: Known) =>
  totals
    .map(({ source, modelKey, totals }) => [`${source} ${modelKey}`, JSON.stringify(totals)] as const)
    .sort(([one], [other]) => (one < other ? -1 : 1))

const reportsOf = (known: Known) =>
  known.totals.map((each) => reportOf(each, known.facts, { harness: 'agent', session: 's' }))

/** What the slices have together, in the form of the totals. */
function sumOf({ slices, above, ...totals }: TelemetryTotals) {
  const figures = slices!.map((slice) => slice.figures ?? { ...totals, above })
  const sum = (numbers: (number | null)[]) => numbers.reduce<number>((all, one) => all + one!, 0)
  const rows = (threshold: number) => figures.map((each) => each.above!.find(([first]) => first === threshold))
  return {
    started_at: Math.min(...figures.map(({ started_at }) => started_at)),
    ended_at: Math.max(...figures.map(({ ended_at }) => ended_at)),
    parts: PARTS.map((_, at) => sum(figures.map(({ parts }) => parts[at]!))),
    above:
      above?.map(([threshold]) => [
        threshold!,
        ...PARTS.map((_, at) => sum(rows(threshold!).map((row) => row?.[at + 1] ?? 0))),
      ]) ?? null,
    requests: totals.requests === null ? null : sum(figures.map(({ requests }) => requests)),
    reported_cost: `${figures.reduce((all, { reported_cost }) => all + BigInt(reported_cost), 0n)}`,
    cost_incomplete: figures.some(({ cost_incomplete }) => cost_incomplete),
  }
}

const arbitraryPlace = fc.record({
  project: fc.constantFrom(null, null, 'acme', 'none'),
  ticket: fc.constantFrom(null, null, 'A-1'),
  labels: fc.constantFrom(
    null,
    { team: 'core' },
    { branch: 'a' },
    { branch: 'b', repository: 'acme/web', team: 'core' },
  ),
})
/** Around the ends of days and months in all zones, and clock changes. */
const arbitraryTime = fc
  .tuple(
    fc.constantFrom(
      '2026-10-03T15:29Z',
      '2026-10-25T00:45Z',
      '2026-10-31T18:14Z',
      '2026-10-31T23:59Z',
      '2026-11-01T03:30Z',
    ),
    fc.integer({ min: -3_600, max: 3_600 }),
  )
  .map(([moment, seconds]) => Date.parse(moment) + seconds * 1_000)

const common = {
  at: arbitraryTime,
  place: arbitraryPlace,
  model: fc.constantFrom('m', 'n'),
}
const arbitraryCalls = fc
  .uniqueArray(
    fc.record({
      ...common,
      id: fc.nat(1_000_000),
      source: fc.constantFrom('log' as const, 'span' as const),
      input: fc.constantFrom(7, 40_000, 300_000),
      costNanos: fc.option(fc.bigInt({ min: 0n, max: 10n }), { freq: 8 }),
    }),
    { selector: ({ id }) => id, maxLength: 20 },
  )
  .map((calls) =>
    calls.map(({ id, at, place, model, source, input, costNanos }) =>
      observed({ ...place, source, model, startedAt: at, endedAt: at + 5_000, usage: call(`${id}`, input, costNanos) }),
    ),
  )
const arbitraryPoints = fc
  .uniqueArray(
    fc.record({
      ...common,
      id: fc.nat(1_000_000),
      part: fc.constantFrom('input' as const, 'output' as const, 'cost' as const),
      isCumulative: fc.integer({ max: 9, min: 0 }).map((chance) => chance === 0),
    }),
    { selector: ({ id }) => id, maxLength: 20 },
  )
  .map((points) =>
    points.map(({ id, at, place, model, part, isCumulative }) => {
      const kind = isCumulative ? 'cumulative' : 'delta'
      const usage = {
        kind,
        stream: `point ${id}`,
        part,
        value: BigInt(id + 1),
        timeNanos: BigInt(at) * 1_000_000n,
      } as const
      return observed({ ...place, source: 'metric', model, startedAt: at - 60_000, endedAt: at, usage })
    }),
  )
const arbitraryObservations = fc.tuple(arbitraryCalls, arbitraryPoints).map((lists) => lists.flat())

describe('slices of totals', () => {
  test('sum to them, on the right days, and are the same for any order, division and repetition of the data', () => {
    fc.assert(
      fc.property(
        arbitraryObservations,
        fc.constantFrom(...ZONES),
        fc.infiniteStream(fc.nat()),
        fc.integer({ min: 1, max: 7 }),
        (all, zone, chance, size) => {
          const straight = after(NOTHING, all, zone)
          for (const { source, modelKey, totals } of straight.totals) {
            const own = all
              .map(keyedOf)
              .filter((each) => each.modelKey === modelKey && each.observation.source === source)
            const isDated = own.every(({ observation }) => observation.usage.kind !== 'cumulative')
            expect(totals.slices !== undefined).toBe(isDated)
            if (!isDated) continue
            const { model: _, provider: __, slices, ...figures } = totals
            expect(sumOf(totals)).toEqual(figures)
            const days = new Set(own.map(({ observation }) => dayAt(observation.startedAt!, zone)))
            expect(new Set(slices!.map(({ day }) => dayText(day)))).toEqual(days)
          }
          for (const { cells, ...report } of reportsOf(straight)) {
            for (const { startedAt, endedAt } of cells ?? []) expect(startedAt).toBeLessThanOrEqual(endedAt)
            const output = cells?.reduce((sum, { counts }) => sum + counts.output, 0)
            if (cells) expect(output).toBe(report.counts.output)
          }
          const next = () => chance.next().value as number
          const shuffled = [...all, ...all.filter(() => next() % 3 === 0)]
            .map((one) => ({ one, by: next() }))
            .sort((one, other) => one.by - other.by)
            .map(({ one }) => one)
          let known = NOTHING
          for (let at = 0; at < shuffled.length; at += size) known = after(known, shuffled.slice(at, at + size), zone)
          expect(rowsOf(known)).toEqual(rowsOf(straight))
        },
      ),
      { numRuns: runs(500, 100) },
    )
  })

  test('are not known once a point is cumulative, or has an input with the cache, whatever came first', () => {
    const delta = observed({
      source: 'metric',
      usage: { kind: 'delta', stream: 'd', part: 'output', value: 5n, timeNanos: 1n },
    })
    for (const usage of [
      { kind: 'cumulative', stream: 'c', part: 'output', value: 7n, timeNanos: 1n },
      { kind: 'delta', stream: 'i', part: 'inputSide', value: 7n, timeNanos: 1n },
    ] as const) {
      const other = observed({ source: 'metric', usage })
      expect(after(NOTHING, [delta]).totals[0]!.totals.slices).toHaveLength(1)
      for (const order of [
        [delta, other],
        [other, delta],
      ]) {
        expect(after(NOTHING, order).totals[0]!.totals.slices).toBeUndefined()
        const known = after(after(NOTHING, order.slice(0, 1)), order.slice(1))
        expect(known.totals[0]!.totals.slices).toBeUndefined()
        expect(reportsOf(known)[0]).toMatchObject({ cells: null })
      }
    }
  })

  test('of totals that an earlier version has begun or gone on with are not known', () => {
    const [first, second, third] = [1, 2, 3].map((day) =>
      observed({ startedAt: Date.UTC(2026, 10, day), usage: call(`${day}`, day) }),
    ) as [Observation, Observation, Observation]
    const begun = after(NOTHING, [first])
    delete begun.totals[0]!.totals.slices
    expect(after(begun, [second]).totals[0]!.totals).toMatchObject({ requests: 2, parts: [3, 0, 2, 0, 0, 0] })
    expect(after(begun, [second]).totals[0]!.totals.slices).toBeUndefined()
    const known = after(NOTHING, [first, second])
    const { slices } = known.totals[0]!.totals
    expect(slices).toHaveLength(2)
    const goneOn = after(begun, [second, third])
    goneOn.totals[0]!.totals.slices = slices
    const last = after(goneOn, [observed({ usage: call('4', 4) })]).totals[0]!.totals
    expect(last).toMatchObject({ requests: 4, parts: [10, 0, 4, 0, 0, 0] })
    expect(last.slices).toBeUndefined()
  })

  test('name what a report could name, and of the labels only where the session works', () => {
    const known = after(NOTHING, [
      observed({ project: 'none', labels: { team: 'core', branch: 'a' }, usage: call('a', 1) }),
      observed({ endedAt: NOW + 1, project: 'acme', ticket: 'A-1', labels: { team: 'web' }, usage: call('b', 1) }),
    ])
    const [report] = reportsOf(known)
    expect(report).toMatchObject({ project: 'acme', ticket: 'A-1', labels: { team: 'web' } })
    expect(report!.cells!.map(({ project, ticket, labels }) => [project, ticket, labels])).toEqual([
      ['acme', 'A-1', { team: 'web' }],
      ['acme', 'A-1', { branch: 'a', team: 'web' }],
    ])
  })

  test('have their own cost if the agent has one for all of their calls', () => {
    const [first, second] = [1, 2].map((day) => Date.UTC(2026, 10, day))
    const priced = observed({ startedAt: first!, endedAt: first!, usage: call('a', 1, 5n) })
    const unpriced = observed({ startedAt: second!, endedAt: second!, usage: call('b', 1, null) })
    for (const order of [
      [priced, unpriced],
      [unpriced, priced],
    ]) {
      const [report] = reportsOf(after(NOTHING, order))
      expect(report!.reportedCostNanos).toBeNull()
      expect(report!.cells!.map(({ reportedCostNanos }) => reportedCostNanos)).toEqual([5n, null])
    }
  })

  test('are limited: further places belong to their day, and a model with ever more days has none', () => {
    const day = (at: number, more: Partial<Observation> = {}) =>
      observed({ startedAt: NOW - at * 86_400_000, usage: call(`${at}`, 1), ...more })
    const places = Array.from({ length: 420 }, (_, at) =>
      observed({ labels: { branch: `b-${at}` }, usage: call(`p${at}`, 1) }),
    )
    const placed = after(NOTHING, places).totals[0]!.totals
    expect(placed.slices).toHaveLength(401)
    expect(placed.slices![0]).toMatchObject({ figures: { requests: 20 } })
    expect(sumOf(placed)).toMatchObject({ parts: placed.parts, requests: 420 })
    const days = Array.from({ length: 1_999 }, (_, at) => day(at))
    const full = after(after(NOTHING, days), [day(0, { model: 'n', usage: call('n', 1) })])
    expect(full.totals.map(({ totals }) => totals.slices?.length)).toEqual([1_999, 1])
    const beyond = after(full, [day(2_001)])
    expect(beyond.totals.map(({ totals }) => totals.slices?.length)).toEqual([undefined, 1])
    expect(beyond.totals[0]!.totals.requests).toBe(2_000)
  })
})

async function stage(db: Database, timeZone: string) {
  const services = createServices({ db, clock: { now: () => NOW } })
  const { people, prices, organization, entries, telemetry } = services
  await organization.changeSettings({ timeZone }, TALLY)
  await prices.setPrice({ model: 'opus', input: 3, output: 15, only: true, force: true } as never, TALLY)
  await people.addUser({ email: 'ada@example.com', name: 'Ada', role: 'member' }, TALLY)
  const { secret } = await people.createToken({ kind: 'svc', user: 'ada@example.com', name: 'test' }, TALLY)
  const ada = (await people.authenticate(`Bearer ${secret}`)) as CallerOf<'service'>
  return {
    services,
    report: (body: TokenEntryReport) => entries.reporting.recordFrom('report', readReport(body, NOW), ada),
    push: (signals: Signal[]) =>
      telemetry.receive(
        ada,
        combine({ records: 1, ignored: new Map(), rejected: 0, rejectionReason: null }, readSignals(signals)),
      ),
    async shown(session: string) {
      const { data } = await entries.listing.listEntries(EVERYTHING, readListQuery({ session_id: [session] }, 'UTC'))
      return data
        .filter(({ superseded }) => !superseded)
        .map(({ slice, labels, tokens, requests, started_at, ended_at, reported_cost, list_value, project }) => ({
          ...{ slice, labels, tokens, requests, started_at, ended_at, reported_cost, list_value, project },
        }))
        .sort((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1))
    },
  }
}

interface Used {
  at: string
  branch: string
  input: number
}

const nanosOf = (at: string, seconds = 0) => BigInt(Date.parse(at) + seconds * 1_000) * 1_000_000n
const resourceOf = ({ branch }: Used) =>
  new Map(Object.entries({ 'service.name': 'claude-code', team: 'core', repository: 'acme/web', branch }))

const logOf =
  (session: string) =>
  (used: Used): Signal => ({
    kind: 'log',
    resource: resourceOf(used),
    scope: 'com.anthropic.claude_code.events',
    eventName: 'api_request',
    timeNanos: nanosOf(used.at),
    attributes: new Map<string, string | number>([
      ['session.id', session],
      ['model', 'opus'],
      ['request_id', used.at],
      ['input_tokens', used.input],
      ['output_tokens', 10],
      ['cost_usd', used.input / 1_000],
    ]),
  })

const pointsOf =
  (session: string, temporality: 'delta' | 'cumulative') =>
  (used: Used, at: number): Signal[] =>
    [
      ['claude_code.token.usage', 'input', used.input] as const,
      ['claude_code.token.usage', 'output', 10] as const,
      ['claude_code.cost.usage', '', used.input / 1_000] as const,
    ].map(([metric, type, value]) => ({
      kind: 'point',
      resource: resourceOf(used),
      scope: 'com.anthropic.claude_code',
      metric,
      stream: `${type}${metric.length}${at}`.padEnd(32, '0'),
      temporality,
      startNanos: nanosOf(used.at),
      timeNanos: nanosOf(used.at, 1),
      value,
      attributes: new Map(Object.entries({ 'session.id': session, model: 'opus', type })),
    }))

const fileOf = (session_id: string, calls: readonly Used[]): TokenEntryReport => ({
  ...{ agent_harness: 'claude-code', agent_name: 'claude-code', model: 'opus', session_id },
  ...{ started_at: calls[0]!.at, ended_at: calls.at(-1)!.at, labels: { team: 'core' } },
  slices: calls.map(({ at, branch, input }) => ({
    ...{ started_at: at, ended_at: at, tokens: { input, output: 10 }, requests: 1 },
    ...{ labels: { repository: 'acme/web', branch } },
  })),
})

function* permutationsOf<Item>(items: readonly Item[]): Generator<Item[]> {
  if (items.length === 0) yield []
  for (const [position, item] of items.entries()) {
    for (const others of permutationsOf(items.toSpliced(position, 1))) yield [item, ...others]
  }
}

/** A month's end in each zone, and a change of the branch. */
const CASES: [string, Used[], string[]][] = [
  [
    'Europe/Berlin',
    [
      { at: '2026-10-31T22:58:00.000Z', branch: 'A-1', input: 100 },
      { at: '2026-10-31T22:59:59.000Z', branch: 'A-2', input: 200 },
      { at: '2026-10-31T23:00:00.000Z', branch: 'A-2', input: 400 },
      { at: '2026-11-01T09:00:00.000Z', branch: 'A-1', input: 800 },
    ],
    ['2026-10-31 A-1 100', '2026-10-31 A-2 200', '2026-11-01 A-1 800', '2026-11-01 A-2 400'],
  ],
  [
    'Asia/Kathmandu',
    [
      { at: '2026-10-31T18:10:00.000Z', branch: 'A-1', input: 100 },
      { at: '2026-10-31T18:20:00.000Z', branch: 'A-1', input: 200 },
    ],
    ['2026-10-31 A-1 100', '2026-11-01 A-1 200'],
  ],
  [
    'Australia/Lord_Howe',
    [
      // The day on which clocks go forward by half an hour.
      { at: '2026-10-03T13:29:59.000Z', branch: 'A-1', input: 100 },
      { at: '2026-10-03T13:30:00.000Z', branch: 'A-1', input: 200 },
      { at: '2026-10-04T12:59:59.000Z', branch: 'A-1', input: 400 },
      { at: '2026-10-04T13:00:00.000Z', branch: 'A-1', input: 800 },
    ],
    ['2026-10-03 A-1 100', '2026-10-04 A-1 600', '2026-10-05 A-1 800'],
  ],
]

type Shown = Awaited<ReturnType<Awaited<ReturnType<typeof stage>>['shown']>>
const brief = (entries: Shown) =>
  entries.map(({ slice, labels, tokens }) => `${slice?.day} ${labels.branch} ${tokens.input}`).sort()

forEachEngine('telemetry of several days and branches', (open) => {
  test('gives the entries of the session file, in every order of log, report and metric', async () => {
    for (const [zone, calls, expected] of CASES) {
      const { services, report, push, shown } = await stage(await open(), zone)
      const sources = (session: string) => ({
        log: () => push(calls.map(logOf(session))),
        report: () => report(fileOf(session, calls)),
        delta: () => push(calls.flatMap(pointsOf(session, 'delta'))),
        cumulative: () => push(calls.flatMap(pointsOf(session, 'cumulative'))),
      })
      await report(fileOf('file', calls))
      const file = await shown('file')
      expect(file.map(({ slice, labels, tokens }) => `${slice!.day} ${labels.branch} ${tokens.input}`).sort()).toEqual(
        expected,
      )
      for (const source of ['log', 'delta'] as const) {
        await sources(source)[source]()
        const cost = (input: number) => ({ reported_cost: input / 1_000 })
        const requests = source === 'log' ? {} : { requests: null }
        expect([zone, source, await shown(source)]).toEqual([
          zone,
          source,
          file.map((entry) => ({
            ...entry,
            ...cost(entry.tokens.input),
            ...requests,
            ...(source === 'delta' && { ended_at: expect.any(String) }),
          })),
        ])
      }
      for (const metric of ['delta', 'cumulative'] as const) {
        let first: unknown
        for (const order of permutationsOf(['log', 'report', metric] as const)) {
          const session = order.join(' ')
          for (const name of order) await sources(session)[name]()
          const last = await shown(session)
          first ??= last
          expect([session, last]).toEqual([session, first] as never)
          expect(brief(last)).toEqual(expected)
          expect(last.every(({ slice }) => !slice!.estimated)).toBe(true)
        }
      }
      expect([...(await services.entries.verify()), ...(await services.telemetry.verify())]).toEqual([])
    }
  }, 180_000)

  test('gives the same rows and entries, however its exports are divided and ordered', async () => {
    const [zone, calls] = CASES[0]!
    const db = await open()
    const { push, shown } = await stage(db, zone)
    const rows = async () => {
      const found = await db.read.select().from(db.read.tables.telemetryTotals)
      return Map.groupBy(found, ({ sessionId }) => sessionId)
        .values()
        .map((ofSession) => ofSession.map(({ source, totals }) => JSON.stringify([source, totals])).sort())
        .toArray()
    }
    let position = 0
    for (const order of permutationsOf(calls)) {
      const session = `s-${position++}`
      for (const used of order)
        await push([logOf(session)(used), ...pointsOf(session, 'delta')(used, calls.indexOf(used))])
      expect(await shown(session)).toEqual(await shown('s-0'))
    }
    const [first, ...others] = await rows()
    expect(others).toHaveLength(23)
    for (const other of others) expect(other).toEqual(first!)
  }, 180_000)

  test('gives the same entries in any order of logs, points and reports, and with locks in between the same sums', async () => {
    const random = new Random(51)
    const zone = random.pick(ZONES)
    const db = await open()
    const { services, report, push, shown } = await stage(db, zone)
    const shuffled = <Item>(items: readonly Item[]) =>
      items
        .map((item) => ({ item, by: random.below(1_000_000) }))
        .sort((one, other) => one.by - other.by)
        .map(({ item }) => item)
    for (let round = 0; round < runs(20); round += 1) {
      const starts = Array.from({ length: 1 + random.below(6) }, () =>
        new Date(Date.UTC(2026, 9, 31, 12) + random.below(86_400) * 1_000).toISOString(),
      )
      const calls = [...new Set(starts)]
        .sort()
        .map((at) => ({ at, branch: random.pick(['A-1', 'A-2']), input: 1 + random.below(500) }))
      const temporality = random.pick(['delta', 'delta', 'cumulative'] as const)
      const hasReport = random.below(2) === 0
      // Some calls are missing in some of the sources.
      const statements = (session: string, missing: readonly boolean[][]) => [
        ...calls.filter((_, at) => !missing[0]![at]).map((used) => () => push([logOf(session)(used)])),
        ...calls
          .filter((_, at) => !missing[1]![at])
          .map((used, at) => () => push(pointsOf(session, temporality)(used, at))),
        ...(hasReport ? [() => report(fileOf(session, calls))] : []),
      ]
      const missing = [0, 1].map(() => calls.map(() => random.below(5) === 0))
      const sumsOf = (entries: Shown) => entries.reduce((sum, { tokens }) => sum + tokens.total, 0)
      let first: Shown | undefined
      for (let order = 0; order < 4; order += 1) {
        const [session, locked] = [`r-${round}-${order}`, `l-${round}-${order}`]
        for (const say of shuffled(statements(session, missing))) await say()
        const last = await shown(session)
        first ??= last
        expect({ calls, missing, temporality, hasReport, entries: last }).toEqual({
          ...{ calls, missing, temporality, hasReport, entries: first },
        })
        for (const say of shuffled(statements(locked, missing))) {
          await say()
          if (random.below(4) > 0) continue
          await db.write(async (tx) => {
            const { entries } = tx.tables
            await tx.update(entries).set({ status: 'approved' }).where(eq(entries.superseded, false))
          })
        }
        expect(sumsOf(await shown(locked))).toBeGreaterThanOrEqual(sumsOf(first))
      }
    }
    expect([...(await services.entries.verify()), ...(await services.telemetry.verify())]).toEqual([])
  }, 180_000)

  test('is whole again once a point is cumulative, except what is locked', async () => {
    const [zone, calls] = CASES[0]!
    const db = await open()
    const { services, push, shown } = await stage(db, zone)
    const delta = (session: string) => push(calls.flatMap(pointsOf(session, 'delta')))
    const cumulative = (session: string) =>
      push(pointsOf(session, 'cumulative')({ at: '2026-11-02T09:00:00.000Z', branch: 'A-3', input: 1_600 }, 9))
    await delta('one')
    await cumulative('one')
    await cumulative('two')
    await delta('two')
    const [one, two] = [await shown('one'), await shown('two')]
    expect(one).toMatchObject([{ slice: null, tokens: { input: 3_100, output: 50 }, labels: { branch: 'A-3' } }])
    expect(one).toEqual(two)
    // Goes on so.
    for (const session of ['one', 'two']) await push(pointsOf(session, 'delta')({ ...calls[3]!, input: 10 }, 10))
    expect(await shown('one')).toMatchObject([{ slice: null, tokens: { input: 3_110, output: 60 } }])
    expect(await shown('one')).toEqual(await shown('two'))

    await delta('locked')
    await db.write(async (tx) => void (await tx.update(tx.tables.entries).set({ status: 'approved' })))
    await cumulative('locked')
    const locked = await shown('locked')
    expect(locked.map(({ slice, tokens }) => `${slice?.day} ${tokens.input}`).sort()).toEqual([
      '2026-10-31 100',
      '2026-10-31 200',
      '2026-11-01 400',
      '2026-11-01 800',
      'undefined 1600',
    ])
    expect([...(await services.entries.verify()), ...(await services.telemetry.verify())]).toEqual([])
  })

  test('keeps what an earlier version has counted of it as it is', async () => {
    const [zone, calls] = CASES[0]!
    const db = await open()
    const { push, shown, services } = await stage(db, zone)
    await push([logOf('old')(calls[0]!)])
    await db.write(async (tx) => {
      const { telemetryTotals, entries, sessions } = tx.tables
      const [row] = await tx.select({ totals: telemetryTotals.totals }).from(telemetryTotals)
      const { slices: _, ...totals } = row!.totals
      await tx.update(telemetryTotals).set({ totals })
      await tx.update(entries).set({ sliceDay: null, slicePlace: null })
      await tx.update(sessions).set({ zone: null })
    })
    await push(calls.map(logOf('old')))
    expect(await shown('old')).toMatchObject([{ slice: null, tokens: { input: 1_500 }, requests: 4 }])
    expect(await services.entries.verify()).toEqual([])
  })
})
