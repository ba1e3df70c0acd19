/** Which rule takes an entry, and why the ones before it did not. Pure: knows no database. */
import type { Id } from '../../lib/id.ts'
import type { ProjectRow } from '../projects/service.ts'
import { type CompiledCondition, holdsFor } from './condition.ts'
import { type Subject, valuesOf } from './subject.ts'
import { type ComposedTicket, ticketKeyOf } from './ticket-template.ts'

export interface Rule {
  uid: Id<'rul'>
  versionId: number
  version: number
  name: string
  enabled: boolean
  /** Where a merge led, where there was one. A rule whose project is archived is skipped. */
  project: ProjectRow
  /** The ticket's key, in which `{name}` stands for a named group of a matched expression. */
  ticket: string | null
  conditions: CompiledCondition[]
}

export interface Taken extends ComposedTicket {
  rule: Rule
}

export type Verdict = 'takes' | 'disabled' | 'project_archived' | 'not_met'

export interface Step {
  rule: Rule
  verdict: Verdict
  /** The conditions that do not hold, each with the value that it looked at; null where there is none. */
  failed?: { field: string; matches: string; value: string | null }[]
}

/** The rules in their order, those that are never tried included. */
export class RuleSet {
  constructor(readonly rules: readonly Rule[]) {}

  /** The first rule that takes the subject; undefined where none does. */
  findTaker(subject: Subject): Taken | undefined {
    for (const rule of this.rules) {
      if (!rule.enabled || rule.project.archivedAt !== null) continue
      if (rule.conditions.every((condition) => holdsFor(condition, subject))) return taken(rule, subject)
    }
    return undefined
  }
}

function taken(rule: Rule, subject: Subject): Taken {
  return { rule, ...ticketKeyOf(rule, subject) }
}

/** What becomes of a subject, step by step up to the rule that takes it. */
export function explain(rules: RuleSet, subject: Subject): { taken: Taken | null; steps: Step[] } {
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
  const failed = rule.conditions
    .filter((condition) => !holdsFor(condition, subject))
    .map((condition) => ({
      field: condition.field,
      matches: condition.matches,
      value: valuesOf(condition.field, subject)[0] ?? null,
    }))
  return failed.length === 0 ? { rule, verdict: 'takes' } : { rule, verdict: 'not_met', failed }
}
