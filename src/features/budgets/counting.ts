/** Counts all entries of a period of a budget, in one state of the database. */
import { EVERYTHING } from '../../access/visibility.ts'
import type { Reader, SlowTask } from '../../database/database.ts'
import type { EntryFilter } from '../entries/listing/filter.ts'
import { exactAt, STATUS_KEYS, sumColumns } from '../entries/rollup/service.ts'
import { COUNTED_STATUSES } from '../reports/service.ts'
import {
  type Amount,
  amountOf,
  BudgetIndex,
  type BudgetRecord,
  contribution,
  listChanges,
  listProjectTerms,
  markedUp,
  millionthsOf,
  type PeriodRecord,
  type Spending,
  sideOf,
  termsOf,
  withNames,
} from '../spending/service.ts'
import { findBudget, findFirstStart, findPeriod, scopeFilter } from './store.ts'

/** What must be added to a period so that it is what its entries are. */
export interface Count {
  period: Pick<PeriodRecord, 'id' | 'counts'>
  budgetId: number
  correction: Spending
}

/** More noted changes than this are added first. */
const CHANGES_LIMIT = 20_000

const DAY_MS = 86_400_000

export interface CountArgs {
  periodId: number
  now: number
  timeZone: string
  weekStart: 'monday' | 'tuesday' | 'wednesday' | 'thursday' | 'friday' | 'saturday' | 'sunday'
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
    const changes = await listChanges(reader, CHANGES_LIMIT)
    if (changes.length === CHANGES_LIMIT) return undefined
    const known = { ...budget, periods: [] }
    const terms = termsOf([known], await listProjectTerms(reader), circumstances)
    const counted = await countEntries(reader, budget, period, terms, now)

    // What is stored, with the changes that are noted and not yet added, is what the entries should be.
    let stored = millionthsOf(period)
    let { entries, unpricedEntries } = period
    const sides = changes
      .map(sideOf)
      .filter(({ startedAt }) => startedAt >= period.startsAt && startedAt < period.endsAt)
    const subjects = await withNames(reader, sides)
    const index = new BudgetIndex([known], terms.index.clientOf)
    for (const [position, side] of sides.entries()) {
      if ([...index.matching(subjects[position]!)].length === 0) continue
      const amount = contribution(budget, side, terms)
      entries += side.sign
      if (amount) stored += BigInt(side.sign) * millionthsOf(amount)
      else unpricedEntries += side.sign
    }
    const difference = counted.inMillionths - stored
    return {
      period: { id: period.id, counts: period.counts },
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
  terms: ReturnType<typeof termsOf>,
  now: number,
) {
  const filter = await countedFilter(reader, budget)
  const isBilled = budget.measure === 'billed_amount'
  // Reports read days: not those of thousands of years of a period without an end.
  const from = Math.max(period.startsAt, (await findFirstStart(reader)) ?? now)
  const to = Math.min(period.endsAt, now + 2 * DAY_MS)
  const result = { inMillionths: 0n, entries: 0, unpricedEntries: 0 }
  if (!filter || from >= to) return result
  const kinds = ['input', 'output', 'cacheRead', 'cacheWrite', 'cacheWrite1h'] as const
  const sums = await sumColumns(reader, {
    viewer: EVERYTHING,
    filter,
    groupings: isBilled ? [{ key: 'projectId' }, { key: 'status' }] : [],
    figures: budget.measure === 'tokens' ? kinds : ['cost'],
    bounds: [from, to],
    onlyStraddling: false,
  })
  const add = (amount: Amount) => {
    result.inMillionths += millionthsOf(amount)
  }
  for (let row = 0; row < sums.length; row += 1) {
    result.entries += sums.entries[row]!
    const known = sums.figures.map((figure) => exactAt(figure, row) ?? 0n).reduce((sum, figure) => sum + figure, 0n)
    if (!isBilled) {
      add(amountOf(known))
      if (budget.measure === 'cost') result.unpricedEntries += sums.unpricedEntries[row]!
      continue
    }
    const project = sums.keys[0]![row]!
    const isRejected = sums.keys[1]![row] === STATUS_KEYS.rejected
    const markup = isRejected ? null : terms.markupOf(project === -1 ? null : project)
    if (markup === null) continue
    add(markedUp(known, markup))
    result.unpricedEntries += sums.unpricedEntries[row]!
  }
  return result
}

/** The filter that lists the entries of a budget; undefined if what it is for no longer exists. */
export async function countedFilter(reader: Reader, budget: BudgetRecord): Promise<EntryFilter | undefined> {
  const filter = await scopeFilter(reader, budget)
  return filter && { ...filter, status: [...COUNTED_STATUSES], superseded: false }
}
