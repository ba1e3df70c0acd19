import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Type } from '@sinclair/typebox'
import { eq } from 'drizzle-orm'
import { Elysia } from 'elysia'
import pino from 'pino'
import { TALLY } from '../../src/access/actor.ts'
import { ROLES, type Role } from '../../src/database/schema/values.ts'
import { type Allowed, access, EVERY_ROLE, type GuardedRoute, requireAllow } from '../../src/http/access.ts'
import { documented } from '../../src/http/documentation.ts'
import { type DescribedRoute, openApiDocument } from '../../src/http/openapi-document.ts'
import { requests } from '../../src/http/requests.ts'
import { sessionCookie } from '../../src/http/session-cookie.ts'
import { PASSWORD, startApp, type TestApp } from '../support/app.ts'

const KINDS = { svc: 'service', read: 'read', org: 'organization' } as const

/** A valid credential of every kind and role, as headers. */
interface Credential {
  kind: 'service' | 'read' | 'organization' | 'session'
  role: Role
  headers: Record<string, string>
}

let app: TestApp
const credentials: Credential[] = []

beforeAll(async () => {
  app = await startApp()
  // The one who stays an admin.
  await app.person('admin')
  for (const role of ROLES) {
    for (const [kind, name] of Object.entries(KINDS) as [keyof typeof KINDS, (typeof KINDS)[keyof typeof KINDS]][]) {
      const person = await app.person(kind === 'org' ? 'admin' : role === 'viewer' ? 'member' : role)
      const token = await app.token(kind, person)
      // Made by an admin; the role may be lowered afterwards. Nobody with a token of another kind becomes a viewer, but even
      // their tokens would do nothing.
      if (kind === 'org' && role !== 'admin') await app.services.people.changeUser(person, { role }, TALLY)
      else if (role === 'viewer') await becomeViewer(person)
      credentials.push({ kind: name, role, headers: { authorization: `Bearer ${token}` } })
    }
    credentials.push({ kind: 'session', role, headers: { cookie: await app.session(role), origin: app.url } })
  }
})
afterAll(() => app.close())

async function becomeViewer(email: string): Promise<void> {
  const viewer = { role: 'viewer' } as const
  await app.services.db.write((tx) => tx.update(tx.tables.users).set(viewer).where(eq(tx.tables.users.email, email)))
}

