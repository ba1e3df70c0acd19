/** Single queries of a server's SQLite that may take long: the same stores, but another process runs their statements. */
import { drizzle } from 'drizzle-orm/sqlite-proxy'
import type { Compiled, Reader } from '../../database.ts'
import { sqliteTables } from '../../schema/sqlite-tables.ts'
import { binderOf, parametersOf } from '../conversions.ts'
import { asProblems, Queries, runThrough } from '../queries.ts'
import type { SlowPool } from '../slow/pool.ts'

export function slowReader(pool: SlowPool): Reader {
  const rowsOf = (sql: string, params: unknown[]) => pool.ask({ sql, params }) as Promise<unknown[][]>
  const orm = drizzle(async (sql, params, method) => {
    const rows = await rowsOf(sql, params)
    return { rows: method === 'get' ? (rows[0] as unknown[]) : rows }
  })
  runThrough(orm, asProblems)
  const reader = Object.assign(new Queries(orm, sqliteTables), {
    engine: 'sqlite',
    raw(query: Compiled) {
      const { sql, params } = query.toSQL()
      const bind = binderOf(parametersOf(params))
      const names = Object.keys((query as unknown as { _: { selectedFields: object } })._.selectedFields)
      const rowOf = (cells: unknown[]) => Object.fromEntries(names.map((name, at) => [name, cells[at]]))
      const values = (given: Record<string, unknown> = {}) => rowsOf(sql, bind(given))
      return { execute: async (given?: Record<string, unknown>) => (await values(given)).map(rowOf), values }
    },
    revision: async () => Number((await rowsOf('SELECT value FROM revision', []))[0]![0]),
  })
  return reader as unknown as Reader
}
