import { afterAll, beforeAll, expect, test } from 'bun:test'
import { TokenEntryReport } from '../../src/features/entries/schema.ts'
import { acceptingNulls, removeNulls } from '../../src/schema/absent-fields.ts'
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

const OPTIONAL = Object.keys(TokenEntryReport.properties).filter(
  (name) => !(TokenEntryReport.required as string[]).includes(name) && name !== 'tokens',
)

/** A report as a client sends it that serializes every field. */
const whole = (change: object = {}) => ({
  ...Object.fromEntries(OPTIONAL.map((name) => [name, null])),
  ...reportBody(),
  ...change,
})

test('null in an optional field of a report, at any depth, means that it is not given', async () => {
  const tokens = { input: 10, output: 5, cache_read: null, over_200k: null, input_audio: null }
  const bare = await app.call('POST /api/v1/token-entries', { token, json: reportBody({ session_id: 'bare' }) })
  const json = whole({ session_id: 'nulls', tokens, labels: { branch: null } })
  const { status, json: entry } = await app.call('POST /api/v1/token-entries', { token, json })
  expect(status).toBe(201)
  const { id: _, session_id: __, created_at: ___, ...content } = entry
  expect(content).toEqual((({ id: _, session_id: __, created_at: ___, ...rest }) => rest)(bare.json) as typeof content)
})

test('a batch takes it too, as JSON and line by line', async () => {
  const items = ['one', 'two'].map((session_id) => whole({ session_id }))
  const asJson = await app.call('POST /api/v1/token-entries/batch', { token, json: items })
  const lines = await app.call('POST /api/v1/token-entries/batch', {
    token,
    body: items.map((item) => JSON.stringify({ ...item, session_id: `${item.session_id}-line` })).join('\n'),
    headers: { 'content-type': 'application/x-ndjson' },
  })
  for (const { json } of [asJson, lines]) {
    expect(json.results.map(({ result }: { result: string }) => result)).toEqual(['created', 'created'])
  }
})

test('a null without meaning is still an issue: in a required or unknown field, or in a list', async () => {
  const json = whole({ model: null, tokns: null, requests_above: [null], tokens: { input: null, output: 1 } })
  const { status, json: problem } = await app.call('POST /api/v1/token-entries', { token, json })
  expect(status).toBe(422)
  const pointers = problem.errors.map(({ pointer }: { pointer: string }) => pointer).sort()
  expect(pointers).toEqual(['/model', '/requests_above/0', '/tokens/input', '/tokns'])
})

test('the same key and report are a repeat, with and without nulls', async () => {
  const headers = { 'idempotency-key': 'nulls' }
  await app.call('POST /api/v1/token-entries', { token, headers, json: reportBody() })
  const again = await app.call('POST /api/v1/token-entries', { token, headers, json: whole() })
  expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, 'true'])
})

interface Schema {
  $ref?: string
  anyOf?: Schema[]
  type?: string
  properties?: Record<string, Schema>
  required?: string[]
}

test('every optional field of every request but a change is documented to take null, and does', async () => {
  const { json: document } = await app.call('GET /api/v1/openapi.json')
  const resolved = (schema: Schema): Schema =>
    schema.$ref ? resolved(document.components.schemas[schema.$ref.split('/').at(-1)!]) : schema
  const refused: string[] = []
  let asked = 0
  for (const [path, operations] of Object.entries<Record<string, never>>(document.paths)) {
    for (const [method, operation] of Object.entries<{ requestBody?: { content: Record<string, { schema: Schema }> } }>(
      operations,
    )) {
      const media = operation.requestBody?.content['application/json']
      if (method === 'patch' || !media) continue
      const { properties = {}, required = [] } = resolved(media.schema)
      const optional = Object.keys(properties).filter((name) => !required.includes(name))
      const takesNull = (schema: Schema) =>
        schema.type === undefined || schema.anyOf?.some(({ type }) => type === 'null')
      for (const name of optional)
        if (!takesNull(properties[name]!)) refused.push(`${method} ${path} ${name}: documented`)
      const json = Object.fromEntries(optional.map((name) => [name, null]))
      const address = path.replaceAll(/\{\w+\}/g, 'none')
      const answer = await app.call(`${method.toUpperCase()} ${address}`, {
        ...(path.startsWith('/api/v1/token-entries') && !path.includes('{') && !path.includes('actions')
          ? { token }
          : { session }),
        json,
      })
      asked += 1
      for (const { pointer, code } of answer.json?.errors ?? []) {
        if (code !== 'required' && optional.includes(pointer.slice(1)))
          refused.push(`${method} ${path} ${pointer} ${code}`)
      }
    }
  }
  expect(refused).toEqual([])
  expect(asked).toBeGreaterThan(25)
})

test('null clears a field in a change, and is refused where a field cannot be empty', async () => {
  await app.call('POST /api/v1/clients', { session, json: { name: 'Acme', email: 'ap@acme.example', currency: null } })
  const cleared = await app.call('PATCH /api/v1/clients/Acme', { session, json: { email: null } })
  expect([cleared.status, cleared.json.email]).toEqual([200, null])
  expect((await app.call('PATCH /api/v1/clients/Acme', { session, json: { name: null } })).status).toBe(422)
})

test('only nulls are removed, and the documented schema keeps every field', () => {
  const body = whole({ labels: { branch: 'main' }, requests: 3 })
  const copy = structuredClone(body)
  removeNulls(TokenEntryReport, body)
  expect(body as object).toEqual(Object.fromEntries(Object.entries(copy).filter(([, value]) => value !== null)))
  expect(Object.keys(acceptingNulls(TokenEntryReport).properties)).toEqual(Object.keys(TokenEntryReport.properties))
})
