/**
 * What a token that is limited to a project may report (docs/design/api.md, "Tokens of trusts"): entries of that project, and
 * of sessions that have no others. What would be elsewhere is refused as a whole.
 */
import type { TokenLimit } from '../../../access/caller.ts'
import { Problem } from '../../../errors.ts'
import type { Named } from '../../placement/service.ts'
import { ticketPrefix } from '../../projects/service.ts'
import type { EntryView } from '../store.ts'
import type { Recorded, Reporter, Submission } from './record.ts'
import type { Report } from './report.ts'
import type { RecordingState } from './state.ts'

/** The report with the project of the limit where it names none, so that no rule is asked. */
export function withinLimit(report: Report, { limit }: Pick<Reporter, 'limit'>): Report {
  if (!limit) return report
  const cells = report.cells?.map((cell) => placed(cell, limit))
  return { ...placed(report, limit), ...(cells && { cells }) }
}

const placed = <Place extends Named>(place: Place, limit: TokenLimit): Place =>
  place.project === undefined ? { ...place, project: limit.project } : place

/**
 * Records an item if it concerns nothing outside of the project, before and after. Throws `outside_of_project`, with which
 * everything that the item has changed is undone.
 */
export function requireWithin(state: RecordingState, item: Submission, record: () => Recorded): Recorded {
  const { report, reporter } = item
  const limit = reporter.limit!
  for (const { ticket } of report.cells ?? [report]) requireNoOthersOn(state, ticket, item)
  const sessionParts = () => (report.sessionKey === undefined ? [] : partsOfSession(state, item))
  requireAll(sessionParts(), limit)
  const recorded = record()
  requireAll([recorded.entry, ...sessionParts()], limit)
  return recorded
}

/** Whether a dry run shows the entry to the reporter: also one of a session of which their report was refused. */
export const isShownTo =
  ({ manager, limit }: Reporter) =>
  ({ entry }: EntryView): boolean =>
    entry.managerId === manager.id && (!limit || entry.projectId === limit.projectId)

/**
 * A ticket that gets a project draws the person's entries on it there, which other jobs have reported, and those that they will
 * report: so neither one that they have named, nor one with the key of another project.
 */
function requireNoOthersOn(state: RecordingState, ticket: string | undefined, { reporter }: Submission): void {
  if (ticket === undefined) return
  const limit = reporter.limit!
  const known = state.work.findTicket(ticket, reporter.manager.id)
  if (known && (known.projectId ?? known.assumedProjectId)) return
  const prefix = ticketPrefix(ticket)
  const project = prefix === undefined ? undefined : state.work.findProject(prefix)
  if (known?.assumedProjectId === null || (project && project.id !== limit.projectId)) throw outside(limit)
}

/** All parts of the session that the report would go on with, of any owner who is not identified yet. */
function partsOfSession(state: RecordingState, item: Submission): EntryView[] {
  const { report, reporter } = item
  const { canonicalId: harnessId } = state.name(report.harness)
  return state
    .sessions({ sessionKey: report.sessionKey!, harnessId })
    .filter(({ managerId, unidentified }) => managerId === reporter.manager.id || unidentified)
    .flatMap(({ id }) => [...state.chains(id).values()].flat())
}

function requireAll(views: readonly EntryView[], limit: TokenLimit): void {
  if (views.some(({ entry }) => entry.projectId !== limit.projectId)) throw outside(limit)
}

function outside({ project }: TokenLimit): Problem {
  return new Problem(
    'outside_of_project',
    `This token reports entries of the project ${project} only. Name no other project, no ticket of another one, and no session with entries elsewhere.`,
  )
}
