import type { Compiled, Reader } from '../../database.ts'
import { postgresTables } from '../../schema/postgres-tables.ts'
import type { Build } from '../queries.ts'
import { ROLLBACK } from './cancelled-queries.ts'
import type { Lane, Link } from './link.ts'
import type { PostgresReader } from './reader.ts'
import { oncePerTurn } from './shared-reads.ts'

/** A reader over the lane's current link. */
export function readerOver(lane: Lane<PostgresReader>): Reader {
  const reader = {
    tables: postgresTables,
    engine: 'postgres',
    get select() {
      return lane.link.queries.select
    },
    get selectDistinct() {
      return lane.link.queries.selectDistinct
    },
    get with() {
      return lane.link.queries.with
    },
    raw: (query: Compiled) => ({
      execute: (values?: Record<string, unknown>) => lane.link.queries.raw(query).execute(values),
      values: (values?: Record<string, unknown>) => lane.link.queries.raw(query).values(values),
    }),
    revision: oncePerTurn(() => lane.link.queries.revision()),
    prepared: (key: string, build: Build) => lane.link.queries.prepared(key, build),
    findEach: (key: string, build: Build, keys: readonly Record<string, unknown>[]) =>
      lane.link.queries.findEach(key, build, keys),
  }
  return reader as unknown as Reader
}

/** Runs `body` in a transaction, in which it sees one state of the database. */
export async function inOneState<Result>(
  link: Link<PostgresReader>,
  body: (reader: Reader) => Promise<Result>,
): Promise<Result> {
  await link.begin('ISOLATION LEVEL REPEATABLE READ READ ONLY')
  try {
    return await body(link.queries as unknown as Reader)
  } finally {
    // On a connection that is about to close, it would never return.
    if (!link.lost) await link.client.unsafe(ROLLBACK).catch(() => link.lose())
  }
}
