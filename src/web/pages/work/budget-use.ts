import { percent } from '../../format/counts.ts'
import { money } from '../../format/money.ts'

/** The share of a budget from which it is highlighted. */
const NEARLY = 0.8

interface BudgetUse {
  /** 1 if the budget is used up; infinite if there is usage without a budget. */
  share: number
  state: 'within' | 'nearly' | 'over'
  /** `45.0% of $200.00`, `$12.50 over $200.00` */
  text: string
}

/** How much of a budget is used, both in US dollars. */
export function budgetUse(used: number, budget: number): BudgetUse {
  const share = budget === 0 ? (used === 0 ? 0 : Number.POSITIVE_INFINITY) : used / budget
  // Short, since it stands in a narrow column beside what was used.
  if (share > 1) return { share, state: 'over', text: `${money(used - budget)} over ${money(budget)}` }
  return { share, state: share >= NEARLY ? 'nearly' : 'within', text: `${percent(share)} of ${money(budget)}` }
}
