/**
 * Bodies within their byte limits that use as much memory as possible: millions of empty records, deeply nested values,
 * unique names, texts of escapes, and compressed bodies that expand a lot.
 */
import { gzipSync } from 'node:zlib'
import { runs } from './tier.ts'

const MIB = 1_048_576

export interface Bomb {
  name: string
  /** The decoder that it is for. */
  decoder: 'otlp-protobuf' | 'otlp-json' | 'report' | 'batch' | 'table' | 'sheet' | 'picture'
  /** Below /api/v1; `:sheet` is replaced with an open token sheet. */
  path: string
  contentType: string
  gzip?: true
  /** The body is valid: the memory of its thousands of records in the database does not count as decoding. */
  isValid?: true
  make(): Uint8Array
}

const LOGS = 'telemetry/v1/logs'
const METRICS = 'telemetry/v1/metrics'
const TRACES = 'telemetry/v1/traces'

const text = (content: string) => new TextEncoder().encode(content)

/** As many copies as fit between a start and an end. */
function filled(bytes: number, unit: string | ((index: number) => string), first = '', last = ''): Uint8Array {
  if (typeof unit === 'string') {
    const count = Math.floor((bytes - first.length - last.length) / Buffer.byteLength(unit))
    return Buffer.concat([Buffer.from(first), Buffer.alloc(count * Buffer.byteLength(unit), unit), Buffer.from(last)])
  }
  const parts: string[] = []
  let length = first.length + last.length
  for (let index = 0; ; index += 1) {
    const part = unit(index)
    length += Buffer.byteLength(part)
    if (length > bytes) break
    parts.push(part)
  }
  return text(first + parts.join('') + last)
}

/** A field of Protocol Buffers with a length. */
function field(number: number, inner: Uint8Array): Uint8Array {
  const head: number[] = [(number << 3) | 2]
  let rest = inner.length
  while (rest > 0x7f) {
    head.push((rest & 0x7f) | 0x80)
    rest >>>= 7
  }
  head.push(rest)
  return Buffer.concat([Uint8Array.from(head), inner])
}

const repeated = (unit: number[], bytes: number) =>
  Buffer.alloc(Math.floor(bytes / unit.length) * unit.length, Buffer.from(unit))

const inLogs = (record: Uint8Array) => field(1, field(2, record))

const protobuf = (name: string, path: string, make: () => Uint8Array): Bomb[] => {
  const common = { decoder: 'otlp-protobuf', path, contentType: 'application/x-protobuf' } as const
  return [
    { ...common, name, make },
    { ...common, name: `${name}, gzip`, gzip: true, make: () => gzipSync(make(), { level: 1 }) },
  ]
}

const otlpJson = (name: string, path: string, make: () => Uint8Array): Bomb[] => {
  const common = { decoder: 'otlp-json', path, contentType: 'application/json' } as const
  return [
    { ...common, name, make },
    { ...common, name: `${name}, gzip`, gzip: true, make: () => gzipSync(make(), { level: 1 }) },
  ]
}

const json = (decoder: Bomb['decoder'], path: string, bytes: number): Bomb[] => {
  const contentType = 'application/json'
  const of = (name: string, make: () => Uint8Array): Bomb => ({ decoder, path, contentType, name, make })
  return [
    of('[[[[…', () => filled(bytes, '[')),
    of('[{},{},…', () => filled(bytes, '{},', '[', '{}]')),
    of('[[],[],…', () => filled(bytes, '[],', '[', '[]]')),
    of('[1,1,…', () => filled(bytes, '1,', '[', '1]')),
    of('["a","a",…', () => filled(bytes, '"a",', '[', '1]')),
    of('{"a":{"a":…', () => filled(bytes, '{"a":')),
    of('objects with names of their own', () => filled(bytes, (at) => `{"${at.toString(36)}":0},`, '[', '1]')),
    of('one object with many names', () => filled(bytes, (at) => `"${at.toString(36)}":0,`, '{', '"-":1}')),
    of('a name a million times', () => filled(bytes, '"a":0,', '{', '"a":1}')),
    of('numbers of twenty digits', () => filled(bytes, '12345678901234567890,', '[', '1]')),
    of('a number of a million digits', () => filled(bytes, '9', '[', ']')),
    of('a text of escapes', () => filled(bytes, '\\u00e9', '["', '"]')),
    of('a text with a wide character', () => filled(bytes, 'x', '["€', '"]')),
    // Just below the limit.
    of('as many objects as there may be', () =>
      filled(
        Math.min(bytes, decoder === 'report' ? 90_000 : 390_000),
        (at) => `{"${at.toString(36).padStart(5, 'a')}":0},`,
        '[',
        '1]',
      ),
    ),
    of('as many texts as there may be', () =>
      filled(bytes, (at) => `"${at.toString(36).padStart(decoder === 'report' ? 34 : 70, 'x')}",`, '[', '1]'),
    ),
  ]
}

