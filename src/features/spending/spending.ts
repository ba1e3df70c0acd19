/** What changes of entries add to the periods of budgets. Pure. */

import type { Calendar } from '../../calendar-periods.ts'
import type { LabelMap } from '../../database/schema/records.ts'
import { type Amount, amountOf, markedUp } from './amount.ts'
import { BudgetIndex, type BudgetRecord, type Subject } from './matching.ts'
import type { KnownPeriod, ProjectTerms, Spending } from './store/periods.ts'

/** A budget with its latest periods, the newest first. */
export type KnownBudget = BudgetRecord & { periods: readonly KnownPeriod[] }

/** Everything that decides what entries add to which budgets. */
export interface BudgetTerms {
  index: BudgetIndex<KnownBudget>
  byId: ReadonlyMap<number, KnownBudget>
  calendar: Calendar
  /** In millionths; null for projects that are not billable. */
  markupOf(projectId: number | null): number | null
}

export function termsOf(
  budgets: readonly KnownBudget[],
  projects: readonly ProjectTerms[],
  { markupPpm, ...calendar }: Calendar & { markupPpm: number | null },
): BudgetTerms {
  const byId = new Map(projects.map((project) => [project.id, project]))
  return {
    index: new BudgetIndex(budgets, (id) => byId.get(id)?.clientId ?? null),
    byId: new Map(budgets.map((budget) => [budget.id, budget])),
    calendar,
    markupOf(id) {
      const project = id === null ? undefined : byId.get(id)
      if (project?.billable === false) return null
      return project?.markupPpm ?? markupPpm ?? 0
    },
  }
}

/** What an entry counts, before or after a change. */
export interface Side extends Omit<Subject, 'agent' | 'model' | 'labels'> {
  sign: 1 | -1
  startedAt: number
  rejected: boolean
  cost: bigint | null
  tokens: number
  /** Absent if only the key is known. */
  agent?: string
  model?: string
  labels?: LabelMap | null
  agentId: number
  modelId: number
  labelSetId: number | null
}

/** What an entry is for a budget: an amount, or nothing that is known. */
export function contribution(
  { measure }: Pick<BudgetRecord, 'measure'>,
  { cost, tokens, rejected, projectId }: Pick<Side, 'cost' | 'tokens' | 'rejected' | 'projectId'>,
  terms: Pick<BudgetTerms, 'markupOf'>,
): Amount | undefined {
  if (measure === 'tokens') return amountOf(BigInt(tokens))
  if (measure === 'cost') return cost === null ? undefined : amountOf(cost)
  const markup = rejected ? null : terms.markupOf(projectId)
  if (markup === null) return NOTHING
  return cost === null ? undefined : markedUp(cost, markup)
}

const NOTHING: Amount = { billions: 0, units: 0, millionths: 0 }

/** Sums by period, and what belongs to periods that are not known. */
export class Sums {
  readonly #byPeriod = new Map<number, Spending & { id: number }>()
  readonly unknown: { budget: KnownBudget; at: number; add: (periodId: number) => void }[] = []

  constructor(readonly terms: BudgetTerms) {}

  add(side: Side, subject: Subject): void {
    const amounts = new Map<BudgetRecord['measure'], Amount | undefined>()
    for (const budget of this.terms.index.matching(subject)) {
      const { measure } = budget
      if (!amounts.has(measure)) amounts.set(measure, contribution(budget, side, this.terms))
      const amount = amounts.get(measure)
      const period = budget.periods.find(
        ({ startsAt, endsAt }) => startsAt <= side.startedAt && side.startedAt < endsAt,
      )
      if (period) this.#addTo(period.id, side.sign, amount)
      else {
        const add = (periodId: number) => this.#addTo(periodId, side.sign, amount)
        this.unknown.push({ budget, at: side.startedAt, add })
      }
    }
  }

  /** What changes, in the order of the periods. */
  rows(): (Spending & { id: number })[] {
    return [...this.#byPeriod.values()].filter(changes).sort((one, other) => one.id - other.id)
  }

  #addTo(id: number, sign: 1 | -1, amount: Amount | undefined): void {
    let sum = this.#byPeriod.get(id)
    if (!sum) {
      sum = { id, ...NOTHING, entries: 0, unpricedEntries: 0 }
      this.#byPeriod.set(id, sum)
    }
    sum.entries += sign
    if (!amount) {
      sum.unpricedEntries += sign
      return
    }
    sum.billions += sign * amount.billions
    sum.units += sign * amount.units
    sum.millionths += sign * amount.millionths
  }
}

function changes({ billions, units, millionths, entries, unpricedEntries }: Spending): boolean {
  return billions !== 0 || units !== 0 || millionths !== 0 || entries !== 0 || unpricedEntries !== 0
}
