/** What the keys of groups stand for. */
import { inArray } from 'drizzle-orm'
import type { Reader } from '../../../database/database.ts'
import { portionsOf } from '../../../database/portions.ts'

/** The rows of a table that groups refer to, by key. */
export async function listNamed(
  reader: Reader,
  what: 'projects' | 'clients' | 'tickets' | 'users' | 'names',
  ids: number[],
): Promise<Map<number, Named>> {
  const named = new Map<number, Named>()
  for (const portion of portionsOf(ids)) {
    const rows = await selectNamed(reader, what, portion)
    for (const { id, ...row } of rows) named.set(id, row)
  }
  return named
}

export interface Named {
  uid?: string | null
  key?: string
  name?: string | null
}

async function selectNamed(
  { tables: t, select }: Reader,
  what: Parameters<typeof listNamed>[1],
  ids: number[],
): Promise<(Named & { id: number })[]> {
  switch (what) {
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
    case 'names': {
      const { id, text } = t.names
      return select({ id, name: text }).from(t.names).where(inArray(id, ids))
    }
  }
}
