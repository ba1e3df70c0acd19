/** Lines that agents wrote, changed at random, so that most are nearly as usual and some are no JSON at all. */
import { expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { FieldsReader, type WantedFields } from '../../src/agents/json-fields.ts'
import { claudeCode } from '../../src/agents/readers/claude-code.ts'
import { runs } from '../support/tier.ts'

const FIXTURES = join(import.meta.dir, '../fixtures')

const LINES = ['agents/claude-code', 'cases/claude-code-compact', 'cases/claude-code-fork', 'cases/claude-code-tool']
  .flatMap((folder) =>
    (readdirSync(join(FIXTURES, folder), { recursive: true }) as string[]).map((path) => join(folder, path)),
  )
  .filter((path) => path.endsWith('.jsonl'))
  .flatMap((path) => readFileSync(join(FIXTURES, path), 'utf8').split('\n'))
  .filter((line) => line.length > 0 && line.length < 10_000)

const ANSWERS = LINES.filter((line) => line.includes('"type":"assistant"'))

/** A name and its value, if that is not an object or an array with content. */
const PAIR = /"[^"\\]*":(?:"[^"\\]*"|-?\d+|true|false|null|\{\}|\[\])/g

const NAMES = ['usage', 'message', 'input_tokens', 'output_tokens', 'requestId', 'id', 'type', 'timestamp', 'speed']
const VALUES = [
  ...[
    'null',
    'true',
    '""',
    '"a"',
    '"\\u0041"',
    '"\\n"',
    '"é"',
    '"日本"',
    '"\\ud800"',
    '{}',
    '[]',
    '{"a":1}',
    '[{"type":"message"}]',
  ],
  ...[
    '0',
    '-0',
    '-1',
    '01',
    '1.5',
    '1.',
    '1e3',
    '1E+',
    '12345678901234567890',
    '999999999999999',
    '"2026-11-20T17:52:59.891Z"',
  ],
  ...['"assistant"', '"queue-operation"', '"HEAD"', '"<synthetic>"', '{"input_tokens":3}', 'nul', '"\\x"', '"\\u00g0"'],
]
const PIECES = [
  '"',
  '\\',
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  ' ',
  '\t',
  '0',
  '-',
  '.',
  'e',
  '\u0001',
  'é',
  '\u0000',
  '\ufeff',
  ',"id":1',
]

type Change = (line: string) => string

/** Changes one of the pairs, if there is any. */
const changedPair =
  (at: number, change: (name: string, value: string) => string): Change =>
  (line) => {
    const pairs = [...line.matchAll(PAIR)]
    if (pairs.length === 0) return line
    const { index, 0: pair } = pairs[at % pairs.length]!
    const colon = pair.indexOf('":') + 1
    return line.slice(0, index) + change(pair.slice(0, colon), pair.slice(colon + 1)) + line.slice(index + pair.length)
  }

const aChange: fc.Arbitrary<Change> = fc.oneof(
  fc.tuple(fc.nat(200), fc.constantFrom(...VALUES)).map(([at, value]) => changedPair(at, (name) => `${name}:${value}`)),
  fc
    .tuple(fc.nat(200), fc.constantFrom(...NAMES))
    .map(([at, name]) => changedPair(at, (_, value) => `"${name}":${value}`)),
  fc.nat(200).map((at) => changedPair(at, (name, value) => `${name}:${value},${name}:${value}`)),
  fc
    .nat(200)
    .map((at) =>
      changedPair(
        at,
        (name, value) => `${name.replace(/\w/, (first) => `\\u00${first.charCodeAt(0).toString(16)}`)}:${value}`,
      ),
    ),
  fc
    .tuple(fc.nat(200), fc.nat(1_000_000))
    .map(([at, count]) => changedPair(at, (name, value) => `${name}:${/^\d/.test(value) ? count : value}`)),
  fc.nat(200).map(
    (at): Change =>
      (line) =>
        changedPair(at, () => '"x":0')(line).replace(/"x":0,|,"x":0/, ''),
  ),
  fc.tuple(fc.nat(3_000), fc.constantFrom(...PIECES)).map(
    ([at, piece]): Change =>
      (line) =>
        line.slice(0, at) + piece + line.slice(at + 1),
  ),
  fc.tuple(fc.nat(3_000), fc.constantFrom(...PIECES)).map(
    ([at, piece]): Change =>
      (line) =>
        line.slice(0, at) + piece + line.slice(at),
  ),
  fc.nat(3_000).map(
    (length): Change =>
      (line) =>
        line.slice(0, length),
  ),
)

const aLine = (lines: readonly string[]) =>
  fc
    .tuple(fc.constantFrom(...lines), fc.array(aChange, { maxLength: 3 }))
    .map(([line, changes]) => changes.reduce((changed, change) => change(changed), line))

