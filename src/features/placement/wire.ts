/** Rules as the API answers them, and what it is sent as services take it. */

import { timestamp } from '../../lib/duration.ts'
import { composeName } from '../../lib/names.ts'
import type { Rule, Taken } from './match.ts'
import { type Explanation, type ListedRule, type NewRuleFields, UNSAVED_VERSION, warningsOf } from './rule-list.ts'
import type { ExplanationBody, NewRule, RuleBody, Sample } from './schema.ts'
import type { Subject } from './subject.ts'

export function ruleBody({ rule, position }: ListedRule): RuleBody {
  return {
    id: rule.uid,
    position,
    name: rule.name,
    enabled: rule.enabled,
    conditions: rule.conditions.map(({ field, matches }) => ({ field, matches })),
    project: projectOf(rule),
    ticket: rule.ticket,
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

export function readNewRule({ ticket = null, ...rule }: NewRule): NewRuleFields {
  return { ...rule, ticket }
}

/** What a sample is to rules. A person is told by either of their names. */
export function readSample(sample: Sample): Subject {
  const { agent_manager: manager = '' } = sample
  return {
    agentHarness: composeName(sample.agent_harness ?? ''),
    agentName: composeName(sample.agent_name ?? ''),
    model: composeName(sample.model ?? ''),
    provider: sample.provider === undefined ? null : composeName(sample.provider),
    manager: { email: composeName(manager), name: '' },
    summary: sample.summary ?? null,
    labels: sample.labels ?? null,
  }
}
