import { inArray } from 'drizzle-orm'
import { ledProjects } from '../../access/visibility.ts'
import type { Reader } from '../../database/database.ts'

/** The public ids of the projects that somebody leads, by themselves or with their client. */
export async function listLedProjects(reader: Reader, userId: number): Promise<string[]> {
  const { projects } = reader.tables
  const led = (await ledProjects(reader, [userId])).map(({ id }) => id)
  if (led.length === 0) return []
  const rows = await reader.select({ uid: projects.uid }).from(projects).where(inArray(projects.id, led))
  return rows.map(({ uid }) => uid)
}