const WANTED = {
  names: ['type', 'timestamp', 'requestId', 'isSidechain', 'cwd'],
  objects: {
    message: {
      names: ['id', 'model', 'stop_reason'],
      objects: {
        usage: {
          names: [
            ...[
              'input_tokens',
              'output_tokens',
              'cache_creation_input_tokens',
              'cache_read_input_tokens',
              'iterations',
            ],
            ...['service_tier', 'inference_geo', 'speed', 'server_tool_use'],
          ],
          objects: {
            cache_creation: { names: ['ephemeral_1h_input_tokens', 'ephemeral_5m_input_tokens'], others: [] },
          },
          others: ['output_tokens_details', 'fallback_credit'],
        },
      },
    },
  },
} satisfies WantedFields

function wantedOf(
  record: Record<string, unknown>,
  { names, objects = {}, others }: WantedFields,
): Record<string, unknown> {
  const entries = Object.entries(record).flatMap(([name, value]): [string, unknown][] => {
    const object = objects[name]
    if (object) return [[name, wantedOf(value as Record<string, unknown>, object)]]
    return names.includes(name) ? [[name, value]] : []
  })
  const known = [...names, ...Object.keys(objects), ...(others ?? [])]
  if (others) expect(Object.keys(record).filter((name) => !known.includes(name))).toEqual([])
  return Object.fromEntries(entries)
}

test('the wanted fields of a line are those of JSON.parse', () => {
  let read = 0
  fc.assert(
    fc.property(fc.array(aLine(ANSWERS), { maxLength: 12 }), (lines) => {
      const reader = new FieldsReader([WANTED])
      for (const line of lines) {
        const bytes = Buffer.from(`,${line}\n`)
        const record = reader.read(bytes, 1, bytes.length - 1)
        if (record === undefined) continue
        read += 1
        expect(record).toEqual(wantedOf(JSON.parse(line), WANTED))
      }
    }),
    { numRuns: runs(3_000) },
  )
  expect(read).toBeGreaterThan(runs(3_000))
})

test('lines that are usual are read, and the next one of the same names', () => {
  const reader = new FieldsReader([WANTED])
  for (const line of ANSWERS) {
    const bytes = Buffer.from(line)
    expect(reader.read(bytes, 0, bytes.length)).toEqual(wantedOf(JSON.parse(line), WANTED))
  }
})

test('a line that differs from the one before in few bytes is read as it is', () => {
  const reader = new FieldsReader([WANTED])
  const lines = [
    '{"type":"a","cwd":"x","message":{"id":"1","usage":{"input_tokens":1,"output_tokens":20}}}',
    '{"type":"a","cwd":"xy","message":{"id":"1","usage":{"input_tokens":12,"output_tokens":2}}}',
    '{"type":"a","cwd":"","message":{"id":"1","usage":{"input_tokens":12,"output_tokens":2e0}}}',
    '{"type":"a","cwd":"a\\"","message":{"id":null,"usage":{"input_tokens":12.5,"output_tokens":-2}}}',
    '{"type":"a","cwd":"é","message":{"id":[1],"usage":{"input_tokens":12,"output_tokens":2}}}',
    '{"type":"a","cwd":"é","message":{"id":[1],"usage":{"input_tokens":12,"output_tokens":2,"speed":"fast"}}}',
    '{"type":"a","cwd":"é","message":{"id":[1]}}',
    '{"type":"a"}',
    '{}',
  ]
  for (const line of [...lines, ...lines.toReversed()]) {
    const bytes = Buffer.from(line)
    expect(reader.read(bytes, 0, bytes.length)).toEqual(wantedOf(JSON.parse(line), WANTED))
  }
  const twice = ['{"type":"a","type":"b"}', '{"type":"c","type":"b"}'].map((line) => Buffer.from(line))
  for (const bytes of twice) expect(reader.read(bytes, 0, bytes.length)?.type ?? 'b').toBe('b')
})

/** With a space, no line is usual. */
const spaced = (line: string) => line.replace(/^\{/, '{ ')

test('a file of Claude Code is read the same, whether its lines are usual or not', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tally-json-fields-'))
  const path = join(folder, '7abded9e-af37-492b-8216-95394ad33034.jsonl')
  const readingOf = (lines: readonly string[]) => {
    writeFileSync(path, lines.join('\n'))
    return claudeCode.read(path)
  }
  try {
    fc.assert(
      fc.property(fc.array(aLine(LINES), { maxLength: 30 }), (lines) => {
        expect(readingOf(lines)).toEqual(readingOf(lines.map(spaced)))
      }),
      { numRuns: runs(2_000) },
    )
  } finally {
    rmSync(folder, { recursive: true })
  }
})
