import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Command } from 'commander'
import { addEntryFilters, entryFilterTexts } from '../../src/cli/flags/entry-filters.ts'
import { listPath, readFilter } from '../../src/features/selection/filter.ts'
import { Query } from '../../src/schema/query.ts'
import { ENTRY_FILTER_LIST, type EntryFilterName } from '../../src/shared/entry-filters.ts'
import { startApp, type TestApp } from '../support/app.ts'

let app: TestApp
let admin: string

beforeAll(async () => {
  app = await startApp()
  admin = await app.session('admin')
  const token = await app.token('svc')
  const json = {
    agent_harness: 'codex',
    agent_name: 'builder',
    model: 'gpt-5',
    provider: 'openai',
    started_at: '2026-11-20T10:00:00Z',
    ended_at: '2026-11-20T11:00:00Z',
    tokens: { input: 1, output: 1 },
    reported_cost: 1,
    labels: { repository: 'acme/web' },
    summary: 'Fix the login',
  }
  expect((await app.call('POST /api/v1/token-entries', { token, json })).status).toBe(201)
  // What the filters name exists.
  for (const [path, body] of [
    ['clients', { name: 'Acme' }],
    ['projects', { key: 'acme-web', name: 'Acme web' }],
    ['tickets', { key: 'ACME-1' }],
    ['users', { name: 'Other', email: 'other@example.com', role: 'member' }],
  ] as const) {
    expect((await app.call(`POST /api/v1/${path}`, { session: admin, json: body })).status).toBe(201)
  }
})
afterAll(() => app.close())

/** Of each filter a value that the entry does not match. */
const OTHERS: Record<EntryFilterName, string> = {
  starting_at: '2026-11-21T00:00:00.000Z',
  ending_at: '2026-11-20T00:00:00.000Z',
  ended_after: '2026-11-20T12:00:00.000Z',
  project: 'acme-web',
  ticket: 'ACME-1',
  client: 'Acme',
  has_client: 'true',
  billable: 'false',
  agent_manager: 'other@example.com',
  without_agent_manager: 'person-2@example.com',
  agent_name: 'reviewer',
  agent_harness: 'cline',
  model: 'gpt-5-mini',
  provider: 'none',
  status: 'approved',
  source: 'sheet',
  session_id: 's-1',
  label: 'repository:acme/api',
  without_label: 'repository',
  placed: 'manual',
  funding: 'metered',
  plan: 'Claude Max',
  priced: 'false',
  unknown_cost: 'cost',
  late: 'true',
  correction: 'true',
  cost_mismatch: 'true',
  long_context: 'true',
  without_base_price: 'true',
  price_load: 'pld_01a1fa172a0277f3983322718874f2ef',
  sheet: 'sht_01a1fa172a0277f3983322718874f2ef',
  possible_duplicate: 'true',
  superseded: 'true',
  bill: '2026-0001',
  q: 'logout',
}

/** Those of which there is none here. */
const UNKNOWN: EntryFilterName[] = ['price_load', 'sheet', 'bill']

const answerTo = async (query: string) =>
  (await app.call(`GET /api/v1/token-entries?${query}`, { session: admin })).json

test('the entry is listed without filters', async () => expect((await answerTo('')).data).toHaveLength(1))

test('the entry without a ticket is listed, and counted by reports, with ticket=none', async () => {
  expect((await answerTo('ticket=none')).data).toHaveLength(1)
  const report = '/api/v1/reports/usage?starting_at=2026-11-01&ending_at=2026-12-01&bucket_width=all&ticket=none'
  expect((await app.call(`GET ${report}`, { session: admin })).json.totals.entries).toBe(1)
})

describe.each(ENTRY_FILTER_LIST.map(([name, { kind }]) => ({ name, kind, value: OTHERS[name] })))(
  'the filter $name',
  ({ name, kind, value }) => {
    const query = String(new URLSearchParams({ [name]: value }))

    test('selects entries in the API', async () => {
      const refusal = { errors: [{ pointer: `/query/${name}`, code: 'unknown_name' }] }
      expect(await answerTo(query)).toMatchObject(UNKNOWN.includes(name) ? refusal : { data: [] })
    })

    test('is a flag of the command line with the same meaning', () => {
      const flag = `--${name.replaceAll('_', '-')}`
      const typed = kind === 'labels' ? value.replace(':', '=') : value
      const flags = addEntryFilters(new Command()).parse([flag, typed], { from: 'user' }).opts()
      expect(readFilter(new Query(entryFilterTexts(flags)), 'UTC')).toEqual(
        readFilter(new Query({ [name]: value }), 'UTC'),
      )
      expect(Object.keys(flags)).toHaveLength(1)
    })

    test('is kept in the links of reports', () => {
      expect(listPath(readFilter(new Query({ [name]: value }), 'UTC'))).toBe(`/api/v1/token-entries?${query}`)
    })
  },
)
