import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { scanSession } from '../../src/agents/scan.ts'
import { AgentHome, byName, FIXTURES, type Figures, figuresOf } from '../support/agent-home.ts'

let home: AgentHome
beforeEach(() => {
  home = new AgentHome()
})
afterEach(() => home.remove())

const CAPTURE = join(FIXTURES, 'cases/github-copilot')
const EXPECTED = (JSON.parse(readFileSync(join(CAPTURE, 'expected.json'), 'utf8')) as Figures[]).sort(byName)
const STORE = '.copilot/session-store.db'
const STATE = '.copilot/session-state'

/** Sessions of the capture. */
const RESUMED = '7baa02b8-e440-4ace-bd0b-328d5bf1955e'
const DELEGATING = '5d097283-d8cb-4f64-a727-cf660c4b0599'
const FORKED = '7ba47610-dddd-4893-aa7c-2ff239163d8d'
const FORK = 'c3f27ac2-2088-4f49-afe9-0c9272862307'
const MOVED = 'e6bc0e28-783b-46ce-bf17-57d1227f3d17'

/** One request of the capture was answered without token counts. */
const UNKNOWN = /^a request has no input\w+, output\w+, and is not counted$/

const copyEvents = () => home.copy('cases/github-copilot/session-state', STATE)

/** The captured database, still open: what was written last is only in its log. */
function openStore(...changes: string[]): Database {
  const path = join(home.folder, STORE)
  mkdirSync(dirname(path), { recursive: true })
  const database = new Database(path)
  database.run('PRAGMA journal_mode = WAL')
  database.exec(readFileSync(join(CAPTURE, 'session-store.sql'), 'utf8'))
  database.run('PRAGMA foreign_keys = OFF')
  for (const change of changes) database.run(change)
  return database
}

const writeStore = (...changes: string[]) => openStore(...changes).close(true)

function scan() {
  const { uses, damage } = home.scan({ agents: ['github-copilot'] })
  const others = damage.map(({ what }) => what).filter((what) => !UNKNOWN.test(what))
  return { uses, figures: uses.map(figuresOf).sort(byName), damage: others, unknown: damage.length - others.length }
}

describe('captured sessions of GitHub Copilot CLI have what the model server sent', () => {
  test('from the database and the events together', () => {
    writeStore()
    copyEvents()
    expect(scan()).toMatchObject({ figures: EXPECTED, damage: [], unknown: 2 })
  })

  test('from the database alone, also while it is open, and nothing there changes', () => {
    const database = openStore()
    try {
      const folder = join(home.folder, '.copilot')
      const bytes = () =>
        readdirSync(folder)
          .filter((name) => !name.endsWith('-shm'))
          .map((name) => [name, Bun.hash(readFileSync(join(folder, name)))])
      const before = bytes()
      expect(scan()).toMatchObject({ figures: EXPECTED, damage: [], unknown: 1 })
      expect(bytes()).toEqual(before)
    } finally {
      database.close()
    }
    expect(scan().figures).toEqual(EXPECTED)
  })

  test('from the events alone', () => {
    copyEvents()
    expect(scan()).toMatchObject({ figures: EXPECTED, damage: [], unknown: 1 })
  })

  test('if either of them lost requests', () => {
    writeStore(`DELETE FROM assistant_usage_events WHERE session_id = '${FORKED}' OR id % 3 = 0`)
    copyEvents()
    rmSync(join(home.folder, STATE, DELEGATING), { recursive: true })
    const others = EXPECTED.filter(({ session_id }) => session_id !== DELEGATING)
    expect(scan().figures.filter(({ session_id }) => session_id !== DELEGATING)).toEqual(others)
  })
})

test('what a fork copied belongs to the session that it continues, even if nothing else has it', () => {
  copyEvents()
  rmSync(join(home.folder, STATE, FORKED), { recursive: true })
  expect(scan().figures).toEqual(EXPECTED)
})

test('what a fork copied of a sub-agent and a compaction counts once', () => {
  const lines = (session: string) =>
    readFileSync(join(CAPTURE, 'session-state', session, 'events.jsonl'), 'utf8')
      .trim()
      .split('\n')
  const [start, ...own] = lines(FORK).filter((line) => !line.includes(`"sourceSessionId":"${FORKED}"`))
  for (const session of [DELEGATING, RESUMED]) {
    const copies = lines(session).filter((line) => /"session\.(usage_record|compaction_complete)"/.test(line))
    // The fork starts after everything that was copied.
    const later = [start!, ...copies, ...own].map((line) => line.replaceAll('T17:26', 'T18:26'))
    for (const folder of ['1-before', '9-after']) {
      copyEvents()
      home.write(`${STATE}/${folder}/events.jsonl`, later.join('\n').replaceAll(FORK, folder))
      const figures = scan().figures.filter(({ session_id }) => session_id !== folder)
      expect(figures).toEqual(EXPECTED)
      rmSync(join(home.folder, STATE), { recursive: true })
    }
  }
})

