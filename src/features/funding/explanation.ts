/** Why rules do or do not decide what pays for a sample. Pure. */
import type { RuleCondition } from '../../database/schema/records.ts'
import { compileCondition, holdsFor } from '../placement/contract.ts'
import { valuesOf } from '../placement/service.ts'
import type { SaidFunding } from './contract.ts'
import { type CompiledPlan, type Decision, decideFunding, type FundedSubject, plansOf } from './decide.ts'
import type { FUNDING_VERDICTS } from './schema.ts'
import type { FundingRule } from './store/rules.ts'

interface Step {
  rule: FundingRule
  verdict: (typeof FUNDING_VERDICTS)[number]
  failed: (RuleCondition & { value: string | null })[]
}

export interface ExplainedFunding {
  decision: Decision
  steps: Step[]
}

export function explainFunding(
  subject: FundedSubject,
  said: SaidFunding | null,
  day: string,
  { plans, rules }: { plans: readonly CompiledPlan[]; rules: readonly FundingRule[] },
): ExplainedFunding {
  const held = plansOf(subject.managerId, day, plans)
  const compiled = rules
    .filter(({ enabled }) => enabled)
    .map((rule) => ({ ...rule, conditions: rule.conditions.map(compileCondition) }))
  const decision = decideFunding(subject, said, day, { held, rules: compiled })
  if (decision.reason === 'report' || decision.reason === 'agent') return { decision, steps: [] }
  const steps: Step[] = []
  for (const rule of rules) {
    const step = stepOf(rule, subject, held)
    steps.push(step)
    if (step.verdict === 'takes') break
  }
  return { decision, steps }
}

function stepOf(rule: FundingRule, subject: FundedSubject, held: readonly CompiledPlan[]): Step {
  if (!rule.enabled) return { rule, verdict: 'disabled', failed: [] }
  const failed = rule.conditions
    .filter((condition) => !holdsFor(compileCondition(condition), subject))
    .map(({ field, matches }) => ({ field, matches, value: valuesOf(field, subject)[0] ?? null }))
  if (failed.length > 0) return { rule, verdict: 'not_met', failed }
  const isHeld = rule.plan === null || held.some(({ id }) => id === rule.plan!.id)
  return { rule, verdict: isHeld ? 'takes' : 'plan_not_held', failed: [] }
}
