/**
 * Two months of an agency with subscriptions, credits and API keys, against the sheet that was calculated by hand:
 * the README of test/fixtures/agency.
 */
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { startApp } from '../../support/app.ts'
import { forEachEngine } from '../../support/databases.ts'
import { runInProcess } from '../../support/in-process.ts'

const FOLDER = join(import.meta.dir, '../../fixtures/agency')
const BASES = ['cost', 'list', 'marginal', 'allocated'] as const
type Row = Record<string, string>
// biome-ignore lint/suspicious/noExplicitAny: what the API answers; the test asserts what it relies on
type Json = any

async function rowsOf(file: string): Promise<Row[]> {
  const [names, ...lines] = (await Bun.file(join(FOLDER, file)).text())
    .trim()
    .split('\n')
    .map((line) => line.split(','))
  return lines.map((values) => Object.fromEntries(names!.map((name, at) => [name, values[at]!])))
}

const nanos = (dollars: number | string) => BigInt(Math.round(Number(dollars) * 1e9))
/** The sum of a column in dollars, exact. */
const sumOf = (rows: readonly Row[], column: string) =>
  Number(rows.reduce((sum, row) => sum + nanos(row[column] || 0), 0n)) / 1e9
const PEOPLE = ['ada', 'ben', 'cleo', 'dan', 'eve']
const CLIENTS = ['Northwind', 'Contoso', 'Fabrikam']

