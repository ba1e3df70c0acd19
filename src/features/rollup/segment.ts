/**
 * Segments: the rows of a period in columns. The entries of a day are one segment; others contain their sums by some of
 * their attributes. Pure.
 */
import {
  ENTRY_FUNDINGS,
  type PlacedBy,
  type RollupLevel,
  type Source,
  type Status,
} from '../../database/schema/values.ts'
import type { CostBasis } from '../../shared/cost-basis.ts'
import {
  type Column,
  type Integers,
  isExactDouble,
  packColumn,
  packTogether,
  readColumn,
  unpackTogether,
} from './column.ts'
import type { GroupedRows } from './groups.ts'

/** The attributes of an entry by which its entries can be grouped and filtered. */
export const KEYS = [
  'managerId',
  'harnessId',
  'agentId',
  'modelId',
  'providerId',
  'projectId',
  'ticketId',
  'labelSetId',
  'status',
  'source',
  'placedBy',
  'superseded',
  'isPossibleDuplicate',
  'fundingId',
] as const
export type Key = (typeof KEYS)[number]

/** The remaining columns of a segment of entries. `duration` and `activeMs` are in milliseconds. */
export const MEASURES = [
  'id',
  'startedAt',
  'duration',
  'input',
  'output',
  'cacheRead',
  'cacheWrite',
  'cacheWrite1h',
  'listValue',
  'reportedCost',
  'activeMs',
  'marginal',
  'allocated',
] as const
export type Measure = (typeof MEASURES)[number]

/**
 * What sums contain. The compared ones are of entries with both a reported cost and a list value.
 * Durations and active time are in milliseconds; `activeEntries`, `marginalEntries` and `allocatedEntries` count the entries
 * whose active time, marginal or allocated cost is known, and `unlistedEntries` those without list value.
 */
export const SUMMED = [
  'entries',
  'unpricedEntries',
  'input',
  'output',
  'cacheRead',
  'cacheWrite',
  'cacheWrite1h',
  'cost',
  'listValue',
  'reportedCost',
  'comparedEntries',
  'comparedReportedCost',
  'comparedListValue',
  'duration',
  'activeMs',
  'activeEntries',
  'marginal',
  'allocated',
  'unlistedEntries',
  'marginalEntries',
  'allocatedEntries',
] as const
export type Summed = (typeof SUMMED)[number]

/**
 * Entries whose amount on a basis is unknown, by the count that remains of all entries. Without plans they are all of them:
 * that would be another column of numbers in all sums, and the other count is a constant.
 */
const REMAINING = { unmarginalEntries: 'marginalEntries', unallocatedEntries: 'allocatedEntries' } as const

/** What reports add up. */
export type Figure = Summed | keyof typeof REMAINING

/** The count that is subtracted from the number of entries to get a figure; undefined if sums contain the figure. */
export const knownOf = (figure: Figure): Summed | undefined => REMAINING[figure as keyof typeof REMAINING]

/** The columns of sums that a figure is read from. */
export const summedOf = (figure: Figure): readonly Summed[] => {
  const known = knownOf(figure)
  return known ? ['entries', known] : [figure as Summed]
}

export type ColumnName = Key | Measure | Summed

/** Columns that periods of earlier versions do not have, with the first format that does. */
const ADDED = new Map<ColumnName, number>([
  ['activeMs', 1],
  ['activeEntries', 1],
  ['fundingId', 3],
  ['marginal', 3],
  ['allocated', 3],
  ['unlistedEntries', 3],
  ['marginalEntries', 4],
  ['allocatedEntries', 4],
])

/**
 * Which columns a period has: those of {@link ADDED} that are not of a later format, and from {@link UNATTRIBUTED_FORMAT} on
 * those of {@link UNATTRIBUTED_GRAIN}. A server of an earlier version builds periods of its own format, which reports
 * without the added columns use, and others take for stale.
 */
export const FORMAT = 4
export const UNATTRIBUTED_FORMAT = 2
export const ANY_FORMAT = 0

