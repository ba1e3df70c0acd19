/** That the OpenAPI document describes the bodies that the server accepts: of every operation, and no others. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { Kind, type TSchema } from '@sinclair/typebox'
import fc from 'fast-check'
import { createApp } from '../../src/app.ts'
import { type DescribedRoute, type OpenApiDocument, openApiDocument } from '../../src/http/openapi-document.ts'
import { removeNulls } from '../../src/schema/absent-fields.ts'
import { SchemaChecker } from '../../src/schema/checker.ts'
import { SHOWN } from '../../src/schema/types.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { RandomBodies, type Schema } from '../support/random-bodies.ts'
import { isLong, runs } from '../support/tier.ts'

let app: TestApp
let routes: DescribedRoute[]
let bodies: RandomBodies
/** Of a document without what services check besides. */
let checked: RandomBodies
let bare: OpenApiDocument
let token: string
let session: string
let person: string

beforeAll(async () => {
  app = await startApp()
  const { services } = app
  routes = createApp({ services, logger: { info() {}, error() {} } as never }).routes as DescribedRoute[]
  bodies = new RandomBodies(app.document)
  bare = await openApiDocument(routes.map(withoutShown))
  checked = new RandomBodies(bare)
  token = await app.token('svc')
  session = await app.session('admin')
  await app.call('PATCH /api/v1/settings', { session, json: { share_links: true, api_tokens: true } })
  const { json } = await app.call(`GET /api/v1/users?search=${await app.person('viewer')}`, { session })
  person = json.data[0].id
})
afterAll(() => app.close())

/** A route whose document only has what the route itself checks. */
function withoutShown(route: DescribedRoute): DescribedRoute {
  const copy = <Value>(value: Value): Value => {
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return value.map(copy) as Value
    // Of a `chosen` value, the route only checks that it is a string.
    const isChosen = Kind in value && ['String', 'Text'].includes(value[Kind] as string)
    const kept = Object.entries(value).filter(([name]) => name !== SHOWN && !(isChosen && name === 'enum'))
    return Object.fromEntries(kept.map(([name, inner]) => [name, copy(inner)])) as Value
  }
  return { ...route, hooks: copy(route.hooks) }
}

interface Tried {
  what: string
  method: string
  /** With ids that nothing has, but people. */
  path: string
  /** In the document. */
  schema: Schema
  bareSchema: Schema
  example: object
  /** That the route checks. */
  body: TSchema
}

interface Operation {
  requestBody?: { content: Record<string, { schema: Schema; example?: object; examples?: object }> }
}

function tried(): Tried[] {
  return routes.flatMap(({ method, path, hooks }) => {
    const { body, detail } = hooks
    const [json, bareJson] = [app.document, bare].map(({ paths }) => {
      const operation = paths[path.replace(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()] as Operation | undefined
      return operation?.requestBody?.content['application/json']
    })
    // A batch is accepted, and rejects each entry by itself. A body with a schema of its own in the document is checked by the service.
    if (detail?.hide || !body || !json || detail?.documentation?.body?.schema) return []
    const [first] = Object.values(json.examples ?? {}) as { value: object }[]
    const example = json.example ?? first!.value
    const of = {
      what: `${method} ${path}`,
      method,
      path: path.replace('/users/:id', `/users/${person}`).replace(/:\w+/g, 'none'),
    }
    return [{ ...of, schema: json.schema, bareSchema: bareJson!.schema, example, body }]
  })
}

/** Issues that a schema can state. All others are about what exists, or about other objects. */
function isOfSchema({ pointer, code }: Found): boolean {
  if (code === 'required') return !BEYOND_SCHEMA.includes(pointer.replace(/^\/plans\/\d+(\/versions\/\d+)?/, ''))
  if (code === 'not_allowed') return EXCLUDED.includes(pointer)
  return ['too_short', 'too_long', 'too_few', 'wrong_type', 'not_an_integer', 'unknown_field'].includes(code)
}

/** Required by the currency of a client or of the terms of a plan, its end, the funding of a rule, an earlier price, and the absence of filters in the query. */
const BEYOND_SCHEMA = ['/exchange_rate', '/end_prorate', '/plan', '/input', '/output', '/ids']

/** Fields that exclude others. */
const EXCLUDED = [
  '/period',
  '/project',
  '/ticket',
  '/bill',
  '/reason',
  '/later_reports',
  '/scopes',
  '/networks',
  '/allow',
]

interface Found {
  pointer: string
  code: string
}

test('every request schema and the check of its route agree about random bodies, null in any field included', async () => {
  const seen = { valid: 0, invalid: 0, called: 0 }
  const disagreements: Record<string, [number, unknown]> = {}
  const disagree = (what: string, why: string, sent: unknown) => {
    const [times, first] = disagreements[`${what}: ${why}`] ?? [0, sent]
    disagreements[`${what}: ${why}`] = [times + 1, first]
  }
  for (const { what, method, path, schema, bareSchema, example, body } of tried()) {
    const isDocumented = bodies.validatorOf(schema)
    const isBareDocumented = checked.validatorOf(bareSchema)
    const checker = new SchemaChecker(body)
    const sent: { json: unknown; isValid: boolean }[] = []
    fc.assert(
      fc.property(fc.oneof(bodies.of(schema), bodies.like(example, schema)), (random) => {
        const isValid = isDocumented(random)
        const value = structuredClone(random)
        if (method !== 'PATCH') removeNulls(body, value)
        const isTaken = checker.Check(value)
        seen[isValid ? 'valid' : 'invalid'] += 1
        // Services check what the document shows besides: the server must refuse it as well.
        if (isTaken) sent.push({ json: random, isValid })
        if (isBareDocumented(random) !== isTaken)
          disagree(what, isTaken ? 'taken, not documented' : 'documented, not taken', random)
      }),
      { numRuns: runs(2_000, 60) },
    )
    const few = (isValid: boolean) => sent.filter((each) => each.isValid === isValid).slice(-runs(50, 3))
    for (const { json, isValid } of [...few(true), ...few(false)]) {
      const isReport = path.startsWith('/api/v1/token-entries') && !/none|actions/.test(path)
      seen.called += 1
      // Throws if a body is accepted that the document does not describe.
      const call = app.call(`${method} ${path}`, { ...(isReport ? { token } : { session }), json })
      const answer = await call.catch((error: Error) => disagree(what, error.message.slice(0, 300), json))
      const issues: Found[] = answer?.json?.errors ?? []
      for (const { pointer, code } of issues) {
        if (isValid && isOfSchema({ pointer, code })) disagree(what, `documented, and ${pointer} is ${code}`, json)
      }
    }
  }
  expect(disagreements).toEqual({})
  expect(Math.min(seen.valid, seen.invalid, 10 * seen.called)).toBeGreaterThan(isLong ? 20_000 : 800)
}, 600_000)

test('the document is the same in every order of the operations', async () => {
  const reversed = await openApiDocument(routes.toReversed())
  const shuffled = await openApiDocument(fc.sample(fc.shuffledSubarray(routes, { minLength: routes.length }), 1)[0]!)
  for (const { paths, components } of [reversed, shuffled]) {
    expect(paths).toEqual(app.document.paths)
    expect(JSON.stringify(components)).toBe(JSON.stringify(app.document.components))
  }
})
