import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  type Accounted,
  account,
  issueOf,
  type Known,
  type Point,
  reportOf,
} from '../../../src/features/telemetry/accounting.ts'
import { type Observation, PARTS, type Part } from '../../../src/features/telemetry/channels/observation.ts'
import { runs } from '../../support/tier.ts'

const NOW = Date.UTC(2026, 10, 20, 19, 30)
const NOTHING: Known = { totals: [], seen: new Set(), streams: new Map(), facts: {}, forgottenTo: null }

type Told = Partial<Omit<Observation, 'usage'>> & { usage: Observation['usage'] }

const observed = (told: Told): Observation => ({
  channel: 'channel',
  source: 'log',
  harness: 'agent',
  version: null,
  agent: 'agent',
  session: 's',
  model: 'm',
  provider: null,
  service: null,
  project: null,
  ticket: null,
  labels: null,
  email: null,
  startedAt: NOW - 5000,
  endedAt: NOW,
  ...told,
})

const call = (identity: string, parts: Partial<Record<Part, number>>, costNanos: bigint | null = 1n) =>
  ({
    kind: 'request',
    identity,
    claims: [],
    repeats: [],
    parts: Object.fromEntries(PARTS.map((part) => [part, parts[part] ?? 0])) as Record<Part, number>,
    costNanos,
  }) as const

const point = (kind: 'delta' | 'cumulative', stream: string, part: Part | 'cost', value: bigint, timeNanos = 1n) =>
  ({ kind, stream, part, value, timeNanos }) as const

/** As the store keeps it from request to request, which gets all that is known and not only what is asked for. */
function after(known: Known, { totals, seen, claimed, streams, facts }: Accounted): Known {
  return {
    totals: totals.map((each) => ({ ...each, totals: structuredClone(each.totals) })),
    seen: new Set([...known.seen, ...seen, ...claimed]),
    streams: new Map<string, Point>([...known.streams, ...streams]),
    facts: structuredClone(facts),
    forgottenTo: known.forgottenTo,
  }
}

/** The state after requests, each with some observations; all of the model with the key 1. */
function recorded(...requests: Observation[][]): Known {
  return requests.reduce((known, observations) => {
    const keyed = observations.map((observation) => ({ observation, modelKey: 1 }))
    return after(known, account(known, keyed, NOW, 'UTC'))
  }, NOTHING)
}

