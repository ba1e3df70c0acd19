/** Builds the columns of a day from its entries, and those of a month from its days. */
import type { Reader } from '../../database/database.ts'
import { Collector, type Integers, packColumn } from './column.ts'
import { figuresOfEntries, figuresOfSums } from './figures.ts'
import { type GroupedRows, Groups, NO_KEY } from './groups.ts'
import type { Range } from './plan.ts'
import {
  boundOf,
  ENTRIES_GRAIN,
  GRAINS,
  type Grain,
  KEYS,
  type Key,
  MEASURES,
  type Measure,
  type PackedColumn,
  PLACED_BY_KEYS,
  packSums,
  SOURCE_KEYS,
  STATUS_KEYS,
  STRADDLING_GRAIN,
  type StoredColumns,
  SUMMED,
  segmentOf,
  storedColumns,
  UNATTRIBUTED_GRAIN,
} from './segment.ts'
import { type ListedEntry, listEntries, listUnattributed, type UnattributedQuery } from './store/entries.ts'
import { listPeriods, readSegments } from './store/periods.ts'

/** Entries per query: a day of any length takes little memory besides its columns. */
const ENTRIES_PER_QUERY = 10_000

/** Rows after which memory is released: their arrays take up to a hundred megabytes. */
const COLLECTED_ROWS = 100_000

/** The last entry of the portion before. */
type After = Pick<ListedEntry, 'startedAt' | 'id'>

type Collected = Record<Key | Measure, Collector>

/** All columns of a day. */
export async function buildDay(reader: Reader, day: Range): Promise<StoredColumns[]> {
  const integers = await collectAll(day, (after) => listEntries(reader, day, after, ENTRIES_PER_QUERY))
  if (integers.id.values.length === 0) return []
  const entries = packEntries(ENTRIES_GRAIN, integers)
  const segment = segmentOf(entries)
  const placedBy = segment.keys('placedBy')
  const columns = [
    ...entries,
    ...packEntries(STRADDLING_GRAIN, straddlingOf(integers, day.to)),
    ...packEntries(
      UNATTRIBUTED_GRAIN,
      chosenOf(integers, (row) => placedBy[row] === NO_KEY),
    ),
  ]
  const figures = figuresOfEntries(segment, SUMMED)
  for (const { number, levels, keys } of GRAINS) {
    if (!levels.includes('day')) continue
    const groups = new Groups(keys.length, SUMMED.length)
    groups.add({ length: segment.length, keys: keys.map((key) => segment.keys(key)), figures })
    columns.push(...packSums(number, keys, groups.rows()))
  }
  return storedColumns(columns)
}

/** The columns of {@link UNATTRIBUTED_GRAIN}, of those entries in a range that match and that a viewer sees. */
export async function collectUnattributed(
  reader: Reader,
  range: Range,
  query: UnattributedQuery,
): Promise<PackedColumn[]> {
  const list = (after: After) => listUnattributed(reader, range, query, after, ENTRIES_PER_QUERY)
  return packEntries(UNATTRIBUTED_GRAIN, await collectAll(range, list))
}

/** The entries of a range, portion by portion. */
async function collectAll({ from }: Range, list: (after: After) => Promise<ListedEntry[]>) {
  const collected = Object.fromEntries([...MEASURES, ...KEYS].map((name) => [name, new Collector()])) as Collected
  for (let after: After = { startedAt: from, id: -1 }; ; ) {
    const entries = await list(after)
    for (const entry of entries) collect(collected, entry)
    const last = entries.at(-1)
    if (!last || entries.length < ENTRIES_PER_QUERY) break
    after = last
  }
  return mapped(collected, (collector) => collector.integers())
}

