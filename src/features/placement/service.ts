/**
 * The project and ticket of an entry: by the report's ticket, its project, or the first rule that matches
 * (docs/design/concepts.md, "Placement").
 */
import { Cached } from '../../database/cached.ts'
import type { Reader, Tx } from '../../database/database.ts'
import type { PlacedBy, UnknownProjects } from '../../database/schema/values.ts'
import type { Id } from '../../lib/id.ts'
import { type AssumedTicketRow, type ProjectRow, type TicketRow, ticketPrefix } from '../projects/service.ts'
import { type CompiledCondition, compileCondition } from './condition.ts'
import { type Rule, RuleSet } from './match.ts'
import { createRules, loadRules, type RulesDependencies } from './rule-list.ts'
import { getRuleVersion, type RuleVersion } from './store.ts'
import type { Subject } from './subject.ts'

export { EXAMPLE_EXPLANATION, EXAMPLE_NEW_RULE } from './examples.ts'
export { explain, type Rule, RuleSet, type Step, type Taken, type Verdict } from './match.ts'
export { readNewRule, readSample } from './request.ts'
export type { Explanation, ListedRule, NewRuleFields, RuleChange, Unsaved } from './rule-list.ts'
export { ExplanationBody, unsavedRule } from './schema.ts'
export { valuesOf } from './subject.ts'
export { explanationBody, ruleBody } from './wire.ts'
export type { RuleVersion, Subject }

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

export type PlacementService = ReturnType<typeof createPlacementService>

/** The data that an entry is placed by. */
export interface Placeable {
  named: Named
  /** Absent if rules are not applied. */
  subject?: Subject | undefined
}