test('each request has the repository, the folder and the branch of its time', () => {
  writeStore()
  copyEvents()
  const use = scan().uses.find(({ sessionId }) => sessionId === MOVED)!
  expect(use).toMatchObject({ repository: 'acme/widgets', folder: '/home/dev/acme-web' })
  expect(use.cells().map(({ place, requests }) => [place.branch, requests])).toEqual([
    ['feature/ACME-42', 1],
    ['feature/ACME-43', 2],
    ['feature/ACME-44', 1],
  ])
})

test('what is written later changes nothing of what was counted before', () => {
  const sessions = readdirSync(join(CAPTURE, 'session-state'))
  const texts = sessions.map((session) => readFileSync(join(CAPTURE, 'session-state', session, 'events.jsonl'), 'utf8'))
  const lines = texts.map((text) => text.trim().split('\n'))
  const times = lines.flat().flatMap((line) => /"timestamp":"([^"]+)"/.exec(line)?.[1] ?? [])
  const before = new Map<string, number>()
  for (const time of times.sort()) {
    for (const [index, session] of sessions.entries()) {
      const written = lines[index]!.filter((line) => /"timestamp":"([^"]+)"/.exec(line)![1]! <= time)
      home.write(`${STATE}/${session}/events.jsonl`, written.map((line) => `${line}\n`).join(''))
    }
    rmSync(join(home.folder, STORE), { force: true })
    writeStore(`DELETE FROM assistant_usage_events WHERE created_at > '${time}'`)
    const now = new Map(
      scan().uses.flatMap(({ sessionId, model, cells }) =>
        cells().map(({ place, firstAt, requests }) => [[sessionId, model, place.branch, firstAt].join(' '), requests]),
      ),
    )
    for (const [cell, requests] of before) expect(now.get(cell) ?? 0).toBeGreaterThanOrEqual(requests)
    for (const [cell, requests] of now) before.set(cell, requests)
  }
})

test('a session has the first prompt as its title', () => {
  copyEvents()
  const { uses } = home.scan({ agents: ['github-copilot'], withTitles: true })
  expect(uses.map(({ title }) => title)).toEqual(uses.map(() => 'a prompt'))
})

test('a hook reports its session and what continues it in the background', () => {
  copyEvents()
  const path = `${STATE}/${FORK}/events.jsonl`
  const lines = readFileSync(join(home.folder, path), 'utf8')
  home.write(path, lines.replace('"version":1', `"version":1,"detachedFromSpawningParentSessionId":"${MOVED}"`))
  const transcriptPath = join(home.folder, STATE, MOVED, 'events.jsonl')
  const { uses } = scanSession('github-copilot', { sessionId: MOVED, transcriptPath }, home.environment)
  expect(new Set(uses.map(({ sessionId }) => sessionId))).toEqual(new Set([MOVED, FORK]))
})

test('a hook at the end of the turn of a sub-agent, which it names, reports the session', () => {
  writeStore()
  copyEvents()
  const agentId = '198c36c6-5ea7-47be-871b-e8009e048a31'
  const { uses } = scanSession('github-copilot', { sessionId: agentId }, home.environment)
  expect(uses.map(figuresOf)).toEqual(EXPECTED.filter(({ session_id }) => session_id === DELEGATING))
})

describe('the charged credits of a request', () => {
  const credits = (value: unknown, ...more: string[]) =>
    `UPDATE assistant_usage_events SET total_nano_aiu = ${value} ${more.join(' ')}`
  const costs = () => scan().uses.map(({ sessionId, reportedCost }) => [sessionId, reportedCost])
  const costOf = (session: string) => new Map(costs() as [string, string | null][]).get(session)

  test('are its reported cost, at a cent each', () => {
    writeStore(credits('2500000123 * id'))
    expect(costOf(FORKED)).toBe('0.20000000984')
    expect(costOf(MOVED)).toBe('1.15000005658')
  })

  test('are credits', () => {
    writeStore(credits('2500000123 * id'))
    expect(new Set(scan().uses.map(({ funding }) => funding))).toEqual(new Set(['credits']))
  })

  test('are the same in the events', () => {
    const path = `${STATE}/${FORKED}/events.jsonl`
    const lines = readFileSync(join(CAPTURE, 'session-state', FORKED, 'events.jsonl'), 'utf8')
    home.write(path, lines.replace('"usage":{', '"usage":{"copilotUsage":{"totalNanoAiu":20000000984},'))
    expect(costOf(FORKED)).toBe('0.20000000984')
  })

  test('are unknown if another vendor charges for it', () => {
    writeStore(credits(0))
    expect(new Set(costs().map(([, cost]) => cost))).toEqual(new Set([null]))
    expect(new Set(scan().uses.map(({ funding }) => funding))).toEqual(new Set([null]))
  })

  test('are unknown of a session if they are of one request', () => {
    writeStore(credits(5, `WHERE id <> 11`))
    expect(costOf(MOVED)).toBe(null)
    expect(costOf(FORKED)).toBe('0.00000000005')
  })

  test('were not charged before June 2026', () => {
    const at = (time: string) => [credits(1e9), `UPDATE assistant_usage_events SET created_at = '${time}'`]
    writeStore(...at('2026-05-31T23:59:59.999Z'))
    expect(costOf(FORKED)).toBe(null)
    rmSync(join(home.folder, STORE))
    writeStore(...at('2026-06-01T00:00:00.000Z'))
    expect(costOf(FORKED)).toBe('0.01')
  })

  test('are missed if the events say that there were some', () => {
    copyEvents()
    const path = `${STATE}/${FORKED}/events.jsonl`
    const lines = readFileSync(join(home.folder, path), 'utf8')
    home.write(path, lines.replace('"aiCreditsStatus":"unavailable"', '"aiCreditsStatus":"complete"'))
    expect(scan().damage).toEqual(['a request has no count of totalNanoAiu, so its cost is not reported'])
  })
})

