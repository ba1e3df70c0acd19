/** No reader is silent when an agent changes its format: what it reads is right, or what it does not read is named. */
import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { AGENT_NAMES, type AgentName, type Scan } from '../../src/agents/agent.ts'
import { UNKNOWN_MODEL } from '../../src/agents/model-calls.ts'
import { AgentHome, FIXTURES } from '../support/agent-home.ts'
import { formatChanges, usageIn } from '../support/format-changes.ts'

let home: AgentHome
beforeEach(() => {
  home = new AgentHome()
})
afterEach(() => home.remove())

type Row = Record<string, unknown>

/** By file, or by table of a database. */
type Records = Record<string, Row[]>

interface Capture {
  agent: AgentName
  title: string
  /** Of one format, which change together. */
  records: Records
  write(records: Records): void
  /** Changes after which the records are like those of another version or model, or contain nothing. */
  allowed?: RegExp
  /** Whether a field has the name of a thing, and not one of the format. */
  isName?: (field: string) => boolean
  /** The field with the version of the format, if it has one. */
  version?: string
  /** The tables of a database. */
  tables?: Records
}

type More = Pick<Capture, 'allowed' | 'isName' | 'version'>

const fixture = (path: string) => readFileSync(join(FIXTURES, path), 'utf8')
const linesOf = (path: string): Row[] =>
  fixture(path)
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

/** Files of JSON lines, each with its place in the home folder. */
function lines(
  agent: AgentName,
  title: string,
  files: readonly [from: string, to: string][],
  more: More = {},
): Capture {
  return {
    ...{ agent, title, ...more },
    records: Object.fromEntries(files.map(([from, to]) => [to, linesOf(from)])),
    write: (records) => {
      for (const [path, each] of Object.entries(records)) home.writeLines(path, each)
    },
  }
}

