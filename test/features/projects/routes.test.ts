import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { PASSWORD, startApp, type TestApp } from '../../support/app.ts'
import { reportBody } from '../../support/reports.ts'

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

async function report(where: Record<string, unknown>, cost = 1, token = reports) {
  const { json } = await app.call('POST /api/v1/token-entries', {
    token,
    json: reportBody({
      model: 'gpt-5',
      tokens: { input: 1, output: 1 },
      reported_cost: cost,
      session_id: crypto.randomUUID(),
      ...where,
    }),
  })
  return json
}

const entry = async (id: string) => (await app.call(`GET /api/v1/token-entries/${id}`, { session: admin })).json

describe('permission to', () => {
  test('change work: roles and leads, but no tokens', async () => {
    const led = await project({ leads: [leadEmail] })
    const ticket = await add('tickets', { key: fresh('T'), project: led.key })
    const rows: [string, unknown, { lead: number; member: number; billing: number }][] = [
      ['POST /clients', { name: fresh('C') }, { lead: 403, member: 403, billing: 201 }],
      ['PATCH /clients/none', { name: 'x' }, { lead: 403, member: 403, billing: 404 }],
      ['DELETE /clients/none', undefined, { lead: 403, member: 403, billing: 404 }],
      ['POST /clients/none/archive', undefined, { lead: 403, member: 403, billing: 404 }],
      ['POST /clients/none/restore', undefined, { lead: 403, member: 403, billing: 404 }],
      ['POST /projects', { key: fresh('P') }, { lead: 403, member: 403, billing: 201 }],
      [`PATCH /projects/${led.id}`, { aliases: [fresh('an alias')] }, { lead: 200, member: 403, billing: 200 }],
      [`PATCH /projects/${led.id}`, { aliases: [fresh('prefix')] }, { lead: 403, member: 403, billing: 200 }],
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
      [`PATCH /tickets/${ticket.key}`, { project: led.key }, { lead: 200, member: 403, billing: 200 }],
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

  test.each(['/clients', '/projects', '/tickets'])('read it: everyone but agents (%s)', async (path) => {
    for (const who of [{ session: member }, { session: lead }, { session: billing }, { token: reads }])
      expect((await app.call(`GET /api/v1${path}`, who)).status).toBe(200)
    expect((await app.call(`GET /api/v1${path}`, { token: reports })).status).toBe(403)
    expect((await app.call(`GET /api/v1${path}`)).status).toBe(401)
  })
})

describe('visible fields', () => {
  const keys = async (path: string, who: object) => Object.keys((await app.call(`GET /api/v1${path}`, who)).json)

  test('of a project: by members its names, by its leads budget and leads, by billing everything', async () => {
    await add('clients', { name: fresh('Client'), markup: 10 })
    const { id } = await project({ leads: [leadEmail], budget: 12.5, markup: -2.25 })
    const names = ['id', 'key', 'name', 'aliases', 'client', 'archived_at', 'merged_into', 'created_at']
    for (const who of [{ session: member }, { token: reads }])
      expect((await keys(`/projects/${id}`, who)).sort()).toEqual([...names].sort())
    expect((await keys(`/projects/${id}`, { session: lead })).sort()).toEqual(
      [...names, 'billable', 'budget', 'leads', 'approvers', 'client_leads', 'client_approvers', 'repositories'].sort(),
    )
    const { text, json } = await app.call(`GET /api/v1/projects/${id}`, { session: billing })
    expect(json).toMatchObject({ billable: true, leads: [{ name: expect.any(String) }] })
    expect(text).toContain('"markup":-2.25,"budget":12.5,')
    expect(text).not.toContain('@')
    // As a list and as CSV alike.
    const listed = await app.call('GET /api/v1/projects?limit=1', { session: member })
    expect(Object.keys(listed.json.data[0]).sort()).toEqual([...names].sort())
    const csv = await app.call(`GET /api/v1/projects?format=csv&search=${encodeURIComponent(json.key)}`, {
      session: member,
    })
    const [heading, row] = csv.text.split('\r\n')
    expect(heading).toBe(
      'id,key,name,aliases,client,billable,markup,budget,leads,archived_at,merged_into,created_at,approvers,client_leads,client_approvers,lead_ids,approver_ids,client_lead_ids,client_approver_ids,repositories',
    )
    expect(row).toBe(`${id},${json.key},${json.key},,,,,,,,,${json.created_at},,,,,,,,`)
  })

  test('of a client: by members and leads its name', async () => {
    const { id, name } = await add('clients', {
      name: fresh('Client'),
      email: 'a@b.example',
      tax_id: 'DE 1',
      markup: 3,
    })
    for (const session of [member, lead])
      expect((await keys(`/clients/${encodeURIComponent(name)}`, { session })).sort()).toEqual([
        'archived_at',
        'created_at',
        'id',
        'name',
      ])
    expect((await app.call(`GET /api/v1/clients/${id}`, { session: admin })).json).toMatchObject({
      email: 'a@b.example',
      address: null,
      tax_id: 'DE 1',
      currency: null,
      markup: 3,
    })
  })

  test('leads can be filtered by anyone who can see them', async () => {
    const other = await app.person('member')
    const both = await project({ leads: [leadEmail, other] })
    const hidden = await project({ leads: [other] })
    const found = async (session: string) =>
      (await app.call(`GET /api/v1/projects?lead=${other}`, { session })).json.data.map(({ id }: { id: string }) => id)
    expect(await found(billing)).toEqual([hidden.id, both.id])
    expect(await found(lead)).toEqual([both.id])
    expect(await found(member)).toEqual([])
  })
})

describe('lists', () => {
  test('are searched, filtered and paged without a gap', async () => {
    const word = fresh('paged')
    const { name } = await add('clients', { name: fresh('Client') })
    const made = []
    for (let index = 0; index < 5; index += 1)
      made.push((await project({ name: `${word} ${index}%`, ...(index < 2 && { client: name }) })).id)
    const ids = async (query: string) => {
      const seen: string[] = []
      let page = ''
      do {
        const { json } = await app.call(`GET /api/v1/projects?limit=2&${query}${page}`, { session: member })
        expect(json.data.length).toBeLessThanOrEqual(2)
        seen.push(...json.data.map(({ id }: { id: string }) => id))
        page = json.has_more ? `&page=${json.next_page}` : ''
      } while (page)
      return seen
    }
    expect(await ids(`search=${word.toUpperCase()}`)).toEqual([...made].reverse())
    expect(await ids(`search=${encodeURIComponent('4%')}`)).toEqual([made[4]])
    expect(await ids(`search=${word}&client=${name.toUpperCase()}`)).toEqual([made[1], made[0]])
    expect(await ids(`search=${word}&client=none`)).toEqual([made[4], made[3], made[2]])
    await app.call(`POST /api/v1/projects/${made[3]}/archive`, { session: billing })
    expect(await ids(`search=${word}`)).toEqual([made[4], made[2], made[1], made[0]])
    expect(await ids(`search=${word}&archived=true`)).toEqual([made[3]])
    expect(await ids(`search=${word}&archived=all`)).toHaveLength(5)
    const issues = await app.call('GET /api/v1/tickets?archived=maybe&limit=0&page=x', { session: member })
    expect(issues.json.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual([
      '/query/archived',
      '/query/limit',
      '/query/page',
    ])
  })
})

describe('changes', () => {
  test('keep absent fields, clear null ones, and are recorded with values before and after', async () => {
    const { id, name } = await add('clients', {
      name: fresh('Client'),
      email: 'a@b.example',
      currency: 'EUR',
      markup: 5,
    })
    const path = `PATCH /api/v1/clients/${id}`
    const changed = await app.call(path, { session: billing, json: { markup: 0.0001, currency: null } })
    expect(changed.json).toMatchObject({ name, email: 'a@b.example', currency: null })
    expect(changed.text).toContain('"markup":0.0001')
    const { json } = await app.call(`GET /api/v1/audit?object=${id}`, { session: admin })
    expect(json.data.map(({ action }: { action: string }) => action)).toEqual(['client.changed', 'client.added'])
    expect(json.data[0]).toMatchObject({
      before: { currency: 'EUR', markup: 5 },
      after: { currency: null, markup: 0.0001 },
    })
  })

  test('that are invalid are refused with every issue, and change nothing', async () => {
    const one = await project()
    const two = await project({ aliases: [fresh('alias')] })
    const rows: [string, unknown, number, string][] = [
      ['POST /clients', { name: ' ' }, 422, '/name'],
      ['POST /clients', { name: fresh('C'), currency: 'EURO' }, 422, '/currency'],
      ['POST /clients', { name: fresh('C'), currency: 'XXQ' }, 422, '/currency'],
      ['POST /clients', { name: fresh('C'), email: 'nobody' }, 422, '/email'],
      ['POST /clients', { name: fresh('C'), address: 'a\u0007b' }, 422, '/address'],
      ['POST /clients', { name: fresh('C'), markup: 1.00001 }, 422, '/markup'],
      ['POST /clients', { name: fresh('C'), markup: -101 }, 422, '/markup'],
      ['POST /projects', {}, 422, '/key'],
      ['POST /projects', { key: 'None' }, 422, '/key'],
      ['POST /projects', { key: fresh('P'), aliases: [one.id] }, 422, '/aliases/0'],
      ['POST /projects', { key: fresh('P'), markup: '5' }, 422, '/markup'],
      ['POST /projects', { key: fresh('P'), budget: -1 }, 422, '/budget'],
      ['POST /projects', { key: fresh('P'), client: 'nobody' }, 422, '/client'],
      ['POST /projects', { key: fresh('P'), leads: [leadEmail, 'nobody@example.com'] }, 422, '/leads/1'],
      ['POST /projects', { key: fresh('P'), colour: 'red' }, 422, '/colour'],
      ['POST /projects', { key: one.key.toLowerCase() }, 409, ''],
      [`PATCH /projects/${one.id}`, { aliases: [two.key] }, 409, ''],
      [`PATCH /projects/${one.id}`, { name: two.aliases[0] }, 409, ''],
      ['POST /tickets', { key: fresh('T'), project: 'nowhere' }, 422, '/project'],
      ['POST /tickets', { key: fresh('T'), title: 'x'.repeat(301) }, 422, '/title'],
      ['PATCH /tickets/none', { key: 'other' }, 422, '/key'],
      [`POST /projects/${one.id}/merge`, { into: one.key }, 422, '/into'],
    ]
    for (const [call, json, status, pointer] of rows) {
      const [method, path] = call.split(' ')
      const answer = await app.call(`${method} /api/v1${path}`, { session: billing, json })
      expect([call, json, answer.status, answer.json.errors?.[0]?.pointer ?? '']).toEqual([call, json, status, pointer])
      if (status === 409) expect(answer.json.detail).toMatch(/\(prj_\w+\)/)
    }
    expect((await app.call(`GET /api/v1/projects/${one.id}`, { session: billing })).json).toEqual(one)
    for (const what of ['clients', 'projects', 'tickets']) {
      expect((await app.call(`GET /api/v1/${what}/%00`, { session: billing })).status).toBe(404)
      expect((await app.call(`GET /api/v1/${what}?search=%00`, { session: billing })).status).toBe(422)
    }
  })
})

describe('a merge', () => {
  test('is previewed and then executed, and refuses later changes of the merged project', async () => {
    const stays = await project()
    const goes = await project({ leads: [leadEmail] })
    const { id } = await report({ project: goes.key, ticket: fresh('T') }, 0.1)
    await report({ project: goes.name }, 0.2)
    const merge = (json: object) => app.call(`POST /api/v1/projects/${goes.id}/merge`, { session: billing, json })
    // Of the old project, of the new one, and of both.
    const viewers = [await app.person('viewer'), await app.person('viewer'), await app.person('viewer')]
    const names = (emails: string[]) => emails.map((email) => email.replace(/^person-(\d+)@.*/, 'Person $1'))
    const admin = await app.session('admin')
    for (const [at, seen] of [[goes], [stays], [goes, stays]].entries()) {
      for (const { id: project } of seen) {
        await app.call(`POST /api/v1/users/${viewers[at]}/grants`, { session: admin, json: { project } })
      }
    }
    const planned = await merge({ into: stays.key, dry_run: true })
    expect(planned.json).toMatchObject({ dry_run: true, entries: 2, tickets: 1, aliases: [goes.key], complete: true })
    expect(planned.json.former_leads).toHaveLength(1)
    expect(planned.json.former_viewers.map(({ name }: { name: string }) => name)).toEqual(names(viewers.slice(0, 1)))
    expect(planned.json.new_viewers.map(({ name }: { name: string }) => name)).toEqual(names(viewers.slice(1, 2)))
    // Exactly, though 0.1 + 0.2 is something else in floating point.
    expect(planned.text).toContain('"cost":0.3,')
    expect((await entry(id)).project.id).toBe(goes.id)
    // A lead of the old project sees its entries until they move where somebody else leads.
    expect((await app.call(`GET /api/v1/token-entries/${id}`, { session: lead })).status).toBe(200)

    expect((await merge({ into: stays.id })).json).toMatchObject({ dry_run: false, entries: 2, complete: true })
    expect((await entry(id)).project.id).toBe(stays.id)
    expect((await app.call(`GET /api/v1/token-entries/${id}`, { session: lead })).status).toBe(404)
    expect((await report({ project: goes.key.toLowerCase() })).project.id).toBe(stays.id)
    const other = await project()
    for (const call of [
      merge({ into: other.key }),
      app.call(`POST /api/v1/projects/${goes.id}/restore`, { session: billing }),
    ]) {
      const { status, json } = await call
      expect([status, json.code]).toEqual([409, 'project_merged'])
    }
    expect((await app.call(`GET /api/v1/projects/${goes.id}`, { session: member })).json.merged_into.id).toBe(stays.id)
    expect((await app.call(`GET /api/v1/projects/${goes.key}`, { session: member })).json.id).toBe(stays.id)
  })
})

describe('the project of a ticket', () => {
  /** A ticket that two people's reports put in two projects, the first of which `lead` leads. */
  async function conflict() {
    const [one, two] = [await project({ leads: [leadEmail] }), await project()]
    const key = fresh('CONFLICT')
    const first = await report({ ticket: key, project: one.key })
    const second = await report(
      { ticket: key, project: two.key },
      1,
      await app.token('svc', await app.person('member')),
    )
    return { one, two, key, entries: [first.id, second.id] as string[] }
  }
  const read = async (key: string, session: string) => (await app.call(`GET /api/v1/tickets/${key}`, { session })).json
  const placed = async (ids: string[]) => Promise.all(ids.map(async (id) => (await entry(id)).project?.key ?? null))

  test('is open where reports disagree, and only who sees both projects sees which', async () => {
    const { one, two, key } = await conflict()
    const ticket = await read(key, billing)
    expect(ticket).toMatchObject({
      project: null,
      project_decided: false,
      assumed_projects: [
        { project: { key: one.key }, agent_managers: 1 },
        { project: { key: two.key }, agent_managers: 1 },
      ],
    })
    for (const session of [member, lead])
      expect(Object.keys(await read(key, session))).not.toContain('assumed_projects')
    const csv = await app.call(`GET /api/v1/tickets?format=csv&conflicting=true&search=${key}`, { session: member })
    expect(csv.text.split('\r\n').slice(0, 2)).toEqual([
      'id,key,title,project,project_decided,archived_at,created_at',
      `${ticket.id},${key},,,false,,${ticket.created_at}`,
    ])
  })

  test('that is not decided is not cleared: entries stay where reports put them', async () => {
    const { one, two, key, entries } = await conflict()
    const change = (json: object) => app.call(`PATCH /api/v1/tickets/${key}`, { session: billing, json })
    expect((await change({ title: 'Basket', project: null })).json).toMatchObject({
      title: 'Basket',
      project_decided: false,
      assumed_projects: [{ project: { key: one.key } }, { project: { key: two.key } }],
    })
    expect(await placed(entries)).toEqual([one.key, two.key])
    // Of a decision it is what takes it back.
    await change({ project: one.key })
    await change({ project: null })
    expect(await placed(entries)).toEqual([null, null])
  })
})
