import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import {
  BODY_LIMIT_BYTES,
  type Body,
  decode as decodePlain,
  type Kind,
  plainBytes,
} from '../../../src/features/telemetry/otlp/decode.ts'
import { Malformed, TooMuch } from '../../../src/features/telemetry/otlp/sieve.ts'
import type {
  LogSignal,
  PointSignal,
  Signal,
  SignalFilter,
  SpanSignal,
} from '../../../src/features/telemetry/signals.ts'
import { jsonCaptures, toProtobuf } from '../../support/otlp.ts'
import { runs } from '../../support/tier.ts'

const EVERYTHING: SignalFilter = {
  log: () => true,
  metric: () => true,
  span: () => true,
  attribute: () => true,
  resourceAttribute: () => true,
}

const NOTHING: SignalFilter = {
  log: () => false,
  metric: () => false,
  span: () => false,
  attribute: () => false,
  resourceAttribute: () => false,
}

const wanting = (some: Partial<SignalFilter>): SignalFilter => ({ ...NOTHING, ...some })

function decode(body: Body, wanted: SignalFilter) {
  const signals: Signal[] = []
  const counts = decodePlain(body, plainBytes(body), wanted, (signal) => signals.push(signal))
  return { signals, counts }
}

const bytesOf = (text: string) => new TextEncoder().encode(text)

const json = (kind: Kind, value: unknown, wanted = EVERYTHING) =>
  decode({ kind, encoding: 'json', gzip: false, bytes: bytesOf(JSON.stringify(value)) }, wanted)

const protobuf = (kind: Kind, bytes: Uint8Array, wanted = EVERYTHING) =>
  decode({ kind, encoding: 'protobuf', gzip: false, bytes }, wanted)

const attributes = (values: Record<string, object | null>) =>
  Object.entries(values).map(([key, value]) => ({ key, value }))

const logs = (...logRecords: object[]) => ({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] })
const spans = (...list: object[]) => ({ resourceSpans: [{ scopeSpans: [{ spans: list }] }] })
const metrics = (...list: object[]) => ({ resourceMetrics: [{ scopeMetrics: [{ metrics: list }] }] })
const sum = (name: string, ...dataPoints: object[]) => ({
  name,
  sum: { aggregationTemporality: 1, isMonotonic: true, dataPoints },
})

const firstLog = (record: object) => json('logs', logs(record)).signals[0] as LogSignal
const firstPoint = (point: object) => json('metrics', metrics(sum('m', point))).signals[0] as PointSignal

describe('captures of real agents', () => {
  const all = jsonCaptures('agents', 'cases')

  test('are the same in both encodings, record by record', () => {
    expect(all.length).toBeGreaterThan(20)
    for (const { kind, text, name } of all) {
      const fromJson = decode({ kind, encoding: 'json', gzip: false, bytes: bytesOf(text) }, EVERYTHING)
      const fromProtobuf = protobuf(kind, toProtobuf(kind, text))
      expect([name, fromProtobuf.signals]).toEqual([name, fromJson.signals])
      expect(fromProtobuf.counts).toEqual(fromJson.counts)
      expect(fromJson.counts.records).toBeGreaterThan(0)
    }
  })

  test('are counted record by record where nothing of them is wanted, and leave nothing else', () => {
    for (const { kind, text, name } of all) {
      const { signals, counts } = decode({ kind, encoding: 'json', gzip: false, bytes: bytesOf(text) }, NOTHING)
      expect([name, signals]).toEqual([name, []])
      const ignored = counts.ignored.values().reduce((total, count) => total + count, 0)
      if (counts.ignored.size < 50) expect(ignored).toBe(counts.records)
      expect(protobuf(kind, toProtobuf(kind, text), NOTHING).counts).toEqual(counts)
    }
  })

  test('that were sent in protobuf hold what the agents used', async () => {
    const path = join(import.meta.dir, '../../fixtures/agents-protobuf')
    const wanted = wanting({ log: (name) => name === 'codex.sse_event', attribute: () => true })
    const found = []
    for (const name of ['001', '003', '005']) {
      const { signals } = protobuf('logs', await Bun.file(join(path, `codex/${name}-logs.pb`)).bytes(), wanted)
      found.push(...signals.map((signal) => signal.attributes.get('input_token_count')).filter(Boolean))
    }
    expect(found.length).toBeGreaterThan(2)
  })
})

