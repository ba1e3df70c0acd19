import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { TALLY } from '../../../src/access/actor.ts'
import type { CallerOf } from '../../../src/access/caller.ts'
import { EVERYTHING } from '../../../src/access/visibility.ts'
import type { Database } from '../../../src/database/database.ts'
import { readListQuery } from '../../../src/features/entries/listing/query.ts'
import type { Observation, RequestUsage } from '../../../src/features/telemetry/channels/observation.ts'
import { createServices } from '../../../src/services.ts'
import expected from '../../fixtures/gen-ai/expected.json' with { type: 'json' }
import { forEachEngine } from '../../support/databases.ts'
import { toProtobuf } from '../../support/otlp.ts'
import { addReporter } from '../../support/reports.ts'
import { type Capture, capturesIn, readOf } from '../../support/telemetry.ts'
import { runs } from '../../support/tier.ts'

const NOW = Date.UTC(2026, 10, 29, 2)

type Counts = readonly number[]

interface Case {
  uncertain: Record<string, number>
  calls: { call: string; model: string; true: Counts; counted?: Counts | null }[]
}

const CASES = Object.entries(expected.cases as unknown as Record<string, Case>)
const UNCERTAIN = ['input_tokens', 'output_tokens', 'cache_read_tokens', 'cache_write_1h_tokens']

const countedIn = ({ calls }: Case) =>
  calls.flatMap((call) => {
    const counts = call.counted === undefined ? call.true : call.counted
    return counts === null ? [] : [[call.model, ...counts].join(' ')]
  })

function partsOf({ model, usage }: Observation): string {
  const { input, output, cacheRead, cacheWrite, cacheWrite1h } = (usage as RequestUsage).parts
  return [model, input, output, cacheRead, cacheWrite, cacheWrite1h].join(' ')
}

/** The calls that count of requests one after the other, and the counts that are named as uncertain. */
function readAll(captures: Capture[]) {
  const known = new Set<string>()
  const calls: string[] = []
  const uncertain: Record<string, number> = {}
  for (const { observations, ignored, rejectionReason } of captures.map(readOf)) {
    expect(rejectionReason).toBeNull()
    for (const observation of observations) {
      const { identity, claims, repeats } = observation.usage as RequestUsage
      if ([identity, ...repeats].some((each) => known.has(each))) continue
      for (const each of [identity, ...claims]) known.add(each)
      calls.push(partsOf(observation))
    }
    for (const name of UNCERTAIN) {
      if (ignored.has(name)) uncertain[name] = (uncertain[name] ?? 0) + ignored.get(name)!
    }
  }
  return { calls: calls.sort(), uncertain }
}

const asProtobuf = (capture: Capture): Capture => ({
  ...capture,
  encoding: 'protobuf',
  bytes: toProtobuf(capture.kind, new TextDecoder().decode(capture.bytes)),
})

describe('what a library sends of its calls', () => {
  for (const [name, known] of CASES) {
    test(`is counted once, and what is not certain is named: ${name}`, () => {
      const captures = capturesIn(`gen-ai/${name}`)
      const { calls, uncertain } = readAll(captures)
      expect(calls).toEqual(countedIn(known).sort())
      expect(uncertain).toEqual(known.uncertain)
      expect(readAll(captures.map(asProtobuf))).toEqual({ calls, uncertain })
    })
  }
})

interface Attributes {
  [name: string]: string | number
}

const spanOf = (number: number, parent: number | null, attributes: Attributes, traceId = 'a'.repeat(32)) => ({
  traceId,
  spanId: number.toString(16).padStart(16, '0'),
  ...(parent !== null && { parentSpanId: parent.toString(16).padStart(16, '0') }),
  name: 'chat gpt-5',
  startTimeUnixNano: '1795910400000000000',
  endTimeUnixNano: '1795910401000000000',
  attributes: Object.entries({ 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'gpt-5', ...attributes }).map(
    ([key, value]) => ({ key, value: typeof value === 'number' ? { intValue: value } : { stringValue: value } }),
  ),
})

const tracesOf = (...scopes: [scope: string, spans: object[]][]): Capture => ({
  name: 'made',
  kind: 'traces',
  encoding: 'json',
  bytes: new TextEncoder().encode(
    JSON.stringify({
      resourceSpans: [
        {
          resource: { attributes: [{ key: 'service.name', value: { stringValue: 'app' } }] },
          scopeSpans: scopes.map(([name, spans]) => ({ scope: { name }, spans })),
        },
      ],
    }),
  ),
})