const folder = (from: string, to: string) =>
  readdirSync(join(FIXTURES, from), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.jsonl'))
    .map((path): [string, string] => [`${from}/${path}`, `${to}/${path}`])

function document(agent: AgentName, title: string, path: string, content: Row, more: More = {}): Capture {
  return {
    ...{ agent, title, records: { [path]: [content] }, ...more },
    write: (records) => void home.write(path, JSON.stringify(records[path]![0])),
  }
}

/** One capture for each table of a database, in whose rows objects are JSON. */
function database(agent: AgentName, title: string, path: string, tables: Records, more: More = {}): Capture[] {
  return Object.entries(tables).map(([table, rows]) => ({
    ...{ agent, title: `${title}, table ${table}`, records: { [table]: rows }, tables, ...more },
    write: (records) => writeDatabase(path, { ...tables, ...records }),
  }))
}

function writeDatabase(path: string, tables: Records): void {
  const place = join(home.folder, path)
  mkdirSync(dirname(place), { recursive: true })
  const opened = new Database(place)
  for (const [table, rows] of Object.entries(tables)) {
    const columns = [...new Set(rows.flatMap((row) => Object.keys(row))), 'other']
    opened.run(`CREATE TABLE ${table} (${columns.map((name) => `"${name}"`).join(', ')})`)
    for (const row of rows) {
      const values = columns.map((column) => row[column] ?? null)
      const stored = values.map((value) => (typeof value === 'object' && value ? JSON.stringify(value) : value))
      opened.query(`INSERT INTO ${table} VALUES (${columns.map(() => '?').join(', ')})`).run(...(stored as []))
    }
  }
  opened.close()
}

/** Sums have the names of models as fields, of which some have a point. */
const ofModels = { isName: (field: string) => /^(?:claude|gpt|grok|qwen)[\w.-]*\d/.test(field) }

const PROJECT = '.claude/projects/-home-dev-acme-web'
/**
 * Servers without a cache have no counts of it, and older versions no duration of cache writes, no totals, and no session that
 * made a copied request.
 */
const ofClaude = {
  ...ofModels,
  allowed: /cache_(?:read_input_tokens|creation) left|modelUsage left|Ephemeral1hInputTokens left|requestSessionId/,
}

const ROLLOUT = 'cases/codex-hooks/codex-0.169.0-run2-resumed.jsonl'
const rollout = lines(
  'codex',
  'resumed',
  [[ROLLOUT, '.codex/sessions/rollout-01a1fa18-3e35-7d51-80d0-978a660e9e1f.jsonl']],
  {
    // Without a payload, a line has nothing. The sums of the turn and of the thread are not read.
    allowed: /^payload left|(?:turn|thread)_token_usage\.new_tokens/,
  },
)

const CHAT = 'session-2026-11-20T17-55-98d86c96'
const chat = linesOf(`cases/gemini-cli-tool/${CHAT}.jsonl`)
/** A model that does not think has no thoughts. */
const ofGemini = { allowed: /thoughts left/ }

const OPENCODE = '.local/share/opencode'
const opencodeRows = (table: string): Row[] => JSON.parse(fixture(`cases/opencode/opencode-db-${table}-rows.json`))
const messages = opencodeRows('message').map((row) => ({ ...row, data: JSON.parse(row.data as string) as Row }))

/** As version 2 of opencode has them. */
function secondVersion(): Records {
  const [session] = opencodeRows('session')
  const { parentID, role, modelID, providerID, path, ...answer } = messages[1]!.data
  const message = (id: string, type: string, data: object) => ({
    ...{ id, session_id: session!.id, type, seq: 1, time_created: session!.time_created, data },
  })
  const time = (created: number) => ({ created: 1_795_197_430_000 + created, completed: 1_795_197_431_000 + created })
  const answers = [1, 2].map((at) =>
    message(`m${at}`, 'assistant', { ...answer, model: { id: modelID, providerID }, time: time(at) }),
  )
  return {
    session_v2: [{ ...session, version: '2.0.3', fork_session_id: null }],
    session_message: [message('m0', 'user', { text: 'Hello' }), ...answers],
  }
}

function copilotRows(): Records {
  const opened = new Database(':memory:')
  opened.exec(fixture('cases/github-copilot/session-store.sql'))
  const rowsOf = (table: string) => [table, opened.query<Row, []>(`SELECT * FROM ${table}`).all()]
  return Object.fromEntries(['schema_version', 'sessions', 'assistant_usage_events'].map(rowsOf))
}

const CLINE = '1795812740663_2gy59'
/** As the extension of editors has them; `text` is JSON. */
const task = [1, 2].map((ts) => ({
  ...{ ts: 1_795_197_430_000 + ts, type: 'say', say: 'api_req_started' },
  text: { tokensIn: 10 * ts, tokensOut: 5, cacheWrites: 2, cacheReads: 3, cost: 0.5 },
  modelInfo: { providerId: 'openrouter', modelId: 'anthropic/claude-sonnet-4.5' },
}))
const TASK = '.config/Code/User/globalStorage/saoudrizwan.claude-dev/tasks/1/ui_messages.json'
const OPENHANDS = 'a024af201dcd4a7ba1518a685a36a972'
/** Older versions do not have the duration. Without a message, a line has nothing. */
const ofPi = { version: 'version', allowed: /^message left|cacheWrite1h left/ }

/** Lines as they are where OpenClaw does not compress them. */
function openclawRows(): Records {
  const { transcript_events: events, ...others }: Records = JSON.parse(fixture('cases/openclaw/rows.json'))
  const asText = ({ event, is_compressed: _, ...row }: Row): Row => ({ ...row, event_json: event })
  return { ...others, transcript_events: events!.map(asText) }
}

const QWEN = '947158b7-b45d-419a-9d7d-25a1ee1e37f7'

const CAPTURES: Capture[] = [
  lines('claude-code', 'resumed', folder('agents/claude-code/transcripts', '.claude/projects'), ofClaude),
  ...(
    [
      ['with a tool', 'tool/run1-tool', '03972874-e855-4118-acc5-97716d8242aa'],
      ['forked', 'fork/run4-fork', '84ccdd11-9477-43e3-939c-15f566b18ba9'],
      ['of two days', 'two-days/run1-two-days', '6418176a-ff03-4703-b7ca-38e50b268024'],
      ['compacted', 'compact/compacted', 'b62ca140-f796-4ed9-8015-2c05e7b2fc95'],
    ] as const
  ).map(([title, from, session]) =>
    lines('claude-code', title, [[`cases/claude-code-${from}.jsonl`, `${PROJECT}/${session}.jsonl`]], ofClaude),
  ),
  lines(
    ...(['claude-code', 'with a sub-agent'] as const),
    [
      [
        'cases/claude-code-subagent/run3-main-with-subagent.jsonl',
        `${PROJECT}/5471ecff-bc32-4b73-b4ff-d30268a35a61.jsonl`,
      ],
      [
        'cases/claude-code-subagent/agent-a8b646202984886b8.jsonl',
        `${PROJECT}/5471ecff-bc32-4b73-b4ff-d30268a35a61/subagents/agent-a8b646202984886b8.jsonl`,
      ],
    ],
    ofClaude,
  ),
  document(
    ...(['cline', 'a session', `.cline/data/sessions/${CLINE}/${CLINE}.messages.json`] as const),
    JSON.parse(fixture(`cases/cline/sessions/${CLINE}/${CLINE}.messages.json`)),
    { version: 'version' },
  ),
  {
    ...{ agent: 'cline', title: 'a task', records: { [TASK]: task } },
    // Without a cache, there are no counts of it.
    allowed: /cache(?:Writes|Reads) left/,
    write: ({ [TASK]: found }) => {
      const asText = found!.map((each) => (each.text ? { ...each, text: JSON.stringify(each.text) } : each))
      home.write(TASK, JSON.stringify(asText))
    },
  },
  lines('codex', 'two sessions', folder('agents/codex/transcripts', '.codex/sessions'), { allowed: rollout.allowed! }),
  rollout,
  {
    ...{ ...rollout, title: 'resumed, with running totals alone' },
    records: Object.fromEntries(
      Object.entries(rollout.records).map(([path, all]) => [
        path,
        all.filter(({ type }) => type !== 'token_usage_record'),
      ]),
    ),
  },
  lines('gemini-cli', 'two sessions', folder('agents/gemini-cli/transcripts', '.gemini/tmp'), ofGemini),
  lines(
    ...(['gemini-cli', 'with a tool', folder('cases/gemini-cli-tool', '.gemini/tmp/gproj/chats')] as const),
    ofGemini,
  ),
  document(
    ...(['gemini-cli', 'as one document', `.gemini/tmp/gproj/chats/${CHAT}.json`] as const),
    { ...chat[0], messages: chat.filter(({ type }) => type) },
    ofGemini,
  ),
  lines(
    ...(['github-copilot', 'events', folder('cases/github-copilot/session-state', '.copilot/session-state')] as const),
    // The totals repeat the usage.
    { ...ofModels, allowed: /modelMetrics.*new_tokens/ },
  ),
  ...database('github-copilot', 'database', '.copilot/session-store.db', copilotRows(), { version: 'version' }),
  ...database(
    ...(['goose', 'database', '.local/share/goose/sessions/sessions.db'] as const),
    JSON.parse(fixture('cases/goose/rows.json')),
    { version: 'version' },
  ),
  lines('grok', 'with a sub-agent', folder('cases/grok', '.grok/sessions'), ofModels),
  ...database('hermes', 'database', '.hermes/state.db', JSON.parse(fixture('cases/hermes/rows.json')), {
    version: 'version',
  }),
  ...database('kilo', 'database', '.local/share/kilo/kilo.db', JSON.parse(fixture('cases/kilo/rows.json'))),
  lines('kimi-code', 'forked', folder('cases/kimi-code', '.kimi-code/sessions'), {
    ...{ ...ofModels, version: 'protocol_version' },
    // They repeat the usage.
    allowed: /^(?:event|message\.meta)\.usage\.new_tokens/,
  }),
  ...database('opencode', 'version 1', `${OPENCODE}/opencode.db`, {
    session: opencodeRows('session'),
    message: messages,
  }),
  ...database('opencode', 'version 2', `${OPENCODE}/opencode.db`, secondVersion()),
  document('opencode', 'files', `${OPENCODE}/storage/message/s/m.json`, { sessionID: 's', ...messages[1]!.data }),
  lines('openclaw', 'a file', folder('cases/openclaw/2026.5.19', '.openclaw/agents/main/sessions'), ofPi),
  ...database(
    ...(['openclaw', 'database', '.openclaw/agents/main/agent/openclaw-agent.sqlite', openclawRows()] as const),
    { version: 'schema_version', allowed: /^event_json\.message left|cacheWrite1h left/ },
  ),
  document(
    ...(['openhands', 'a conversation', `.openhands/conversations/${OPENHANDS}/base_state.json`] as const),
    JSON.parse(fixture(`cases/openhands/${OPENHANDS}/base_state.json`)),
    // Uses have names.
    { isName: (field) => field === 'agent' || field === 'condenser' },
  ),
  lines('pi', 'forked', folder('cases/pi', '.pi/agent/sessions/--home-dev-acme-web--'), ofPi),
  lines('qwen-code', 'a session', [[`cases/qwen-code/${QWEN}.jsonl`, `.qwen/projects/p/chats/${QWEN}.jsonl`]]),
  lines('qwen-code', 'ledger', [['cases/qwen-code/usage_record.jsonl', '.qwen/usage_record.jsonl']], {
    ...{ ...ofModels, version: 'version' },
    // A session without requests.
    allowed: /^models left/,
  }),
]

const figuresOf = ({ uses }: Scan) =>
  uses
    .map(({ sessionId, model, requests, tokens, tools, service, reportedCost }) =>
      JSON.stringify([sessionId, model, requests, tokens, tools, service, reportedCost]),
    )
    .sort()

/** The kinds of damage, and what is counted as of an unknown model. */
const namedIn = ({ uses, damage }: Scan) =>
  damage.map(({ what }) => what).concat(uses.some(({ model }) => model === UNKNOWN_MODEL) ? UNKNOWN_MODEL : [])

/** The damage of the captures themselves: a request of GitHub Copilot that was answered without counts. */
const EXPECTED = /^a request has no input\w+, output\w+, and is not counted$/

/** What was found with the records in place of those of the capture. */
function scanned({ agent, write }: Capture, records: Records): Scan {
  home.remove()
  home = new AgentHome()
  write(records)
  return home.scan({ agents: [agent] })
}

const all = CAPTURES.map((capture) => [capture.agent, capture.title, capture] as const)

describe('captured sessions are right, or what was not read is named', () => {
  test('of every agent', () => {
    expect([...new Set(CAPTURES.map(({ agent }) => agent))].sort()).toEqual([...AGENT_NAMES].sort())
  })

  test.each(all)('after any change of the format of %s, %s', (_, __, capture) => {
    const right = scanned(capture, capture.records)
    expect(namedIn(right).filter((what) => !EXPECTED.test(what))).toEqual([])
    expect(right.uses).not.toEqual([])
    const { allowed, isName, version } = capture
    const changes = formatChanges(Object.values(capture.records).flat(), isName)
    const silent = changes.filter(({ name, of, kind }) => {
      const changed = Object.entries(capture.records).map(([file, records]) => [file, records.map(of)])
      const found = scanned(capture, Object.fromEntries(changed))
      if (!Bun.deepEquals(namedIn(found), namedIn(right))) return false
      const mustBeNamed = kind === 'count' || (kind === 'version' && name.startsWith(`${version} `))
      return mustBeNamed || !Bun.deepEquals(figuresOf(found), figuresOf(right))
    })
    expect(silent.map(({ name }) => name).filter((name) => !allowed?.test(name))).toEqual([])
  })

  test.each(all.filter(([, , { records }]) => Object.keys(records).every((path) => path.endsWith('.jsonl'))))(
    'in a line of a type that is not known, if it has usage: %s, %s',
    (_, __, capture) => {
      const right = namedIn(scanned(capture, capture.records))
      const usage = usageIn(Object.values(capture.records).flat())
      expect(usage).toBeDefined()
      // Wherever the lines of an agent have what they are.
      const line = (fields: Row) => ({
        ...{ type: 'side_request', ...fields, timestamp: '2026-11-20T18:00:00Z', time: 1_795_197_430_000 },
        ...{ payload: { type: 'side_request', ...fields }, data: fields },
        params: { update: { sessionUpdate: 'side_request', ...fields } },
      })
      const withLine = (fields: Row) =>
        Object.fromEntries(Object.entries(capture.records).map(([path, records]) => [path, [...records, line(fields)]]))
      expect(namedIn(scanned(capture, withLine({ input: 'Hello', number: 5 })))).toEqual(right)
      const { damage } = scanned(capture, withLine({ usage }))
      const unknown = damage.filter(({ notRead }) => notRead?.reason === 'unknown_record')
      expect(unknown.map(({ notRead }) => notRead!.name)).toContain(
        capture.title === 'ledger' ? 'session' : 'side_request',
      )
    },
  )

  test.each(all.filter(([, , { tables }]) => tables))('without a table: %s, %s', (_, __, { tables, ...capture }) => {
    const right = scanned(capture, tables!)
    const [table = ''] = Object.keys(capture.records)
    const { [table]: rows = [], ...others } = tables!
    const write = (records: Records) => capture.write({ ...records, [table]: [] })
    for (const records of [others, { ...others, [`${table}_v9`]: rows }]) {
      const found = scanned({ ...capture, write }, records)
      if (Bun.deepEquals(namedIn(found), namedIn(right))) expect(figuresOf(found)).toEqual(figuresOf(right))
    }
  })
})
