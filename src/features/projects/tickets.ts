/** Tickets: work on a project that reports name by a key. */
import type { Database, Reader, Tx } from '../../database/database.ts'
import { notFound, Problem, validationFailed } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { isId } from '../../lib/id.ts'
import { composeName, foldName } from '../../lib/names.ts'
import { type AuditService, difference, type Party } from '../audit/service.ts'
import type { TicketFields } from './fields.ts'
import { findProjectNamed } from './projects.ts'
import { faultsOfTicket, isPossibleName } from './rules.ts'
import { requireChange, requireEverything, sightOf } from './sight.ts'
import type { Page } from './store/clients.ts'
import { getProject } from './store/lookups.ts'
import {
  deleteTicket,
  findTicketView,
  hasEntries,
  holdTicket,
  insertTicketRecord,
  listTicketViews,
  type TicketFilter,
  type TicketChange as TicketRowChange,
  type TicketView,
  updateTicket,
} from './store/tickets.ts'
import { ticketBody } from './wire.ts'

async function getTicket(reader: Reader, ticket: string): Promise<TicketView> {
  const by = isId('tkt', ticket) ? { uid: ticket } : { folded: foldName(ticket) }
  const found = isPossibleName(ticket) ? await findTicketView(reader, by) : undefined
  if (!found) throw notFound(`The ticket '${ticket}'`)
  return found
}

function keyTaken({ ticket }: TicketView): Problem {
  const state = ticket.archivedAt === null ? '' : ', which is archived'
  return new Problem('already_exists', `There is a ticket ${ticket.key} (${ticket.uid})${state}.`)
}

function objectOf({ ticket }: TicketView) {
  return { id: ticket.uid, name: ticket.key }
}

interface Dependencies {
  db: Database
  clock: Clock
  audit: AuditService
}

export function createTickets({ db, clock, audit }: Dependencies) {
  /** The key of the project that is named, or of the one it was merged into. */
  async function projectOf(reader: Reader, project: string): Promise<number> {
    const view = await findProjectNamed(reader, project)
    if (view) return (await getProject(reader, view.project.id)).id
    throw validationFailed([
      { pointer: '/project', code: 'unknown', message: `'${project}' is the id or name of no project` },
    ])
  }

  async function change(tx: Tx, party: Party, before: TicketView, action: string, changing: TicketRowChange) {
    await updateTicket(tx, before.ticket.id, changing)
    const after = await getTicket(tx, before.ticket.uid)
    const changed = difference(ticketBody(before), ticketBody(after))
    if (changed) await audit.record(tx, party.by, { action, object: objectOf(after), ...changed })
    return after
  }

  async function changeArchived(party: Party, ticket: string, action: string, archive: boolean): Promise<TicketView> {
    return db.write(async (tx) => {
      const before = await getTicket(tx, ticket)
      requireChange(sightOf(party.viewer, before), 'ticket', ['archived'])
      if ((before.ticket.archivedAt !== null) === archive) return before
      return change(tx, party, before, action, { archivedAt: archive ? clock.now() : null })
    })
  }

  return {
    /** A page of tickets, newest first. */
    listTickets: (filter: TicketFilter, page: Page): Promise<TicketView[]> =>
      listTicketViews(filter.search === undefined ? db.read : db.slow, filter, page),

    /** By id (`tkt_…`) or key. Throws `not_found`. */
    showTicket: (ticket: string): Promise<TicketView> => getTicket(db.read, ticket),

    /** Throws `validation_failed`, and `already_exists` where there is a ticket with the key. */
    async addNewTicket(party: Party, { key: given, title = null, project }: TicketFields & { key: string }) {
      requireEverything(party)
      const key = composeName(given)
      const faults = faultsOfTicket({ key, title })
      if (faults.length > 0) throw validationFailed(faults)
      return db.write(async (tx) => {
        const projectId = project === undefined || project === null ? null : await projectOf(tx, project)
        const uid = await insertTicketRecord(tx, { key, title, projectId }, clock.now())
        if (!uid) throw keyTaken(await getTicket(tx, key))
        const added = await getTicket(tx, uid)
        await audit.record(tx, party.by, { action: 'ticket.added', object: objectOf(added), after: ticketBody(added) })
        return added
      })
    },

    /**
     * Absent fields stay, null clears. Who leads its project may change its title, all else needs the role billing or
     * admin. The caller lets the ticket's entries follow it to another project. Throws `validation_failed`,
     * `forbidden`, `not_found`.
     */
    async changeTicket(party: Party, ticket: string, { title, project }: TicketFields): Promise<TicketView> {
      return db.write(async (tx) => {
        const before = await getTicket(tx, ticket)
        const fields = [...(title === undefined ? [] : ['title']), ...(project === undefined ? [] : ['project'])]
        requireChange(sightOf(party.viewer, before), 'ticket', fields)
        const faults = faultsOfTicket({ title })
        if (faults.length > 0) throw validationFailed(faults)
        const projectId = typeof project === 'string' ? await projectOf(tx, project) : project
        if (projectId !== undefined && projectId !== before.ticket.projectId) await holdTicket(tx, before.ticket)
        return change(tx, party, before, 'ticket.changed', {
          ...(title !== undefined && { title }),
          ...(projectId !== undefined && { projectId }),
        })
      })
    },

    /** Takes a ticket out of lists. Reports that name it still arrive there. */
    archiveTicket: (party: Party, ticket: string): Promise<TicketView> =>
      changeArchived(party, ticket, 'ticket.archived', true),

    restoreTicket: (party: Party, ticket: string): Promise<TicketView> =>
      changeArchived(party, ticket, 'ticket.restored', false),

    /** Removes a ticket that no entry is on. Throws `in_use` for any other. */
    removeTicket(party: Party, ticket: string): Promise<void> {
      requireEverything(party)
      return db.write(async (tx) => {
        const found = await getTicket(tx, ticket)
        if (await hasEntries(tx, found.ticket.id)) {
          throw new Problem('in_use', `The ticket ${found.ticket.key} has entries. Archive it instead.`)
        }
        await deleteTicket(tx, found.ticket.id)
        await audit.record(tx, party.by, {
          action: 'ticket.removed',
          object: objectOf(found),
          before: ticketBody(found),
        })
      })
    },
  }
}
