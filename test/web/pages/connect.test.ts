import { expect, test } from 'bun:test'
import { HOOKED_AGENTS } from '../../../src/agents/install/install.ts'
import { AGENT_NAMES, AGENTS, UNREAD_AGENTS } from '../../../src/shared/agents.ts'
import { findAgents, GUIDES, isTelemetry } from '../../../src/web/pages/connect/guides.ts'

const TARGET = {
  url: 'https://tally.example',
  token: 'tly_svc_secret',
  program: 'tally',
  now: new Date('2026-11-21T12:00:00.123Z'),
}

const wayOf = (key: string, way?: string) => {
  const { ways } = GUIDES.find((guide) => guide.key === key)!
  return way === undefined ? ways[0]! : ways.find((each) => each.way === way)!
}
const linesOf = (key: string, way?: string) => wayOf(key, way).steps.map(({ lines }) => lines(TARGET))

test('every guide for telemetry contains the address of the endpoint, and the token', () => {
  const telemetry = GUIDES.filter(({ ways }) => ways.some(isTelemetry)).map(({ key }) => key)
  expect(telemetry).toHaveLength(7)
  for (const key of telemetry) {
    expect(linesOf(key, 'telemetry').join('\n')).toContain('https://tally.example/api/v1/telemetry')
    expect(linesOf(key, 'telemetry').join('\n')).toContain(TARGET.token)
  }
})

test('the first line of every guide has the token, and no command has it as an argument', () => {
  for (const { key, ways } of GUIDES) {
    for (const { way } of ways) {
      const [first] = linesOf(key, way)
      expect([key, way, first!.includes(TARGET.token)]).toEqual([key, way, true])
      const commands = linesOf(key, way).flatMap((lines) => lines.match(/(?<=^|\| )(tally|curl) .*/gm) ?? [])
      expect([key, way, commands.filter((command) => command.includes(TARGET.token))]).toEqual([key, way, []])
    }
  }
})

test('one line connects an agent that has a hook', () => {
  expect(linesOf('claude-code', 'hook')).toEqual([
    'echo tly_svc_secret | tally agents login --url https://tally.example --token-stdin --install claude-code --report',
  ])
})

test('the ways of every agent are those that it has', () => {
  for (const name of AGENT_NAMES) {
    const ways = GUIDES.find(({ key }) => key === name)!.ways.map(({ way }) => way)
    expect([name, ways.includes('hook')]).toEqual([name, HOOKED_AGENTS.includes(name)])
    expect([name, ways.toSorted()]).toEqual([name, Object.keys(AGENTS[name].ways).sort() as never])
  }
})

test('the first report is valid JSON about the last ten minutes', () => {
  const [, json] = /-d '(.*)'$/s.exec(linesOf('curl')[0]!)!
  expect(JSON.parse(json!)).toMatchObject({ started_at: '2026-11-21T11:50:00Z', ended_at: '2026-11-21T12:00:00Z' })
})

test('settings files of agents are valid', () => {
  for (const key of ['gemini-cli', 'qwen-code', 'opencode']) expect(() => JSON.parse(linesOf(key)[1]!)).not.toThrow()
  expect(Bun.TOML.parse(linesOf('codex')[0]!)).toMatchObject({
    otel: { exporter: { 'otlp-http': { headers: { Authorization: 'Bearer tly_svc_secret' } } } },
  })
})

test('people find agents by name, also those that are not read, which are not listed otherwise', () => {
  expect(findAgents(' ')).toEqual({ guides: [...GUIDES], unread: [] })
  const found = (text: string) => {
    const { guides, unread } = findAgents(text)
    return [...guides, ...unread].map(({ title }) => title)
  }
  const names = ['Amp', 'Droid', 'Roo Code', 'Zed', 'Junie', 'Cursor', 'Antigravity', 'Crush', 'Hermes', 'Mistral Vibe']
  expect(names.filter((name) => !found(name).some((title) => title.startsWith(name)))).toEqual([])
  expect(findAgents('roo').unread).toEqual([UNREAD_AGENTS['roo-code']!])
  expect(found('oh my')).toEqual(['Pi'])
})
