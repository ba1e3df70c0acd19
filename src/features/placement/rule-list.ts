/** The rules as people edit them: in an order, each in its latest version. Placement of reports is in `service.ts`. */

import type { Actor } from '../../access/actor.ts'
import type { Database, Reader, Tx } from '../../database/database.ts'
import type { RuleCondition } from '../../database/schema/records.ts'
import { type Issue, type Problem, refusal, validationFailed } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { defined } from '../../lib/defined.ts'
import { newId } from '../../lib/id.ts'
import { composeName } from '../../lib/names.ts'
import { type AuditService, difference } from '../audit/service.ts'
import type { ProjectRow, ProjectsService } from '../projects/service.ts'
import { type CompiledCondition, compileCondition } from './condition.ts'
import { explain, type Rule, type Step, type Taken } from './match.ts'
import { type Compile, EXPRESSIONS_LIMIT, issuesOfRule, RULES_LIMIT, type RuleFields, sizeOf } from './rule-issues.ts'
import { type Positioned, ruleOrder } from './rule-order.ts'
import { insertRule, insertVersion, listRules, type NewVersion, updateRule } from './store.ts'
import type { Subject } from './subject.ts'

export type ListedRule = Positioned<Rule>

export interface NewRuleFields extends RuleFields {
  /** Default: true. */
  enabled?: boolean | undefined
  /** From 1; by default the last. */
  position?: number | undefined
}

export type RuleChange = { [Field in keyof RuleFields]?: RuleFields[Field] | undefined } & {
  enabled?: boolean | undefined
}

/** A rule to test before it is saved. */
export interface Unsaved {
  unsaved?: NewRuleFields | undefined
  /** Id or name of the saved rule that it would replace. */
  replaces?: string | undefined
}

export interface Explanation {
  taken: Taken | null
  steps: Step[]
}

function nothingInItsPlace(): Problem {
  const message = 'requires `rule`, the rule to test in its place'
  return refusal('/replaces', 'not_allowed', message)
}

function tooManyRules(): Problem {
  return refusal(
    '',
    'too_many',
    `there can be at most ${RULES_LIMIT} rules; one regular expression can replace many rules, such as /^acme-(?<ticket>[0-9]+)/`,
  )
}

/**
 * Loads all rules, ready to be evaluated, and compiles only conditions that are new since the last time: five hundred
 * expressions take 50 ms.
 */
export type LoadRules = (reader: Reader) => Promise<Rule[]>

export function createLoadRules(projects: Pick<ProjectsService, 'getProject' | 'listRepositories'>): LoadRules {
  let compiled = new Map<string, CompiledCondition>()
  return async (reader) => {
    const used = new Map<string, CompiledCondition>()
    const compile = (condition: RuleCondition) => {
      const key = keyOf(condition)
      const known = used.get(key) ?? compiled.get(key) ?? compileCondition(condition)
      used.set(key, known)
      return known
    }
    const records = await listRules(reader)
    const places = new Map<number, ProjectRow>()
    for (const { projectId } of records) {
      if (!places.has(projectId)) places.set(projectId, await projects.getProject(reader, projectId))
    }
    const limited = records.filter(({ leadRepository }) => leadRepository !== null)
    const repositories =
      limited.length === 0
        ? new Map<number, string[]>()
        : await projects.listRepositories(reader, [
            ...new Set(limited.map(({ projectId }) => places.get(projectId)!.id)),
          ])
    const rules = records.map(({ projectId, conditions, ...rule }): Rule => {
      const project = places.get(projectId)!
      const { leadRepository } = rule
      const isForeign = leadRepository !== null && !repositories.get(project.id)?.includes(leadRepository)
      return { ...rule, project, isForeign, conditions: conditions.map(compile) }
    })
    compiled = used
    return rules
  }
}

function keyOf({ field, matches }: RuleCondition): string {
  return JSON.stringify([field, matches])
}

/** How the rule of a lead is checked. */
export interface Checking {
  /** Where the body has the field with this pointer. */
  pointerOf?: (pointer: string) => string
  /** Counts the milliseconds that compiling took. */
  charge?: (ms: number) => void
}

/** Compiles each condition once, for a check that needs it several times. */
function compilingOnce(charge?: (ms: number) => void): Compile {
  const compiled = new Map<string, CompiledCondition>()
  return (condition) => {
    const key = keyOf(condition)
    const known = compiled.get(key)
    if (known) return known
    const startedAt = performance.now()
    try {
      const added = compileCondition(condition)
      compiled.set(key, added)
      return added
    } finally {
      charge?.(performance.now() - startedAt)
    }
  }
}

/** Why an enabled rule is skipped. */
export function warningsOf({ project, isForeign, leadRepository }: Rule): string[] {
  if (project.archivedAt !== null) {
    return [`The project ${project.key} is archived, so this rule is skipped until the project is restored.`]
  }
  if (!isForeign) return []
  return [
    `${leadRepository} is no longer one of the repositories of ${project.key}, so this rule of a lead is skipped until it is.`,
  ]
}

export interface RulesDependencies {
  db: Database
  loadRules: LoadRules
  clock: Clock
  audit: AuditService
  projects: ProjectsService
}

