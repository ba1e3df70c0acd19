import { describe, expect, test } from 'bun:test'
import { Problem } from '../../src/errors.ts'
import { BATCH_LIMIT_BYTES, REPORT_LIMIT_BYTES, readBatch, readJson } from '../../src/http/body.ts'
import { numberText } from '../../src/lib/exact-json.ts'

type Body = NonNullable<RequestInit['body']>

function request(body: Body, type: string | null = 'application/json', headers: Record<string, string> = {}) {
  const request = new Request('http://localhost/', { method: 'POST', body, headers })
  request.headers.delete('content-type')
  if (type !== null) request.headers.set('content-type', type)
  return { request }
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

  test('may be eight times as large as a report', async () => {
    expect(await refusal(readBatch(request(`["${'x'.repeat(REPORT_LIMIT_BYTES)}"]`)))).toBe('accepted')
    expect(await refusal(readBatch(request(' '.repeat(BATCH_LIMIT_BYTES + 1))))).toBe('body_too_large')
  })
})
