/** By which amount cost is counted (docs/plans.md, "Cost by basis"). */

/**
 * `cost` is the reported cost, or else the list value; `list` the list value; `marginal` what was paid beside the fees of plans;
 * `allocated` the marginal cost and the share of the fee of the plan.
 */
export const COST_BASES = ['cost', 'list', 'marginal', 'allocated'] as const
export type CostBasis = (typeof COST_BASES)[number]

/** As headings and figures name it. */
export const BASIS_TITLES: Record<CostBasis, string> = {
  cost: 'Cost',
  list: 'List value',
  marginal: 'Marginal cost',
  allocated: 'Allocated cost',
}
