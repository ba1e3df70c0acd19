import type { Prepared } from '../database.ts'
import { asProblem } from '../errors.ts'
import type { Tables } from '../schema/tables.ts'

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
  readonly #prepared = new Map<string, Prepared<never>>()

  /** @param tables those of the engine below, cast to PostgreSQL's as the façade promises */
  constructor(orm: Orm, tables: object) {
    this.tables = tables as Tables
    this.select = orm.select.bind(orm)
    this.selectDistinct = orm.selectDistinct.bind(orm)
    this.with = orm.with.bind(orm)
    this.insert = orm.insert.bind(orm)
    this.update = orm.update.bind(orm)
    this.delete = orm.delete.bind(orm)
  }

  prepared<Row>(key: string, build: (reader: never) => { prepare(name: string): unknown }): Prepared<Row> {
    let prepared = this.#prepared.get(key)
    if (!prepared) {
      prepared = build(this as never).prepare(key) as Prepared<never>
      this.#prepared.set(key, prepared)
    }
    return prepared as unknown as Prepared<Row>
  }
}

type Run = (...args: unknown[]) => Promise<unknown>

/**
 * Makes every query of an asynchronous drizzle database fail with the result of `asProblem`, and run through `around`
 * if given. Only for readers: `write` converts errors inside it to problems itself.
 */
export function convertErrors(orm: object, around: (run: () => Promise<unknown>) => Promise<unknown> = (run) => run()) {
  const { session } = orm as { session: { prepareQuery(...args: unknown[]): Record<string, Run> } }
  const prepareQuery = session.prepareQuery.bind(session)
  session.prepareQuery = (...args) => {
    const query = prepareQuery(...args)
    for (const method of ['all', 'get', 'values', 'execute']) {
      const run = query[method]?.bind(query)
      if (!run) continue
      query[method] = (...values) =>
        around(() => run(...values)).catch((error) => {
          throw asProblem(error)
        })
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
