/** Placement rules, and the placement of entries by names and rules (docs/design/concepts.md, "Placement"). */
import { Cached } from '../../database/cached.ts'
import type { Reader, Tx } from '../../database/database.ts'
import { WorkingSet } from '../../database/working-set.ts'
import type { OrganizationService } from '../organization/service.ts'
import { NamedWork } from '../projects/service.ts'
import { createLeadRules } from './lead-rules.ts'
import { RuleSet } from './match.ts'
import {
  type Named,
  type Placeable,
  type Placement,
  type PlacementOptions,
  type PlacementSetting,
  place,
  placeByNames,
} from './place.ts'
import { createProposals } from './proposals.ts'
import { createLoadRules, createRules, type RulesDependencies } from './rule-list.ts'
import { getRuleVersion, type RuleVersion } from './store.ts'
import type { Subject } from './subject.ts'
import { TimeBudget } from './time-budget.ts'

export { EXAMPLE_EXPLANATION, EXAMPLE_NEW_PROPOSAL, EXAMPLE_NEW_RULE } from './examples.ts'
export { explain, matchOf, type Rule, RuleSet, type Step, type Taken, type Verdict } from './match.ts'
export {
  type Named,
  type Placement,
  type PlacementOptions,
  type PlacementSetting,
  place,
  placeByNames,
  UNATTRIBUTED,
} from './place.ts'
export { proposalBody } from './proposal-wire.ts'
export type { CheckedProposal } from './proposals.ts'
export { readNewRule, readProposal, readSample } from './request.ts'
export type { Explanation, ListedRule, NewRuleFields, RuleChange, Unsaved } from './rule-list.ts'
export { ExplanationBody, NewProposal, unsavedRule } from './schema.ts'

export { valuesOf } from './subject.ts'
export { explanationBody, ruleBody } from './wire.ts'
export type { RuleVersion, Subject }

interface PlacementDependencies extends Omit<RulesDependencies, 'loadRules'> {
  organization: Pick<OrganizationService, 'settings'>
}

export type PlacementService = ReturnType<typeof createPlacementService>

export function createPlacementService(dependencies: PlacementDependencies) {
  const { projects, clock } = dependencies
  const budget = new TimeBudget(clock)
  const loadRules = createLoadRules(projects)
  const rules = createRules({ ...dependencies, loadRules })
  const cached = new Cached(async (reader) => new RuleSet(await loadRules(reader)))

  /** Places an entry by itself, not as part of a set of reports. */
  async function placeAlone(tx: Tx, make: (setting: PlacementSetting) => Placement): Promise<Placement> {
    const rules = await cached.get(tx)
    const set = new WorkingSet()
    const work = new NamedWork(set, dependencies.clock.now())
    const placement = await set.plan(tx, () => make({ work, rules }))
    await work.save(tx)
    return placement
  }

  return {
    ...rules,
    ...createProposals({ ...dependencies, rules, budget }),
    ...createLeadRules({ ...dependencies, rules, budget }),

    /** The rules as `reader` sees them; not a promise if the cached ones are current. */
    rules: (reader: Reader | Tx): RuleSet | Promise<RuleSet> => cached.get(reader),

    /** The version of the rule that placed an entry. Throws if the version does not exist. */
    describeRuleVersion: (reader: Reader, ruleVersionId: number): Promise<RuleVersion> =>
      getRuleVersion(reader, ruleVersionId),

    /** {@link placeByNames}, for a single entry. */
    placeByNames: (tx: Tx, named: Named, options: PlacementOptions): Promise<Placement> =>
      placeAlone(tx, (setting) => placeByNames(setting, { named }, options)),

    /** {@link place}, for a single entry. */
    place: (tx: Tx, placeable: Placeable & { subject: Subject }, options: PlacementOptions): Promise<Placement> =>
      placeAlone(tx, (setting) => place(setting, placeable, options)),
  }
}
