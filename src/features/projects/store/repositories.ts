/** The repositories of projects, whose unattributed entries their leads see (`access/visibility.ts`). */
import { asc, eq, inArray } from 'drizzle-orm'
import type { Reader, Tx } from '../../../database/database.ts'

/** The repositories of each of these projects, sorted. */
export async function listRepositories(reader: Reader, projectIds: readonly number[]): Promise<Map<number, string[]>> {
  const { projectRepositories } = reader.tables
  const rows = await reader
    .select()
    .from(projectRepositories)
    .where(inArray(projectRepositories.projectId, [...projectIds]))
    .orderBy(asc(projectRepositories.repository))
  const found = new Map<number, string[]>()
  for (const { projectId, repository } of rows) found.set(projectId, [...(found.get(projectId) ?? []), repository])
  return found
}

export async function replaceRepositories(tx: Tx, projectId: number, repositories: Iterable<string>): Promise<void> {
  const { projectRepositories } = tx.tables
  await tx.delete(projectRepositories).where(eq(projectRepositories.projectId, projectId))
  const rows = [...new Set(repositories)].map((repository) => ({ projectId, repository }))
  if (rows.length > 0) await tx.insert(projectRepositories).values(rows)
}
