import { describe, expect, test } from 'bun:test'
import { Value } from '@sinclair/typebox/value'
import fc from 'fast-check'
import type { Cell, SessionUse } from '../../src/agents/agent.ts'
import { type ReportOptions, reportText } from '../../src/agents/report.ts'
import { type SliceReport, TokenEntryReport } from '../../src/features/entries/schema.ts'
import { REQUEST_THRESHOLDS } from '../../src/lib/request-thresholds.ts'

const place = { repository: 'acme/web', branch: 'main' }
const counts = { input: 1, output: 2, cache_read: 3, cache_write: 4, cache_write_1h: 5 }
const noon = Date.parse('2026-11-20T12:00:00Z')

function cell(change: Partial<Cell> = {}): Cell {
  return {
    ...{ place, firstAt: noon, lastAt: noon, tokens: counts, requestsAbove: [], tools: {}, requests: 2 },
    ...{ reportedCost: null, activeMs: null, ...change },
  }
}

const use: SessionUse = {
  agentHarness: 'claude-code',
  sessionId: 's',
  model: 'claude-sonnet-4-5',
  provider: null,
  startedAt: '2026-11-20T12:00:00.000Z',
  endedAt: '2026-11-20T12:00:00.000Z',
  tokens: counts,
  ...{ cells: () => [cell()], days: [cell()] },
  requests: 2,
  ...{ reportedCost: null, activeMs: null },
  folder: '/home/ada/secret-client',
  repository: 'acme/web',
  branch: 'main',
  summary: 'Claude Code in acme/web',
  title: 'Find the leak',
  ...{ missing: null, plan: null, entrypoint: null, funding: null },
  ...{ requestsAbove: [], service: {}, tools: {} },
  file: '/home/ada/.claude/projects/p/s.jsonl',
}

/** Both texts of the report. */
function textsOf(use: SessionUse, options?: ReportOptions): string {
  const { sliced, whole } = reportText(use, options)
  return `${sliced}\n${whole()}`
}
// biome-ignore lint/suspicious/noExplicitAny: bodies of reports
const sliced = (use: SessionUse, options?: ReportOptions): any => JSON.parse(reportText(use, options).sliced)

test('a report contains neither title nor folder, unless the title is requested', () => {
  expect(textsOf(use)).not.toMatch(/leak|secret-client|home/)
  expect(sliced(use, { withTitles: true }).summary).toBe('Find the leak')
  expect(textsOf(use, { withTitles: true })).not.toMatch(/secret-client|home/)
})

test('what the agent records of its plan, its charges and its start is reported, and a label of the person replaces it', () => {
  const paid = { ...use, plan: 'codex:plus', funding: 'credits', entrypoint: 'sdk-cli' } as const
  expect(sliced(paid)).toMatchObject({ plan: 'codex:plus', funding: 'credits', labels: { entrypoint: 'sdk-cli' } })
  expect(sliced(paid, { labels: { entrypoint: 'ci' } }).labels).toEqual({ entrypoint: 'ci' })
  const { unfunded, whole } = reportText(paid)
  for (const text of [unfunded(), whole()]) {
    expect(text).not.toMatch(/"(plan|funding)"/)
    expect(text).toContain('"entrypoint":"sdk-cli"')
  }
})

test('a cost keeps every digit that the agent wrote', () => {
  const reportedCost = '12345678.123456789012345678'
  const texts = textsOf({ ...use, reportedCost, cells: () => [cell({ reportedCost })] }).split('\n')
  for (const text of texts) expect(text).toContain('"reported_cost":12345678.123456789012345678')
})

test('whatever stands in a session file, the report of it is one that the endpoint takes', () => {
  // Printable or not, halves of letters included.
  const unit = fc.oneof(
    fc.integer({ max: 0xffff, min: 0 }).map((code) => String.fromCharCode(code)),
    fc.constantFrom('a', ' ', '\n', '🎉', '\ud83c', '\udf89'),
  )
  const text = fc.string({ unit, maxLength: 1_200 })
  fc.assert(
    fc.property(text, text, text, text, (branch, title, model, sessionId) => {
      const cells = [cell({ place: { repository: 'acme/web', branch } })]
      const odd = { ...use, branch, cells: () => cells, title, model: `m${model}`, sessionId: `s${sessionId}` }
      for (const text of textsOf(odd, { withTitles: true }).split('\n')) {
        const report = JSON.parse(text)
        expect([...Value.Errors(TokenEntryReport, report)]).toEqual([])
        const { summary, session_id } = report
        const label = (report.slices?.[0] ?? report).labels.branch ?? ''
        expect([summary, label, session_id, report.model].every((each) => each.isWellFormed())).toBe(true)
      }
    }),
  )
})

test('a title that is too long is cut between two letters', () => {
  const { summary } = sliced({ ...use, title: `a${'🎉'.repeat(600)}` }, { withTitles: true })
  expect(summary).toBe(`a${'🎉'.repeat(499)}`)
})

test('a report of a session in one place has it in its slice alone, and says of the whole only what holds for all', () => {
  expect(sliced(use)).toEqual({
    agent_harness: 'claude-code',
    agent_name: 'claude-code',
    model: 'claude-sonnet-4-5',
    started_at: '2026-11-20T12:00:00.000Z',
    ended_at: '2026-11-20T12:00:00.000Z',
    summary: 'Claude Code in acme/web',
    session_id: 's',
    labels: {},
    slices: [
      {
        started_at: '2026-11-20T12:00:00.000Z',
        ended_at: '2026-11-20T12:00:00.000Z',
        tokens: counts,
        requests: 2,
        labels: { repository: 'acme/web', branch: 'main' },
      },
    ],
  })
})