function reports(known: Known) {
  return Object.fromEntries(
    known.totals
      .map((each) => [each.source, reportOf(each, known.facts, { harness: 'agent', session: 's' })] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  )
}

describe('calls', () => {
  test('add up, count once, and know how many they were', () => {
    const first = observed({ usage: call('a', { input: 10, output: 5, cacheRead: 7 }) })
    const second = observed({ usage: call('b', { input: 1, output: 2 }, 4n), startedAt: NOW - 9000, endedAt: NOW - 10 })
    expect(reports(recorded([first, first], [second, first])).log).toMatchObject({
      counts: { input: 11, output: 7, cacheRead: 7, cacheWrite: 0, cacheWrite1h: 0 },
      requests: 2,
      reportedCostNanos: 5n,
      startedAt: NOW - 9000,
      endedAt: NOW,
      details: {
        requestsAbove: [
          { threshold: 32_000, counts: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0 } },
        ],
        serviceTier: null,
        speed: null,
        region: null,
        tools: null,
        media: null,
      },
    })
  })

  test('of which one does not say its cost have none together', () => {
    const known = recorded([
      observed({ usage: call('a', { output: 5 }) }),
      observed({ usage: call('b', { output: 5 }, null) }),
    ])
    expect(reports(known).log!.reportedCostNanos).toBeNull()
  })

  test('are summed at each length where vendors change their prices', () => {
    const long = observed({ usage: call('a', { input: 1, cacheRead: 200_000, output: 9 }) })
    const short = observed({ usage: call('b', { cacheRead: 200_000, output: 300_000 }) })
    expect(reports(recorded([long, short])).log!.details?.requestsAbove).toMatchObject([
      { threshold: 32_000, counts: { input: 1, cacheRead: 400_000, output: 300_009 } },
      { threshold: 128_000, counts: { input: 1, cacheRead: 400_000, output: 300_009 } },
      { threshold: 200_000, counts: { input: 1, cacheRead: 200_000, output: 9 } },
      { threshold: 256_000, counts: { input: 0, cacheRead: 0, output: 0 } },
    ])
  })

  test('before which only those above 200,000 tokens were summed go on so', () => {
    const begun = recorded([observed({ usage: call('a', { input: 300_000 }) })])
    const [{ totals, ...of }] = begun.totals as [Known['totals'][number]]
    const known = {
      ...begun,
      totals: [{ ...of, totals: { ...totals, above: totals.above!.filter(([threshold]) => threshold === 200_000) } }],
    }
    const next = account(
      known,
      [{ observation: observed({ usage: call('b', { input: 250_000 }) }), modelKey: 1 }],
      NOW,
      'UTC',
    )
    expect(reports(after(known, next)).log!.details?.requestsAbove).toMatchObject([
      { threshold: 200_000, counts: { input: 550_000 } },
    ])
  })

  test('have the tier, speed and region of their model', () => {
    const service = { serviceTier: 'priority', speed: 'fast', region: null }
    const known = recorded([observed({ service, usage: call('a', { input: 1 }) })])
    expect(reports(known).log!.details).toMatchObject(service)
  })

  test('in another that repeats them count once, whichever comes first', () => {
    const inner = observed({ usage: { ...call('inner', { output: 5 }), claims: ['around'], repeats: ['outer span'] } })
    const outer = observed({ usage: { ...call('outer', { output: 5 }), claims: ['outer span'], repeats: ['around'] } })
    for (const order of [
      [inner, outer],
      [outer, inner],
    ]) {
      expect(reports(recorded(order)).log!.counts.output).toBe(5)
      expect(reports(recorded(...order.map((one) => [one]))).log!.counts.output).toBe(5)
    }
  })

  test('that cannot be told from what is forgotten are late, and those after it count', () => {
    const known: Known = {
      ...recorded([observed({ usage: call('a', { output: 5 }) })]),
      seen: new Set(),
      forgottenTo: NOW,
    }
    const keyed = [NOW - 1, NOW, null, NOW + 1].map((endedAt, index) => ({
      observation: observed({ usage: call(`c${index}`, { output: 1 }), endedAt }),
      modelKey: 1,
    }))
    const { outcomes, totals } = account(known, keyed, NOW, 'UTC')
    expect(outcomes).toEqual([
      { result: 'late' },
      { result: 'late' },
      { result: 'late' },
      { result: 'counted', tokens: 1 },
    ])
    expect(totals[0]!.totals.parts[PARTS.indexOf('output')]).toBe(6)
  })

  test('that would lead beyond what a session may count are rejected', () => {
    const most = observed({ usage: call('a', { output: 1e12 }) })
    const known = recorded([most])
    const { outcomes } = account(
      known,
      [{ observation: observed({ usage: call('b', { output: 1 }) }), modelKey: 1 }],
      NOW,
      'UTC',
    )
    expect(outcomes).toEqual([{ rejected: expect.stringContaining('session would exceed') }])
    const dear = [1, 2].map((id) => observed({ usage: call(`d${id}`, { output: 1 }, 10n ** 18n) }))
    expect(reports(recorded(dear)).log!.reportedCostNanos).toBe(10n ** 18n)
  })

  test('that begin after they end, as by two clocks, are of the moment when they end', () => {
    for (const endedAt of [NOW - 5, null]) {
      const known = recorded([observed({ usage: call('a', { output: 1 }), startedAt: NOW + 3600_000, endedAt })])
      expect(reports(known).log).toMatchObject({ startedAt: endedAt ?? NOW, endedAt: endedAt ?? NOW })
    }
  })

  test('more than a day ahead are no time that is', () => {
    const at = (endedAt: number | null) => issueOf(observed({ usage: call('a', {}), endedAt }), NOW)
    expect([at(null), at(NOW + 86_400_000)]).toEqual([undefined, undefined])
    expect(at(NOW + 86_400_001)).toContain('one day ahead')
  })
})

