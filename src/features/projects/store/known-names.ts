/** Which projects, tickets and clients exist, for filters that name them. */
import { desc, inArray } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import type { Reader } from '../../../database/database.ts'
import type { Tables } from '../../../database/schema/tables.ts'

/** The names that suggestions are chosen from: the newest, since reports can create any number. */
const SUGGESTED_FROM = 1_000

/** What a filter can name. */
export type Kind = 'project' | 'ticket' | 'client'

interface Columns {
  uid: PgColumn
  /** For comparison; of a project, each of its names. */
  folded: PgColumn
  text: PgColumn
}

const COLUMNS: Record<Kind, (tables: Tables) => Columns> = {
  project: ({ projects, projectNames }) => ({
    uid: projects.uid,
    folded: projectNames.folded,
    text: projectNames.text,
  }),
  ticket: ({ tickets }) => ({ uid: tickets.uid, folded: tickets.keyFolded, text: tickets.key }),
  client: ({ clients }) => ({ uid: clients.uid, folded: clients.nameFolded, text: clients.name }),
}

/** Those of the ids that exist. */
export function listKnownIds(reader: Reader, kind: Kind, ids: readonly string[]): Promise<string[]> {
  return listValues(reader, COLUMNS[kind](reader.tables).uid, ids)
}

/** Those of the folded names that exist. */
export function listKnownNames(reader: Reader, kind: Kind, folded: readonly string[]): Promise<string[]> {
  return listValues(reader, COLUMNS[kind](reader.tables).folded, folded)
}

async function listValues(reader: Reader, column: PgColumn, values: readonly string[]): Promise<string[]> {
  if (values.length === 0) return []
  const rows = await reader
    .select({ value: column })
    .from(column.table as never)
    .where(inArray(column, [...values]))
  return rows.map(({ value }) => value as string)
}

export async function listNewestNames(reader: Reader, kind: Kind): Promise<string[]> {
  const { text } = COLUMNS[kind](reader.tables)
  const key = kind === 'project' ? reader.tables.projectNames.projectId : reader.tables[`${kind}s`].id
  const rows = await reader
    .select({ text })
    .from(text.table as never)
    .orderBy(desc(key))
    .limit(SUGGESTED_FROM)
  return (rows as { text: string }[]).map((row) => row.text)
}
