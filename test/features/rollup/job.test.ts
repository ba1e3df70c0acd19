import { expect, test } from 'bun:test'
import { and, asc, eq, isNull } from 'drizzle-orm'
import fc from 'fast-check'
import { EVERYTHING, visibleEntries } from '../../../src/access/visibility.ts'
import type { Database, Reader } from '../../../src/database/database.ts'
import { listPastCosts } from '../../../src/features/anomalies/store.ts'
import { periodAt } from '../../../src/features/reports/buckets.ts'
import { createSums } from '../../../src/features/reports/sums.ts'
import { monthAt } from '../../../src/features/rollup/calendar.ts'
import { checkRollup } from '../../../src/features/rollup/check.ts'
import { packColumn, packTogether, readColumn, unpackTogether } from '../../../src/features/rollup/column.ts'
import { createRollup } from '../../../src/features/rollup/job.ts'
import { planReading, rawLengthOf } from '../../../src/features/rollup/plan.ts'
import { FORMAT, UNATTRIBUTED_GRAIN } from '../../../src/features/rollup/segment.ts'
import {
  type EntryCost,
  findSearchStart,
  type Ranked,
  readCosts,
  type SearchTask,
  searchEntries,
  sumUnattributed,
  type UnattributedSum,
} from '../../../src/features/rollup/service.ts'
import { finishBuilding, insertBuilding, markPeriods, readState } from '../../../src/features/rollup/store/periods.ts'
import { listRanked } from '../../../src/features/rollup/store/search.ts'
import { conditionOf } from '../../../src/features/selection/contract.ts'
import { COST_SORTS, LIST_SORTS } from '../../../src/features/selection/order.ts'
import { forEachEngine } from '../../support/databases.ts'
import { runs } from '../../support/tier.ts'
import { answer, modelAnswer, type Query, randomQuery, shown } from './queries.ts'
import {
  AT_ONCE,
  CHANGES,
  Chance,
  clock,
  DAY,
  FIRST,
  HOUR,
  NOW,
  randomEntry,
  type Stage,
  stage,
  ZONES,
} from './scene.ts'

const SEARCH = { name: 'search', run: searchEntries }
const START = { name: 'start', run: findSearchStart }

/** Pages from columns are those of the table of entries, one after the other. */
async function expectPages(db: Database, chance: Chance, { viewer, filter }: Query): Promise<void> {
  const sort = chance.of([...LIST_SORTS, ...Object.values(COST_SORTS)])
  const order = chance.of(['asc', 'desc'] as const)
  const range = { from: -1, to: NOW + DAY }
  const task = { viewer, filter, sort, order, limit: 1_000 }
  const all = await db.slowly({ name: 'ranked', run: (reader) => listRanked(reader, { ...task, range }) }, {})
  const found: Ranked[] = []
  for (;;) {
    const limit = 1 + chance.below(40)
    const page = (await db.slowly(SEARCH, { ...task, limit, after: found.at(-1) }))?.ranked
    // Until the first time zone is adopted, there are none.
    if (!page) return
    found.push(...page)
    if (page.length < limit) break
  }
  expect([task, found]).toEqual([task, all])
  await expectStart(db, { ...task, filter: { ...filter, bill: ['none'] }, sort: 'started_at' })
}

/** A search of a filter that columns answer in part begins before its first match. */
async function expectStart(db: Database, task: SearchTask): Promise<void> {
  const start = await db.slowly(START, task)
  if (start === undefined) return
  const range = { from: -1, to: NOW + DAY }
  const [first] = await db.slowly({ name: 'ranked', run: (reader) => listRanked(reader, { ...task, range }) }, {})
  if (!first) return
  expect([task, start]).not.toEqual([task, null])
  if (task.order === 'asc') expect(first.value!).toBeGreaterThanOrEqual(start!)
  else expect(first.value!).toBeLessThan(start!)
}