test('encodings agree on whatever values attributes have', () => {
  const value = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.record({ stringValue: fc.string({ unit: 'grapheme' }) }),
      fc.record({ boolValue: fc.boolean() }),
      fc.record({ intValue: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String) }),
      fc.record({ doubleValue: fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0) }),
      fc.constant({}),
      fc.record({ arrayValue: fc.record({ values: fc.array(tie('value'), { maxLength: 3 }) }) }),
      fc.record({ kvlistValue: fc.record({ values: fc.array(tie('pair'), { maxLength: 3 }) }) }),
      fc.record({ bytesValue: fc.uint8Array({ maxLength: 8 }).map((bytes) => bytes.toBase64()) }),
    ),
    pair: fc.record({ key: fc.string({ unit: 'grapheme' }), value: tie('value') }),
  }))
  const pairs = fc.array(value.pair, { maxLength: 6 })
  const nanos = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(String)
  const request = fc
    .record({
      resource: pairs,
      attributes: pairs,
      startTimeUnixNano: nanos,
      timeUnixNano: nanos,
      asInt: fc.maxSafeInteger(),
    })
    .map(({ resource, asInt, ...point }) => ({
      resourceMetrics: [
        {
          resource: { attributes: resource },
          scopeMetrics: [{ scope: { name: 's' }, metrics: [sum('m', { ...point, asInt: String(asInt) })] }],
        },
      ],
    }))
  fc.assert(
    fc.property(request, (sent) => {
      const fromJson = json('metrics', sent)
      expect(fromJson.signals).toHaveLength(1)
      expect(protobuf('metrics', toProtobuf('metrics', JSON.stringify(sent)))).toEqual(fromJson)
    }),
  )
})

describe('the stream of a point', () => {
  const streamOf = (resource: object[], point: object[], name = 'm', scope = 's') => {
    const sent = {
      resourceMetrics: [
        {
          resource: { attributes: resource },
          scopeMetrics: [{ scope: { name: scope }, metrics: [sum(name, { attributes: point, asInt: 1 })] }],
        },
      ],
    }
    const wanted = wanting({ metric: () => true })
    return (json('metrics', sent, wanted).signals[0] as PointSignal).stream
  }
  const a = { key: 'a', value: { stringValue: '1' } }
  const b = { key: 'b', value: { intValue: 1 } }

  test('is the same in whatever order attributes come', () => {
    expect(streamOf([a, b], [b, a])).toBe(streamOf([b, a], [a, b]))
    expect(streamOf([a], [])).toMatch(/^[0-9a-f]{32}$/)
  })

  test('is another one with any other attribute, value, type, metric or scope, though none is kept', () => {
    const array = (...values: object[]) => ({ key: 'a', value: { arrayValue: { values } } })
    const streams = [
      streamOf([], []),
      streamOf([a], []),
      streamOf([], [a]),
      streamOf([], [{ key: 'a', value: { intValue: 1 } }]),
      streamOf([], [{ key: 'a', value: { doubleValue: 1 } }]),
      streamOf([], [{ key: 'a', value: {} }]),
      streamOf([], [{ key: 'a', value: { boolValue: true } }]),
      streamOf([], [{ key: 'a', value: { stringValue: 'true' } }]),
      streamOf([], [array()]),
      streamOf([], [array({ stringValue: '1' })]),
      streamOf([], [array({ stringValue: '1' }, { stringValue: '2' })]),
      streamOf([], [array({ stringValue: '1","2' })]),
      streamOf([], [a], 'n'),
      streamOf([], [a], 'm', 't'),
    ]
    expect(new Set(streams).size).toBe(streams.length)
  })
})

