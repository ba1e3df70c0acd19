import { timestamp } from '../../lib/duration.ts'
import type { Rule, Taken } from './match.ts'
import { type Explanation, type ListedRule, UNSAVED_VERSION, warningsOf } from './rule-list.ts'
import type { ExplanationBody, RuleBody } from './schema.ts'

export function ruleBody({ rule, position }: ListedRule): RuleBody {
  return {
    id: rule.uid,
    position,
    name: rule.name,
    enabled: rule.enabled,
    conditions: rule.conditions.map(({ field, matches }) => ({ field, matches })),
    project: projectOf(rule),
    ticket: rule.ticket,
    lead_repository: rule.leadRepository,
    version: rule.version,
    warnings: warningsOf(rule),
    created_at: timestamp(rule.createdAt),
    changed_at: timestamp(rule.changedAt),
  }
}

export function explanationBody({ taken, steps }: Explanation): ExplanationBody {
  return {
    taken: taken && takenBody(taken),
    steps: steps.map(({ rule, verdict, failed }) => ({ rule: referenceOf(rule), verdict, failed: failed ?? [] })),
  }
}

function takenBody({ rule, ticketKey, note }: Taken) {
  return { rule: referenceOf(rule), project: projectOf(rule), ticket: ticketKey, note }
}

function referenceOf({ uid, name, version }: Rule) {
  return { id: version === UNSAVED_VERSION ? null : uid, name }
}

function projectOf({ project: { uid, key, name } }: Rule) {
  return { id: uid, key, name }
}
