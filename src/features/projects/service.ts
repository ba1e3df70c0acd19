/** Clients, projects and tickets: the work that entries are placed on. */
import type { Database, Reader } from '../../database/database.ts'
import { validationFailed } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { foldName } from '../../lib/names.ts'
import type { AuditService } from '../audit/service.ts'
import { createClients } from './clients.ts'
import { issuesOfWork, type WorkKind } from './known-names.ts'
import { createProjects, findProjectNamed } from './projects.ts'
import {
  type AssumedTicketRow,
  findProjectByName,
  findTicketByKey,
  getProject,
  type ProjectRow,
  type TicketRow,
} from './store/lookups.ts'
import { listRepositories } from './store/repositories.ts'
import { countTickets, moveTickets } from './store/tickets.ts'
import { createTickets } from './tickets.ts'

export { isLedBy, requireEverything, sightOf } from './access.ts'
export type { EntryRelocation, Merged, MergeOptions } from './merge.ts'
export { mergeBody } from './merge.ts'
export { NamedWork } from './named-work.ts'
export type { ClientView } from './store/clients.ts'
export type { ProjectView } from './store/projects.ts'
export type { TicketView } from './store/tickets.ts'
export { isReservedName, ticketPrefix } from './validation.ts'
export { clientBody, projectBody, projectReference } from './wire.ts'
export type { AssumedTicketRow, ProjectRow, TicketRow }

export { issuesOfWork, type WorkKind }

export type ProjectsService = ReturnType<typeof createProjectsService>

export interface ProjectsDependencies {
  db: Database
  clock: Clock
  audit: AuditService
}

export function createProjectsService({ db, clock, audit }: ProjectsDependencies) {
  return {
    ...createClients({ db, clock, audit }),
    ...createProjects({ db, clock, audit }),
    ...createTickets({ db, clock, audit }),

    /** Throws 422 if a filter names work that does not exist. */
    async requireKnown(kind: WorkKind, values: readonly string[] | undefined, pointer: string): Promise<void> {
      const issues = await issuesOfWork(db.read, kind, values, pointer)
      if (issues.length > 0) throw validationFailed(issues)
    },

    /** The project with this key, name or alias; undefined if there is none. */
    findProject: (reader: Reader, name: string) => findProjectByName(reader, foldName(name)),

    getProject,

    findProjectNamed,

    /** The repositories of each of these projects. */
    listRepositories,

    /** The ticket with this key, with a person's assumption about it; undefined if there is none. */
    findTicket: (reader: Reader, key: string, userId: number | null) => findTicketByKey(reader, foldName(key), userId),

    /** The number of a project's tickets. */
    countTickets,

    /** Moves some tickets of a merged project to the remaining one, and returns their number. */
    moveTickets,
  }
}