describe('JSON as clients differ in it', () => {
  test('has 64-bit integers as strings or as numbers, to the last digit', () => {
    const bytes = bytesOf(
      `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"timeUnixNano":1795197184524499802,"attributes":[
        {"key":"a","value":{"intValue":"9007199254740993"}},{"key":"b","value":{"intValue":9007199254740993}},
        {"key":"c","value":{"intValue":"12"}},{"key":"d","value":{"intValue":12}},{"key":"e","value":{"intValue":1.2e3}}
      ]}]}]}]}`,
    )
    const [signal] = decode({ kind: 'logs', encoding: 'json', gzip: false, bytes }, EVERYTHING).signals as LogSignal[]
    expect(signal!.timeNanos).toBe(1795197184524499802n)
    expect([...signal!.attributes.values()]).toEqual([9007199254740993n, 9007199254740993n, 12, 12, 1200])
  })

  test('has nothing in many ways', () => {
    for (const nothing of [{}, { resourceLogs: null }, { resourceLogs: [] }, { resourceLogs: [{}] }]) {
      expect(json('logs', nothing)).toEqual(json('logs', { other: [1] }))
    }
    expect(
      json('logs', { resourceLogs: [{ resource: null, scopeLogs: null }, { scopeLogs: [{ scope: null }] }] }).signals,
    ).toEqual([])
    const { attributes: kept, ...log } = firstLog({
      body: null,
      traceId: '',
      timeUnixNano: '',
      attributes: attributes({ a: {}, b: null, c: { stringValue: null }, d: { stringValue: '' } }),
    })
    expect([...kept]).toEqual([['d', '']])
    expect(log).toMatchObject({ eventName: '', timeNanos: 0n, scope: '' })
  })

  test('has enumerations by number or by name', () => {
    for (const [sent, read] of [
      [1, 'delta'],
      [2, 'cumulative'],
      ['AGGREGATION_TEMPORALITY_DELTA', 'delta'],
      ['AGGREGATION_TEMPORALITY_CUMULATIVE', 'cumulative'],
    ]) {
      const metric = { name: 'm', sum: { aggregationTemporality: sent, dataPoints: [{ asInt: 1 }] } }
      expect(json('metrics', metrics(metric)).signals).toMatchObject([{ temporality: read }])
    }
  })

  test('has doubles that are no numbers', () => {
    expect(firstPoint({ asDouble: 'NaN' }).value).toBeNaN()
    expect(firstPoint({ asDouble: '-Infinity' }).value).toBe(-Infinity)
    expect(firstPoint({ asDouble: '0.25' }).value).toBe(0.25)
  })

  test('has halves of characters where a text was cut off, and reads what other encodings make of them', () => {
    const bytes = bytesOf(
      '{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"attributes":[{"key":"a","value":{"stringValue":"x\\ud83d"}}]}]}]}]}',
    )
    const [signal] = decode({ kind: 'logs', encoding: 'json', gzip: false, bytes }, EVERYTHING).signals
    expect(signal!.attributes.get('a')).toBe('x\ufffd')
  })

  const malformed: [what: string, body: string, said: RegExp][] = [
    ['nothing', '', /valid JSON/],
    ['a cut off document', '{"resourceLogs":[', /valid JSON/],
    ['a list', '[]', /must be an object/],
    ['a text', '"resourceLogs"', /must be an object/],
    ['a list that is an object', '{"resourceLogs":{}}', /resourceLogs must be an array/],
    ['a record that is a text', JSON.stringify(logs('x' as unknown as object)), /logRecords must be an object/],
    ['a record that is null', '{"resourceLogs":[null]}', /resourceLogs must be an object/],
    ['an attribute that is a text', JSON.stringify(logs({ attributes: ['a'] })), /attributes must be an object/],
    ['a key that is a number', JSON.stringify(logs({ attributes: [{ key: 1 }] })), /key must be a string/],
    ['a value that is a text', JSON.stringify(logs({ attributes: [{ key: 'a', value: 'a' }] })), /must be an object/],
    [
      'a text that is a number',
      JSON.stringify(logs({ attributes: attributes({ a: { stringValue: 1 } }) })),
      /stringValue/,
    ],
    [
      'an integer with a fraction',
      JSON.stringify(logs({ attributes: attributes({ a: { intValue: 1.5 } }) })),
      /intValue/,
    ],
    ['an integer of words', JSON.stringify(logs({ attributes: attributes({ a: { intValue: 'one' } }) })), /intValue/],
    [
      'an integer beyond 64 bits',
      JSON.stringify(logs({ attributes: attributes({ a: { intValue: `${2n ** 63n}` } }) })),
      /64-bit/,
    ],
    ['an integer of a million digits', JSON.stringify(logs({ timeUnixNano: '9'.repeat(1e6) })), /64-bit/],
    ['a time before 1970', JSON.stringify(logs({ timeUnixNano: -1 })), /64-bit/],
    [
      'a truth that is a text',
      JSON.stringify(logs({ attributes: attributes({ a: { boolValue: 'true' } }) })),
      /boolValue/,
    ],
    ['lists in lists without end', '['.repeat(1e6), /must be an object/],
    [
      'values in values in an attribute of a point',
      `{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"m","sum":{"aggregationTemporality":1,"dataPoints":[{"asInt":1,"attributes":[{"key":"a","value":${'{"arrayValue":{"values":['.repeat(3000)}${']}}'.repeat(3000)}}]}]}}]}]}]}`,
      /nested too deeply/,
    ],
  ]
  test.each(malformed)('that is %s is refused, and told why', (_what, body, said) => {
    const kind = body.includes('resourceMetrics') ? 'metrics' : 'logs'
    const reading = () => decode({ kind, encoding: 'json', gzip: false, bytes: bytesOf(body) }, EVERYTHING)
    expect(reading).toThrow(Malformed)
    expect(reading).toThrow(said)
  })

  test('that is no UTF-8 is refused', () => {
    const bytes = new Uint8Array([...bytesOf('{"a":"'), 0xff, ...bytesOf('"}')])
    expect(() => decode({ kind: 'logs', encoding: 'json', gzip: false, bytes }, EVERYTHING)).toThrow(Malformed)
  })

  test('nested ever deeper in what nobody reads is passed over', () => {
    const body = `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":${'{"arrayValue":{"values":['.repeat(5000)}${']}}'.repeat(5000)}}]}]}]}`
    const { counts } = decode({ kind: 'logs', encoding: 'json', gzip: false, bytes: bytesOf(body) }, NOTHING)
    expect(counts.records).toBe(1)
  })
})

