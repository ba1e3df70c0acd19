/** Counts all entries of a period of a budget, in one state of the database. */

import { EVERYTHING } from '../../access/visibility.ts'
import type { Reader, SlowTask } from '../../database/database.ts'
import type { Calendar } from '../../shared/calendar-periods.ts'
import { COUNT_KINDS } from '../../shared/usage.ts'
import { COUNTED_STATUSES } from '../reports/service.ts'
import { exactAt, STATUS_KEYS, sumColumns } from '../rollup/service.ts'
import type { EntryFilter } from '../selection/contract.ts'
import {
  amountOf,
  type BudgetRecord,
  type BudgetTerms,
  contribution,
  markedUp,
  millionthsOf,
  type PeriodRecord,
  type Spending,
} from '../spending/contract.ts'
import { listNotedSides, readTerms, subjectsOf } from '../spending/service.ts'
import { findBudget, findFirstStart, findPeriod, scopeFilter } from './store.ts'

/** What must be added to a period so that it is what its entries are. */
export interface Count {
  period: PeriodRecord
  budgetId: number
  correction: Spending
}

/** More noted changes than this are added first. */
const CHANGES_LIMIT = 20_000

const DAY_MS = 86_400_000

export interface CountArgs extends Calendar {
  periodId: number
  now: number
  markupPpm: number | null
}

/** Undefined if the period is gone, or too many changes wait to be added. */
export const COUNT_TASK: SlowTask<CountArgs, Count | undefined> = {
  name: 'budgets.count',
  deadlineMs: 60_000,
  async run(reader, { periodId, now, ...circumstances }) {
    const period = await findPeriod(reader, periodId)
    const budget = period && (await findBudget(reader, period.budgetId))
    if (!period || !budget) return undefined
    // Nothing is noted for other bases, which are only counted.
    const noted = budget.basis === 'cost' ? await listNotedSides(reader, CHANGES_LIMIT) : []
    if (noted.length === CHANGES_LIMIT) return undefined
    const terms = await readTerms(reader, [{ ...budget, periods: [] }], circumstances)
    const counted = await countEntries(reader, budget, period, terms, now)

    // What is stored, with the changes that are noted and not yet added, is what the entries should be.
    let stored = millionthsOf(period)
    let { entries, unpricedEntries } = period
    const sides = noted.filter(({ startedAt }) => startedAt >= period.startsAt && startedAt < period.endsAt)
    const subjects = await subjectsOf(reader, sides)
    for (const [position, side] of sides.entries()) {
      if (terms.index.matching(subjects[position]!).length === 0) continue
      const amount = contribution(budget, side, terms)
      entries += side.sign
      if (amount) stored += BigInt(side.sign) * millionthsOf(amount)
      else unpricedEntries += side.sign
    }
    const difference = counted.inMillionths - stored
    return {
      period,
      budgetId: budget.id,
      correction: {
        ...amountOf(difference / 1_000_000n, difference % 1_000_000n),
        entries: counted.entries - entries,
        unpricedEntries: counted.unpricedEntries - unpricedEntries,
      },
    }
  },
}

async function countEntries(
  reader: Reader,
  budget: BudgetRecord,
  period: Pick<PeriodRecord, 'startsAt' | 'endsAt'>,
  terms: BudgetTerms,
  now: number,
): Promise<CountedSum> {
  const filter = await countedFilter(reader, budget)
  // Reports read days: not those of thousands of years of a period without an end.
  const from = Math.max(period.startsAt, (await findFirstStart(reader)) ?? now)
  const to = Math.min(period.endsAt, now + 2 * DAY_MS)
  if (!filter || from >= to) return emptySum()
  const [sum] = await sumEntries(reader, { budget, filter, terms, bounds: [from, to] })
  return sum!
}

/** What entries are for a budget. */
interface CountedSum {
  inMillionths: bigint
  entries: number
  unpricedEntries: number
}

const emptySum = (): CountedSum => ({ inMillionths: 0n, entries: 0, unpricedEntries: 0 })

interface SumQuery {
  budget: BudgetRecord
  filter: EntryFilter
  terms: Pick<BudgetTerms, 'markupOf'>
  /** Ascending moments: a sum is of the entries from one to just before the next. */
  bounds: readonly number[]
}

/** What the entries between each two bounds are for a budget: for all of them as `contribution` for one. */
export async function sumEntries(reader: Reader, { budget, filter, terms, bounds }: SumQuery): Promise<CountedSum[]> {
  const { measure, basis } = budget
  const isBilled = measure === 'billed_amount'
  const sums = await sumColumns(reader, {
    viewer: EVERYTHING,
    filter,
    groupings: isBilled ? [{ key: 'projectId' }, { key: 'status' }] : [],
    figures: measure === 'tokens' ? COUNT_KINDS : ['cost'],
    basis,
    bounds,
    onlyStraddling: false,
  })
  const results = bounds.slice(1).map(emptySum)
  for (let row = 0; row < sums.length; row += 1) {
    const result = results[sums.buckets[row]!]!
    result.entries += sums.entries[row]!
    const [project, status] = sums.keys.map((keys) => keys[row]!)
    const markup = isBilled ? markupOf(terms, project!, status!) : 0
    if (markup === null) continue
    const known = sums.figures.reduce((sum, figure) => sum + (exactAt(figure, row) ?? 0n), 0n)
    result.inMillionths += millionthsOf(markedUp(known, markup))
    if (measure !== 'tokens') result.unpricedEntries += sums.unpricedEntries[row]!
  }
  return results
}

/** Null where nothing is billed. */
function markupOf(terms: SumQuery['terms'], project: number, status: number): number | null {
  return status === STATUS_KEYS.rejected ? null : terms.markupOf(project === -1 ? null : project)
}

/** The filter that lists the entries of a budget; undefined if what it is for no longer exists. */
export async function countedFilter(reader: Reader, budget: BudgetRecord): Promise<EntryFilter | undefined> {
  const filter = await scopeFilter(reader, budget)
  return filter && { ...filter, status: [...COUNTED_STATUSES], superseded: false }
}
