/** What other features share of funding: what entries are paid with, and what decides it. */
import type { RuleCondition, SaidFunding } from '../../database/schema/records.ts'
import type { Tables } from '../../database/schema/tables.ts'
import type { PlanHolder, StatedFunding } from '../../database/schema/values.ts'
import type { Id } from '../../lib/id.ts'

export type { SaidFunding }

/** A period that was calculated. */
export type PeriodRecord = Tables['planPeriods']['$inferSelect']

/** A plan, as deciding needs it. Days are those of the organization. */
export interface PlanTerms {
  id: number
  uid: Id<'pln'>
  name: string
  holder: PlanHolder
  /** Such as `codex:pro`. */
  vendorCodes: string[]
  /** Who uses it, and when, both days included; empty if it is the organization's. */
  holders: { userId: number; fromDay: string; toDay: string | null }[]
  /** What it covers from a day until the next version; in the order of their days, at least one. */
  versions: { fromDay: string; conditions: RuleCondition[]; hasAllowance: boolean }[]
  /** The last day; null while it continues. */
  endsOn: string | null
}

/** The current version of a rule that is enabled. */
export interface FundingRuleTerms {
  id: number
  uid: Id<'frl'>
  versionId: number
  version: number
  name: string
  conditions: RuleCondition[]
  funding: StatedFunding
  planId: number | null
}

export interface FundingTerms {
  plans: PlanTerms[]
  /** In the order in which they are tried. */
  rules: FundingRuleTerms[]
}

export { CHANGING, READING } from './operations/shared.ts'
export {
  cutsOf,
  PERIOD_LIMIT,
  type Period,
  type PeriodTerms,
  periodAt,
  periodsOf,
  type Schedule,
  wholeFeeOf,
} from './periods.ts'
