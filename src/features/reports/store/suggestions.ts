/** Tickets and projects that unattributed entries may belong to. */
import { and, eq, inArray, isNull } from 'drizzle-orm'
import { ledProjects, type Viewer } from '../../../access/visibility.ts'
import type { Reader } from '../../../database/database.ts'
import { portionsOf } from '../../../database/portions.ts'
import type { Id } from '../../../lib/id.ts'

export interface SuggestedProject {
  id: number
  uid: Id<'prj'>
  key: string
  name: string
}

export interface SuggestedTicket {
  folded: string
  key: string
  /** Of the project that was decided for it; null if none was. */
  projectId: number | null
}

const projectColumns = ({ tables: { projects } }: Reader) => ({
  id: projects.id,
  uid: projects.uid,
  key: projects.key,
  name: projects.name,
})

/** The tickets with these folded keys, without archived ones. */
export async function listTicketsByKey(reader: Reader, keys: readonly string[]): Promise<SuggestedTicket[]> {
  const { tickets } = reader.tables
  const found: SuggestedTicket[] = []
  for (const portion of portionsOf([...keys])) {
    found.push(
      ...(await reader
        .select({ folded: tickets.keyFolded, key: tickets.key, projectId: tickets.projectId })
        .from(tickets)
        .where(and(inArray(tickets.keyFolded, portion), isNull(tickets.archivedAt)))),
    )
  }
  return found
}

/** The projects with these folded keys, names or aliases, without archived ones. */
export async function listProjectsByName(
  reader: Reader,
  names: readonly string[],
): Promise<(SuggestedProject & { folded: string })[]> {
  const { projects, projectNames } = reader.tables
  const found: (SuggestedProject & { folded: string })[] = []
  for (const portion of portionsOf([...names])) {
    found.push(
      ...(await reader
        .select({ ...projectColumns(reader), folded: projectNames.folded })
        .from(projectNames)
        .innerJoin(projects, eq(projects.id, projectNames.projectId))
        .where(and(inArray(projectNames.folded, portion), isNull(projects.archivedAt)))),
    )
  }
  return found
}

/** The projects with these keys, without archived ones. */
export async function listProjectsById(reader: Reader, ids: readonly number[]): Promise<SuggestedProject[]> {
  const { projects } = reader.tables
  const found: SuggestedProject[] = []
  for (const portion of portionsOf([...ids])) {
    found.push(
      ...(await reader
        .select(projectColumns(reader))
        .from(projects)
        .where(and(inArray(projects.id, portion), isNull(projects.archivedAt)))),
    )
  }
  return found
}

/** The projects with these repositories, of those whose repositories the viewer may know: see `projects/access.ts`. */
export async function listProjectsByRepository(
  reader: Reader,
  viewer: Viewer,
  repositories: readonly string[],
): Promise<(SuggestedProject & { repository: string })[]> {
  if (viewer.sees === 'granted') return []
  const { projects, projectRepositories } = reader.tables
  const found: (SuggestedProject & { repository: string })[] = []
  for (const portion of portionsOf([...repositories])) {
    found.push(
      ...(await reader
        .select({ ...projectColumns(reader), repository: projectRepositories.repository })
        .from(projectRepositories)
        .innerJoin(projects, eq(projects.id, projectRepositories.projectId))
        .where(
          and(
            inArray(projectRepositories.repository, portion),
            isNull(projects.archivedAt),
            viewer.sees === 'everything' ? undefined : inArray(projects.id, ledProjects(reader, [viewer.userId])),
          ),
        )),
    )
  }
  return found
}
