import { expect, test } from 'bun:test'
import { TALLY } from '../../../../src/access/actor.ts'
import type { CallerOf } from '../../../../src/access/caller.ts'
import { EVERYTHING } from '../../../../src/access/visibility.ts'
import type { Database } from '../../../../src/database/database.ts'
import type { SessionSource, Status } from '../../../../src/database/schema/values.ts'
import type { Problem } from '../../../../src/errors.ts'
import { readListQuery } from '../../../../src/features/entries/listing/query.ts'
import { issuesOfReport, readReport, reportChecker } from '../../../../src/features/entries/reporting/report.ts'
import type { SliceReport, TokenEntry, TokenEntryReport } from '../../../../src/features/entries/schema.ts'
import { issuesOf } from '../../../../src/schema/issues.ts'
import { createServices } from '../../../../src/services.ts'
import { startApp } from '../../../support/app.ts'
import { forEachEngine } from '../../../support/databases.ts'
import { OPERATOR } from '../../../support/reports.ts'

const NOW = Date.UTC(2026, 10, 20, 19, 30)
const MILLION = 1_000_000

interface BatchResult {
  result: string
  entries: { result: string }[]
  problem: { code: string } | null
}

interface Batch {
  results: BatchResult[]
  /** Of a dry run. */
  entries: { result: string; before: TokenEntry | null; after: TokenEntry }[]
}

interface Stage {
  timeZone?: string
}

async function stage(db: Database, { timeZone = 'UTC' }: Stage = {}) {
  const services = createServices({ db, clock: { now: () => NOW } })
  const { people, prices, organization, entries } = services
  await organization.changeSettings({ timeZone }, TALLY)
  await prices.setPrice({ model: 'opus', input: 3, output: 15, only: true, force: true } as never, TALLY)
  await people.addUser({ email: 'ada@example.com', name: 'Ada', role: 'member' }, TALLY)
  const { secret } = await people.createToken({ kind: 'svc', user: 'ada@example.com', name: 'test' }, TALLY)
  const ada = (await people.authenticate(`Bearer ${secret}`)) as CallerOf<'service'>

  const listed = async (): Promise<TokenEntry[]> => {
    const { data } = await entries.listing.listEntries(EVERYTHING, readListQuery({ session_id: ['s-1'] }, 'UTC'))
    return data.toSorted((one, other) => one.part! - other.part!)
  }
  return {
    services,
    ada,
    listed,
    tell: (body: Partial<TokenEntryReport>, source: SessionSource = 'report') =>
      entries.reporting.recordFrom(source, readReport(whole(body), NOW), ada),
    /** Day, branch, input, output, cost and whether they are estimated, of each entry that is not superseded. */
    shown: async () =>
      (await listed())
        .filter(({ superseded }) => !superseded)
        .toSorted((one, other) => (one.started_at < other.started_at ? -1 : 1))
        .map(({ slice, labels, tokens, cost }) => [
          slice?.day.slice(5) ?? 'whole',
          labels.branch ?? '',
          tokens.input,
          tokens.output,
          cost,
          ...(slice?.estimated ? ['estimated'] : []),
        ]),
    async setStatus(id: string, status: Status) {
      const { entries } = db.read.tables
      const all = await db.read.select({ id: entries.id, uid: entries.uid }).from(entries)
      const row = all.find(({ uid }) => uid === id)!
      await db.write(async (tx) => {
        await tx.updateAll(tx.tables.entries, [{ id: row.id, status }])
      })
    },
  }
}

function cell(at: string, branch: string, input: number, output = 0, change: Partial<SliceReport> = {}): SliceReport {
  const labels = branch === '' ? {} : { labels: { branch } }
  return { started_at: `${at}:00Z`, ended_at: `${at}:59Z`, tokens: { input, output }, ...labels, ...change }
}

/** With the times of its slices. */
function whole(body: Partial<TokenEntryReport>): TokenEntryReport {
  const starts = body.slices?.map(({ started_at }) => started_at).sort() ?? []
  const ends = body.slices?.map(({ ended_at }) => ended_at).sort() ?? []
  return {
    ...{ agent_harness: 'claude-code', agent_name: 'claude-code', model: 'opus', session_id: 's-1' },
    ...{ started_at: starts[0] ?? '2026-10-30T10:00:00Z', ended_at: ends.at(-1) ?? '2026-10-30T11:00:00Z' },
    ...body,
  }
}

