import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { TALLY } from '../../../src/access/actor.ts'
import { newId } from '../../../src/lib/id.ts'
import { startApp, type TestApp } from '../../support/app.ts'
import { reportBody } from '../../support/reports.ts'

/** Fixed, because the end of a report that names none is the present. */
const NOW = Date.parse('2026-11-20T18:00:00Z')
let now = NOW

let app: TestApp
let admin: string
let ada: string
let adaReads: string
const ids: Record<string, string> = {}

/**
 * Of Ada four entries and a duplicate, of Bob one; one of them without a price, one beyond the end of its day, one on a
 * day of its own. Berlin's 19 November begins at 23:00 UTC of the 18th.
 */
beforeAll(async () => {
  app = await startApp({ clock: { now: () => now } })
  await app.services.prices.loadDefaultPrices()
  ada = await app.person('member')
  const bob = await app.person('member')
  admin = await app.token('read', await app.person('admin'))
  adaReads = await app.token('read', ada)
  const tokens = { ada: await app.token('svc', ada), bob: await app.token('svc', bob) }
  const report = async (name: string, who: 'ada' | 'bob', start: string, change: Record<string, unknown>) => {
    const { json } = await app.call('POST /api/v1/token-entries', {
      token: tokens[who],
      json: reportBody({ started_at: `2026-11-${start}:00Z`, ended_at: `2026-11-${start}:30Z`, ...change }),
    })
    ids[name] = json.id
  }
  const work = { project: 'Acme Web', ticket: 'ACME-1', labels: { repository: 'acme/web' } }
  await report('web', 'ada', '18T10:00', { ...work, reported_cost: 2 })
  await report('again', 'ada', '18T10:00', { ...work, reported_cost: 2 })
  await report('late', 'ada', '18T22:30', {
    project: 'acme-api',
    ended_at: '2026-11-18T23:30:00Z',
    tokens: { input: 1_000_000, output: 0, cache_read: 7 },
  })
  await report('berlin', 'ada', '18T23:30', {
    project: 'acme-api',
    agent_name: 'reviewer',
    tokens: { input: 0, output: 200_000 },
    reported_cost: 1.5,
    session_id: 'S-1',
  })
  await report('unpriced', 'ada', '20T12:00', { model: 'house-model', provider: 'us', summary: '=1+1' })
  await report('bobs', 'bob', '20T13:00', { project: 'acme-api', model: 'claude-haiku-4-5', reported_cost: 0 })
})
afterAll(() => app.close())

const ask = async (path: string, token = admin) => (await app.call(`GET /api/v1/reports/${path}`, { token })).json
const usage = (query: string, token = admin) => ask(`usage?starting_at=2026-11-18${query && `&${query}`}`, token)

/** A report in a few words: by bucket, what each group is called, and its entries and cost. */
async function brief(query: string, token = admin) {
  const { data } = await usage(query, token)
  return Object.fromEntries(
    data.map(({ starting_at, results }: { starting_at: string; results: Record<string, unknown>[] }) => [
      starting_at.slice(5, 16),
      results.map(({ entries, cost, ...rest }) => [...Object.values(rest).slice(0, -5), entries, cost]),
    ]),
  )
}

test('use by a label of a name that every object of JavaScript has is that of entries without it', async () => {
  for (const name of ['constructor', '__proto__']) {
    const { json } = await app.call(
      `GET /api/v1/reports/usage?group_by=label:${name}&starting_at=2026-11-01&ending_at=2026-12-01&bucket_width=all`,
      { token: admin },
    )
    const groups = json.data.flatMap((bucket: { results: { labels: unknown }[] }) => bucket.results)
    expect(groups.map(({ labels }: { labels: unknown }) => JSON.stringify(labels))).toEqual([`{"${name}":null}`])
  }
})

