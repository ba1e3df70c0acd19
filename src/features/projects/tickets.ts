/** Tickets: work on a project that reports name by a key. */

import type { Actor, Party } from '../../access/actor.ts'
import type { Database, Reader, Tx } from '../../database/database.ts'
import { notFound, Problem, refusal, validationFailed } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { isId } from '../../lib/id.ts'
import { composeName, foldName } from '../../lib/names.ts'
import type { Rows } from '../../schema/lists.ts'
import { type AuditService, type ChangeAction, difference } from '../audit/service.ts'
import { isLedBy, requireChange, requireEverything, sightOfTicket } from './access.ts'
import type { TicketFields } from './fields.ts'
import { findProjectNamed } from './projects.ts'
import type { TICKET_SORTS } from './sorts.ts'
import { findProjectByName, getProject } from './store/lookups.ts'
import { findProjectView } from './store/projects.ts'
import {
  countConflictingTickets,
  deleteTicket,
  findTicketView,
  hasEntries,
  hasHiddenEntries,
  holdTicket,
  insertTicketRecord,
  listTicketViews,
  pageAfterTicket,
  type TicketFilter,
  type TicketChange as TicketRowChange,
  type TicketView,
  updateTicket,
} from './store/tickets.ts'
import { isPossibleName, issuesOfTicket, ticketPrefix } from './validation.ts'
import { ticketBody } from './wire.ts'

async function getTicket(reader: Reader, ticket: string): Promise<TicketView> {
  const by = isId('tkt', ticket) ? { uid: ticket } : { folded: foldName(ticket) }
  const found = isPossibleName(ticket) ? await findTicketView(reader, by) : undefined
  if (!found) throw notFound(`The ticket '${ticket}'`)
  return found
}

function keyTaken({ ticket }: TicketView): Problem {
  const state = ticket.archivedAt === null ? '' : ', archived'
  return new Problem('already_exists', `A ticket with the key ${ticket.key} already exists (${ticket.uid}${state}).`)
}

function objectOf({ ticket }: TicketView) {
  return { id: ticket.uid, name: ticket.key }
}

/** The record for the audit log and for comparisons, with the API's field names. */
function recordOf(view: TicketView): Record<string, unknown> {
  return ticketBody(view, 'everything')
}

function needsDecider({ ticket }: TicketView): Problem {
  return new Problem(
    'forbidden',
    `To set the project of ticket ${ticket.key}, you need the role billing or admin, or you must be a lead of that project.`,
  )
}

/** Otherwise leads could move other people's entries into projects that they see. */
function needsManager({ ticket }: TicketView): Problem {
  return new Problem(
    'forbidden',
    `Ticket ${ticket.key} belongs to another project, or has entries that you cannot see. To set its project, you need the role billing or admin.`,
  )
}

interface Dependencies {
  db: Database
  clock: Clock
  audit: AuditService
}

