import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Role } from '../../../src/database/schema/values.ts'
import { PASSWORD, startApp, type TestApp } from '../../support/app.ts'

const DAY_MS = 86_400_000

interface Person {
  email: string
  session: string
}

let app: TestApp
const people = {} as Record<Role, Person>

async function signedIn(role: Role): Promise<Person> {
  const email = await app.person(role, { password: true })
  const { secret } = await app.services.people.signIn({ email, password: PASSWORD, address: '::1' })
  return { email, session: `tally_session=${secret}` }
}

beforeAll(async () => {
  app = await startApp()
  for (const role of ['member', 'billing', 'admin'] as const) people[role] = await signedIn(role)
})
afterAll(() => app.close())

const create = (session: string, json: unknown) => app.call('POST /api/v1/tokens', { session, json })
const namesIn = async (session: string, query = '') => {
  const { json } = await app.call(`GET /api/v1/tokens?${query}`, { session })
  return json.data.map(({ name }: { name: string }) => name)
}

describe('a token', () => {
  const rows: [Role, object, number][] = [
    ['member', { kind: 'svc' }, 201],
    ['member', { kind: 'read' }, 201],
    ['member', { kind: 'org' }, 403],
    ['member', { kind: 'svc', allow: ['bills'] }, 403],
    ['billing', { kind: 'svc', allow: ['bills'] }, 201],
    ['billing', { kind: 'org' }, 403],
    ['admin', { kind: 'org' }, 201],
    ['admin', { kind: 'svc', allow: ['bills'] }, 201],
    ['admin', { kind: 'read', allow: ['bills'] }, 422],
    ['member', { kind: 'root' }, 422],
    ['member', { kind: 'svc', allow: ['everything'] }, 422],
    ['member', { kind: 'svc', name: ' ' }, 422],
    ['member', { kind: 'svc', expires_at: '2020-01-01' }, 422],
    ['member', { kind: 'svc', expires_at: '2099-02-30' }, 422],
    ['member', { kind: 'svc', expires_at: '2099-01-01T08:00:00' }, 422],
    ['member', { kind: 'svc', user: 'somebody@example.com' }, 422],
  ]
  test.each(rows)('asked for by a %s as %j is answered with %d', async (role, what, expected) => {
    const { email, session } = people[role]
    const { status, json, headers } = await create(session, { name: 'mine', ...what })
    expect(status).toBe(expected)
    if (status !== 201) return
    expect(json.user.email).toBe(email)
    expect(json.token).toStartWith(`tally_${json.kind}_${json.hint}`)
    expect(headers.get('location')).toBe(`/api/v1/tokens/${json.id}`)
    const { json: me } = await app.call('GET /api/v1/me', { token: json.token })
    expect([me.token.id, me.person.email]).toEqual([json.id, email])
  })

  test('is shown once, and afterwards by its first characters', async () => {
    const { session, email } = people.member
    const expiresAt = new Date(Date.now() + DAY_MS).toISOString()
    const { json } = await create(session, { kind: 'svc', name: 'laptop', expires_at: expiresAt })
    const { token, ...shown } = json
    expect(shown).toMatchObject({ name: 'laptop', state: 'usable', expires_at: expiresAt, last_used_at: null })
    const read = await app.call(`GET /api/v1/tokens/${json.id}`, { session })
    expect([read.status, read.json]).toEqual([200, shown])
    expect(read.json.user.email).toBe(email)
    for (const text of [read.text, (await app.call('GET /api/v1/tokens', { session })).text]) {
      expect(text).not.toContain(token.slice(-30))
    }
  })

  test('that expires at null does not', async () => {
    const { json } = await create(people.member.session, { kind: 'svc', name: 'x', expires_at: null })
    expect(json.expires_at).toBeNull()
  })

  test('is revoked by its owner and works no more; again is no mistake', async () => {
    const { session } = people.member
    const { json } = await create(session, { kind: 'read', name: 'brief' })
    const revoke = () => app.call(`POST /api/v1/tokens/${json.id}/revoke`, { session })
    const first = await revoke()
    expect([first.status, first.json.state]).toEqual([200, 'revoked'])
    expect((await revoke()).json.revoked_at).toBe(first.json.revoked_at)
    expect((await app.call('GET /api/v1/me', { token: json.token })).status).toBe(401)
  })

  test('of somebody else is not there, but for admins, who may revoke any', async () => {
    const owner = await signedIn('billing')
    const { json } = await create(owner.session, { kind: 'svc', name: 'private name' })
    const [own, unknown] = [json.id, `tok_${'0'.repeat(32)}`]
    for (const role of ['member', 'billing'] as const) {
      for (const call of ['GET /api/v1/tokens/ID', 'POST /api/v1/tokens/ID/revoke']) {
        const answers = []
        for (const id of [own, unknown]) {
          const { status, json: answer } = await app.call(call.replace('ID', id), { session: people[role].session })
          answers.push([status, answer.code, answer.detail.replace(id, 'ID')])
        }
        expect(answers[0]).toEqual(answers[1]!)
        expect(answers[0]![0]).toBe(404)
      }
      expect(await namesIn(people[role].session, `user=${owner.email}`)).toEqual([])
    }
    expect((await app.call('GET /api/v1/me', { token: json.token })).status).toBe(200)
    const { session } = people.admin
    expect((await app.call(`GET /api/v1/tokens/${own}`, { session })).json.name).toBe('private name')
    expect((await app.call(`POST /api/v1/tokens/${own}/revoke`, { session })).status).toBe(200)
    expect((await app.call('GET /api/v1/me', { token: json.token })).status).toBe(401)
  })

  test.each(['svc', 'read', 'org'] as const)('of the kind %s makes, lists and revokes no tokens', async (kind) => {
    const token = await app.token(kind)
    for (const call of ['GET /api/v1/tokens', 'POST /api/v1/tokens', 'POST /api/v1/tokens/none/revoke']) {
      const json = call === 'POST /api/v1/tokens' ? { kind: 'svc', name: 'x' } : undefined
      expect((await app.call(call, { token, json })).status).toBe(403)
    }
  })
})