describe('a report of use', () => {
  test('answers exact sums by bucket and group', async () => {
    const answer = await usage('group_by=project,model')
    const acme = answer.data[0].results[0]
    expect(answer).toMatchObject({
      starting_at: '2026-11-18T00:00:00.000Z',
      ending_at: '2026-11-20T18:00:00.000Z',
      time_zone: 'UTC',
      currency: 'USD',
      bucket_width: '1d',
      group_by: ['project', 'model'],
      totals: { entries: 6, unpriced_entries: 1, straddling_entries: 0, cost: 6.750000875, reported_cost: 5.5 },
      has_more: false,
      next_page: null,
    })
    expect(answer.data.map(({ starting_at, ending_at }: Record<string, string>) => [starting_at, ending_at])).toEqual([
      ['2026-11-18T00:00:00.000Z', '2026-11-19T00:00:00.000Z'],
      ['2026-11-20T00:00:00.000Z', '2026-11-20T18:00:00.000Z'],
    ])
    expect(answer.data[1].period).toEqual({
      starting_at: '2026-11-20T00:00:00.000Z',
      ending_at: '2026-11-21T00:00:00.000Z',
    })
    expect(acme).toEqual({
      project: { id: expect.stringMatching(/^prj_/), key: expect.any(String), name: 'Acme Web' },
      model: 'gpt-5-codex',
      entries: 2,
      unpriced_entries: 0,
      straddling_entries: 0,
      tokens: { input: 20, output: 10, cache_read: 0, cache_write: 0, cache_write_1h: 0, total: 30 },
      cost: 4,
      list_value: 0.000125,
      reported_cost: 4,
    })
  })

  test('writes every digit of money', async () => {
    const { text } = await app.call('GET /api/v1/reports/usage?starting_at=2026-11-18&bucket_width=all', {
      token: admin,
    })
    expect(text).toContain('"cost":6.750000875')
    expect(text).toContain('"total":1200067')
  })

  test('says null, and not 0, where no cost is known, and 0 where it is', async () => {
    expect(await brief('bucket_width=all&group_by=model')).toEqual({
      '11-18T00:00': [
        ['gpt-5-codex', 4, 6.750000875],
        ['claude-haiku-4-5', 1, 0],
        ['house-model', 1, null],
      ],
    })
  })

  test('counts by the days of the zone, and tells the sessions that go on behind their day', async () => {
    const { time_zone, totals, data } = await usage('time_zone=europe/berlin')
    expect(time_zone).toBe('Europe/Berlin')
    expect(
      data.map(({ starting_at, results: [day] }: { starting_at: string; results: Record<string, number>[] }) => [
        starting_at,
        day!.entries,
        day!.straddling_entries,
      ]),
    ).toEqual([
      ['2026-11-17T23:00:00.000Z', 3, 1],
      ['2026-11-18T23:00:00.000Z', 1, 0],
      ['2026-11-19T23:00:00.000Z', 2, 0],
    ])
    expect(totals.straddling_entries).toBe(0)
    const ended = await usage('time_zone=Europe/Berlin&ending_at=2026-11-19')
    expect([ended.ending_at, ended.totals.entries, ended.totals.straddling_entries]).toEqual([
      '2026-11-18T23:00:00.000Z',
      3,
      1,
    ])
  })

  const widths: [string, string[]][] = [
    ['1h', ['11-18T10:00', '11-18T22:00', '11-18T23:00', '11-20T12:00', '11-20T13:00']],
    ['1d', ['11-18T00:00', '11-20T00:00']],
    ['1w', ['11-18T00:00']],
    ['1mo', ['11-18T00:00']],
    ['1q', ['11-18T00:00']],
    ['1y', ['11-18T00:00']],
    ['all', ['11-18T00:00']],
  ]
  for (const [width, starts] of widths) {
    test(`has buckets of ${width}`, async () => {
      expect(Object.keys(await brief(`bucket_width=${width}`))).toEqual(starts)
    })
  }

  test('has weeks that start as the organization says, or as asked', async () => {
    const weeks = async (more = '') => {
      const { week_start, data } = await usage(`bucket_width=1w${more}`)
      return [week_start, ...data.map(({ period }: { period: { starting_at: string } }) => period.starting_at)]
    }
    expect(await weeks()).toEqual(['monday', '2026-11-16T00:00:00.000Z'])
    await app.services.organization.changeSettings({ weekStart: 'friday' }, TALLY)
    expect(await weeks()).toEqual(['friday', '2026-11-13T00:00:00.000Z', '2026-11-20T00:00:00.000Z'])
    expect(await weeks('&week_start=sunday')).toEqual(['sunday', '2026-11-15T00:00:00.000Z'])
    await app.services.organization.changeSettings({ weekStart: 'monday' }, TALLY)
  })

  test('answers buckets without entries where gaps are asked for', async () => {
    const { data } = await usage('fill_gaps=true')
    expect(data.map(({ results }: { results: unknown[] }) => results.length)).toEqual([1, 0, 1])
  })

  const dimensions: [string, unknown[]][] = [
    ['project', ['Acme Web', 'acme-api', null]],
    ['ticket', ['ACME-1', null]],
    ['client', [null]],
    ['agent_manager', ['Person 1', 'Person 2']],
    ['agent_name', ['builder', 'reviewer']],
    ['agent_harness', ['codex']],
    ['provider', [null, 'us']],
    ['model', ['gpt-5-codex', 'claude-haiku-4-5', 'house-model']],
    ['status', ['submitted']],
    ['source', ['report']],
    ['label:repository', ['acme/web', null]],
  ]
  for (const [dimension, expected] of dimensions) {
    test(`groups by ${dimension}, the dearest first`, async () => {
      const { data } = await usage(`bucket_width=all&group_by=${dimension}`)
      const [name, label] = dimension.split(':')
      expect(
        // biome-ignore lint/suspicious/noExplicitAny: as the JSON answers it
        data[0].results.map((result: Record<string, any>) => {
          const key = label ? result.labels[label] : result[name!]
          return key?.name ?? key?.key ?? key
        }),
      ).toEqual(expected)
      expect(Object.keys(data[0].results[0])).toHaveLength(8)
    })
  }

  const filters: [string, number][] = [
    ['starting_at=2026-11-18T23:30:00Z', 3],
    ['ending_at=2026-11-20', 4],
    ['ended_after=2026-11-20T12:30:00Z', 1],
    ['project=acme-api', 3],
    ['ticket=ACME-1', 2],
    ['agent_name=reviewer', 1],
    ['agent_harness=codex', 6],
    ['model=house-model,claude-haiku-4-5', 2],
    ['provider=us', 1],
    ['status=submitted', 6],
    ['status=draft', 0],
    ['source=report', 6],
    ['session_id=S-1', 1],
    ['label=repository:acme/web', 2],
    ['placed=none', 1],
    ['priced=false', 1],
    ['possible_duplicate=true', 1],
    ['client=none', 5],
    ['has_client=false', 6],
    ['has_client=true', 0],
    ['project=none', 1],
    ['billable=false', 0],
    ['superseded=true', 0],
    ['bill=none', 6],
    ['q=1', 1],
  ]
  for (const [filter, expected] of filters) {
    test(`is of ${filter}`, async () => {
      const { totals } = await ask(
        `usage?${filter.startsWith('starting_at') ? '' : 'starting_at=2026-11-18&'}${filter}&bucket_width=all`,
      )
      expect(totals.entries).toBe(expected)
    })
  }

  test('leaves drafts and waiting sheets out unless they are asked for', async () => {
    const { db } = app.services
    const { entries, sheets } = db.read.tables
    const [like] = await db.read
      .select()
      .from(entries)
      .where(eq(entries.uid, ids.bobs as never))
    const { id, ...entry } = like!
    const draft = await db.write(async (tx) => {
      const [sheet] = await tx
        .insert(sheets)
        .values({
          uid: newId('sht'),
          managerId: entry.managerId,
          firstDay: '2026-11-20',
          lastDay: '2026-11-20',
          startingAt: entry.startedAt - 1,
          endingAt: entry.startedAt + 1,
          status: 'open',
          createdAt: NOW,
        } as never)
        .returning()
      const made = { ...entry, uid: newId('ent'), source: 'sheet', status: 'draft', sheetId: sheet!.id } as const
      const [row] = await tx.insert(entries).values(made).returning()
      return row!.id
    })
    const counts = async (query: string) => (await usage(query)).totals.entries
    expect([await counts(''), await counts('status=draft'), await counts('status=draft,submitted')]).toEqual([6, 1, 7])
    const { data } = await ask('completeness?starting_at=2026-11-18')
    const onSheets = data.find(({ check }: { check: string }) => check === 'on_sheets')
    expect([data[0].entries, onSheets.entries]).toEqual([6, 1])
    const listed = await app.call(`GET ${onSheets.list}`, { token: admin })
    expect(listed.json.data.map(({ status }: { status: string }) => status)).toEqual(['draft'])
    await db.write(async (tx) => void (await tx.delete(entries).where(eq(entries.id, draft))))
  })

  const issues: [string, string][] = [
    ['', '/query/starting_at'],
    ['starting_at=yesterday', '/query/starting_at'],
    ['starting_at=2026-11-18T00:00:00', '/query/starting_at'],
    ['starting_at=2026-11-21', '/query/starting_at'],
    ['starting_at=2026-11-18&ending_at=soon', '/query/ending_at'],
    ['starting_at=2026-11-18&ending_at=2026-11-18', '/query/ending_at'],
    ['starting_at=2026-11-18&bucket_width=2y', '/query/bucket_width'],
    ['starting_at=2026-11-18&bucket_width=1w&week_start=someday', '/query/week_start'],
    ['starting_at=2024-11-18&bucket_width=1h', '/query/bucket_width'],
    ['starting_at=2026-11-18&time_zone=Mars/Base', '/query/time_zone'],
    ['starting_at=2026-11-18&time_zone=%2B01:00', '/query/time_zone'],
    ['starting_at=2026-11-18&group_by=modell', '/query/group_by'],
    ['starting_at=2026-11-18&group_by=label:', '/query/group_by'],
    ['starting_at=2026-11-18&group_by=model,model', '/query/group_by'],
    ['starting_at=2026-11-18&group_by=model,project,ticket,client', '/query/group_by'],
    ['starting_at=2026-11-18&fill_gaps=yes', '/query/fill_gaps'],
    ['starting_at=2026-11-18&limit=0', '/query/limit'],
    ['starting_at=2026-11-18&limit=1001', '/query/limit'],
    ['starting_at=2026-11-18&page=zzz', '/query/page'],
    ['starting_at=2026-11-18&format=xml', '/query/format'],
    ['starting_at=2026-11-18&status=open', '/query/status'],
    ['starting_at=2026-11-18&label=repository', '/query/label'],
    ['starting_at=2026-11-18&modell=x', '/query/modell'],
  ]
  for (const [query, pointer] of issues) {
    test(`is refused for '${query}'`, async () => {
      const { status, json } = await app.call(`GET /api/v1/reports/usage?${query}`, { token: admin })
      expect([status, json.errors.map((issue: { pointer: string }) => issue.pointer)]).toEqual([422, [pointer]])
    })
  }

  test('reports all issues at once', async () => {
    const { json } = await app.call(
      'GET /api/v1/reports/usage?bucket_width=2y&week_start=x&group_by=x&time_zone=x&limit=0',
      {
        token: admin,
      },
    )
    expect(json.errors.map(({ pointer }: { pointer: string }) => pointer).sort()).toEqual(
      ['bucket_width', 'group_by', 'limit', 'starting_at', 'time_zone', 'week_start'].map((name) => `/query/${name}`),
    )
  })
})

