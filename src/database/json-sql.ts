/** Numbers in JSON that is stored as text, or is a parameter, in SQL. */
import { type SQL, sql } from 'drizzle-orm'
import type { Database, Reader } from './database.ts'

type Step = string | number

interface JsonSql {
  /** The whole number at a path; null if there is none. Names must be plain words. */
  number(json: SQL, ...path: Step[]): SQL
  /** A table named `alias` with a column `value` for each item of the list with this name; without rows if there is none. */
  items(json: SQL, name: string, alias: string): SQL
  /** Selects the whole numbers of a list. */
  numbers(json: SQL): SQL
}

const text = (content: string) => sql.raw(`'${content}'`)

const JSON_SQL: Record<Database['engine'], JsonSql> = {
  sqlite: {
    number: (json, ...path) =>
      sql`json_extract(${json}, ${text(`$${path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('')}`)})`,
    items: (json, name, alias) => sql`json_each(${json}, ${text(`$.${name}`)}) AS ${sql.raw(alias)}`,
    numbers: (json) => sql`SELECT value FROM json_each(${json})`,
  },
  postgres: {
    number: (json, ...path) => sql`CAST(CAST(${json} AS json) #>> ${text(`{${path.join(',')}}`)} AS bigint)`,
    items: (json, name, alias) =>
      sql`json_array_elements(CAST(${json} AS json) -> ${text(name)}) AS ${sql.raw(alias)}(value)`,
    numbers: (json) =>
      sql`SELECT CAST(value AS bigint) FROM json_array_elements_text(CAST(${json} AS json)) AS numbers(value)`,
  },
}

export const jsonSql = ({ engine }: Pick<Reader, 'engine'>): JsonSql => JSON_SQL[engine]
