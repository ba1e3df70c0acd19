/** By which amount cost is counted (docs/plans.md, "Cost by basis"). */

/**
 * `cost` is the reported cost, or else the list value; `list` the list value; `marginal` what was paid beside the fees of plans;
 * `allocated` the marginal cost and the share of the fee of the plan.
 */
export const COST_BASES = ['cost', 'list', 'marginal', 'allocated'] as const
export type CostBasis = (typeof COST_BASES)[number]

/** Those that do not show what plans cost: of share links, which anybody may open. */
export const BASES_WITHOUT_FEES = ['cost', 'list', 'marginal'] as const satisfies CostBasis[]

/** What it is, in a few words. */
export const BASIS_TEXTS: Record<CostBasis, string> = {
  cost: 'Cost: the reported cost, or else the list value',
  list: 'List value: at the prices of the API',
  marginal: 'Marginal cost: what was paid in addition to plan fees',
  allocated: 'Allocated cost: marginal cost plus the share of the plan’s fee',
}

/** As headings and figures name it. */
export const BASIS_TITLES: Record<CostBasis, string> = {
  cost: 'Cost',
  list: 'List value',
  marginal: 'Marginal cost',
  allocated: 'Allocated cost',
}

/** What the costs on a bill are, as its documents say it; undefined if they are reported costs, or else list values. */
export function billBasisText({
  basis = 'cost',
  provisional,
}: {
  basis?: CostBasis | undefined
  provisional?: boolean | undefined
}): string | undefined {
  return basis === 'cost' ? undefined : `${BILLED_AS[basis]}${provisional ? ' (provisional)' : ''}`
}

const BILLED_AS = {
  list: 'list value',
  marginal: 'paid in addition to plans',
  allocated: 'allocated share of plans',
} satisfies Record<Exclude<CostBasis, 'cost'>, string>
