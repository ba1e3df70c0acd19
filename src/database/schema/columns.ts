/**
 * The kinds of columns that Tally uses, once per engine. `tables.ts` is written against the PostgreSQL kit; the SQLite
 * kit has the same shape and maps the same JavaScript values, so one store function serves both.
 *
 * SQLite is opened with `safeIntegers`, so every integer arrives as a bigint and nothing above 2^53 is rounded;
 * PostgreSQL sends 64-bit integers as text. Both are converted to the type of the column's kind.
 */
import { sql } from 'drizzle-orm'
import { pgTable, customType as pgType } from 'drizzle-orm/pg-core'
import { sqliteTable, customType as sqliteType } from 'drizzle-orm/sqlite-core'
import { type Id, type IdPrefix, idBytes, idFromBytes } from '../../lib/id.ts'

type DriverInteger = bigint | number | string

/** A kind of column: its type in each engine, and the conversion of values. */
interface Kind<Data, Driver> {
  sqlite: string
  postgres: string
  toDriver?: (value: Data) => Driver
  fromDriver?: (value: Driver) => Data
}

const integer: Kind<number, DriverInteger> = { sqlite: 'integer', postgres: 'bigint', fromDriver: Number }

const bigInteger: Kind<bigint, DriverInteger> = {
  sqlite: 'integer',
  postgres: 'bigint',
  toDriver: (value) => {
    // bun:sqlite would silently keep only the lower 64 bits.
    if (BigInt.asIntN(64, value) !== value) throw new RangeError(`${value} does not fit into 64 bits`)
    return value
  },
  fromDriver: BigInt,
}

const flagInSqlite = {
  toDriver: (value: boolean) => (value ? 1 : 0),
  fromDriver: (value: DriverInteger) => Number(value) === 1,
}

const bytes: Kind<Uint8Array, Uint8Array> = {
  sqlite: 'blob',
  postgres: 'bytea',
  toDriver: (value) => Buffer.from(value),
}

function publicId<P extends IdPrefix>(prefix: P): Kind<Id<P>, Uint8Array> {
  return {
    sqlite: 'blob',
    postgres: 'bytea',
    toDriver: idBytes,
    fromDriver: (value) => idFromBytes(prefix, value),
  }
}

function json<Data>(): Kind<Data, string> {
  return {
    sqlite: 'text',
    postgres: 'text',
    toDriver: (value) => JSON.stringify(value),
    fromDriver: (value) => JSON.parse(value),
  }
}

/** drizzle passes a placeholder's null to the column's own mapping, but never a literal null. */
function nullSafe<Data, Driver>(map: (value: Data) => Driver): (value: Data) => Driver {
  return (value) => (value === null ? (null as Driver) : map(value))
}

function custom<Data, Driver>(kind: Kind<Data, Driver>, name: string) {
  return pgType<{ data: Data; driverData: Driver }>({
    dataType: () => kind.postgres,
    ...(kind.toDriver ? { toDriver: nullSafe(kind.toDriver) } : {}),
    ...(kind.fromDriver ? { fromDriver: kind.fromDriver } : {}),
  })(name)
}

export const postgresKit = {
  table: pgTable,
  /** The primary key that the database assigns. Never shown outside; the public id is. */
  key: (name: string) => custom(integer, name).primaryKey().default(sql`default`),
  publicId: <P extends IdPrefix>(name: string, prefix: P) => custom(publicId(prefix), name).notNull(),
  integer: (name: string) => custom(integer, name),
  /** For money and prices: exact at 64 bits. */
  bigInteger: (name: string) => custom(bigInteger, name),
  /** A moment in milliseconds since 1970-01-01T00:00:00Z. */
  time: (name: string) => custom(integer, name),
  text: <T extends string = string>(name: string) => custom<T, string>({ sqlite: 'text', postgres: 'text' }, name),
  flag: (name: string) => custom<boolean, boolean>({ sqlite: 'integer', postgres: 'boolean' }, name),
  bytes: (name: string) => custom(bytes, name),
  /** Kept as text on both engines: postgres.js writes `jsonb` parameters as strings. */
  json: <Data>(name: string) => custom(json<Data>(), name),
}

export type ColumnKit = typeof postgresKit

function customInSqlite<Data, Driver>(kind: Kind<Data, Driver>, name: string) {
  return sqliteType<{ data: Data; driverData: Driver }>({
    dataType: () => kind.sqlite,
    ...(kind.toDriver ? { toDriver: nullSafe(kind.toDriver) } : {}),
    ...(kind.fromDriver ? { fromDriver: kind.fromDriver } : {}),
  })(name)
}

export const sqliteKit = {
  table: sqliteTable,
  // drizzle writes the default itself for SQLite; NULL in an INTEGER PRIMARY KEY asks SQLite for the next key.
  key: (name: string) => customInSqlite(integer, name).primaryKey().default(sql`null`),
  publicId: <P extends IdPrefix>(name: string, prefix: P) => customInSqlite(publicId(prefix), name).notNull(),
  integer: (name: string) => customInSqlite(integer, name),
  bigInteger: (name: string) => customInSqlite(bigInteger, name),
  time: (name: string) => customInSqlite(integer, name),
  text: (name: string) => customInSqlite<string, string>({ sqlite: 'text', postgres: 'text' }, name),
  flag: (name: string) =>
    customInSqlite<boolean, DriverInteger>({ sqlite: 'integer', postgres: 'boolean', ...flagInSqlite }, name),
  bytes: (name: string) => customInSqlite(bytes, name),
  json: <Data>(name: string) => customInSqlite(json<Data>(), name),
} as unknown as ColumnKit