describe('the name of an event', () => {
  const nameOf = (record: object) => firstLog(record).eventName

  test('is its attribute, else that of the record, else its body where that is a text', () => {
    const named = { attributes: attributes({ 'event.name': { stringValue: 'a' } }) }
    expect(nameOf({ ...named, eventName: 'b', body: { stringValue: 'c' } })).toBe('a')
    expect(nameOf({ eventName: 'b', body: { stringValue: 'c' } })).toBe('b')
    expect(nameOf({ body: { stringValue: 'c' } })).toBe('c')
    expect(nameOf({ body: { arrayValue: { values: [] } } })).toBe('')
  })

  test('is not told where it is the body of a record that is not wanted', () => {
    const { counts } = json('logs', logs({ body: { stringValue: 'a secret' } }, { eventName: 'known' }), NOTHING)
    expect(counts.ignored).toEqual(
      new Map([
        ['(invalid name)', 1],
        ['known', 1],
      ]),
    )
  })
})

describe('what is not wanted', () => {
  test('is counted by the first word of its name, the most frequent ones only', () => {
    const many = Array.from({ length: 60 }, (_, number) => ({ name: `operation${number}` }))
    const { signals, counts } = json(
      'traces',
      spans(
        ...many,
        { name: 'Read /home/secret' },
        { name: 'Read /etc/secret' },
        { name: 'x'.repeat(300) },
        { name: '/secret' },
      ),
      NOTHING,
    )
    expect(signals).toEqual([])
    expect(counts.records).toBe(64)
    expect(counts.ignored.size).toBe(50)
    expect([...counts.ignored][0]).toEqual(['Read', 2])
    expect(JSON.stringify([...counts.ignored])).not.toContain('secret')
    expect(Math.max(...[...counts.ignored.keys()].map((name) => name.length))).toBeLessThan(101)
  })

  test('is told of a span by its name or by what it carries', () => {
    const carrying = { name: 'chat', attributes: attributes({ 'gen_ai.usage.input_tokens': { intValue: 1 } }) }
    const wanted = wanting({ span: (_name, has) => has('gen_ai.usage.input_tokens') })
    const { signals, counts } = json('traces', spans(carrying, { name: 'other' }), wanted)
    expect(signals).toMatchObject([{ kind: 'span', name: 'chat', attributes: new Map() }])
    expect(counts.ignored).toEqual(new Map([['other', 1]]))
  })

  test('of attributes is left out, of the resource too, and their values are not even read', () => {
    const record = { attributes: attributes({ kept: { stringValue: '1' }, other: { intValue: 'no integer' } }) }
    const sent = {
      resourceLogs: [
        {
          resource: {
            attributes: attributes({ team: { stringValue: 'core' }, 'host.name': { stringValue: 'secret' } }),
          },
          scopeLogs: [{ logRecords: [record] }],
        },
      ],
    }
    const wanted = wanting({
      log: () => true,
      attribute: (name) => name === 'kept',
      resourceAttribute: (name) => name === 'team',
    })
    expect(json('logs', sent, wanted).signals).toEqual([
      {
        kind: 'log',
        resource: new Map([['team', 'core']]),
        scope: '',
        attributes: new Map([['kept', '1']]),
        eventName: '',
        timeNanos: 0n,
      },
    ])
  })

  const SECRET = 'zanzibar'

  test('of prompts, answers, paths and hosts does not survive, wherever it stands', () => {
    const secret = { stringValue: `${SECRET} /home/${SECRET}` }
    const list = { arrayValue: { values: [secret] } }
    const record = {
      eventName: 'wanted',
      body: secret,
      severityText: SECRET,
      attributes: attributes({ prompt: secret, cwd: secret, arguments: list, tokens: { intValue: 12 } }),
    }
    const scope = { name: 'scope', version: SECRET, attributes: attributes({ prompt: secret }) }
    const resource = { attributes: attributes({ 'host.name': secret, prompt: secret, 'process.command_args': list }) }
    const logRecords = [
      record,
      { ...record, eventName: 'other' },
      { body: secret },
      { body: list },
      { eventName: `/${SECRET}` },
    ]
    const sent = {
      resourceLogs: [{ schemaUrl: SECRET, resource, scopeLogs: [{ schemaUrl: SECRET, scope, logRecords }] }],
    }
    const wanted = wanting({ log: (name) => name === 'wanted', attribute: (name) => name === 'tokens' })
    for (const { signals, counts } of [
      json('logs', sent, wanted),
      protobuf('logs', toProtobuf('logs', JSON.stringify(sent)), wanted),
    ]) {
      expect(signals).toHaveLength(1)
      expect(Bun.inspect({ signals, counts }, { depth: 20 })).not.toContain(SECRET)
    }
  })
})

