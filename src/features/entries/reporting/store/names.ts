/** Names of harnesses, agents, models and providers, and sets of labels: stored once, and referred to by key. */
import { eq, sql } from 'drizzle-orm'
import type { Reader, Tx } from '../../../../database/database.ts'
import type { LabelMap } from '../../../../database/schema/records.ts'

/** The key of a text, and of its canonical form, by which it is compared within a session. */
export interface NameKey {
  id: number
  canonicalId: number
}

export async function findNames(tx: Tx, texts: readonly string[]): Promise<(NameKey | undefined)[]> {
  const found = await tx.findEach(
    'names.by-text',
    (prepare) => {
      const { names } = prepare.tables
      return prepare
        .select({ id: names.id, canonicalId: names.canonicalId })
        .from(names)
        .where(eq(names.text, sql.placeholder('text')))
    },
    texts.map((text) => ({ text })),
  )
  return found.map(([row]) => row && { id: row.id, canonicalId: row.canonicalId ?? row.id })
}

export async function getName(reader: Reader, id: number): Promise<string> {
  const { names } = reader.tables
  const [row] = await reader.select({ text: names.text }).from(names).where(eq(names.id, id)).limit(1)
  return row!.text
}

/** Adds names that do not exist, unless another transaction has added them meanwhile. */
export async function insertNames(
  tx: Tx,
  rows: readonly { text: string; canonicalId: number | null }[],
): Promise<void> {
  if (rows.length > 0)
    await tx
      .insert(tx.tables.names)
      .values([...rows])
      .onConflictDoNothing()
}

export async function findLabelSet(tx: Tx, labels: LabelMap): Promise<number | undefined> {
  const { labelSets } = tx.tables
  const [row] = await tx.select({ id: labelSets.id }).from(labelSets).where(eq(labelSets.labels, labels)).limit(1)
  return row?.id
}

export async function addLabelSet(tx: Tx, labels: LabelMap): Promise<number> {
  const { labelSets, labelPairs } = tx.tables
  const [added] = await tx.insert(labelSets).values({ labels }).onConflictDoNothing().returning({ id: labelSets.id })
  if (!added) return (await findLabelSet(tx, labels))!
  await tx
    .insert(labelPairs)
    .values(Object.entries(labels).map(([name, value]) => ({ name, value, labelSetId: added.id })))
  return added.id
}
