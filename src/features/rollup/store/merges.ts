import { inArray } from 'drizzle-orm'
import type { Reader } from '../../../database/database.ts'

/** The clients of projects. */
export function listClientsOf(reader: Reader, ids: number[]): Promise<{ id: number; of: number | null }[]> {
  const { projects } = reader.tables
  return reader.select({ id: projects.id, of: projects.clientId }).from(projects).where(inArray(projects.id, ids))
}

/** The values of a label in label sets; those without the label are missing. */
export async function listValuesOf(
  reader: Reader,
  label: string,
  ids: number[],
): Promise<{ id: number; value: string }[]> {
  const { labelSets } = reader.tables
  const sets = await reader.select().from(labelSets).where(inArray(labelSets.id, ids))
  // A label may be named `constructor`, which every object has.
  return sets.flatMap(({ id, labels }) => (Object.hasOwn(labels, label) ? [{ id, value: labels[label]! }] : []))
}

/** The plans that pay by these fundings. */
export function listPlansOf(reader: Reader, ids: number[]): Promise<{ id: number; of: number | null }[]> {
  const { fundings } = reader.tables
  return reader.select({ id: fundings.id, of: fundings.planId }).from(fundings).where(inArray(fundings.id, ids))
}

export function listFundingsOf(reader: Reader, ids: number[]) {
  const { fundings } = reader.tables
  return reader.select({ id: fundings.id, funding: fundings.funding }).from(fundings).where(inArray(fundings.id, ids))
}
