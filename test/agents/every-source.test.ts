/**
 * One session reported by each source there is: by a scan, by a hook, over HTTP with slices and without, and by telemetry.
 * In every order and combination it becomes the same entries, on the days and with the costs that ccusage lists.
 */
import { afterAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { TALLY } from '../../src/access/actor.ts'
import { reportUses } from '../../src/agents/batches.ts'
import { deliverWaiting } from '../../src/agents/delivery.ts'
import { addJob } from '../../src/agents/spool.ts'
import type { ClientConfig } from '../../src/config.ts'
import type { TokenEntry } from '../../src/features/entries/schema.ts'
import { AgentHome, FIXTURES } from '../support/agent-home.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { OPERATOR } from '../support/reports.ts'
import { isLong } from '../support/tier.ts'

interface Call {
  id: string
  session: string
  at: string
  branch: string
  /** A copy in the file of a fork, which names the session that made the call. */
  copiedFrom?: string
  input: number
  output: number
  cacheRead?: number
  cacheWrite?: number
  cacheWrite1h?: number
}

const MODEL = 'claude-sonnet-4-5'

/** As Claude Code writes it. */
function lineOf(call: Call): string {
  const { id, session, at, branch, copiedFrom, input, output, cacheRead = 0, cacheWrite = 0, cacheWrite1h = 0 } = call
  return JSON.stringify({
    type: 'assistant',
    message: {
      ...{ id: `msg_${id}`, type: 'message', role: 'assistant', model: MODEL },
      usage: {
        ...{ input_tokens: input, output_tokens: output, cache_read_input_tokens: cacheRead },
        cache_creation_input_tokens: cacheWrite + cacheWrite1h,
        cache_creation: { ephemeral_5m_input_tokens: cacheWrite, ephemeral_1h_input_tokens: cacheWrite1h },
        ...{ service_tier: 'standard', speed: 'standard' },
      },
    },
    ...{ requestId: `req_${id}`, sessionId: session, timestamp: at, cwd: '/nowhere', gitBranch: branch },
    ...(copiedFrom && { forkedFrom: { sessionId: copiedFrom, messageUuid: id } }),
  })
}

/** The calls of a file, of which a call has a line for each block of its content. */
function callsIn(lines: readonly string[]): Call[] {
  const calls = new Map<string, Call>()
  for (const line of lines) {
    const { message, sessionId, timestamp, gitBranch, forkedFrom } = JSON.parse(line)
    if (!message?.usage || forkedFrom || calls.has(message.id)) continue
    const { input_tokens, output_tokens, cache_read_input_tokens, cache_creation } = message.usage
    calls.set(message.id, {
      ...{ id: message.id.slice('msg_'.length), session: sessionId, at: timestamp, branch: gitBranch },
      ...{ input: input_tokens, output: output_tokens, cacheRead: cache_read_input_tokens },
      cacheWrite: cache_creation.ephemeral_5m_input_tokens,
      cacheWrite1h: cache_creation.ephemeral_1h_input_tokens,
    })
  }
  return [...calls.values()]
}

/** In dollars, exactly: with at most a digit more than prices have. */
function costOf({ input, output, cacheRead = 0, cacheWrite = 0, cacheWrite1h = 0 }: Call): number {
  return (300 * input + 1_500 * output + 30 * cacheRead + 375 * cacheWrite + 600 * cacheWrite1h) / 100_000_000
}

function tokensOf(calls: readonly Call[]) {
  const sum = (of: (call: Call) => number | undefined) => calls.reduce((all, call) => all + (of(call) ?? 0), 0)
  return {
    ...{ input: sum(({ input }) => input), output: sum(({ output }) => output) },
    ...{ cache_read: sum(({ cacheRead }) => cacheRead), cache_write: sum(({ cacheWrite }) => cacheWrite) },
    cache_write_1h: sum(({ cacheWrite1h }) => cacheWrite1h),
  }
}

interface Shape {
  /** The lines of each file. Texts that tests replace, so that each order has sessions of its own, begin with `SESSION`. */
  files: string[][]
  timeZone: string
  /** What `ccusage claude daily --json --offline --timezone <zone>` 20.0.24 prints: the tokens and the cost of each day. */
  ccusage: [day: string, tokens: number, cost: number][]
  /** Day, branch and ticket, input, output and cost. */
  entries: [day: string, branch: string, ticket: string, input: number, output: number, cost: number][]
}

const many = (count: number, of: (index: number) => Call) => Array.from({ length: count }, (_, index) => of(index))
const at = (start: string, minutes: number) => new Date(Date.parse(start) + minutes * 60_000).toISOString()

/** Requests of less than 200,000 tokens, which have the lower price. */
const WORKED: Call[] = [
  ...many(8, (index) => ({
    ...{ id: `a${index}`, session: 'SESSION-1', at: at('2026-10-30T09:00:00Z', index * 50), branch: 'feature/ACME-1' },
    ...{ input: 150_000, output: 15_000 },
  })),
  ...many(8, (index) => ({
    ...{ id: `b${index}`, session: 'SESSION-1', at: at('2026-10-31T08:10:00Z', index * 30), branch: 'feature/ACME-1' },
    ...{ input: 100_000, output: 10_000 },
  })),
  { id: 'c', session: 'SESSION-1', at: '2026-11-20T09:00:00Z', branch: 'feature/ACME-2', input: 1_000, output: 1_000 },
]

const PARENT: Call[] = [
  { id: 'p1', session: 'SESSION-1', at: '2026-10-31T22:00:00Z', branch: 'feature/ACME-1', input: 5_000, output: 500 },
  { id: 'p2', session: 'SESSION-1', at: '2026-10-31T23:59:59Z', branch: 'feature/ACME-1', input: 7_000, output: 700 },
]

const SHAPES: Record<string, Shape> = {
  'of three weeks and two branches': {
    files: [WORKED.map(lineOf)],
    timeZone: 'UTC',
    ccusage: [
      ['2026-10-30', 1_320_000, 5.3999999999999995],
      ['2026-10-31', 880_000, 3.6000000000000005],
      ['2026-11-20', 2_000, 0.018000000000000002],
    ],
    entries: [
      ['2026-10-30', 'feature/ACME-1', 'ACME-1', 1_200_000, 120_000, 5.4],
      ['2026-10-31', 'feature/ACME-1', 'ACME-1', 800_000, 80_000, 3.6],
      ['2026-11-20', 'feature/ACME-2', 'ACME-2', 1_000, 1_000, 0.018],
    ],
  },
  'of two days, as Claude Code wrote it': {
    files: [
      readFileSync(join(FIXTURES, 'cases/claude-code-two-days/run1-two-days.jsonl'), 'utf8')
        .replaceAll('6418176a-ff03-4703-b7ca-38e50b268024', 'SESSION-1')
        .trim()
        .split('\n'),
    ],
    timeZone: 'UTC',
    ccusage: [
      ['2026-11-26', 57_694, 0.06886905],
      ['2026-11-27', 61_326, 0.06785445],
    ],
    entries: [
      ['2026-11-26', 'feature/ACME-42', 'ACME-42', 1_371, 599, 0.06886905],
      ['2026-11-27', 'feature/ACME-43', 'ACME-43', 1_519, 651, 0.06785445],
    ],
  },
  'that is forked at the end of the month': {
    files: [
      PARENT.map(lineOf),
      [
        ...PARENT.map((call) => lineOf({ ...call, session: 'SESSION-2', copiedFrom: 'SESSION-1' })),
        lineOf({
          ...{ id: 'f1', session: 'SESSION-2', at: '2026-11-01T00:00:01Z', branch: 'feature/ACME-2' },
          ...{ input: 9_000, output: 900 },
        }),
      ],
    ],
    timeZone: 'UTC',
    ccusage: [
      ['2026-10-31', 13_200, 0.054000000000000006],
      ['2026-11-01', 9_900, 0.0405],
    ],
    entries: [
      ['2026-10-31', 'feature/ACME-1', 'ACME-1', 12_000, 1_200, 0.054],
      ['2026-11-01', 'feature/ACME-2', 'ACME-2', 9_000, 900, 0.0405],
    ],
  },
  'that is compacted in the quarter of an hour in which the month ends in Kathmandu': {
    files: [
      [
        lineOf({
          ...{ id: 'k1', session: 'SESSION-1', at: '2026-10-31T18:10:00Z', branch: 'feature/ACME-1' },
          ...{ input: 3_000, output: 300, cacheRead: 120_000, cacheWrite: 900 },
        }),
        JSON.stringify({
          ...{ type: 'system', subtype: 'compact_boundary', sessionId: 'SESSION-1', gitBranch: 'feature/ACME-1' },
          ...{ timestamp: '2026-10-31T18:14:59Z', compactMetadata: { trigger: 'auto', preTokens: 123_000 } },
        }),
        JSON.stringify({
          ...{ type: 'user', isCompactSummary: true, sessionId: 'SESSION-1', timestamp: '2026-10-31T18:14:59Z' },
          message: { role: 'user', content: 'This session is being continued.' },
        }),
        lineOf({
          ...{ id: 'k2', session: 'SESSION-1', at: '2026-10-31T18:15:00Z', branch: 'feature/ACME-1' },
          ...{ input: 4_000, output: 400, cacheWrite1h: 2_000 },
        }),
      ],
    ],
    timeZone: 'Asia/Kathmandu',
    ccusage: [
      ['2026-10-31', 124_200, 0.052875],
      ['2026-11-01', 6_400, 0.030000000000000002],
    ],
    entries: [
      ['2026-10-31', 'feature/ACME-1', 'ACME-1', 3_000, 300, 0.052875],
      ['2026-11-01', 'feature/ACME-1', 'ACME-1', 4_000, 400, 0.03],
    ],
  },
}

/** A home folder with the session's files, and what it contains for those who report without reading them. */
interface Stage {
  app: TestApp
  server: ClientConfig
  home: AgentHome
  calls: Call[]
}

type Step = (stage: Stage) => Promise<void>

async function posted({ app, server }: Stage, path: string, json: unknown): Promise<void> {
  const { status, json: answer } = await app.call(`POST ${path}`, { token: server.token, json })
  if (status >= 300) throw new Error(`${path} answered ${status}: ${JSON.stringify(answer)}`)
}

/** A report of each session without what it used. */
function reportsOf({ calls }: Stage) {
  return [...Map.groupBy(calls, ({ session }) => session)].map(([session_id, own]) => ({
    own,
    report: {
      ...{ agent_harness: 'claude-code', agent_name: 'claude-code', model: MODEL, session_id },
      ...{ started_at: own[0]!.at, ended_at: own.at(-1)!.at },
    },
  }))
}

const STEPS: Record<string, Step> = {
  async scan({ home, server }) {
    const { refused, issue, left } = await reportUses(server, home.uses('claude-code'))
    expect([refused, issue, left]).toEqual([[], null, 0])
  },
  async hook({ home: { environment }, server, calls }) {
    const earlier = new Date(Date.now() - 60_000).toISOString()
    for (const sessionId of new Set(calls.map(({ session }) => session))) {
      const job = { agent: 'claude-code', sessionId, transcriptPath: null, event: 'SessionEnd', at: earlier } as const
      addJob(environment, { ...job, server: server.url, environment })
    }
    const delivery = await deliverWaiting({ environment, server, usualServer: server.url, patienceMs: 0 })
    expect([delivery.refused, delivery.empty, delivery.issue]).toEqual([[], [], null])
  },
  async slices(stage) {
    for (const { own, report } of reportsOf(stage)) {
      const slices = own.map((call) => ({
        ...{ started_at: call.at, ended_at: call.at, tokens: tokensOf([call]), requests: 1 },
        labels: { branch: call.branch },
      }))
      await posted(stage, '/api/v1/token-entries', { ...report, slices })
    }
  },
  async whole(stage) {
    for (const { own, report } of reportsOf(stage)) {
      const labels = { branch: own.at(-1)!.branch }
      const figures = { tokens: tokensOf(own), requests: own.length }
      await posted(stage, '/api/v1/token-entries', { ...report, ...figures, labels })
    }
  },
  async telemetry(stage) {
    const value = (each: string | number) =>
      typeof each === 'string'
        ? { stringValue: each }
        : Number.isInteger(each)
          ? { intValue: each }
          : { doubleValue: each }
    const attributes = (of: Record<string, string | number>) =>
      Object.entries(of).map(([key, each]) => ({ key, value: value(each) }))
    const recordOf = (call: Call) => ({
      timeUnixNano: `${Date.parse(call.at)}000000`,
      body: { stringValue: 'claude_code.api_request' },
      attributes: attributes({
        ...{ 'event.name': 'api_request', 'event.timestamp': call.at, 'session.id': call.session, model: MODEL },
        ...{ input_tokens: call.input, output_tokens: call.output, cache_read_tokens: call.cacheRead ?? 0 },
        cache_creation_tokens: (call.cacheWrite ?? 0) + (call.cacheWrite1h ?? 0),
        cache_creation_1h_tokens: call.cacheWrite1h ?? 0,
        ...{ cost_usd: costOf(call), request_id: `req_${call.id}` },
      }),
    })
    const resourceLogs = [...Map.groupBy(stage.calls, ({ branch }) => branch)].map(([branch, own]) => ({
      resource: { attributes: attributes({ 'service.name': 'claude-code', 'service.version': '2.1.332', branch }) },
      scopeLogs: [{ scope: { name: 'com.anthropic.claude_code.events' }, logRecords: own.map(recordOf) }],
    }))
    await posted(stage, '/api/v1/telemetry/v1/logs', { resourceLogs })
  },
}

const apps: TestApp[] = []
afterAll(async () => {
  for (const app of apps) await app.close()
})

async function start(timeZone: string) {
  const app = await startApp()
  apps.push(app)
  const { organization, prices, projects, placement } = app.services
  await organization.changeSettings({ timeZone }, TALLY)
  const price = { input: 3, output: 15, cache_read: 0.3, cache_write: 3.75, cache_write_1h: 6 }
  await prices.setPrice({ model: MODEL, ...price, only: true, force: true } as never, TALLY)
  await projects.addProject(OPERATOR, { key: 'ACME' })
  await placement.addRule(TALLY, {
    name: 'By branch',
    conditions: [{ field: 'labels.branch', matches: '/(?<ticket>ACME-[0-9]+)/' }],
    project: 'ACME',
    ticket: '{ticket}',
  } as never)
  const person = await app.person()
  const [token, read] = [await app.token('svc', person), await app.token('read', person)]
  return { app, server: { url: app.url, token }, read }
}

let sessions = 0

/** The entries that the steps leave of the sessions, of which each has a day of its own. */
async function recorded({ app, server, read }: Awaited<ReturnType<typeof start>>, { files }: Shape, steps: string[]) {
  sessions += 1
  const own = files.map((lines) =>
    lines.map((line) => line.replaceAll('SESSION-', `s${sessions}-`).replaceAll(/"(msg|req)_/g, `"$1_${sessions}`)),
  )
  const home = new AgentHome()
  try {
    for (const [index, lines] of own.entries()) {
      home.write(`.claude/projects/p/s${sessions}-${index + 1}.jsonl`, `${lines.join('\n')}\n`)
    }
    const stage = { app, server, home, calls: callsIn(own.flat()) }
    for (const step of steps) await STEPS[step]!(stage)
    const found: TokenEntry[] = []
    for (const session of new Set(stage.calls.map((call) => call.session))) {
      const { json } = await app.call(`GET /api/v1/token-entries?session_id=${session}`, { token: read })
      found.push(...json.data)
    }
    return found
      .filter(({ superseded }) => !superseded)
      .sort((one, other) => (one.started_at < other.started_at ? -1 : 1))
  } finally {
    home.remove()
  }
}

const shown = ({ slice, labels, ticket, project, tokens, cost }: TokenEntry) => [
  ...[slice?.day, labels.branch, project && ticket?.key, tokens.input, tokens.output, cost],
  ...(slice?.estimated ? ['estimated'] : []),
]

/** ccusage adds binary fractions. */
const nanosOf = (dollars: number | null) => Math.round(dollars! * 1e9)

function* permutations(names: readonly string[]): Generator<string[]> {
  for (const name of names) {
    yield [name]
    for (const others of permutations(names.filter((other) => other !== name))) yield [name, ...others]
  }
}

/** Those that contain a source that names branches. */
const ALL = [...permutations(Object.keys(STEPS))].filter((steps) => steps.some((step) => step !== 'whole'))

const SOME = [
  ['scan'],
  ['hook', 'telemetry'],
  ['slices', 'scan'],
  ['telemetry'],
  ['whole', 'scan', 'telemetry'],
  ['telemetry', 'whole', 'hook', 'slices', 'scan'],
  ['scan', 'slices', 'hook', 'whole', 'telemetry'],
]

for (const [index, [name, shape]] of Object.entries(SHAPES).entries()) {
  // All of them take minutes on PostgreSQL.
  const orders = index === 0 ? ALL : ALL.filter((_, at) => at % 6 === index)

  test(`a session ${name} becomes the same entries, whoever reports it in which order`, async () => {
    const stage = await start(shape.timeZone)
    for (const steps of isLong ? orders : SOME) {
      const entries = await recorded(stage, shape, steps)
      expect({ steps, entries: entries.map(shown) }).toEqual({ steps, entries: shape.entries })
      expect(entries.map(({ slice, tokens, cost }) => [slice!.day, tokens.total, nanosOf(cost)])).toEqual(
        shape.ccusage.map(([day, tokens, cost]) => [day, tokens, nanosOf(cost)]),
      )
    }
    expect(await stage.app.services.entries.verify()).toEqual([])
  }, 1_800_000)
}