test('a compaction of several requests counts as their sum only where the database does not have them', () => {
  copyEvents()
  const path = `${STATE}/${RESUMED}/events.jsonl`
  const lines = readFileSync(join(home.folder, path), 'utf8')
  home.write(path, lines.replace('"requestCount":1', '"requestCount":2'))
  const requests = EXPECTED.map(({ requests, session_id, model }) =>
    session_id === RESUMED && model === 'claude-sonnet-4-5' ? requests + 1 : requests,
  )
  expect(scan().figures).toEqual(EXPECTED.map((each, index) => ({ ...each, requests: requests[index]! })))
  writeStore()
  expect(scan().figures).toEqual(EXPECTED)
})

test('totals of sessions by versions that recorded no requests are not counted, which is noted', () => {
  home.writeLines(`${STATE}/old/events.jsonl`, [
    { type: 'session.start', data: { sessionId: 'old', startTime: '2026-03-01T10:00:00Z' }, timestamp: '2026-03-01' },
    {
      type: 'session.shutdown',
      data: { modelMetrics: { m: { usage: { inputTokens: 900, outputTokens: 100, cacheReadTokens: 500 } } } },
      timestamp: '2026-03-01T10:05:00Z',
    },
  ])
  expect(scan()).toMatchObject({
    figures: [],
    damage: ['has 1,000 tokens only in its totals, not counted'],
  })
})

describe('a format that Tally does not know is never counted silently', () => {
  /** Every name of a field in the captured events, and every type of a line. */
  const names = new Set<string>()
  const collect = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    for (const [name, inside] of Object.entries(value)) {
      // Not those of models and sessions.
      if (!name.includes('-')) names.add(name)
      if (name === 'type') names.add(inside)
      collect(inside)
    }
  }
  const files = new Map(
    readdirSync(join(CAPTURE, 'session-state')).map((session) => {
      const text = readFileSync(join(CAPTURE, 'session-state', session, 'events.jsonl'), 'utf8')
      for (const line of text.trim().split('\n')) collect(JSON.parse(line))
      return [session, text]
    }),
  )

  test.each([...names])('%s under another name in the events', (name) => {
    for (const [session, text] of files) {
      home.write(`${STATE}/${session}/events.jsonl`, text.replaceAll(`"${name}"`, `"${name}2"`))
    }
    const { figures, damage } = scan()
    if (!Bun.deepEquals(figures, EXPECTED)) expect(damage.length).toBeGreaterThan(0)
    // What the database has is counted all the same.
    writeStore()
    expect(scan().figures).toEqual(EXPECTED)
  })

  const columns = [
    ...['session_id', 'model', 'input_tokens', 'output_tokens', 'cache_read_tokens', 'cache_write_tokens'],
    ...['total_nano_aiu', 'parent_tool_call_id', 'created_at'],
  ].map((column) => `assistant_usage_events RENAME COLUMN ${column}`)
  const others = ['sessions RENAME COLUMN cwd', 'assistant_usage_events RENAME', 'sessions RENAME']
  test.each([...columns, ...others])('%s in the database', (what) => {
    writeStore(`ALTER TABLE ${what} TO other`)
    expect(scan()).toMatchObject({ figures: [], damage: [expect.stringMatching(/does not know its format/)] })
    copyEvents()
    expect(scan().figures).toEqual(EXPECTED)
  })

  test('a later version of the database, which is read nevertheless', () => {
    writeStore('UPDATE schema_version SET version = 9')
    expect(scan()).toMatchObject({
      figures: EXPECTED,
      damage: ['has version 9 of the format, which this version of Tally may not read completely'],
    })
  })

  test('but a database without requests of an earlier version contains no usage', () => {
    writeStore('UPDATE schema_version SET version = 5', 'DROP TABLE assistant_usage_events')
    expect(scan()).toMatchObject({ figures: [], damage: [] })
  })

  test('usage in another line', () => {
    home.writeLines(`${STATE}/s/events.jsonl`, [
      { type: 'tool.execution_complete', data: { toolUsage: { inputTokens: 5, outputTokens: 0, model: 'm' } } },
      { type: 'assistant.fusion_phase_completed', data: { usage: { inputTokens: 5 } } },
      { type: 'tool.execution_start', data: { arguments: { inputTokens: 5 } } },
    ])
    expect(scan().damage).toEqual([
      'is a record of the unknown type tool.execution_complete with token counts, and is not counted',
    ])
  })
})
