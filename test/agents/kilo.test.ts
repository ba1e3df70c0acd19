import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { SessionUse } from '../../src/agents/agent.ts'
import { scanSession } from '../../src/agents/scan.ts'
import { AgentHome, FIXTURES } from '../support/agent-home.ts'

let home: AgentHome
beforeEach(() => {
  home = new AgentHome()
})
afterEach(() => home.remove())

interface Row {
  id: string
  session_id: string
  time_created: number
  data: object
}

const captured = JSON.parse(readFileSync(join(FIXTURES, 'cases/kilo/rows.json'), 'utf8')) as {
  session: { id: string; parent_id: string | null; directory: string; title: string; time_created: number }[]
  message: Row[]
}

/** A database as Kilo makes it, which stays open. */
function write(messages: Row[], path = '.local/share/kilo/kilo.db'): Database {
  const place = join(home.folder, path)
  mkdirSync(dirname(place), { recursive: true })
  const database = new Database(place)
  database.run('PRAGMA journal_mode = WAL')
  database.run('CREATE TABLE session (id TEXT, parent_id TEXT, directory TEXT, title TEXT, time_created INTEGER)')
  database.run('CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, data TEXT)')
  database.run('CREATE TABLE session_message (id TEXT, session_id TEXT, type TEXT, time_created INTEGER, data TEXT)')
  for (const { id, parent_id, directory, title, time_created } of captured.session) {
    database.query('INSERT INTO session VALUES (?, ?, ?, ?, ?)').run(id, parent_id, directory, title, time_created)
  }
  for (const { id, session_id, time_created, data } of messages) {
    database.query('INSERT INTO message VALUES (?, ?, ?, ?)').run(id, session_id, time_created, JSON.stringify(data))
  }
  return database
}

const figures = ({ sessionId, model, requests, tokens, missing }: SessionUse) => [
  ...[sessionId, model, requests],
  [tokens.input, tokens.output, tokens.cache_read],
  missing,
]

const [, RESUMED = '', DELEGATING = '', SUBAGENT = ''] = captured.session.map(({ id }) => id)
/** From the ledger of the model server. */
const SERVED = [
  [RESUMED, 'gpt-5.4', 2, [1_004 + 1_007, 112 + 121, 5_028 + 5_049], null],
  [DELEGATING, 'gpt-5.4', 2, [1_008 + 1_010, 124 + 130, 5_056 + 5_070], null],
  [SUBAGENT, 'gpt-5.4', 1, [1_009, 127, 5_063], null],
]

describe('captured sessions of Kilo', () => {
  test('have what the model server sent, also while the database is open', () => {
    const database = write(captured.message)
    try {
      expect(home.uses('kilo').map(figures)).toEqual(SERVED)
      const { uses } = scanSession('kilo', { sessionId: DELEGATING }, home.environment)
      expect(uses.map(({ sessionId }) => sessionId)).toEqual([DELEGATING, SUBAGENT])
    } finally {
      database.close()
    }
  })
})

test('Kilo has a reported cost only of requests that its gateway or OpenRouter charged', () => {
  const answer = captured.message.find(({ data }) => 'tokens' in data)!
  const messages = ['kilo', 'openrouter', 'openai'].map((providerID, index) => ({
    ...{ ...answer, id: `m${index}`, session_id: `s${index}` },
    data: { ...answer.data, providerID, modelID: 'gpt-5.4', cost: 0.25 },
  }))
  write(messages).close()
  expect(home.uses('kilo').map(({ reportedCost }) => reportedCost)).toEqual(['0.25', '0.25', null])
})

test('Kilo is read where its variable says', () => {
  write(captured.message, 'elsewhere/own.db').close()
  home.environment.kiloDatabase = join(home.folder, 'elsewhere/own.db')
  expect(home.uses('kilo').map(figures)).toEqual(SERVED)
})
