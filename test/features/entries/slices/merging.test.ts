import { expect, test } from 'bun:test'
import { TALLY } from '../../../../src/access/actor.ts'
import type { CallerOf } from '../../../../src/access/caller.ts'
import { EVERYTHING } from '../../../../src/access/visibility.ts'
import type { Database } from '../../../../src/database/database.ts'
import { SESSION_SOURCES, type SessionSource } from '../../../../src/database/schema/values.ts'
import { readListQuery } from '../../../../src/features/entries/listing/query.ts'
import { readReport } from '../../../../src/features/entries/reporting/report.ts'
import type { SliceReport, TokenEntry, TokenEntryReport } from '../../../../src/features/entries/schema.ts'
import { Random } from '../../../../src/lib/random.ts'
import { createServices } from '../../../../src/services.ts'
import { forEachEngine } from '../../../support/databases.ts'
import { OPERATOR } from '../../../support/reports.ts'
import { runs } from '../../../support/tier.ts'

const NOW = Date.UTC(2026, 10, 20, 19, 30)

interface Statement extends Partial<TokenEntryReport> {
  source: SessionSource
}

async function stage(db: Database, timeZone = 'UTC') {
  const services = createServices({ db, clock: { now: () => NOW } })
  const { people, prices, organization, placement, projects, entries } = services
  await organization.changeSettings({ timeZone }, TALLY)
  for (const model of ['opus', 'haiku']) {
    await prices.setPrice({ model, input: 3, output: 15, only: true, force: true } as never, TALLY)
  }
  for (const key of ['ONE', 'TWO']) await projects.addProject(OPERATOR, { key, name: key })
  for (const [branch, project] of [
    ['A-1', 'ONE'],
    ['A-2', 'TWO'],
  ]) {
    await placement.addRule(TALLY, {
      name: branch,
      conditions: [{ field: 'labels.branch', matches: branch }],
      project,
    } as never)
  }
  await people.addUser({ email: 'ada@example.com', name: 'Ada', role: 'member' }, TALLY)
  const { secret } = await people.createToken({ kind: 'svc', user: 'ada@example.com', name: 'test' }, TALLY)
  const ada = (await people.authenticate(`Bearer ${secret}`)) as CallerOf<'service'>

  return {
    services,
    ada,
    say: (session_id: string, { source, ...body }: Statement) =>
      entries.reporting.recordFrom(source, readReport({ ...whole(body), session_id }, NOW), ada),
    async shown(session: string): Promise<Partial<TokenEntry>[]> {
      const { data } = await entries.listing.listEntries(EVERYTHING, readListQuery({ session_id: [session] }, 'UTC'))
      return data
        .filter(({ superseded }) => !superseded)
        .map(({ id, session_id, part, continues, created_at, updated_at, possible_duplicate_of, ...entry }) => entry)
        .sort((one, other) => (text(one) < text(other) ? -1 : 1))
    },
  }
}

function text({ model, slice, labels, started_at }: Partial<TokenEntry>): string {
  return JSON.stringify([model, slice?.day, labels, started_at])
}

function cell(at: string, branch: string, input: number, change: Partial<SliceReport> = {}): SliceReport {
  const labels = branch === '' ? {} : { labels: { branch } }
  return { started_at: `${at}:00Z`, ended_at: `${at}:59Z`, tokens: { input, output: 1 }, ...labels, ...change }
}

function whole(body: Partial<TokenEntryReport>): TokenEntryReport {
  const starts = body.slices?.map(({ started_at }) => started_at).sort() ?? []
  const ends = body.slices?.map(({ ended_at }) => ended_at).sort() ?? []
  return {
    ...{ agent_harness: 'claude-code', agent_name: 'claude-code', model: 'opus', session_id: 's-1' },
    ...{ started_at: starts[0] ?? '2026-10-30T10:00:00Z', ended_at: ends.at(-1) ?? '2026-10-30T11:00:00Z' },
    ...body,
  }
}