describe('pages of a report', () => {
  /** Every page of a question, each asked for with the same words. */
  async function pages(query: string, limit: number) {
    const answers = []
    for (let page = ''; answers.length < 200; ) {
      const answer = await usage(`${query}&limit=${limit}${page}`)
      answers.push(answer)
      if (!answer.has_more) return answers
      page = `&page=${answer.next_page}`
    }
    throw new Error('The pages do not end.')
  }

  const questions: [string, number][] = [
    ['bucket_width=1h&group_by=project,agent_name', 7],
    ['bucket_width=1h&fill_gaps=true&time_zone=Asia/Kathmandu', 10],
    ['bucket_width=1d&time_zone=Europe/Berlin&group_by=label:repository', 1],
    ['bucket_width=1w&group_by=model', 1],
  ]
  for (const [query, limit] of questions) {
    test(`of ${query} are together the whole answer, and each has its totals`, async () => {
      const whole = await usage(query)
      const parts = await pages(query, limit)
      expect(parts.flatMap(({ data }) => data)).toEqual(whole.data)
      for (const { totals } of parts) expect(totals).toEqual(whole.totals)
    })
  }

  test('of an answer that reaches to the present reach to the same present', async () => {
    const first = await usage('limit=1')
    now += 3_600_000
    const next = await usage(`limit=1&page=${first.next_page}`)
    now = NOW
    expect([first.ending_at, next.ending_at]).toEqual(['2026-11-20T18:00:00.000Z', '2026-11-20T18:00:00.000Z'])
  })

  test('belong to the question that they were answered to', async () => {
    const { next_page } = await usage('limit=1')
    const status = async (query: string) =>
      (await app.call(`GET /api/v1/reports/usage?${query}&page=${next_page}`, { token: admin })).status
    expect(await status('starting_at=2026-11-18&limit=1')).toBe(200)
    for (const other of [
      'starting_at=2026-11-20',
      'starting_at=2026-11-18&ending_at=2026-11-20',
      'starting_at=2026-11-18&time_zone=Europe/Berlin',
      'starting_at=2026-11-18&bucket_width=all',
    ]) {
      expect([other, await status(other)]).toEqual([other, 422])
    }
  })
})