/** What entries of people cost, from columns as from the table of entries. */
async function expectCosts(
  db: Database,
  { managers }: Stage,
  { viewer, filter, basis = 'cost' }: Query,
): Promise<void> {
  const some = managers.slice(1).map(({ id }) => id)
  const own = { viewer, basis, filter: { ...filter, starting_at: filter.starting_at ?? FIRST, ending_at: NOW } }
  const read = (reader: Reader) => readCosts(reader, { ...own, managerIds: new Set(some) })
  const costs = await db.slowly({ name: 'costs', run: read }, {})
  if (!costs) return
  const list = async (reader: Reader, id: number) => listPastCosts(reader, id, { ...own, limit: 10_000 })
  for (const id of some) {
    const listed = await db.slowly({ name: 'past', run: list }, id)
    const texts = (all: readonly EntryCost[]) => all.map(({ startedAt, costNanos }) => `${startedAt} ${costNanos}`)
    expect([own, texts(costs.get(id)!).sort()]).toEqual([own, texts(listed).sort()])
    expect(costs.get(id)).toEqual(costs.get(id)!.toSorted((one, other) => one.startedAt - other.startedAt))
  }
}

/** Sums of unattributed entries, from columns as entry by entry. */
async function expectUnattributed(db: Database, { viewer, filter }: Query): Promise<void> {
  const found = await db.slowly({ name: 'unattributed', run: sumUnattributed }, { viewer, filter })
  const list = async (reader: Reader) => {
    const { entries: e } = reader.tables
    const condition = and(isNull(e.placedBy), conditionOf(reader, filter), await visibleEntries(reader, viewer))
    return reader.select().from(e).where(condition).orderBy(asc(e.startedAt), asc(e.id))
  }
  const listed = await db.slowly({ name: 'listed', run: list }, {})
  const keyOf = ({ managerId, harnessId, agentId, labelSetId }: EntryKeys) =>
    [managerId, harnessId, agentId, labelSetId].join()
  const expected = [...Map.groupBy(listed, keyOf)].map(([key, entries]) => {
    const costs = entries.flatMap(({ reportedCost, listValue }) => reportedCost ?? listValue ?? [])
    const models = new Set(entries.map(({ modelId }) => modelId))
    return {
      key,
      entries: entries.length,
      unpricedEntries: entries.length - costs.length,
      input: entries.reduce((sum, { input }) => sum + BigInt(input), 0n),
      cacheWrite1h: entries.reduce((sum, { cacheWrite1h }) => sum + BigInt(cacheWrite1h), 0n),
      costNanos: costs.length === 0 ? null : costs.reduce((sum, cost) => sum + cost, 0n),
      modelId: models.size === 1 ? [...models][0]! : null,
      firstAt: entries[0]!.startedAt,
      lastAt: entries.at(-1)!.startedAt,
      ids: entries.map(({ id }) => id).sort((one, other) => one - other),
    }
  })
  const shownSums = found.map((sum) => ({
    key: keyOf(sum),
    entries: sum.entries,
    unpricedEntries: sum.unpricedEntries,
    input: sum.tokens.input,
    cacheWrite1h: sum.tokens.cacheWrite1h,
    costNanos: sum.costNanos,
    modelId: sum.modelId,
    firstAt: sum.firstAt,
    lastAt: sum.lastAt,
    ids: sum.ids.toSorted((one, other) => one - other),
  }))
  const inOrder = (one: { key: string }, other: { key: string }) => (one.key < other.key ? -1 : 1)
  expect([filter, shownSums.sort(inOrder)]).toEqual([filter, expected.sort(inOrder)])
}

type EntryKeys = Pick<UnattributedSum, 'managerId' | 'harnessId' | 'agentId' | 'labelSetId'>

async function untilIdle(rollup: ReturnType<typeof createRollup>): Promise<void> {
  while ((await rollup.step()) !== 'idle');
}

/** The numbers of columns where they are stored together. */
const INPUT = 16

/** The first number that periods of earlier formats do not have: those of active time, and of what was paid. */
const EARLIER = [
  { format: 0, firstAdded: 29 },
  { format: 2, firstAdded: 31 },
  { format: 3, firstAdded: 35 },
]

function fours(length: number): Uint8Array {
  return packColumn({ values: new Float64Array(length).fill(4) })
}