export function createRules({ db, clock, audit, projects, loadRules: list }: RulesDependencies) {
  const order = ruleOrder<Rule>({ one: 'rule', of: 'placement', audit, move: updateRule })

  /**
   * Returns the project of the rule. Throws `validation_failed` with every issue of the fields.
   */
  async function check(
    reader: Reader,
    fields: RuleFields,
    others: Rule[],
    { pointerOf = (pointer) => pointer, charge }: Checking = {},
  ): Promise<ProjectRow> {
    const compile = compilingOnce(charge)
    const issues = issuesOfRule(fields, compile)
    const project = await projects.findProjectNamed(reader, fields.project)
    if (!project) issues.push(unknownProject(fields.project))
    if (issues.length === 0) issues.push(...issuesOfSize(fields, others, compile))
    if (issues.length > 0) {
      throw validationFailed(issues.map((issue) => ({ ...issue, pointer: pointerOf(issue.pointer) })))
    }
    return projects.getProject(reader, project!.project.id)
  }

  /** @param leadRepository of a rule that a lead makes without an admin, which comes after all others */
  async function addRuleIn(
    tx: Tx,
    by: Actor,
    given: NewRuleFields,
    leadRepository: string | null = null,
  ): Promise<ListedRule> {
    const rules = await list(tx)
    if (rules.length >= RULES_LIMIT) throw tooManyRules()
    const fields = { ...given, name: composeName(given.name) }
    const project = await check(tx, fields, rules)
    order.refuseTakenName(fields.name, rules)
    const enabled = given.enabled ?? true
    const says = versionOf(fields, project, by)
    const uid = await insertRule(
      tx,
      { position: Math.max(0, ...rules.map(({ position }) => position)) + 1, enabled, leadRepository },
      { ...says, createdAt: clock.now() },
    )
    const added = order.get(await list(tx), uid).rule
    await audit.record(tx, by, { action: 'placement_rule.added', object: objectOf(added), after: recordOf(added) })
    const last = leadRepository === null ? lastOfAdmins(rules) : rules.length + 1
    const at = Math.min(given.position ?? last, last)
    if (given.position !== undefined && at <= rules.length) await order.write(tx, rules.toSpliced(at - 1, 0, added))
    return { rule: added, position: at }
  }

  /**
   * The rules in order, for a test; an unsaved one is inserted at its position, or replaces a saved one, and has the
   * version 0. Writes nothing. Throws as {@link addRule} for the unsaved rule, and `not_found` if the rule to replace
   * does not exist.
   */
  async function rulesWith({ unsaved, replaces }: Unsaved = {}): Promise<{ rules: Rule[] }> {
    const rules = await list(db.read)
    if (!unsaved) {
      if (replaces !== undefined) throw nothingInItsPlace()
      return { rules }
    }
    const replaced = replaces === undefined ? undefined : order.get(rules, replaces)
    const others = rules.filter((rule) => rule !== replaced?.rule)
    const project = await check(db.read, unsaved, others, { pointerOf: (pointer) => `/rule${pointer}` })
    const now = clock.now()
    const tried: Rule = {
      id: 0,
      position: 0,
      uid: newId('rul'),
      versionId: 0,
      version: UNSAVED_VERSION,
      name: unsaved.name,
      enabled: unsaved.enabled ?? true,
      project,
      ticket: unsaved.ticket,
      leadRepository: null,
      isForeign: false,
      conditions: unsaved.conditions.map(compileCondition),
      createdAt: now,
      changedAt: now,
    }
    const at = Math.min(unsaved.position ?? replaced?.position ?? lastOfAdmins(others), others.length + 1)
    return { rules: others.toSpliced(at - 1, 0, tried) }
  }

  /** @param checking of a lead, who changes a rule of leads, which stays one */
  async function changeRuleIn(
    tx: Tx,
    by: Actor,
    named: string,
    change: RuleChange,
    checking?: Checking,
  ): Promise<ListedRule> {
    const rules = await list(tx)
    const { rule } = order.get(rules, named)
    const others = rules.filter((other) => other !== rule)
    const { enabled = rule.enabled, ...changes } = change
    const fields = { ...fieldsOf(rule), ...defined(changes) }
    fields.name = composeName(fields.name)
    const project = await check(tx, fields, others, checking)
    order.refuseTakenName(fields.name, others)
    if (enabled !== rule.enabled) await updateRule(tx, rule.id, { enabled })
    if (difference(saysOf(rule), saysOf({ ...fields, project }))) {
      const says = { ...versionOf(fields, project, by), createdAt: clock.now() }
      await insertVersion(tx, rule.id, rule.version + 1, says)
      if (rule.leadRepository !== null && !checking) await updateRule(tx, rule.id, { leadRepository: null })
    }
    const changed = order.get(await list(tx), rule.uid)
    const differs = difference(recordOf(rule), recordOf(changed.rule))
    if (differs) {
      await audit.record(tx, by, { action: 'placement_rule.changed', object: objectOf(changed.rule), ...differs })
    }
    return changed
  }

  async function removeRuleIn(tx: Tx, by: Actor, named: string): Promise<void> {
    const { rule } = order.get(await list(tx), named)
    await updateRule(tx, rule.id, { removedAt: clock.now() })
    await audit.record(tx, by, { action: 'placement_rule.removed', object: objectOf(rule), before: recordOf(rule) })
  }

  return {
    /** All rules in evaluation order. */
    async listRules(): Promise<ListedRule[]> {
      return order.positioned(await list(db.read))
    },

    /** By id or name. Throws `not_found`. */
    getRule: async (rule: string): Promise<ListedRule> => order.get(await list(db.read), rule),

    /** Throws `validation_failed` with every issue, and `already_exists` if another rule has the name. */
    addRule: (by: Actor, given: NewRuleFields): Promise<ListedRule> => db.write((tx) => addRuleIn(tx, by, given)),

    addRuleIn,

    /** The project of a rule that somebody proposes. Throws `validation_failed` with every issue of the fields. */
    checkRule: async (reader: Reader, fields: RuleFields, checking: Checking): Promise<ProjectRow> =>
      check(reader, fields, await list(reader), checking),

    /** All rules in evaluation order, as `reader` sees them. */
    listRulesIn: async (reader: Reader): Promise<ListedRule[]> => order.positioned(await list(reader)),

    changeRuleIn,
    removeRuleIn,

    /**
     * Absent fields stay unchanged. A lead's rule becomes one of admins once more than `enabled` changes. Throws as
     * {@link addRule}, and `not_found`.
     */
    changeRule: (by: Actor, named: string, change: RuleChange): Promise<ListedRule> =>
      db.write((tx) => changeRuleIn(tx, by, named, change)),

    /** Entries that the rule placed do not move, and continue to show it. Throws `not_found`. */
    removeRule: (by: Actor, named: string): Promise<void> => db.write((tx) => removeRuleIn(tx, by, named)),

    /**
     * Changes the evaluation order. Throws `rules_changed` (409) unless every existing rule is named exactly once, and
     * `validation_failed` if a lead's rule comes before one of admins.
     */
    orderRules: (by: Actor, ids: string[]): Promise<ListedRule[]> =>
      db.write(async (tx) => order.reorder(tx, by, { rules: await list(tx), ids, check: refuseLeadsFirst })),

    rulesWith,

    /** Finds the rule that matches a sample, and why earlier rules do not. Writes nothing. Throws as {@link rulesWith}. */
    testRules: async (subject: Subject, tried?: Unsaved): Promise<Explanation> =>
      explain(await rulesWith(tried), subject),
  }
}