/** The earliest format that has all of these columns. */
export const formatWith = (names: readonly ColumnName[]): number =>
  names.reduce((format, name) => Math.max(format, ADDED.get(name) ?? ANY_FORMAT), ANY_FORMAT)

/** Columns by their numbers in columns that are stored together, which never change: new ones are last. */
const NUMBERED = [
  ...new Set<ColumnName>([...KEYS, ...MEASURES, ...SUMMED].filter((name) => !ADDED.has(name))),
  ...ADDED.keys(),
]
const NUMBERS = new Map(NUMBERED.map((name, number) => [name, number]))

/** The columns of entries that a figure is calculated from. */
export const MEASURES_OF: Record<Figure, readonly Measure[]> = {
  entries: [],
  unpricedEntries: ['listValue', 'reportedCost'],
  input: ['input'],
  output: ['output'],
  cacheRead: ['cacheRead'],
  cacheWrite: ['cacheWrite'],
  cacheWrite1h: ['cacheWrite1h'],
  cost: ['listValue', 'reportedCost'],
  listValue: ['listValue'],
  reportedCost: ['reportedCost'],
  comparedEntries: ['listValue', 'reportedCost'],
  comparedReportedCost: ['listValue', 'reportedCost'],
  comparedListValue: ['listValue', 'reportedCost'],
  duration: ['duration'],
  activeMs: ['activeMs'],
  activeEntries: ['activeMs'],
  marginal: ['marginal'],
  allocated: ['allocated'],
  unlistedEntries: ['listValue'],
  marginalEntries: ['marginal'],
  allocatedEntries: ['allocated'],
  unmarginalEntries: ['marginal'],
  unallocatedEntries: ['allocated'],
}

/** The cost of entries on a basis, and the number of those whose cost is unknown on it. */
export const FIGURES_OF_BASIS = {
  cost: ['cost', 'unpricedEntries'],
  list: ['listValue', 'unlistedEntries'],
  marginal: ['marginal', 'unmarginalEntries'],
  allocated: ['allocated', 'unallocatedEntries'],
} as const satisfies Record<CostBasis, readonly [amount: Figure, unknown: Figure]>

/** The entries of a day, in order of time. */
export const ENTRIES_GRAIN = 0

/** The entries of a period whose sessions continued past its end. */
export const STRADDLING_GRAIN = 1

/** The unattributed entries of a period: those of years are read in the time of all entries of a few days. */
export const UNATTRIBUTED_GRAIN = 15

export interface Grain {
  number: number
  levels: readonly RollupLevel[]
  keys: readonly Key[]
}

const COUNTED = ['status', 'superseded'] as const

/**
 * Sums of periods, those with few rows first. All contain what every report filters by. The numbers are stored. How an
 * entry was placed, and whether it is a possible duplicate, hardly divides what a person did in a project, so these two
 * are in that grain. The last one has every attribute except them and labels; what no grain contains is read from the
 * entries.
 */
export const GRAINS: readonly Grain[] = [
  {
    number: 2,
    levels: ['day', 'month'],
    keys: ['harnessId', 'agentId', 'providerId', 'modelId', 'source', ...COUNTED],
  },
  { number: 12, levels: ['month'], keys: ['projectId', 'providerId', 'modelId', ...COUNTED] },
  { number: 11, levels: ['month'], keys: ['projectId', 'harnessId', 'agentId', 'source', ...COUNTED] },
  {
    number: 3,
    levels: ['day', 'month'],
    keys: ['projectId', 'managerId', 'placedBy', 'isPossibleDuplicate', ...COUNTED],
  },
  { number: 4, levels: ['month'], keys: ['ticketId', 'projectId', ...COUNTED] },
  { number: 5, levels: ['month'], keys: ['labelSetId', ...COUNTED] },
  { number: 14, levels: ['month'], keys: ['managerId', 'providerId', 'modelId', ...COUNTED] },
  { number: 13, levels: ['month'], keys: ['managerId', 'harnessId', 'agentId', 'source', ...COUNTED] },
  { number: 8, levels: ['month'], keys: ['ticketId', 'projectId', 'managerId', ...COUNTED] },
  { number: 9, levels: ['month'], keys: ['ticketId', 'projectId', 'harnessId', 'agentId', 'source', ...COUNTED] },
  { number: 10, levels: ['month'], keys: ['ticketId', 'projectId', 'providerId', 'modelId', ...COUNTED] },
  {
    number: 6,
    levels: ['month'],
    keys: ['projectId', 'managerId', 'harnessId', 'agentId', 'providerId', 'modelId', 'source', ...COUNTED],
  },
  {
    number: 7,
    levels: ['month'],
    keys: ['ticketId', 'projectId', 'managerId', 'harnessId', 'agentId', 'providerId', 'modelId', 'source', ...COUNTED],
  },
]