const USED = { 'gen_ai.usage.input_tokens': 10, 'gen_ai.usage.output_tokens': 3 }

describe('spans of a hostile sender', () => {
  const MANY = 8_000
  const numbers = Array.from({ length: MANY }, (_, number) => number + 1)
  const claimsOf = (observations: Observation[]) =>
    observations.reduce((sum, { usage }) => sum + (usage as RequestUsage).claims.length, 0)

  test('each in the one before are one call, with a bounded number of identities', () => {
    const { observations } = readOf(
      tracesOf(['lib', numbers.map((number) => spanOf(number, number === 1 ? null : number - 1, USED))]),
    )
    expect(
      readAll([tracesOf(['lib', numbers.map((number) => spanOf(number, number - 1 || null, USED))])]).calls,
    ).toEqual(['gpt-5 10 3 0 0 0'])
    expect(claimsOf(observations.slice(0, 1))).toBeLessThanOrEqual(3 * MANY)
  })

  test('around each other in a circle are still a call', () => {
    const circle = [spanOf(1, 2, USED), spanOf(2, 1, USED), spanOf(3, 3, USED)]
    expect(readAll([tracesOf(['lib', circle])]).calls).toHaveLength(2)
  })

  test('that all look alike are as many as one library sends', () => {
    const half = numbers.slice(0, MANY / 2)
    const apart = (from: number) =>
      half.map((number) => spanOf(from + number, null, USED, (from + number).toString(16).padStart(32, '0')))
    const read = readOf(tracesOf(['langsmith', apart(0)], ['com.anthropic.sdk.python', apart(MANY)]))
    const calls = read.observations.filter(({ usage }) => (usage as RequestUsage).claims.length > 2)
    expect(read.observations).toHaveLength(MANY)
    expect(calls.length).toBe(MANY / 2)
  })

  test('with long texts of usage are read, and the texts are dropped', () => {
    const text = `{"input_tokens": 10,${' '.repeat(60_000)}"cached_tokens"${' '.repeat(1_000)}: 4}`
    const read = readOf(tracesOf(['litellm', [spanOf(1, null, { ...USED, 'metadata.usage_object': text })]]))
    expect(partsOf(read.observations[0]!)).toBe('gpt-5 6 3 4 0 0')
    expect(JSON.stringify(read.observations)).not.toContain('cached_tokens')
  })
})

interface Traces {
  resourceSpans: { resource: object; scopeSpans: { scope: object; spans: object[] }[] }[]
}

/** One request for each span. */
function split(capture: Capture): Capture[] {
  if (capture.kind !== 'traces') return [capture]
  const { resourceSpans } = JSON.parse(new TextDecoder().decode(capture.bytes)) as Traces
  const bodies = resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ scope, spans }) =>
      spans.map((span) => ({ resourceSpans: [{ resource, scopeSpans: [{ scope, spans: [span] }] }] })),
    ),
  )
  return bodies.map((body) => ({ ...capture, bytes: new TextEncoder().encode(JSON.stringify(body)) }))
}

/** Cases in which two libraries send spans of the same call, with counts that differ in what they tell. */
const IN_PAIRS = /anthropic|langchain/

describe('the requests of a library', () => {
  test('count each call once in any order, repeated, and with each span in a request of its own', () => {
    for (const [name, known] of CASES) {
      const captures = capturesIn(`gen-ai/${name}`)
      const { calls } = readAll(captures)
      const spans = captures.flatMap(split)
      fc.assert(
        fc.property(fc.boolean(), fc.infiniteStream(fc.nat()), (isSplit, random) => {
          const sent = isSplit ? spans : captures
          const shuffled = [...sent, ...sent.filter((_, position) => position % 3 === 0)]
            .map((capture) => ({ capture, at: random.next().value as number }))
            .sort((one, other) => one.at - other.at)
            .map(({ capture }) => capture)
          const read = readAll(shuffled)
          expect({ name, calls: read.calls.length }).toEqual({ name, calls: calls.length })
          if (!IN_PAIRS.test(name)) expect(read.calls).toEqual(calls)
        }),
        { numRuns: runs(20), includeErrorInReport: true },
      )
      expect(known.calls.length).toBeGreaterThan(0)
    }
  })
})