forEachEngine('two months of an agency', (open) => {
  test('cost what the sheet says, by each basis, in reports, lists and bills', async () => {
    let day = '2026-09-01'
    const app = await startApp({ db: await open(), clock: { now: () => Date.parse(`${day}T20:00:00Z`) } })
    let admin = await app.session('admin')
    const call = async (operation: string, json?: object, token?: string) => {
      const given = { ...(token ? { token } : { session: admin }), ...(json && { json }) }
      const answer = await app.call(operation.replace(' ', ' /api/v1'), given)
      expect([operation, answer.status < 300 ? 'done' : answer.json]).toEqual([operation, 'done'])
      return answer.json
    }
    const refused = async (operation: string, json?: object) => {
      const { status, json: body } = await app.call(operation.replace(' ', ' /api/v1'), { session: admin, json })
      return [status, body.type.split('/').at(-1)]
    }
    await call('PATCH /settings', { time_zone: 'UTC', currency: 'USD' })
    const tokens: Record<string, string> = {}
    for (const name of PEOPLE) {
      const email = `${name}@example.com`
      await call('POST /users', { email, name, role: 'member' })
      tokens[name] = await app.token('svc', email)
    }
    for (const name of CLIENTS) {
      await call('POST /clients', { name })
      await call('POST /projects', { key: name.slice(0, 4).toUpperCase(), name, client: name })
    }
    await call('POST /prices', {
      provider: 'agency',
      model: 'agency-1',
      input: 1,
      output: 0,
      effective_from: '2026-01-01',
    })
    const person = (name: string) => ({ person: `${name}@example.com` })
    await call('POST /plans', {
      ...{ name: 'Claude Max, Ada', vendor: 'Anthropic', product: 'Claude Max', fee: 100, from: '2026-09-01' },
      people: [person('ada')],
      holder: 'person',
    })
    await call('POST /plans', {
      ...{ name: 'ChatGPT Pro, Ben', vendor: 'OpenAI', product: 'ChatGPT Pro', fee: 184, from: '2026-09-10' },
      ...{ currency: 'EUR', exchange_rate: 0.92, people: [person('ben')], holder: 'person' },
    })
    await call('POST /plans', {
      ...{ name: 'Copilot Business', vendor: 'GitHub', product: 'Copilot Business', fee: 19, seats: 3 },
      ...{ from: '2026-09-01', people: [person('cleo'), person('dan')], holder: 'people' },
      ...{ covers: [{ field: 'agent_harness', matches: 'github-copilot' }] },
      ...{ allowance: 19, allowance_unit: 'usd', overage_price: 1 },
    })
    const metered = (name: string, field: string, matches: string) =>
      call('POST /funding-rules', { name, conditions: [{ field, matches }], funding: 'metered' })
    await metered('Eve uses the API', 'agent_manager', 'eve@example.com')
    await metered('Scripts use the API', 'labels.entrypoint', 'sdk-*')
    // What happens on a day, in this order.
    const close = (plan: string, first: string) =>
      call(`POST /plans/${encodeURIComponent(plan)}/periods/${first}/close`, {})
    const bill = (client: string, from: string, to: string, more: object = {}) =>
      call('POST /bills', { client, period: { from, to }, basis: 'allocated', ...more })
    const bills: Json = {}
    const events: Record<string, () => Promise<unknown>> = {
      '2026-10-02': async () => {
        await close('Claude Max, Ada', '2026-09-01')
        await close('Copilot Business', '2026-09-01')
      },
      '2026-10-10': () => close('ChatGPT Pro, Ben', '2026-09-10'),
      '2026-10-12': async () => {
        bills.september = await bill('Northwind', '2026-09-01', '2026-09-30')
      },
      '2026-10-17': () => call('PATCH /plans/Claude%20Max%2C%20Ada', { fee: 200, from: '2026-10-17', prorate: true }),
      '2026-10-20': () => close('Claude Max, Ada', '2026-10-01'),
      '2026-11-02': async () => {
        await close('Copilot Business', '2026-10-01')
        expect(
          await refused('POST /bills', {
            ...{ client: 'Northwind', period: { from: '2026-10-01', to: '2026-10-31' } },
            basis: 'allocated',
          }),
        ).toEqual([409, 'period_not_closed'])
        bills.october = await bill('Northwind', '2026-10-01', '2026-10-31', { provisional: true })
      },
      '2026-11-20': async () => {
        await close('ChatGPT Pro, Ben', '2026-10-10')
        await close('Claude Max, Ada', '2026-10-17')
      },
    }
    const entries = await rowsOf('entries.csv')
    const days = [...new Set([...entries.map((row) => row.reported_on!), ...Object.keys(events)])].sort()
    for (day of days) {
      // Sessions end after some days.
      if (events[day]) admin = await app.session('admin')
      await events[day]?.()
      for (const row of entries.filter(({ reported_on }) => reported_on === day)) {
        await call(
          'POST /token-entries',
          {
            session_id: row.key,
            ...{ agent_name: 'agent', agent_harness: row.harness, provider: 'agency', model: 'agency-1' },
            ...{ started_at: `${row.day}T09:00:00Z`, ended_at: `${row.day}T10:00:00Z` },
            tokens: { input: Number(row.million_tokens) * 1e6, output: 0 },
            project: row.client,
            labels: { entrypoint: row.entrypoint },
            ...(row.reported_cost && { reported_cost: Number(row.reported_cost) }),
          },
          tokens[row.person!],
        )
      }
      await app.services.entries.funding.decideOwed()
    }
    day = '2026-11-21'
    admin = await app.session('admin')
    await app.services.funding.calculateOwed()
    const sheet = await rowsOf('sheet.csv')

    // Each entry, as the list has it; the corrections have no session.
    const { data: listed } = await call('GET /token-entries?limit=100')
    const shownOf = (entry: Json) => ({
      ...{ day: entry.started_at.slice(0, 10), client: entry.project.name, cost: entry.cost, list: entry.list_value },
      ...{ marginal: entry.marginal_cost, fee: entry.fee_share ?? 0, allocated: entry.allocated_cost },
    })
    const expectedOf = (row: Row) => ({
      ...{ day: row.day, client: row.client, cost: Number(row.cost), list: row.list === '' ? null : Number(row.list) },
      ...{ marginal: Number(row.marginal), fee: Number(row.fee), allocated: Number(row.allocated) },
    })
    const inOrder = (rows: object[]) => rows.map((row) => JSON.stringify(row)).sort()
    expect(inOrder(listed.map(shownOf))).toEqual(inOrder(sheet.map(expectedOf)))

    // Reports, and the lists that their figures lead to, by each basis.
    const period = 'starting_at=2026-09-01&ending_at=2026-12-01'
    for (const basis of BASES) {
      const query = `${period}&basis=${basis}`
      const { data } = await call(`GET /reports/usage?${query}&bucket_width=1mo&group_by=client`)
      const ofMonths = data.flatMap((bucket: Json) =>
        bucket.results.map(({ client, cost, entries }: Json) => [
          bucket.starting_at.slice(0, 7),
          client.name,
          cost,
          entries,
        ]),
      )
      const expected = ['2026-09', '2026-10', '2026-11'].flatMap((month) =>
        CLIENTS.flatMap((client) => {
          const rows = sheet.filter((row) => row.day!.startsWith(month) && row.client === client)
          return rows.length === 0 ? [] : [[month, client, sumOf(rows, basis), rows.length]]
        }),
      )
      expect([basis, ...inOrder(ofMonths)]).toEqual([basis, ...inOrder(expected)])
      const byPerson = await call(`GET /reports/usage?${query}&bucket_width=all&group_by=agent_manager`)
      const ofPeople = byPerson.data[0].results.map(({ agent_manager, cost }: Json) => [agent_manager.name, cost])
      expect([basis, ...inOrder(ofPeople)]).toEqual([
        basis,
        ...inOrder(
          PEOPLE.map((name) => [
            name,
            sumOf(
              sheet.filter(({ person }) => person === name),
              basis,
            ),
          ]),
        ),
      ])
      // The command line.
      const { dataDir, databaseUrl } = app.location
      const printed = await runInProcess(
        ['usage', '--from', '2026-09-01', '--to', '2026-11-30', '--by', 'client', '--basis', basis, '--json'],
        {
          folder: '/tmp',
          env: databaseUrl ? { TALLY_DATABASE_URL: databaseUrl } : { TALLY_DATA: dataDir! },
          stdin: '',
        },
      )
      expect([printed.stderr, printed.code]).toEqual(['', 0])
      expect(JSON.parse(printed.stdout).totals?.cost).toBe(sumOf(sheet, basis))
    }

    // What became of the fees.
    const ledger = await call('GET /plans/periods?from=2026-09-01&to=2026-10-31')
    const rows = ledger.data.map((each: Json) => [
      ...[each.plan.name, each.from, each.fee_usd, each.allocated, each.unused, each.pending, each.state],
    ])
    expect(inOrder(rows)).toEqual(
      inOrder([
        ['Claude Max, Ada', '2026-09-01', 100, 100, 0, 0, 'closed'],
        ['Claude Max, Ada', '2026-10-01', 51.612903226, 51.612903226, 0, 0, 'closed'],
        ['Claude Max, Ada', '2026-10-17', 200, 200, 0, 0, 'closed'],
        ['ChatGPT Pro, Ben', '2026-09-10', 200, 200, 0, 0, 'closed'],
        ['ChatGPT Pro, Ben', '2026-10-10', 200, 200, 0, 0, 'closed'],
        ['Copilot Business', '2026-09-01', 57, 38, 19, 0, 'closed'],
        ['Copilot Business', '2026-10-01', 57, 19, 38, 0, 'closed'],
      ]),
    )

    // Whether seats pay for themselves: list value without charges, divided by the fee.
    const value = await call('GET /reports/plans?from=2026-09-01&to=2026-10-31')
    const seatsOf = (report: Json) =>
      report.data.flatMap(({ plan, from, people }: Json) =>
        people.map(({ name, list_value, charge, fee, ratio, allowance_used: used }: Json) => [
          ...[plan.name, from, name, list_value, charge, fee, ratio, used],
        ]),
      )
    expect(inOrder(seatsOf(value))).toEqual(
      inOrder([
        ['Claude Max, Ada', '2026-09-01', 'ada', 200, 0, 100, 2, null],
        ['Claude Max, Ada', '2026-10-01', 'ada', 40, 0, 51.612903226, 0.775, null],
        ['Claude Max, Ada', '2026-10-17', 'ada', 200, 0, 200, 1, null],
        ['ChatGPT Pro, Ben', '2026-09-10', 'ben', 3, 0, 200, 0.015, null],
        ['ChatGPT Pro, Ben', '2026-10-10', 'ben', 12, 0, 200, 0.06, null],
        ['Copilot Business', '2026-09-01', 'cleo', 21, 2, 19, 1, 21],
        ['Copilot Business', '2026-09-01', 'dan', 3, 0, 19, 0.1579, 3],
        ['Copilot Business', '2026-10-01', 'cleo', 25, 6, 19, 1, 25],
      ]),
    )
    const sums = { fee_usd: 865.612903226, allocated: 808.612903226, unused: 57, pending: 0 }
    expect(value.ended).toEqual({ periods: 7, ...sums, list_value: 504, charge: 8, ratio: 0.573 })
    expect(value.running.periods).toBe(0)
    const copilot = value.data.find(({ plan, from }: Json) => plan.name.startsWith('Copilot') && from === '2026-10-01')
    expect(copilot).toMatchObject({ seats: 3, unused_seats: 2, unused: 38, fee_usd: 57, ratio: 0.3333, allowance: 19 })

    // Leads who see fees see the shares of the entries that they see, and nothing of others; everyone else sees none.
    const asked = '/reports/plans?from=2026-09-01&to=2026-10-31'
    const dan = await app.token('read', 'dan@example.com')
    const refusedTo = async (token: string) => {
      const { status, json: body } = await app.call(`GET /api/v1${asked}`, { token })
      return [status, body.type.split('/').at(-1)]
    }
    expect(await refusedTo(dan)).toEqual([403, 'fees_hidden'])
    await call('PATCH /settings', { leads_see_fees: true })
    expect(await refusedTo(dan)).toEqual([403, 'fees_hidden'])
    await call('PATCH /projects/CONT', { leads: ['dan@example.com'] })
    const led = await call(`GET ${asked}`, undefined, dan)
    expect(inOrder(seatsOf(led))).toEqual(
      inOrder([
        ['Claude Max, Ada', '2026-09-01', 'ada', 150, 0, 75, 2, null],
        ['Claude Max, Ada', '2026-10-01', 'ada', 30, 0, 38.70967742, 0.775, null],
        ['ChatGPT Pro, Ben', '2026-09-10', 'ben', 1, 0, 66.666666667, 0.015, null],
        ['ChatGPT Pro, Ben', '2026-10-10', 'ben', 3, 0, 50, 0.06, null],
        ['Copilot Business', '2026-09-01', 'cleo', 6, 0, 5.428571428, 1.1053, 6],
        ['Copilot Business', '2026-09-01', 'dan', 3, 0, 19, 0.1579, 3],
      ]),
    )
    const hidden = { seats: null, unused_seats: null, unused: null, pending: null, late_entries: null }
    for (const row of led.data) expect(row).toMatchObject({ ...hidden, fee_usd: row.allocated })
    expect(led.ended).toEqual({
      ...{ periods: 5, fee_usd: 254.804915515, allocated: 254.804915515, unused: null, pending: null },
      ...{ list_value: 193, charge: 0, ratio: 0.7574 },
    })
    expect(await refusedTo(await app.token('read', 'ben@example.com'))).toEqual([403, 'fees_hidden'])
    await call('PATCH /projects/CONT', { leads: [] })
    expect(await refusedTo(dan)).toEqual([403, 'fees_hidden'])

    // Bills.
    expect(bills.september).toMatchObject({ basis: 'allocated', provisional: false, total: 119.74 })
    expect(bills.october).toMatchObject({ basis: 'allocated', provisional: true, total: 250.4 })
  })
})
