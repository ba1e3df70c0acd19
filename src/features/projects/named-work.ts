/** The projects and tickets that a set of reports names, and those that it adds. */
import type { Tx } from '../../database/database.ts'
import type { Changes, KnownRows, NewIds, WorkingSet } from '../../database/working-set.ts'
import { newId } from '../../lib/id.ts'
import { composeName, foldName } from '../../lib/names.ts'
import {
  type AssumedTicketRow,
  type Assumption,
  insertAssumptions,
  insertProjects,
  insertTickets,
  lockDecidedProjects,
  lockProjects,
  lockProjectsByName,
  lockTicketsByKey,
  type ProjectRow,
  type TicketRow,
  updateAssumption,
} from './store/lookups.ts'

interface TicketName {
  folded: string
  /** The person who names it; null on the command line. */
  userId: number | null
}

interface PlannedAssumption extends Assumption {
  isNew: boolean
}

/** Part of a {@link WorkingSet}: all methods but `save` are steps of a plan. */
export class NamedWork {
  readonly #projects: KnownRows<string, ProjectRow | undefined>
  readonly #projectsById: KnownRows<number, ProjectRow>
  readonly #tickets: KnownRows<TicketName, AssumedTicketRow | undefined>
  readonly #decided: KnownRows<number, number | null>
  readonly #newProjects: Changes<string, ProjectRow>
  readonly #newTickets: Changes<string, TicketRow>
  readonly #assumptions: Changes<string, PlannedAssumption>
  readonly #projectIds: NewIds
  readonly #ticketIds: NewIds

  constructor(
    set: WorkingSet,
    readonly now: number,
  ) {
    this.#projects = set.rows((folded) => folded, lockProjectsByName)
    this.#projectsById = set.rows((id) => id, lockProjects)
    this.#tickets = set.rows(({ folded, userId }) => `${userId} ${folded}`, lockTicketsByKey)
    this.#decided = set.rows((ticketId) => ticketId, lockDecidedProjects)
    this.#newProjects = set.changes()
    this.#newTickets = set.changes()
    this.#assumptions = set.changes()
    this.#projectIds = set.ids((tx, count) => tx.reserveIds(tx.tables.projects, count))
    this.#ticketIds = set.ids((tx, count) => tx.reserveIds(tx.tables.tickets, count))
  }

  /** Loads what a plan will need for these names. */
  wantProject(name: string): void {
    this.#projects.want(foldName(name))
  }

  wantTicket(key: string, userId: number | null): void {
    this.#tickets.want({ folded: foldName(key), userId })
  }

  /** The project with this key, name or alias; undefined if there is none. */
  findProject(name: string): ProjectRow | undefined {
    const folded = foldName(name)
    const project = this.#newProjects.get(folded) ?? this.#projects.get(folded)
    return project && this.#followed(project)
  }

  /** The project with this key, or the one it was merged into. */
  getProject(id: number): ProjectRow {
    return this.#followed(this.#projectsById.get(id))
  }

  /** The project with this name; on first mention created with it as key and name. */
  findOrAddProject(name: string): ProjectRow {
    const known = this.findProject(name)
    if (known) return known
    const key = composeName(name)
    const id = this.#projectIds.next()
    const project: ProjectRow = { id, uid: newId('prj'), key, name: key, archivedAt: null, mergedIntoId: null }
    this.#newProjects.put(foldName(name), project)
    this.#projectsById.change(id, project)
    return project
  }

  /** The ticket with this key, with a person's assumption about it; undefined if there is none. */
  findTicket(key: string, userId: number | null): AssumedTicketRow | undefined {
    const folded = foldName(key)
    const ticket = this.#newTickets.get(folded) ?? this.#tickets.get({ folded, userId })
    if (!ticket) return undefined
    const known = 'assumedProjectId' in ticket ? (ticket as AssumedTicketRow).assumedProjectId : undefined
    const planned = this.#assumptions.get(`${ticket.id} ${userId}`)
    return { ...ticket, assumedProjectId: planned ? planned.projectId : known }
  }

  /** Adds a ticket that a report names, without a decision about its project. */
  addReportedTicket(key: string): TicketRow {
    const id = this.#ticketIds.next()
    const ticket: TicketRow = { id, uid: newId('tkt'), key: composeName(key), projectId: null, reported: true }
    this.#newTickets.put(foldName(key), ticket)
    return ticket
  }

  /** Saves the project that a person's reports assume for a ticket. */
  assume(assumption: Assumption, isNew: boolean): void {
    const key = `${assumption.ticketId} ${assumption.userId}`
    this.#assumptions.put(key, { ...assumption, isNew: isNew || (this.#assumptions.get(key)?.isNew ?? false) })
  }

  /**
   * The current project of an entry that may have been placed long ago, to continue it: since then a project may have
   * been decided for its ticket, and its project may have been merged.
   */
  findCurrentProject({ projectId, ticketId }: Placed): ProjectRow | null {
    const standing = (ticketId === null ? null : this.#decided.get(ticketId)) ?? projectId
    return standing === null ? null : this.getProject(standing)
  }

  async save(tx: Tx): Promise<void> {
    await insertProjects(tx, this.#newProjects.values(), this.now)
    await insertTickets(tx, this.#newTickets.values(), this.now)
    const assumptions = this.#assumptions.values()
    await insertAssumptions(
      tx,
      assumptions
        .filter(({ isNew }) => isNew)
        .map(({ ticketId, userId, projectId }) => ({ ticketId, userId, projectId })),
    )
    for (const assumption of assumptions) if (!assumption.isNew) await updateAssumption(tx, assumption)
  }

  #followed(project: ProjectRow): ProjectRow {
    return project.mergedIntoId === null ? project : this.getProject(project.mergedIntoId)
  }
}

interface Placed {
  projectId: number | null
  ticketId: number | null
}