/** All columns of a month, from those of its days; undefined if one of these is stale, which a clean month has none of. */
export async function buildMonth(
  reader: Reader,
  { zone, ...range }: Range & { zone: string },
): Promise<StoredColumns[] | undefined> {
  const days = (await listPeriods(reader, zone, range)).filter(({ level }) => level === 'day')
  if (days.some(({ state }) => state === 'stale')) return undefined
  const grains = GRAINS.filter(({ levels }) => levels.includes('month'))
  const ofDays = grains.filter(({ levels }) => levels.includes('day'))
  const finest = grains.filter((grain) => !ofDays.includes(grain) && !finerOf(grain, grains))
  const columns: PackedColumn[] = []
  const rows = new Map<Grain, GroupedRows>()
  const finish = (grain: Grain, groups: Groups) => {
    const grouped = groups.rows()
    columns.push(...packSums(grain.number, grain.keys, grouped))
    rows.set(grain, grouped)
    release(grouped.length)
  }
  for (const [grain, groups] of await groupEntries(reader, days, finest)) finish(grain, groups)
  for (const grain of ofDays) finish(grain, await groupSums(reader, days, grain))
  for (const grain of grains.toReversed()) {
    const finer = finerOf(grain, grains)
    if (finer && !rows.has(grain)) finish(grain, groupedBy(grain, finer, rows.get(finer)!))
  }
  const straddling = await entriesOfDays(reader, days, STRADDLING_GRAIN)
  return storedColumns([
    ...columns,
    ...packEntries(STRADDLING_GRAIN, straddlingOf(straddling, range.to)),
    ...packEntries(UNATTRIBUTED_GRAIN, await entriesOfDays(reader, days, UNATTRIBUTED_GRAIN)),
  ])
}

let unreleasedRows = 0

/** Collects garbage now and then: the collector puts off typed arrays, which would add up to a gigabyte. */
function release(rows: number): void {
  unreleasedRows += rows
  if (unreleasedRows < COLLECTED_ROWS) return
  unreleasedRows = 0
  Bun.gc(true)
}

type Days = readonly { id: number }[]

/** The next grain that has all attributes of this one, with more rows. */
function finerOf(grain: Grain, grains: readonly Grain[]): Grain | undefined {
  return grains.find((finer, at) => at > grains.indexOf(grain) && grain.keys.every((key) => finer.keys.includes(key)))
}

/** The groups of entries by the keys of each grain. */
async function groupEntries(reader: Reader, days: Days, grains: readonly Grain[]): Promise<Map<Grain, Groups>> {
  const groups = new Map(grains.map((grain) => [grain, new Groups(grain.keys.length, SUMMED.length)]))
  for await (const { segment } of readSegments(reader, ENTRIES_GRAIN, days, [...KEYS, ...MEASURES])) {
    const figures = figuresOfEntries(segment, SUMMED)
    for (const [{ keys }, group] of groups) {
      group.add({ length: segment.length, keys: keys.map((key) => segment.keys(key)), figures })
    }
    release(segment.length)
  }
  return groups
}

/** The groups of a grain that the days have, too. */
async function groupSums(reader: Reader, days: Days, { number, keys }: Grain): Promise<Groups> {
  const groups = new Groups(keys.length, SUMMED.length)
  for await (const { segment } of readSegments(reader, number, days, [...keys, ...SUMMED])) {
    groups.add({
      length: segment.length,
      keys: keys.map((key) => segment.keys(key)),
      figures: figuresOfSums(segment, SUMMED),
    })
  }
  return groups
}

/** The groups of a grain, from those of a finer one. */
function groupedBy({ keys }: Grain, finer: Grain, { length, figures, ...rows }: GroupedRows): Groups {
  const groups = new Groups(keys.length, SUMMED.length)
  groups.add({
    length,
    keys: keys.map((key) => rows.keys[finer.keys.indexOf(key)]!),
    figures: figures.map((integers) => ({ integers, isNone: false, bound: boundOf(integers) })),
  })
  return groups
}