/** The grain of a level that contains all these attributes; undefined if there is none. */
export function findGrain(level: RollupLevel, keys: readonly Key[]): Grain | undefined {
  return GRAINS.find((grain) => grain.levels.includes(level) && keys.every((key) => grain.keys.includes(key)))
}

/** The grain of a level that contains most of these attributes; of several, the one with the fewest rows. */
export function bestGrain(level: RollupLevel, keys: readonly Key[]): Grain {
  const grains = GRAINS.filter(({ levels }) => levels.includes(level))
  const countOf = (grain: Grain) => keys.filter((key) => grain.keys.includes(key)).length
  return grains.reduce((best, grain) => (countOf(grain) > countOf(best) ? grain : best))
}

/** The numbers of texts in columns. Stored, so they never change. */
export const STATUS_KEYS: Record<Status, number> = {
  submitted: 0,
  draft: 1,
  pending: 2,
  approved: 3,
  rejected: 4,
  billed: 5,
  held: 6,
  discarded: 7,
  voided: 8,
}
export const SOURCE_KEYS: Record<Source, number> = { report: 0, log: 1, span: 2, metric: 3, sheet: 4 }
export const PLACED_BY_KEYS: Record<PlacedBy, number> = { named: 0, rule: 1, manual: 2 }
/** Of the groups that keys of fundings are merged into, which are not stored. */
export const FUNDING_KEYS = Object.fromEntries(ENTRY_FUNDINGS.map((funding, key) => [funding, key]))

/** A segment, or some of its rows, with the columns that were read. */
export class Segment {
  readonly length: number
  readonly #columns: ReadonlyMap<ColumnName, Uint8Array>
  readonly #rows: Int32Array | undefined
  readonly #read: Map<ColumnName, Column>
  readonly #integers = new Map<string, Integers>()
  readonly #keys = new Map<Key, Int32Array>()

  /** @param columns packed */
  constructor(columns: ReadonlyMap<ColumnName, Uint8Array>, rows?: Int32Array, read = new Map<ColumnName, Column>()) {
    this.#columns = columns
    this.#rows = rows
    this.#read = read
    const [any] = columns.keys()
    this.length = rows?.length ?? (any ? this.column(any).length : 0)
  }

