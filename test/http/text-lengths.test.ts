/** Limits of texts are in characters: an emoji, which has two UTF-16 units, counts once, as in JSON Schema. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startApp, type TestApp } from '../support/app.ts'
import { reportBody } from '../support/reports.ts'

let app: TestApp
let token: string
let session: string

beforeAll(async () => {
  app = await startApp()
  token = await app.token('svc')
  session = await app.session('admin')
})
afterAll(() => app.close())

const emoji = (characters: number) => '👍'.repeat(characters)

/** The limit of a field, and a request that has a text in it. */
const FIELDS: [string, number, (text: string) => ReturnType<TestApp['call']>][] = [
  ...(['agent_harness', 'agent_name', 'model', 'project', 'ticket', 'session_id', 'provider'] as const).map(
    (field): (typeof FIELDS)[number] => [
      `/${field}`,
      200,
      (text) => app.call('POST /api/v1/token-entries', { token, json: reportBody({ [field]: text }) }),
    ],
  ),
  ['/summary', 1_000, (text) => app.call('POST /api/v1/token-entries', { token, json: reportBody({ summary: text }) })],
  [
    '/labels/branch',
    256,
    (text) => app.call('POST /api/v1/token-entries', { token, json: reportBody({ labels: { branch: text } }) }),
  ],
  ['/name', 200, (text) => app.call('POST /api/v1/clients', { session, json: { name: text } })],
  ['/address', 1_000, (text) => app.call('PATCH /api/v1/settings', { session, json: { address: text } })],
  ['q', 200, (text) => app.call(`GET /api/v1/search?q=${encodeURIComponent(text)}`, { session })],
]

test('a text may have as many characters as the document says, and not one more', async () => {
  for (const [field, limit, call] of FIELDS) {
    const accepted = await call(emoji(limit))
    expect([field, accepted.status, accepted.json.errors]).toEqual([
      field,
      accepted.status < 300 ? accepted.status : 200,
      undefined,
    ])
    const refused = await call(emoji(limit + 1))
    const [issue] = refused.json.errors
    expect([field, refused.status, issue.code, issue.message]).toEqual([
      field,
      422,
      'too_long',
      `must have at most ${limit.toLocaleString('en')} characters`,
    ])
  }
})

test('names are stored and returned whole', async () => {
  const name = emoji(200)
  const { json: entry } = await app.call('POST /api/v1/token-entries', {
    token,
    json: reportBody({ agent_name: name }),
  })
  expect(entry.agent_name).toBe(name)
})
