import { describe, expect, test } from 'bun:test'
import { Problem } from '../../../../src/errors.ts'
import {
  digestOf,
  fingerprintOf,
  issuesBeyondSchema,
  readReport,
  reportChecker,
} from '../../../../src/features/entries/reporting/report.ts'
import type { TokenEntryReport } from '../../../../src/features/entries/schema.ts'
import { readIdempotencyKey } from '../../../../src/http/idempotency-key.ts'
import { parseExactJson } from '../../../../src/lib/exact-json.ts'
import { issuesOf } from '../../../../src/schema/issues.ts'
import { reportBody } from '../../../support/reports.ts'

const NOW = Date.parse('2026-11-20T12:00:00Z')

function pointersOf(change: Record<string, unknown>): string[] {
  const value = reportBody(change)
  return [...issuesOf(reportChecker, value), ...issuesBeyondSchema(value, NOW)]
    .map(({ pointer, code }) => `${pointer} ${code}`)
    .sort()
}

describe('a report', () => {
  test('with only the required fields is whole', () => {
    expect(readReport(reportBody(), NOW)).toMatchObject({
      harness: 'codex',
      counts: { input: 10, output: 5, cacheRead: 0 },
      requests: null,
      reportedCostNanos: null,
    })
  })

  test('loses outer space, and line breaks of its summary become spaces', () => {
    const report = readReport(
      reportBody({ agent_name: '  builder ', summary: ' Fix\r\nthe\tlogin\n', labels: { b: '2', a: '1' } }),
      NOW,
    )
    expect([report.agent, report.summary, JSON.stringify(report.labels)]).toEqual([
      'builder',
      'Fix the login',
      '{"a":"1","b":"2"}',
    ])
  })

  test('whose input includes the cache is made disjoint, its share above 200,000 likewise', () => {
    const tokens = {
      input: 100,
      output: 5,
      cache_read: 60,
      cache_write: 10,
      input_includes_cache: true,
      over_200k: { input: 50, cache_read: 40 },
    }
    const { counts, details } = readReport(reportBody({ tokens }), NOW)
    expect([counts.input, counts.cacheRead]).toEqual([30, 60])
    expect(details?.requestsAbove).toMatchObject([{ threshold: 200_000, counts: { input: 10, cacheRead: 40 } }])
  })

  test('keeps every digit of a reported cost and rounds past the ninth decimal half to even', () => {
    const costOf = (text: string) => {
      const value = parseExactJson(
        JSON.stringify({ ...reportBody(), reported_cost: 0 }).replace('"reported_cost":0', `"reported_cost":${text}`),
      )
      return readReport(value as TokenEntryReport, NOW).reportedCostNanos
    }
    expect(costOf('0.063354')).toBe(63_354_000n)
    expect(costOf('123456789.123456789')).toBe(123_456_789_123_456_789n)
    expect(costOf('0.0000000005')).toBe(0n)
    expect(costOf('0.0000000015')).toBe(2n)
    expect(costOf('1e-7')).toBe(100n)
  })

  test('is refused with every issue and its pointer', () => {
    expect(
      pointersOf({
        agent_harness: '',
        model: 5,
        tokens: { input: '5', output: -1, cache_read: 1.5, cache_write: 1e13, cash: 1 },
        extra: 1,
        ended_at: '2026-11-20T09:00:00Z',
      }),
    ).toEqual([
      '/agent_harness too_short',
      '/ended_at ends_before_start',
      '/extra unknown_field',
      '/model wrong_type',
      '/tokens/cache_read not_an_integer',
      '/tokens/cache_write too_large',
      '/tokens/cash unknown_field',
      '/tokens/input wrong_type',
      '/tokens/output too_small',
    ])
  })

  test('may end a day ahead of the clock and no more', () => {
    expect(pointersOf({ ended_at: '2026-11-21T12:00:00Z' })).toEqual([])
    expect(pointersOf({ ended_at: '2026-11-21T12:00:01Z' })).toEqual(['/ended_at in_the_future'])
  })

  test('is refused where the cache exceeds the input that is said to include it', () => {
    expect(pointersOf({ tokens: { input: 5, output: 1, cache_read: 6, input_includes_cache: true } })).toEqual([
      '/tokens/input cache_exceeds_input',
    ])
  })

  test('is refused where a share above 200,000 exceeds its count', () => {
    expect(pointersOf({ tokens: { input: 5, output: 1, over_200k: { input: 6, cache_read: 1 } } })).toEqual([
      '/tokens/over_200k/cache_read exceeds_total',
      '/tokens/over_200k/input exceeds_total',
    ])
  })

  test('may hold 16 labels with plain names and values, and no more', () => {
    const labels = Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`label-${index}`, 'x']))
    expect(pointersOf({ labels })).toEqual(['/labels too_many'])
    expect(pointersOf({ labels: { Repository: 'x' } })).toEqual(['/labels/Repository unknown_field'])
    expect(pointersOf({ labels: { repository: 'a\u0007b' } })).toEqual(['/labels/repository bad_format'])
  })

  test('may not carry control characters in names', () => {
    expect(pointersOf({ agent_name: 'a\nb', project: '\u0085x', summary: 'a\u0000' })).toEqual([
      '/agent_name bad_format',
      '/project bad_format',
      '/summary bad_format',
    ])
  })
})

describe('the digest of a report', () => {
  const digest = (change: Record<string, unknown>) =>
    Buffer.from(digestOf(readReport(reportBody(change), NOW))).toString('hex')

  test('is the same for the same content in another order, and differs with any field', () => {
    const changes = [
      {},
      { agent_name: 'x' },
      { project: 'a' },
      { ticket: 'a' },
      { summary: 'a' },
      { reported_cost: 0 },
      { reported_cost: 1 },
      { requests: 0 },
      { labels: { a: '1' } },
      { tokens: { input: 10, output: 5, cache_read: 1 } },
      { provider: 'a' },
      { ended_at: '2026-11-20T11:00:00.001Z' },
    ]
    expect(new Set(changes.map(digest)).size).toBe(changes.length)
    expect(digest({ labels: { a: '1', b: '2' } })).toBe(digest({ labels: { b: '2', a: '1' } }))
  })

  test('gives a fingerprint that fits a signed 64-bit column', () => {
    expect(fingerprintOf(new Uint8Array(32).fill(255))).toBe(2n ** 63n - 1n)
  })
})

test('an idempotency key is up to 200 printable characters', () => {
  expect(readIdempotencyKey(null)).toBeUndefined()
  expect(readIdempotencyKey('a-1')).toBe('a-1')
  for (const key of ['', 'a b', 'x'.repeat(201), 'ä']) expect(() => readIdempotencyKey(key)).toThrow(Problem)
})
