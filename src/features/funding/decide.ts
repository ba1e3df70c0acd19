/**
 * How an entry is paid for, by the first that says so: its report, a funding rule, the plan of its person. Pure: depends on
 * the entry and the current terms alone, so that the order in which reports, plans and rules arrive makes no difference.
 */
import { type FundingKind, type FundingNote, type FundingReason, PLAN_HOLDERS } from '../../database/schema/values.ts'
import { foldName } from '../../lib/names.ts'
import { type CompiledCondition, holdsFor, type Subject } from '../placement/contract.ts'
import type { FundingRuleTerms, PlanTerms, SaidFunding } from './contract.ts'

type Compiled<Of> = Omit<Of, 'conditions'> & { conditions: CompiledCondition[] }

export type CompiledPlan = Omit<PlanTerms, 'versions'> & { versions: Compiled<PlanTerms['versions'][number]>[] }
export type CompiledRule = Compiled<FundingRuleTerms>

/** The fields that decide, of a report or of an entry. */
export interface FundedSubject extends Subject {
  managerId: number
}

export interface Decision {
  funding: FundingKind
  plan: CompiledPlan | null
  rule: CompiledRule | null
  reason: FundingReason
  note: FundingNote | null
}

/** The plans that hold a person on a day, the most specific first. */
export function plansOf(managerId: number, day: string, plans: readonly CompiledPlan[]): CompiledPlan[] {
  return plans.filter((plan) => holds(plan, managerId, day)).sort((one, other) => bySpecificity(one, other, day))
}

/** @param held the plans that hold the person on the day, as {@link plansOf} returns them */
export function decideFunding(
  subject: FundedSubject,
  said: SaidFunding | null,
  day: string,
  { held, rules }: { held: readonly CompiledPlan[]; rules: readonly CompiledRule[] },
): Decision {
  const covering = () => held.find((plan) => versionOn(plan, day)!.conditions.every((each) => holdsFor(each, subject)))
  let note: FundingNote | null = null
  if (said) {
    const { funding, plan: called } = said
    const stated = called === null ? undefined : held.find((plan) => isNamed(plan, called) || isCoded(plan, called))
    const reason = stated && !isNamed(stated, called!) ? 'agent' : 'report'
    if (called !== null && !stated) note = 'plan_not_held'
    if (funding === 'mixed' || funding === 'mixed_credits') {
      const plan = called === null ? covering() : stated
      return { rule: null, reason, ...mixedOf(said, plan, note) }
    }
    if (funding === 'metered' || funding === 'unknown') return { funding, plan: null, rule: null, reason, note }
    if (stated) return { funding: funding ?? 'plan', plan: stated, rule: null, reason, note }
    const plan = funding === null ? undefined : covering()
    if (funding !== null && plan) return { funding, plan, rule: null, reason, note }
    if (funding === 'credits') return { funding, plan: null, rule: null, reason, note }
    if (funding === 'plan') return { funding: 'unknown', plan: null, rule: null, reason, note: note ?? 'no_plan' }
  }
  for (const rule of rules) {
    if (!rule.conditions.every((condition) => holdsFor(condition, subject))) continue
    const { funding, planId } = rule
    if (planId === null) return { funding, plan: null, rule, reason: 'rule', note }
    const plan = held.find(({ id }) => id === planId)
    if (plan) return { funding, plan, rule, reason: 'rule', note }
    note = 'plan_not_held'
  }
  const plan = covering()
  if (plan) return { funding: 'plan', plan, rule: null, reason: 'person', note }
  return { funding: 'unknown', plan: null, rule: null, reason: 'none', note }
}

/** Of a slice of which a part is metered: the rest is paid by the plan, or by credits of none, which are charged as well. */
function mixedOf(
  { funding, plan: called, metered_share: share }: SaidFunding,
  plan: CompiledPlan | undefined,
  note: FundingNote | null,
): Pick<Decision, 'funding' | 'plan' | 'note'> {
  if (share === undefined) return { funding: 'unknown', plan: null, note: 'parts_differ' }
  if (plan) return { funding: 'mixed', plan, note: 'mixed_by_tokens' }
  if (funding === 'mixed_credits' && called === null) return { funding: 'metered', plan: null, note }
  return { funding: 'unknown', plan: null, note: note ?? 'no_plan' }
}

/** The terms of a plan on a day; undefined before it starts. */
function versionOn<Version extends { fromDay: string }>(
  { versions }: { versions: readonly Version[] },
  day: string,
): Version | undefined {
  return versions.findLast(({ fromDay }) => fromDay <= day)
}

function holds(plan: CompiledPlan, managerId: number, day: string): boolean {
  if (!versionOn(plan, day) || (plan.endsOn !== null && plan.endsOn < day)) return false
  if (plan.holder === 'organization') return true
  return plan.holders.some(
    ({ userId, fromDay, toDay }) => userId === managerId && fromDay <= day && (toDay === null || toDay >= day),
  )
}

function isNamed({ uid, name }: CompiledPlan, text: string): boolean {
  return uid === text || foldName(name) === foldName(text)
}

function isCoded({ vendorCodes }: CompiledPlan, text: string): boolean {
  return vendorCodes.some((code) => foldName(code) === foldName(text))
}

/** The plan of one person comes before that of several, one with more conditions before others, then the one that began later. */
function bySpecificity(one: CompiledPlan, other: CompiledPlan, day: string): number {
  const conditionsOf = (plan: CompiledPlan) => versionOn(plan, day)!.conditions.length
  const startOf = ({ versions }: CompiledPlan) => versions[0]!.fromDay
  return (
    PLAN_HOLDERS.indexOf(one.holder) - PLAN_HOLDERS.indexOf(other.holder) ||
    conditionsOf(other) - conditionsOf(one) ||
    compare(startOf(other), startOf(one)) ||
    compare(one.uid, other.uid)
  )
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other)
}