/** The position after all rules of admins. */
function lastOfAdmins(rules: Rule[]): number {
  return rules.filter(({ leadRepository }) => leadRepository === null).length + 1
}

function refuseLeadsFirst(ordered: Rule[]): void {
  const isLeads = ({ leadRepository }: Rule) => leadRepository !== null
  const first = ordered.findIndex(isLeads)
  if (first < 0 || ordered.slice(first).every(isLeads)) return
  const { name } = ordered[first]!
  const message = `must have the rules of leads last; change '${name}' to make it a rule of admins, then move it`
  throw refusal(`/rules/${first}`, 'not_allowed', message)
}

/** The first version of a saved rule is 1. */
export const UNSAVED_VERSION = 0

export function unknownProject(project: string): Issue {
  return {
    pointer: '/project',
    code: 'unknown_project',
    message: `'${project}' is not the id, key, name or alias of a project; add the project first`,
  }
}

function issuesOfSize({ conditions }: RuleFields, others: Rule[], compile: Compile): Issue[] {
  const all = [...conditions.map(compile), ...others.flatMap((other) => other.conditions)]
  if (all.reduce((sum, condition) => sum + sizeOf(condition), 0) <= EXPRESSIONS_LIMIT) return []
  const message =
    'would exceed the size limit for the regular expressions of all rules; use globs, or smaller repetition counts'
  return [{ pointer: '/conditions', code: 'too_large', message }]
}

function versionOf(
  { name, conditions, ticket }: RuleFields,
  project: ProjectRow,
  by: Actor,
): Omit<NewVersion, 'createdAt'> {
  const said = conditions.map(({ field, matches }) => ({ field, matches }))
  return { name, conditions: said, projectId: project.id, ticket, createdBy: by.userId }
}

function fieldsOf({ name, conditions, project, ticket }: Rule): RuleFields {
  return { name, conditions, project: project.uid, ticket }
}

/** The versioned fields, for comparison. */
function saysOf({
  name,
  conditions,
  project,
  ticket,
}: Pick<Rule, 'name' | 'project' | 'ticket'> & Pick<RuleFields, 'conditions'>) {
  const said = conditions.map(({ field, matches }) => ({ field, matches }))
  return { name, conditions: said, project: project.key, ticket }
}

/** The audit log record, with the API's field names. */
function recordOf(rule: Rule): Record<string, unknown> {
  const { enabled, leadRepository } = rule
  return { ...saysOf(rule), enabled, ...(leadRepository !== null && { lead_repository: leadRepository }) }
}

function objectOf({ uid, name }: Rule) {
  return { id: uid, name }
}