describe('a metric', () => {
  test('that is wanted but no sum is rejected, point by point', () => {
    const gauge = { name: 'm', gauge: { dataPoints: [{ asInt: 1 }, { asInt: 2 }] } }
    const bodies = metrics(gauge, sum('m', { asInt: 3 }))
    for (const { signals, counts } of [
      json('metrics', bodies),
      protobuf('metrics', toProtobuf('metrics', JSON.stringify(bodies))),
    ]) {
      expect(signals).toMatchObject([{ value: 3 }])
      expect(counts).toMatchObject({ records: 3, rejected: 2, rejectionReason: 'm is not a sum.' })
    }
  })

  test('that says neither delta nor cumulative is rejected', () => {
    const { signals, counts } = json('metrics', metrics({ name: 'm', sum: { dataPoints: [{ asInt: 1 }] } }))
    expect(signals).toEqual([])
    expect(counts).toMatchObject({ records: 1, rejected: 1, rejectionReason: expect.stringContaining('delta') })
  })

  test('whose point has no value is rejected, but where the point says so it only ends', () => {
    const body = metrics(sum('m', { timeUnixNano: '1' }, { timeUnixNano: '2', flags: 1 }, { asInt: 0 }))
    for (const { signals, counts } of [
      json('metrics', body),
      protobuf('metrics', toProtobuf('metrics', JSON.stringify(body))),
    ]) {
      expect(signals).toMatchObject([{ value: 0 }])
      expect(counts).toMatchObject({ records: 3, rejected: 1, rejectionReason: 'A point of m has no value.' })
    }
  })
})

