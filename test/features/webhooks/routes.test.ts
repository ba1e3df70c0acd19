/** Webhooks over HTTP: who manages them, what is checked, and what nobody sees. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Webhook } from 'standardwebhooks'
import { startApp, type TestApp } from '../../support/app.ts'
import { type Receiver, startReceiver } from '../../support/receivers.ts'

let app: TestApp
let admin: string
let receiver: Receiver

beforeAll(async () => {
  app = await startApp({ webhookNetworks: ['127.0.0.1'], logLevel: 'debug' })
  admin = await app.session('admin')
  receiver = await startReceiver()
})
afterAll(async () => {
  await app.close()
  await receiver.close()
})

const NEW = { name: 'Billing bot', url: 'https://hooks.example.com/T0/secret-path', types: ['bill.*'] }

const call = (methodAndPath: string, json?: unknown, headers: Record<string, string> = {}) =>
  app.call(methodAndPath.replace(' ', ' /api/v1/webhooks'), {
    session: admin,
    headers,
    ...(json !== undefined && { json }),
  })

async function added(more: object = {}) {
  const { status, json } = await call('POST ', { ...NEW, ...more })
  expect(status).toBe(201)
  return json
}

describe('A webhook', () => {
  test('is added with a secret, which is shown once and is nowhere else', async () => {
    const { status, json, headers } = await call('POST ', NEW)
    expect(status).toBe(201)
    expect(headers.get('location')).toBe(`/api/v1/webhooks/${json.id}`)
    expect(json.secret).toMatch(/^whsec_/)
    const seen = await Promise.all([
      call('GET '),
      call(`GET /${json.id}`),
      app.call('GET /api/v1/audit', { session: admin }),
    ])
    const everything = seen.map(({ text }) => text).join() + JSON.stringify(app.log)
    expect(everything).toContain(json.id)
    expect(everything).not.toContain(json.secret.slice(6))
    expect(everything).not.toContain('"secret"')
  })

  test('has an address whose path is in no audit record and in no log, since that of a chat is a secret', async () => {
    const { id } = await added()
    await call(`PATCH /${id}`, { url: 'https://hooks.example.com/T0/another-path' })
    await call(`DELETE /${id}`)
    const audit = await app.call(`GET /api/v1/audit?object=${id}`, { session: admin })
    expect(audit.json.data.map(({ action }: { action: string }) => action)).toEqual([
      'webhook.removed',
      'webhook.changed',
      'webhook.added',
    ])
    expect(audit.json.data[1].after).toEqual({ url: 'https://hooks.example.com/…' })
    expect(audit.text + JSON.stringify(app.log)).not.toMatch(/secret-path|another-path/)
    expect((await call(`GET /${id}`)).status).toBe(404)
  })

  test('is checked, with every issue at once', async () => {
    const issues = async (json: object) => {
      const answer = await call('POST ', { ...NEW, ...json })
      expect(answer.status).toBe(422)
      return answer.json.errors.map(({ pointer, code }: { pointer: string; code: string }) => `${pointer} ${code}`)
    }
    expect(
      await issues({ name: ' ', url: 'ftp://x', types: ['bill.sent', 'bil.*', 'nothing'], format: 'xml' }),
    ).toEqual([
      '/name too_short',
      '/url bad_format',
      '/format not_allowed',
      '/types/1 not_allowed',
      '/types/2 not_allowed',
    ])
    expect(await issues({ url: 'https://user:password@hooks.example.com/' })).toEqual(['/url not_allowed'])
    expect(await issues({ url: `https://hooks.example.com/${'x'.repeat(2_000)}` })).toEqual(['/url too_long'])
    for (const url of ['hooks.example.com', 'javascript:alert(1)', 'https://', 'https:/x', 'http://a b/']) {
      expect(await issues({ url })).toEqual(['/url bad_format'])
    }
    expect(await issues({ types: [] })).toEqual(['/types too_few'])
    expect(await issues({ client: 'nobody' })).toEqual(['/client unknown_name'])
    expect(await issues({ project: 'nothing' })).toEqual(['/project unknown_name'])
    expect(await issues({ client: 'a', project: 'b' })).toEqual(['/project not_allowed'])
  })

  test('may select one client or one project, and keeps that from being removed', async () => {
    const client = await app.call('POST /api/v1/clients', { session: admin, json: { name: 'Acme' } })
    const project = await app.call('POST /api/v1/projects', { session: admin, json: { key: 'WEB', name: 'Web' } })
    const { id } = await added({ client: 'Acme' })
    const refused = await app.call(`DELETE /api/v1/clients/${client.json.id}`, { session: admin })
    expect(refused).toMatchObject({ status: 409, json: { code: 'in_use' } })
    expect(refused.json.detail).toContain('webhooks')
    const changed = await call(`PATCH /${id}`, { project: 'WEB' })
    expect(changed.json).toMatchObject({ client: null, project: { key: 'WEB' } })
    const kept = await app.call(`DELETE /api/v1/projects/${project.json.id}`, { session: admin })
    expect(kept).toMatchObject({ status: 409, json: { code: 'in_use' } })
    expect((await call(`PATCH /${id}`, { project: null })).json).toMatchObject({ client: null, project: null })
  })

  test('is not changed if somebody else has changed it meanwhile', async () => {
    const { id } = await added()
    const etag = (await call(`GET /${id}`)).headers.get('etag')!
    expect((await call(`PATCH /${id}`, { name: 'One' }, { 'if-match': etag })).status).toBe(200)
    expect((await call(`PATCH /${id}`, { name: 'Two' }, { 'if-match': etag })).status).toBe(412)
    expect((await call(`POST /${id}/rotate-secret`, {}, { 'if-match': etag })).status).toBe(412)
    expect((await call(`DELETE /${id}`, undefined, { 'if-match': etag })).status).toBe(412)
    expect((await call(`GET /${id}`)).json.name).toBe('One')
  })

  test('is tested at once, also while it is disabled, and records the attempt', async () => {
    const { id, secret } = await added({ url: receiver.url })
    await call(`POST /${id}/disable`)
    const { status, json } = await call(`POST /${id}/test`)
    expect(status).toBe(200)
    expect(json).toMatchObject({ type: 'webhook.test', kind: 'test', delivered: true, status: 200, response: 'ok' })
    const { body, headers } = receiver.received.at(-1)!
    expect(new Webhook(secret).verify(body, headers)).toMatchObject({ type: 'webhook.test', object: { id } })
    expect((await call(`GET /${id}/deliveries`)).json.data).toEqual([json])
    expect((await call(`GET /${id}`)).json).toMatchObject({ state: 'disabled', disabled_reason: 'person' })
  })

  test('does not reach what is not on the public internet, unless its network is named', async () => {
    const { id } = await added({ url: `http://[::1]:${receiver.port}/` })
    const { json } = await call(`POST /${id}/test`)
    expect(json).toMatchObject({ delivered: false, status: null })
    expect(json.error).toContain('TALLY_WEBHOOK_PRIVATE_NETWORKS')
  })

  test('is sent an event of the log again on request, with the id of the event', async () => {
    const { id } = await added({ url: receiver.url, types: ['user.added'] })
    await app.person()
    await app.services.webhooks.dispatcher.deliverDue()
    const [first] = (await call(`GET /${id}/deliveries`)).json.data
    expect(first).toMatchObject({ type: 'user.added', kind: 'event', delivered: true })
    expect(JSON.parse(first.body).object.url).toStartWith('https://tally.example.com/people/usr_')
    const { json } = await call(`POST /${id}/deliveries/${first.event}/resend`)
    expect(json).toMatchObject({ event: first.event, kind: 'resend', delivered: true, body: first.body })
    const [again, before] = receiver.received.toReversed()
    expect(again!.headers['webhook-id']).toBe(before!.headers['webhook-id'])
    for (const event of ['evt_999999999', 'x', '1', 'evt_-1']) {
      expect((await call(`POST /${id}/deliveries/${event}/resend`)).status).toBe(404)
    }
  })

  test('is sent all events since a time again on request', async () => {
    const since = new Date().toISOString()
    const { id } = await added({ url: receiver.url, types: ['client.added'] })
    await app.call('POST /api/v1/clients', { session: admin, json: { name: 'Since' } })
    await app.services.webhooks.dispatcher.deliverDue()
    expect((await call(`POST /${id}/resend-since`, { since })).json.id).toBe(id)
    await app.services.webhooks.dispatcher.deliverDue()
    const { data } = (await call(`GET /${id}/deliveries`)).json
    expect(data).toHaveLength(2)
    expect(data[0].event).toBe(data[1].event)
    expect((await call(`POST /${id}/resend-since`, { since: 'yesterday' })).status).toBe(422)
  })

  test('belongs to admins, and to API tokens of admins with its scope', async () => {
    const { id } = await added()
    for (const role of ['member', 'billing'] as const) {
      const session = await app.session(role)
      for (const path of ['', `/${id}`, `/${id}/deliveries`]) {
        expect((await app.call(`GET /api/v1/webhooks${path}`, { session })).status).toBe(403)
      }
      expect((await app.call('POST /api/v1/webhooks', { session, json: NEW })).status).toBe(403)
      expect((await app.call(`POST /api/v1/webhooks/${id}/test`, { session })).status).toBe(403)
    }
    for (const kind of ['svc', 'read', 'org'] as const) {
      const answer = await app.call('GET /api/v1/webhooks', { token: await app.token(kind) })
      expect(answer.status).toBe(403)
    }
  })

  test('is listed with its pages', async () => {
    const all = (await call('GET ?limit=1000')).json.data
    const first = (await call('GET ?limit=2')).json
    expect(first).toMatchObject({ data: all.slice(0, 2), has_more: true })
    expect((await call(`GET ?limit=2&page=${first.next_page}`)).json.data).toEqual(all.slice(2, 4))
  })

  test('is one of fifty at most', async () => {
    const there = (await call('GET ?limit=1000')).json.data.length
    for (let more = there; more < 50; more++) await added()
    expect(await call('POST ', NEW)).toMatchObject({ status: 403, json: { code: 'forbidden' } })
  })
})