test('the same report for a server of an earlier version has the totals and the last branch', () => {
  const { slices, labels, summary, tokens, requests } = JSON.parse(reportText(use).whole())
  expect(slices).toBeUndefined()
  expect(labels).toEqual({ repository: 'acme/web', branch: 'main' })
  expect([summary, tokens, requests]).toEqual(['Claude Code in acme/web on main', counts, 2])
})

test('labels that the person sets take precedence over the place of each slice', () => {
  const { labels, slices } = sliced(use, { labels: { branch: 'release', team: 'web' } })
  expect(labels).toEqual({ branch: 'release', team: 'web' })
  expect(slices[0].labels).toEqual({ repository: 'acme/web' })
})

test('a sum of unknown requests is not reported as one, which would be priced as a long one', () => {
  const tokens = { ...counts, input: 300_000 }
  const long = REQUEST_THRESHOLDS.filter((threshold) => threshold < 300_000).map((threshold) => ({
    threshold,
    ...tokens,
  }))
  const cells = [
    cell({ tokens, requests: 1, requestsAbove: long }),
    cell({ tokens, requests: 1 }),
    cell({ tokens, requests: 2 }),
    cell({ requests: 1 }),
  ]
  const requests = sliced({ ...use, cells: () => cells }).slices.map((slice: SliceReport) => slice.requests)
  expect(requests).toEqual([1, undefined, 2, 1])
})

test('active time is reported exactly, of the slices of which it is known, and only to servers that know slices', () => {
  const cells = [cell({ activeMs: 1 }), cell({ activeMs: 86_400_001 }), cell({ activeMs: 0 }), cell()]
  const timed = { ...use, cells: () => cells, activeMs: 86_400_002 }
  const [text, whole] = textsOf(timed).split('\n')
  expect([...text!.matchAll(/"active_seconds":([^,}]+)/g)].map(([, time]) => time!)).toEqual([
    '0.001',
    '86400.001',
    '0',
  ])
  expect(whole).not.toContain('active_seconds')
})

test('costs are reported of all slices or of none', () => {
  const cells = [cell({ reportedCost: '0.5' }), cell({ firstAt: noon + 1, lastAt: noon + 1 })]
  const costs = ({ slices }: { slices: object[] }) => slices.filter((slice) => 'reported_cost' in slice).length
  expect(costs(sliced({ ...use, cells: () => cells }))).toBe(0)
  const known = cells.map((each) => ({ ...each, reportedCost: '0.5' }))
  expect(costs(sliced({ ...use, cells: () => known, reportedCost: '1' }))).toBe(2)
})

describe('a session with more cells than a report can have', () => {
  const quarter = 15 * 60_000
  const many = (count: number, change: (index: number) => Partial<Cell> = () => ({})) =>
    Array.from({ length: count }, (_, index) =>
      cell({ firstAt: noon + index * quarter, lastAt: noon + index * quarter + 1, ...change(index) }),
    )
  const inputOf = (slices: { tokens: { input: number } }[]) => slices.reduce((sum, { tokens }) => sum + tokens.input, 0)

  test('has its oldest joined by day and place in the time zone of the organization, and no more than necessary', () => {
    const { slices } = sliced({ ...use, cells: () => many(1_040) }, { timeZone: 'Asia/Kathmandu' })
    expect(slices).toHaveLength(1_000)
    expect(inputOf(slices)).toBe(1_040)
    // Noon UTC is 17:45 in Kathmandu: 25 quarters are left of that day.
    expect(
      slices.slice(0, 3).map((slice: { started_at: string; requests: number }) => [slice.started_at, slice.requests]),
    ).toEqual([
      ['2026-11-20T12:00:00.000Z', 50],
      ['2026-11-20T18:15:00.000Z', 34],
      ['2026-11-20T22:30:00.000Z', 2],
    ])
    expect(slices[0].labels).toEqual({ repository: 'acme/web', branch: 'main' })
  })

  test('keeps places of a day apart', () => {
    const branch = (index: number) => ({ place: { repository: 'acme/web', branch: `b${index % 2}` } })
    const { slices } = sliced({ ...use, cells: () => many(1_010, branch) })
    expect(slices).toHaveLength(1_000)
    expect(slices.slice(0, 2).map(({ labels }: { labels: object }) => labels)).toEqual([
      { repository: 'acme/web', branch: 'b0' },
      { repository: 'acme/web', branch: 'b1' },
    ])
  })

  test('has them joined by day without place, and in the end as one, where that does not suffice', () => {
    const branch = (index: number) => ({ place: { repository: 'acme/web', branch: `b${index}` } })
    const places = sliced({ ...use, cells: () => many(1_500, branch) }).slices
    expect([places.length, inputOf(places), 'labels' in places[0]]).toEqual([1_000, 1_500, false])
    const daily = (index: number) => ({ firstAt: noon + index * 96 * quarter, lastAt: noon + index * 96 * quarter })
    const days = sliced({ ...use, cells: () => many(1_200, daily) }).slices
    expect([days.length, inputOf(days), days[0].requests]).toEqual([1_000, 1_200, 402])
  })
})
