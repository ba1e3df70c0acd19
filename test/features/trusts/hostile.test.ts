/**
 * ID tokens that are to get no token, against an issuer on this machine, and what a token of a job may not do. TALLY_SHOW=1 prints
 * each case with its answer.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { exportSPKI, importJWK, SignJWT } from 'jose'
import type { Database } from '../../../src/database/database.ts'
import type { NewTrust } from '../../../src/features/trusts/schema.ts'
import { OTLP_PREFIX } from '../../../src/http/otlp.ts'
import { startApp, type TestApp } from '../../support/app.ts'
import { forEachEngine, locationOf } from '../../support/databases.ts'
import { type IdTokenIssuer, newKey, startIssuer } from '../../support/id-token-issuer.ts'
import { reportBody } from '../../support/reports.ts'

const PUBLIC_URL = 'https://tally.example.com'
const NOW = Date.parse('2026-12-03T12:00:00Z')
const SECOND = 1_000
const MINUTE = 60_000

forEachEngine('ID tokens', (open) => {
  let db: Database
  let app: TestApp
  let now = NOW
  let github: IdTokenIssuer
  let gitlab: IdTokenIssuer
  let stranger: IdTokenIssuer
  let admin: string
  let ci: string
  let runs = 0

  const add = async (more: Partial<NewTrust> = {}) => {
    const json = {
      provider: 'github',
      issuer: github.url,
      repository: 'acme/web',
      repository_id: '42',
      user: ci,
      project: 'WEB',
    }
    const added = await app.call('POST /api/v1/trusts', { session: admin, json: { ...json, ...more } })
    expect(added.json.detail).toBeUndefined()
    return added.json.id as string
  }

  beforeAll(async () => {
    db = await open({ serving: true })
    app = await startApp({ db, clock: { now: () => now } })
    ;[github, gitlab, stranger] = await Promise.all([startIssuer(), startIssuer(), startIssuer()])
    admin = await app.session('admin')
    await app.call('PATCH /api/v1/settings', { session: admin, json: { public_url: PUBLIC_URL } })
    ci = await app.person('member')
    for (const key of ['WEB', 'OTHER', 'OLD', 'MERGED']) {
      expect((await app.call('POST /api/v1/projects', { session: admin, json: { key, name: key } })).status).toBe(201)
    }
    await add({ branches: ['main', 'release/*'], pull_requests: false })
    await add({ repository_id: '43', repository: 'acme/api', pull_requests: true, branches: ['none'] })
    await add({ repository_id: '44', repository: 'acme/shop', environment: 'production' })
    await add({
      provider: 'gitlab',
      issuer: gitlab.url,
      repository_id: '7',
      repository: 'acme/lab',
      branches: ['main'],
    })
  })
  afterAll(async () => {
    await Promise.all([github, gitlab, stranger].map((each) => each.close()))
    await app.close()
  })

  /** What GitHub says of a push to main. */
  const claims = (more: Record<string, unknown> = {}) => ({
    iss: github.url,
    aud: PUBLIC_URL,
    sub: 'repo:acme/web:ref:refs/heads/main',
    jti: `run-${++runs}`,
    iat: Math.floor(now / SECOND) - 5,
    exp: Math.floor(now / SECOND) + 300,
    repository: 'acme/web',
    repository_id: '42',
    ref: 'refs/heads/main',
    ref_type: 'branch',
    event_name: 'push',
    ...more,
  })
  const labClaims = (more: Record<string, unknown> = {}) => ({
    ...claims({ iss: gitlab.url }),
    project_id: '7',
    project_path: 'acme/lab',
    ref: 'main',
    pipeline_source: 'push',
    ...more,
  })
  const signed = (more: Record<string, unknown> = {}, options: Parameters<IdTokenIssuer['sign']>[1] = {}) =>
    github.sign(claims(more), options)
  const exchange = (token: unknown, kinds?: unknown, at = app) =>
    at.call('POST /api/v1/tokens/exchange', { json: { token, ...(kinds !== undefined && { kinds }) } })

  const part = (value: unknown) =>
    Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')

  /** Every case gets no token, and the others are as they are. */
  async function refuse(name: string, token: unknown, detail: string | RegExp, status = 401) {
    const answer = await exchange(token)
    if (process.env.TALLY_SHOW === '1') {
      const { code, detail } = answer.json
      console.log(`${name} | ${answer.status} ${code} | ${detail}`)
    }
    expect({ name, status: answer.status, data: answer.json.data }).toEqual({ name, status, data: undefined })
    if (typeof detail === 'string') expect(`${name}: ${answer.json.detail}`).toContain(detail)
    else expect(`${name}: ${answer.json.detail}`).toMatch(detail)
  }

  test('a run that a trust is for gets tokens of minutes, which say what they are limited to', async () => {
    const { status, json } = await exchange(await signed(), ['svc', 'read'])
    expect(status).toBe(201)
    expect(json.data.map(({ kind }: { kind: string }) => kind)).toEqual(['svc', 'read'])
    for (const { token, expires_at, project } of json.data) {
      expect(expires_at).toBe(new Date(now + 15 * MINUTE).toISOString())
      expect(project.key).toBe('WEB')
      const me = await app.call('GET /api/v1/me', { token })
      expect(me.json.person.email).toBe(ci)
      expect(me.json.token.expires_at).toBe(expires_at)
    }
    const [{ token }] = json.data
    now += 15 * MINUTE
    expect((await app.call('GET /api/v1/me', { token })).json.detail).toContain('it has expired')
    expect((await exchange(await gitlab.sign(labClaims()))).status).toBe(201)
    expect(
      (await exchange(await gitlab.sign({ ...labClaims(), jti: 'es' }, { header: { alg: 'RS256' } }))).status,
    ).toBe(201)
  })

  test('who wrote it', async () => {
    const before = [github, gitlab, stranger].map(({ requests }) => requests.length)
    await refuse(
      'issuer without a trust',
      await stranger.sign(claims({ iss: stranger.url })),
      'No trust names the issuer',
    )
    await refuse('issuer with a slash more', await signed({ iss: `${github.url}/` }), 'No trust names the issuer')
    await refuse('issuer in capitals', await signed({ iss: github.url.toUpperCase() }), 'No trust names the issuer')
    await refuse('no issuer', await signed({ iss: undefined }), 'no issuer')
    expect([github, gitlab, stranger].map(({ requests }) => requests.length)).toEqual(before)
    expect(stranger.requests).toEqual([])
    await refuse('key of another issuer', await gitlab.sign(claims()), 'The signature')
    await refuse('key of a stranger', await stranger.sign(claims()), 'The signature')
    await refuse(
      'a stranger’s key in the header',
      await stranger.sign(claims(), { header: { jwk: stranger.key.publicJwk } }),
      'The signature',
    )
    const jku = { jku: `${stranger.url}/keys`, x5u: `${stranger.url}/keys` }
    await refuse(
      'a stranger’s address of keys in the header',
      await stranger.sign(claims(), { header: jku }),
      'The signature',
    )
    expect(stranger.requests).toEqual([])
    await refuse('unknown key', await signed({}, { header: { kid: 'unknown' } }), 'does not publish')
    const { kid: _, ...unnamed } = { kid: '', alg: 'RS256' }
    await refuse(
      'no key named',
      await new SignJWT(claims()).setProtectedHeader(unnamed).sign(github.key.privateKey),
      'which key',
    )
    await refuse(
      'critical extension',
      [part({ alg: 'RS256', kid: 'first', crit: ['b64'], b64: true }), part(claims()), 'AA'].join('.'),
      'critical',
    )
  })

  test('how it is signed', async () => {
    const { publicJwk } = github.key
    await refuse('alg none', `${part({ alg: 'none', kid: 'first' })}.${part(claims())}.`, 'must be signed with')
    await refuse('alg None', `${part({ alg: 'None', kid: 'first' })}.${part(claims())}.AA`, 'must be signed with')
    const spki = new TextEncoder().encode(await exportSPKI((await importJWK(publicJwk, 'RS256')) as never))
    const hmac = await new SignJWT(claims()).setProtectedHeader({ alg: 'HS256', kid: 'first' }).sign(spki)
    await refuse('HS256 with the public key', hmac, 'must be signed with')
    const elliptic = await newKey('first', 'ES256')
    await refuse('another kind of key', await signed({}, { key: elliptic }), /does not publish|signature/)
    const [header, , signature] = (await signed()).split('.')
    await refuse('another payload', `${header}.${part(claims({ repository_id: '43' }))}.${signature}`, 'The signature')
    await refuse('no signature', `${header}.${part(claims())}.`, 'The signature')
    const weak = await crypto.subtle.generateKey(
      { name: 'RSASSA-PKCS1-v1_5', modulusLength: 1024, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256' },
      true,
      ['sign', 'verify'],
    )
    github.published.push({
      ...(await crypto.subtle.exportKey('jwk', weak.publicKey)),
      kid: 'weak',
      alg: 'RS256',
    } as never)
    now += MINUTE
    const body = `${part({ alg: 'RS256', kid: 'weak' })}.${part(claims())}`
    const bytes = await crypto.subtle.sign('RSASSA-PKCS1-v1_5', weak.privateKey, Buffer.from(body))
    const short = `${body}.${Buffer.from(bytes).toString('base64url')}`
    await refuse('a key of 1,024 bits', short, 'cannot be used')
    github.published.pop()
  })

  test('for whom and when', async () => {
    await refuse('audience of another server', await signed({ aud: 'https://other.example.com' }), PUBLIC_URL)
    await refuse('audience with a slash', await signed({ aud: `${PUBLIC_URL}/` }), PUBLIC_URL)
    await refuse('audiences with ours', await signed({ aud: [PUBLIC_URL, 'https://other.example.com'] }), 'alone')
    await refuse('list of ours', await signed({ aud: [PUBLIC_URL] }), 'alone')
    await refuse('no audience', await signed({ aud: undefined }), PUBLIC_URL)
    const at = Math.floor(now / SECOND)
    await refuse('expired', await signed({ exp: at - 60 }), 'expired')
    await refuse('expires in ten years', await signed({ exp: at + 315_360_000 }), 'more than a day')
    await refuse('issued in the future', await signed({ iat: at + 600 }), 'in the future')
    await refuse('not yet valid', await signed({ nbf: at + 600 }), 'nbf')
    for (const name of ['exp', 'iat', 'jti', 'sub'])
      await refuse(`no ${name}`, await signed({ [name]: undefined }), name)
    await refuse('expiry as a text', await signed({ exp: '9999999999' as never }).catch(() => 'x'), /exp|three parts/)
    await refuse('id as a number', await signed({ jti: 5 }), 'no id')
    await refuse('empty id', await signed({ jti: '' }), 'no id')
  })

  test('what it is', async () => {
    await refuse('a megabyte', `${'a'.repeat(2 ** 20)}.b.c`, '', 413)
    await refuse('more than 16 KiB of text', `${'é'.repeat(8_000)}.b.c`, 'not JSON')
    await refuse('no text', 5, '', 422)
    await refuse('empty', '', '', 422)
    await refuse('no dots', 'token', 'three parts')
    await refuse('100 dots', '.'.repeat(100), 'three parts')
    await refuse('five parts, encrypted', 'a.b.c.d.e', 'three parts')
    await refuse('not base64', '%%.%%.%%', 'not JSON')
    await refuse('lists', `${part([])}.${part([])}.AA`, 'not JSON')
    await refuse('null', `${part(null)}.${part(null)}.AA`, 'not JSON')
    await refuse('deep', `${part('['.repeat(5_000))}.${part({})}.AA`, 'not JSON')
    await refuse(
      '__proto__',
      `${part('{"__proto__":{"alg":"RS256","kid":"first"}}')}.${part({ iss: github.url })}.AA`,
      'must be signed with',
    )
    await refuse('a token of Tally', await app.token('svc'), 'three parts')
    expect((await exchange(await signed(), ['org'])).status).toBe(422)
    expect((await exchange(await signed(), [])).status).toBe(422)
    expect((await exchange(await signed(), ['svc', 'svc'])).status).toBe(422)
  })

  test('for which code it runs', async () => {
    const none = 'No trust matches'
    await refuse('same name, another id', await signed({ repository_id: '99' }), none)
    expect((await exchange(await signed({ repository: 'acme/renamed' }))).status).toBe(201)
    await refuse('id as a number', await signed({ repository_id: 42 }), 'repository_id')
    await refuse('id with a space', await signed({ repository_id: '42 ' }), none)
    await refuse('a tag with the name', await signed({ ref: 'refs/tags/main', ref_type: 'tag' }), none)
    await refuse('a longer branch', await signed({ ref: 'refs/heads/main2' }), none)
    await refuse('another case', await signed({ ref: 'refs/heads/Main' }), none)
    await refuse('a line more', await signed({ ref: 'refs/heads/main\n' }), 'ref')
    await refuse('a branch that begins like a ref', await signed({ ref: 'refs/heads/refs/heads/main' }), none)
    await refuse('* and /', await signed({ ref: 'refs/heads/release/1/x' }), none)
    expect((await exchange(await signed({ ref: 'refs/heads/release/1' }))).status).toBe(201)
    await refuse('pull request', await signed({ event_name: 'pull_request', ref: 'refs/pull/5/merge' }), none)
    await refuse(
      'pull request that says it is main',
      await signed({ event_name: 'pull_request', head_ref: 'main' }),
      none,
    )
    await refuse('ref of a pull request', await signed({ ref: 'refs/pull/5/merge' }), none)
    await refuse('pull_request_target', await signed({ event_name: 'pull_request_target' }), 'pull_request_target')
    const api = { repository_id: '43', repository: 'acme/api' }
    await refuse(
      'pull_request_target of a trust for pull requests',
      await signed({ ...api, event_name: 'pull_request_target' }),
      'pull_request_target',
    )
    await refuse('a branch of a trust for pull requests', await signed(api), none)
    expect(
      (await exchange(await signed({ ...api, event_name: 'pull_request', ref: 'refs/pull/5/merge' }))).status,
    ).toBe(201)
    const shop = { repository_id: '44', repository: 'acme/shop' }
    await refuse('no environment', await signed(shop), none)
    await refuse('another environment', await signed({ ...shop, environment: 'Production' }), none)
    await refuse('environments as a list', await signed({ ...shop, environment: ['production'] }), 'environment')
    expect((await exchange(await signed({ ...shop, environment: 'production' }))).status).toBe(201)
    await refuse('no ref', await signed({ ref: undefined }), 'ref')
    await refuse('claims of GitHub from GitLab', await gitlab.sign(claims({ iss: gitlab.url })), 'pipeline_source')
    await refuse(
      'a merge request on GitLab',
      await gitlab.sign(labClaims({ pipeline_source: 'merge_request_event' })),
      none,
    )
    const child = { pipeline_source: 'parent_pipeline' }
    await refuse('a child pipeline, whose merge request may be of a fork', await gitlab.sign(labClaims(child)), none)
    await refuse(
      'a child pipeline of a branch that is not protected',
      await gitlab.sign(labClaims({ ...child, ref_protected: 'false' })),
      none,
    )
    const ofBranch = await exchange(await gitlab.sign(labClaims({ ...child, ref_protected: 'true' })))
    expect(ofBranch.status).toBe(201)
    await refuse('a tag on GitLab', await gitlab.sign(labClaims({ ref_type: 'tag' })), none)
    await refuse('a fork on GitLab', await gitlab.sign(labClaims({ project_id: '8' })), none)
  })

  test('once', async () => {
    const token = await signed()
    expect((await exchange(token)).status).toBe(201)
    await refuse('the same token twice', token, 'already')
    expect((await exchange(token, ['read'])).status).toBe(201)
    expect((await exchange(token, ['svc', 'read'])).status).toBe(401)
    const both = await signed()
    expect((await exchange(both, ['read'])).status).toBe(201)
    // Nothing of what is refused in part is given.
    expect((await exchange(both, ['svc', 'read'])).status).toBe(401)
    expect((await exchange(both, ['svc'])).status).toBe(201)
    const second = db.engine === 'postgres' ? await startApp({ at: locationOf(db), clock: { now: () => now } }) : app
    const contested = await signed()
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, at) => exchange(contested, undefined, at % 2 ? second : app)),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(19).fill(401)])
    if (second !== app) await second.close()
    // Not once what it is remembered by may be forgotten.
    now += 6 * MINUTE
    await refuse('after it has expired', contested, 'expired')
    now += 20 * MINUTE
    await app.services.trusts.forgetExchanged()
    const left = await db.read.select().from(db.read.tables.exchangedTokens)
    expect(left).toEqual([])
  })

  test('keys that change', async () => {
    const next = await newKey('next')
    const read = () => github.requests.filter((path) => path === '/keys').length
    now += MINUTE
    github.published.splice(0, 1, next.publicJwk)
    const before = read()
    expect((await exchange(await signed({}, { key: next }))).status).toBe(201)
    expect(read()).toBe(before + 1)
    const storm = await Promise.all(
      Array.from({ length: 200 }, async () => exchange(await signed({}, { header: { kid: 'unknown' } }))),
    )
    expect(new Set(storm.map(({ status }) => status))).toEqual(new Set([401]))
    expect(read()).toBe(before + 1)
    await refuse('a withdrawn key', await signed(), 'does not publish')
    now += 11 * MINUTE
    github.published.splice(0, 1, github.key.publicJwk)
    await refuse('a withdrawn key after ten minutes', await signed({}, { key: next }), 'does not publish')
    expect((await exchange(await signed())).status).toBe(201)
  })

  test('answers of issuers', async () => {
    const refuseAnswer = async (
      name: string,
      path: string,
      answer: () => Response | Promise<Response>,
      detail: string,
    ) => {
      now += 11 * MINUTE
      github.answers.set(path, answer)
      await refuse(name, await signed(), detail, 503)
      github.answers.clear()
    }
    const configuration = '/.well-known/openid-configuration'
    const large = () => new Response(`{"keys":["${'k'.repeat(10 * 2 ** 20)}"]}`)
    await refuseAnswer('keys of 10 MB', '/keys', large, '/keys')
    const endless = () =>
      new Response(
        new ReadableStream({
          async pull(controller) {
            await Bun.sleep(50)
            controller.enqueue(new TextEncoder().encode(' '))
          },
        }),
      )
    await refuseAnswer('keys that never end', '/keys', endless, '/keys')
    await refuseAnswer('a redirect', '/keys', () => Response.redirect('http://169.254.169.254/latest', 302), '302')
    await refuseAnswer(
      'a redirected configuration',
      configuration,
      () => Response.redirect(`${stranger.url}/x`, 302),
      '302',
    )
    const configured = (more: object) => () =>
      Response.json({ issuer: github.url, jwks_uri: `${github.url}/keys`, ...more })
    await refuseAnswer('keys elsewhere', configuration, configured({ jwks_uri: `${stranger.url}/keys` }), 'same server')
    await refuseAnswer('keys in a file', configuration, configured({ jwks_uri: 'file:///etc/passwd' }), 'same server')
    await refuseAnswer('another issuer', configuration, configured({ issuer: stranger.url }), 'another issuer')
    await refuseAnswer('no JSON', '/keys', () => new Response('<html>'), 'not a JSON object')
    await refuseAnswer('no keys', '/keys', () => Response.json({}), 'no list of keys')
    await refuseAnswer('not found', '/keys', () => new Response('', { status: 404 }), '404')
    expect(stranger.requests).toEqual([])
    now += 11 * MINUTE
    const many = Array.from({ length: 1_000 }, (_, at) => ({ kty: 'RSA', kid: `k${at}`, n: 'AQAB', e: 'AQAB' }))
    github.answers.set('/keys', () => Response.json({ keys: [...many, {}, { kty: 5 }, github.key.publicJwk] }))
    expect((await exchange(await signed())).status).toBe(201)
    github.answers.clear()
    expect((await exchange(await gitlab.sign(labClaims()))).status).toBe(201)
  })

  test('are counted by outcome', async () => {
    const counted = async () => {
      const text = await (await fetch(`${app.url}/metrics`)).text()
      const found = text.matchAll(/^tally_id_token_exchanges_total\{outcome="(\w+)"\} (\d+)$/gm)
      return Object.fromEntries(Array.from(found, ([, outcome, count]) => [outcome!, Number(count)]))
    }
    const before = await counted()
    expect((await exchange(await signed())).status).toBe(201)
    expect((await exchange(await signed({ aud: 'https://elsewhere.example.com' }))).status).toBe(401)
    now += 11 * MINUTE
    github.answers.set('/keys', () => new Response('', { status: 500 }))
    expect((await exchange(await signed())).status).toBe(503)
    github.answers.clear()
    now += MINUTE
    const added = { exchanged: before.exchanged! + 1, refused: before.refused! + 1, failed: before.failed! + 1 }
    expect(await counted()).toEqual(added)
  })

  describe('a token of a job', () => {
    const tokenOf = async (kind: 'svc' | 'read' = 'svc', more: Record<string, unknown> = {}) => {
      const { status, json } = await exchange(await signed(more), [kind])
      expect({ status, detail: json.detail }).toEqual({ status: 201, detail: undefined })
      return json.data[0].token as string
    }
    const report = (token: string, more: object = {}) =>
      app.call('POST /api/v1/token-entries', {
        token,
        json: { ...reportBody(), started_at: '2026-11-20T10:00:00Z', ended_at: '2026-11-20T10:20:00Z', ...more },
      })

    test('reports entries of its project only', async () => {
      const token = await tokenOf()
      const [placed, named] = [
        await report(token, { summary: 'one' }),
        await report(token, { project: 'web', ticket: 'WEB-1' }),
      ]
      for (const { status, json } of [placed, named]) expect([status, json.project.key]).toEqual([201, 'WEB'])
      const before = await db.read.select().from(db.read.tables.projects)
      const tickets = await db.read.select().from(db.read.tables.tickets)
      expect(
        (await app.call('POST /api/v1/tickets', { session: admin, json: { key: 'OTHER-7', project: 'OTHER' } })).status,
      ).toBe(201)
      for (const [name, more] of Object.entries({
        'another project': { project: 'OTHER' },
        'a project that does not exist': { project: 'NEW', ticket: 'NEW-1' },
        'a ticket of another project': { ticket: 'OTHER-7' },
        'a ticket of another project with its own': { project: 'WEB', ticket: 'OTHER-7' },
        'a ticket of another project that nobody has named yet': { ticket: 'OTHER-100' },
        'a session': { project: 'OTHER', session_id: 'abc' },
      })) {
        const { status, json } = await report(token, more)
        expect({ name, status, code: json.code }).toEqual({ name, status: 403, code: 'outside_of_project' })
      }
      expect(await db.read.select().from(db.read.tables.projects)).toEqual(before)
      expect((await db.read.select().from(db.read.tables.tickets)).length).toBe(tickets.length + 1)
    })

    test('refuses items of a batch that are elsewhere, and slices with one place elsewhere', async () => {
      const token = await tokenOf()
      const item = { ...reportBody(), started_at: '2026-11-20T10:00:00Z', ended_at: '2026-11-20T10:20:00Z' }
      const slice = {
        started_at: '2026-11-20T10:00:00Z',
        ended_at: '2026-11-20T10:10:00Z',
        tokens: { input: 5, output: 5 },
      }
      const { tokens: _tokens, project: _project, ...sliced } = item as Record<string, unknown>
      const slices = [slice, { ...slice, project: 'OTHER' }]
      const items = [
        { ...item, summary: 'of a batch' },
        { ...item, project: 'OTHER' },
        { ...sliced, session_id: 'slices', slices },
        { ...sliced, session_id: 'own slices', slices: [slice, { ...slice, ticket: 'WEB-2' }] },
      ]
      for (const query of ['?dry_run=true', '']) {
        const { json } = await app.call(`POST /api/v1/token-entries/batch${query}`, { token, json: items })
        const results = json.results.map(
          ({ result, problem }: { result: string; problem?: { code: string } }) => problem?.code ?? result,
        )
        expect(results).toEqual(['created', 'outside_of_project', 'outside_of_project', 'created'])
      }
    })

    test('changes no session and no entry of its person elsewhere', async () => {
      const own = await app.token('svc', ci)
      const session_id = 'b7e1f3a2-0000-4000-8000-00000000abcd'
      for (const project of ['OTHER', undefined]) {
        const id = `${session_id}-${project}`
        expect((await report(own, { session_id: id, project })).status).toBe(201)
        const token = await tokenOf()
        expect((await report(token, { session_id: id, model: 'another' })).json.code).toBe('outside_of_project')
        expect((await report(token, { session_id: id, project: 'WEB' })).json.code).toBe('outside_of_project')
        const times = { started_at: '2026-11-20T10:00:00Z', ended_at: '2026-11-20T10:20:00Z' }
        const items = [{ ...reportBody({ project: 'WEB' }), ...times, session_id: id }]
        const tried = await app.call('POST /api/v1/token-entries/batch?dry_run=true', { token, json: items })
        expect([tried.json.results[0].problem.code, tried.json.entries]).toEqual(['outside_of_project', []])
      }
      expect((await report(own, { ticket: 'SHARED-1' })).json.project).toBeNull()
      expect((await report(await tokenOf(), { ticket: 'SHARED-1' })).json.code).toBe('outside_of_project')
      // A key under which the person has reported another project.
      const headers = { 'idempotency-key': 'job-1' }
      const json = {
        ...reportBody({ project: 'OTHER' }),
        started_at: '2026-11-20T10:00:00Z',
        ended_at: '2026-11-20T10:20:00Z',
      }
      expect((await app.call('POST /api/v1/token-entries', { token: own, json, headers })).status).toBe(201)
      expect((await app.call('POST /api/v1/token-entries', { token: await tokenOf(), json, headers })).json.code).toBe(
        'outside_of_project',
      )
      const listed = await app.call('GET /api/v1/token-entries?project=WEB&ticket=SHARED-1', { session: admin })
      expect(listed.json.data).toEqual([])
    })

    test('reads receipts of its project, without people and budgets', async () => {
      const labels = { repository: 'acme/web', branch: 'receipt' }
      const own = await app.token('svc', ci)
      for (const project of ['WEB', 'WEB', 'OTHER']) expect((await report(own, { project, labels })).status).toBe(201)
      const path = 'GET /api/v1/reports/receipt?repository=acme/web&branch=receipt&people=true'
      const entries = async (token: string) => {
        const { status, json } = await app.call(path, { token })
        return { status, entries: json.totals?.entries, people: json.people, budgets: json.budgets }
      }
      expect(await entries(await tokenOf('read'))).toEqual({ status: 200, entries: 2, people: null, budgets: null })
      expect(await entries(await app.token('read'))).toMatchObject({ status: 200, entries: 3 })
    })

    test('does not learn which tickets there are elsewhere', async () => {
      const json = { key: 'OTHER-81', project: 'OTHER' }
      expect((await app.call('POST /api/v1/tickets', { session: admin, json })).status).toBe(201)
      const token = await tokenOf('read')
      for (const ticket of ['OTHER-81', 'OTHER-82', 'OTHER']) {
        const { status, text } = await app.call(`GET /api/v1/reports/receipt?ticket=${ticket}`, { token })
        expect([ticket, status, text.replaceAll(ticket, '').includes('OTHER')]).toEqual([ticket, 200, false])
      }
    })

    test('may call nothing else', async () => {
      const [svc, read] = [await tokenOf(), await tokenOf('read')]
      const allowed: string[] = []
      for (const [path, methods] of Object.entries(app.document.paths)) {
        for (const [method, { security = [] }] of Object.entries(methods as Record<string, { security?: unknown[] }>)) {
          if (security.length === 0) continue
          for (const token of [svc, read]) {
            const filled = path.replaceAll(/\{\w+\}/g, 'none')
            const isWithBody = method !== 'get' && method !== 'delete'
            const { status } = await app.call(`${method.toUpperCase()} ${filled}`, {
              token,
              ...(isWithBody && { json: {} }),
            })
            if (status !== 403) allowed.push(`${token === svc ? 'svc' : 'read'} ${method} ${path}`)
          }
        }
      }
      expect(allowed.sort()).toEqual([
        'read get /api/v1/me',
        'read get /api/v1/reports/receipt',
        'svc get /api/v1/me',
        'svc post /api/v1/token-entries',
        'svc post /api/v1/token-entries/batch',
      ])
      const metrics = { headers: { authorization: `Bearer ${read}` } }
      expect((await fetch(`${app.url}/metrics`, metrics)).status).toBe(403)
      for (const path of ['logs', 'metrics', 'traces']) {
        const sent = await fetch(`${app.url}${OTLP_PREFIX}/${path}`, {
          method: 'POST',
          headers: { authorization: `Bearer ${svc}` },
        })
        expect(sent.status).toBe(403)
      }
    })

    test('is not listed among the tokens of people, and is revoked by no one but with its trust', async () => {
      const { json } = await app.call('GET /api/v1/tokens', { session: admin })
      expect(json.data.length).toBeGreaterThan(0)
      expect(json.data.filter(({ name }: { name: string }) => name.startsWith('acme/'))).toEqual([])
      const me = await app.call('GET /api/v1/me', { token: await tokenOf() })
      const revoked = await app.call(`POST /api/v1/tokens/${me.json.token.id}/revoke`, { session: admin })
      expect(revoked.status).toBe(404)
    })

    test('stops with its trust, its person and its project', async () => {
      const refused = async (token: string, detail: string) => {
        const { status, json } = await report(token)
        expect({ status, detail: json.detail }).toEqual({ status: 401, detail: expect.stringContaining(detail) })
      }
      const trust = await add({ repository_id: '50', project: 'OLD' })
      const of = { repository_id: '50' }
      const patch = (json: object) => app.call(`PATCH /api/v1/trusts/${trust}`, { session: admin, json })
      const archived = await tokenOf('svc', of)
      expect((await app.call('POST /api/v1/projects/OLD/archive', { session: admin })).status).toBe(200)
      await refused(archived, 'archived')
      await refuse('archived project', await signed(of), 'archived')
      expect((await patch({ project: 'OLD' })).json.errors[0].pointer).toBe('/project')
      expect((await patch({ project: 'MERGED' })).status).toBe(200)
      expect((await report(archived)).json.project.key).toBe('MERGED')
      const merge = await app.call('POST /api/v1/projects/MERGED/merge', { session: admin, json: { into: 'OTHER' } })
      expect(merge.status).toBe(200)
      expect((await report(archived, { summary: 'merged' })).json.project.key).toBe('OTHER')
      const person = (await app.services.people.getUser(ci)).uid
      expect((await app.call(`POST /api/v1/users/${person}/disable`, { session: admin })).status).toBe(200)
      await refused(archived, 'disabled')
      await refuse('disabled person', await signed(of), 'disabled')
      expect((await app.call(`POST /api/v1/users/${person}/enable`, { session: admin })).status).toBe(200)
      expect((await report(archived)).status).toBe(201)
      expect((await app.call(`DELETE /api/v1/trusts/${trust}`, { session: admin })).status).toBe(204)
      await refused(archived, 'removed')
      await refuse('removed trust', await signed(of), 'No trust matches')
      expect((await app.call(`GET /api/v1/trusts/${trust}`, { session: admin })).status).toBe(404)
    })
  })
})
