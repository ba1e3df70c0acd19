/** Entries on a ticket that got its project: they move there, with a record in the history of each. */
import type { Tx } from '../../database/database.ts'
import type { Id } from '../../lib/id.ts'
import type { Placement } from '../placement/service.ts'
import { recordHistory } from './history/record.ts'
import type { Change } from './history/store.ts'
import { moveAllTicketEntries, moveOwnTicketEntries } from './reporting/store/sessions.ts'

interface FoundProject {
  ticketId: number
  project: { id: number; uid: Id<'prj'> }
  change: Change
}

/** If a placement gave its ticket a project for a person, moves their earlier entries on it as well. */
export async function moveAlong(
  tx: Tx,
  { ticket, project, ticketFoundProject }: Placement,
  managerId: number,
  change: Change,
): Promise<void> {
  if (ticketFoundProject) await moveOwnEntries(tx, { ticketId: ticket!.id, project: project!, managerId, change })
}

/** Moves a person's unlocked entries on a ticket that had no project for them. */
export async function moveOwnEntries(
  tx: Tx,
  { ticketId, project, change, managerId }: FoundProject & { managerId: number },
): Promise<void> {
  const moved = await moveOwnTicketEntries(tx, { ticketId, projectId: project.id, managerId })
  await recordMoves(tx, moved, project, change)
}

/** Moves everyone's unlocked entries to the project that was decided for their ticket. */
export async function moveAllEntries(tx: Tx, { ticketId, project, change }: FoundProject): Promise<void> {
  await recordMoves(tx, await moveAllTicketEntries(tx, ticketId, project.id), project, change)
}

export function foundProjectDetails({ uid }: { uid: Id<'prj'> }): Record<string, unknown> {
  return { project: uid, because: 'ticket_found_project' }
}

function recordMoves(tx: Tx, entryIds: number[], project: { uid: Id<'prj'> }, change: Change): Promise<void> {
  const details = foundProjectDetails(project)
  return recordHistory(
    tx,
    change,
    entryIds.map((entryId) => ({ entryId, details })),
  )
}
