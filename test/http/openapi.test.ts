import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compileErrors, validate } from '@readme/openapi-parser'
import Ajv2020 from 'ajv/dist/2020'
import openapiTypescript, { astToString } from 'openapi-typescript'
import { createApp } from '../../src/app.ts'
import {
  type DescribedRoute,
  type OpenApiDocument,
  openApiDocument,
  PROBLEM_CODES,
} from '../../src/http/openapi-document.ts'
import { startApp, type TestApp } from '../support/app.ts'

const ROOT = join(import.meta.dir, '../..')

interface Operation {
  operationId: string
  tags: string[]
  summary: string
  security: Record<string, string[]>[]
  parameters: { $ref?: string; in?: string; description?: string }[]
  requestBody?: { content: Record<string, { schema?: unknown; example?: unknown; examples?: unknown }> }
  responses: Record<string, { content?: Record<string, { schema?: unknown; example?: unknown; examples?: unknown }> }>
}

let app: TestApp
let document: OpenApiDocument
let operations: (Operation & { method: string; path: string })[]
let tokens: Record<string, string>

beforeAll(async () => {
  app = await startApp()
  document = app.document
  operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...(operation as unknown as Operation),
      method: method.toUpperCase(),
      path,
    })),
  )
  tokens = {
    serviceToken: await app.token('svc'),
    readToken: await app.token('read'),
    organizationToken: await app.token('org'),
  }
})
afterAll(() => app.close())

