/**
 * Decides the project and ticket of an entry: by the report's ticket, its project, or the first rule that matches
 * (docs/design/concepts.md, "Placement"). Steps of a plan over a working set: nothing is read or written here.
 */
import type { PlacedBy, UnknownProjects } from '../../database/schema/values.ts'
import type { Id } from '../../lib/id.ts'
import {
  type AssumedTicketRow,
  type NamedWork,
  type ProjectRow,
  type TicketRow,
  ticketPrefix,
} from '../projects/service.ts'
import type { Rule, RuleSet } from './match.ts'
import type { Subject } from './subject.ts'

export interface Placement {
  project: ProjectRow | null
  ticket: TicketRow | null
  /** Null if the entry is unattributed. */
  by: PlacedBy | null
  /** The rule that placed it, or that gave a named ticket its project. */
  ruleVersionId: number | null
  rule: PlacingRule | null
  /** Set if names conflicted or could not be used. */
  note: string | null
  /** Names that could not be used, kept so that nothing reported is lost. */
  namedProject: string | null
  namedTicket: string | null
  /** This person's entries on the ticket had no project until now: they belong there as well. */
  ticketFoundProject: boolean
}

/** A rule as it was when it placed an entry. */
export interface PlacingRule {
  uid: Id<'rul'>
  name: string
  version: number
}

export interface Named {
  project?: string | undefined
  ticket?: string | undefined
}

export interface PlacementOptions {
  /** How an unknown name is handled: created on first mention, or held with the entry. */
  unknownProjects: UnknownProjects
  /** The person who places the entry; null for the command line, which assumes nothing about tickets. */
  personId: number | null
}

/** The data that an entry is placed by. */
export interface Placeable {
  named: Named
  /** Absent if rules are not applied. */
  subject?: Subject | undefined
}

/** What entries are placed with. */
export interface PlacementSetting {
  work: NamedWork
  rules: RuleSet
}

export const UNATTRIBUTED: Placement = {
  project: null,
  ticket: null,
  by: null,
  ruleVersionId: null,
  rule: null,
  note: null,
  namedProject: null,
  namedTicket: null,
  ticketFoundProject: false,
}

/** Names take precedence over rules. Unresolved names stay on the entry even if a rule places it. */
export function place(
  setting: PlacementSetting,
  placeable: Placeable & { subject: Subject },
  options: PlacementOptions,
): Placement {
  const byNames = placeByNames(setting, placeable, options)
  if (byNames.by !== null) return byNames
  const byRules = placeByRules(setting, placeable.subject, options)
  if (byRules.by === null) return byNames
  const { namedProject, namedTicket } = byNames
  const note = [byNames.note, byRules.note].filter(Boolean).join(' ') || null
  return { ...byRules, namedProject, namedTicket, note }
}

/**
 * Places an entry by names. Unknown names are created or held, as the organization is configured. With a subject, a
 * ticket without a project gets that of the first matching rule.
 */
export function placeByNames(setting: PlacementSetting, placeable: Placeable, options: PlacementOptions): Placement {
  const placement = placeWhereNamed(setting, placeable, options)
  return (placement.project?.archivedAt ?? null) === null ? placement : { ...placement, note: noteArchived(placement) }
}

function placeWhereNamed(setting: PlacementSetting, placeable: Placeable, options: PlacementOptions): Placement {
  const { named } = placeable
  if (named.ticket !== undefined) return placeOnTicket(setting, named.ticket, placeable, options)
  if (named.project === undefined) return UNATTRIBUTED
  const project = findNamedProject(setting, named.project, options)
  if (!project) return { ...UNATTRIBUTED, ...held(named, project) }
  return { ...UNATTRIBUTED, by: 'named', project }
}

/** The named project. Undefined if none was named, or if it is unknown and unknown names are held. */
function findNamedProject(
  { work }: PlacementSetting,
  name: string | undefined,
  { unknownProjects }: PlacementOptions,
): ProjectRow | undefined {
  if (name === undefined) return undefined
  return unknownProjects === 'create' ? work.findOrAddProject(name) : work.findProject(name)
}

/**
 * Places an entry on a named ticket. One person's assumption about a ticket affects only that person's entries: a
 * project that was decided for the ticket takes precedence, then the one that this person's reports assumed before.
 * Otherwise the report's project is assumed, then the one whose key is the ticket's prefix, then that of the first
 * matching rule.
 */
function placeOnTicket(
  setting: PlacementSetting,
  key: string,
  placeable: Placeable,
  options: PlacementOptions,
): Placement {
  const { work } = setting
  const { named } = placeable
  const known = work.findTicket(key, options.personId)
  const boundTo = known && (known.projectId ?? known.assumedProjectId)
  if (boundTo) return placeOnBoundTicket(setting, known, work.getProject(boundTo), named)
  const namedProject = findNamedProject(setting, named.project, options)
  const project = namedProject ?? findProjectByPrefix(setting, key)
  const found = project ? { project } : projectByRules(setting, placeable.subject)
  // A ticket that another person's report named is not thereby known to the organization.
  if (options.unknownProjects === 'hold' && !found && (known?.reported ?? true)) {
    return { ...UNATTRIBUTED, namedProject: named.project ?? null, namedTicket: key, note: unknownNames(named) }
  }
  const ticket = known ?? work.addReportedTicket(key)
  const ticketFoundProject = assume(setting, ticket, known?.assumedProjectId, found?.project, options)
  return { ...UNATTRIBUTED, by: 'named', ...held(named, namedProject), ...found, ticket, ticketFoundProject }
}

