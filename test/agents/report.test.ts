import { expect, test } from 'bun:test'
import { Value } from '@sinclair/typebox/value'
import fc from 'fast-check'
import type { SessionUse } from '../../src/agents/agent.ts'
import { reportText } from '../../src/agents/report.ts'
import { TokenEntryReport } from '../../src/features/entries/schema.ts'

const use: SessionUse = {
  agentHarness: 'claude-code',
  sessionId: 's',
  model: 'claude-sonnet-4-5',
  provider: null,
  startedAt: '2026-11-20T10:00:00.000Z',
  endedAt: '2026-11-20T11:00:00.000Z',
  tokens: { input: 1, output: 2, cache_read: 3, cache_write: 4, cache_write_1h: 5 },
  requests: 2,
  reportedCost: null,
  folder: '/home/ada/secret-client',
  repository: 'acme/web',
  branch: 'main',
  summary: 'Claude Code in acme/web on main',
  title: 'Find the leak',
  missing: null,
  ...{ requestsAbove: [], service: {}, tools: {} },
  file: '/home/ada/.claude/projects/p/s.jsonl',
}

test('a report contains neither title nor folder, unless the title is requested', () => {
  expect(reportText(use)).not.toMatch(/leak|secret-client|home/)
  expect(JSON.parse(reportText(use, { withTitles: true })).summary).toBe('Find the leak')
  expect(reportText(use, { withTitles: true })).not.toMatch(/secret-client|home/)
})

test('a cost keeps every digit that the agent wrote', () => {
  expect(reportText({ ...use, reportedCost: '12345678.123456789012345678' })).toContain(
    '"reported_cost":12345678.123456789012345678,',
  )
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
      const odd = { ...use, branch, title, model: `m${model}`, sessionId: `s${sessionId}` }
      const report = JSON.parse(reportText(odd, { withTitles: true }))
      expect([...Value.Errors(TokenEntryReport, report)]).toEqual([])
      const { summary, labels, session_id } = report
      expect([summary, labels.branch ?? '', session_id, report.model].every((each) => each.isWellFormed())).toBe(true)
    }),
  )
})

test('a title that is too long is cut between two letters', () => {
  const { summary } = JSON.parse(reportText({ ...use, title: `a${'🎉'.repeat(600)}` }, { withTitles: true }))
  expect(summary).toBe(`a${'🎉'.repeat(499)}`)
})
