/** What the keys of groups stand for. */
import { type AnyColumn, type SQL, sql } from 'drizzle-orm'
import type { Reader } from '../../../database/database.ts'
import { jsonSql } from '../../../database/json-sql.ts'

export interface Named {
  uid?: string | null
  key?: string
  name?: string | null
}

/** The rows of a table that groups refer to, by key. One query for any number of keys: each is prepared once. */
export async function listNamed(
  reader: Reader,
  table: 'projects' | 'clients' | 'tickets' | 'users' | 'plans' | 'names',
  ids: Iterable<number>,
): Promise<Map<number, Named>> {
  const query = reader.prepared<Named & { id: number }>(
    `reports.names.${table}`,
    // Each table has some of the columns.
    (prepare) => selectNamed(prepare, table) as never,
  )
  const rows = await query.execute({ ids: JSON.stringify([...ids]) })
  const named = new Map<number, Named>()
  for (const row of rows) named.set(row.id, row)
  return named
}

function selectNamed(reader: Reader, table: Parameters<typeof listNamed>[1]) {
  const { tables: t, select } = reader
  const among = (id: AnyColumn): SQL => sql`${id} IN (${jsonSql(reader).numbers(sql`${sql.placeholder('ids')}`)})`
  switch (table) {
    case 'projects': {
      const { id, uid, key, name } = t.projects
      return select({ id, uid, key, name }).from(t.projects).where(among(id))
    }
    case 'clients': {
      const { id, uid, name } = t.clients
      return select({ id, uid, name }).from(t.clients).where(among(id))
    }
    case 'tickets': {
      const { id, uid, key } = t.tickets
      return select({ id, uid, key }).from(t.tickets).where(among(id))
    }
    case 'users': {
      const { id, uid, name } = t.users
      return select({ id, uid, name }).from(t.users).where(among(id))
    }
    case 'plans': {
      const { id, uid, name } = t.plans
      return select({ id, uid, name }).from(t.plans).where(among(id))
    }
    case 'names': {
      const { id, text } = t.names
      return select({ id, name: text }).from(t.names).where(among(id))
    }
  }
}
