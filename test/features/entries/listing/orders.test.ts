import { beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { TALLY } from '../../../../src/access/actor.ts'
import type { CallerOf } from '../../../../src/access/caller.ts'
import { approvalViewerOf, EVERYTHING, type Viewer, viewerOf } from '../../../../src/access/visibility.ts'
import { readListQuery } from '../../../../src/features/entries/listing/query.ts'
import { createListing, type Paces } from '../../../../src/features/entries/listing/service.ts'
import { listViews } from '../../../../src/features/entries/listing/store/lists.ts'
import { searchViews } from '../../../../src/features/entries/listing/store/search.ts'
import { figurePositionOf, listSorted } from '../../../../src/features/entries/listing/store/sorted-lists.ts'
import type { EntryView } from '../../../../src/features/entries/store.ts'
import { createRollup } from '../../../../src/features/rollup/service.ts'
import type { EntryFilter } from '../../../../src/features/selection/filter.ts'
import {
  type FigurePosition,
  LIST_ORDERS,
  LIST_SORTS,
  type ListOrder,
  type Position,
  type SortFigure,
} from '../../../../src/features/selection/order.ts'
import { createServices, type Services } from '../../../../src/services.ts'
import { canOverlap, forEachEngine, locationOf, type OpenTestOptions } from '../../../support/databases.ts'
import { clientFor } from '../../../support/postgres-server.ts'
import { OPERATOR, reportBody } from '../../../support/reports.ts'
import { runs } from '../../../support/tier.ts'
import { AT_ONCE } from '../../rollup/scene.ts'

const clock = { now: () => Date.UTC(2026, 10, 20, 19, 30) }

const SUMMARIES = ['Fix the login', 'Explain the invoice', null]
const MODELS = ['claude-haiku-4-5', 'gpt-5-codex', 'unknown-model']

/** Reports that often agree in what lists are sorted by. */
function bodyOf(index: number): Record<string, unknown> {
  const startedAt = Date.UTC(2026, 10, 1 + (index % 7), 8)
  const cost = [0, 1.5, undefined, 20][index % 4]
  return reportBody({
    started_at: new Date(startedAt).toISOString(),
    ended_at: new Date(startedAt + (index % 5) * 60_000).toISOString(),
    tokens: { input: (index % 3) * 1_000, output: index % 2 },
    model: MODELS[index % 3],
    project: ['acme-web', 'acme-api', undefined][index % 3],
    ...(cost !== undefined && { reported_cost: cost }),
    ...(SUMMARIES[index % 3] && { summary: SUMMARIES[index % 3] }),
  })
}

const FILTERS: EntryFilter[] = [
  {},
  { q: 'login' },
  { q: 'nowhere' },
  { model: ['gpt-5-codex'], priced: true },
  { agent_manager: ['ada@example.com'], q: 'e' },
  { project: ['acme-web', 'acme-api'], status: ['submitted'], q: 'fix' },
  { placed: ['none'], agent_manager: ['ada@example.com'] },
  { starting_at: Date.UTC(2026, 10, 3), ending_at: Date.UTC(2026, 10, 6), q: 'the' },
]

forEachEngine('a list of entries', (open, engine) => {
  async function stage(options: OpenTestOptions = {}) {
    const services = createServices({ db: await open({ serving: true, ...options }), clock })
    const callers: CallerOf<'service'>[] = []
    for (const name of ['ada', 'bob']) {
      const email = `${name}@example.com`
      await services.people.addUser({ email, name, role: 'member' }, TALLY)
      const { secret } = await services.people.createToken({ kind: 'svc', user: email, name: 'test' }, TALLY)
      callers.push((await services.people.authenticate(`Bearer ${secret}`)) as CallerOf<'service'>)
    }
    let reported = 0
    const report = async (count: number) => {
      const first = reported
      reported += count
      const bodies = Array.from({ length: count }, (_, at) => ({ index: first + at, body: bodyOf(first + at) }))
      await Promise.all(
        bodies.map(({ index, body }) => services.entries.reporting.reportEntry(body as never, callers[index % 2]!)),
      )
    }
    await report(60)
    await services.projects.changeProject(OPERATOR, 'acme-web', { addLeads: ['bob@example.com'] })
    await services.projects.changeProject(OPERATOR, 'acme-api', { addApprovers: ['bob@example.com'] })
    const bob = { id: callers[1]!.person.id, role: 'member' } as const
    return { ...services, report, viewers: [EVERYTHING, viewerOf(bob), approvalViewerOf(bob)] }
  }

  const idsOf = (views: EntryView[]) => views.map(({ entry }) => entry.id)

  /** Entries of all pages, in the order in which they came. */
  async function all(read: (after: Position | undefined) => Promise<{ ids: number[]; next: Position | undefined }>) {
    const found: number[] = []
    let after: Position | undefined
    for (let page = 0; page < 500; page += 1) {
      const { ids, next } = await read(after)
      found.push(...ids)
      if (!next) return found
      after = next
    }
    throw new Error('The pages have no end')
  }

  test('has the same entries in windows of any size as at once, for each filter, order and viewer', async () => {
    const { db, viewers } = await stage()
    const property = fc.asyncProperty(
      fc.constantFrom(...FILTERS),
      fc.constantFrom(...viewers),
      fc.constantFrom<ListOrder>(...LIST_ORDERS),
      fc.integer({ min: 1, max: 40 }),
      fc.integer({ min: 1, max: 20 }),
      async (filter, viewer, order, rows, limit) => {
        const whole = await listViews(db.read, { filter, viewer, order, after: undefined, limit: 1_000 })
        const paged = await all(async (after) => {
          const request = { filter, viewer, order, after, limit }
          const { views, searchedTo } = await searchViews(db.slow, request, { budgetMs: 0, statementMs: 30, rows })
          const last = views.length === limit ? views.at(-1)!.entry : undefined
          return { ids: idsOf(views), next: last ?? searchedTo }
        })
        expect(paged).toEqual(idsOf(whole))
      },
    )
    await fc.assert(property, { numRuns: runs(8, 3) })
  })

  test('by a figure has every entry once, unpriced ones last, in pages of any size', async () => {
    const { db, viewers } = await stage()
    const property = fc.asyncProperty(
      fc.constantFrom(...FILTERS),
      fc.constantFrom(...viewers),
      fc.constantFrom('cost', 'tokens', 'duration'),
      fc.constantFrom<ListOrder>(...LIST_ORDERS),
      fc.integer({ min: 1, max: 20 }),
      async (filter, viewer, sort, order, limit) => {
        const found: { id: number; value: bigint | null }[] = []
        let after: FigurePosition | undefined
        for (;;) {
          const page = await listSorted(db.slow, { filter, viewer, sort, order, after, limit }, 1_000)
          found.push(...page!.map((view) => figurePositionOf(view, sort)))
          if (page!.length < limit) break
          after = found.at(-1)
        }
        const whole = await listViews(db.read, { filter, viewer, after: undefined, limit: 1_000 })
        expect(found.map(({ id }) => id).sort()).toEqual(idsOf(whole).sort())
        expect(found).toEqual([...found].sort(comparing(order)))
      },
    )
    await fc.assert(property, { numRuns: runs(8, 3) })
  })

  function comparing(order: ListOrder) {
    const sign = order === 'desc' ? -1 : 1
    type Row = { id: number; value: bigint | null }
    return (a: Row, b: Row) => {
      if ((a.value === null) !== (b.value === null)) return a.value === null ? 1 : -1
      return sign * (a.value === b.value ? a.id - b.id : a.value! < b.value! ? -1 : 1)
    }
  }

  describe('while others arrive', () => {
    let staged: Awaited<ReturnType<typeof stage>>
    beforeAll(async () => {
      staged = await stage()
    }, 180_000)

    test.each(LIST_SORTS.flatMap((sort) => LIST_ORDERS.map((order) => [sort, order] as const)))(
      'by %s %s loses and repeats none',
      async (sort, order) => {
        const { entries, report } = staged
        const before = await pagesOf(entries, EVERYTHING, { sort, order, q: 'the' })
        // Not after every page: the next test reads them as well.
        let arrivals = 2
        const after = await pagesOf(entries, EVERYTHING, { sort, order, q: 'the' }, async () => {
          if (arrivals > 0) await report(3)
          arrivals -= 1
        })
        expect(arrivals).toBeLessThanOrEqual(0)
        expect(new Set(after).size).toBe(after.length)
        expect(after.filter((id) => before.includes(id))).toEqual(before)
      },
    )
  })

  async function pagesOf(
    { listing }: Pick<Services['entries'], 'listing'>,
    viewer: Viewer,
    texts: Record<string, string>,
    between = async () => {},
  ): Promise<string[]> {
    const ids: string[] = []
    for (let page: string | undefined; ; ) {
      const query = readListQuery({ ...texts, limit: '12', ...(page !== undefined && { page }) }, 'UTC')
      const { data, next_page } = await listing.listEntries(viewer, query)
      ids.push(...data.map(({ id }) => id))
      if (next_page === null) return ids
      page = next_page
      await between()
    }
  }

  test('of too many entries is not sorted by a figure at once', async () => {
    const { db } = await stage()
    const page = { viewer: EVERYTHING, sort: 'cost', order: 'desc', after: undefined, limit: 10 } as const
    expect(await listSorted(db.slow, { ...page, filter: {} }, 59)).toBeUndefined()
    expect(await listSorted(db.slow, { ...page, filter: {} }, 60)).toHaveLength(10)
    // A bill has few of them, and an index.
    expect(await listSorted(db.slow, { ...page, filter: { bill: ['2026-0001'] } }, 59)).toEqual([])
    expect(await listSorted(db.slow, { ...page, filter: { bill: ['2026-0001', 'none'] } }, 59)).toBeUndefined()
    expect(await listSorted(db.slow, { ...page, filter: { ending_at: Date.UTC(2026, 10, 2) } }, 20)).toHaveLength(9)
  })

  describe('that takes too long', () => {
    let staged: Awaited<ReturnType<typeof stage>>
    beforeAll(async () => {
      staged = await stage()
    }, 180_000)

    const PACES = fc.record({
      rankedMs: fc.constantFrom(0, 10_000),
      sortLimit: fc.constantFrom(0, 20, 1_000),
      windows: fc.record({
        budgetMs: fc.constantFrom(0, 10_000),
        statementMs: fc.constant(30),
        rows: fc.integer({ min: 1, max: 40 }),
      }),
      undividedMs: fc.constant(60_000),
    })

    /** Pages with every entry once, each sorted among those that had been looked at. */
    async function expectSections({
      viewer,
      query,
      paces,
    }: {
      viewer: Viewer
      query: Record<string, string>
      paces: Paces[]
    }) {
      const listings = paces.map((each) => createListing({ ...staged, billing: staged.entries.billing, paces: each }))
      const { filter, order } = readListQuery(query, 'UTC')
      const sort = query.sort as SortFigure
      const views = await listViews(staged.db.read, { filter, viewer, after: undefined, limit: 1_000 })
      const positions = new Map(
        views.map((view) => [view.entry.uid as string, { ...figurePositionOf(view, sort), at: view.entry.startedAt }]),
      )
      let found: { id: number; value: bigint | null; at: number }[] = []
      let section: typeof found = []
      let earlier = Number.POSITIVE_INFINITY
      let pages = 0
      for (let page: string | undefined; ; ) {
        const listing = listings[pages % listings.length]!
        pages += 1
        const { data, next_page, searched_to } = await listing.listEntries(
          viewer,
          readListQuery({ ...query, ...(page !== undefined && { page }) }, 'UTC'),
        )
        section = [...section, ...data.map(({ id }) => positions.get(id)!)]
        const from = searched_to === null ? Number.NEGATIVE_INFINITY : Date.parse(searched_to)
        expect(section.every(({ at }) => at >= from && at < earlier)).toBe(true)
        expect(section).toEqual(section.toSorted(comparing(order)))
        if (next_page === null) break
        page = next_page
        const next = readListQuery({ ...query, page }, 'UTC').byFigure!
        if (next.after) continue
        found = [...found, ...section]
        section = []
        earlier = next.section!.to!
      }
      const ids = [...found, ...section].map(({ id }) => id)
      expect(ids.toSorted((one, other) => one - other)).toEqual(idsOf(views).toSorted((one, other) => one - other))
    }

    const QUERIES = fc.record({
      sort: fc.constantFrom('cost', 'tokens', 'duration'),
      order: fc.constantFrom(...LIST_ORDERS),
      limit: fc.integer({ min: 1, max: 20 }).map(String),
    })
    const FILTERS = [
      {},
      { q: 'the' },
      { model: 'gpt-5-codex' },
      { placed: 'none' },
      { starting_at: '2026-11-03', q: 'e' },
    ]

    async function buildColumns({ db }: Pick<Services, 'db'>): Promise<void> {
      const rollup = createRollup({ db, clock, timeZone: async () => 'UTC', ...AT_ONCE })
      while ((await rollup.step()) !== 'idle');
    }

    test.each(['without', 'with'])('by a figure is sorted in sections, %s columns', async (columns) => {
      if (columns === 'with') await buildColumns(staged)
      const property = fc.asyncProperty(
        QUERIES,
        fc.constantFrom(...FILTERS),
        fc.constantFrom(...staged.viewers),
        fc.array(PACES, { minLength: 1, maxLength: 4 }),
        (by, filter, viewer, paces) =>
          expectSections({ viewer, query: { ...by, ...filter } as Record<string, string>, paces }),
      )
      await fc.assert(property, { numRuns: runs(60, 20) })
    })

    test('by time has every entry once, in order', async () => {
      await buildColumns(staged)
      const paces = {
        rankedMs: 0,
        sortLimit: 0,
        windows: { budgetMs: 0, statementMs: 30, rows: 5 },
        undividedMs: 60_000,
      }
      const entries = { listing: createListing({ ...staged, billing: staged.entries.billing, paces }) }
      for (const order of LIST_ORDERS) {
        const filter = { model: ['gpt-5-codex'] }
        const views = await listViews(staged.db.read, {
          filter,
          viewer: EVERYTHING,
          order,
          after: undefined,
          limit: 99,
        })
        const paged = await pagesOf(entries, EVERYTHING, { order, model: 'gpt-5-codex' })
        expect(paged).toEqual(views.map(({ entry }) => entry.uid))
      }
    })

    test.skipIf(engine !== 'postgres' || !canOverlap('postgres'))(
      'from columns is read from entries instead',
      async () => {
        const services = await stage({ slowDeadlineMs: 1_000 })
        await buildColumns(services)
        const client = clientFor(locationOf(services.db).databaseUrl!)
        await client.unsafe('BEGIN; LOCK TABLE rollup_columns')
        try {
          for (const [texts, found] of [
            [{ sort: 'cost' }, 50],
            [{ model: 'gpt-5-codex' }, 20],
          ] as const) {
            const { data } = await services.entries.listing.listEntries(EVERYTHING, readListQuery(texts, 'UTC'))
            expect(data).toHaveLength(found)
          }
        } finally {
          await client.end()
        }
      },
    )
  })
})
