/** Places as people name them: what the names mean, and what is wrong with those that mean nothing. */
import type { Reader, Tx } from '../../database/database.ts'
import { type Fault, Problem, validationFailed } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { isId } from '../../lib/id.ts'
import type { Actor, Party } from '../audit/service.ts'
import type { PlacementService } from '../placement/service.ts'
import type { ProjectRow, ProjectsService, TicketRow } from '../projects/service.ts'
import { insertHistory } from './store/history.ts'
import { findProjectKey, findTicketKey, hasHiddenEntries } from './store/placing.ts'
import { moveTicketEntries } from './store/sessions.ts'

/** Where entries go. Absent is unchanged, null takes the entry off. */
export interface Place {
  /** Id, key, name or alias. */
  project?: string | null | undefined
  /** Id or key. One that is not known yet is made, where its project is known. */
  ticket?: string | null | undefined
}

/** What a place's names mean; undefined what was not said, null what is taken off. */
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
   * What the names of a place mean, made where it is a ticket of a known project. Throws 422 with every fault, and
   * `forbidden` where a ticket would take entries along that the party does not see.
   */
  async function resolve(tx: Tx, place: Place, party: Pick<Party, 'viewer' | 'by'>): Promise<Resolved> {
    const faults: Fault[] = []
    const project = typeof place.project === 'string' ? await findProject(tx, place.project) : place.project
    if (typeof place.project === 'string' && !project) faults.push(unknownProject(place.project))
    if (project?.archivedAt) faults.push(archivedProject(project, '/project'))
    if (typeof place.ticket === 'string' && place.project === null) faults.push(ticketWithoutProject())
    if (faults.length > 0) throw validationFailed(faults)
    if (typeof place.ticket !== 'string') return { project, ticket: place.ticket }
    return resolveTicket(tx, place.ticket, project ?? undefined, party)
  }

  async function resolveTicket(
    tx: Tx,
    named: string,
    project: ProjectRow | undefined,
    { viewer, by }: Pick<Party, 'viewer' | 'by'>,
  ): Promise<Resolved> {
    const key = await findTicketKey(tx, named)
    const known = key === undefined ? undefined : await projects.findTicket(tx, key)
    const own = known && known.projectId !== null ? await projects.getProject(tx, known.projectId) : undefined
    if (key === undefined) throw validationFailed([unknownTicket(named)])
    if (own && project && own.id !== project.id) throw validationFailed([ticketElsewhere(known!, own)])
    if (own?.archivedAt) throw validationFailed([archivedProject(own, '/ticket')])
    // By names alone, as a report would, but that no project is made for a slip of the finger.
    const found = await placement.placeByNames(
      tx,
      { project: project?.key, ticket: key },
      { unknownProjects: 'hold' as const },
    )
    if (!found.ticket) throw validationFailed([unknownTicket(named)])
    if (found.project?.archivedAt) throw validationFailed([archivedProject(found.project, '/ticket')])
    if (found.ticketFoundProject) {
      if (await hasHiddenEntries(tx, found.ticket.id, viewer)) throw othersOnTicket(found.ticket, found.project!)
      await takeEntriesAlong(tx, found.ticket, found.project!, by)
    }
    return { project: found.project, ticket: found.ticket }
  }

  /** A ticket that has found its project takes its other entries there. */
  async function takeEntriesAlong(tx: Tx, ticket: TicketRow, project: ProjectRow, by: Actor): Promise<void> {
    const moved = await moveTicketEntries(tx, ticket.id, project.id)
    const details = { project: project.uid, because: 'ticket_found_project' }
    await insertHistory(
      tx,
      { action: 'placed', at: clock.now(), by },
      moved.map((entryId) => ({ entryId, details })),
    )
  }

  return { resolve, takeEntriesAlong }
}

function unknownProject(named: string): Fault {
  return {
    pointer: '/project',
    code: 'unknown_project',
    message: `There is no project '${named}'. Make it first, or name another one by its id, key, name or alias.`,
  }
}

function archivedProject({ key }: ProjectRow, pointer: string): Fault {
  return { pointer, code: 'archived_project', message: `Project ${key} is archived. Restore it first.` }
}

function unknownTicket(named: string): Fault {
  return {
    pointer: '/ticket',
    code: 'unknown_ticket',
    message: isId('tkt', named)
      ? `There is no ticket ${named}.`
      : `There is no ticket '${named}'. Name its project as well, and it is made.`,
  }
}

function ticketElsewhere({ key }: TicketRow, own: ProjectRow): Fault {
  return {
    pointer: '/ticket',
    code: 'other_project',
    message: `Ticket ${key} belongs to project ${own.key}. Leave the project out, or name that one.`,
  }
}

/** People re-place what they see; who leads the project would otherwise draw everybody's entries into their own sight. */
function othersOnTicket({ key }: TicketRow, project: ProjectRow): Problem {
  return new Problem(
    'forbidden',
    `Ticket ${key} has no project yet, and entries that are not yours to see would move to ${project.key} with it. To give it a project needs the role billing or admin.`,
  )
}

function ticketWithoutProject(): Fault {
  return {
    pointer: '/project',
    code: 'ticket_has_project',
    message: 'A ticket stands in its project: leave the project out to place the entry on the ticket.',
  }
}
