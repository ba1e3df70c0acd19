import { describe, expect, test } from 'bun:test'
import { Problem } from '../../src/errors.ts'
import { BATCH_LIMIT_BYTES, REPORT_LIMIT_BYTES, readBatch, readJson } from '../../src/http/body.ts'
import { BodyMemory } from '../../src/http/load-limits.ts'
import { numberText } from '../../src/lib/exact-json.ts'

type Body = NonNullable<RequestInit['body']>

function request(body: Body, type: string | null = 'application/json', headers: Record<string, string> = {}) {
  const request = new Request('http://localhost/', { method: 'POST', body, headers })
  request.headers.delete('content-type')
  if (type !== null) request.headers.set('content-type', type)
  return { request, bodyMemory: new BodyMemory() }
}

/** The code of the problem that the reading ends in. */
async function refusal(reading: Promise<unknown>): Promise<string> {
  try {
    await reading
    return 'accepted'
  } catch (error) {
    if (error instanceof Problem) return error.code
    throw error
  }
}

const bytes = (...values: number[]) => new Uint8Array(values)
const text = (content: string) => [...new TextEncoder().encode(content)]

describe('a JSON body', () => {
  test('is read as it was written', async () => {
    expect(await readJson(request('{"a": [1, null, "ü😀\\ud83d\\ude00"]}'))).toEqual({ a: [1, null, 'ü😀😀'] })
  })

  test('may name its charset, and begin with a byte order mark', async () => {
    expect(await readJson(request('{}', 'Application/JSON; charset=utf-8'))).toEqual({})
    expect(await readJson(request(bytes(0xef, 0xbb, 0xbf, ...text('{}'))))).toEqual({})
  })

  test('keeps every digit of its numbers', async () => {
    const cost = await readJson(request('{"reported_cost": 123456789.123456789}'))
    expect(numberText(cost as Record<string, number>, 'reported_cost')).toBe('123456789.123456789')
  })

  const malformed: [string, Body][] = [
    ['nothing', ''],
    ['white space', '  '],
    ['a cut off object', '{"a": 1'],
    ['two documents', '{} {}'],
    ['a trailing comma', '[1,]'],
    ['NaN', '[NaN]'],
    ['Infinity', '[-Infinity]'],
    ['a comment', '[1] // one'],
    ['single quotes', "['a']"],
    ['a control character in a text', '["a\nb"]'],
    ['a byte that is no UTF-8', bytes(...text('["a'), 0xff, ...text('"]'))],
    ['an overlong encoding', bytes(...text('["'), 0xc0, 0xaf, ...text('"]'))],
    ['a surrogate encoded in UTF-8', bytes(...text('["'), 0xed, 0xa0, 0xbd, ...text('"]'))],
    ['UTF-16', bytes(0xff, 0xfe, 0x7b, 0, 0x7d, 0)],
    ['half of a surrogate pair', '["\\ud83d"]'],
    ['the other half', '["\\ude00x"]'],
    ['halves in the wrong order', '["\\ude00\\ud83d"]'],
    ['half of a pair in a name', '{"a": {"\\uD83D": 1}}'],
  ]
  for (const [name, body] of malformed) {
    test(`that is ${name} is malformed`, async () => {
      expect(await refusal(readJson(request(body)))).toBe('malformed_json')
    })
  }

  test('may be a hundred levels deep, and not a level more', async () => {
    const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
    expect(await refusal(readJson(request(nested(100))))).toBe('accepted')
    for (const levels of [101, 10_000, REPORT_LIMIT_BYTES / 2])
      expect(await refusal(readJson(request(nested(levels))))).toBe('malformed_json')
  })

  for (const type of [
    null,
    '',
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data',
    'application/jsonp',
    'application/x-ndjson',
    'text/json',
  ]) {
    test(`sent as ${type ?? 'nothing'} is refused`, async () => {
      expect(await refusal(readJson(request('{}', type)))).toBe('unsupported_media_type')
    })
  }

  test('sent compressed is refused, since nothing here unpacks it', async () => {
    expect(await refusal(readJson(request('{}', undefined, { 'content-encoding': 'gzip' })))).toBe(
      'unsupported_media_type',
    )
    expect(await refusal(readJson(request('{}', undefined, { 'content-encoding': 'identity' })))).toBe('accepted')
  })

  test('may have exactly a mebibyte, and not a byte more', async () => {
    const body = (length: number) => `"${'x'.repeat(length - 2)}"`
    expect(await refusal(readJson(request(body(REPORT_LIMIT_BYTES))))).toBe('accepted')
    expect(await refusal(readJson(request(body(REPORT_LIMIT_BYTES + 1))))).toBe('body_too_large')
  })

  const duplicates: [where: string, body: string, pointer: string][] = [
    ['at the top', '{"a": 1, "b": [{}], "a": 1}', '/a'],
    ['in an object of a list', '{"a": [{"x": 1}, {"b": "}", "c": {"d/e": 1, "d/e": 2}}]}', '/a/1/c/d~1e'],
    ['that is written otherwise', '{"tokens": {"input": 1, "inp\\u0075t": 2}}', '/tokens/input'],
    ['that is empty', '{"": 1, "": 2}', '/'],
    ['that JavaScript gives a meaning', '{"__proto__": 1, "a": {}, "__proto__": 2}', '/__proto__'],
    ['with quotes in it', '{"a\\"": 1, "b": "\\\\", "a\\"": 2}', '/a"'],
  ]
  test.each(duplicates)('with a name twice %s is refused, and the name is reported', async (_where, body, pointer) => {
    const refused = await readJson(request(body)).catch((error: Problem) => error)
    expect(refused).toMatchObject({
      code: 'validation_failed',
      more: { issues: [{ pointer, code: 'duplicate_name' }] },
    })
  })

  test('may have a name in several objects, and colons and quotes in texts', async () => {
    const body = '{"a": {"a": ":\\":{"}, "b": [{"a": "x\\\\"}, {"a": "{\\"a\\":1,\\"a\\":2}"}]}'
    expect(await refusal(readJson(request(body)))).toBe('accepted')
  })

  test('may hold so many names and values, and not more, whatever they are', async () => {
    const worst = ['{}', '[]', '{"a":1}', '1', '"x"', '{"a":{"b":{}}}']
    for (const each of worst) {
      const body = (count: number) => `[${Array(count).fill(each).join(',')}]`
      expect(await refusal(readJson(request(body(4_000))))).toBe('accepted')
      expect(await refusal(readJson(request(body(40_000))))).toBe('body_too_large')
    }
    // Not into several requests: each report of a session has all of its slices.
    const refused = readJson(request(`[${Array(40_000).fill('1').join(',')}]`))
    expect(await refused.catch(({ detail }) => detail)).toContain('Send a report with many slices in a batch')
  })

  test('that never ends is refused as soon as it is too large', async () => {
    let sent = 0
    const endless = new ReadableStream({
      pull(controller) {
        sent += 65_536
        controller.enqueue(new Uint8Array(65_536).fill(0x20))
      },
    })
    expect(await refusal(readJson(request(endless)))).toBe('body_too_large')
    expect(sent).toBeLessThan(2 * REPORT_LIMIT_BYTES)
  })
})