function placeOnBoundTicket(
  { work }: PlacementSetting,
  ticket: AssumedTicketRow,
  project: ProjectRow,
  named: Named,
): Placement {
  const other = named.project === undefined ? undefined : work.findProject(named.project)
  const disagree = named.project !== undefined && other?.id !== project.id
  const note = disagree ? `The report named project '${named.project}', but ${whoseProject(ticket, project)}.` : null
  return { ...UNATTRIBUTED, by: 'named', ticket, project, note }
}

function findProjectByPrefix({ work }: PlacementSetting, key: string): ProjectRow | undefined {
  const prefix = ticketPrefix(key)
  return prefix === undefined ? undefined : work.findProject(prefix)
}

/**
 * The project of the first matching rule, for a ticket without a project. Never by a lead's rule: it would draw the
 * person's entries on the ticket into the lead's sight, also from other repositories.
 */
function projectByRules({ rules }: PlacementSetting, subject: Subject | undefined) {
  const taken = subject && rules.findMatch(subject)
  if (!taken || taken.rule.leadRepository !== null) return undefined
  return { project: taken.rule.project, ...placedWith(taken.rule) }
}

/** Saves the project that a person's report assumes for a ticket. Returns whether their earlier reports had none. */
function assume(
  { work }: PlacementSetting,
  ticket: TicketRow,
  before: AssumedTicketRow['assumedProjectId'],
  project: ProjectRow | undefined,
  { personId }: PlacementOptions,
): boolean {
  if (personId === null) return false
  const assumption = { ticketId: ticket.id, userId: personId, projectId: project?.id ?? null }
  if (before === undefined || project) work.assume(assumption, before === undefined)
  return before === null && project !== undefined
}

/** Places a subject by rules. An unknown ticket is created, regardless of how unknown names are handled. */
function placeByRules(setting: PlacementSetting, subject: Subject, options: PlacementOptions): Placement {
  const { work, rules } = setting
  const taken = rules.findMatch(subject)
  if (!taken) return UNATTRIBUTED
  const { rule, ticketKey, note } = taken
  const on = { ...UNATTRIBUTED, by: 'rule' as const, ...placedWith(rule), project: rule.project, note }
  if (ticketKey === null) return on
  const known = work.findTicket(ticketKey, options.personId)
  const boundTo = known && (known.projectId ?? known.assumedProjectId)
  if (rule.leadRepository !== null && !isTicketOf(setting, rule.project, ticketKey, known)) {
    return {
      ...on,
      note: `Rule '${rule.name}' assigned no ticket: ${ticketKey} is not known to belong to ${rule.project.key}.`,
    }
  }
  if (!boundTo) {
    const ticket = known ?? work.addReportedTicket(ticketKey)
    const ticketFoundProject = assume(setting, ticket, known?.assumedProjectId, rule.project, options)
    return { ...on, ticket, ticketFoundProject }
  }
  const own = work.getProject(boundTo)
  if (own.id === rule.project.id) return { ...on, ticket: known }
  const overruled = `Rule '${rule.name}' assigns project ${rule.project.key}, but ${whoseProject(known, own)}.`
  return { ...on, ticket: known, project: own, note: overruled }
}

/**
 * Whether a ticket belongs to the project by decision or, where nothing else binds it, by its prefix. Otherwise a lead
 * could choose a ticket of others: its entries would follow it to the project, or the lead's to another project.
 */
function isTicketOf(
  setting: PlacementSetting,
  project: ProjectRow,
  key: string,
  known: AssumedTicketRow | undefined,
): boolean {
  const boundTo = known && (known.projectId ?? known.assumedProjectId)
  if (boundTo && setting.work.getProject(boundTo).id !== project.id) return false
  return (known?.projectId ?? null) !== null || findProjectByPrefix(setting, key)?.id === project.id
}

function placedWith({ uid, name, version, versionId }: Rule): Pick<Placement, 'ruleVersionId' | 'rule'> {
  return { ruleVersionId: versionId, rule: { uid, name, version } }
}

/** Entries may be placed on archived projects, with a note. */
function noteArchived({ project, note }: Placement): string {
  return [note, `Project ${project!.key} is archived.`].filter(Boolean).join(' ')
}

function whoseProject({ key, projectId }: TicketRow, project: ProjectRow): string {
  return projectId === null
    ? `earlier reports of the same person placed ticket ${key} in ${project.key}`
    : `ticket ${key} belongs to ${project.key}`
}

function held(named: Named, project: ProjectRow | undefined): Pick<Placement, 'namedProject' | 'note'> {
  if (named.project === undefined || project) return { namedProject: null, note: null }
  return { namedProject: named.project, note: unknownNames(named) }
}

function unknownNames({ project, ticket }: Named): string {
  const names = [project === undefined ? '' : `project '${project}'`, ticket === undefined ? '' : `ticket '${ticket}'`]
  return `The report named ${names.filter(Boolean).join(' and ')}, which does not exist in this organization.`
}
