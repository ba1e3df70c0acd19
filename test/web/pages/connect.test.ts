import { expect, test } from 'bun:test'
import { GUIDES } from '../../../src/web/pages/connect/guides.ts'

const TARGET = { url: 'https://tally.example', token: 'tly_svc_secret', now: new Date('2026-11-21T12:00:00.123Z') }

const linesOf = (key: string) => GUIDES.find((guide) => guide.key === key)!.steps.map(({ lines }) => lines(TARGET))

test('every guide for telemetry contains the address of the endpoint', () => {
  for (const { key, isTelemetry } of GUIDES) {
    if (isTelemetry && key !== 'opencode') expect(linesOf(key)[0]).toContain('https://tally.example/api/v1/telemetry')
  }
  expect(linesOf('opencode')[1]).toContain('https://tally.example/api/v1/telemetry')
})

test('the token is in every guide but that for session files, which asks for it', () => {
  for (const { key } of GUIDES) expect(linesOf(key).join('\n').includes(TARGET.token)).toBe(key !== 'files')
})

test('the first report is valid JSON about the last ten minutes', () => {
  const [, json] = /-d '(.*)'$/s.exec(linesOf('curl')[1]!)!
  expect(JSON.parse(json!)).toMatchObject({ started_at: '2026-11-21T11:50:00Z', ended_at: '2026-11-21T12:00:00Z' })
})

test('settings files of agents are valid', () => {
  for (const key of ['gemini-cli', 'qwen-code', 'opencode']) expect(() => JSON.parse(linesOf(key)[0]!)).not.toThrow()
  expect(Bun.TOML.parse(linesOf('codex')[0]!)).toMatchObject({
    otel: { exporter: { 'otlp-http': { headers: { Authorization: 'Bearer tly_svc_secret' } } } },
  })
})