describe('a report as CSV', () => {
  test('has the rows of the JSON, all pages at once', async () => {
    const question = 'bucket_width=1h&group_by=project,label:repository&fill_gaps=true'
    const { data } = await usage(question)
    const { text, headers } = await app.call(
      `GET /api/v1/reports/usage?starting_at=2026-11-18&limit=5&${question}&format=csv`,
      { token: admin },
    )
    expect(headers.get('content-type')).toContain('text/csv')
    const [heading, ...lines] = text.trimEnd().split('\r\n')
    expect(heading).toBe(
      'starting_at,ending_at,project,project_id,label:repository,entries,unpriced_entries,straddling_entries,input,output,cache_read,cache_write,cache_write_1h,total,cost,list_value,reported_cost',
    )
    // biome-ignore lint/suspicious/noExplicitAny: as the JSON answers it
    const expected = data.flatMap((bucket: any) =>
      // biome-ignore lint/suspicious/noExplicitAny: as the JSON answers it
      (bucket.results.length > 0 ? bucket.results : [undefined]).map((result: any) =>
        [
          bucket.starting_at,
          bucket.ending_at,
          result?.project?.key ?? '',
          result?.project?.id ?? '',
          result?.labels.repository ?? '',
          ...['entries', 'unpriced_entries', 'straddling_entries'].map((name) => result?.[name] ?? 0),
          ...['input', 'output', 'cache_read', 'cache_write', 'cache_write_1h', 'total'].map(
            (name) => result?.tokens[name] ?? 0,
          ),
          ...['cost', 'list_value', 'reported_cost'].map((name) => result?.[name] ?? ''),
        ].join(','),
      ),
    )
    expect(lines).toEqual(expected)
  })

  for (const path of [
    'usage?starting_at=2026-11-18',
    'unpriced?',
    'variance?starting_at=2026-11-18',
    'completeness?starting_at=2026-11-18',
  ]) {
    test(`is answered to who accepts it: ${path}`, async () => {
      const url = `GET /api/v1/reports/${path}`
      const accepted = await app.call(url, { token: admin, headers: { accept: 'text/csv' } })
      expect(accepted.text).toBe((await app.call(`${url}&format=csv`, { token: admin })).text)
      expect(accepted.text.trimEnd().split('\r\n').length).toBeGreaterThan(1)
    })
  }
})

