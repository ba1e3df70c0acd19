/** The table `user_emails`: additional addresses that match telemetry to people. They cannot be used to sign in. */
import { asc, eq, inArray } from 'drizzle-orm'
import type { Person } from '../../../access/caller.ts'
import type { Reader, Tx } from '../../../database/database.ts'

/** By an additional address in canonical form. */
export async function findUserByFurtherEmail(reader: Reader, email: string): Promise<Person | undefined> {
  const { users, userEmails } = reader.tables
  const [found] = await reader
    .select({ id: users.id, uid: users.uid, email: users.email, name: users.name, role: users.role })
    .from(userEmails)
    .innerJoin(users, eq(users.id, userEmails.userId))
    .where(eq(userEmails.email, email))
  return found
}

export async function listFurtherEmails(reader: Reader, userId: number): Promise<string[]> {
  const { userEmails } = reader.tables
  const rows = await reader
    .select({ email: userEmails.email })
    .from(userEmails)
    .where(eq(userEmails.userId, userId))
    .orderBy(asc(userEmails.email))
  return rows.map(({ email }) => email)
}

export async function insertFurtherEmails(tx: Tx, userId: number, emails: string[]): Promise<void> {
  if (emails.length > 0) await tx.insert(tx.tables.userEmails).values(emails.map((email) => ({ email, userId })))
}

export async function deleteFurtherEmails(tx: Tx, emails: string[]): Promise<void> {
  const { userEmails } = tx.tables
  if (emails.length > 0) await tx.delete(userEmails).where(inArray(userEmails.email, emails))
}
