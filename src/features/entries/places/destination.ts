/** Where an entry goes that a person places, and why it cannot. */
import { Problem } from '../../../errors.ts'
import type { Id } from '../../../lib/id.ts'
import type { EntryRecord } from '../store.ts'
import type { Resolved } from './named-place.ts'
import type { PlacedEntry } from './store/places.ts'

/** A place as rows: the project and ticket that an entry moves to. */
export interface Destination {
  project: { id: number; uid: Id<'prj'>; key: string } | null
  ticket: { id: number; uid: Id<'tkt'>; key: string } | null
}

/**
 * The place that a resolved one means for this entry. An entry that changes its project loses a ticket of the old one; an
 * entry that loses its ticket stays in the project.
 */
export function destinationOf({ entry, ...at }: PlacedEntry, resolved: Resolved): Destination {
  const here = hereOf({ entry, ...at })
  const project = resolved.project === undefined ? here.project : resolved.project
  const stays = project !== null && project.id === here.project?.id
  const ticket = resolved.ticket === undefined ? (stays ? here.ticket : null) : resolved.ticket
  return { project, ticket }
}

/** The entry's new place; undefined if it was already placed there by hand. */
export function movedTo(placed: PlacedEntry, resolved: Resolved): Destination | undefined {
  const here = hereOf(placed)
  // Removing the ticket of an entry that has none does not affect its project.
  if (resolved.project === undefined && resolved.ticket === null && !here.ticket) return undefined
  const to = destinationOf(placed, resolved)
  const isSame = to.project?.id === here.project?.id && to.ticket?.id === here.ticket?.id
  return isSame && placed.entry.placedBy === 'manual' ? undefined : to
}

function hereOf({ entry, project, ticket }: PlacedEntry): Destination {
  return {
    project: project && { id: entry.projectId!, ...project },
    ticket: ticket && { id: entry.ticketId!, ...ticket },
  }
}

/** Of an entry that is placed nowhere, and that rules and later reports may place. */
export const UNATTRIBUTED = {
  projectId: null,
  ticketId: null,
  placedBy: null,
  ruleVersionId: null,
  placementNote: null,
}

export function placedByHand({ project, ticket }: Destination) {
  return {
    projectId: project?.id ?? null,
    ticketId: ticket?.id ?? null,
    placedBy: 'manual' as const,
    ruleVersionId: null,
    placementNote: null,
  }
}

/** The error for an entry in this state, with what has to happen before it can change. */
export function entryLocked({ entry, bill }: { entry: EntryRecord; bill: { number: string } | null }): Problem {
  const reason =
    entry.status === 'billed'
      ? bill
        ? `It is on bill ${bill.number}. Void the bill first`
        : 'Its bill is being sent or voided at this moment. Try again in a few seconds'
      : entry.status === 'voided'
        ? 'It is voided. Restore it first'
        : entry.sheetId !== null
          ? 'Its token sheet has been submitted. Have the sheet returned first'
          : 'It is approved. Withdraw the approval first'
  return new Problem('entry_locked', `Entry ${entry.uid} is locked. ${reason}.`)
}
