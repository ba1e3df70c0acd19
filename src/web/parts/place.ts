/** Where a form assigns entries. */
import type { Choice } from './pickers.tsx'

export interface Place {
  kind: 'project' | 'ticket' | 'nothing'
  project: Choice | null
  ticket: Choice | null
}

export const NO_PLACE: Place = { kind: 'project', project: null, ticket: null }

/** Marks a ticket that will be created. */
const NEW = 'new:'
export const newTicket = (typed: string): Choice => ({ value: `${NEW}${typed}`, label: typed })
export const isNew = (ticket: Choice): boolean => ticket.value.startsWith(NEW)

export const isChosen = ({ kind, project, ticket }: Place): boolean =>
  kind === 'nothing' || (kind === 'project' ? project !== null : ticket !== null)

/** The API's body. A ticket implies its project; only a new ticket needs one. */
export function placeBody({ kind, project, ticket }: Place): { project?: string | null; ticket?: string | null } {
  if (kind === 'nothing') return { project: null, ticket: null }
  if (kind === 'project') return { project: project!.value, ticket: null }
  if (!isNew(ticket!)) return { ticket: ticket!.value }
  return { ticket: ticket!.label, ...(project && { project: project.value }) }
}

/** `ACME`, `ACME-42`, or `none`. */
export function placeInWords({ kind, project, ticket }: Place): string {
  if (kind === 'nothing') return 'none'
  return (kind === 'project' ? project?.label : ticket?.label) ?? '…'
}