test('models without a price say how much waits on them, why, and lead to their entries', async () => {
  const { data, has_more, next_page } = await ask('unpriced')
  expect({ data, has_more, next_page }).toEqual({
    data: [
      {
        model: 'house-model',
        provider: 'us',
        entries: 1,
        tokens: { input: 10, output: 5, cache_read: 0, cache_write: 0, cache_write_1h: 0, total: 15 },
        first_at: '2026-11-20T12:00:00.000Z',
        last_at: '2026-11-20T12:00:00.000Z',
        explanation: '/api/v1/prices/resolve?model=house-model&provider=us&at=2026-11-20T12%3A00%3A00.000Z',
        list: expect.any(String),
      },
    ],
    has_more: false,
    next_page: null,
  })
  expect((await app.call(`GET ${data[0].explanation}`, { token: admin })).json.step).toBe(8)
  const listed = await app.call(`GET ${data[0].list}`, { token: admin })
  expect(listed.json.data.map(({ id }: { id: string }) => id)).toEqual([ids.unpriced])
  expect((await ask('unpriced?ending_at=2026-11-20')).data).toEqual([])
  expect((await ask('unpriced?time_zone=Asia/Tokyo&ending_at=2026-11-21')).data).toHaveLength(1)
  expect((await ask('unpriced?status=draft')).data).toEqual([])
})

