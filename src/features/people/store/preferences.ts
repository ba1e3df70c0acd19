/** The table `preferences`: how people want pages to look. */
import { eq } from 'drizzle-orm'
import type { Reader, Tx } from '../../../database/database.ts'
import type { Tables } from '../../../database/schema/tables.ts'

type Chosen = Tables['preferences']['$inferSelect']['chosen']

export async function findPreferences(reader: Reader, userId: number): Promise<Chosen | undefined> {
  const { preferences } = reader.tables
  const [found] = await reader.select().from(preferences).where(eq(preferences.userId, userId))
  return found?.chosen
}

export async function savePreferences(tx: Tx, userId: number, chosen: Chosen): Promise<void> {
  const { preferences } = tx.tables
  await tx
    .insert(preferences)
    .values({ userId, chosen })
    .onConflictDoUpdate({ target: preferences.userId, set: { chosen } })
}

export async function deletePreferences(tx: Tx, userId: number): Promise<void> {
  const { preferences } = tx.tables
  await tx.delete(preferences).where(eq(preferences.userId, userId))
}