describe('a batch', () => {
  test('is an array, or a document a line', async () => {
    expect(await readBatch(request('[1, 2]'))).toEqual([1, 2])
    expect(await readBatch(request('{"a": 1}\r\n\n  {"b": 2}\n', 'application/x-ndjson'))).toEqual([{ a: 1 }, { b: 2 }])
    expect(await readBatch(request('', 'application/x-ndjson'))).toEqual([])
  })

  test('holds in place of a malformed line the problem that names it', async () => {
    const [good, bad] = (await readBatch(request('{"a": 1}\n\n{"b"}', 'application/x-ndjson'))) as unknown[]
    expect(good).toEqual({ a: 1 })
    expect(bad).toMatchObject({ code: 'malformed_json', detail: 'Line 3 is not valid JSON.' })
  })

  test('is read as far as one line more than it may have, however many are blank', async () => {
    const lines = (await readBatch(
      request(`${'\n'.repeat(1e6)}{}${'\n{}'.repeat(2_000)}`, 'application/x-ndjson'),
    )) as []
    expect(lines).toHaveLength(1_001)
    const body = `${'\n'.repeat(1e6)} \r\n{"a": 1}\n[`
    expect(await readBatch(request(body, 'application/x-ndjson'))).toMatchObject([
      { a: 1 },
      { detail: 'Line 1000003 is not valid JSON.' },
    ])
  })

  test('replaces an item that contains a name twice with a problem', async () => {
    const items = '{"a": 1}X{"b": 1, "b": 2}X{"c": {"d": 1, "d": 2}}X{"e": 1}'
    const expected = [
      { a: 1 },
      { code: 'validation_failed', more: { issues: [{ pointer: '/b' }] } },
      { code: 'validation_failed', more: { issues: [{ pointer: '/c/d' }] } },
      { e: 1 },
    ]
    expect(await readBatch(request(`[${items.replaceAll('X', ',')}]`))).toMatchObject(expected)
    expect(await readBatch(request(items.replaceAll('X', '\n'), 'application/x-ndjson'))).toMatchObject(expected)
  })

  test('may be eight times as large as a report', async () => {
    expect(await refusal(readBatch(request(`["${'x'.repeat(REPORT_LIMIT_BYTES)}"]`)))).toBe('accepted')
    expect(await refusal(readBatch(request(' '.repeat(BATCH_LIMIT_BYTES + 1))))).toBe('body_too_large')
  })
})