describe('the document', () => {
  test('is valid OpenAPI 3.1', async () => {
    expect(document.openapi).toBe('3.1.0')
    const result = await validate(structuredClone(document) as never)
    expect(result.valid ? '' : compileErrors(result)).toBe('')
  })

  test('has no enumeration that generated clients would name like a component', () => {
    const { schemas } = document.components as { schemas: Record<string, { properties?: Record<string, object> }> }
    const pascal = (name: string) => name.replace(/(?:^|_)([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
    const enumerations = Object.entries(schemas).flatMap(([component, { properties = {} }]) =>
      Object.entries(properties).flatMap(([name, property]) => ('enum' in property ? [component + pascal(name)] : [])),
    )
    expect(enumerations.length).toBeGreaterThan(10)
    expect(enumerations.filter((name) => Object.hasOwn(schemas, name))).toEqual([])
  })

  test('has the same fields of an object in its list as alone, except for what a list would take too long for', () => {
    type Schema = {
      $ref?: string
      properties?: Record<string, Schema>
      items?: Schema
      allOf?: Schema[]
      anyOf?: Schema[]
    }
    const { schemas } = document.components as { schemas: Record<string, Schema> }
    const resolved = (schema: Schema = {}): Schema =>
      schema.$ref ? resolved(schemas[schema.$ref.split('/').at(-1)!]) : schema
    const fields = (schema?: Schema): string[] => {
      const { properties = {}, allOf = [], anyOf = [] } = resolved(schema)
      return [...Object.keys(properties), ...[...allOf, ...anyOf].flatMap(fields)]
    }
    const returned = (path: string): Schema | undefined => {
      const content = (document.paths[path]?.get as Operation | undefined)?.responses['200']?.content
      return (content?.['application/json'] as { schema?: Schema } | undefined)?.schema
    }
    const differing: Record<string, string> = {}
    let pairs = 0
    for (const path of Object.keys(document.paths)) {
      const list = /^(.*)\/\{\w+\}$/.exec(path)?.[1]
      const items = list && resolved(resolved(returned(list)).properties?.data).items
      const alone = returned(path)
      if (!items || !alone) continue
      pairs += 1
      const [listed, single] = [fields(items), fields(alone)]
      expect([path, listed.filter((field) => !single.includes(field))]).toEqual([path, []])
      const more = single.filter((field) => !listed.includes(field))
      if (more.length > 0) differing[path] = more.join()
    }
    expect(pairs).toBeGreaterThan(14)
    expect(differing).toEqual({
      // Each would be a query of its own for every row.
      '/api/v1/bills/{id}': 'corrected_by,replaced_by,remaining,payments,deliveries,document',
      '/api/v1/token-entries/{id}': 'placed_by_rule,valuation,settled_by',
      '/api/v1/plans/{id}/periods/{first_day}': 'people',
      // Thousands of prices.
      '/api/v1/prices/loads/{id}': 'entries',
    })
  })

  test('has one name for the kinds of tokens', () => {
    const schemas = document.components.schemas as Record<string, { enum?: string[] }>
    expect(schemas.TokenKind!.enum).toEqual(['svc', 'read', 'org', 'api'])
    const elsewhere = JSON.stringify({ paths: document.paths, schemas: { ...schemas, TokenKind: {} } })
    expect(elsewhere.match(/"enum":\["(svc|service)"[^\]]*/g)).toEqual([
      // Who calls, which the API has named like this from the beginning.
      '"enum":["service","read","organization","api","session"',
      // Those that an ID token can be exchanged for.
      '"enum":["svc","read"',
    ])
    expect(elsewhere.match(/#\/components\/schemas\/TokenKind"/g)).toHaveLength(6)
  })

  test('declares that parameters are not empty, and no more of a header than the server requires', async () => {
    const parameters = operations.flatMap(({ method, path, parameters }) =>
      (parameters as unknown as { name: string; in: string; schema: Record<string, unknown> }[])
        .filter(({ in: place }) => place === 'query')
        .map(({ name, schema }) => ({
          what: `${method} ${path} ${name}`,
          schema: (schema.items ?? schema) as { type?: string; enum?: unknown; pattern?: string },
        })),
    )
    for (const { what, schema } of parameters) {
      if (schema.type !== 'string' || schema.enum) continue
      for (const empty of ['', ' ']) {
        expect([what, empty, new RegExp(schema.pattern ?? '', 'u').test(empty)]).toEqual([what, empty, false])
      }
    }
    const list = parameters.find(({ what }) => what === 'GET /api/v1/token-entries project')!.schema.pattern!
    expect(['a', 'a,b', 'a b, c', ','].map((text) => new RegExp(list, 'u').test(text))).toEqual([
      true,
      true,
      true,
      false,
    ])
    const schemas = document.components.schemas as Record<string, { properties: Record<string, object> }>
    expect(schemas.NewUser!.properties.name).toMatchObject({ minLength: 1, maxLength: 200 })
    expect(schemas.SettingsChange!.properties.bill_footer).toMatchObject({
      anyOf: [{ minLength: 1 }, { type: 'null' }],
    })
    const batch = operations.find(({ operationId }) => operationId === 'reportTokenEntries')
    expect(batch!.requestBody!.content['application/x-ndjson']!.schema).toMatchObject({ pattern: '\\S' })
    // Any id of a request is taken: an invalid one is replaced.
    const header = (document.components.parameters as Record<string, { schema: object }>)['X-Request-Id']
    expect(header!.schema).toEqual({ type: 'string' })
    const { status, headers } = await app.call('GET /health', { headers: { 'x-request-id': 'not valid!' } })
    expect([status, headers.get('x-request-id')]).toEqual([200, expect.stringMatching(/^[0-9a-f-]{36}$/)])
  })

  test('describes every problem by one schema, with the codes of the response beside it', () => {
    const responses = Object.values(document.components.responses!) as Record<string, Record<string, unknown>>[]
    const problems = responses.flatMap(({ content = {}, [PROBLEM_CODES]: codes }) =>
      content['application/problem+json'] ? [[content['application/problem+json'], codes]] : [],
    )
    expect(problems.length).toBeGreaterThan(10)
    for (const [{ schema }, codes] of problems as [{ schema: object }, string[]][]) {
      expect(schema).toEqual({ $ref: '#/components/schemas/Problem' })
      expect(codes.length).toBeGreaterThan(0)
    }
  })

  test('lists everything that a response may be under its content, JSON first', () => {
    expect(JSON.stringify(document).match(/x-other-content/g)).toBeNull()
    const several = operations.flatMap(({ operationId, responses }) =>
      Object.values(responses).flatMap(({ content = {} }) =>
        Object.hasOwn(content, 'application/json') && Object.keys(content).length > 1 ? [{ operationId, content }] : [],
      ),
    )
    expect(several.length).toBeGreaterThan(28)
    for (const { operationId, content } of several) {
      const [json, ...others] = Object.entries(content)
      expect([operationId, json![0]]).toEqual([operationId, 'application/json'])
      for (const [type, { schema }] of others) {
        expect([operationId, type, schema]).toEqual([operationId, type, expect.objectContaining({ type: 'string' })])
      }
    }
  })

  test('holds every route of the application but its pages, each with its parameters, an id, a tag, a summary and its security', () => {
    const { services } = app
    const { routes } = createApp({ services, logger: { info() {}, error() {} } as never })
    for (const { method, path, hooks } of routes as DescribedRoute[]) {
      if (hooks.detail?.hide) {
        expect(path).not.toStartWith('/api/')
        continue
      }
      const operation = document.paths[path.replace(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()]
      const { parameters = [] } = operation as { parameters?: { $ref?: string; in: string; name: string }[] }
      expect(parameters.flatMap(({ $ref, in: place, name }) => ($ref ? [] : [`${place} ${name}`]))).toEqual([
        ...[...path.matchAll(/:(\w+)/g)].map(([, name]) => `path ${name}`),
        ...Object.keys(hooks.query?.properties ?? {}).map((name) => `query ${name}`),
      ])
      // A copy: bun's toMatchObject puts its matchers into what it looks at.
      expect(structuredClone(operation), `${method} ${path}`).toMatchObject({
        operationId: expect.stringMatching(/^[a-z][A-Za-z]+$/),
        tags: [expect.stringMatching(/./)],
        summary: expect.stringMatching(/./),
        security: expect.any(Array),
      })
    }
    const ids = operations.map(({ operationId }) => operationId)
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('cannot be made of a route that does not describe itself', async () => {
    const route = { method: 'GET', path: '/api/v1/secrets', hooks: {} }
    await expect(openApiDocument([route])).rejects.toThrow('GET /api/v1/secrets has no detail')
    expect((await openApiDocument([{ ...route, hooks: { detail: { hide: true } } }])).paths).toEqual({})
  })

  test('describes every parameter, and shows an example of every body and of every answer that is JSON', () => {
    for (const { method, path, parameters, requestBody, responses } of operations) {
      const what = `${method} ${path}`
      for (const parameter of parameters.filter(({ $ref }) => !$ref)) {
        expect(parameter.description, `${what} ${JSON.stringify(parameter)}`).toMatch(/./)
      }
      for (const content of Object.values(requestBody?.content ?? {})) {
        expect(content.example ?? content.examples, what).toBeDefined()
      }
      for (const [status, { content }] of Object.entries(responses)) {
        const json = content?.['application/json']
        if (json) expect(json.example ?? json.examples, `${what} ${status}`).toBeDefined()
      }
    }
  })

  test('lists the fields of every object, so that a client can reject others', () => {
    const open: string[] = []
    const walk = (value: unknown, at: string) => {
      if (typeof value !== 'object' || value === null) return
      const { properties, additionalProperties } = value as Record<string, unknown>
      if (properties && (value as { type?: unknown }).type === 'object' && additionalProperties === undefined)
        open.push(at)
      for (const [key, inner] of Object.entries(value)) walk(inner, `${at}/${key}`)
    }
    walk(document.components.schemas, '#/components/schemas')
    expect(open).toEqual([])
    expect(Object.keys(document.components.schemas!)).toEqual(
      expect.arrayContaining(['TokenEntry', 'TokenEntryReport', 'Problem']),
    )
  })

  test('is sent compressed, and not again to who has it', async () => {
    const path = 'GET /api/v1/openapi.json'
    const packed = await fetch(`${app.url}/api/v1/openapi.json`, {
      decompress: false,
      headers: { 'accept-encoding': 'gzip' },
    })
    expect(packed.headers.get('content-encoding')).toBe('gzip')
    const plain = await app.call(path, { headers: { 'accept-encoding': 'identity' } })
    expect(plain.headers.get('content-encoding')).toBeNull()
    expect((await packed.bytes()).byteLength).toBeLessThan(plain.text.length / 3)
    const known = await app.call(path, { headers: { 'if-none-match': plain.headers.get('etag')! } })
    expect([known.status, known.text]).toEqual([304, ''])
  })
})

describe('the documented credentials are the accepted ones', () => {
  const call = (method: string, path: string, token?: string) =>
    app.call(`${method} ${path.replaceAll(/\{\w+\}/g, 'none')}`, { token })

  test('without any, a secured operation answers 401 and any other something else', async () => {
    for (const { method, path, security } of operations) {
      const { status } = await call(method, path)
      expect([method, path, status === 401]).toEqual([method, path, security.length > 0])
    }
  })

  test('with the wrong kind of token it answers 403, whatever the body; with the right kind it does not', async () => {
    for (const { method, path, security } of operations.filter((operation) => operation.security.length > 0)) {
      const allowed = security.flatMap((scheme) => Object.keys(scheme))
      for (const [scheme, token] of Object.entries(tokens)) {
        const { status } = await call(method, path, token)
        expect([method, path, scheme, status !== 403]).toEqual([method, path, scheme, allowed.includes(scheme)])
        expect(status).not.toBe(401)
      }
    }
  })
})

describe('routes', () => {
  const routes = () =>
    createApp({ services: app.services, logger: { info() {}, error() {} } as never }).routes as unknown as {
      method: string
      path: string
      hooks: {
        body?: unknown
        response?: unknown
        parse?: { fn: unknown }[]
        query?: { properties?: Record<string, unknown> }
      }
    }[]

  test('read bodies with a strict parser, never with Elysia’s', () => {
    for (const { method, path, hooks } of routes()) {
      if (!hooks.body) continue
      const names = hooks.parse?.map(({ fn }) => (typeof fn === 'string' ? fn : (fn as () => unknown).name)) ?? []
      const named = names.filter((name) => /^(report|batch|credentials)$/.test(name))
      expect([method, path, named]).toEqual([method, path, [expect.any(String)]])
    }
  })

  test('leave answers unchecked at run time: after a commit a 422 would be a lie', () => {
    expect(routes().filter(({ hooks }) => hooks.response)).toEqual([])
  })

  test('leave the numbers of a query to http/query.ts: if Elysia converted them, one out of range would be a 500', () => {
    for (const { method, path, hooks } of routes()) {
      const converted = JSON.stringify(hooks.query ?? {}).match(/"format":"(integer|numeric|boolean|date)"/)
      expect([method, path, converted]).toEqual([method, path, null])
    }
  })
})

describe('a typed client', () => {
  const USE = `
    import createClient from 'openapi-fetch'
    import type { components, paths } from './client'

    const [url, token, read] = process.argv.slice(2) as [string, string, string]
    type Json = 'application/json' | 'application/problem+json'
    const client = createClient<paths, Json>({ baseUrl: url, headers: { authorization: 'Bearer ' + token } })
    const { data, error } = await client.POST('/api/v1/token-entries', {
      body: {
        agent_harness: 'typed-client',
        agent_name: 'reviewer',
        model: 'claude-sonnet-4-5',
        started_at: '2026-11-20T17:53:04Z',
        ended_at: '2026-11-20T18:20:41Z',
        tokens: { input: 522, output: 228 },
        reported_cost: 1.25,
        project: 'TYPED',
      },
    })
    if (error) throw new Error(error.code + ': ' + error.detail)
    const entry: components['schemas']['TokenEntry'] = data
    const list = await client.GET('/api/v1/token-entries', {
      params: { query: { agent_harness: ['typed-client'], limit: 10 } },
      headers: { authorization: 'Bearer ' + read },
    })
    if (!list.data) throw new Error(list.error.code)
    const csv = await createClient<paths, 'text/csv'>({ baseUrl: url }).GET('/api/v1/token-entries', {
      params: { query: { agent_harness: ['typed-client'] } },
      headers: { authorization: 'Bearer ' + read, accept: 'text/csv' },
      parseAs: 'text',
    })
    const lines: string[] = csv.data!.trim().split('\\n')
    // @ts-expect-error: the start of a report is required
    await client.GET('/api/v1/reports/usage', { params: { query: {} } })
    const sending = { body: { month: '2026-11', project: 'TYPED' } }
    const bill = await client.POST('/api/v1/bills', sending)
    if (!bill.data) throw new Error(bill.error.detail)
    const again = await client.POST('/api/v1/bills', sending)
    // @ts-expect-error: a field that the schema does not know does not compile
    entry.no_such_field
    // @ts-expect-error: nor does a status that does not exist
    entry.status === 'lost'
    const billed = [bill.data.state, bill.data.total, again.error?.code]
    console.log(JSON.stringify({ entry, listed: list.data.data.map(({ id }) => id), lines: lines.length, billed }))
  `

  test('made from the document compiles, reports an entry, lists and bills it', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tally-client-'))
    try {
      await Bun.write(join(folder, 'client.ts'), astToString(await openapiTypescript(document as never)))
      await Bun.write(join(folder, 'use.ts'), USE)
      await Bun.write(
        join(folder, 'tsconfig.json'),
        JSON.stringify({
          extends: join(ROOT, 'tsconfig.json'),
          compilerOptions: {
            paths: { 'openapi-fetch': [join(ROOT, 'node_modules/openapi-fetch')] },
            typeRoots: [join(ROOT, 'node_modules/@types')],
          },
          include: ['*.ts'],
        }),
      )
      const run = (...command: string[]) => Bun.spawnSync([process.execPath, ...command], { cwd: folder })
      const compiled = run(join(ROOT, 'node_modules/typescript-native/bin/tsc'), '--noEmit', '-p', folder)
      expect(compiled.stdout.toString()).toBe('')
      const user = await app.person('admin')
      const [service, read] = [await app.token('svc', user, { allowBills: true }), await app.token('read', user)]
      // Not waited for synchronously: the server that it calls is this process.
      const child = Bun.spawn([process.execPath, 'use.ts', app.url, service, read], { cwd: folder, stderr: 'pipe' })
      const [out, errors] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
      expect(errors).toBe('')
      const { entry, listed, lines, billed } = JSON.parse(out)
      expect(entry).toMatchObject({ agent_harness: 'typed-client', status: 'submitted' })
      expect(listed).toEqual([entry.id])
      expect(lines).toBe(2)
      expect(billed).toEqual(['sent', 1.25, 'nothing_to_bill'])
    } finally {
      await rm(folder, { recursive: true })
    }
  }, 180_000)
})

describe('the token entry schema', () => {
  test('is JSON Schema 2020-12 that takes what the report call takes', async () => {
    const { status, headers, json: schema } = await app.call('GET /api/v1/token-entry-schema')
    expect(status).toBe(200)
    expect(headers.get('content-type')).toStartWith('application/schema+json')
    expect(schema.$schema).toBe('https://json-schema.org/draft/2020-12/schema')
    expect(schema.$id).toMatch(/^urn:/)
    expect(JSON.stringify(schema)).not.toContain('#/components')
    const check = new Ajv2020({ allErrors: true }).compile(schema)
    const report = operations.find(({ operationId }) => operationId === 'reportTokenEntry')!
    const example = report.requestBody!.content['application/json']!.example as Record<string, unknown>
    expect(check(example)).toBe(true)
    expect((await app.call('POST /api/v1/token-entries', { token: tokens.serviceToken, json: example })).status).toBe(
      201,
    )
    for (const wrong of [
      { ...example, tokns: 1 },
      { ...example, tokens: { input: '5', output: 1 } },
      { ...example, model: '' },
    ]) {
      expect(check(wrong)).toBe(false)
      expect((await app.call('POST /api/v1/token-entries', { token: tokens.serviceToken, json: wrong })).status).toBe(
        422,
      )
    }
  })
})