const EXAMPLE = [
  cell('2026-10-30T10:00', 'A-1', 1.2 * MILLION, 120_000),
  cell('2026-10-31T10:00', 'A-1', 0.8 * MILLION, 80_000),
  cell('2026-11-20T10:00', 'A-2', 1_000, 1_000),
]

forEachEngine('a sliced session', (open) => {
  test('is an entry for each day and place, with the price of its day', async () => {
    const { tell, shown, listed } = await stage(await open())
    const { outcome, entry, slices } = await tell({ slices: EXAMPLE })
    expect([outcome, entry.labels, slices!.length]).toEqual(['created', { branch: 'A-2' }, 3])
    expect(await shown()).toEqual([
      ['10-30', 'A-1', 1_200_000, 120_000, 5.4],
      ['10-31', 'A-1', 800_000, 80_000, 3.6],
      ['11-20', 'A-2', 1_000, 1_000, 0.018],
    ])
    expect((await listed()).map(({ started_at, ended_at, part }) => [started_at, ended_at, part])).toEqual([
      ['2026-10-30T10:00:00.000Z', '2026-10-30T10:00:59.000Z', 1],
      ['2026-10-31T10:00:00.000Z', '2026-10-31T10:00:59.000Z', 2],
      ['2026-11-20T10:00:00.000Z', '2026-11-20T10:00:59.000Z', 3],
    ])
    const again = await tell({ slices: EXAMPLE.toReversed() })
    expect([again.outcome, again.slices!.map(({ outcome }) => outcome)]).toEqual([
      'repeated',
      Array(3).fill('repeated'),
    ])
  })

  test('splits what was reported as a whole, and goes on from what was billed of it', async () => {
    const { tell, shown, setStatus, listed } = await stage(await open())
    const { entry } = await tell({
      ...{ started_at: '2026-10-30T10:00:00Z', ended_at: '2026-10-31T09:00:00Z' },
      tokens: { input: 1.5 * MILLION, output: 150_000 },
    })
    await setStatus(entry.entry.uid, 'approved')
    await tell({ slices: EXAMPLE })
    expect(await shown()).toEqual([
      ['whole', '', 1_500_000, 150_000, 6.75],
      ['10-31', 'A-1', 500_000, 50_000, 2.25],
      ['11-20', 'A-2', 1_000, 1_000, 0.018],
    ])
    expect((await listed())[0]!.status).toBe('approved')
  })

  test('splits a whole that is still open', async () => {
    const { tell, shown, services, listed } = await stage(await open())
    await tell({
      ended_at: '2026-11-20T09:00:00Z',
      tokens: { input: 2 * MILLION, output: 200_000 },
      labels: { branch: 'A-2' },
    })
    await tell({ slices: EXAMPLE })
    expect(await shown()).toEqual([
      ['10-30', 'A-1', 1_200_000, 120_000, 5.4],
      ['10-31', 'A-1', 800_000, 80_000, 3.6],
      ['11-20', 'A-2', 1_000, 1_000, 0.018],
    ])
    const history = await services.entries.listing.getHistory((await listed())[0]!.id, EVERYTHING)
    expect(history.data.map(({ action }) => action)).toContain('sliced')
  })

  test('keeps what is fixed when calls move to another day, and refuses only a smaller sum', async () => {
    const { tell, shown, setStatus } = await stage(await open())
    const { slices } = await tell({ slices: [cell('2026-10-30T10:00', '', 1_000), cell('2026-10-31T10:00', '', 500)] })
    await setStatus(slices![0]!.id, 'approved')
    await tell({ slices: [cell('2026-10-30T10:00', '', 800), cell('2026-10-31T11:00', '', 900)] })
    expect((await shown()).map(([day, , input]) => [day, input])).toEqual([
      ['10-30', 1_000],
      ['10-31', 700],
    ])
    const smaller = tell({ slices: [cell('2026-10-30T10:00', '', 800), cell('2026-10-31T12:00', '', 100)] })
    expect(smaller).rejects.toMatchObject({ code: 'session_shrunk' })
    await smaller.catch(() => {})
  })

  test('counts a place that is no longer named where it was locked', async () => {
    const { tell, listed, setStatus } = await stage(await open())
    const labels = { repository: 'web', branch: 'x' }
    const { entry } = await tell({ slices: [cell('2026-10-30T10:00', '', 1_000, 0, { labels })] })
    await setStatus(entry.entry.uid, 'approved')
    await tell({ slices: [cell('2026-10-30T10:00', 'x', 1_000)] })
    expect(await listed()).toHaveLength(1)
  })

  test('has no entry for a slice of which nothing is left, whatever is repeated of earlier reports', async () => {
    const { tell, shown, listed } = await stage(await open())
    const earlier = [cell('2026-10-30T10:00', 'A-1', 5), cell('2026-10-31T10:00', '', 3)]
    await tell({ slices: earlier })
    const moved = [cell('2026-10-30T10:00', 'A-1', 8), cell('2026-10-31T10:01', '', 0)]
    const later = [...moved, cell('2026-11-01T10:00', 'A-1', 1)]
    await tell({ slices: later })
    expect((await tell({ slices: later })).outcome).toBe('repeated')
    expect((await tell({ slices: earlier })).outcome).toBe('repeated')
    expect(await shown()).toEqual([
      ['10-30', 'A-1', 8, 0, 0.000_024],
      ['11-01', 'A-1', 1, 0, 0.000_003],
    ])
    // A cost that nobody has reported would stay when the price changes.
    await tell({ ended_at: '2026-11-02T10:00:00Z', tokens: { input: 10, output: 0 } })
    expect((await listed()).filter(({ superseded }) => !superseded).map(({ reported_cost }) => reported_cost)).toEqual([
      null,
      null,
      null,
    ])
  })

  test('ends with its last usage, whatever cells of nothing follow', async () => {
    const { tell, shown } = await stage(await open())
    const statements = [
      { slices: [cell('2026-10-30T10:00', 'A-1', 8), cell('2026-10-30T12:00', 'A-2', 0)] },
      { slices: [cell('2026-10-30T10:00', 'A-1', 5), cell('2026-10-30T11:00', 'A-2', 4)] },
    ]
    const shownBy = async (order: typeof statements) => {
      const { tell, shown } = await stage(await open())
      for (const statement of order) await tell(statement)
      return shown()
    }
    for (const statement of statements) await tell(statement)
    expect(await shownBy(statements.toReversed())).toEqual(await shown())
  })

  test('is divided with its further days where people have divided its place', async () => {
    const { tell, services, listed } = await stage(await open())
    for (const key of ['ONE', 'TWO']) await services.projects.addProject(OPERATOR, { key, name: key })
    await tell({ slices: [cell('2026-10-30T10:00', 'A-1', 600)] })
    const [{ id }] = (await listed()) as [TokenEntry]
    const parts = [
      { project: 'ONE', share: 2 },
      { project: 'TWO', share: 1 },
    ]
    await services.entries.division.divide(id, { parts }, OPERATOR)
    await tell({ slices: [cell('2026-10-30T10:00', 'A-1', 600), cell('2026-11-02T10:00', 'A-1', 300)] })
    const { data } = await services.entries.listing.listEntries(EVERYTHING, readListQuery({}, 'UTC'))
    expect(data.map(({ slice, tokens }) => `${slice!.day} ${tokens.input}`).sort()).toEqual([
      ...['2026-10-30 200', '2026-10-30 400'],
      ...['2026-11-02 100', '2026-11-02 200'],
    ])
  })

  test('has the days of the organization', async () => {
    const { tell, shown } = await stage(await open(), { timeZone: 'Asia/Kathmandu' })
    await tell({ slices: [cell('2026-10-31T18:10', '', 1), cell('2026-10-31T18:20', '', 2)] })
    expect((await shown()).map(([day, , input]) => [day, input])).toEqual([
      ['10-31', 1],
      ['11-01', 2],
    ])
  })

  test('goes on on its day, also where the part before ended on the next one', async () => {
    const { tell, listed, services, setStatus } = await stage(await open(), { timeZone: 'Europe/Berlin' })
    const night = (input: number, hour: number) =>
      cell('2026-10-31T22:50', 'x', input, 0, { ended_at: `2026-11-01T0${hour}:00:00Z` })
    const { entry } = await tell({ slices: [night(1_000, 1)] })
    await setStatus(entry.entry.uid, 'approved')
    await tell({ slices: [night(1_500, 2)] })
    expect((await listed()).map(({ started_at, ended_at, slice }) => [started_at, ended_at, slice!.day])).toEqual([
      ['2026-10-31T22:50:00.000Z', '2026-11-01T01:00:00.000Z', '2026-10-31'],
      ['2026-10-31T22:59:59.999Z', '2026-11-01T02:00:00.000Z', '2026-10-31'],
    ])
    expect(await services.entries.verify()).toEqual([])
  })

  test('stays on its day when an older report without slices arrives', async () => {
    const { tell, listed } = await stage(await open())
    await tell({ slices: [cell('2026-11-01T10:00', '', 1_000)] })
    await tell({
      ...{ started_at: '2026-10-31T10:00:00Z', ended_at: '2026-10-31T11:00:00Z' },
      ...{ tokens: { input: 500, output: 0 }, summary: 'Fix the login' },
    })
    expect((await listed()).map(({ started_at, summary, slice }) => [started_at, summary, slice!.day])).toEqual([
      ['2026-11-01T10:00:00.000Z', 'Fix the login', '2026-11-01'],
    ])
  })

  test('of which nothing was used is one entry at zero', async () => {
    const { tell, shown } = await stage(await open())
    const slices = [cell('2026-10-30T10:00', 'A-1', 0), cell('2026-10-31T10:00', 'A-1', 0)]
    await tell({ slices })
    expect((await tell({ slices })).outcome).toBe('repeated')
    expect(await shown()).toEqual([['10-30', 'A-1', 0, 0, 0]])
  })

  test('has the provider that its model had, and the summary of each slice', async () => {
    const { tell, listed } = await stage(await open())
    const first = cell('2026-10-30T10:00', 'A-1', 1, 0, { summary: 'Plan' })
    await tell({ provider: 'bedrock', summary: 'All', slices: [first] })
    const others = [cell('2026-10-31T10:00', 'A-1', 1, 0, { summary: 'Build' }), cell('2026-11-01T10:00', 'A-1', 1)]
    await tell({ summary: 'All', slices: [first, ...others] })
    expect((await listed()).map(({ provider, summary }) => [provider, summary])).toEqual([
      ['bedrock', 'Plan'],
      ['bedrock', 'Build'],
      ['bedrock', 'All'],
    ])
  })

  test('with one slice is as the whole would be', async () => {
    const { tell, listed, services, ada } = await stage(await open())
    const one = cell('2026-10-30T10:00', 'A-1', 1_000, 10, { requests: 3 })
    await tell({ slices: [one] })
    const { started_at, ended_at, ...figures } = one
    await services.entries.reporting.recordFrom(
      'report',
      readReport(whole({ started_at, ended_at, ...figures, session_id: 's-2' }), NOW),
      ada,
    )
    const [sliced] = await listed()
    const { data } = await services.entries.listing.listEntries(
      EVERYTHING,
      readListQuery({ session_id: ['s-2'] }, 'UTC'),
    )
    const { id: _, session_id: __, slice: ___, possible_duplicate_of: ____, ...asSliced } = sliced!
    expect(data[0]).toMatchObject(asSliced)
  })
})

