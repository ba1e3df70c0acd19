import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { TALLY } from '../../../src/access/actor.ts'
import { KINDS } from '../../../src/features/personal-data/kinds.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { createServices } from '../../../src/services.ts'
import { PASSWORD, startApp, type TestApp } from '../../support/app.ts'
import { forEachEngine, locationOf, opener, rowsAt } from '../../support/databases.ts'
import { addReporter, reportBody } from '../../support/reports.ts'
import { OPERATOR } from '../../support/webhooks.ts'

let app: TestApp
let admin: string
let grace: { email: string; session: string; token: string }

beforeAll(async () => {
  app = await startApp()
  admin = await app.session('admin')
  const email = await app.person('member', { password: true })
  const { secret } = await app.services.people.signIn({ email, password: PASSWORD, address: '192.0.2.7' })
  grace = { email, session: `tally_session=${secret}`, token: await app.token('svc', email) }
  for (const session_id of ['one', 'two']) {
    await app.call('POST /api/v1/token-entries', {
      token: grace.token,
      json: reportBody({ session_id, summary: `Work of ${session_id}` }),
    })
  }
  const other = await app.token('svc', await app.person())
  await app.call('POST /api/v1/token-entries', { token: other, json: reportBody({ summary: 'Of somebody else' }) })
})
afterAll(() => app.close())

const SECRETS = () => [grace.token, grace.session.split('=')[1]!, '$argon2']

describe('an export of a person’s data', () => {
  test('contains what they are, have and did, and no secrets', async () => {
    const { status, json, text } = await app.call(`GET /api/v1/users/${grace.email}/export`, { session: admin })
    expect(status).toBe(200)
    expect(json.account).toMatchObject({ email: grace.email, role: 'member' })
    expect(json.tokens).toHaveLength(1)
    expect(json.sign_ins).toHaveLength(1)
    expect(json.sessions.map(({ session_id }: { session_id: string }) => session_id)).toEqual(['one', 'two'])
    expect(json.entries.map(({ summary }: { summary: string }) => summary).sort()).toEqual([
      'Work of one',
      'Work of two',
    ])
    expect(json.audit_log.map(({ action }: { action: string }) => action)).toContain('session.begun')
    expect(text).not.toContain('Of somebody else')
    for (const secret of SECRETS()) expect(text).not.toContain(secret)
  })

  test('is the same for the person, but for the time and its own record', async () => {
    const [own, admins] = await Promise.all([
      app.call('GET /api/v1/me/export', { session: grace.session }),
      app.call(`GET /api/v1/users/${grace.email}/export`, { session: admin }),
    ])
    const comparable = ({ json }: typeof own) => ({ ...json, exported_at: null, audit_log: null, sign_ins: null })
    expect(comparable(own)).toEqual(comparable(admins))
  })

  test('is recorded, and is not for others nor for tokens', async () => {
    const path = `GET /api/v1/users/${grace.email}/export`
    const api = await app.token('read', await app.person('admin'))
    expect((await app.call(path, { session: grace.session })).status).toBe(403)
    expect((await app.call(path, { session: await app.session('billing') })).status).toBe(403)
    expect((await app.call(path, { token: api })).status).toBe(403)
    expect((await app.call('GET /api/v1/me/export', { token: grace.token })).status).toBe(403)
    const { json } = await app.call('GET /api/v1/audit?action=user.exported', { session: admin })
    expect(json.data[0]).toMatchObject({ object: { name: grace.email }, after: { format: 'json' } })
  })

  test('is an archive with a CSV file for each kind', async () => {
    const response = await fetch(`${app.url}/api/v1/me/export?format=csv`, { headers: { cookie: grace.session } })
    expect(response.headers.get('content-type')).toBe('application/zip')
    const bytes = Buffer.from(await response.arrayBuffer()).toString('latin1')
    for (const name of ['account', 'tokens', 'sessions', 'entry_history', 'audit_log', 'entries']) {
      expect(bytes).toContain(`${name}.csv`)
    }
    expect((await app.call('GET /api/v1/me/export?format=xml', { session: grace.session })).status).toBe(422)
  })
})

forEachEngine('an export of a person’s data', (open) => {
  test('reads every kind of object', async () => {
    const services = createServices({ db: await open(), clock: systemClock })
    await addReporter(services.people, { name: 'Ada' })
    const reporter = await addReporter(services.people, { name: 'Grace' })
    await services.entries.reporting.reportEntry(reportBody({ session_id: 'one' }), reporter)
    const pieces = await Array.fromAsync(await services.personalData.exportPerson('grace@example.com', 'json', TALLY))
    const data = JSON.parse(Buffer.concat(pieces).toString())
    for (const { name } of KINDS) expect(data[name]).toBeArray()
    expect([data.entries.length, data.sessions.length, data.tokens.length]).toEqual([1, 1, 1])
    const archive = await Array.fromAsync(await services.personalData.exportPerson('grace@example.com', 'csv', TALLY))
    expect(Buffer.concat(archive).length).toBeGreaterThan(1_000)
  })
})

