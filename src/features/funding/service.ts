/** How entries are paid for: the plans and rules that decide it (docs/design/plans.md, "Funding"). */
import { Cached } from '../../database/cached.ts'
import type { Reader, Tx } from '../../database/database.ts'
import type { RuleCondition } from '../../database/schema/records.ts'
import { type CompiledCondition, compileCondition } from '../placement/contract.ts'
import { createFundingRules, type FundingRulesDependencies } from './rules.ts'
import { readFundingTerms } from './store.ts'
import { type Funded, FundingDecisions } from './terms.ts'

export { addFundings, findFundings, saidOf } from './store/fundings.ts'
export { findOwedFunding, settleOwedFunding } from './store/owed.ts'
export type { Funded, FundingDecisions }

export type FundingService = ReturnType<typeof createFundingService>

export function createFundingService(dependencies: FundingRulesDependencies) {
  const cached = new Cached(createLoadDecisions())
  return {
    ...createFundingRules(dependencies),

    /** What the plans and rules decide, as `reader` sees them; not a promise if the cached ones are current. */
    decisions: (reader: Reader | Tx): FundingDecisions | Promise<FundingDecisions> => cached.get(reader),
  }
}

/** Compiles only conditions that are new since the last time. */
function createLoadDecisions(): (reader: Reader) => Promise<FundingDecisions> {
  let compiled = new Map<string, CompiledCondition>()
  return async (reader) => {
    const { plans, rules } = await readFundingTerms(reader)
    const used = new Map<string, CompiledCondition>()
    const compile = (condition: RuleCondition) => {
      const key = JSON.stringify([condition.field, condition.matches])
      const known = used.get(key) ?? compiled.get(key) ?? compileCondition(condition)
      used.set(key, known)
      return known
    }
    const compileAll = <Of extends { conditions: RuleCondition[] }>(of: Of) => ({
      ...of,
      conditions: of.conditions.map(compile),
    })
    const decisions = new FundingDecisions(
      plans.map((plan) => ({ ...plan, versions: plan.versions.map(compileAll) })),
      rules.map(compileAll),
    )
    compiled = used
    return decisions
  }
}
