/** How an entry finds its work: the report's ticket, its project, the first rule that takes it (product.md, "Placement"). */
import { Cached } from '../../database/cached.ts'
import type { Reader, Tx } from '../../database/database.ts'
import type { PlacedBy, UnknownProjects } from '../../database/tables.ts'
import type { Id } from '../../lib/id.ts'
import type { ProjectRow, TicketRow } from '../projects/service.ts'
import { type CompiledCondition, compileCondition } from './condition.ts'
import { type Rule, RuleSet } from './match.ts'
import { createRules, loadRules, type RulesDependencies } from './rules.ts'
import { getRuleVersion, type RuleVersion } from './store.ts'
import type { Subject } from './subject.ts'

export { EXAMPLE_EXPLANATION, EXAMPLE_NEW_RULE } from './examples.ts'
export { explain, type Rule, RuleSet, type Step, type Taken, type Verdict } from './match.ts'
export type { Explanation, ListedRule, NewRuleFields, RuleChange, Unsaved } from './rules.ts'
export { ExplanationBody, unsavedRule } from './schema.ts'
export { valuesOf } from './subject.ts'
export { explanationBody, readNewRule, readSample, ruleBody } from './wire.ts'
export type { RuleVersion, Subject }

export interface Placement {
  project: ProjectRow | null
  ticket: TicketRow | null
  /** Null where nothing placed it: the entry is unattributed. */
  by: PlacedBy | null
  /** The rule that placed it, or that gave a named ticket its project. */
  ruleVersionId: number | null
  rule: PlacingRule | null
  /** Where names disagreed or could not be used. */
  note: string | null
  /** What was named but could not be used, kept so that nothing said is lost. */
  namedProject: string | null
  namedTicket: string | null
  /** The ticket had no project until this report named one: its earlier entries belong there as well. */
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
  /** What becomes of a name that is not known yet: made on first mention, or held with the entry. */
  unknownProjects: UnknownProjects
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

/** The part of a ticket's key that may be a project's key: `ACME-42` → `ACME`, `acme/web#17` → `acme/web`. */
function ticketPrefix(key: string): string | undefined {
  return /^(.+?)[-#]\d+$/.exec(key.trim())?.[1]
}

export type PlacementService = ReturnType<typeof createPlacementService>

/** What an entry is placed by. */
export interface Placeable {
  named: Named
  /** Absent where the rules are not asked. */
  subject?: Subject | undefined
}

export function createPlacementService(dependencies: RulesDependencies) {
  const { projects } = dependencies
  // The revision moves with people and prices as well, and compiling five hundred expressions takes 50 ms.
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

  /** The named project. Undefined where none was named, or where it is unknown and names are held. */
  async function findNamedProject(tx: Tx, name: string | undefined, { unknownProjects }: PlacementOptions) {
    if (name === undefined) return undefined
    if (unknownProjects === 'create') return (await projects.findOrAddProject(tx, name)).project
    return projects.findProject(tx, name)
  }

  /** The project that the first rule gives, which a ticket without one belongs to. */
  async function projectByRules(tx: Tx, subject: Subject | undefined) {
    if (!subject) return undefined
    const taken = (await cached.get(tx)).findTaker(subject)
    return taken && { project: taken.rule.project, ...placedWith(taken.rule) }
  }

  async function placeOnKnownTicket(
    tx: Tx,
    ticket: TicketRow,
    { named, subject }: Placeable,
    options: PlacementOptions,
  ): Promise<Placement> {
    const on = { ...UNATTRIBUTED, by: 'named' as const }
    if (ticket.projectId !== null) {
      const own = await projects.getProject(tx, ticket.projectId)
      const other = named.project === undefined ? undefined : await projects.findProject(tx, named.project)
      const disagree = named.project !== undefined && other?.id !== own.id
      const note = disagree
        ? `The report named project '${named.project}', but ticket ${ticket.key} belongs to ${own.key}.`
        : null
      return { ...on, ticket, project: own, note }
    }
    const project = await findNamedProject(tx, named.project, options)
    const found = project ? { project } : await projectByRules(tx, subject)
    if (!found) return { ...on, ticket, ...held(named, project) }
    await projects.assignTicket(tx, ticket.id, found.project.id)
    const assigned = { ...ticket, projectId: found.project.id }
    return { ...on, ...held(named, project), ...found, ticket: assigned, ticketFoundProject: true }
  }

  async function placeOnNewTicket(
    tx: Tx,
    key: string,
    { named, subject }: Placeable,
    options: PlacementOptions,
  ): Promise<Placement> {
    const prefix = ticketPrefix(key)
    const project =
      (await findNamedProject(tx, named.project, options)) ??
      (prefix === undefined ? undefined : await projects.findProject(tx, prefix))
    const found = project ? { project } : await projectByRules(tx, subject)
    if (options.unknownProjects === 'hold' && !found) {
      return { ...UNATTRIBUTED, namedProject: named.project ?? null, namedTicket: key, note: unknownNames(named) }
    }
    const ticket = await projects.addTicket(tx, key, found?.project.id ?? null)
    return { ...UNATTRIBUTED, by: 'named', ...held(named, project), ...found, ticket }
  }

  async function placeNamed(tx: Tx, placeable: Placeable, options: PlacementOptions): Promise<Placement> {
    const placement = await placeWhereNamed(tx, placeable, options)
    return (placement.project?.archivedAt ?? null) === null
      ? placement
      : { ...placement, note: noteArchived(placement) }
  }

  async function placeWhereNamed(tx: Tx, placeable: Placeable, options: PlacementOptions): Promise<Placement> {
    const { named } = placeable
    if (named.ticket !== undefined) {
      const ticket = await projects.findTicket(tx, named.ticket)
      return ticket
        ? placeOnKnownTicket(tx, ticket, placeable, options)
        : placeOnNewTicket(tx, named.ticket, placeable, options)
    }
    if (named.project === undefined) return UNATTRIBUTED
    const project = await findNamedProject(tx, named.project, options)
    if (!project) return { ...UNATTRIBUTED, ...held(named, project) }
    return { ...UNATTRIBUTED, by: 'named', project }
  }

  /** Where the rules put a subject. A ticket that is not known yet is added, whatever becomes of names. */
  async function placeByRules(tx: Tx, subject: Subject): Promise<Placement> {
    const taken = (await cached.get(tx)).findTaker(subject)
    if (!taken) return UNATTRIBUTED
    const { rule, ticketKey, note } = taken
    const on = { ...UNATTRIBUTED, by: 'rule' as const, ...placedWith(rule), project: rule.project, note }
    if (ticketKey === null) return on
    const known = await projects.findTicket(tx, ticketKey)
    if (!known) return { ...on, ticket: await projects.addTicket(tx, ticketKey, rule.project.id) }
    if (known.projectId === null) {
      await projects.assignTicket(tx, known.id, rule.project.id)
      return { ...on, ticket: { ...known, projectId: rule.project.id }, ticketFoundProject: true }
    }
    const own = await projects.getProject(tx, known.projectId)
    if (own.id === rule.project.id) return { ...on, ticket: known }
    const overruled = `Rule '${rule.name}' gives project ${rule.project.key}, but ticket ${known.key} belongs to ${own.key}.`
    return { ...on, ticket: known, project: own, note: overruled }
  }

  return {
    ...createRules(dependencies),

    /** The rules as `reader` sees them; not a promise where the held ones still hold. */
    rules: (reader: Reader | Tx): RuleSet | Promise<RuleSet> => cached.get(reader),

    /** The project of an entry that goes on where another one was placed. */
    findStandingProject: projects.findStandingProject,

    /** The rule as it was when it placed an entry. Throws where there is no such version. */
    describeRuleVersion: (reader: Reader, ruleVersionId: number): Promise<RuleVersion> =>
      getRuleVersion(reader, ruleVersionId),

    /**
     * Where names put an entry. What is not known yet is made, or held as the organization wants it. Where a subject is
     * given, a ticket without a project gets that of the first rule.
     */
    placeByNames: (tx: Tx, named: Named, options: PlacementOptions, subject?: Subject): Promise<Placement> =>
      placeNamed(tx, { named, subject }, options),

    placeByRules,

    /** Names first, then rules. What names could not be used stays with the entry, also where a rule then places it. */
    async place(tx: Tx, placeable: Placeable & { subject: Subject }, options: PlacementOptions): Promise<Placement> {
      const byNames = await placeNamed(tx, placeable, options)
      if (byNames.by !== null) return byNames
      const byRules = await placeByRules(tx, placeable.subject)
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

/** Nothing that is reported is lost on an archived project, but somebody may want to know. */
function noteArchived({ project, note }: Placement): string {
  return [note, `Project ${project!.key} is archived.`].filter(Boolean).join(' ')
}

function held(named: Named, project: ProjectRow | undefined): Pick<Placement, 'namedProject' | 'note'> {
  if (named.project === undefined || project) return { namedProject: null, note: null }
  return { namedProject: named.project, note: unknownNames(named) }
}

function unknownNames({ project, ticket }: Named): string {
  const names = [project === undefined ? '' : `project '${project}'`, ticket === undefined ? '' : `ticket '${ticket}'`]
  return `The report named ${names.filter(Boolean).join(' and ')}, which this organization has not made.`
}