forEachEngine('an export of a person’s data', (open) => {
  test('lists budgets that they added, that are of their usage or notify them, and webhooks that they added', async () => {
    const services = createServices({ db: await open(), clock: systemClock })
    const { people, budgets, webhooks } = services
    const grace = await addReporter(people, { name: 'Grace', role: 'admin' })
    const by = { ...TALLY, userId: grace.person.id }
    const own = await budgets.addBudget({ amount: 1, name: 'Own', thresholds: [] }, { by })
    const notifying = await budgets.addBudget(
      { amount: 2, name: 'Notifying', thresholds: [{ percent: 80, emails: ['Grace@Example.com'] }] },
      { by: TALLY },
    )
    const ofUsage = await budgets.addBudget(
      { amount: 3, name: 'Usage', thresholds: [], scope: { agent_manager: 'grace@example.com' } },
      { by: TALLY },
    )
    await budgets.addBudget({ amount: 4, name: 'Of nobody', thresholds: [] }, { by: TALLY })
    const url = 'https://hooks.slack.com/services/T000/B000/confidential'
    await webhooks.addWebhook({ name: 'Chat', url, format: 'slack', types: ['bill.*'] }, { principal: null, by })
    await webhooks.addWebhook({ name: 'Of nobody', url, format: 'slack', types: ['bill.*'] }, OPERATOR)
    const pieces = await Array.fromAsync(await services.personalData.exportPerson('grace@example.com', 'json', TALLY))
    const text = Buffer.concat(pieces).toString()
    const data = JSON.parse(text)
    const relations = data.budgets.map((budget: Record<string, unknown>) => [
      budget.id,
      budget.created_by_person,
      budget.of_person,
      budget.notifies_person,
    ])
    expect(relations).toEqual([
      [own.id, true, false, false],
      [notifying.id, false, false, true],
      [ofUsage.id, false, true, false],
    ])
    expect(data.webhooks).toMatchObject([
      { name: 'Chat', host: 'hooks.slack.com', format: 'slack', types: ['bill.*'], disabled_at: null },
    ])
    expect(JSON.stringify(data.webhooks)).not.toContain('confidential')
  })
})

/** Which part of an export shows what each reference to a person says, or why none does. */

const EXPORTED_AS: Record<string, string | { not: string }> = {
  'agent_statuses.user_id': 'agent_status',
  'audit.for_id': 'audit_log',
  'audit.user_id': 'audit_log',
  'bill_deliveries.created_by': 'audit_log',
  'bill_drafts.created_by': 'bill_drafts',
  'bill_drafts.updated_by': 'bill_drafts',
  'bill_keys.user_id': { not: 'refers to a bill that they sent' },
  'bill_payments.created_by': 'audit_log',
  'bill_payments.reversed_by': 'audit_log',
  'bills.created_by': 'bills',
  'budgets.created_by': 'budgets',
  'budgets.manager_id': 'budgets',
  'client_approvers.user_id': 'responsibilities',
  'client_leads.user_id': 'responsibilities',
  'deputies.deputy_id': 'deputies',
  'deputies.person_id': 'deputies',
  'entries.manager_id': 'entries',
  'entry_history.user_id': 'entry_history',
  'erasures.user_id': { not: 'there is no account to export after an erasure' },
  'idempotency_keys.manager_id': 'idempotency_keys',
  'limit_readings.user_id': 'limit_readings',
  'notifications.user_id': 'notifications',
  'one_time_links.user_id': { not: 'secrets that expire within days' },
  'plan_corrections.manager_id': 'entries',
  'plan_holders.user_id': 'plans',
  'placement_rule_versions.created_by': 'placement_rules',
  'preferences.user_id': 'preferences',
  'price_aliases.created_by': 'audit_log',
  'price_loads.loaded_by': 'audit_log',
  'price_loads.undone_by': 'audit_log',
  'prices.loaded_by': 'audit_log',
  'project_approvers.user_id': 'responsibilities',
  'project_leads.user_id': 'responsibilities',
  'rule_proposals.decided_by': 'rule_proposals',
  'rule_proposals.proposed_by': 'rule_proposals',
  'sessions.manager_id': 'sessions',
  'share_links.created_by': 'share_links',
  'sheets.decided_by': 'token_sheets',
  'report_views.owner_id': 'report_views',
  'sheets.manager_id': 'token_sheets',
  'sign_ins.user_id': 'sign_ins',
  'telemetry_calls.user_id': { not: 'hashes that recognize the spans of one call, for a week' },
  'ticket_assumptions.user_id': { not: 'follows from their entries' },
  'tokens.created_by': 'tokens',
  'trusts.user_id': { not: 'their tokens are in `tokens`' },
  'user_emails.user_id': 'additional_emails',
  'viewer_grants.user_id': 'grants',
  'webhook_endpoints.created_by': 'webhooks',
  'webhook_endpoints.owner_id': 'webhooks',
}

describe('an export of a person’s data', () => {
  const open = opener('sqlite')

  test('considers every reference to a person in the database', async () => {
    const references = await rowsAt(
      locationOf(await open()),
      `SELECT tables.name || '.' || reference."from" AS name
       FROM sqlite_master AS tables JOIN pragma_foreign_key_list(tables.name) AS reference
       WHERE tables.type = 'table' AND reference."table" = 'users' ORDER BY 1`,
    )
    expect(references.map(({ name }) => name)).toEqual(Object.keys(EXPORTED_AS).sort())
    const parts = new Set(['entries', 'additional_emails', ...KINDS.map(({ name }) => name)])
    const named = Object.values(EXPORTED_AS).filter((part) => typeof part === 'string')
    expect(named.filter((part) => !parts.has(part))).toEqual([])
  })
})