describe('the variance', () => {
  test('compares what was reported with the list value, the largest difference first', async () => {
    const { totals, data } = await ask('variance?starting_at=2026-11-18')
    expect(data.map(Object.values)).toEqual([
      ['gpt-5-codex', 'builder', 2, 4, 0.000125, 3.999875, 32000],
      ['gpt-5-codex', 'reviewer', 1, 1.5, 2, -0.5, 0.75],
      ['claude-haiku-4-5', 'builder', 1, 0, 0.000035, -0.000035, 0],
    ])
    expect(totals).toEqual({
      entries: 6,
      compared_entries: 4,
      reported_cost: 5.5,
      list_value: 2.00016,
      difference: 3.49984,
      ratio: 2.74978,
    })
  })

  test('has pages that are together the whole', async () => {
    const { data } = await ask('variance?starting_at=2026-11-18')
    const seen = []
    for (let page = ''; ; ) {
      const answer = await ask(`variance?starting_at=2026-11-18&limit=1${page}`)
      seen.push(...answer.data)
      if (!answer.has_more) break
      page = `&page=${answer.next_page}`
    }
    expect(seen).toEqual(data)
  })

  test('of nothing is unknown, not 0', async () => {
    const { totals, data } = await ask('variance?starting_at=2026-11-18&model=house-model')
    expect([totals, data]).toEqual([
      { entries: 1, compared_entries: 0, reported_cost: null, list_value: null, difference: null, ratio: null },
      [],
    ])
  })

  test('wants to know since when', async () => {
    const { status, json } = await app.call('GET /api/v1/reports/variance', { token: admin })
    expect([status, json.errors[0].pointer]).toEqual([422, '/query/starting_at'])
  })
})

