/** What other features share of placement: the conditions by which rules match entries. */
export { type CompiledCondition, compileCondition, holdsFor } from './condition.ts'
export { CONDITIONS_LIMIT, issuesOfConditions } from './rule-issues.ts'
export { type Positioned, ruleOrder } from './rule-order.ts'
export type { Subject } from './subject.ts'
