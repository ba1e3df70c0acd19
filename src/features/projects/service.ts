/** Clients, projects and tickets: the work that entries are placed on. */
import type { Database, Reader, Tx } from '../../database/database.ts'
import type { Clock } from '../../lib/clock.ts'
import { composeName, foldName } from '../../lib/names.ts'
import type { AuditService } from '../audit/service.ts'
import { createClients } from './clients.ts'
import { createProjects, findProjectNamed } from './projects.ts'
import {
  type AssumedTicketRow,
  findProjectByName,
  findStandingProject,
  findTicketByKey,
  getProject,
  insertAssumption,
  insertProject,
  insertTicket,
  type ProjectRow,
  type TicketRow,
  updateAssumption,
} from './store/lookups.ts'
import { countTickets, moveTickets } from './store/tickets.ts'
import { createTickets } from './tickets.ts'

export { requireEverything, sightOf, sightOfClients, sightOfTicket } from './access.ts'
export type { EntryRelocation, Merged, MergeOptions } from './merge.ts'
export { mergeBody } from './merge.ts'
export { readClient, readProject, readTicket } from './request.ts'
export type { ClientRow } from './store/clients.ts'
export type { ProjectView } from './store/projects.ts'
export type { TicketView } from './store/tickets.ts'
export { isReservedName, parseBudget, parseMarkup, ticketPrefix } from './validation.ts'
export {
  clientBody,
  projectBody,
  projectReference,
  ticketBody,
} from './wire.ts'
export type { AssumedTicketRow, ProjectRow, TicketRow }

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

    /** The project whose key, name or alias this is; undefined where there is none. */
    findProject: (reader: Reader, name: string) => findProjectByName(reader, foldName(name)),

    getProject,

    findProjectNamed,

    findStandingProject,

    /** The project that goes by this name, made with it as key and name on first mention. */
    async findOrAddProject(tx: Tx, name: string): Promise<{ project: ProjectRow; added: boolean }> {
      const known = await findProjectByName(tx, foldName(name))
      if (known) return { project: known, added: false }
      const spelled = composeName(name)
      const project = await insertProject(tx, { key: spelled, name: spelled, folded: foldName(name), now: clock.now() })
      return { project, added: true }
    },

    /** The ticket with this key, as it is to a person; undefined where there is none. */
    findTicket: (reader: Reader, key: string, userId: number | null) => findTicketByKey(reader, foldName(key), userId),

    /** Adds a ticket that a report names, and whose project nobody has decided on. */
    addReportedTicket: (tx: Tx, key: string): Promise<TicketRow> =>
      insertTicket(tx, {
        key: composeName(key),
        folded: foldName(key),
        projectId: null,
        reported: true,
        now: clock.now(),
      }),

    insertAssumption,
    updateAssumption,

    /** How many tickets a project has. */
    countTickets,

    /** Gives some tickets of a merged project to the one that stays, and answers how many. */
    moveTickets,
  }
}
