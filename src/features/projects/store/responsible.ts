/** Who leads projects and clients, and who approves their entries. */
import { asc, eq, inArray, or } from 'drizzle-orm'
import type { Reader, Tx } from '../../../database/database.ts'
import type { Tables } from '../../../database/schema/tables.ts'
import type { Role } from '../../../database/schema/values.ts'
import { type Id, isId } from '../../../lib/id.ts'
import { foldName } from '../../../lib/names.ts'

export interface Responsible {
  id: number
  uid: Id<'usr'>
  name: string
}

/** The tables of people who are responsible for a project or a client. */
export type Responsibility = 'projectLeads' | 'projectApprovers' | 'clientLeads' | 'clientApprovers'

function ownerColumn(tables: Tables, responsibility: Responsibility) {
  const table = tables[responsibility]
  return 'projectId' in table ? table.projectId : table.clientId
}

/** The people of each of these projects or clients, by name. */
export async function listResponsible(
  reader: Reader,
  responsibility: Responsibility,
  ids: readonly number[],
): Promise<Map<number, Responsible[]>> {
  if (ids.length === 0) return new Map()
  const { users } = reader.tables
  const table = reader.tables[responsibility]
  const owner = ownerColumn(reader.tables, responsibility)
  const rows = await reader
    .select({ owner, id: users.id, uid: users.uid, name: users.name })
    .from(table)
    .innerJoin(users, eq(users.id, table.userId))
    .where(inArray(owner, [...ids]))
    .orderBy(asc(users.name), asc(users.id))
  const people = new Map<number, Responsible[]>()
  for (const { owner: of, ...person } of rows) people.set(of, [...(people.get(of) ?? []), person])
  return people
}

export async function replaceResponsible(
  tx: Tx,
  responsibility: Responsibility,
  ownerId: number,
  userIds: readonly number[],
): Promise<void> {
  await tx.delete(tx.tables[responsibility]).where(eq(ownerColumn(tx.tables, responsibility), ownerId))
  if (userIds.length === 0) return
  const rows = userIds.map((userId) => ({ projectId: ownerId, clientId: ownerId, userId }))
  await tx.insert(tx.tables[responsibility]).values(rows as never)
}

/** A person by id (`usr_…`) or e-mail address. */
export async function findPerson(reader: Reader, who: string): Promise<(Responsible & { role: Role }) | undefined> {
  const { users } = reader.tables
  const [row] = await reader
    .select({ id: users.id, uid: users.uid, name: users.name, role: users.role })
    .from(users)
    .where(isId('usr', who) ? eq(users.uid, who) : eq(users.email, foldName(who)))
    .limit(1)
  return row
}

/** A query for the keys of people with these ids or e-mail addresses. */
export function peopleNamed(reader: Reader, people: readonly string[]) {
  const { users } = reader.tables
  return reader
    .select({ id: users.id })
    .from(users)
    .where(
      or(
        inArray(users.uid, people.filter((text) => isId('usr', text)) as Id<'usr'>[]),
        inArray(users.email, people.map(foldName)),
      ),
    )
}
