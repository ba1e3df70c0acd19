/** The tables of PostgreSQL. Apart from those of the other engine, because they take milliseconds to define. */
import { postgresKit } from './columns.ts'
import { defineTables } from './tables.ts'

export const postgresTables = defineTables(postgresKit)
