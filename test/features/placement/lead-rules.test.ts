/** Rules that leads make without an admin. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Database } from '../../../src/database/database.ts'
import { PASSWORD, startApp, type TestApp } from '../../support/app.ts'
import { forEachEngine } from '../../support/databases.ts'
import { reportBody } from '../../support/reports.ts'

const RULES = '/api/v1/placement-rules'
const BRANCH = { field: 'labels.branch', matches: '/(?<ticket>[A-Z]+-[0-9]+)/' }

forEachEngine('a rule of leads', (open) => {
  let db: Database
  let app: TestApp
  let admin: string
  let lead: string
  let other: string

  beforeAll(async () => {
    db = await open()
    app = await startApp({ db })
    admin = await app.session('admin')
    lead = await signedIn('mara')
    other = await signedIn('olaf')
    await post('projects', { key: 'ACME', leads: ['mara@example.com'], repositories: ['acme/web'] })
    await post('projects', { key: 'OTHER', leads: ['olaf@example.com'], repositories: ['acme/web'] })
    await change('settings', { lead_rules: true })
  }, 180_000)
  afterAll(() => app.close())

  const post = (path: string, json: object, session = admin) => app.call(`POST /api/v1/${path}`, { session, json })
  const change = (path: string, json: object, session = admin) => app.call(`PATCH /api/v1/${path}`, { session, json })
  const remove = (path: string, session = admin) => app.call(`DELETE /api/v1/${path}`, { session })

  async function signedIn(name: string): Promise<string> {
    const email = `${name}@example.com`
    await post('users', { email, name, role: 'member' })
    await app.services.people.setPassword(email, PASSWORD, { userId: null, tokenId: null, origin: '' })
    const { secret } = await app.services.people.signIn({ email, password: PASSWORD, address: '::1' })
    return `tally_session=${secret}`
  }

  let names = 0
  async function propose(changes: object = {}, session = lead) {
    names += 1
    const json = { name: `Rule ${names}`, repository: 'acme/web', project: 'ACME', ...changes }
    return app.call(`POST ${RULES}/proposals`, { session, json })
  }
  async function report(labels: object, more: object = {}) {
    const token = await app.token('svc', 'olaf@example.com')
    const { json } = await app.call('POST /api/v1/token-entries', { token, json: reportBody({ labels, ...more }) })
    return { id: json.id, place: [json.project?.key ?? null, json.ticket?.key ?? null], note: json.placement_note }
  }
  const placeOf = async (id: string) => {
    const { json } = await app.call(`GET /api/v1/token-entries/${id}`, { session: admin })
    return [json.project?.key ?? null, json.ticket?.key ?? null]
  }
  const namesOf = async () =>
    (await app.call(`GET ${RULES}`, { session: admin })).json.data.map(({ name }: { name: string }) => name)

  test('takes effect only where the organization allows it, and is decided by leads of its project', async () => {
    await change('settings', { lead_rules: false })
    expect((await propose()).json).toMatchObject({ state: 'open', rule: null })
    expect((await change('settings', { lead_rules: true }, lead)).status).toBe(403)
    await change('settings', { lead_rules: true })
    // Billing proposes for every project, and decides about none that they do not lead.
    expect((await propose({}, await app.session('billing'))).json).toMatchObject({ state: 'open' })
    const { json: made } = await propose()
    expect([made.state, made.decided_by.name]).toEqual(['accepted', 'mara'])
    const { place } = await report({ repository: 'acme/web' })
    expect(place).toEqual(['ACME', null])
    expect((await report({ repository: 'acme/api' })).place).toEqual([null, null])
    const list = async (session: string) => (await app.call(`GET ${RULES}/of-leads`, { session })).json.data
    expect(await list(lead)).toMatchObject([{ id: made.rule, lead_repository: 'acme/web' }])
    for (const session of [other, admin]) {
      expect(await list(session)).toEqual([])
      expect((await change(`placement-rules/of-leads/${made.rule}`, { ticket: null }, session)).status).toBe(404)
      expect((await remove(`placement-rules/of-leads/${made.rule}`, session)).status).toBe(404)
    }
    // Nor do leads change other rules, or see them.
    const { json: ofAdmin } = await post('placement-rules', { name: 'Admin', conditions: [BRANCH], project: 'ACME' })
    expect((await change(`placement-rules/of-leads/${ofAdmin.id}`, { ticket: null }, lead)).status).toBe(404)
    expect((await change(`placement-rules/${made.rule}`, { enabled: true }, lead)).status).toBe(403)
    const { status, json: changed } = await change(
      `placement-rules/of-leads/${made.rule}`,
      { conditions: [BRANCH], ticket: '{ticket}' },
      lead,
    )
    expect([status, changed.conditions]).toEqual([
      200,
      [{ field: 'labels.repository', matches: '/^acme\\/web$/' }, BRANCH],
    ])
    await remove(`placement-rules/${ofAdmin.id}`)
    await change('settings', { lead_rules: false })
    expect((await change(`placement-rules/of-leads/${made.rule}`, { ticket: null }, lead)).status).toBe(403)
    expect((await remove(`placement-rules/of-leads/${made.rule}`, lead)).status).toBe(204)
    await change('settings', { lead_rules: true })
    const { data } = (await app.call('GET /api/v1/audit?action=placement_rule', { session: admin })).json
    expect(data.map(({ action }: { action: string }) => action.split('.')[1])).toEqual([
      'removed',
      'removed',
      'changed',
      'added',
      'added',
    ])
  })

  test('comes after every rule of admins, however they are ordered', async () => {
    const first = (await propose({ name: 'Lead 1' })).json
    await propose({ name: 'Lead 2' })
    const adminRule = { conditions: [{ field: 'labels.repository', matches: 'acme/*' }], project: 'OTHER' }
    const { json: later } = await post('placement-rules', { name: 'Admin 1', ...adminRule })
    expect(await namesOf()).toEqual(['Admin 1', 'Lead 1', 'Lead 2'])
    expect((await report({ repository: 'acme/web' })).place).toEqual(['OTHER', null])
    const { json: before } = await post('placement-rules', { name: 'Admin 2', ...adminRule, position: 9 })
    expect([before.position, await namesOf()]).toEqual([2, ['Admin 1', 'Admin 2', 'Lead 1', 'Lead 2']])
    const { data } = (await app.call(`GET ${RULES}`, { session: admin })).json
    const ids = data.map(({ id }: { id: string }) => id)
    const order = (rules: string[]) => app.call(`PUT ${RULES}/order`, { session: admin, json: { rules } })
    expect(await order([ids[2], ids[0], ids[1], ids[3]])).toMatchObject({
      status: 422,
      json: { errors: [{ pointer: '/rules/0', code: 'not_allowed' }] },
    })
    expect((await order([ids[1], ids[0], ids[3], ids[2]])).status).toBe(200)
    expect(await namesOf()).toEqual(['Admin 2', 'Admin 1', 'Lead 2', 'Lead 1'])
    // An admin who changes it takes it over.
    const { json: taken } = await change(`placement-rules/${first.rule}`, { enabled: false })
    expect(taken.lead_repository).toBe('acme/web')
    const { json: adopted } = await change(`placement-rules/${first.rule}`, { name: 'Adopted' })
    expect(adopted).toMatchObject({ lead_repository: null, position: 3 })
    for (const id of [first.rule, later.id, before.id]) await remove(`placement-rules/${id}`)
    const { data: left } = (await app.call(`GET ${RULES}/of-leads`, { session: lead })).json
    for (const { id } of left) await remove(`placement-rules/of-leads/${id}`, lead)
  })

  test('is skipped as soon as the project no longer has the repository', async () => {
    const { json } = await propose()
    await change('projects/ACME', { repositories: [] })
    expect((await report({ repository: 'acme/web' })).place).toEqual([null, null])
    const { json: rule } = await app.call(`GET ${RULES}/${json.rule}`, { session: admin })
    expect(rule.warnings).toEqual([expect.stringContaining('acme/web')])
    await change('projects/ACME', { repositories: ['acme/web'] })
    expect((await report({ repository: 'acme/web' })).place).toEqual(['ACME', null])
    await remove(`placement-rules/${json.rule}`)
  })

  test('draws nothing else into the sight of a lead, and sends nothing to other projects', async () => {
    // A ticket that somebody works on elsewhere, and that has no project yet.
    await change('settings', { unknown_projects: 'hold' })
    await post('tickets', { key: 'secret' })
    await post('tickets', { key: 'OTHER-9', project: 'OTHER' })
    const hidden = await report({ repository: 'acme/other' }, { ticket: 'secret' })
    expect(hidden.place).toEqual([null, 'secret'])
    for (const [ticket, expected] of [
      ['secret', null],
      ['fresh', null],
      ['OTHER-9', null],
      ['OTHER-10', null],
      ['ACME-1', 'ACME-1'],
    ] as const) {
      const { json } = await propose({ ticket })
      const { place } = await report({ repository: 'acme/web' })
      expect([ticket, place]).toEqual([ticket, ['ACME', expected]])
      await remove(`placement-rules/of-leads/${json.rule}`, lead)
    }
    // A report that names the ticket itself, in the repository.
    const { json } = await propose()
    expect((await report({ repository: 'acme/web' }, { ticket: 'secret' })).place).toEqual([null, 'secret'])
    expect(await placeOf(hidden.id)).toEqual([null, 'secret'])
    expect((await report({ repository: 'acme/other' }, { ticket: 'secret' })).place).toEqual([null, 'secret'])
    expect((await report({ repository: 'acme/other' }, { ticket: 'fresh' })).place).toEqual([null, null])
    await remove(`placement-rules/of-leads/${json.rule}`, lead)
  })

  test('is tried on the entries that the lead sees, without saying what the rules of admins are', async () => {
    for (const branch of ['ACME-5', 'x']) await report({ repository: 'acme/web', branch })
    await report({ repository: 'acme/other', branch: 'ACME-6' })
    const tried = (json: object = {}, session = lead) =>
      app.call(`POST ${RULES}/proposals/test`, {
        session,
        json: {
          name: 'Tried',
          repository: 'acme/web',
          project: 'ACME',
          conditions: [BRANCH],
          ticket: '{ticket}',
          ...json,
        },
      })
    expect((await tried({}, other)).status).toBe(403)
    expect((await tried({ repository: 'acme/other' })).status).toBe(422)
    const { json } = await tried()
    expect(json).toMatchObject({ entries: 1, earlier_rules: 0, complete: true, data: [{ ticket: 'ACME-5' }] })
    const all = await tried({ conditions: [], ticket: null })
    expect(all.json.entries).toBe(all.json.tried)
    const hidden = { name: 'Hidden', conditions: [{ field: 'labels.branch', matches: 'x' }], project: 'OTHER' }
    const { json: rule } = await post('placement-rules', hidden)
    const later = await tried({ conditions: [], ticket: null })
    expect([later.json.entries, later.json.earlier_rules]).toEqual([all.json.entries - 1, 1])
    expect(later.text).not.toContain('Hidden')
    await remove(`placement-rules/${rule.id}`)
    expect((await app.call(`GET ${RULES}/proposals?state=open`, { session: lead })).json.data).toHaveLength(1)
  })

  test('cannot be changed so often that versions and the audit log fill up', async () => {
    const { json } = await propose()
    const statuses: number[] = []
    for (let count = 0; count <= 100; count += 1) {
      statuses.push((await change(`placement-rules/of-leads/${json.rule}`, { name: `Name ${count}` }, lead)).status)
    }
    // Another lead, and an admin, are not held back.
    expect([statuses.filter((status) => status === 200).length >= 98, statuses.at(-1)]).toEqual([true, 422])
    expect((await change(`placement-rules/${json.rule}`, { enabled: false })).status).toBe(200)
    expect((await remove(`placement-rules/of-leads/${json.rule}`, lead)).status).toBe(204)
  }, 180_000)

  test('leaves room for those of admins', async () => {
    const statuses: number[] = []
    for (let count = 0; count <= 20; count += 1) statuses.push((await propose()).status)
    expect(statuses).toEqual([...Array<number>(20).fill(201), 422])
    const { data } = (await app.call(`GET ${RULES}/of-leads`, { session: lead })).json
    for (const { id } of data) await remove(`placement-rules/of-leads/${id}`, lead)
    const large = { field: 'labels.branch', matches: '/[a-z]{90}/' }
    const sizes: number[] = []
    for (let count = 0; count < 5; count += 1) sizes.push((await propose({ conditions: [large] })).status)
    expect(sizes).toEqual([201, 201, 201, 422, 422])
  })
})