export function createPlacementService(dependencies: RulesDependencies) {
  const { projects } = dependencies
  // The revision also changes with people and prices, and compiling five hundred expressions takes 50 ms.
  let compiled = new Map<string, CompiledCondition>()
  const cached = new Cached(async (reader) => {
    const used = new Map<string, CompiledCondition>()
    const rules = await loadRules(reader, projects, (condition) => {
      const key = JSON.stringify([condition.field, condition.matches])
      const known = used.get(key) ?? compiled.get(key) ?? compileCondition(condition)
      used.set(key, known)
      return known
    })
    compiled = used
    return new RuleSet(rules)
  })

  /** The named project. Undefined if none was named, or if it is unknown and unknown names are held. */
  async function findNamedProject(tx: Tx, name: string | undefined, { unknownProjects }: PlacementOptions) {
    if (name === undefined) return undefined
    if (unknownProjects === 'create') return (await projects.findOrAddProject(tx, name)).project
    return projects.findProject(tx, name)
  }

  /** The project of the first matching rule, for a ticket without a project. */
  async function projectByRules(tx: Tx, subject: Subject | undefined) {
    if (!subject) return undefined
    const taken = (await cached.get(tx)).findMatch(subject)
    return taken && { project: taken.rule.project, ...placedWith(taken.rule) }
  }

  /**
   * Places an entry on a named ticket. One person's assumption about a ticket affects only that person's entries: a
   * project that was decided for the ticket takes precedence, then the one that this person's reports assumed before.
   * Otherwise the report's project is assumed, then the one whose key is the ticket's prefix, then that of the first
   * matching rule.
   */
  async function placeOnTicket(
    tx: Tx,
    key: string,
    placeable: Placeable,
    options: PlacementOptions,
  ): Promise<Placement> {
    const { named } = placeable
    const known = await projects.findTicket(tx, key, options.personId)
    const boundTo = known && (known.projectId ?? known.assumedProjectId)
    if (boundTo) return placeOnBoundTicket(tx, known, await projects.getProject(tx, boundTo), named)
    const namedProject = await findNamedProject(tx, named.project, options)
    const project = namedProject ?? (await findProjectByPrefix(tx, key))
    const found = project ? { project } : await projectByRules(tx, placeable.subject)
    // A ticket that another person's report named is not thereby known to the organization.
    if (options.unknownProjects === 'hold' && !found && (known?.reported ?? true)) {
      return { ...UNATTRIBUTED, namedProject: named.project ?? null, namedTicket: key, note: unknownNames(named) }
    }
    const ticket = known ?? (await projects.addReportedTicket(tx, key))
    const ticketFoundProject = await assume(tx, ticket, known?.assumedProjectId, found?.project, options)
    return { ...UNATTRIBUTED, by: 'named', ...held(named, namedProject), ...found, ticket, ticketFoundProject }
  }

  async function placeOnBoundTicket(
    tx: Tx,
    ticket: AssumedTicketRow,
    project: ProjectRow,
    named: Named,
  ): Promise<Placement> {
    const other = named.project === undefined ? undefined : await projects.findProject(tx, named.project)
    const disagree = named.project !== undefined && other?.id !== project.id
    const note = disagree ? `The report named project '${named.project}', but ${whoseProject(ticket, project)}.` : null
    return { ...UNATTRIBUTED, by: 'named', ticket, project, note }
  }

  async function findProjectByPrefix(tx: Tx, key: string): Promise<ProjectRow | undefined> {
    const prefix = ticketPrefix(key)
    return prefix === undefined ? undefined : projects.findProject(tx, prefix)
  }

  /** Saves the project that a person's report assumes for a ticket. Returns whether their earlier reports had none. */
  async function assume(
    tx: Tx,
    ticket: TicketRow,
    before: AssumedTicketRow['assumedProjectId'],
    project: ProjectRow | undefined,
    { personId }: PlacementOptions,
  ): Promise<boolean> {
    if (personId === null) return false
    const assumption = { ticketId: ticket.id, userId: personId, projectId: project?.id ?? null }
    if (before === undefined) await projects.insertAssumption(tx, assumption)
    else if (project) await projects.updateAssumption(tx, assumption)
    return before === null && project !== undefined
  }

  async function placeNamed(tx: Tx, placeable: Placeable, options: PlacementOptions): Promise<Placement> {
    const placement = await placeWhereNamed(tx, placeable, options)
    return (placement.project?.archivedAt ?? null) === null
      ? placement
      : { ...placement, note: noteArchived(placement) }
  }

  async function placeWhereNamed(tx: Tx, placeable: Placeable, options: PlacementOptions): Promise<Placement> {
    const { named } = placeable
    if (named.ticket !== undefined) return placeOnTicket(tx, named.ticket, placeable, options)
    if (named.project === undefined) return UNATTRIBUTED
    const project = await findNamedProject(tx, named.project, options)
    if (!project) return { ...UNATTRIBUTED, ...held(named, project) }
    return { ...UNATTRIBUTED, by: 'named', project }
  }

  /** Places a subject by rules. An unknown ticket is created, regardless of how unknown names are handled. */
  async function placeByRules(tx: Tx, subject: Subject, options: PlacementOptions): Promise<Placement> {
    const taken = (await cached.get(tx)).findMatch(subject)
    if (!taken) return UNATTRIBUTED
    const { rule, ticketKey, note } = taken
    const on = { ...UNATTRIBUTED, by: 'rule' as const, ...placedWith(rule), project: rule.project, note }
    if (ticketKey === null) return on
    const known = await projects.findTicket(tx, ticketKey, options.personId)
    const boundTo = known && (known.projectId ?? known.assumedProjectId)
    if (!boundTo) {
      const ticket = known ?? (await projects.addReportedTicket(tx, ticketKey))
      const ticketFoundProject = await assume(tx, ticket, known?.assumedProjectId, rule.project, options)
      return { ...on, ticket, ticketFoundProject }
    }
    const own = await projects.getProject(tx, boundTo)
    if (own.id === rule.project.id) return { ...on, ticket: known }
    const overruled = `Rule '${rule.name}' assigns project ${rule.project.key}, but ${whoseProject(known, own)}.`
    return { ...on, ticket: known, project: own, note: overruled }
  }

  return {
    ...createRules(dependencies),

    /** The rules as `reader` sees them; not a promise if the cached ones are current. */
    rules: (reader: Reader | Tx): RuleSet | Promise<RuleSet> => cached.get(reader),

    /** The project of an entry that continues another one. */
    findCurrentProject: projects.findCurrentProject,

    /** The version of the rule that placed an entry. Throws if the version does not exist. */
    describeRuleVersion: (reader: Reader, ruleVersionId: number): Promise<RuleVersion> =>
      getRuleVersion(reader, ruleVersionId),

    /**
     * Places an entry by names. Unknown names are created or held, as the organization is configured. With a subject, a
     * ticket without a project gets that of the first matching rule.
     */
    placeByNames: (tx: Tx, named: Named, options: PlacementOptions, subject?: Subject): Promise<Placement> =>
      placeNamed(tx, { named, subject }, options),

    /** Names take precedence over rules. Unresolved names stay on the entry even if a rule places it. */
    async place(tx: Tx, placeable: Placeable & { subject: Subject }, options: PlacementOptions): Promise<Placement> {
      const byNames = await placeNamed(tx, placeable, options)
      if (byNames.by !== null) return byNames
      const byRules = await placeByRules(tx, placeable.subject, options)
      if (byRules.by === null) return byNames
      const { namedProject, namedTicket } = byNames
      const note = [byNames.note, byRules.note].filter(Boolean).join(' ') || null
      return { ...byRules, namedProject, namedTicket, note }
    },
  }
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
