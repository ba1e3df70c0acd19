/** Where the entries of a session are placed, by what its sources say (docs/design/concepts.md, "Placement"). */
import type { SessionAttributes } from '../../../database/schema/records.ts'
import {
  type Named,
  type Placement,
  type PlacementOptions,
  type PlacementSetting,
  place,
  placeByNames,
  type Subject,
  UNATTRIBUTED,
} from '../../placement/service.ts'
import type { EntryRecord, EntryView } from '../store.ts'
import { attributesOfEntry, namesAgent, withAttributes } from './attributes.ts'
import {
  type Circumstances,
  changeOf,
  type Identity,
  placedBy,
  type Reporter,
  type Submission,
  subjectOf,
} from './record.ts'
import type { Report } from './report.ts'
import type { RecordingState } from './state.ts'

/** A report of a session, as its entry is placed by. */
export interface PlacedReport extends Circumstances {
  state: RecordingState
  report: Report
  /** With the owner of the session, to whom everything that is added to it belongs, regardless of the reporter. */
  reporter: Reporter
  identity: Identity
  /** What each of the session's sources says of the model, if it has several. */
  ranked?: readonly SessionAttributes[]
  /** Whether one of them says something new besides usage. */
  hasNews?: boolean
}

/** The placement of a new entry by the report's names or by rules. */
export function placeReport(
  state: RecordingState,
  { report, reporter }: Pick<Submission, 'report' | 'reporter'>,
  circumstances: Circumstances,
): Placement {
  const setting = { work: state.work, rules: circumstances.rules }
  const placeable = { named: report, subject: subjectOf(report, reporter) }
  return settled(state, place(setting, placeable, placedBy(circumstances, reporter)), reporter)
}

/** The placement of a new entry of a session. */
export function placeNew(recording: PlacedReport): Placement {
  const { state, report, reporter, rules } = recording
  const subjects = [subjectOf(report, reporter), ...subjectsOfSources(recording)]
  const setting = { work: state.work, rules }
  return settled(state, placeFirst(place, setting, report, subjects, placedBy(recording, reporter)), reporter)
}

/**
 * The new placement of a session by a later report; undefined if it stays. A manual placement stays, a placement by
 * name stays until another one is named. A placement by rule is repeated if a field that rules match has changed, and
 * is kept if no rule matches the session any more.
 */
export function newPlacement(recording: PlacedReport, last: EntryView): Placement | undefined {
  const { state, report, reporter, rules, hasNews = false } = recording
  const { placedBy: wasPlacedBy, namedProject, namedTicket } = last.entry
  if (wasPlacedBy === 'manual') return undefined
  const isNamed = report.project !== undefined || report.ticket !== undefined
  if (!isNamed && (wasPlacedBy === 'named' || !(hasNews || changesSubject(recording, last.entry)))) return undefined
  if (recording.ranked && wasPlacedBy === 'named' && isPlacedOn(last, report)) return undefined
  const setting = { work: state.work, rules }
  const subjects = [continuedSubject(recording, last), ...subjectsOfSources(recording)]
  // Names that could not be resolved before may exist by now.
  const named = isNamed ? report : { project: namedProject ?? undefined, ticket: namedTicket ?? undefined }
  const decide = wasPlacedBy === 'named' ? placeByNames : place
  const placement = placeFirst(decide, setting, named, subjects, placedBy(recording, reporter))
  if (placement.by === null && wasPlacedBy !== null) return undefined
  return settled(state, placement, reporter)
}

/** Whether the entry is where these names have placed it: another report need not repeat its conflicts with a ticket. */
function isPlacedOn(last: EntryView, { project, ticket }: Named): boolean {
  const { place } = attributesOfEntry(last)
  return place !== undefined && place.project === project && place.ticket === ticket
}

/** The placement by names, else by the first of the subjects that a rule matches. */
function placeFirst(
  decide: typeof place,
  setting: PlacementSetting,
  named: Named,
  subjects: readonly Subject[],
  options: PlacementOptions,
): Placement {
  let placement = UNATTRIBUTED
  for (const subject of subjects) {
    placement = decide(setting, { named, subject }, options)
    if (placement.by !== null) break
  }
  return placement
}

/**
 * What each source says alone: if no rule matches the merged fields, the fields of one source may be those that placed
 * the session before the others arrived.
 */
function subjectsOfSources({ ranked = [], report, reporter }: PlacedReport): Subject[] {
  return ranked.map((attributes) => subjectOf(withAttributes(report, attributes), reporter))
}

/** If a ticket got its project for this person, their earlier entries on it move as well. */
function settled(state: RecordingState, placement: Placement, reporter: Reporter): Placement {
  const { ticket, project, ticketFoundProject } = placement
  if (ticketFoundProject) {
    const change = changeOf('placed', state, reporter)
    state.moveOwnEntries({ ticketId: ticket!.id, managerId: reporter.manager.id, project: project!, change })
  }
  return placement
}

/** Whether the report changes a field that rules match. */
function changesSubject({ report, identity }: PlacedReport, last: EntryRecord): boolean {
  const { summary } = report
  const { agentId, providerId, labelSetId } = identity
  return (
    (namesAgent(report) && agentId !== last.agentId) ||
    (providerId !== null && providerId !== last.providerId) ||
    (labelSetId !== null && labelSetId !== last.labelSetId) ||
    (summary !== undefined && summary !== last.summary)
  )
}

/** The fields that rules match after the report: those that it does not repeat keep their values. */
function continuedSubject({ report, reporter }: PlacedReport, last: EntryView): Subject {
  const reported = subjectOf(report, reporter)
  return {
    ...reported,
    agentName: namesAgent(report) ? report.agent : last.agent,
    provider: reported.provider ?? last.provider,
    summary: reported.summary ?? last.entry.summary,
    labels: reported.labels ?? last.labels,
  }
}
