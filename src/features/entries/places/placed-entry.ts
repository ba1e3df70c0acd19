/** An entry with where it is: as it is told, as rules see it, and where it belongs now. */
import type { Tx } from '../../../database/database.ts'
import type { PlacedBy } from '../../../database/schema/values.ts'
import type { Id } from '../../../lib/id.ts'
import type { Placement, PlacementService, Subject } from '../../placement/service.ts'
import type { PlacedEntry } from './store/places.ts'

/** A place in the words of the API; a ticket that is only about to be made has no id yet. */
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

/** What rules may move: what they placed before, and what nothing placed. */
export function isForRules({ entry }: PlacedEntry): boolean {
  return entry.placedBy === null || entry.placedBy === 'rule'
}

/** What rules look at, in an entry that is there already. */
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
 * Where the entry belongs now. What its report named and nobody had made then is looked for again; it is never made
 * here, as that is for whoever holds such names to decide.
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
