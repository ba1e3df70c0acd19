/** Clients, projects and tickets: the work that entries are placed on. */
import type { Reader, Tx } from '../../database/database.ts'
import type { Clock } from '../../lib/clock.ts'
import {
  findProjectByName,
  findTicketByKey,
  getProject,
  insertProject,
  insertTicket,
  type ProjectRow,
  type TicketRow,
  updateTicketProject,
} from './store.ts'

export type { ProjectRow, TicketRow }

/** Names are compared without regard to case and outer space, in Unicode's composed form. */
export function foldName(name: string): string {
  return name.normalize('NFC').trim().toLowerCase()
}

export type ProjectsService = ReturnType<typeof createProjectsService>

export function createProjectsService({ clock }: { clock: Clock }) {
  return {
    /** The project whose key, name or alias this is; undefined where there is none. */
    findProject: (reader: Reader, name: string) => findProjectByName(reader, foldName(name)),

    getProject,

    /** The project that goes by this name, made with it as key and name on first mention. */
    async findOrAddProject(tx: Tx, name: string): Promise<{ project: ProjectRow; added: boolean }> {
      const known = await findProjectByName(tx, foldName(name))
      if (known) return { project: known, added: false }
      const spelled = name.trim()
      const project = await insertProject(tx, { key: spelled, name: spelled, folded: foldName(name), now: clock.now() })
      return { project, added: true }
    },

    /** The ticket with this key; undefined where there is none. */
    findTicket: (reader: Reader, key: string) => findTicketByKey(reader, foldName(key)),

    /** Adds a ticket under a project, or under none. */
    addTicket: (tx: Tx, key: string, projectId: number | null): Promise<TicketRow> =>
      insertTicket(tx, { key: key.trim(), folded: foldName(key), projectId, now: clock.now() }),

    /** Gives a ticket that had no project one. The caller moves the entries that stand on the ticket. */
    assignTicket: (tx: Tx, ticketId: number, projectId: number) => updateTicketProject(tx, ticketId, projectId),
  }
}