forEachEngine('a session of a thousand slices', (open) => {
  test('has 400 places, and one more for each day', async () => {
    const db = await open()
    const { tell, listed, services } = await stage(db)
    const start = Date.UTC(2026, 9, 1)
    const slices = Array.from({ length: 1_000 }, (_, at) => {
      const moment = (ms: number) => new Date(start + at * 900_000 + ms).toISOString()
      const labels = { branch: `feature/${at}` }
      return {
        started_at: moment(0),
        ended_at: moment(899_000),
        tokens: { input: 10, output: at },
        labels,
        ticket: `T-${at}`,
      }
    })
    const { slices: entries } = await tell({ slices })
    // The last of the 400 is on the fifth day of eleven.
    expect(entries).toHaveLength(400 + 7)
    const outputs = await db.read.select({ output: db.read.tables.entries.output }).from(db.read.tables.entries)
    expect(outputs.reduce((sum, { output }) => sum + output, 0)).toBe((999 * 1_000) / 2)
    expect((await tell({ slices: slices.toReversed() })).outcome).toBe('repeated')
    expect((await listed()).at(-1)!.labels).toEqual({})
    expect(await services.entries.verify()).toEqual([])
  }, 60_000)
})

test('a batch names what becomes of each slice, and a dry run shows it without saving anything', async () => {
  const app = await startApp()
  const person = await app.person()
  const [token, read] = [await app.token('svc', person), await app.token('read', person)]
  const call = async (query: string, json: unknown) =>
    (await app.call(`POST /api/v1/token-entries/batch${query}`, { token, json })).json as Batch
  const opened = whole({ ended_at: '2026-10-31T09:00:00Z', tokens: { input: 1_500_000, output: 0 } })
  await call('', [opened])
  const sliced = whole({
    slices: [cell('2026-10-30T10:00', 'A-1', 1_200_000), cell('2026-10-31T10:00', 'A-1', 800_000)],
  })
  const dry = await call('?dry_run=true', [sliced, whole({ tokens: { input: 1, output: 1 }, project: 'none' })])
  expect(dry.results.map(({ result, entries }) => [result, entries.map(({ result }) => result)])).toEqual([
    ['created', ['updated', 'created']],
    ['rejected', []],
  ])
  expect(
    dry.entries.map(({ result, before, after }) => [
      result,
      before?.tokens.input,
      after.slice!.day,
      after.tokens.input,
    ]),
  ).toEqual([
    ['created', undefined, '2026-10-31', 800_000],
    ['updated', 1_500_000, '2026-10-30', 1_200_000],
  ])
  const stored = async () => (await app.call('GET /api/v1/token-entries?session_id=s-1', { token: read })).json.data
  expect((await stored()).map(({ slice, tokens }: TokenEntry) => [slice, tokens.input])).toEqual([[null, 1_500_000]])
  const real = await call('', [sliced])
  expect(real.results[0]!.entries.map(({ result }) => result)).toEqual(['updated', 'created'])
  expect(real.entries).toBeUndefined()
  expect((await stored()).map(({ slice, tokens }: TokenEntry) => [slice!.day, tokens.input])).toEqual([
    ['2026-10-31', 800_000],
    ['2026-10-30', 1_200_000],
  ])
  await app.close()
})

