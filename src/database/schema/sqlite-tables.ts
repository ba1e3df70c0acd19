/** The tables of SQLite. Apart from those of the other engine, because they take milliseconds to define. */
import { sqliteKit } from './columns.ts'
import { defineTables } from './tables.ts'

export const sqliteTables = defineTables(sqliteKit)