describe('the completeness of a period', () => {
  const found = async (query: string, token = admin) =>
    Object.fromEntries(
      (await ask(`completeness?${query}`, token)).data.map(({ check, entries, cost }: Record<string, unknown>) => [
        check,
        [entries, cost],
      ]),
    )

  test('counts what is still to be done, with its money', async () => {
    expect(await found('starting_at=2026-11-18')).toEqual({
      all: [6, 6.750000875],
      held: [0, null],
      discarded: [0, null],
      voided: [0, null],
      unplaced: [1, null],
      without_client: [5, 6.750000875],
      without_project: [0, null],
      unpriced: [1, null],
      cost_mismatches: [2, 4],
      possible_duplicates: [1, 2],
      unapproved: [6, 6.750000875],
      unbilled: [6, 6.750000875],
      not_billable: [0, null],
      rejected: [0, null],
      on_sheets: [0, null],
      reaching_in: [0, null],
      reaching_out: [0, null],
    })
  })

  test('counts what is of unknown funding once a plan or rule says what pays', async () => {
    const session = await app.session('admin')
    const rule = { name: 'Builder', conditions: [{ field: 'agent_name', matches: 'builder' }], funding: 'metered' }
    const added = await app.call('POST /api/v1/funding-rules', { session, json: rule })
    expect(added.status).toBe(201)
    await app.services.entries.funding.decideOwed()
    const { data } = await ask('completeness?starting_at=2026-11-18')
    const { list, ...unfunded } = data.find(({ check }: { check: string }) => check === 'unfunded')
    const listed = await app.call(`GET ${list}`, { session })
    expect(unfunded.entries).toBe(listed.json.data.length)
    expect(listed.json.data.map((entry: { agent_name: string }) => entry.agent_name)).toEqual(['reviewer'])
    await app.call(`DELETE /api/v1/funding-rules/${added.json.id}`, { session })
    await app.services.entries.funding.decideOwed()
    expect(
      (await ask('completeness?starting_at=2026-11-18')).data.map(({ check }: { check: string }) => check),
    ).not.toContain('unfunded')
  })

  test('counts what can still be billed apart from projects that are never billed, as their lists do', async () => {
    const project = await app.call('POST /api/v1/projects', {
      session: await app.session('admin'),
      json: { key: 'internal', name: 'Internal', billable: false },
    })
    expect(project.status).toBe(201)
    const json = {
      agent_harness: 'codex',
      agent_name: 'internal',
      model: 'm',
      started_at: '2026-09-05T10:00:00Z',
      ended_at: '2026-09-05T11:00:00Z',
      tokens: { input: 1, output: 1 },
    }
    const token = await app.token('svc')
    for (const body of [
      { ...json, project: 'internal', reported_cost: 2 },
      { ...json, reported_cost: 0.5 },
    ])
      expect((await app.call('POST /api/v1/token-entries', { token, json: body })).status).toBe(201)
    const { data } = await ask('completeness?starting_at=2026-09-05&ending_at=2026-09-06', admin)
    for (const [name, entries, cost] of [
      ['unbilled', 1, 0.5],
      ['not_billable', 1, 2],
    ]) {
      const check = data.find(({ check }: { check: string }) => check === name)
      expect(check).toMatchObject({ entries, cost })
      const listed = await app.call(`GET ${check.list}` as 'GET /api/v1/token-entries', { token: admin })
      expect(listed.json.data.map((entry: { cost: number }) => entry.cost)).toEqual([cost])
    }
  })

  test('finds the sessions that its ends cut', async () => {
    expect(await found('starting_at=2026-11-18&ending_at=2026-11-19&time_zone=Europe/Berlin')).toMatchObject({
      all: [3, 5.250000875],
      reaching_in: [0, null],
      reaching_out: [1, 1.250000875],
    })
    expect(await found('starting_at=2026-11-19&time_zone=Europe/Berlin')).toMatchObject({
      all: [3, 1.5],
      reaching_in: [1, 1.250000875],
      reaching_out: [0, null],
    })
  })

  test('lists exactly what it counted', async () => {
    for (const query of [
      'starting_at=2026-11-18',
      'starting_at=2026-11-19&time_zone=Europe/Berlin&agent_name=builder',
      'starting_at=2026-11-18&ending_at=2026-11-19&time_zone=Europe/Berlin&project=acme-api',
      'starting_at=2026-11-18&session_id=S-1',
    ]) {
      const { data } = await ask(`completeness?${query}`)
      for (const { check, entries, list } of data) {
        const { json } = await app.call(`GET ${list}`, { token: admin })
        expect([query, check, json.data.length]).toEqual([query, check, entries])
      }
    }
  })

  test('leaves what a check asks for to the check', async () => {
    const { status } = await app.call('GET /api/v1/reports/completeness?starting_at=2026-11-18&status=billed', {
      token: admin,
    })
    expect(status).toBe(422)
  })
})