export function createTickets({ db, clock, audit }: Dependencies) {
  /** The key of the named project, or of the one it was merged into. */
  async function projectOf(reader: Reader, project: string): Promise<number> {
    const view = await findProjectNamed(reader, project)
    if (view) return (await getProject(reader, view.project.id)).id
    throw refusal('/project', 'unknown', `'${project}' is not the id or name of a project`)
  }

  async function change(
    tx: Tx,
    { by }: Pick<Party, 'by'>,
    before: TicketView,
    action: ChangeAction,
    changing: TicketRowChange,
  ): Promise<TicketView> {
    await updateTicket(tx, before.ticket.id, changing)
    const after = await getTicket(tx, before.ticket.uid)
    const changed = difference(recordOf(before), recordOf(after))
    if (changed) await audit.record(tx, by, { action, object: objectOf(after), ...changed })
    return after
  }

  /**
   * The only place that decides who may set a ticket's project, which then applies to everyone's reports: billing and
   * admin; and leads of that project, unless the ticket belongs to another project, by decision or by its key, or has
   * entries that they do not see.
   */
  async function requireDecision(tx: Tx, { viewer }: Party, view: TicketView, projectId: number | null): Promise<void> {
    if (viewer.sees === 'everything') return
    const leads = async (id: number | null) =>
      id !== null && isLedBy(viewer.userId, (await findProjectView(tx, { id }))!)
    if (!(await leads(projectId))) throw needsDecider(view)
    const prefix = ticketPrefix(view.ticket.key)
    const byPrefix = prefix === undefined ? undefined : await findProjectByName(tx, foldName(prefix))
    const isElsewhere = (view.project && !(await leads(view.project.id))) || (byPrefix && byPrefix.id !== projectId)
    if (isElsewhere || (await hasHiddenEntries(tx, view.ticket.id, viewer))) throw needsManager(view)
  }

  async function changeArchived(
    party: Party,
    ticket: string,
    action: ChangeAction,
    archive: boolean,
  ): Promise<TicketView> {
    return db.write(async (tx) => {
      const before = await getTicket(tx, ticket)
      requireChange(sightOfTicket(party.viewer, before), 'ticket', ['archived'])
      if ((before.ticket.archivedAt !== null) === archive) return before
      return change(tx, party, before, action, { archivedAt: archive ? clock.now() : null })
    })
  }

  return {
    ticketRows: {
      list: (filter, page) =>
        listTicketViews(filter.search === undefined && !page.by ? db.read : db.slow, filter, page),
      keyOf: ({ ticket }) => ticket.id,
      pageAfter: pageAfterTicket,
    } satisfies Rows<TicketFilter, keyof typeof TICKET_SORTS, TicketView>,

    /** The number of tickets that reports name under different projects. */
    countConflictingTickets: (): Promise<number> => countConflictingTickets(db.read),

    /** By id (`tkt_…`) or key. Throws `not_found`. */
    showTicket: (ticket: string): Promise<TicketView> => getTicket(db.read, ticket),

    /** Throws `validation_failed`, and `already_exists` if a ticket already has the key. */
    async addNewTicket(party: Party, { key: given, title = null, project }: TicketFields & { key: string }) {
      requireEverything(party)
      const key = composeName(given)
      const issues = issuesOfTicket({ key, title })
      if (issues.length > 0) throw validationFailed(issues)
      return db.write(async (tx) => {
        const projectId = project === undefined || project === null ? null : await projectOf(tx, project)
        const uid = await insertTicketRecord(tx, { key, title, projectId }, clock.now())
        if (!uid) throw keyTaken(await getTicket(tx, key))
        const added = await getTicket(tx, uid)
        await audit.record(tx, party.by, { action: 'ticket.added', object: objectOf(added), after: recordOf(added) })
        return added
      })
    },

    /**
     * Absent fields stay unchanged; null clears a field. Leads of its project can change its title; for its project see
     * {@link requireDecision}; everything else needs the role billing or admin. The caller moves the ticket's entries
     * to another project. Throws `validation_failed`, `forbidden`, `not_found`.
     */
    async changeTicket(party: Party, ticket: string, { title, project }: TicketFields): Promise<TicketView> {
      return db.write(async (tx) => {
        const before = await getTicket(tx, ticket)
        if (title !== undefined) requireChange(sightOfTicket(party.viewer, before), 'ticket', ['title'])
        const issues = issuesOfTicket({ title })
        if (issues.length > 0) throw validationFailed(issues)
        const projectId = typeof project === 'string' ? await projectOf(tx, project) : project
        if (projectId !== undefined) await requireDecision(tx, party, before, projectId)
        if (projectId !== undefined && projectId !== before.ticket.projectId) await holdTicket(tx, before.ticket)
        return change(tx, party, before, 'ticket.changed', {
          ...(title !== undefined && { title }),
          ...(projectId !== undefined && { projectId }),
        })
      })
    },

    /**
     * Sets the project of a ticket, within the transaction of the caller, who must have checked the right to it and
     * moves the ticket's entries.
     */
    async decideTicketProject(tx: Tx, { uid }: { uid: string }, project: { id: number }, by: Actor): Promise<void> {
      const before = await getTicket(tx, uid)
      await holdTicket(tx, before.ticket)
      await change(tx, { by }, before, 'ticket.changed', { projectId: project.id })
    },

    /** Hides a ticket from lists. Reports that name it are still assigned to it. */
    archiveTicket: (party: Party, ticket: string): Promise<TicketView> =>
      changeArchived(party, ticket, 'ticket.archived', true),

    restoreTicket: (party: Party, ticket: string): Promise<TicketView> =>
      changeArchived(party, ticket, 'ticket.restored', false),

    /** Removes a ticket without entries. Throws `in_use` for any other. */
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
          before: recordOf(found),
        })
      })
    },
  }
}
