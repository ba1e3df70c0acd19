import type { MaybePromise, Prepared } from '../database.ts'
import { asProblem } from '../errors.ts'
import type { Tables } from '../schema/tables.ts'
import type { StatementCounts } from '../statement-counts.ts'

/** The parts of a drizzle database that readers and transactions expose, for any engine and driver. */
type Orm = Record<'select' | 'selectDistinct' | 'with' | 'insert' | 'update' | 'delete', (...args: never[]) => unknown>

/** drizzle's builders over one connection, with its prepared queries: the base of every reader and every `tx`. */
export class Queries {
  readonly tables: Tables
  readonly select
  readonly selectDistinct
  readonly with
  readonly insert
  readonly update
  readonly delete
  readonly #prepared = new Map<string, unknown>()

  /** @param tables those of the engine below, cast to PostgreSQL's as the façade promises */
  constructor(orm: Orm, tables: object, counts?: StatementCounts) {
    const builder = <Build extends (...args: never[]) => unknown>(build: Build) =>
      counts ? countingBuilder(build.bind(orm), counts) : build.bind(orm)
    this.tables = tables as Tables
    this.select = builder(orm.select)
    this.selectDistinct = builder(orm.selectDistinct)
    this.with = builder(orm.with)
    this.insert = builder(orm.insert)
    this.update = builder(orm.update)
    this.delete = builder(orm.delete)
  }

  prepared<Row>(key: string, build: Build): Prepared<Row> {
    return this.once(key, () => build(this as never).prepare(key) as Prepared<Row>)
  }

  findEach<Row>(key: string, build: Build, keys: readonly Record<string, unknown>[]): MaybePromise<Row[][]> {
    const query = this.prepared<Row>(key, build)
    return Promise.all(keys.map((values) => query.execute(values)))
  }

  /** What `make` returned when it was called first for the key, on this connection. */
  protected once<Made>(key: string, make: () => Made): Made {
    let made = this.#prepared.get(key) as Made | undefined
    if (made === undefined) {
      made = make()
      this.#prepared.set(key, made)
    }
    return made
  }
}

/** Builds a query that can be prepared. */
export type Build = (reader: never) => { prepare(name: string): unknown }

function countingBuilder(build: (...args: never[]) => unknown, counts: StatementCounts) {
  return (...args: never[]) => {
    counts.built += 1
    return build(...args)
  }
}

type Run = (...args: unknown[]) => Promise<unknown>

/** Runs a query, and may do something before and after it. */
export type Around = <Result>(run: () => Promise<Result>) => Promise<Result>

/** Makes queries fail with the result of `asProblem`. */
export const asProblems: Around = (run) =>
  run().catch((error) => {
    throw asProblem(error)
  })

/**
 * Makes every query of an asynchronous drizzle database run through `around`. Only for readers: `write` converts errors
 * inside it to problems itself.
 */
export function runThrough(orm: object, around: Around): void {
  const { session } = orm as { session: { prepareQuery(...args: unknown[]): Record<string, Run> } }
  const prepareQuery = session.prepareQuery.bind(session)
  session.prepareQuery = (...args) => {
    const query = prepareQuery(...args)
    for (const method of ['all', 'get', 'values', 'execute']) {
      const run = query[method]?.bind(query)
      if (!run) continue
      query[method] = (...values) => around(() => run(...values))
    }
    return query
  }
}

type RunNow = (...args: unknown[]) => unknown

/** Passes every error of a synchronous drizzle database to `onError`, and rethrows it. */
export function watchErrors(orm: object, onError: (error: unknown) => void): void {
  const { session } = orm as { session: { prepareQuery(...args: unknown[]): Record<string, RunNow> } }
  const prepareQuery = session.prepareQuery.bind(session)
  session.prepareQuery = (...args) => {
    const query = prepareQuery(...args)
    for (const method of ['all', 'get', 'values']) {
      const run = query[method]?.bind(query)
      if (!run) continue
      query[method] = (...values) => {
        try {
          return run(...values)
        } catch (error) {
          onError(error)
          throw error
        }
      }
    }
    return query
  }
}