test('sums that no 64 bits hold are exact', async () => {
  const token = await app.token('svc', ada)
  for (let index = 0; index < 12; index += 1) {
    await app.call('POST /api/v1/token-entries', {
      token,
      json: {
        agent_harness: 'codex',
        agent_name: 'giant',
        model: index < 11 ? 'gpt-5-codex' : 'house-giant',
        started_at: `2026-10-${10 + index}T10:00:00Z`,
        ended_at: `2026-10-${10 + index}T11:00:00Z`,
        tokens: { input: 1_000_000_000_000, output: 1_000_000_000_000 },
        ...(index < 11 ? { reported_cost: 1_000_000_000 } : {}),
      },
    })
  }
  const text = async (path: string) =>
    (await app.call(`GET /api/v1/reports/${path}starting_at=2026-10-01&ending_at=2026-11-01`, { token: admin })).text
  expect(await text('usage?bucket_width=all&')).toContain('"cost":11000000000,')
  expect(await text('variance?')).toContain('"reported_cost":11000000000,"list_value":123750000,')
  expect(await text('completeness?')).toContain('"check":"all","entries":12,"unpriced_entries":1,"cost":11000000000,')
  expect(await text('unpriced?')).toContain('"total":2000000000000')
})

describe('whoever asks', () => {
  const counts = async (token: string) => [
    (await usage('', token)).totals.entries,
    (await ask('unpriced?starting_at=2026-11-18', token)).data.length,
    (await ask('variance?starting_at=2026-11-18', token)).totals.entries,
    (await ask('completeness?starting_at=2026-11-18', token)).data[0].entries,
  ]

  test('receives what their role can see at the time of the request', async () => {
    const bobReads = await app.token('read', await emailOf('Person 2'))
    expect([await counts(admin), await counts(adaReads), await counts(bobReads)]).toEqual([
      [6, 1, 6, 6],
      [5, 1, 5, 5],
      [1, 0, 1, 1],
    ])
    await lead(true)
    expect(await counts(bobReads)).toEqual([3, 0, 3, 3])
    await lead(false)
    const billing = await app.token('read', await app.person('billing'))
    expect(await counts(billing)).toEqual([6, 1, 6, 6])
  })

  async function emailOf(name: string): Promise<string> {
    const { users } = app.services.db.read.tables
    const [user] = await app.services.db.read.select().from(users).where(eq(users.name, name))
    return user!.email
  }

  /** Bob leads acme-api, or does no longer. */
  async function lead(does: boolean) {
    const { db } = app.services
    const { entries, users, projectLeads } = db.read.tables
    const [entry] = await db.read
      .select()
      .from(entries)
      .where(eq(entries.uid, ids.bobs as never))
    const [bob] = await db.read.select().from(users).where(eq(users.name, 'Person 2'))
    await db.write(async (tx) => {
      if (does) await tx.insert(projectLeads).values({ projectId: entry!.projectId!, userId: bob!.id })
      else await tx.delete(projectLeads).where(eq(projectLeads.userId, bob!.id))
    })
  }

  test('needs a read token or a session', async () => {
    for (const path of ['usage', 'unpriced', 'variance', 'completeness']) {
      for (const kind of ['svc', 'org'] as const) {
        const { status } = await app.call(`GET /api/v1/reports/${path}`, { token: await app.token(kind) })
        expect([path, kind, status]).toEqual([path, kind, 403])
      }
      expect((await app.call(`GET /api/v1/reports/${path}`)).status).toBe(401)
      const session = await app.session('member')
      const { status } = await app.call(`GET /api/v1/reports/${path}?starting_at=2026-11-18`, { session })
      expect([path, status]).toEqual([path, 200])
    }
  })
})

test('how far the sums of days are made can be asked for', async () => {
  const { json } = await app.call('GET /api/v1/reports/sums', { token: admin })
  expect(json).toMatchObject({ days_made: 0, percent: 0, complete: false })
  const { rollup } = app.services.reports
  while ((await rollup.step()) !== 'idle');
  const made = await app.call('GET /api/v1/reports/sums', { token: admin })
  expect(made.json).toMatchObject({ time_zone: json.time_zone, percent: 100, complete: true })
})
