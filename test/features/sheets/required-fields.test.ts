import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { TALLY } from '../../../src/access/actor.ts'
import { PASSWORD, startApp, type TestApp } from '../../support/app.ts'

let app: TestApp
let session: string
let email: string

beforeAll(async () => {
  app = await startApp()
  await app.services.prices.loadDefaultPrices()
  email = await app.person('member', { password: true })
  const { secret } = await app.services.people.signIn({ email, password: PASSWORD, address: '::1' })
  session = `tally_session=${secret}`
})
afterEach(() => app.services.organization.changeSettings({ sheetRequiredFields: [] }, TALLY))
afterAll(() => app.close())

const DRAFT = {
  agent_harness: 'browser',
  agent_name: 'chat',
  model: 'gpt-5',
  started_at: '2026-11-10T10:00:00Z',
  ended_at: '2026-11-10T11:00:00Z',
  tokens: { input: 1_000, output: 0 },
}

const call = (methodAndPath: string, json?: unknown) => {
  const [method, path] = methodAndPath.split(' ')
  return app.call(`${method} /api/v1/token-sheets${path}`, { session, ...(json === undefined ? {} : { json }) })
}
const openSheet = async (): Promise<string> => (await call('POST ', { month: '2026-11' })).json.id
const add = (sheet: string, more: object = {}) => call(`POST /${sheet}/entries`, { ...DRAFT, ...more })
const importCsv = (sheet: string, rows: string, query = '') =>
  app.call(`POST /api/v1/token-sheets/${sheet}/import${query}`, {
    session,
    body: `agent_harness,agent_name,model,started_at,ended_at,input,output,ticket,label:team,reported_cost\n${rows}`,
    headers: { 'content-type': 'text/csv' },
  })
const requireFields = (...fields: string[]) =>
  app.services.organization.changeSettings({ sheetRequiredFields: fields }, TALLY)
const pointers = ({ json }: { json: { errors: { pointer: string }[] } }) => json.errors.map(({ pointer }) => pointer)
const entriesOf = async (sheet: string): Promise<{ id: string }[]> => (await call(`GET /${sheet}/entries`)).json.data

describe('required fields', () => {
  test('are up to three that exist, of which everyone can read', async () => {
    const change = (fields: string[]) =>
      requireFields(...fields).then(
        () => 'changed',
        (problem) => problem.code,
      )
    expect(await change(['ticket', 'label:team', 'summary'])).toBe('changed')
    const { json } = await app.call('GET /api/v1/settings', { session })
    expect(json.sheet_required_fields).toEqual(['ticket', 'label:team', 'summary'])
    for (const fields of [['model'], ['label:'], ['ticket', 'ticket'], ['ticket', 'project', 'summary', 'provider']]) {
      expect(await change(fields)).toBe('validation_failed')
    }
  })

  test('are refused by name where an entry is added, and nothing is written', async () => {
    await requireFields('ticket', 'label:team', 'summary')
    const sheet = await openSheet()
    const refused = await add(sheet)
    expect([refused.status, pointers(refused)]).toEqual([422, ['/ticket', '/labels/team', '/summary']])
    expect(await entriesOf(sheet)).toEqual([])
    expect((await add(sheet, { ticket: 'ACME-1', labels: { team: 'web' }, summary: 'Review' })).status).toBe(201)
  })

  test('are refused with the line and column of an import, which adds nothing', async () => {
    await requireFields('ticket', 'label:team')
    const sheet = await openSheet()
    const row = 'browser,chat,gpt-5,2026-11-10T10:00:00Z,2026-11-10T11:00:00Z,1000,0'
    const refused = await importCsv(sheet, `${row},ACME-1,web,\n${row},,,\n`)
    expect([refused.status, pointers(refused)]).toEqual([422, ['/lines/3/ticket', '/lines/3/label:team']])
    expect(await entriesOf(sheet)).toEqual([])
  })

  test('block submitting older entries that lack them, which stay readable and can be edited', async () => {
    const sheet = await openSheet()
    const { json: entry } = await add(sheet)
    await requireFields('project')
    expect(await entriesOf(sheet)).toHaveLength(1)
    const blocked = await call(`POST /${sheet}/submit`, {})
    expect([blocked.status, blocked.json.code, pointers(blocked)]).toEqual([
      409,
      'incomplete_entries',
      [`/entries/${entry.id}`],
    ])
    const edit = (change: object) => call(`PATCH /${sheet}/entries/${entry.id}`, change)
    expect((await edit({ summary: 'Review' })).status).toBe(200)
    expect((await edit({ project: 'acme' })).status).toBe(200)
    expect(pointers(await edit({ project: null }))).toEqual(['/project'])
    expect((await call(`POST /${sheet}/submit`, {})).json.status).toBe('submitted')
  })

  test('are fulfilled by a name that is held until somebody decides', async () => {
    await app.services.organization.changeSettings({ unknownProjects: 'hold' }, TALLY)
    await requireFields('project')
    const sheet = await openSheet()
    const { status, json } = await add(sheet, { project: 'unheard-of' })
    expect([status, json.project, json.placement.named_project]).toEqual([201, null, 'unheard-of'])
    await app.services.organization.changeSettings({ unknownProjects: 'create' }, TALLY)
  })
})

describe('a dry run', () => {
  test('shows whether the cost is far from the list value, and saves nothing', async () => {
    const sheet = await openSheet()
    const asked = await call(`POST /${sheet}/entries?dry_run=true`, { ...DRAFT, reported_cost: 125 })
    expect([asked.status, asked.json.cost_mismatch, asked.json.list_value]).toEqual([200, true, 0.00125])
    expect(await entriesOf(sheet)).toEqual([])

    const { json: entry } = await add(sheet)
    const changed = await call(`PATCH /${sheet}/entries/${entry.id}?dry_run=true`, { reported_cost: 125 })
    expect(changed.json.cost_mismatch).toBe(true)
    expect(await entriesOf(sheet)).toMatchObject([{ id: entry.id, reported_cost: null }])

    const row = 'browser,chat,gpt-5,2026-11-10T10:00:00Z,2026-11-10T11:00:00Z,1000,0,,'
    const preview = await importCsv(sheet, `${row},125\n${row},0.001\n`, '?dry_run=true')
    expect(preview.json.added).toBe(2)
    expect(preview.json.data.map(({ cost_mismatch }: { cost_mismatch: boolean }) => cost_mismatch)).toEqual([
      true,
      false,
    ])
    expect(await entriesOf(sheet)).toHaveLength(1)
    expect((await call(`POST /${sheet}/entries?dry_run=maybe`, DRAFT)).status).toBe(422)
  })
})

test('sheets that share days with a period are found before another is opened', async () => {
  const sheet = (await call('POST ', { period: { from: '2025-03-10', to: '2025-03-16' } })).json.id
  const found = async (from: string, to: string) =>
    (await call(`GET ?agent_manager=${email}&ending_after=${from}&ending_at=${to}`)).json.data.map(
      ({ id }: { id: string }) => id,
    )
  expect(await found('2025-03-01', '2025-04-01')).toEqual([sheet])
  expect(await found('2025-03-16', '2025-03-17')).toEqual([sheet])
  expect(await found('2025-03-17', '2025-04-01')).toEqual([])
  expect(await found('2025-03-01', '2025-03-10')).toEqual([])
})
