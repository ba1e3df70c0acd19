/** Names of harnesses, agents, models and providers, and sets of labels: stored once, and referred to by key. */
import { eq, sql } from 'drizzle-orm'
import type { Reader, Tx } from '../../../../database/database.ts'
import type { LabelMap } from '../../../../database/schema/records.ts'

/** The key of a text, and of its canonical form, by which it is compared within a session. */
export interface NameKey {
  id: number
  canonicalId: number
}

/**
 * Keys of recently used names and label sets, so that a report does not look up five of them. Filled only after a
 * commit: a key that was rolled back may be given to another text.
 */
export class Interned {
  readonly names = new Recent<NameKey>()
  readonly labelSets = new Recent<number>()
}

/** Enough for every repository and model of a large team, and at most some megabytes of hostile names. */
const RECENT_LIMIT = 20_000

class Recent<Value> extends Map<string, Value> {
  override set(key: string, value: Value): this {
    if (this.size >= RECENT_LIMIT) this.clear()
    return super.set(key, value)
  }
}

/** The key of a text, interned on first use with its canonical form, which must not depend on the kind of name. */
export async function internName(tx: Tx, interned: Interned, text: string, canonical: string): Promise<NameKey> {
  const known = interned.names.get(text)
  if (known) return known
  const key = await findOrAddName(tx, text, canonical)
  tx.afterCommit(() => interned.names.set(text, key))
  return key
}

async function findOrAddName(tx: Tx, text: string, canonical: string): Promise<NameKey> {
  const known = await findName(tx, text)
  if (known) return known
  const canonicalId = canonical === text ? null : (await findOrAddName(tx, canonical, canonical)).id
  const { names } = tx.tables
  await tx.insert(names).values({ text, canonicalId }).onConflictDoNothing()
  return (await findName(tx, text))!
}

async function findName(tx: Tx, text: string): Promise<NameKey | undefined> {
  const [row] = await tx
    .prepared('names.by-text', (prepare) => {
      const { names } = prepare.tables
      return prepare
        .select({ id: names.id, canonicalId: names.canonicalId })
        .from(names)
        .where(eq(names.text, sql.placeholder('text')))
    })
    .execute({ text })
  return row && { id: row.id, canonicalId: row.canonicalId ?? row.id }
}

export async function getName(reader: Reader, id: number): Promise<string> {
  const { names } = reader.tables
  const [row] = await reader.select({ text: names.text }).from(names).where(eq(names.id, id)).limit(1)
  return row!.text
}

export async function getLabels(reader: Reader, id: number): Promise<LabelMap> {
  const { labelSets } = reader.tables
  const [row] = await reader.select({ labels: labelSets.labels }).from(labelSets).where(eq(labelSets.id, id)).limit(1)
  return row!.labels
}

/** The key of a set of labels, which must be sorted by name. */
export async function internLabels(tx: Tx, interned: Interned, labels: LabelMap): Promise<number> {
  const text = JSON.stringify(labels)
  const known = interned.labelSets.get(text)
  if (known !== undefined) return known
  const id = (await findLabelSet(tx, labels)) ?? (await addLabelSet(tx, labels))
  tx.afterCommit(() => interned.labelSets.set(text, id))
  return id
}

async function findLabelSet(tx: Tx, labels: LabelMap): Promise<number | undefined> {
  const { labelSets } = tx.tables
  const [row] = await tx.select({ id: labelSets.id }).from(labelSets).where(eq(labelSets.labels, labels)).limit(1)
  return row?.id
}

async function addLabelSet(tx: Tx, labels: LabelMap): Promise<number> {
  const { labelSets, labelPairs } = tx.tables
  const [added] = await tx.insert(labelSets).values({ labels }).onConflictDoNothing().returning({ id: labelSets.id })
  if (!added) return (await findLabelSet(tx, labels))!
  await tx
    .insert(labelPairs)
    .values(Object.entries(labels).map(([name, value]) => ({ name, value, labelSetId: added.id })))
  return added.id
}
