/**
 * Who can see and change projects, tickets and clients (docs/design/concepts.md, "Roles"): everyone sees names, leads
 * also the budget and the people of their projects, billing and admin everything, including money terms and clients'
 * addresses. Pure.
 */

import type { Party } from '../../access/actor.ts'
import type { Viewer } from '../../access/visibility.ts'
import { Problem } from '../../errors.ts'

/** How much of a project, its tickets or a client a viewer can see. */
export type Sight = 'names' | 'lead' | 'everything'

interface Led {
  leads: { id: number }[]
  /** The leads of a project's client, who lead the project, too. */
  clientLeads?: { id: number }[]
}

/** The viewer's access to a project; null for items without a project. */
export function sightOf(viewer: Viewer, project: Led | null): Sight {
  if (viewer.sees === 'everything') return 'everything'
  return project && isLedBy(viewer.userId, project) ? 'lead' : 'names'
}

interface LedTicket extends Led {
  project: object | null
  assumed: { project: object | null; leads: { id: number }[] }[]
}

/**
 * The viewer's access to a ticket: that of its project. Until one is decided, leads see it as leads only if they
 * lead all projects that reports assume.
 */
export function sightOfTicket(viewer: Viewer, { project, leads, assumed }: LedTicket): Sight {
  if (project) return sightOf(viewer, { leads })
  const sights = assumed.filter((each) => each.project !== null).map((each) => sightOf(viewer, each))
  if (viewer.sees === 'everything') return 'everything'
  return sights.length > 0 && sights.every((sight) => sight === 'lead') ? 'lead' : 'names'
}

export function isLedBy(userId: number, { leads, clientLeads = [] }: Led): boolean {
  return [...leads, ...clientLeads].some(({ id }) => id === userId)
}

/** The fields that leads may change of their projects and tickets; all others need billing or admin. */
const LEADS_MAY_CHANGE: Record<'project' | 'ticket', readonly string[]> = {
  project: ['aliases', 'add_aliases', 'remove_aliases'],
  ticket: ['title', 'archived'],
}

/** Throws `forbidden`, naming the required role, if the viewer may not change these fields. */
export function requireChange(sight: Sight, what: 'project' | 'ticket', fields: readonly string[]): void {
  if (sight === 'everything') return
  const beyond = fields.filter((field) => !LEADS_MAY_CHANGE[what].includes(field))
  if (sight === 'lead' && beyond.length === 0) return
  throw sight === 'lead' ? beyondLead(what, beyond) : needsLead(what)
}

function beyondLead(what: 'project' | 'ticket', fields: readonly string[]): Problem {
  const may = what === 'project' ? 'its aliases' : 'its title, and archive or restore it'
  return new Problem(
    'forbidden',
    `Leads of the ${what === 'project' ? 'project' : "ticket's project"} can change only ${may}; changing ${fields.join(', ')} requires the role billing or admin.`,
  )
}

function needsLead(what: 'project' | 'ticket'): Problem {
  return new Problem(
    'forbidden',
    `To change this ${what}, you need the role billing or admin, or you must be a lead of ${what === 'project' ? 'it' : 'its project'}. Ask an admin to change your role, or billing to make you a lead.`,
  )
}

/** Throws `forbidden` for viewers without the role billing or admin, on routes and commands alike. */
export function requireEverything({ viewer }: Party): void {
  if (viewer.sees !== 'everything') {
    throw new Problem('forbidden', 'This requires the role billing or admin. Ask an admin to change your role.')
  }
}
