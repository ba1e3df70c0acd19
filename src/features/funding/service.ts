/** How entries are paid for: the plans and rules that decide it (docs/plans.md, "What pays for usage"). */
import { Cached } from '../../database/cached.ts'
import type { Reader, Tx } from '../../database/database.ts'
import type { RuleCondition } from '../../database/schema/records.ts'
import { refusal, validationFailed } from '../../errors.ts'
import { dayAt } from '../../lib/calendar.ts'
import type { OrganizationService } from '../organization/service.ts'
import type { PeopleService } from '../people/service.ts'
import { type CompiledCondition, compileCondition } from '../placement/contract.ts'
import { readSample } from '../placement/service.ts'
import { createAllocation } from './allocation-job.ts'
import { createClosing } from './closing.ts'
import { type ExplainedFunding, explainFunding } from './explanation.ts'
import { findInconsistentShares } from './integrity.ts'
import { createFundingRules, type FundingRulesDependencies, issuesOfFunding } from './rules.ts'
import type { FundingTest } from './schema.ts'
import { saidOf } from './store/fundings.ts'
import { listFundingRules } from './store/rules.ts'
import { readFundingTerms } from './store.ts'
import { type Funded, FundingDecisions } from './terms.ts'

export { findChangedClosed, noteNewDays } from './closing.ts'
export { changeToPreview } from './request.ts'
export { divideShares, isCorrection, uniteShares } from './store/divisions.ts'
export { addFundings, findFundings, saidOf } from './store/fundings.ts'
export { findOwedFunding, type OwedFunding, oweFunding, settleOwedFunding } from './store/owed.ts'
export { correctionBy } from './terms.ts'
export type { Funded, FundingDecisions }

export type FundingService = ReturnType<typeof createFundingService>

interface Dependencies extends FundingRulesDependencies {
  organization: Pick<OrganizationService, 'settings'>
  people: Pick<PeopleService, 'findUser'>
}

export function createFundingService({ organization, people, ...dependencies }: Dependencies) {
  const { db, clock } = dependencies
  const cached = new Cached(createLoadDecisions())
  const { job, calculateOwed } = createAllocation({ db, clock })
  return {
    jobs: [job],

    calculateOwed,

    ...createClosing({ db, clock, calculateOwed }),

    ...createFundingRules(dependencies),

    /** One sentence for each period whose shares are not those of its entries. */
    verify: (): Promise<string[]> => findInconsistentShares(db.slow),

    /** What would pay for a sample, and why rules do not decide. Throws 422 if its person does not exist. Writes nothing. */
    async testFunding({ sample, day, funding, plan }: FundingTest): Promise<ExplainedFunding> {
      const issues = funding === undefined ? [] : issuesOfFunding(funding)
      if (issues.length > 0) throw validationFailed(issues)
      const person = sample.agent_manager === undefined ? undefined : await people.findUser(sample.agent_manager)
      if (sample.agent_manager !== undefined && !person) {
        throw refusal('/sample/agent_manager', 'unknown_person', 'must be the id or e-mail address of a person')
      }
      const { timeZone } = await organization.settings(db.read)
      const { plans } = await cached.get(db.read)
      const subject = { ...readSample(sample), ...(person && { manager: person }), managerId: person?.id ?? 0 }
      return explainFunding(subject, saidOf(funding ?? null, plan ?? null), day ?? dayAt(clock.now(), timeZone), {
        plans,
        rules: await listFundingRules(db.read),
      })
    },

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