export const BOMBS: readonly Bomb[] = [
  ...protobuf('empty resources', LOGS, () => repeated([0x0a, 0], 16 * MIB)),
  ...protobuf('empty scopes', LOGS, () => field(1, repeated([0x12, 0], 16 * MIB - 16))),
  ...protobuf('empty log records', LOGS, () => inLogs(repeated([0x12, 0], 16 * MIB - 16))),
  ...protobuf('empty spans', TRACES, () => inLogs(repeated([0x12, 0], 16 * MIB - 16))),
  ...protobuf('empty points', METRICS, () => inLogs(field(2, field(7, repeated([0x0a, 0], 16 * MIB - 32))))),
  ...protobuf('attributes of a record', LOGS, () => inLogs(field(2, repeated([0x32, 0], 16 * MIB - 32)))),
  ...protobuf('attributes of a resource', LOGS, () => field(1, field(1, repeated([0x0a, 0], 16 * MIB - 32)))),
  ...protobuf('groups in groups', LOGS, () => repeated([0x0b], 16 * MIB)),
  ...protobuf('unknown fields', LOGS, () => repeated([0x78, 1], 16 * MIB)),
  ...protobuf('zeros', LOGS, () => Buffer.alloc(16 * MIB)),
  ...protobuf('fields that say they are longer', LOGS, () => repeated([0x0a, 0xff, 0xff, 0xff, 0x7f], 16 * MIB)),
  {
    name: 'many gzip members',
    decoder: 'otlp-protobuf',
    path: LOGS,
    contentType: 'application/x-protobuf',
    gzip: true,
    make: () => Buffer.concat(Array(400).fill(gzipSync(Buffer.alloc(10 * MIB), { level: 1 }))),
  },
  ...otlpJson('[[[[…', LOGS, () => filled(16 * MIB, '[', '{"resourceLogs":')),
  ...otlpJson('empty resources', LOGS, () => filled(16 * MIB, '{},', '{"resourceLogs":[', '{}]}')),
  ...otlpJson('empty log records', LOGS, () =>
    filled(16 * MIB, '{},', '{"resourceLogs":[{"scopeLogs":[{"logRecords":[', '{}]}]}]}'),
  ),
  ...otlpJson('empty points', METRICS, () =>
    filled(
      16 * MIB,
      '{},',
      '{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"claude_code.token.usage","sum":{"aggregationTemporality":1,"dataPoints":[',
      '{}]}}]}]}]}',
    ),
  ),
  ...otlpJson('attributes of a record', LOGS, () =>
    filled(16 * MIB, '{},', '{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"attributes":[', '{}]}]}]}]}'),
  ),
  ...otlpJson('what nobody reads', LOGS, () => filled(16 * MIB, '{},', '{"other":[', '{}]}')),
  ...otlpJson('a name that no other object has', LOGS, () => filled(16 * MIB, (at) => `"${at}":0,`, '{', '"-":0}')),
  ...otlpJson('objects in objects', LOGS, () => filled(16 * MIB, '{"a":')),
  ...otlpJson('a text of escapes as a name', LOGS, () =>
    filled(16 * MIB, '\\u00e9', '{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"eventName":"', '"}]}]}]}'),
  ),
  ...otlpJson('a text with a wide character', LOGS, () =>
    filled(
      16 * MIB,
      'x',
      '{"resourceLogs":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"€',
      '"}}]}}]}',
    ),
  ),
  ...otlpJson('as many calls as there may be', LOGS, () =>
    filled(
      16 * MIB,
      (at) =>
        at < 8_999
          ? `{"attributes":[{"key":"event.name","value":{"stringValue":"api_request"}},{"key":"session.id","value":{"stringValue":"${at}-${'s'.repeat(150)}"}},{"key":"model","value":{"stringValue":"${at}-${'m'.repeat(150)}"}},{"key":"user.email","value":{"stringValue":"${at}-${'e'.repeat(150)}@x"}},{"key":"request_id","value":{"stringValue":"${at}${'r'.repeat(700)}"}},{"key":"input_tokens","value":{"intValue":1}},{"key":"output_tokens","value":{"intValue":1}}]},`
          : ' '.repeat(1_000),
      '{"resourceLogs":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"claude-code"}}]},"scopeLogs":[{"scope":{"name":"com.anthropic.claude_code.events"},"logRecords":[',
      '{}]}]}]}',
    ),
  ).map((bomb) => ({ ...bomb, isValid: true as const })),
  ...json('report', 'token-entries', MIB),
  ...json('batch', 'token-entries/batch', 8 * MIB),
  ...['\n', '{}\n', '[\n', '{"a":1,"a":2}\n', '"\n'].map(
    (unit): Bomb => ({
      name: `lines of ${JSON.stringify(unit)}`,
      decoder: 'batch',
      path: 'token-entries/batch',
      contentType: 'application/x-ndjson',
      make: () => filled(8 * MIB, unit),
    }),
  ),
  ...json('table', 'prices/load?dry_run=true', 8 * MIB),
  ...(
    [
      [
        'models without anything',
        () => filled(8 * MIB, (at) => `"${at}":{},`, '{"a":{"litellm_provider":"x"},', '"-":1}'),
      ],
      ['prices without anything', () => filled(8 * MIB, '{"model":1},', '[', '{"model":1}]')],
      [
        'as many refused models as there may be',
        () => filled(19_990 * 31, (at) => `{"model":"${at}","tiers":[{}]},`, '[', '{"model":1}]'),
      ],
      ['tiers of a model', () => filled(8 * MIB, '{},', '[{"model":"a","tiers":[', '{}]}]')],
    ] as const
  ).map(
    ([name, make]): Bomb => ({
      name,
      decoder: 'table',
      path: 'prices/load?dry_run=true',
      contentType: 'application/json',
      make,
    }),
  ),
  ...['table', 'sheet'].flatMap((decoder) =>
    (
      [
        ['commas', ',', ''],
        ['line breaks', '\n', ''],
        ['rows', 'a\n', 'model,input,output\n'],
        ['cells', 'a,', 'model,input,output\n'],
        ['a quote that is not closed', 'x', '"'],
        ['doubled quotes', '""', '"'],
        ['columns', 'model,', ''],
      ] as const
    ).map(
      ([name, unit, first]): Bomb => ({
        name: `CSV: ${name}`,
        decoder: decoder as 'table' | 'sheet',
        path: decoder === 'table' ? 'prices/load?dry_run=true' : 'token-sheets/:sheet/import',
        contentType: 'text/csv',
        make: () => filled(8 * MIB, unit, first),
      }),
    ),
  ),
  {
    name: 'a picture of 2 million pixels by as many',
    decoder: 'picture',
    path: 'settings/logo',
    contentType: 'image/png',
    make: () =>
      Buffer.concat([
        Uint8Array.from([
          0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52, 0, 31, 0, 0, 0, 31, 0, 0,
        ]),
        Buffer.alloc(MIB - 100),
      ]),
  },
]

/** Number of bombs per decoder in a run of the tests; TALLY_TEST_BOMBS=all runs all of them, in a minute and a half. */
const TRIED = runs(3)

/** The bombs of a decoder: all of them, or some from the whole list. */
export function bombsFor(decoder: Bomb['decoder']): Bomb[] {
  const bombs = BOMBS.filter((bomb) => bomb.decoder === decoder)
  const every = process.env.TALLY_TEST_BOMBS === 'all' ? 1 : Math.ceil(bombs.length / TRIED)
  return bombs.filter((_, index) => index % every === 0)
}