function mapped<From, To>(record: Record<Key | Measure, From>, map: (from: From) => To): Record<Key | Measure, To> {
  return Object.fromEntries(Object.entries(record).map(([name, from]) => [name, map(from)])) as Record<
    Key | Measure,
    To
  >
}

function collect(collected: Collected, entry: ListedEntry): void {
  collected.id.add(entry.id)
  collected.startedAt.add(entry.startedAt)
  collected.duration.add(entry.endedAt - entry.startedAt)
  for (const key of PLAIN) collected[key].add(entry[key] ?? Number.NaN)
  collected.status.add(STATUS_KEYS[entry.status])
  collected.source.add(SOURCE_KEYS[entry.source])
  collected.placedBy.add(entry.placedBy === null ? Number.NaN : PLACED_BY_KEYS[entry.placedBy])
  addAmount(collected.listValue, entry.listHigh, entry.listLow)
  addAmount(collected.reportedCost, entry.reportedHigh, entry.reportedLow)
  addAmount(collected.marginal, entry.marginalHigh ?? null, entry.marginalLow ?? null)
  addAmount(collected.allocated, entry.allocatedHigh ?? null, entry.allocatedLow ?? null)
}

const PLAIN = [
  'managerId',
  'harnessId',
  'agentId',
  'modelId',
  'providerId',
  'projectId',
  'ticketId',
  'labelSetId',
  'superseded',
  'isPossibleDuplicate',
  'fundingId',
  'input',
  'output',
  'cacheRead',
  'cacheWrite',
  'cacheWrite1h',
  'activeMs',
] as const

/** The upper halves of amounts that doubles represent exactly. */
const EXACT_HIGH = 2 ** 20

function addAmount(collector: Collector, high: number | null, low: number | null): void {
  if (high === null || low === null) collector.add(Number.NaN)
  else if (high < EXACT_HIGH && high > -EXACT_HIGH) collector.add(high * 2 ** 32 + low)
  else collector.addExact(BigInt(high) * 2n ** 32n + BigInt(low))
}

function packEntries(grain: number, integers: Record<Key | Measure, Integers>): PackedColumn[] {
  if (integers.id.values.length === 0) return []
  return [...MEASURES, ...KEYS].map((name) => ({ grain, name, data: packColumn(integers[name]) }))
}

/** The entries that ended after the end of their period. */
function straddlingOf(integers: Record<Key | Measure, Integers>, end: number): Record<Key | Measure, Integers> {
  const { startedAt, duration } = integers
  return chosenOf(integers, (row) => startedAt.values[row]! + duration.values[row]! > end)
}

function chosenOf(
  integers: Record<Key | Measure, Integers>,
  isChosen: (row: number) => boolean,
): Record<Key | Measure, Integers> {
  const rows: number[] = []
  for (let row = 0; row < integers.id.values.length; row += 1) if (isChosen(row)) rows.push(row)
  return mapped(integers, ({ values, beyond }) => {
    const kept = new Map<number, bigint>()
    for (const [at, row] of rows.entries()) {
      const exact = beyond?.get(row)
      if (exact !== undefined) kept.set(at, exact)
    }
    return { values: Float64Array.from(rows, (row) => values[row]!), beyond: kept }
  })
}

/** Entries that the days have in a segment of their own. */
async function entriesOfDays(reader: Reader, days: Days, grain: number): Promise<Record<Key | Measure, Integers>> {
  const collected = Object.fromEntries([...MEASURES, ...KEYS].map((name) => [name, new Collector()])) as Collected
  for await (const { segment } of readSegments(reader, grain, days, [...KEYS, ...MEASURES])) {
    for (const name of [...MEASURES, ...KEYS]) {
      const { values, beyond } = segment.integers(name)
      for (const [at, value] of values.entries()) {
        const exact = beyond?.get(at)
        if (exact === undefined) collected[name].add(value)
        else collected[name].addExact(exact)
      }
    }
  }
  return mapped(collected, (collector) => collector.integers())
}
