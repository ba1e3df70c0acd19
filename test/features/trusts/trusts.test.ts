/** Trusts: who adds, changes and removes them, what is refused, and what an ID token is compared with. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { compared, issueOfPattern, runOf } from '../../../src/features/trusts/claims.ts'
import type { NewTrust } from '../../../src/features/trusts/schema.ts'
import { startApp, type TestApp } from '../../support/app.ts'
import { forEachEngine } from '../../support/databases.ts'
import { gitHubClaims, type IdTokenIssuer, startIssuer } from '../../support/id-token-issuer.ts'
import { reportBody } from '../../support/reports.ts'

const PUBLIC_URL = 'https://tally.example.com'

test('patterns of branches', () => {
  const matches = (pattern: string, branch: string) => {
    const run = runOf('gitlab', {
      project_id: '1',
      project_path: 'a/b',
      ref: branch,
      ref_type: 'branch',
      pipeline_source: 'push',
    })
    return compared({ repositoryId: '1', branches: [pattern], pullRequests: false, environment: null }, run)[1]!.matches
  }
  expect(matches('main', 'main')).toBe(true)
  expect(matches('main', 'xmain')).toBe(false)
  expect(matches('release/*', 'release/')).toBe(true)
  expect(matches('release/*', 'release/1.0')).toBe(true)
  expect(matches('release/*', 'release/1/0')).toBe(false)
  expect(matches('release/**', 'release/1/0')).toBe(true)
  expect(matches('*', 'feature/x')).toBe(false)
  expect(matches('**', 'feature/x')).toBe(true)
  expect(matches('a.c', 'abc')).toBe(false)
  expect(matches('(a|b)+', 'ab')).toBe(false)
  expect(matches('🚀*', '🚀x')).toBe(true)
  expect(issueOfPattern('a***')).toContain('two *')
  expect(issueOfPattern('*a*b*c*')).toContain('at most')
  expect(issueOfPattern('refs/heads/main')).toContain('without refs/heads/')
  // Within the time of the test: no pattern takes long.
  expect(matches('*a*b*c', 'a'.repeat(1_000))).toBe(false)
})

forEachEngine('trusts', (open) => {
  let app: TestApp
  let issuer: IdTokenIssuer
  let admin: string
  let ci: string

  beforeAll(async () => {
    app = await startApp({ db: await open({ serving: true }) })
    issuer = await startIssuer()
    admin = await app.session('admin')
    ci = await app.person('member')
    for (const key of ['WEB', 'API']) {
      await app.call('POST /api/v1/projects', { session: admin, json: { key, name: key } })
    }
  })
  afterAll(async () => {
    await issuer.close()
    await app.close()
  })

  const given = (): NewTrust => ({
    provider: 'github',
    issuer: issuer.url,
    repository: 'acme/web',
    repository_id: '42',
    user: ci,
    project: 'WEB',
  })
  const add = (more: Record<string, unknown> = {}, session = admin) =>
    app.call('POST /api/v1/trusts', { session, json: { ...given(), ...more } })

  test('need a public URL, a member, a project and an issuer that can be asked', async () => {
    expect((await add()).json.errors[0].message).toContain('public URL')
    const json = { public_url: PUBLIC_URL }
    expect((await app.call('PATCH /api/v1/settings', { session: admin, json })).status).toBe(200)
    const pointers = async (more: Record<string, unknown>) => {
      const { status, json } = await add(more)
      return [status, ...(json.errors ?? []).map(({ pointer }: { pointer: string }) => pointer)]
    }
    const billing = await app.person('billing')
    const archived = await app.call('POST /api/v1/projects', { session: admin, json: { key: 'OLD', name: 'OLD' } })
    await app.call(`POST /api/v1/projects/${archived.json.id}/archive`, { session: admin })
    for (const [more, pointer] of [
      [{ user: billing }, '/user'],
      [{ user: 'nobody@example.com' }, '/user'],
      [{ project: 'NONE' }, '/project'],
      [{ project: 'OLD' }, '/project'],
      [{ issuer: 'http://gitlab.example.com' }, '/issuer'],
      [{ issuer: 'https://gitlab.example.com/' }, '/issuer'],
      [{ issuer: 'https://user:secret@gitlab.example.com' }, '/issuer'],
      [{ issuer: 'https://gitlab.example.com?x=1' }, '/issuer'],
      [{ issuer: 'file:///etc/passwd' }, '/issuer'],
      [{ repository_id: 'acme/web' }, '/repository_id'],
      [{ repository_id: '0' }, '/repository_id'],
      [{ branches: ['main', 'refs/heads/main'] }, '/branches/1'],
      [{ minutes: 4 }, '/minutes'],
      [{ minutes: 61 }, '/minutes'],
      [{ provider: 'bitbucket' }, '/provider'],
    ] as const) {
      expect({ more, pointers: await pointers(more) }).toEqual({ more, pointers: [422, pointer] })
    }
    expect((await app.call('GET /api/v1/trusts', { session: admin })).json.data).toEqual([])
  })

  test('are added, listed, changed and removed by admins, with a record of each', async () => {
    const { status, json: added } = await add({ branches: ['main'], minutes: 5 })
    expect(status).toBe(201)
    expect(added).toMatchObject({
      issuer: issuer.url,
      branches: ['main'],
      pull_requests: false,
      environment: null,
      user: { email: ci },
      project: { key: 'WEB' },
      minutes: 5,
      state: 'active',
      exchanges: 0,
      last_used_at: null,
    })
    expect((await add({ provider: 'gitlab' })).json.errors[0].pointer).toBe('/issuer')
    const path = `/api/v1/trusts/${added.id}`
    for (const role of ['member', 'billing', 'viewer'] as const) {
      const session = await app.session(role)
      for (const call of ['GET /api/v1/trusts', `GET ${path}`, `DELETE ${path}`]) {
        expect((await app.call(call, { session })).status).toBe(403)
      }
      expect((await add({}, session)).status).toBe(403)
    }
    const json = { branches: [], pull_requests: true, environment: 'production', project: 'API', minutes: 60 }
    const changed = await app.call(`PATCH ${path}`, { session: admin, json })
    expect(changed.json).toMatchObject({ ...json, project: { key: 'API' } })
    expect((await app.call(`PATCH ${path}`, { session: admin, json: {} })).json).toEqual(changed.json)
    const cleared = await app.call(`PATCH ${path}`, { session: admin, json: { environment: null } })
    expect(cleared.json.environment).toBeNull()
    expect((await app.call('GET /api/v1/trusts', { session: admin })).json.data).toEqual([cleared.json])
    const viewer = await app.call(`PATCH /api/v1/users/${ci}`, { session: admin, json: { role: 'viewer' } })
    expect(viewer.json.detail).toEndWith('First remove the 1 trust whose jobs report for them.')
    expect((await app.call('DELETE /api/v1/projects/API', { session: admin })).json.detail).toContain('trusts')
    const token = await issuer.sign(gitHubClaims(issuer.url, PUBLIC_URL, { environment: 'production' }))
    expect((await app.call(`PATCH ${path}`, { session: admin, json: { pull_requests: true } })).status).toBe(200)
    const exchanged = (await app.call('POST /api/v1/tokens/exchange', { json: { token } })).json.data[0].token
    const entry = await app.call('POST /api/v1/token-entries', { token: exchanged, json: reportBody() })
    expect(entry.json.project.key).toBe('API')
    expect((await app.call(`DELETE ${path}`, { session: admin })).status).toBe(204)
    // What was reported is elsewhere, and still says by which token.
    const move = { action: 'place', ids: [entry.json.id], project: 'WEB' }
    expect((await app.call('POST /api/v1/token-entries/actions', { session: admin, json: move })).json.done).toBe(1)
    expect((await app.call('DELETE /api/v1/projects/API', { session: admin })).status).toBe(204)
    expect((await app.call('GET /api/v1/me', { token: exchanged })).status).toBe(401)
    const kept = await app.call(`GET /api/v1/token-entries/${entry.json.id}`, { session: admin })
    expect(kept.json).toMatchObject({ project: { key: 'WEB' }, agent_manager: entry.json.agent_manager })
    expect((await app.call(`DELETE ${path}`, { session: admin })).status).toBe(404)
    expect((await app.call('GET /api/v1/trusts', { session: admin })).json.data).toEqual([])
    const { json: audit } = await app.call(`GET /api/v1/audit?object=${added.id}`, { session: admin })
    expect(audit.data.map(({ action }: { action: string }) => action)).toEqual([
      'trust.removed',
      'trust.changed',
      'trust.changed',
      'trust.added',
    ])
  })

  test('are compared with an ID token, which is not used up', async () => {
    const { json: added } = await add({ branches: ['main'] })
    const token = await issuer.sign({
      iss: issuer.url,
      aud: 'https://tally.example.com',
      sub: 'x',
      jti: 'compared',
      iat: Math.floor(Date.now() / 1_000),
      exp: Math.floor(Date.now() / 1_000) + 300,
      repository: 'acme/web',
      repository_id: '42',
      ref: 'refs/heads/feature',
      event_name: 'push',
    })
    const tested = await app.call('POST /api/v1/trusts/test', { session: admin, json: { token } })
    expect(tested.json).toEqual({
      trust: null,
      comparisons: [
        { trust: added.id, claim: 'repository_id', token: '42', required: '42', matches: true },
        { trust: added.id, claim: 'branch', token: 'feature', required: 'main', matches: false },
        { trust: added.id, claim: 'environment', token: 'none', required: 'any, or none', matches: true },
      ],
    })
    await app.call(`PATCH /api/v1/trusts/${added.id}`, { session: admin, json: { branches: [] } })
    for (let time = 0; time < 2; time++) {
      const again = await app.call('POST /api/v1/trusts/test', { session: admin, json: { token } })
      expect(again.json.trust).toBe(added.id)
    }
    const exchanged = await app.call('POST /api/v1/tokens/exchange', { json: { token } })
    expect(exchanged.status).toBe(201)
    const shown = await app.call(`GET /api/v1/trusts/${added.id}`, { session: admin })
    expect(shown.json).toMatchObject({ exchanges: 1, last_used_at: expect.any(String) })
    expect(app.log.findLast(({ msg }) => msg === 'exchanged an ID token of a job')).toMatchObject({
      trust: added.id,
      run: { repository: 'acme/web', branch: 'feature' },
    })
    expect(JSON.stringify(app.log)).not.toContain(exchanged.json.data[0].token)
    expect(JSON.stringify(app.log)).not.toContain(token)
  })
})