describe('what a route allows', () => {
  const forms: Record<string, Exclude<Allowed, 'anyone'>> = {
    '/programs': ['service', 'read', 'organization'],
    '/people': ['session'],
    '/reading': ['read', 'session'],
    '/money': { session: ['billing', 'admin'] },
    '/management': { session: ['admin'] },
    '/bills': { service: ['billing', 'admin'], session: ['billing', 'admin'] },
    '/mixed': { read: ROLES, session: ['admin'] },
    '/everyone': { session: EVERY_ROLE },
    '/viewers': { session: ['viewer'] },
  }
  const isAllowed = (allowed: Exclude<Allowed, 'anyone'>, { kind, role }: Credential) =>
    Array.isArray(allowed)
      ? allowed.includes(kind) && (role !== 'viewer' || kind === 'organization')
      : ((allowed as Partial<Record<string, readonly Role[]>>)[kind]?.includes(role) ?? false)

  /** Routes of every form, each with and without a body, beside Tally's own way of knowing who calls. */
  function stage() {
    const { people } = app.services
    const logger = pino({ level: 'silent' })
    const detail = (id: string) =>
      documented({ id, tag: 'Service', summary: id, responses: { 200: { description: 'Done.' } } })
    const staged = new Elysia({ prefix: '/api/v1', normalize: false })
      .use(
        requests({
          people,
          cookie: sessionCookie(undefined),
          addressOf: () => '::1',
          publicUrl: () => undefined,
          logger,
          routes: () => [],
        }),
      )
      .use(access())
    for (const [path, allow] of Object.entries(forms)) {
      const body = Type.Object({ n: Type.Integer() }, { additionalProperties: false })
      staged.get(path, () => 'done', { allow, detail: detail(`get${path.slice(1)}`) })
      staged.post(path, () => 'done', { allow, parse: 'report', body, detail: detail(`post${path.slice(1)}`) })
    }
    return staged
  }

  const call = async (
    staged: ReturnType<typeof stage>,
    method: string,
    path: string,
    headers: Record<string, string>,
    body?: string,
  ) => {
    const url = `${app.url}/api/v1${path}`
    const json = { 'content-type': 'application/json', host: new URL(app.url).host }
    const response = await staged.handle(
      new Request(url, { method, headers: { ...json, ...headers }, ...(body !== undefined && { body }) }),
    )
    const text = await response.text()
    return { status: response.status, detail: text.startsWith('{') ? JSON.parse(text).detail : text }
  }

  test('is what happens, for every kind of credential and every role, and before a body is looked at', async () => {
    const staged = stage()
    let tried = 0
    for (const [path, allowed] of Object.entries(forms)) {
      for (const credential of credentials) {
        const { kind, role, headers } = credential
        const may = isAllowed(allowed, credential)
        const answers = [
          await call(staged, 'GET', path, headers),
          await call(staged, 'POST', path, headers, '{"n":1}'),
          await call(staged, 'POST', path, headers, '{"n":"1"}'),
          await call(staged, 'POST', path, headers, '{"n":'),
        ]
        expect([path, kind, role, ...answers.map(({ status }) => status)]).toEqual([
          path,
          kind,
          role,
          ...(may ? [200, 200, 422, 400] : [403, 403, 403, 403]),
        ])
        tried += 1
      }
    }
    expect(tried).toBe(Object.keys(forms).length * 16)
  })

  test('is named to who may not', async () => {
    const staged = stage()
    const refusalOf = async (path: string, kind: Credential['kind'], role: Role) => {
      const { headers } = credentials.find((credential) => credential.kind === kind && credential.role === role)!
      return (await call(staged, 'GET', path, headers)).detail
    }
    expect(await refusalOf('/reading', 'service', 'admin')).toBe(
      'This request needs a read token (tally_read_…) or a signed-in person, not a service token (tally_svc_…).',
    )
    expect(await refusalOf('/money', 'session', 'member')).toBe(
      'This request needs the role billing or admin; you have the role member. Ask an admin to change it.',
    )
    expect(await refusalOf('/bills', 'service', 'member')).toBe(
      'This request needs the role billing or admin; the creator of this token has the role member. Ask an admin to change it.',
    )
    // What kind of credential is asked for first: with another role it would still be the wrong one.
    expect(await refusalOf('/money', 'read', 'member')).toContain('needs a signed-in person')
  })

  test('changes with the role, from the next call on', async () => {
    const staged = stage()
    const person = await app.person('admin', { password: true })
    const { people } = app.services
    const { secret } = await people.signIn({ email: person, password: PASSWORD, address: '::1' })
    const statusNow = async () =>
      (await call(staged, 'GET', '/management', { cookie: `tally_session=${secret}` })).status
    expect(await statusNow()).toBe(200)
    await people.changeUser(person, { role: 'billing' }, TALLY)
    expect(await statusNow()).toBe(403)
    await people.changeUser(person, { role: 'admin' }, TALLY)
    expect(await statusNow()).toBe(200)
  })

  test('matches the document: roles as alternatives, and the possible refusals', async () => {
    const document = await openApiDocument(stage().routes as unknown as DescribedRoute[])
    const operation = (path: string, method: string) =>
      document.paths[`/api/v1${path}`]![method] as never as {
        security: unknown
        responses: Record<string, unknown>
      }
    expect(operation('/reading', 'get').security).toEqual([{ readToken: [] }, { session: [] }])
    expect(operation('/money', 'get').security).toEqual([{ session: ['billing'] }, { session: ['admin'] }])
    expect(operation('/viewers', 'get').security).toEqual([{ session: ['viewer'] }])
    expect(operation('/mixed', 'get').security).toEqual([
      { readToken: ['viewer'] },
      { readToken: ['member'] },
      { readToken: ['billing'] },
      { readToken: ['admin'] },
      { session: ['admin'] },
    ])
    for (const path of Object.keys(forms)) {
      for (const method of ['get', 'post']) {
        expect(Object.keys(operation(path, method).responses)).toEqual(expect.arrayContaining(['401', '403']))
      }
    }
  })

  test('must be declared: the application does not start with a route that leaves it open', () => {
    const detail = documented({ id: 'x', tag: 'Service', summary: 'x', responses: { 200: { description: 'Done.' } } })
    const routes = (app: { routes: unknown }) => app.routes as GuardedRoute[]
    const declared = new Elysia({ prefix: '/api/v1' })
      .use(access())
      .get('/anyone', () => 'done', { allow: 'anyone', detail })
      .get('/people', () => 'done', { allow: ['session'], scope: 'people-only', detail })
    expect(() => requireAllow(routes(declared))).not.toThrow()
    const open = declared.post('/forgotten', () => 'done', { detail }).get('/bare/:id', () => 'done')
    expect(() => requireAllow(routes(open))).toThrow(
      "These routes don't declare who may call them: POST /api/v1/forgotten, GET /api/v1/bare/:id.",
    )
    // Without the macro, `allow` would be checked by nobody.
    const unchecked = new Elysia().get('/unchecked', () => 'done', { allow: ['session'] } as object)
    expect(() => requireAllow(routes(unchecked))).toThrow('GET /unchecked')
  })
})