test('what slices must not have besides is named, with the difference', async () => {
  const codesOf = (body: unknown) => {
    try {
      readReport(body as TokenEntryReport, NOW)
      return []
    } catch (error) {
      return (error as Problem).more.issues!.map(({ pointer, code }) => `${pointer} ${code}`)
    }
  }
  const slices = [
    cell('2026-10-30T10:00', '', 10, 1, { reported_cost: 0.1, requests: 1 }),
    cell('2026-10-30T11:00', '', 5, 1, { reported_cost: 0.2, requests: 2 }),
  ]
  const good = whole({ slices })
  expect(codesOf({ ...good, tokens: { input: 15, output: 2 }, requests: 3, reported_cost: 0.3 })).toEqual([])
  expect(codesOf({ ...good, session_id: undefined })).toEqual(['/session_id needs_session'])
  expect(
    codesOf({
      ...good,
      tools: { web_search: 1 },
      requests_above: [],
      tokens: { input: 15, output: 2, over_200k: {}, input_audio: 1 },
    }),
  ).toEqual([
    '/requests_above not_allowed',
    '/tools not_allowed',
    '/tokens/over_200k not_allowed',
    '/tokens/input_audio not_allowed',
  ])
  expect(codesOf({ ...good, tokens: { input: 16, output: 2 }, requests: 2, reported_cost: 0.31 })).toEqual([
    '/tokens/input differs_from_slices',
    '/requests differs_from_slices',
    '/reported_cost differs_from_slices',
  ])
  expect(codesOf({ ...good, started_at: '2026-10-30T10:30:00Z', ended_at: '2026-10-30T10:40:00Z' })).toEqual([
    '/slices/0/started_at outside_report',
    '/slices/1/ended_at outside_report',
  ])
  expect(codesOf({ ...good, slices: [slices[0], { ...slices[1], reported_cost: undefined }] })).toEqual([
    '/slices/1/reported_cost incomplete',
  ])
  expect(
    codesOf({
      ...good,
      slices: [
        { ...slices[0], ended_at: '2026-10-30T09:00:00Z' },
        { ...slices[1], project: 'none' },
      ],
    }),
  ).toEqual(['/slices/0/ended_at ends_before_start', '/slices/1/project not_allowed'])
})