describe('points', () => {
  const metric = (usage: Observation['usage']) => observed({ usage, source: 'metric' })

  test('of a delta stream add up, each once', () => {
    const one = metric(point('delta', 'a1', 'output', 5n))
    const two = metric(point('delta', 'a2', 'output', 6n))
    expect(reports(recorded([one], [two, one])).metric).toMatchObject({
      counts: { output: 11 },
      requests: null,
      details: null,
    })
  })

  test('of a cumulative stream replace each other by their time, and add to other streams', () => {
    const early = metric(point('cumulative', 'a', 'output', 5n, 1n))
    const late = metric(point('cumulative', 'a', 'output', 9n, 2n))
    const restarted = metric(point('cumulative', 'b', 'output', 3n, 3n))
    for (const order of [
      [early, late, restarted],
      [restarted, late, early],
      [late, early, late, restarted],
    ]) {
      expect(reports(recorded(...order.map((one) => [one]))).metric!.counts.output).toBe(12)
    }
  })

  test('of a cumulative stream that begins again without another start add up, and never shrink in between', () => {
    const sums = (values: readonly bigint[]) =>
      values.map((value, at) => metric(point('cumulative', 'a', 'output', value, BigInt(at + 1))))
    const outputOf = (values: readonly bigint[]) =>
      reports(recorded(...sums(values).map((one) => [one]))).metric?.counts.output ?? 0
    expect([outputOf([100n]), outputOf([100n, 30n]), outputOf([100n, 30n, 160n])]).toEqual([100, 130, 260])
    // Also where it is seen at its new beginning, or was nothing before.
    expect([outputOf([100n, 0n, 150n]), outputOf([0n]), outputOf([0n, 7n])]).toEqual([250, 0, 7])
    fc.assert(
      fc.property(fc.array(fc.bigInt({ min: 0n, max: 100n }), { minLength: 1, maxLength: 20 }), (values) => {
        const outputs = values.map((_, at) => outputOf(values.slice(0, at + 1)))
        const expected = values.map((value, at) =>
          at > 0 && value >= values[at - 1]! ? value - values[at - 1]! : value,
        )
        let total = 0
        expect(outputs).toEqual(expected.map((value) => (total += Number(value))))
      }),
    )
  })

  test('of input with the cache become disjoint once all are there', () => {
    const all = [
      metric(point('cumulative', 'i', 'inputSide', 100n)),
      metric(point('cumulative', 'c', 'cacheRead', 30n)),
      metric(point('cumulative', 't', 'cost', 1_500n)),
    ]
    expect(reports(recorded(all)).metric).toMatchObject({
      counts: { input: 70, cacheRead: 30 },
      reportedCostNanos: 1_500n,
    })
    // Until the input has come as far, nothing is negative.
    const ahead = metric(point('cumulative', 'c', 'cacheRead', 130n, 2n))
    expect(reports(recorded([...all, ahead])).metric!.counts).toMatchObject({ input: 0, cacheRead: 130 })
  })

  test('without any cost tell none', () => {
    expect(reports(recorded([metric(point('delta', 'a', 'output', 5n))])).metric!.reportedCostNanos).toBeNull()
  })
})

test('what is said besides figures holds as it was said last', () => {
  const usage = (id: string) => call(id, { output: 1 })
  const early = observed({ usage: usage('a'), endedAt: NOW - 10, project: 'one', labels: { team: 'a' }, ticket: 'T-1' })
  const late = observed({ usage: usage('b'), endedAt: NOW, project: 'two', agent: 'other' })
  const same = observed({ usage: usage('c'), endedAt: NOW, project: 'three', agent: 'other' })
  for (const order of [
    [early, late, same],
    [same, late, early],
  ]) {
    expect(reports(recorded(...order.map((one) => [one]))).log).toMatchObject({
      project: 'two',
      ticket: 'T-1',
      labels: { team: 'a' },
      agent: 'other',
    })
  }
})

const arbitraryCall = fc
  .record({
    source: fc.constantFrom('log' as const, 'span' as const),
    id: fc.integer({ min: 0, max: 5 }),
    at: fc.integer({ min: 0, max: 3 }),
  })
  .map(({ source, id, at }) =>
    // What an identity says is always the same.
    observed({
      source,
      endedAt: NOW - id * 10,
      startedAt: NOW - id * 10 - 5,
      agent: `agent ${id % 3}`,
      model: id % 2 === 0 ? 'M' : 'm',
      usage: call(
        `${source}${id}`,
        { input: id * 3, output: 7, cacheRead: id * 60_000 },
        id === 4 && at > 9 ? null : BigInt(id),
      ),
    }),
  )
const arbitraryPoint = fc
  .record({
    stream: fc.integer({ min: 0, max: 3 }),
    time: fc.integer({ min: 1, max: 4 }),
    part: fc.constantFrom('inputSide' as const, 'output' as const, 'cacheRead' as const, 'cost' as const),
  })
  .chain(({ stream, time, part }) =>
    fc.constantFrom(
      observed({
        source: 'metric',
        endedAt: NOW - 10 + time,
        usage: point('cumulative', `${part}${stream}`, part, BigInt(time * 10), BigInt(time)),
      }),
      observed({
        source: 'metric',
        endedAt: NOW - 10 + time,
        usage: point('delta', `${part}${stream}-${time}`, part, BigInt(time + stream), BigInt(time)),
      }),
    ),
  )

test('in any order, split into any requests and sent again, the same observations lead to the same totals', () => {
  const observations = fc.array(fc.oneof(arbitraryCall, arbitraryPoint), { minLength: 1, maxLength: 30 })
  fc.assert(
    fc.property(observations, fc.infiniteStream(fc.nat()), fc.integer({ min: 1, max: 7 }), (all, chance, size) => {
      const straight = reports(recorded(all))
      const next = () => chance.next().value as number
      const again = [...all, ...all.filter(() => next() % 3 === 0)]
      const shuffled = again
        .map((one) => ({ one, by: next() }))
        .sort((a, b) => a.by - b.by)
        .map(({ one }) => one)
      const requests = Array.from({ length: Math.ceil(shuffled.length / size) }, (_, index) =>
        shuffled.slice(index * size, (index + 1) * size),
      )
      expect(reports(recorded(...requests))).toEqual(straight)
    }),
    { numRuns: runs(500, 100) },
  )
})