describe('the list of tokens', () => {
  test('is that of the caller, newest first; an admin’s is that of everyone', async () => {
    const [one, two] = [await signedIn('member'), await signedIn('billing')]
    await create(one.session, { kind: 'svc', name: 'first' })
    await create(two.session, { kind: 'read', name: 'second' })
    const { json } = await create(one.session, { kind: 'read', name: 'third' })
    await app.call(`POST /api/v1/tokens/${json.id}/revoke`, { session: one.session })
    expect(await namesIn(one.session)).toEqual(['third', 'first'])
    expect(await namesIn(two.session)).toEqual(['second'])
    const of = `user=${one.email},${two.email}`
    expect(await namesIn(people.admin.session, of)).toEqual(['third', 'second', 'first'])
    expect(await namesIn(people.admin.session, `${of}&kind=read`)).toEqual(['third', 'second'])
    expect(await namesIn(people.admin.session, `${of}&state=usable`)).toEqual(['second', 'first'])
    expect(await namesIn(people.admin.session, `${of}&state=revoked,expired`)).toEqual(['third'])
    const { json: page } = await app.call(`GET /api/v1/tokens?${of}&limit=2`, { session: people.admin.session })
    expect([page.has_more, page.data.length]).toEqual([true, 2])
    expect(await namesIn(people.admin.session, `${of}&limit=2&page=${page.next_page}`)).toEqual(['first'])
    const csv = await app.call('GET /api/v1/tokens', { session: one.session, headers: { accept: 'text/csv' } })
    expect(csv.text.split('\r\n').map((line) => line.split(',')[2])).toEqual(['name', 'third', 'first', undefined])
  })

  test('knows the tokens of a disabled person as stopped, but organization tokens go on', async () => {
    const { email, session } = await signedIn('admin')
    await create(session, { kind: 'svc', name: 'theirs' })
    await create(session, { kind: 'org', name: 'the organization’s' })
    await app.call(`POST /api/v1/users/${email}/disable`, { session: people.admin.session })
    expect(await namesIn(people.admin.session, `user=${email}&state=stopped`)).toEqual(['theirs'])
    expect(await namesIn(people.admin.session, `user=${email}&state=usable`)).toEqual(['the organization’s'])
  })
})
