import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { PASSWORD, startApp, type TestApp } from '../support/app.ts'

let app: TestApp
let admin: string
let billing: string
let member: string
let lead: string
let leadEmail: string
let reads: string
let reports: string

beforeAll(async () => {
  app = await startApp()
  admin = await app.session('admin')
  billing = await app.session('billing')
  member = await app.session('member')
  leadEmail = await app.person('member', { password: true })
  const { secret } = await app.services.people.signIn({ email: leadEmail, password: PASSWORD, address: '::1' })
  lead = `tally_session=${secret}`
  reads = await app.token('read', await app.person('member'))
  reports = await app.token('svc')
})
afterAll(() => app.close())

let made = 0
/** A text that names nothing yet. */
const fresh = (word: string) => {
  made += 1
  return `${word}-${made}`
}

const add = async (what: string, json: Record<string, unknown>) => {
  const answer = await app.call(`POST /api/v1/${what}`, { session: billing, json })
  expect([answer.status, answer.text]).toEqual([201, answer.text])
  return answer.json
}
const project = (json: Record<string, unknown> = {}) => add('projects', { key: fresh('P'), ...json })

async function report(where: Record<string, unknown>, cost = 1) {
  const { json } = await app.call('POST /api/v1/token-entries', {
    token: reports,
    json: {
      agent_harness: 'codex',
      agent_name: 'builder',
      model: 'gpt-5',
      started_at: '2026-11-20T10:00:00Z',
      ended_at: '2026-11-20T11:00:00Z',
      tokens: { input: 1, output: 1 },
      reported_cost: cost,
      session_id: crypto.randomUUID(),
      ...where,
    },
  })
  return json
}

const entry = async (id: string) => (await app.call(`GET /api/v1/token-entries/${id}`, { session: admin })).json

describe('who may', () => {
  test('change work: the roles and leads that the rule names, and no token', async () => {
    const led = await project({ leads: [leadEmail] })
    const ticket = await add('tickets', { key: fresh('T'), project: led.key })
    const rows: [string, unknown, { lead: number; member: number; billing: number }][] = [
      ['POST /clients', { name: fresh('C') }, { lead: 403, member: 403, billing: 201 }],
      ['PATCH /clients/none', { name: 'x' }, { lead: 403, member: 403, billing: 404 }],
      ['DELETE /clients/none', undefined, { lead: 403, member: 403, billing: 404 }],
      ['POST /clients/none/archive', undefined, { lead: 403, member: 403, billing: 404 }],
      ['POST /clients/none/restore', undefined, { lead: 403, member: 403, billing: 404 }],
      ['POST /projects', { key: fresh('P') }, { lead: 403, member: 403, billing: 201 }],
      [`PATCH /projects/${led.id}`, { aliases: [fresh('alias')] }, { lead: 200, member: 403, billing: 200 }],
      [`PATCH /projects/${led.id}`, { name: fresh('name') }, { lead: 403, member: 403, billing: 200 }],
      [`PATCH /projects/${led.id}`, { budget: 10 }, { lead: 403, member: 403, billing: 200 }],
      [`PATCH /projects/${led.id}`, { leads: [leadEmail] }, { lead: 403, member: 403, billing: 200 }],
      [`POST /projects/${led.id}/archive`, undefined, { lead: 403, member: 403, billing: 200 }],
      [`POST /projects/${led.id}/restore`, undefined, { lead: 403, member: 403, billing: 200 }],
      [`POST /projects/${led.id}/merge`, { into: 'none' }, { lead: 403, member: 403, billing: 422 }],
      [`DELETE /projects/${led.id}`, undefined, { lead: 403, member: 403, billing: 409 }],
      ['POST /tickets', { key: fresh('T') }, { lead: 403, member: 403, billing: 201 }],
      [`PATCH /tickets/${ticket.key}`, { title: 'Basket' }, { lead: 200, member: 403, billing: 200 }],
      [`PATCH /tickets/${ticket.key}`, { project: null }, { lead: 403, member: 403, billing: 200 }],
      [`PATCH /tickets/${ticket.key}`, { project: led.key }, { lead: 403, member: 403, billing: 200 }],
      [`POST /tickets/${ticket.id}/archive`, undefined, { lead: 200, member: 403, billing: 200 }],
      [`POST /tickets/${ticket.id}/restore`, undefined, { lead: 200, member: 403, billing: 200 }],
      [`DELETE /tickets/${ticket.id}`, undefined, { lead: 403, member: 403, billing: 204 }],
    ]
    for (const [call, json, expected] of rows) {
      const [method, path] = call.split(' ')
      const status = async (who: object) =>
        (await app.call(`${method} /api/v1${path}`, { ...who, ...(json !== undefined && { json }) })).status
      expect([call, await status({})]).toEqual([call, 401])
      for (const token of [reads, reports]) expect([call, await status({ token })]).toEqual([call, 403])
      expect([call, 'member', await status({ session: member })]).toEqual([call, 'member', expected.member])
      expect([call, 'lead', await status({ session: lead })]).toEqual([call, 'lead', expected.lead])
      expect([call, 'billing', await status({ session: billing })]).toEqual([call, 'billing', expected.billing])
    }
  })

  test.each(['/clients', '/projects', '/tickets'])('read it: everybody but agents (%s)', async (path) => {
    for (const who of [{ session: member }, { session: lead }, { session: billing }, { token: reads }])
      expect((await app.call(`GET /api/v1${path}`, who)).status).toBe(200)
    expect((await app.call(`GET /api/v1${path}`, { token: reports })).status).toBe(403)
    expect((await app.call(`GET /api/v1${path}`)).status).toBe(401)
  })
})
