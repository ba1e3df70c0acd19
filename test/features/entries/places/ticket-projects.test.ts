import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startApp, type TestApp } from '../../../support/app.ts'
import { reportBody } from '../../../support/reports.ts'

let app: TestApp
let billing: string
/** Two people with their tokens, and one who leads LED. */
let ada: { session: string; token: string }
let bob: { session: string; token: string }
let lead: { session: string; token: string }

beforeAll(async () => {
  app = await startApp()
  billing = await app.session('billing')
  const person = async () => {
    const session = await app.session('member')
    const { email } = (await app.call('GET /api/v1/me', { session })).json.person
    return { email, session, token: await app.token('svc', email) }
  }
  const leader = await person()
  ;[ada, bob, lead] = [await person(), await person(), leader]
  for (const json of [{ key: 'ACME' }, { key: 'OTHER' }, { key: 'LED', leads: [leader.email] }]) {
    expect((await app.call('POST /api/v1/projects', { session: billing, json })).status).toBe(201)
  }
})
afterAll(() => app.close())

async function report({ token }: { token: string }, what: Record<string, unknown>) {
  const { json } = await app.call('POST /api/v1/token-entries', {
    token,
    json: reportBody({ model: 'gpt-5', tokens: { input: 1, output: 1 }, session_id: crypto.randomUUID(), ...what }),
  })
  return json
}

const placeOf = ({ project, ticket }: { project: { key: string } | null; ticket: { key: string } | null }) =>
  `${project?.key ?? '–'} ${ticket?.key ?? '–'}`
const read = async (id: string) =>
  placeOf((await app.call(`GET /api/v1/token-entries/${id}`, { session: billing })).json)
const decide = (session: string, ticket: string, project: string | null) =>
  app.call(`PATCH /api/v1/tickets/${ticket}`, { session, json: { project } })

describe('a ticket’s project that nobody decided on', () => {
  test('is assumed for each person by their own reports', async () => {
    const first = await report(ada, { ticket: 'X-1', project: 'ACME' })
    expect(placeOf(await report(bob, { ticket: 'X-1', project: 'OTHER' }))).toBe('OTHER X-1')
    expect(placeOf(await report(ada, { ticket: 'X-1' }))).toBe('ACME X-1')
    expect(placeOf(await report(bob, { ticket: 'X-1', project: 'ACME' }))).toBe('OTHER X-1')
    expect(await read(first.id)).toBe('ACME X-1')
  })

  test('comes from the key of who names none, whatever others assumed', async () => {
    await report(ada, { ticket: 'ACME-777', project: 'OTHER' })
    expect(placeOf(await report(bob, { ticket: 'ACME-777' }))).toBe('ACME ACME-777')
    expect(placeOf(await report(bob, { ticket: 'X-1-unprefixed' }))).toBe('– X-1-unprefixed')
  })

  test('takes along the earlier entries of the person who finds it, and of nobody else', async () => {
    const [mine, theirs] = [await report(ada, { ticket: 'X-2' }), await report(bob, { ticket: 'X-2' })]
    await report(ada, { ticket: 'X-2', project: 'ACME' })
    expect([await read(mine.id), await read(theirs.id)]).toEqual(['ACME X-2', '– X-2'])
  })

  test('is held as an unknown name where others alone have named the ticket', async () => {
    const admin = await app.session('admin')
    const hold = (unknown_projects: string) =>
      app.call('PATCH /api/v1/settings', { session: admin, json: { unknown_projects } })
    await hold('hold')
    await report(ada, { ticket: 'HELD-1', project: 'ACME' })
    const { ticket, placement } = await report(bob, { ticket: 'HELD-1' })
    expect([ticket, placement.named_ticket]).toEqual([null, 'HELD-1'])
    await app.call('POST /api/v1/tickets', { session: billing, json: { key: 'HELD-2' } })
    expect(placeOf(await report(bob, { ticket: 'HELD-2' }))).toBe('– HELD-2')
    await hold('create')
  })

  test('is listed where people disagree, until somebody decides, which then binds everyone', async () => {
    const entries = [
      await report(ada, { ticket: 'Y-1', project: 'ACME' }),
      await report(bob, { ticket: 'Y-1', project: 'OTHER' }),
    ]
    const conflicts = async () =>
      (await app.call('GET /api/v1/tickets?conflicting=true&search=Y-1', { session: billing })).json.data
    expect(await conflicts()).toMatchObject([
      {
        key: 'Y-1',
        project: null,
        project_decided: false,
        assumed_projects: [
          { project: { key: 'ACME' }, agent_managers: 1 },
          { project: { key: 'OTHER' }, agent_managers: 1 },
        ],
      },
    ])
    const seen = (await app.call('GET /api/v1/tickets/Y-1', { session: ada.session })).json
    expect([seen.project, seen.assumed_projects]).toEqual([null, undefined])
    expect((await decide(billing, 'Y-1', 'ACME')).json).toMatchObject({
      project: { key: 'ACME' },
      project_decided: true,
    })
    expect(await conflicts()).toEqual([])
    expect(await Promise.all(entries.map(({ id }) => read(id)))).toEqual(['ACME Y-1', 'ACME Y-1'])
    const later = await report(bob, { ticket: 'Y-1', project: 'OTHER' })
    expect([placeOf(later), later.placement.note]).toEqual([
      'ACME Y-1',
      "The report named project 'OTHER', but ticket Y-1 belongs to ACME.",
    ])
  })

  test('lists the ticket under every project that reports put it in, and under none where they found none', async () => {
    await report(ada, { ticket: 'Y-2', project: 'ACME' })
    await report(bob, { ticket: 'Y-2', project: 'OTHER' })
    await report(bob, { ticket: 'Y-3' })
    const listed = async (project: string) =>
      (await app.call(`GET /api/v1/tickets?project=${project}&search=Y-`, { session: billing })).json.data.map(
        ({ key }: { key: string }) => key,
      )
    for (const project of ['ACME', 'other']) expect(await listed(project)).toContain('Y-2')
    expect(await listed('none')).toEqual(['Y-3'])
  })
})

