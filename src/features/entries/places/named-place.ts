/** Resolves the names of a place, with an issue for each name that can't be resolved. */

import type { Party } from '../../../access/actor.ts'
import type { Reader, Tx } from '../../../database/database.ts'
import { type Issue, validationFailed } from '../../../errors.ts'
import type { Clock } from '../../../lib/clock.ts'
import { isId } from '../../../lib/id.ts'
import type { PlacementService } from '../../placement/service.ts'
import type { AssumedTicketRow, ProjectRow, ProjectsService, TicketRow } from '../../projects/service.ts'
import { moveAllEntries } from '../ticket-moves.ts'
import { findProjectKey, findTicketKey } from './store/places.ts'

/** A place that entries move to. Absent leaves the project or ticket unchanged, null removes it. */
export interface Place {
  /** Id, key, name or alias. */
  project?: string | null | undefined
  /** Id or key. An unknown ticket is created if its project is known. */
  ticket?: string | null | undefined
}

/** A resolved place; undefined is unchanged, null is removed. */
export interface Resolved {
  project: ProjectRow | null | undefined
  ticket: TicketRow | null | undefined
}

export function isPlace({ project, ticket }: Place): boolean {
  return project !== undefined || ticket !== undefined
}

interface Dependencies {
  clock: Clock
  projects: ProjectsService
  placement: PlacementService
}

export function createNamedPlaces({ clock, projects, placement }: Dependencies) {
  async function findProject(reader: Reader, named: string): Promise<ProjectRow | undefined> {
    if (!isId('prj', named)) return projects.findProject(reader, named)
    const key = await findProjectKey(reader, named)
    return key === undefined ? undefined : projects.getProject(reader, key)
  }

  /**
   * Resolves the names of a place, and creates an unknown ticket of a known project. If the person may manage all
   * tickets, naming a project for a ticket decides the ticket's project for everyone; otherwise it only places these
   * entries. Throws 422 with every issue.
   */
  async function resolve(tx: Tx, place: Place, party: Party): Promise<Resolved> {
    const issues: Issue[] = []
    const project = typeof place.project === 'string' ? await findProject(tx, place.project) : place.project
    if (typeof place.project === 'string' && !project) issues.push(unknownProject(place.project))
    if (project?.archivedAt) issues.push(archivedProject(project, '/project'))
    if (typeof place.ticket === 'string' && place.project === null) issues.push(ticketWithoutProject())
    if (issues.length > 0) throw validationFailed(issues)
    if (typeof place.ticket !== 'string') return { project, ticket: place.ticket }
    return resolveTicket(tx, place.ticket, project ?? undefined, party)
  }

  async function resolveTicket(
    tx: Tx,
    named: string,
    project: ProjectRow | undefined,
    party: Party,
  ): Promise<Resolved> {
    const personId = party.person?.id ?? null
    const key = await findTicketKey(tx, named)
    if (key === undefined) throw validationFailed([unknownTicket(named)])
    const known = await projects.findTicket(tx, key, personId)
    if (known) return resolveKnown(tx, known, project, party)
    // By names alone, like a report, except that a typo never creates a project.
    const found = await placement.placeByNames(
      tx,
      { project: project?.key, ticket: key },
      { unknownProjects: 'hold', personId },
    )
    if (!found.ticket) throw validationFailed([unknownTicket(named)])
    if (found.project?.archivedAt) throw validationFailed([archivedProject(found.project, '/ticket')])
    return settle(tx, { project: found.project!, ticket: found.ticket }, project !== undefined, party)
  }

  async function resolveKnown(
    tx: Tx,
    ticket: AssumedTicketRow,
    named: ProjectRow | undefined,
    party: Party,
  ): Promise<Resolved> {
    const decided = ticket.projectId === null ? undefined : await projects.getProject(tx, ticket.projectId)
    if (named && decided && decided.id !== named.id) throw validationFailed([ticketElsewhere(ticket, decided)])
    if (named && !decided) return settle(tx, { project: named, ticket }, true, party)
    const assumed = ticket.assumedProjectId ? await projects.getProject(tx, ticket.assumedProjectId) : undefined
    const project = decided ?? assumed
    if (project?.archivedAt) throw validationFailed([archivedProject(project, '/ticket')])
    // Without a project, the entry keeps its own.
    return { project, ticket }
  }

  /** A person who manages all tickets decides the project of a ticket by naming it. */
  async function settle(
    tx: Tx,
    place: { project: ProjectRow; ticket: TicketRow },
    isNamed: boolean,
    { viewer, by }: Party,
  ): Promise<Resolved> {
    const { project, ticket } = place
    if (!isNamed || viewer.sees !== 'everything') return place
    await projects.decideTicketProject(tx, ticket, project, by)
    await moveAllEntries(tx, { ticketId: ticket.id, project, change: { action: 'placed', at: clock.now(), by } })
    return place
  }

  return { resolve }
}

function unknownProject(named: string): Issue {
  return {
    pointer: '/project',
    code: 'unknown_project',
    message: `Project '${named}' does not exist. Create it first, or use the ID, key, name or alias of an existing project.`,
  }
}

function archivedProject({ key }: ProjectRow, pointer: string): Issue {
  return { pointer, code: 'archived_project', message: `Project ${key} is archived. Restore it first.` }
}

function unknownTicket(named: string): Issue {
  return {
    pointer: '/ticket',
    code: 'unknown_ticket',
    message: isId('tkt', named)
      ? `Ticket ${named} does not exist.`
      : `Ticket '${named}' does not exist. To create it, specify its project as well.`,
  }
}

function ticketElsewhere({ key }: TicketRow, own: ProjectRow): Issue {
  return {
    pointer: '/ticket',
    code: 'other_project',
    message: `Ticket ${key} belongs to project ${own.key}. Omit the project or use ${own.key}.`,
  }
}

function ticketWithoutProject(): Issue {
  return {
    pointer: '/project',
    code: 'ticket_has_project',
    message: 'A ticket already determines the project. Omit the project to place the entry on the ticket.',
  }
}
