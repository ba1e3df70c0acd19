/**
 * What has a name: clients, projects, tickets, people and bills. Their tables are small enough to look for a text
 * anywhere in a name. Who may search for them is decided before.
 */
import { type AnyColumn, and, asc, desc, eq, ne, or, type SQL, sql } from 'drizzle-orm'
import type { Reader } from '../../../database/database.ts'
import { beginningWith, containing } from '../../../database/search-pattern.ts'
import { composeName, foldName } from '../../../lib/names.ts'
import type { SearchHit, SearchType } from '../schema.ts'

/** A hit whose moment is in milliseconds. */
export interface Found extends Omit<SearchHit, 'at'> {
  at: number | null
}

export interface Wanted {
  text: string
  /** Hits per type. */
  limit: number
}

/** Names of one project: a hit may have several, of which one is enough. */
const NAMES_PER_PROJECT = 4

/** Parts of a detail, as the web application separates them elsewhere. */
export const detailOf = (...parts: (string | null)[]) => parts.filter((part) => part !== null).join(' · ') || null

export const named = (type: SearchType, hit: Omit<Found, 'type' | 'at'>): Found => ({ type, at: null, ...hit })

export const contains = (folded: AnyColumn | SQL, text: string) =>
  sql`${folded} LIKE ${containing(foldName(text))} ESCAPE '!'`

/** The whole name first, then names that begin with the text. */
export function byMatch(folded: AnyColumn | SQL, text: string): SQL {
  const sought = foldName(text)
  return sql`CASE WHEN ${folded} = ${sought} THEN 0 WHEN ${folded} LIKE ${beginningWith(sought)} ESCAPE '!' THEN 1 ELSE 2 END`
}

/** What is in use before what is not. */
const byUse = (endedAt: AnyColumn) => sql`CASE WHEN ${endedAt} IS NULL THEN 0 ELSE 1 END`

export async function findClients(reader: Reader, { text, limit }: Wanted): Promise<Found[]> {
  const { clients } = reader.tables
  const rows = await reader
    .select({ uid: clients.uid, name: clients.name, archivedAt: clients.archivedAt })
    .from(clients)
    .where(contains(clients.nameFolded, text))
    .orderBy(byMatch(clients.nameFolded, text), byUse(clients.archivedAt), desc(clients.id))
    .limit(limit)
  return rows.map(({ uid, name, archivedAt }) =>
    named('client', { id: uid, name, detail: null, archived: archivedAt !== null }),
  )
}

/** By key, name or alias. */
export async function findProjects(reader: Reader, { text, limit }: Wanted): Promise<Found[]> {
  const { projects, projectNames, clients } = reader.tables
  const rows = await reader
    .select({
      uid: projects.uid,
      key: projects.key,
      name: projects.name,
      client: clients.name,
      archivedAt: projects.archivedAt,
    })
    .from(projectNames)
    .innerJoin(projects, eq(projects.id, projectNames.projectId))
    .leftJoin(clients, eq(clients.id, projects.clientId))
    .where(contains(projectNames.folded, text))
    .orderBy(byMatch(projectNames.folded, text), byUse(projects.archivedAt), desc(projects.id))
    .limit(limit * NAMES_PER_PROJECT)
  const each = new Map(rows.toReversed().map((row) => [row.uid, row]))
  return [...each.values()]
    .toReversed()
    .slice(0, limit)
    .map(({ uid, key, name, client, archivedAt }) =>
      named('project', {
        id: uid,
        name,
        detail: detailOf(key === name ? null : key, client),
        archived: archivedAt !== null,
      }),
    )
}

/** By key or title. */
export async function findTickets(reader: Reader, { text, limit }: Wanted): Promise<Found[]> {
  const { tickets } = reader.tables
  const rows = await reader
    .select({ uid: tickets.uid, key: tickets.key, title: tickets.title, archivedAt: tickets.archivedAt })
    .from(tickets)
    .where(or(contains(tickets.keyFolded, text), contains(sql`lower(${tickets.title})`, text)))
    .orderBy(byMatch(tickets.keyFolded, text), byUse(tickets.archivedAt), desc(tickets.id))
    .limit(limit)
  return rows.map(({ uid, key, title, archivedAt }) =>
    named('ticket', { id: uid, name: key, detail: title, archived: archivedAt !== null }),
  )
}

/** By name or e-mail address. */
export async function findPeople(reader: Reader, { text, limit }: Wanted): Promise<Found[]> {
  const { users } = reader.tables
  const name = sql`lower(${users.name})`
  const rows = await reader
    .select({ uid: users.uid, name: users.name, email: users.email, disabledAt: users.disabledAt })
    .from(users)
    .where(
      or(
        contains(name, text),
        // SQLite ignores case only for ASCII letters.
        sql`${users.name} LIKE ${containing(composeName(text))} ESCAPE '!'`,
        contains(users.email, text),
      ),
    )
    .orderBy(byMatch(name, text), byUse(users.disabledAt), asc(users.name), asc(users.id))
    .limit(limit)
  return rows.map(({ uid, name, email, disabledAt }) =>
    named('person', { id: uid, name, detail: email, archived: disabledAt !== null }),
  )
}

/** By number. A bill that is being prepared is found by nobody. */
export async function findBills(reader: Reader, { text, limit }: Wanted): Promise<Found[]> {
  const { bills, clients, projects } = reader.tables
  const number = sql`lower(${bills.number})`
  const rows = await reader
    .select({ uid: bills.uid, number: bills.number, state: bills.state, client: clients.name, project: projects.name })
    .from(bills)
    .leftJoin(clients, eq(clients.id, bills.clientId))
    .leftJoin(projects, eq(projects.id, bills.projectId))
    .where(and(ne(bills.state, 'preparing'), contains(number, text)))
    .orderBy(byMatch(number, text), desc(bills.id))
    .limit(limit)
  return rows.map(({ uid, number, state, client, project }) =>
    named('bill', { id: uid, name: number, detail: detailOf(client ?? project), archived: state === 'void' }),
  )
}
