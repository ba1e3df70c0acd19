/** How an entry finds its work: the report's ticket, its project, else nothing (product.md, "Placement"). */
import type { Tx } from '../../database/database.ts'
import type { PlacedBy, UnknownProjects } from '../../database/tables.ts'
import type { ProjectRow, ProjectsService, TicketRow } from '../projects/service.ts'

export interface Placement {
  project: ProjectRow | null
  ticket: TicketRow | null
  /** Null where nothing placed it: the entry is unattributed. */
  by: PlacedBy | null
  /** The rule that placed it, or that gave a named ticket its project. */
  ruleVersionId: number | null
  /** Where names disagreed or could not be used. */
  note: string | null
  /** What was named but could not be used, kept so that nothing said is lost. */
  namedProject: string | null
  namedTicket: string | null
  /** The ticket had no project until this report named one: its earlier entries belong there as well. */
  ticketFoundProject: boolean
}

export interface Named {
  project?: string | undefined
  ticket?: string | undefined
}

export interface PlacementOptions {
  /** What becomes of a name that is not known yet: made on first mention, or held with the entry. */
  unknownProjects: UnknownProjects
}

const UNATTRIBUTED: Placement = {
  project: null,
  ticket: null,
  by: null,
  ruleVersionId: null,
  note: null,
  namedProject: null,
  namedTicket: null,
  ticketFoundProject: false,
}

/** The part of a ticket's key that may be a project's key: `ACME-42` → `ACME`, `acme/web#17` → `acme/web`. */
function ticketPrefix(key: string): string | undefined {
  return /^(.+?)[-#]\d+$/.exec(key.trim())?.[1]
}

export type PlacementService = ReturnType<typeof createPlacementService>

export function createPlacementService({ projects }: { projects: ProjectsService }) {
  /** The named project. Undefined where none was named, or where it is unknown and names are held. */
  async function findNamedProject(tx: Tx, name: string | undefined, { unknownProjects }: PlacementOptions) {
    if (name === undefined) return undefined
    if (unknownProjects === 'create') return (await projects.findOrAddProject(tx, name)).project
    return projects.findProject(tx, name)
  }

  async function placeOnKnownTicket(
    tx: Tx,
    ticket: TicketRow,
    named: Named,
    options: PlacementOptions,
  ): Promise<Placement> {
    const on = { ...UNATTRIBUTED, by: 'named' as const }
    if (ticket.projectId !== null) {
      const own = await projects.getProject(tx, ticket.projectId)
      const other = named.project === undefined ? undefined : await projects.findProject(tx, named.project)
      const disagree = named.project !== undefined && other?.id !== own.id
      const note = disagree
        ? `The report named project '${named.project}', but ticket ${ticket.key} belongs to ${own.key}.`
        : null
      return { ...on, ticket, project: own, note }
    }
    const project = await findNamedProject(tx, named.project, options)
    if (!project) return { ...on, ticket, ...held(named, project) }
    await projects.assignTicket(tx, ticket.id, project.id)
    return { ...on, ticket: { ...ticket, projectId: project.id }, project, ticketFoundProject: true }
  }

  async function placeOnNewTicket(tx: Tx, key: string, named: Named, options: PlacementOptions): Promise<Placement> {
    const prefix = ticketPrefix(key)
    const project =
      (await findNamedProject(tx, named.project, options)) ??
      (prefix === undefined ? undefined : await projects.findProject(tx, prefix))
    if (options.unknownProjects === 'hold' && !project) {
      return { ...UNATTRIBUTED, namedProject: named.project ?? null, namedTicket: key, note: unknownNames(named) }
    }
    const ticket = await projects.addTicket(tx, key, project?.id ?? null)
    return { ...UNATTRIBUTED, by: 'named', ticket, project: project ?? null }
  }

  return {
    /** Where the names in a report put its entry. What is not known yet is made, or held as the organization wants it. */
    async placeByNames(tx: Tx, named: Named, options: PlacementOptions): Promise<Placement> {
      if (named.ticket !== undefined) {
        const ticket = await projects.findTicket(tx, named.ticket)
        return ticket
          ? placeOnKnownTicket(tx, ticket, named, options)
          : placeOnNewTicket(tx, named.ticket, named, options)
      }
      if (named.project === undefined) return UNATTRIBUTED
      const project = await findNamedProject(tx, named.project, options)
      if (!project) return { ...UNATTRIBUTED, ...held(named, project) }
      return { ...UNATTRIBUTED, by: 'named', project }
    },
  }
}

function held(named: Named, project: ProjectRow | undefined): Pick<Placement, 'namedProject' | 'note'> {
  if (named.project === undefined || project) return { namedProject: null, note: null }
  return { namedProject: named.project, note: unknownNames(named) }
}

function unknownNames({ project, ticket }: Named): string {
  const names = [project === undefined ? '' : `project '${project}'`, ticket === undefined ? '' : `ticket '${ticket}'`]
  return `The report named ${names.filter(Boolean).join(' and ')}, which this organization has not made.`
}