test('the ids of spans are hexadecimal in small letters', () => {
  const [span] = json('traces', spans({ traceId: 'AB01', spanId: 'Cd', parentSpanId: '' })).signals as SpanSignal[]
  expect(span).toMatchObject({ traceId: 'ab01', spanId: 'cd', parentSpanId: '' })
  expect(() => json('traces', spans({ traceId: 'secret' }))).toThrow(/traceId must be hexadecimal/)
})

describe('protobuf', () => {
  const part = (field: number, ...bytes: number[]) => [(field << 3) | 2, bytes.length, ...bytes]
  const text = (field: number, value: string) => part(field, ...bytesOf(value))

  test('may have fields that are not known yet, wherever they are', () => {
    const unknown = [...text(14, 'new'), (15 << 3) | 0, 200, 1]
    const streamOf = (more: number[]) => {
      const list = part(5, ...part(1, ...text(1, 'a'), ...more), ...part(1, ...text(1, 'b')), ...more)
      const attribute = part(7, ...text(1, 'key'), ...part(2, ...list, ...more), ...more)
      const point = part(1, ...attribute, ...more, (6 << 3) | 1, 5, 0, 0, 0, 0, 0, 0, 0)
      const metric = part(2, ...text(1, 'm'), ...part(7, ...point, 16, 1, ...more), ...more)
      const bytes = part(1, ...part(2, ...metric, ...more), ...more)
      return protobuf('metrics', new Uint8Array([...bytes, ...more])).signals
    }
    expect(streamOf([])).toMatchObject([{ metric: 'm', value: 5, temporality: 'delta' }])
    expect(streamOf(unknown)).toEqual(streamOf([]))
  })

  test('may have its fields in any order', () => {
    // Scopes before the resource, the records before the scope, and values before keys.
    const pair = (key: string, value: string) => [...part(2, ...text(1, value)), ...text(1, key)]
    const log = [...part(6, ...pair('a', 'b')), ...part(5, ...text(1, 'named'))]
    const body = part(
      1,
      ...part(2, ...part(2, ...log), ...part(1, ...text(1, 'scope'))),
      ...part(1, ...part(1, ...pair('team', 'core'))),
    )
    expect(protobuf('logs', new Uint8Array(body)).signals).toEqual([
      {
        kind: 'log',
        resource: new Map([['team', 'core']]),
        scope: 'scope',
        attributes: new Map([['a', 'b']]),
        eventName: 'named',
        timeNanos: 0n,
      },
    ])
  })

  test('of nothing is a request without records', () => {
    expect(protobuf('logs', new Uint8Array()).counts).toMatchObject({ records: 0 })
  })

  test('that is cut off or changed anywhere is read or refused, and never anything else', async () => {
    const all = jsonCaptures('agents/claude-code', 'cases/qwen-code')
    const bodies = all.map(({ kind, text }) => ({ kind, bytes: toProtobuf(kind, text) }))
    fc.assert(
      fc.property(
        fc.constantFrom(...bodies),
        fc.array(fc.record({ at: fc.double({ min: 0, max: 1, noNaN: true }), byte: fc.nat(255) }), { maxLength: 5 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        ({ kind, bytes }, changes, end) => {
          const changed = bytes.slice(0, Math.ceil(bytes.length * end))
          for (const { at, byte } of changes) changed[Math.floor(changed.length * at)] = byte
          onlyMalformed({ kind, encoding: 'protobuf', gzip: false, bytes: changed })
        },
      ),
      { numRuns: runs(500, 100) },
    )
  })

  test('of any bytes is read or refused, in every encoding', () => {
    const kinds = fc.constantFrom<Kind>('logs', 'metrics', 'traces')
    fc.assert(
      fc.property(
        kinds,
        fc.boolean(),
        fc.constantFrom('json', 'protobuf'),
        fc.uint8Array(),
        (kind, gzip, encoding, bytes) => onlyMalformed({ kind, encoding, gzip, bytes }),
      ),
    )
    fc.assert(
      fc.property(kinds, fc.json(), (kind, text) =>
        onlyMalformed({ kind, encoding: 'json', gzip: false, bytes: bytesOf(text) }),
      ),
    )
  })
})

test('JSON of any shape is read or refused', () => {
  const names = [
    'resourceLogs',
    'resource',
    'scopeLogs',
    'scope',
    'name',
    'logRecords',
    'attributes',
    'key',
    'value',
    'body',
    'stringValue',
    'intValue',
    'timeUnixNano',
    'eventName',
  ]
  const shape = fc.letrec((tie) => ({
    any: fc.oneof(
      { maxDepth: 8 },
      fc.constantFrom(null, true, 0, -1, 1.5, 1e300, '', 'text', '12', []),
      fc.array(tie('any'), { maxLength: 2 }),
      fc.dictionary(fc.constantFrom(...names), tie('any'), { maxKeys: 4 }),
    ),
  }))
  fc.assert(
    fc.property(shape.any, (value) => {
      const wrapped = [value, { resourceLogs: [value] }, logs(value as object), logs({ attributes: [value] })]
      for (const body of wrapped) {
        onlyMalformed({ kind: 'logs', encoding: 'json', gzip: false, bytes: bytesOf(JSON.stringify(body)) })
      }
    }),
    { numRuns: runs(500, 100) },
  )
})

function onlyMalformed(body: Body): void {
  try {
    decode(body, EVERYTHING)
  } catch (error) {
    if (!(error instanceof Malformed)) throw error
  }
}

describe('a compressed body', () => {
  const body = JSON.stringify(logs({ eventName: 'a' }))
  const gzipped = (bytes: Uint8Array, encoding: Body['encoding'] = 'json') =>
    decode({ kind: 'logs', encoding, gzip: true, bytes }, EVERYTHING)

  test('is read as what it holds', () => {
    expect(gzipped(gzipSync(body))).toEqual(json('logs', logs({ eventName: 'a' })))
  })

  test('that is cut off, or none, is refused', () => {
    const whole = gzipSync(body)
    for (const bytes of [
      whole.subarray(0, -5),
      bytesOf(body),
      new Uint8Array(),
      Buffer.concat([whole, bytesOf('more')]),
    ]) {
      expect(() => gzipped(bytes)).toThrow(Malformed)
    }
  })

  test('of more than the limit is refused before all of it is there', () => {
    const bomb = Buffer.concat(Array.from({ length: 40 }, () => gzipSync(Buffer.alloc(BODY_LIMIT_BYTES / 32))))
    expect(bomb.length).toBeLessThan(200_000)
    expect(() => gzipped(bomb, 'protobuf')).toThrow(TooMuch)
  })
})

describe('limits', () => {
  const refusal = (kind: Kind, value: unknown) => {
    const said = [() => json(kind, value), () => protobuf(kind, toProtobuf(kind, JSON.stringify(value)))].map(
      (reading) => {
        try {
          reading()
          return 'read'
        } catch (error) {
          if (error instanceof TooMuch) return error.message.split('.')[0]
          throw error
        }
      },
    )
    expect(said[0]).toBe(said[1]!)
    return said[0]
  }
  const many = (count: number, item: object) => Array(count).fill(item)

  test('let pass what a Collector sends at once, each record under a resource and a scope of its own', () => {
    const group = {
      resource: { attributes: attributes({ a: { stringValue: 'x' } }) },
      scopeLogs: [{ logRecords: [{ eventName: 'a' }] }],
    }
    expect(refusal('logs', { resourceLogs: many(8_192, group) })).toBe('read')
  })

  test('are told, on records, on resources and scopes, on attributes, and on those that count', () => {
    expect(refusal('logs', logs(...many(9_001, {})))).toContain('9,000 usage records')
    expect(refusal('logs', { resourceLogs: many(20_001, {}) })).toContain('20,000 resources and scopes')
    expect(refusal('metrics', metrics({ name: 'm', gauge: { dataPoints: many(50_001, {}) } }))).toContain(
      '50,000 records',
    )
    expect(refusal('logs', logs({ attributes: many(4_097, {}) }))).toContain('4,096 attributes')
    const long = { a: { stringValue: 'x'.repeat(300_000) } }
    expect(refusal('metrics', metrics(sum('m', { asInt: 1, attributes: attributes(long) })))).toContain('256 KiB')
  })

  test('leave texts out that are longer than any name, and read the record all the same', () => {
    const record = {
      attributes: attributes({ prompt: { stringValue: 'x'.repeat(2_000_000) }, tokens: { intValue: 1 } }),
    }
    for (const { signals } of [
      json('logs', logs(record)),
      protobuf('logs', toProtobuf('logs', JSON.stringify(logs(record)))),
    ]) {
      expect([...signals[0]!.attributes]).toEqual([['tokens', 1]])
    }
  })

  test('in JSON, a field that is there twice is refused, and the order of fields is free', () => {
    const read = (body: string) =>
      decode({ kind: 'logs', encoding: 'json', gzip: false, bytes: bytesOf(body) }, EVERYTHING)
    const group = '"scopeLogs":[{"logRecords":[{"eventName":"a"}],"scope":{"n\\u0061me":"s"}}]'
    const resource = '"resource":{"attributes":[{"value":{"stringValue":"v"},"key":"k"}]}'
    const [signal] = read(`{"resourceLogs":[{${group},${resource}}]}`).signals
    expect(signal).toMatchObject({ scope: 's', resource: new Map([['k', 'v']]) })
    expect(() => read(`{"resourceLogs":[{${group},${resource},${resource}}]}`)).toThrow('resource is duplicated')
    expect(() => read(`{"resourceLogs":[{${group},${group}}]}`)).toThrow('scopeLogs is duplicated')
    expect(() => read('{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"eventName":"a","eventName":"b"}]}]}]}')).toThrow(
      'duplicated',
    )
  })
})

test('every signal of every kind is what its name says', () => {
  const kinds: [Kind, unknown, Signal['kind']][] = [
    ['logs', logs({}), 'log'],
    ['metrics', metrics(sum('m', { asInt: 1 })), 'point'],
    ['traces', spans({}), 'span'],
  ]
  for (const [kind, body, signal] of kinds) expect(json(kind, body).signals).toMatchObject([{ kind: signal }])
})