describe('who leads a project decides on a ticket', () => {
  test('for their own project, where nothing of it is hidden from them', async () => {
    await report(lead, { ticket: 'L-1' })
    expect((await decide(lead.session, 'L-1', 'LED')).status).toBe(200)
    expect(placeOf(await report(bob, { ticket: 'L-1', project: 'OTHER' }))).toBe('LED L-1')
  })

  test('and for no other, nor for one with entries that they do not see or of another project’s key', async () => {
    await report(lead, { ticket: 'L-2' })
    await report(bob, { ticket: 'L-3', project: 'OTHER' })
    await report(lead, { ticket: 'ACME-5', project: 'LED' })
    await report(lead, { ticket: 'L-4' })
    await decide(billing, 'L-4', 'OTHER')
    for (const [ticket, project] of [
      ['L-2', 'ACME'],
      ['L-2', null],
      ['L-3', 'LED'],
      ['ACME-5', 'LED'],
      ['L-4', 'LED'],
    ] as const) {
      const { status, json } = await decide(lead.session, ticket, project)
      expect([ticket, status, json.code]).toEqual([ticket, 403, 'forbidden'])
      expect(json.detail).toContain('the role billing or admin')
    }
    expect((await decide(ada.session, 'L-2', 'LED')).status).toBe(403)
  })
})

test('names that can name no work are refused in reports', async () => {
  const id = (await app.call('GET /api/v1/projects/ACME', { session: billing })).json.id
  for (const [field, name] of [
    ['project', 'none'],
    ['project', ' NONE '],
    ['project', id],
    ['ticket', 'none'],
    ['ticket', 'tkt_01a1fa172a0277f3983322718874f3e1'],
  ] as const) {
    const { errors } = await report(ada, { [field]: name })
    expect(errors).toEqual([expect.objectContaining({ pointer: `/${field}`, code: 'not_allowed' })])
  }
})

test('a lead adds no alias by which other people’s reports could arrive', async () => {
  const admin = await app.session('admin')
  await app.call('PATCH /api/v1/settings', { session: admin, json: { unknown_projects: 'hold' } })
  await report(bob, { project: 'Secret Salaries' })
  const alias = (add: string[], session = lead.session) =>
    app.call('PATCH /api/v1/projects/LED', { session, json: { aliases: add } })
  for (const refused of ['XYZ', 'hr-salaries', 'acme/web', 'secret salaries']) {
    const { status, json } = await alias([refused])
    expect([refused, status, json.code]).toEqual([refused, 403, 'forbidden'])
  }
  expect((await alias(['Led by us'])).status).toBe(200)
  expect((await alias(['Led by us', 'XYZ'], billing)).status).toBe(200)
  // Nor does a lead take one away.
  expect((await alias(['Led by us'])).status).toBe(403)
  expect((await alias(['XYZ'])).status).toBe(200)
})
