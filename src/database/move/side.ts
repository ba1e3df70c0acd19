/** The two databases of a move, of either engine. */
import type { MovedTable } from './tables.ts'

/** The row that marks a database, in its table `moves`. */
export interface Mark {
  /** The same in both databases. */
  move: string
  direction: 'from' | 'to'
  /** The other database. */
  place: string
  /** Of a source: when the target was complete. */
  endedAt: number | null
  /** Of a target: whether it has its indexes, references and triggers. */
  isRestored: boolean
}

/** Figures by which a person recognizes a database. Money in billionths of a dollar. */
export interface Sums {
  entries: bigint
  tokens: bigint
  reportedCost: bigint
  listValue: bigint
  bills: bigint
}

export interface Side {
  /** How messages name it. */
  readonly place: string
  mark(): Promise<Mark | undefined>
  count(table: MovedTable): Promise<number>
  /** Rows in the order of the key, as lines of COPY's text format, many at a time; of a numbered table also those of some ids. */
  read(table: MovedTable, ids?: { from: bigint; to: bigint }): AsyncIterable<string[]>
  sums(): Promise<Sums>
  close(): Promise<void>
}

/** The database that is moved. */
export interface Source extends Side {
  /** The lowest id of a numbered table above another: there can be far more ids than rows. */
  idAfter(table: MovedTable, id: bigint): Promise<bigint | null>
  /** Makes every write fail from now on, of any process and version, and marks it. */
  freeze(mark: Mark, now: number): Promise<void>
  /** Notes that the other database is complete. Throws if the move was cancelled: then there may be newer rows here. */
  markEnded(mark: Mark, now: number): Promise<void>
  /** Makes it writable again. */
  thaw(): Promise<void>
}

/** The database that it is moved to. */
export interface Target extends Side {
  /** The highest id of a numbered table; 0 without rows. */
  lastId(table: MovedTable): Promise<bigint>
  /** Whether nobody has used it yet. */
  isUnused(): Promise<boolean>
  /** Marks it, and removes its rows, and until `restore` also its indexes, references and triggers. */
  prepare(mark: Mark, now: number): Promise<void>
  /** Adds rows, durably and all or none. */
  write(table: MovedTable, rows: AsyncIterable<string[]>): Promise<void>
  clear(table: MovedTable): Promise<void>
  /** Gives it back what `prepare` has removed, which checks all references. */
  restore(): Promise<void>
  /** From now on, servers use it. */
  finish(): Promise<void>
}

/** Returns a row if somebody has used the database: prices and settings of its own are there from the first start. */
/** A move copies the tables that this version has: of a newer database, it would leave columns behind. */
export const VERSION_QUERY = 'SELECT max(version) AS version FROM migrations'

export const USED_QUERY =
  'SELECT 1 AS used WHERE EXISTS (SELECT 1 FROM users UNION ALL SELECT 1 FROM projects UNION ALL SELECT 1 FROM entries)'

/** Sums of money in halves, because SQLite's integers overflow. */
export const SUMS_QUERY = `SELECT count(*) AS entries,
  coalesce(sum(input + output + cache_read + cache_write + cache_write_1h), 0) AS tokens,
  coalesce(sum(reported_cost / 1000000000), 0) AS reported_dollars,
  coalesce(sum(reported_cost % 1000000000), 0) AS reported_rest,
  coalesce(sum(list_value / 1000000000), 0) AS list_dollars,
  coalesce(sum(list_value % 1000000000), 0) AS list_rest,
  (SELECT count(*) FROM bills) AS bills FROM entries`

type Figures = Record<'entries' | 'tokens' | 'bills' | `${'reported' | 'list'}_${'dollars' | 'rest'}`, bigint | string>

export function sumsOf(row: Figures): Sums {
  const money = (dollars: bigint | string, rest: bigint | string) => BigInt(dollars) * 1_000_000_000n + BigInt(rest)
  return {
    entries: BigInt(row.entries),
    tokens: BigInt(row.tokens),
    reportedCost: money(row.reported_dollars, row.reported_rest),
    listValue: money(row.list_dollars, row.list_rest),
    bills: BigInt(row.bills),
  }
}
