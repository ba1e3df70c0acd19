import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SessionUse } from '../../src/agents/agent.ts'
import { scanSession } from '../../src/agents/scan.ts'
import { AgentHome, FIXTURES, type Row } from '../support/agent-home.ts'

let home: AgentHome
beforeEach(() => {
  home = new AgentHome()
})
afterEach(() => home.remove())

interface Message extends Row {
  data: object
}

const captured = JSON.parse(readFileSync(join(FIXTURES, 'cases/kilo/rows.json'), 'utf8')) as {
  session: (Row & { id: string })[]
  message: Message[]
}

/** A database as Kilo makes it, which stays open. */
const write = (message: Message[], path = '.local/share/kilo/kilo.db') =>
  home.writeDatabase(path, { session: captured.session, message, session_message: [] })

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
