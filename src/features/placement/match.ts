/** Finds the rule that matches an entry, and why earlier rules do not match. Pure: does not use the database. */
import type { Id } from '../../lib/id.ts'
import type { ProjectRow } from '../projects/service.ts'
import { type CompiledCondition, holdsFor } from './condition.ts'
import { RuleFilter } from './rule-filter.ts'
import { type Subject, valuesOf } from './subject.ts'
import { type ComposedTicket, ticketKeyOf } from './ticket-template.ts'

export interface Rule {
  id: number
  uid: Id<'rul'>
  /** The sort key; removed rules leave gaps. */
  position: number
  versionId: number
  version: number
  name: string
  enabled: boolean
  /** If the rule's project was merged, the one it was merged into. A rule with an archived project is skipped. */
  project: ProjectRow
  /** The ticket's key, in which `{name}` is replaced with a named group of a matched expression. */
  ticket: string | null
  conditions: CompiledCondition[]
  /** Of a rule that a lead made without an admin, the repository that it is limited to; null for all others. */
  leadRepository: string | null
  /** Whether the project no longer has this repository, so that the rule is skipped. */
  isForeign: boolean
  createdAt: number
  changedAt: number
}

export interface Taken extends ComposedTicket {
  rule: Rule
}

export const VERDICTS = ['takes', 'disabled', 'project_archived', 'foreign_repository', 'not_met'] as const
export type Verdict = (typeof VERDICTS)[number]

export interface Step {
  rule: Rule
  verdict: Verdict
  /** The conditions that do not match, each with the value it was compared with; null if there is none. */
  failed?: { field: string; matches: string; value: string | null }[]
}

/** A rule to evaluate, with its conditions on the summary kept separate: two summaries are hardly ever equal. */
interface Tried {
  rule: Rule
  /** Its index among the rules to evaluate. */
  index: number
  lasting: CompiledCondition[]
  onSummary: CompiledCondition[]
}

/** A rule that may match a subject, and its result if that does not depend on the summary. */
interface Candidate extends Tried {
  taken: Taken | undefined
}

/**
 * The cache's limit, in characters of keys and rules of results: about 10 MB, for thirty thousand different sets of
 * labels if no rule uses the summary. Beyond that the cache is cleared, which costs one evaluation of the rules for
 * each.
 */
const REMEMBERED = 4_000_000
/** The weight of a cached result besides its key: an entry of a map and a small array, with an object per rule. */
const VERDICT_WEIGHT = 64
const RULE_WEIGHT = 48

/** The rules in their order, including those that are never evaluated. */
export class RuleSet {
  readonly #tried: Tried[]
  readonly #byLasting: RuleFilter
  readonly #bySummary: RuleFilter
  /** The fields other than the summary that any rule uses: they determine the result, and are the cache's key. */
  readonly #fields: string[]
  /** By key, the rules that may match such a subject, up to the first that matches regardless of the summary. */
  readonly #candidates = new Map<string, Candidate[]>()
  #remembered = 0

  constructor(readonly rules: readonly Rule[]) {
    this.#tried = rules.filter(isTried).map((rule, index) => ({
      rule,
      index,
      // Conditions that are evaluated fast come first.
      lasting: rule.conditions
        .filter(({ field }) => field !== 'summary')
        .sort((one, other) => Number(one.expression !== undefined) - Number(other.expression !== undefined)),
      onSummary: rule.conditions.filter(({ field }) => field === 'summary'),
    }))
    this.#byLasting = new RuleFilter(this.#tried.map(({ lasting }) => lasting))
    this.#bySummary = new RuleFilter(this.#tried.map(({ onSummary }) => onSummary))
    this.#fields = [...new Set(this.#tried.flatMap(({ lasting }) => lasting.map(({ field }) => field)))]
  }

  /** The first rule that matches the subject; undefined if none does. */
  findMatch(subject: Subject): Taken | undefined {
    if (this.#tried.length === 0) return undefined
    const candidates = this.#bySummary.narrow(this.#candidatesFor(subject), subject)
    const found = candidates.find(({ onSummary }) => holdAll(onSummary, subject))
    return found && (found.taken ?? taken(found.rule, subject))
  }

  #candidatesFor(subject: Subject): Candidate[] {
    const key = JSON.stringify(this.#fields.map((field) => valuesOf(field, subject)))
    const known = this.#candidates.get(key)
    if (known) return known
    const candidates: Candidate[] = []
    for (const tried of this.#byLasting.narrow(this.#tried, subject)) {
      if (!holdAll(tried.lasting, subject)) continue
      const isCertain = tried.onSummary.length === 0
      candidates.push({ ...tried, taken: isCertain ? taken(tried.rule, subject) : undefined })
      if (isCertain) break
    }
    const weight = key.length + candidates.length * RULE_WEIGHT + VERDICT_WEIGHT
    if (this.#remembered + weight > REMEMBERED) {
      this.#candidates.clear()
      this.#remembered = 0
    }
    this.#remembered += weight
    this.#candidates.set(key, candidates)
    return candidates
  }
}

function isTried({ enabled, project, isForeign }: Rule): boolean {
  return enabled && project.archivedAt === null && !isForeign
}

function holdAll(conditions: CompiledCondition[], subject: Subject): boolean {
  return conditions.every((condition) => holdsFor(condition, subject))
}

/** The ticket that a rule gives to a subject; undefined if a condition does not match. */
export function matchOf(
  rule: Pick<Rule, 'name' | 'ticket' | 'conditions'>,
  subject: Subject,
): ComposedTicket | undefined {
  return holdAll(rule.conditions, subject) ? ticketKeyOf(rule, subject) : undefined
}

function taken(rule: Rule, subject: Subject): Taken {
  return { rule, ...ticketKeyOf(rule, subject) }
}

/** Evaluates a subject step by step, up to the matching rule. */
export function explain(rules: Pick<RuleSet, 'rules'>, subject: Subject): { taken: Taken | null; steps: Step[] } {
  const steps: Step[] = []
  for (const rule of rules.rules) {
    const step = stepOf(rule, subject)
    steps.push(step)
    if (step.verdict === 'takes') return { taken: taken(rule, subject), steps }
  }
  return { taken: null, steps }
}

function stepOf(rule: Rule, subject: Subject): Step {
  if (!rule.enabled) return { rule, verdict: 'disabled' }
  if (rule.project.archivedAt !== null) return { rule, verdict: 'project_archived' }
  if (rule.isForeign) return { rule, verdict: 'foreign_repository' }
  const failed = rule.conditions
    .filter((condition) => !holdsFor(condition, subject))
    .map(({ field, matches }) => ({ field, matches, value: valuesOf(field, subject)[0] ?? null }))
  return failed.length === 0 ? { rule, verdict: 'takes' } : { rule, verdict: 'not_met', failed }
}