test('all slices together may not have more than a whole', () => {
  const codesOf = (change: Partial<SliceReport>, other = change) => {
    const body = whole({
      slices: [cell('2026-10-30T10:00', '', 0, 0, change), cell('2026-10-30T11:00', '', 0, 0, other)],
    })
    expect(issuesOf(reportChecker, body)).toEqual([])
    try {
      readReport(body, NOW)
      return []
    } catch (error) {
      return (error as Problem).more.issues!.map(({ pointer, code }) => `${pointer} ${code}`)
    }
  }
  const tools = (from: number, count: number) => ({
    tools: Object.fromEntries(Array.from({ length: count }, (_, at) => [`tool-${from + at}`, 1])),
  })
  const thresholds = (from: number, count: number) => ({
    requests_above: Array.from({ length: count }, (_, at) => ({ threshold: from + at })),
  })
  expect(codesOf({ reported_cost: 500_000_000, requests: 5e11, active_seconds: 500_000_000 })).toEqual([])
  expect(codesOf({ reported_cost: 500_000_000.01 })).toEqual(['/slices too_large'])
  expect(codesOf({ reported_cost: 1_000_000_000 })).toEqual(['/slices too_large'])
  expect(codesOf({ requests: 1e12 })).toEqual(['/slices too_large'])
  expect(codesOf({ active_seconds: 1_000_000_000 })).toEqual(['/slices too_large'])
  expect(codesOf({ tokens: { input: 1e12, output: 0 } })).toEqual(['/slices too_large'])
  expect(codesOf({ tools: { web_search: 1e12 } })).toEqual(['/slices too_large'])
  expect([codesOf(tools(0, 16)), codesOf(tools(0, 16), tools(16, 1))]).toEqual([[], ['/slices too_many']])
  expect([codesOf(thresholds(1, 32)), codesOf(thresholds(1, 32), thresholds(33, 1))]).toEqual([
    [],
    ['/slices too_many'],
  ])
})

