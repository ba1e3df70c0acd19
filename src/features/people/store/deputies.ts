/** The table `deputies`: who approves for whom, between two days. */
import { aliasedTable, and, desc, eq, gt, isNull, lt, or } from 'drizzle-orm'
import type { Represented } from '../../../access/caller.ts'
import type { Reader, Tx } from '../../../database/database.ts'
import type { Tables } from '../../../database/schema/tables.ts'
import { type Id, newId } from '../../../lib/id.ts'

type DeputyRecord = Tables['deputies']['$inferSelect']

export interface Deputy {
  record: DeputyRecord
  person: Represented & { email: string }
  deputy: Represented & { email: string }
}

/** Null for those of everyone. */
export type DeputyScope = number | null

function selectDeputies(reader: Reader) {
  const { deputies, users } = reader.tables
  const others = aliasedTable(users, 'others')
  return reader
    .select({
      record: deputies,
      person: { id: users.id, uid: users.uid, name: users.name, email: users.email },
      deputy: { id: others.id, uid: others.uid, name: others.name, email: others.email },
    })
    .from(deputies)
    .innerJoin(users, eq(users.id, deputies.personId))
    .innerJoin(others, eq(others.id, deputies.deputyId))
}

const isWithin = ({ tables: { deputies } }: Reader, userId: DeputyScope) =>
  userId === null ? undefined : or(eq(deputies.personId, userId), eq(deputies.deputyId, userId))

/** The deputies that a person named, and those for whom they are the deputy, newest first. */
export async function listDeputies(
  reader: Reader,
  userId: DeputyScope,
  { after, limit }: { after: number | undefined; limit: number },
): Promise<Deputy[]> {
  const { deputies } = reader.tables
  return selectDeputies(reader)
    .where(and(isWithin(reader, userId), after === undefined ? undefined : lt(deputies.id, after)))
    .orderBy(desc(deputies.id))
    .limit(limit)
}

export async function findDeputy(reader: Reader, uid: Id<'dep'>, userId: DeputyScope): Promise<Deputy | undefined> {
  const [found] = await selectDeputies(reader)
    .where(and(eq(reader.tables.deputies.uid, uid), isWithin(reader, userId)))
    .limit(1)
  return found
}

/** Current and future deputies of everyone, or of one person, except of people who are disabled. */
export async function listUnended(reader: Reader, now: number, personId?: number): Promise<Deputy[]> {
  const { deputies, users } = reader.tables
  return selectDeputies(reader).where(
    and(
      gt(deputies.endsAt, now),
      isNull(users.disabledAt),
      personId === undefined ? undefined : eq(deputies.personId, personId),
    ),
  )
}

export async function insertDeputy(tx: Tx, deputy: Omit<DeputyRecord, 'id' | 'uid'>): Promise<Id<'dep'>> {
  const uid = newId('dep')
  await tx.insert(tx.tables.deputies).values({ ...deputy, uid })
  return uid
}

export async function deleteDeputy(tx: Tx, id: number): Promise<void> {
  await tx.delete(tx.tables.deputies).where(eq(tx.tables.deputies.id, id))
}

/** Those that the person named, and those for whom they are the deputy. */
export async function deleteDeputiesOf(tx: Tx, userId: number): Promise<void> {
  await tx.delete(tx.tables.deputies).where(isWithin(tx, userId))
}