  /** The segment of some of its rows: nothing of the others is unpacked. */
  of(rows: Int32Array | undefined): Segment {
    if (!rows) return this
    const own = this.#rows
    return new Segment(this.#columns, own ? rows.map((row) => own[row]!) : rows, this.#read)
  }

  get names(): ColumnName[] {
    return [...this.#columns.keys()]
  }

  /** Of all rows of the segment. */
  column(name: ColumnName): Column {
    let column = this.#read.get(name)
    if (!column) {
      const packed = this.#columns.get(name)
      if (!packed) throw new Error(`The column ${name} of a segment is missing or was not read.`)
      column = readColumn(packed)
      this.#read.set(name, column)
    }
    return column
  }

  /** As it was packed. */
  packed(name: ColumnName): Uint8Array | undefined {
    return this.#columns.get(name)
  }

  integers(name: ColumnName): Integers {
    let integers = this.#integers.get(name)
    if (!integers) {
      integers = this.column(name).integers(this.#rows)
      this.#integers.set(name, integers)
    }
    return integers
  }

  keys(name: Key): Int32Array {
    let keys = this.#keys.get(name)
    if (!keys) {
      keys = this.column(name).keys(this.#rows)
      this.#keys.set(name, keys)
    }
    return keys
  }
}

/** A packed column of a segment. */
export interface PackedColumn {
  grain: number
  name: ColumnName
  data: Uint8Array
}

/** Columns of up to this size are stored together, since then reading one costs no less than reading all. */
const TOGETHER_BYTES = 65_536

/** The name of columns that are stored together. */
export const TOGETHER = '*'

/** A row of the table of columns. */
export interface StoredColumns {
  grain: number
  /** Of the column, or {@link TOGETHER}. */
  name: string
  data: Uint8Array
}

/** The columns as they are stored. */
export function storedColumns(columns: readonly PackedColumn[]): StoredColumns[] {
  return [...Map.groupBy(columns, ({ grain }) => grain)].flatMap(([grain, ofGrain]): StoredColumns[] => {
    const bytes = ofGrain.reduce((sum, { data }) => sum + data.byteLength, 0)
    if (bytes > TOGETHER_BYTES) return ofGrain
    const numbered = ofGrain.map(({ name, data }) => ({ number: NUMBERS.get(name)!, data }))
    return [{ grain, name: TOGETHER, data: packTogether(numbered) }]
  })
}

/** The segment of stored columns, or of some of them. */
export function segmentOf(
  stored: readonly Pick<StoredColumns, 'name' | 'data'>[],
  names?: readonly ColumnName[],
): Segment {
  const columns = new Map<ColumnName, Uint8Array>()
  const isWanted = names && ((number: number) => names.includes(NUMBERED[number]!))
  for (const { name, data } of stored) {
    if (name !== TOGETHER) columns.set(name as ColumnName, data)
    else for (const column of unpackTogether(data, isWanted)) columns.set(NUMBERED[column.number]!, column.data)
  }
  return new Segment(columns)
}

/** The columns of a segment of sums: groups by these keys, with all figures in the order of {@link SUMMED}. */
export function packSums(grain: number, names: readonly Key[], { keys, figures, length }: GroupedRows): PackedColumn[] {
  if (length === 0) return []
  return [
    ...names.map((name, at) => ({ grain, name, data: packColumn({ values: keysAsIntegers(keys[at]!) }) })),
    ...SUMMED.map((name, at) => ({ grain, name, data: packColumn(figures[at]!) })),
  ]
}

function keysAsIntegers(keys: Int32Array): Float64Array {
  const values = new Float64Array(keys.length)
  // An iterator would take many times as long.
  for (let at = 0; at < keys.length; at += 1) values[at] = keys[at]! < 0 ? Number.NaN : keys[at]!
  return values
}

/** Exact values from integers. */
export function exactAt({ values, beyond }: Integers, at: number): bigint | null {
  const value = values[at]
  if (value === undefined || Number.isNaN(value)) return null
  return beyond?.get(at) ?? BigInt(value)
}

/** A value that is exact: a number if a double represents it; null if it is unknown. */
export function valueAt({ values, beyond }: Integers, at: number): number | bigint | null {
  const value = values[at]!
  return Number.isNaN(value) ? null : (beyond?.get(at) ?? value)
}

/** Integers from exact values. */
export function integersOf(values: readonly (bigint | number | null)[]): Integers {
  const beyond = new Map<number, bigint>()
  const rough = Float64Array.from(values, (value, at) => {
    if (value === null) return Number.NaN
    if (typeof value === 'number' || isExactDouble(value)) return Number(value)
    beyond.set(at, value)
    return 0
  })
  return { values: rough, beyond }
}

/** The bound of a column of these integers. */
export function boundOf({ values, beyond }: Integers): number {
  let bound = 0
  // An iterator would take many times as long.
  for (let at = 0; at < values.length; at += 1) {
    const value = values[at]!
    if (!Number.isNaN(value)) bound += Math.abs(value)
  }
  for (const exact of beyond?.values() ?? []) bound += Math.abs(Number(exact))
  return bound < 2 ** 52 ? bound : bound * (1 + 2 ** -20)
}