test('of more labels than an entry has, those of the slice come first', () => {
  const named = (name: string) => Object.fromEntries(Array.from({ length: 16 }, (_, at) => [`${name}-${at}`, 'x']))
  const { cells } = readReport(
    whole({
      labels: named('a'),
      slices: [cell('2026-10-30T10:00', '', 1, 0, { labels: { branch: 'x', ...named('z') } })],
    }),
    NOW,
  )
  expect(Object.keys(cells![0]!.labels!)).toHaveLength(16)
  expect(cells![0]!.labels).toMatchObject({ branch: 'x' })
})

test('whatever a field of a slice is, it is named', () => {
  const given = cell('2026-10-30T10:00', 'x', 1, 1, { requests: 1, reported_cost: 1, active_seconds: 1 })
  const fields = [...Object.keys(given), 'requests_above', 'tools', 'project', 'ticket', 'summary'] as const
  const inTokens = ['input', 'cache_read', 'over_200k', 'input_includes_cache', 'input_audio']
  const wrong = [null, 'x', 1.5, -1, true, [], [null], {}, { input: null }]
  const beside = [
    {},
    { tokens: given.tokens },
    { requests: 1.5 },
    { reported_cost: 'x' },
    { active_seconds: 'x' },
    { tokens: null },
  ]
  for (const value of wrong) {
    const slices = [
      ...fields.map((field) => ({ ...given, [field]: value })),
      ...inTokens.map((field) => ({ ...given, tokens: { ...given.tokens, [field]: value } })),
      value,
    ]
    for (const slice of slices) {
      for (const others of beside) {
        const body = { ...whole({ slices: [given] }), slices: [slice, given], ...others }
        expect(issuesOfReport(body, NOW)).toBeArray()
      }
    }
  }
})
