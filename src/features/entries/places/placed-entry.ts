/** An entry with its place, in the API's terms and in those of the rules, and its place as it would be decided now. */
import type { Tx } from '../../../database/database.ts'
import type { PlacedBy } from '../../../database/schema/values.ts'
import type { Id } from '../../../lib/id.ts'
import type { Placement, PlacementService, Subject } from '../../placement/service.ts'
import type { PlacedEntry } from './store/places.ts'

/** A place in the API's terms; a ticket that is still to be created has no id. */
export interface PlaceBody {
  project: { id: Id<'prj'>; key: string } | null
  ticket: { id: Id<'tkt'> | null; key: string } | null
  placed_by: PlacedBy | 'unattributed'
}

interface Known {
  project: { uid: Id<'prj'>; key: string } | null
  ticket: { uid: Id<'tkt'>; key: string } | null
}

export function placeOf(at: Known & ({ entry: PlacedEntry['entry'] } | { by: PlaceBody['placed_by'] })): PlaceBody {
  return {
    project: at.project && { id: at.project.uid, key: at.project.key },
    ticket: at.ticket && { id: at.ticket.uid, key: at.ticket.key },
    placed_by: 'by' in at ? at.by : (at.entry.placedBy ?? 'unattributed'),
  }
}

/** Rules may move entries that they placed before, and entries without a placement. */
export function isForRules({ entry }: PlacedEntry): boolean {
  return entry.placedBy === null || entry.placedBy === 'rule'
}

/** The fields that rules match, of an existing entry. */
export function subjectOf(placed: PlacedEntry): Subject {
  return {
    agentHarness: placed.harness,
    agentName: placed.agent,
    model: placed.model,
    provider: placed.provider,
    manager: placed.manager,
    summary: placed.entry.summary,
    labels: placed.labels,
  }
}

/**
 * Places the entry anew. Names of its report that did not exist then are looked up again, but never created here: that
 * decision is left to the people who manage names on hold.
 */
export function placeAgain(tx: Tx, placement: PlacementService, placed: PlacedEntry): Promise<Placement> {
  const { namedProject, namedTicket } = placed.entry
  const named = { project: namedProject ?? undefined, ticket: namedTicket ?? undefined }
  return placement.place(
    tx,
    { named, subject: subjectOf(placed) },
    { unknownProjects: 'hold', personId: placed.manager.id },
  )
}
