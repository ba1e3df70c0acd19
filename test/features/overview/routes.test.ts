import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startApp, type TestApp } from '../../support/app.ts'
import { reportBody } from '../../support/reports.ts'

const NOW = Date.parse('2026-11-20T18:20:00Z')

let app: TestApp
let admin: string
let ada: string

const PERIOD = { starting_at: '2026-11-01', ending_at: '2026-11-21', bucket_width: '1d' }

/** Nine projects in two months, of which the one with the least cost has the most tokens. */
beforeAll(async () => {
  app = await startApp({ clock: { now: () => NOW } })
  await app.services.prices.loadDefaultPrices()
  const people = [await app.person('admin'), await app.person('member')]
  admin = await app.token('read', people[0]!)
  ada = await app.token('read', people[1]!)
  const service = [await app.token('svc', people[0]!), await app.token('svc', people[1]!)]
  for (let at = 0; at < 27; at++) {
    const [project, day] = [at % 9, at < 18 ? 3 + (at % 15) : 5]
    const month = at < 18 ? '11' : '10'
    const { status } = await app.call('POST /api/v1/token-entries', {
      token: service[at % 2],
      json: reportBody({
        started_at: `2026-${month}-${String(day).padStart(2, '0')}T10:00:00Z`,
        ended_at: `2026-${month}-${String(day).padStart(2, '0')}T10:30:00Z`,
        session_id: `session-${at}`,
        project: `Project ${project}`,
        reported_cost: 10 - project,
        tokens: { input: project === 8 ? 5_000_000 : 1_000 * (10 - project), output: 7 },
      }),
    })
    expect(status).toBe(201)
  }
  const budget = (name: string, amount: number, project: string) => ({
    name,
    amount,
    period: 'month',
    scope: { project },
  })
  const session = await app.session('admin')
  for (const body of [
    budget('Half', 38, 'Project 1'),
    budget('Over', 10, 'Project 2'),
    budget('Nearly', 15, 'Project 3'),
  ]) {
    const { status } = await app.call('POST /api/v1/budgets', { session, json: { ...body, measure: 'cost' } })
    expect(status).toBe(201)
  }
  await app.services.budgets.count()
})
afterAll(() => app.close())

const ask = (path: string, parameters: Record<string, string>, token = admin) =>
  app.call(`GET /api/v1/reports/${path}?${new URLSearchParams(parameters)}`, { token })

const namesOf = (results: { project: { name: string } }[]) => results.map(({ project }) => project.name)

test('the overview is what the single reports are', async () => {
  const { status, json } = await ask('overview', { ...PERIOD, group_by: 'project' })
  expect(status).toBe(200)
  const all = { ...PERIOD, bucket_width: 'all', group_by: 'project' }
  const before = { starting_at: '2026-10-12', ending_at: '2026-11-01' }
  const usage = await ask('usage', { ...PERIOD, fill_gaps: 'true' })
  const [groups, previous] = [await ask('usage', all), await ask('usage', { ...all, ...before })]
  const { bucket_width: _, ...period } = PERIOD
  const completeness = await ask('completeness', period)
  expect(json.usage).toEqual(usage.json)
  expect(json.groups).toEqual(groups.json)
  expect(json.completeness).toEqual(completeness.json)
  // Of the same length right before, if it is not given.
  expect(json.previous.starting_at).toBe('2026-10-12T00:00:00.000Z')
  const given = { previous_starting_at: before.starting_at, previous_ending_at: before.ending_at }
  expect((await ask('overview', { ...PERIOD, ...given })).json.previous).toEqual(previous.json)
})

test('the groups over time are those with the highest cost and those with the most tokens', async () => {
  const { json } = await ask('overview', PERIOD)
  const shown = new Set<string>(json.largest.data.flatMap(({ results }: never) => namesOf((results as never) ?? [])))
  expect([...shown].sort()).toEqual([
    'Project 0',
    'Project 1',
    'Project 2',
    'Project 3',
    'Project 4',
    'Project 5',
    'Project 8',
  ])
  const costOf = (report: typeof json.groups, name: string) =>
    report.data
      .flatMap(({ results }: never) => results as { project: { name: string }; cost: number }[])
      .filter(({ project }: { project: { name: string } }) => project.name === name)
      .reduce((sum: number, { cost }: { cost: number }) => sum + cost, 0)
  for (const name of shown) expect(costOf(json.largest, name)).toBe(costOf(json.groups, name))
})

test('the most used budgets are first', async () => {
  const { json } = await ask('overview', PERIOD)
  const use = json.budgets.data.map(({ name, current }: never) => [name, (current as { state: string }).state])
  expect([json.budgets.total, use]).toEqual([
    2,
    [
      ['Over', 'exceeded'],
      ['Nearly', 'nearly'],
    ],
  ])
  const one = await ask('overview', { ...PERIOD, project: 'Project 3' })
  expect(one.json.budgets.data.map(({ name }: never) => name)).toEqual(['Nearly'])
  expect(one.json.usage.totals.cost).toBe(14)
  // Budgets are not of entries without a project.
  expect((await ask('overview', { ...PERIOD, project: 'none' })).json.budgets).toEqual({ total: 0, data: [] })
})

test('a member sees their own entries, and no budgets of others', async () => {
  const { json } = await ask('overview', PERIOD, ada)
  expect(json.usage.totals).toEqual((await ask('usage', PERIOD, ada)).json.totals)
  expect(json.usage.totals.entries).toBe(9)
  expect(json.budgets).toEqual({ total: 0, data: [] })
})

test('an API token without the scope has no budgets', async () => {
  const session = await app.session('admin')
  const scopes = async (given: string[]) => {
    const json = { kind: 'api', name: `Dashboard ${given.length}`, scopes: given }
    const made = await app.call('POST /api/v1/tokens', { session, json })
    expect(made.status).toBe(201)
    return (await ask('overview', PERIOD, made.json.token)).json.budgets
  }
  await app.call('PATCH /api/v1/settings', { session, json: { api_tokens: true } })
  expect(await scopes(['entries:read'])).toBeNull()
  expect(await scopes(['entries:read', 'budgets:read'])).toMatchObject({ total: 2 })
})

describe('is refused', () => {
  const refused = async (change: Record<string, string>) => {
    const { status, json } = await ask('overview', { ...PERIOD, ...change })
    return [status, json.errors?.map(({ pointer, code }: never) => `${pointer} ${code}`)]
  }

  test.each([
    [{ bucket_width: '1h', starting_at: '2026-10-01' }, '/query/bucket_width too_many_buckets'],
    [{ group_by: 'ticket' }, '/query/group_by not_allowed'],
    [{ previous_starting_at: '2026-11-01', previous_ending_at: '2026-10-01' }, '/query/previous_ending_at not_allowed'],
    [{ project: 'Nothing' }, '/query/project unknown_name'],
    [{ starting_at: 'yesterday' }, '/query/starting_at bad_format'],
  ])('%j', async (change, issue) => {
    expect(await refused(change)).toEqual([422, [issue]])
  })
})