function* permutationsOf<Item>(items: readonly Item[]): Generator<Item[]> {
  if (items.length === 0) yield []
  for (const [position, item] of items.entries()) {
    for (const others of permutationsOf(items.toSpliced(position, 1))) yield [item, ...others]
  }
}

const FILE = [cell('2026-10-30T10:00', 'A-1', 600), cell('2026-10-30T11:00', 'A-2', 400)]
const shownBriefly = (entries: Partial<TokenEntry>[]) =>
  entries.map(({ slice, labels, tokens, project }) => [
    slice?.day.slice(5) ?? 'whole',
    labels!.branch ?? '',
    tokens!.input,
    project?.key,
    ...(slice?.estimated ? ['estimated'] : []),
  ])

forEachEngine('a session with slices from several sources', (open) => {
  test('has the figures of the source that counts at the places of the one that names them', async () => {
    const { say, shown } = await stage(await open())
    const cases: [string, Statement, unknown[]][] = [
      [
        'more',
        { source: 'log', slices: [cell('2026-10-30T11:00', '', 1_100, { tokens: { input: 1_100, output: 9 } })] },
        [
          ['10-30', 'A-1', 600, 'ONE'],
          ['10-30', 'A-2', 500, 'TWO', 'estimated'],
        ],
      ],
      [
        'less',
        { source: 'log', slices: [cell('2026-10-30T11:00', '', 900, { tokens: { input: 900, output: 9 } })] },
        [
          ['10-30', 'A-1', 540, 'ONE', 'estimated'],
          ['10-30', 'A-2', 360, 'TWO', 'estimated'],
        ],
      ],
      [
        'as a whole',
        { source: 'metric', ended_at: '2026-11-20T10:00:00Z', tokens: { input: 1_700, output: 9 } },
        [
          ['10-30', 'A-1', 600, 'ONE'],
          ['10-30', 'A-2', 400, 'TWO'],
          ['11-20', 'A-2', 700, 'TWO', 'estimated'],
        ],
      ],
    ]
    for (const [name, other, expected] of cases) {
      for (const [position, statements] of [
        ...permutationsOf([{ source: 'report', slices: FILE } as Statement, other]),
      ].entries()) {
        for (const statement of statements) await say(`${name} ${position}`, statement)
        expect([name, position, shownBriefly(await shown(`${name} ${position}`))]).toEqual([
          name,
          position,
          expected,
        ] as never)
      }
    }
  })

  test('keeps its branches if the source that counts names only a project, which is then that of all', async () => {
    const { say, shown } = await stage(await open())
    const log: Statement = {
      source: 'log',
      project: 'TWO',
      slices: [
        cell('2026-10-30T09:00', '', 100),
        cell('2026-10-30T11:00', '', 1_000, { project: 'TWO', tokens: { input: 1_000, output: 9 } }),
      ],
    }
    const file: Statement = { source: 'report', slices: FILE }
    for (const [position, order] of [...permutationsOf([file, log])].entries()) {
      for (const statement of order) await say(`s-${position}`, statement)
      expect(shownBriefly(await shown(`s-${position}`))).toEqual([
        ['10-30', 'A-1', 600, 'TWO'],
        ['10-30', 'A-2', 500, 'TWO', 'estimated'],
      ])
    }
  })

  test('has no reported cost that nobody has reported, also where a slice has moved before', async () => {
    const { say, shown } = await stage(await open())
    await say('s-1', { source: 'report', slices: [cell('2026-10-30T10:00', 'A-1', 600)] })
    await say('s-1', { source: 'report', slices: [cell('2026-10-30T11:00', 'A-2', 700)] })
    await say('s-1', { source: 'log', slices: [cell('2026-10-30T11:00', '', 600)] })
    expect(await shown('s-1')).toMatchObject([{ tokens: { input: 700 }, reported_cost: null, requests: null }])
  })

  test('has the tools that its slices list, also where another source has used as many tokens elsewhere', async () => {
    const { say, shown } = await stage(await open())
    await say('s-1', {
      source: 'log',
      slices: [cell('2026-10-30T10:00', '', 7, { tools: { search: 2 } })],
    })
    await say('s-1', {
      source: 'report',
      slices: [cell('2026-10-30T10:00', 'A-1', 9, { tools: { search: 2 } }), cell('2026-10-30T11:00', '', 7)],
    })
    expect((await shown('s-1')).map(({ tools }) => tools)).toEqual([{ search: 2 }, null])
  })

  test('has the tools that only the later report of an older client lists', async () => {
    const { say, shown } = await stage(await open())
    await say('s-1', { source: 'report', slices: [cell('2026-10-30T10:00', 'A-1', 10)] })
    const later = { ended_at: '2026-10-31T10:00:00Z', tokens: { input: 10, output: 1 }, tools: { search: 2 } }
    await say('s-1', { source: 'report', ...later })
    expect((await shown('s-1')).map(({ tools }) => tools)).toEqual([null, { search: 2 }])
  })

  test('divides a cost that is only known of the whole by list value, unless a part is approved', async () => {
    const { say, shown, services } = await stage(await open())
    const cost: Statement = {
      ...{ source: 'metric', ended_at: '2026-10-30T11:00:59Z', tokens: { input: 1_000, output: 2 } },
      reported_cost: 1.01,
    }
    for (const approves of [false, true]) {
      const session = `s-${approves}`
      const { entry } = await say(session, { source: 'report', slices: FILE })
      if (approves) await services.entries.approval.decideEntry(entry.entry.uid, { action: 'approve' }, OPERATOR)
      await say(session, cost)
      const costs = (await shown(session)).map(({ reported_cost }) => JSON.stringify(reported_cost))
      expect(costs).toEqual(approves ? ['null', 'null'] : ['0.605', '0.405'])
    }
  })

  test('has what its slices name, and of two statements with slices the later one, else always the same', async () => {
    const { say, shown } = await stage(await open())
    const named = (at: string, project: string) => cell(at, '', 100, { project })
    const cases: [Statement[], unknown[]][] = [
      [
        [{ source: 'report', slices: [named('2026-10-30T10:00', 'ONE'), named('2026-10-31T10:00', 'TWO')] }],
        [
          ['10-30', 'A-2', 100, 'ONE'],
          ['10-31', 'A-2', 100, 'TWO'],
        ],
      ],
      [
        [{ source: 'report', slices: [cell('2026-10-30T10:00', 'A-1', 600), cell('2026-10-30T11:00', '', 400)] }],
        [
          ['10-30', 'A-1', 600, 'ONE'],
          ['10-30', '', 400, undefined],
        ],
      ],
      [
        [
          { source: 'report', slices: FILE },
          { source: 'report', slices: [...FILE, cell('2026-10-31T10:00', 'A-1', 50)] },
        ],
        [
          ['10-30', 'A-1', 600, 'ONE'],
          ['10-30', 'A-2', 400, 'TWO'],
          ['10-31', 'A-1', 50, 'ONE'],
        ],
      ],
      [
        [
          { source: 'report', slices: FILE },
          { source: 'report', slices: [cell('2026-10-30T10:00', 'A-1', 500), cell('2026-10-30T11:00', 'A-2', 500)] },
        ],
        [
          ['10-30', 'A-1', 600, 'ONE'],
          ['10-30', 'A-2', 400, 'TWO'],
        ],
      ],
    ]
    const log: Statement = { source: 'log', tokens: { input: 1, output: 1 }, labels: { branch: 'A-2' } }
    for (const [number, [statements, expected]] of cases.entries()) {
      for (const [position, order] of [...permutationsOf([...statements, log])].entries()) {
        const session = `n-${number}-${position}`
        for (const statement of order) await say(session, statement)
        expect([session, shownBriefly(await shown(session))]).toEqual([session, expected] as never)
      }
    }
  })

  test('has the places of the source that names branches, not of one before it that names only projects', async () => {
    const { say, shown } = await stage(await open())
    const statements: Statement[] = [
      { source: 'report', slices: [cell('2026-10-30T10:00', '', 1_000, { project: 'TWO' })] },
      { source: 'log', slices: FILE },
      { source: 'span', slices: [cell('2026-10-30T11:00', '', 1_100, { tokens: { input: 1_100, output: 9 } })] },
    ]
    for (const [position, order] of [...permutationsOf(statements)].entries()) {
      for (const statement of order) await say(`p-${position}`, statement)
      expect(shownBriefly(await shown(`p-${position}`))).toEqual([
        ['10-30', 'A-1', 600, 'TWO'],
        ['10-30', 'A-2', 500, 'TWO', 'estimated'],
      ])
    }
  })

  test('has no slices of a source that withdraws them, and those of the others', async () => {
    const { say, shown, services, ada } = await stage(await open())
    const log = whole({ slices: [cell('2026-10-31T10:00', 'A-2', 2_000, { tokens: { input: 2_000, output: 9 } })] })
    await say('w', { source: 'report', slices: FILE })
    await say('w', { source: 'log', ...log })
    expect(shownBriefly(await shown('w'))).toEqual([['10-31', 'A-2', 2_000, 'TWO']])
    const totals = whole({ ...log, slices: undefined as never, tokens: { input: 2_000, output: 9 } })
    const withdrawn = { ...readReport({ ...totals, session_id: 'w' }, NOW), cells: null }
    await services.entries.reporting.recordFrom('log', withdrawn, ada)
    expect((await shown('w')).map(({ slice, labels, tokens }) => [slice?.day, labels!.branch, tokens!.input])).toEqual([
      ['2026-10-30', 'A-1', 600],
      ['2026-10-30', 'A-2', 400],
      ['2026-10-31', 'A-2', 1_000],
    ])
  })

  test('has at most 2,000 slices of all sources and models', async () => {
    const db = await open()
    const { say, services } = await stage(db)
    const branches = Array.from({ length: 400 }, (_, at) => cell('2026-10-30T10:00', `b-${at}`, 1))
    for (const model of ['m-1', 'm-2', 'm-3', 'm-4', 'm-5'])
      await say('l', { source: 'report', model, slices: branches })
    const stored = () => db.read.select().from(db.read.tables.entries).orderBy(db.read.tables.entries.id)
    const before = await stored()
    expect(before).toHaveLength(2_000)
    const log: Statement = { source: 'log', model: 'm-1', slices: [cell('2026-10-30T10:00', 'b-0', 1)] }
    await expect(say('l', log)).rejects.toMatchObject({ code: 'session_too_large' })
    expect(await stored()).toEqual(before)
    await say('l', { source: 'log', model: 'm-1', tokens: { input: 1, output: 1 } })
    await say('l', { source: 'report', model: 'm-5', slices: branches })
    expect(await stored()).toHaveLength(2_000)
    expect(await services.entries.verify()).toEqual([])
  })

  test('goes on with an older client, in any order', async () => {
    const { say, shown } = await stage(await open())
    const statements: Statement[] = [
      { source: 'report', slices: [cell('2026-10-30T10:00', 'A-1', 1_000), cell('2026-10-31T10:00', 'A-1', 500)] },
      {
        source: 'report',
        ended_at: '2026-11-20T10:00:00Z',
        tokens: { input: 1_700, output: 2 },
        labels: { branch: 'A-2' },
      },
    ]
    for (const [position, order] of [...permutationsOf(statements)].entries()) {
      for (const statement of order) await say(`s-${position}`, statement)
      expect(shownBriefly(await shown(`s-${position}`))).toEqual([
        ['10-30', 'A-1', 1_000, 'ONE'],
        ['10-31', 'A-1', 500, 'ONE'],
        ['11-20', 'A-2', 200, 'TWO', 'estimated'],
      ])
    }
  })

  test('is the same in every order of what its sources say', async () => {
    const random = new Random(102)
    const pick = <Item>(items: readonly Item[]): Item => random.pick(items)
    const { say, shown, services } = await stage(
      await open(),
      pick(['Europe/Berlin', 'Asia/Kathmandu', 'Australia/Lord_Howe']),
    )
    for (let round = 0; round < runs(40, 6); round += 1) {
      // Telemetry repeats what its resource names.
      const named = pick(['log', 'span', 'neither'])
      const statements = Array.from({ length: 4 }, (_, step): Statement => {
        const source = pick(SESSION_SOURCES)
        const days = ['2026-10-24T23:50', '2026-10-25T01:10', '2026-10-31T18:20', '2026-11-01T00:05']
        const isSliced = source !== 'metric' && random.below(4) > 0
        const cells = Array.from({ length: 1 + random.below(4) }, () =>
          cell(pick(days), source === 'report' ? pick(['A-1', 'A-2', '']) : '', 1 + random.below(500), {
            tokens: { input: pick([0, random.below(500)]), output: pick([0, 0, random.below(50)]) },
            ...(source === named && { project: 'ONE', labels: { team: 'core' } }),
          }),
        )
        const common = {
          ...{ source, model: pick(['opus', 'opus', 'haiku']) },
          ...(random.below(3) === 0 && { provider: 'anthropic' }),
        }
        if (isSliced) return { ...common, slices: cells }
        const ended_at = `2026-11-0${2 + step}T10:00:00Z`
        return { ...common, ended_at, tokens: { input: random.below(2_000), output: random.below(200) } }
      })
      // Sessions of their own, recorded at the same time: one after the other, PostgreSQL needs minutes for them.
      const orders = [...permutationsOf(statements)].map(async (order, position) => {
        const session = `r-${round}-${position}`
        for (const statement of order) await say(session, statement)
        return shown(session)
      })
      const [first, ...others] = await Promise.all(orders)
      for (const entries of others) expect({ statements, entries }).toEqual({ statements, entries: first } as never)
    }
    expect(await services.entries.verify()).toEqual([])
  }, 180_000)

  test('has the same sums in every order, whatever is approved in between', async () => {
    const random = new Random(7)
    const { say, shown, services } = await stage(await open())
    for (let round = 0; round < runs(20, 2); round += 1) {
      const days = ['2026-10-30T10:00', '2026-10-31T10:00', '2026-11-01T10:00', '2026-11-02T10:00', '2026-11-03T10:00']
      const calls = days.map((at) => ({ at, branch: random.pick(['A-1', 'A-2', '']), input: 1 + random.below(500) }))
      // Each knows more calls than the one before, or as many.
      const statements = [2, 3, 5, 5].map((known): Statement => {
        const source = random.pick(SESSION_SOURCES)
        const slices = calls
          .slice(0, known)
          .map(({ at, branch, input }) => cell(at, source === 'report' ? branch : '', input))
        const input = slices.reduce((sum, { tokens }) => sum + tokens.input, 0)
        if (source !== 'metric' && random.chance(0.7)) return { source, slices }
        return { source, ended_at: slices.at(-1)!.ended_at, tokens: { input, output: known } }
      })
      for (const [position, order] of [...permutationsOf(statements)].entries()) {
        const session = `l-${round}-${position}`
        for (const statement of order) {
          const { entry } = await say(session, statement)
          if (entry.entry.status !== 'submitted' || random.chance(0.5)) continue
          await services.entries.approval.decideEntry(entry.entry.uid, { action: 'approve' }, OPERATOR)
        }
        const entries = await shown(session)
        const sum = (kind: 'input' | 'output') => entries.reduce((all, { tokens }) => all + tokens![kind], 0)
        expect({ order, sums: [sum('input'), sum('output')] }).toEqual({
          order,
          sums: [calls.reduce((all, { input }) => all + input, 0), calls.length],
        })
      }
    }
    expect(await services.entries.verify()).toEqual([])
  }, 180_000)
})
