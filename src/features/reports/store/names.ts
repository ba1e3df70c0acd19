/** What the keys of groups stand for. */
import { inArray, type Placeholder, sql } from 'drizzle-orm'
import type { Reader } from '../../../database/database.ts'
import { portionsOf } from '../../../database/portions.ts'

/** Keys per query, of which each is prepared once: building one for a thousand keys takes longer than running it. */
const KEYS_PER_QUERY = [10, 100, 1_000]

export interface Named {
  uid?: string | null
  key?: string
  name?: string | null
}

/** The rows of a table that groups refer to, by key. */
export async function listNamed(
  reader: Reader,
  table: 'projects' | 'clients' | 'tickets' | 'users' | 'plans' | 'names',
  ids: number[],
): Promise<Map<number, Named>> {
  const named = new Map<number, Named>()
  for (const portion of portionsOf(ids)) {
    const count = KEYS_PER_QUERY.find((most) => portion.length <= most) ?? portion.length
    const names = Array.from({ length: count }, (_, at) => `id${at}`)
    const placeholders = names.map((name) => sql.placeholder(name))
    const query = reader.prepared<NamedRow>(
      `reports.names.${table}.${count}`,
      // Each table has some of the columns.
      (prepare) => selectNamed(prepare, table, placeholders) as never,
    )
    // The last key fills the rest.
    const values = Object.fromEntries(names.map((name, at) => [name, portion[at] ?? portion.at(-1)]))
    for (const { id, ...row } of await query.execute(values)) named.set(id, row)
  }
  return named
}

type NamedRow = Named & { id: number }

function selectNamed({ tables: t, select }: Reader, table: Parameters<typeof listNamed>[1], ids: Placeholder[]) {
  switch (table) {
    case 'projects': {
      const { id, uid, key, name } = t.projects
      return select({ id, uid, key, name }).from(t.projects).where(inArray(id, ids))
    }
    case 'clients': {
      const { id, uid, name } = t.clients
      return select({ id, uid, name }).from(t.clients).where(inArray(id, ids))
    }
    case 'tickets': {
      const { id, uid, key } = t.tickets
      return select({ id, uid, key }).from(t.tickets).where(inArray(id, ids))
    }
    case 'users': {
      const { id, uid, name } = t.users
      return select({ id, uid, name }).from(t.users).where(inArray(id, ids))
    }
    case 'plans': {
      const { id, uid, name } = t.plans
      return select({ id, uid, name }).from(t.plans).where(inArray(id, ids))
    }
    case 'names': {
      const { id, text } = t.names
      return select({ id, name: text }).from(t.names).where(inArray(id, ids))
    }
  }
}
