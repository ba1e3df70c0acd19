/** Which rows of shares a file contains: those of closed periods, because the shares of others are calculated again. */
import { type Column, isNotNull, type SQL, sql } from 'drizzle-orm'
import type { Reader } from '../../../database/database.ts'

/** Chooses rows of a table. */
export type Chosen = (reader: Reader) => SQL

function isOfClosed({ tables: { planPeriods: p } }: Reader, generationId: Column): SQL {
  return sql`EXISTS (SELECT 1 FROM ${p} WHERE ${p.generationId} = ${generationId} AND ${isNotNull(p.closedAt)})`
}

export const generationsOfClosed: Chosen = (reader) => isOfClosed(reader, reader.tables.planGenerations.id)
export const sharesOfClosed: Chosen = (reader) => isOfClosed(reader, reader.tables.planShares.generationId)