async function stage(db: Database) {
  let now = NOW
  const services = createServices({ db, clock: { now: () => now } })
  const { people, entries, telemetry } = services
  await people.addUser({ email: 'ada@example.com', name: 'Ada', role: 'admin' }, TALLY)
  const { secret } = await people.createToken({ kind: 'svc', user: 'ada@example.com', name: 'svc' }, TALLY)
  const caller = (await people.authenticate(`Bearer ${secret}`)) as CallerOf<'service'>
  return {
    ...services,
    later: (ms: number) => {
      now += ms
    },
    push: (capture: Capture, by = caller) => telemetry.receive(by, readOf(capture)),
    async listed() {
      const { data } = await entries.listing.listEntries(EVERYTHING, readListQuery({ limit: '500' }, 'UTC'))
      return data
        .map(({ agent_harness, session_id, model, requests, tokens, reported_cost, project }) => ({
          ...{ agent_harness, session_id, model, requests, tokens, reported_cost, project },
        }))
        .sort((a, b) => (`${a.session_id} ${a.model}` < `${b.session_id} ${b.model}` ? -1 : 1))
    },
  }
}

forEachEngine('the entries of libraries', (open) => {
  test('have the calls of all, and are the same if everything is sent again, or backwards', async () => {
    const captures = CASES.flatMap(([name]) => capturesIn(`gen-ai/${name}`))
    const calls = CASES.flatMap(([, known]) => countedIn(known)).map((call) => call.split(' ').slice(1).map(Number))
    const set = await stage(await open({ priced: true }))
    for (const capture of [...captures, ...captures]) expect((await set.push(capture)).rejected).toBe(0)
    const entries = await set.listed()
    const sum = (of: (entry: (typeof entries)[number]) => number) => entries.reduce((all, entry) => all + of(entry), 0)
    expect([
      sum(({ requests }) => requests!),
      ...(['input', 'output', 'cache_read', 'cache_write', 'cache_write_1h'] as const).map((kind) =>
        sum(({ tokens }) => tokens[kind]),
      ),
    ]).toEqual([calls.length, ...[0, 1, 2, 3, 4].map((at) => calls.reduce((all, counts) => all + counts[at]!, 0))])
    expect(new Set(entries.map(({ project }) => project?.name))).toEqual(new Set(['acme-web']))
    expect(await set.telemetry.verify()).toEqual([])

    const again = await stage(await open({ priced: true }))
    for (const capture of captures.toReversed()) await again.push(capture)
    const [requests, once] = [await again.listed(), entries].map((all) =>
      all.reduce((count, entry) => count + entry.requests!, 0),
    )
    expect(requests).toBe(once)
  })

  test('count a call once whose spans come in several requests and sessions, whichever comes first', async () => {
    const around = tracesOf(['langchain', [spanOf(1, null, { ...USED, 'session.id': 'chat-1' })]])
    const call = tracesOf(['client', [spanOf(2, 1, USED)]])
    for (const order of [
      [around, call],
      [call, around],
    ]) {
      const db = await open({ priced: true })
      const set = await stage(db)
      for (const capture of [...order, ...order]) await set.push(capture)
      const [entry, ...others] = await set.listed()
      expect(others).toEqual([])
      expect(entry).toMatchObject({ requests: 1, tokens: { input: 10, output: 3 } })

      const known = () => db.read.select().from(db.read.tables.telemetryCalls)
      expect((await known()).length).toBeGreaterThan(0)
      set.later(9 * 86_400_000)
      await set.telemetry.tidy()
      expect(await known()).toEqual([])
    }
  })

  test('count the calls of everyone, whatever others have claimed before', async () => {
    const around = tracesOf(['langchain', [spanOf(1, null, USED)]])
    const call = tracesOf(['client', [spanOf(2, 1, USED)]])
    const set = await stage(await open({ priced: true }))
    const colleague = await addReporter(set.people, { name: 'Bob', role: 'member' })
    for (const capture of [around, call]) await set.push(capture, colleague)
    await set.push(call)
    expect((await set.listed()).map(({ requests, tokens }) => [requests, tokens.input, tokens.output])).toEqual([
      ...[0, 1].map(() => [1, 10, 3]),
    ])
  })

  test('count at once what comes at the same moment', async () => {
    const set = await stage(await open({ priced: true }))
    const pairs = Array.from({ length: 30 }, (_, number) => [
      tracesOf(['langchain', [spanOf(2 * number + 1, null, { ...USED, 'session.id': `chat-${number}` })]]),
      tracesOf(['client', [spanOf(2 * number + 2, 2 * number + 1, USED)]]),
    ])
    await Promise.all(pairs.flat().map((capture) => set.push(capture)))
    const entries = await set.listed()
    expect(entries.reduce((sum, { requests }) => sum + requests!, 0)).toBe(30)
  })
})