function quarterOf(moment: number): number[] {
  const { startingAt, endingAt } = periodAt(moment, '1q', { timeZone: 'UTC', weekStart: 'monday' })
  return [startingAt, endingAt]
}
forEachEngine('the roll-up', (open) => {
  test('answers as the entries do after every change, wherever the job is', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer(), async (seed) => {
        const chance = new Chance(seed)
        const db = await open({ priced: true })
        const scene = await stage(db)
        let zone = chance.of(ZONES)
        const rollup = createRollup({ db, clock, timeZone: async () => zone, ...AT_ONCE })
        const other = createRollup({ db, clock, timeZone: async () => zone, ...AT_ONCE })
        for (let round = 0; round < 25; round += 1) {
          await chance.of(CHANGES)(db, chance, scene)
          if (chance.is(0.05)) zone = chance.of(ZONES)
          const steps = chance.is(0.2) ? Number.POSITIVE_INFINITY : chance.below(6)
          const step = async (job: typeof rollup) => {
            for (let left = steps; left > 0; left -= 1) if ((await job.step()) === 'idle') break
          }
          // Half of the time the job runs while a change is under way, and sometimes that of a second server too.
          const changes = chance.is(0.5) ? [chance.of(CHANGES), chance.of(CHANGES)] : []
          const others = chance.is(0.3) ? [step(other)] : []
          await Promise.all([step(rollup), ...others, ...changes.map((change) => change(db, chance, scene))])
          const query = randomQuery(chance, scene)
          const told = JSON.stringify(query)
          if (chance.is(0.4)) await expectPages(db, chance, query)
          if (chance.is(0.4)) await expectCosts(db, scene, query)
          if (chance.is(0.4)) await expectUnattributed(db, query)
          expect([told, ...shown(await answer(db, query))]).toEqual([
            told,
            ...shown(await modelAnswer(db, scene, query)),
          ])
        }
        expect(await checkRollup({ db })).toEqual([])
        await untilIdle(rollup)
        expect(await checkRollup({ db })).toEqual([])
        expect(await rollup.status()).toMatchObject({ zones: [zone], staleDays: 0 })
      }),
      { numRuns: runs(2, 1), endOnFailure: true },
    )
  }, 180_000)

  test('gives a period up that changes while it is built', async () => {
    const db = await open()
    const day = { zone: 'UTC', level: 'day' as const, from: NOW - DAY, to: NOW }
    const build = () => db.write((tx) => insertBuilding(tx, day, NOW))
    const overtaken = await build()
    await db.write((tx) => markPeriods(tx, [{ from: NOW - HOUR, to: NOW + HOUR }]))
    expect(await db.write((tx) => finishBuilding(tx, overtaken, day))).toBe(false)
    const left = await build()
    await db.write((tx) => markPeriods(tx, [{ from: NOW, to: NOW + HOUR }]))
    expect(await db.write((tx) => finishBuilding(tx, left, day))).toBe(true)
  })

  test('gives whole months from itself and names every sum that was tampered with', async () => {
    const db = await open({ priced: true })
    const scene = await stage(db)
    await CHANGES[0]!(db, new Chance(1), scene)
    await CHANGES[0]!(db, new Chance(2), scene)
    await untilIdle(createRollup({ db, clock, timeZone: async () => 'UTC', ...AT_ONCE }))
    expect(await checkRollup({ db })).toEqual([])
    const { from, to } = monthAt(NOW - 30 * DAY, 'UTC')
    const query: Query = {
      viewer: EVERYTHING,
      filter: {},
      dimensions: ['project'],
      bounds: [from, to],
      onlyStraddling: false,
    }
    const before = shown(await answer(db, query))
    expect(before).toEqual(shown(await modelAnswer(db, scene, query)))
    const quarter = { ...query, bounds: quarterOf(NOW) }
    const inQuarter = shown(await answer(db, quarter))
    expect(inQuarter).toEqual(shown(await modelAnswer(db, scene, quarter)))

    await db.write(async (tx) => {
      const { rollupColumns: c } = tx.tables
      await tx.delete(c).where(eq(c.grain, UNATTRIBUTED_GRAIN))
      for (const { periodId, grain, name, data } of await tx.select().from(c)) {
        const columns = unpackTogether(data).map((column) =>
          column.number === INPUT ? { ...column, data: fours(readColumn(column.data).length) } : column,
        )
        const isRow = and(eq(c.periodId, periodId), eq(c.grain, grain), eq(c.name, name))
        await tx
          .update(c)
          .set({ data: packTogether(columns) })
          .where(isRow)
      }
    })
    expect(shown(await answer(db, query))).not.toEqual(before)
    expect(shown(await answer(db, quarter))).not.toEqual(inQuarter)
    expect((await checkRollup({ db })).join('\n')).toContain('input')
  })

  test.each(EARLIER)(
    'uses what a server of an earlier version has built as far as it goes, and builds it again: %p',
    async ({ format, firstAdded }) => {
      const db = await open({ priced: true })
      const scene = await stage(db)
      for (let seed = 1; seed < 9; seed += 1) await CHANGES[0]!(db, new Chance(seed), scene)
      const rollup = createRollup({ db, clock, timeZone: async () => 'UTC', ...AT_ONCE })
      await untilIdle(rollup)
      await db.write(async (tx) => {
        const { rollupColumns: c, rollupPeriods: p } = tx.tables
        await tx.update(p).set({ format })
        if (format === 0) await tx.delete(c).where(eq(c.grain, UNATTRIBUTED_GRAIN))
        for (const { periodId, grain, name, data } of await tx.select().from(c)) {
          const columns = unpackTogether(data).filter(({ number }) => number < firstAdded)
          const isRow = and(eq(c.periodId, periodId), eq(c.grain, grain), eq(c.name, name))
          await tx
            .update(c)
            .set({ data: packTogether(columns) })
            .where(isRow)
        }
      })
      const read = async () =>
        (await db.read.select().from(db.read.tables.rollupPeriods)).map((period) => period.format)
      for (const [dimensions, basis] of [
        [[], 'cost'],
        [['model'], 'list'],
        [['plan'], 'cost'],
        [['project', 'ticket'], 'allocated'],
      ] as const) {
        for (const bounds of [quarterOf(NOW), [NOW - 20 * DAY, NOW - 3 * DAY + HOUR, NOW]]) {
          const query: Query = {
            viewer: EVERYTHING,
            filter: {},
            dimensions: [...dimensions],
            basis,
            bounds,
            onlyStraddling: false,
          }
          expect(shown(await answer(db, query))).toEqual(shown(await modelAnswer(db, scene, query)))
        }
      }
      const within = { from: NOW - 30 * DAY, to: NOW }
      const isRaw = async (...format: number[]) =>
        rawLengthOf(planReading([within.from, within.to], within, await readState(db.read, 'UTC', within, ...format))) >
        DAY
      expect([await isRaw(), await isRaw(format)]).toEqual([true, false])
      expect(await checkRollup({ db })).toEqual([])
      await untilIdle(rollup)
      expect([await isRaw(), new Set(await read())]).toEqual([false, new Set([FORMAT])])
      expect(await checkRollup({ db })).toEqual([])
    },
  )

  test('reads entries whose sums are beyond 64 bits, and adds them up', async () => {
    const db = await open({ priced: true })
    const scene = await stage(db)
    const large = { reportedCost: 2n ** 62n, startedAt: NOW - DAY, endedAt: NOW - DAY, status: 'submitted' as const }
    for (let left = 3; left > 0; left -= 1) {
      const entry = { ...randomEntry(new Chance(left), scene), ...large }
      await db.write((tx) => tx.insert(tx.tables.entries).values(entry as never) as never)
    }
    await untilIdle(createRollup({ db, clock, timeZone: async () => 'UTC', ...AT_ONCE }))
    const [row] = await createSums({ db }).sums({
      viewer: EVERYTHING,
      filter: {},
      dimensions: [],
      bounds: [NOW - 2 * DAY, NOW],
    })
    expect(row!.costNanos).toBe(3n * 2n ** 62n)
  })
})
