/** What changes of entries add to the periods of budgets. Pure. */

import type { LabelMap } from '../../database/schema/records.ts'
import type { Span } from '../../lib/calendar.ts'
import type { Calendar } from '../../shared/calendar-periods.ts'
import { type Amount, amountOf, markedUp, type Spending } from './amount.ts'
import { BudgetIndex, type Scope, type Subject } from './matching.ts'
import { contains, periodAt, windowOf } from './period.ts'
import type { BudgetRecord, KnownPeriod, ProjectTerms } from './records.ts'

/** A budget with its latest periods, the newest first. */
export type KnownBudget = BudgetRecord & { periods: readonly KnownPeriod[] }

/** Budgets that count the same entries in the same periods, so that an entry is added once for all of them. */
export interface BudgetGroup extends Scope, Pick<BudgetRecord, 'measure' | 'period' | 'firstDay' | 'lastDay'> {
  window: Span
  budgets: readonly KnownBudget[]
  /** Their latest periods, the newest first. */
  periods: readonly (Span & { ids: readonly number[] })[]
}

/** Everything that decides what entries add to which budgets. */
export interface BudgetTerms {
  index: BudgetIndex<BudgetGroup>
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
    index: new BudgetIndex(groupsOf(budgets, calendar), (id) => byId.get(id)?.clientId ?? null),
    byId: new Map(budgets.map((budget) => [budget.id, budget])),
    calendar,
    markupOf(id) {
      const project = id === null ? undefined : byId.get(id)
      if (project?.billable === false) return null
      return project?.markupPpm ?? markupPpm ?? 0
    },
  }
}

function groupsOf(budgets: readonly KnownBudget[], calendar: Calendar): BudgetGroup[] {
  const groups = Map.groupBy(
    budgets,
    ({ clientId, projectId, ticketId, managerId, agentName, model, labelName, labelValue, ...budget }) => {
      const scope = [clientId, projectId, ticketId, managerId, agentName, model, labelName, labelValue]
      return JSON.stringify([...scope, budget.measure, budget.period, budget.firstDay, budget.lastDay])
    },
  )
  return [...groups.values()].map((alike) => {
    const spans = Map.groupBy(
      alike.flatMap(({ periods }) => periods),
      ({ startsAt, endsAt }) => `${startsAt} ${endsAt}`,
    )
    const periods = [...spans.values()].map((same) => ({
      startingAt: same[0]!.startsAt,
      endingAt: same[0]!.endsAt,
      ids: same.map(({ id }) => id),
    }))
    periods.sort((one, other) => other.startingAt - one.startingAt)
    return { ...alike[0]!, window: windowOf(alike[0]!, calendar), budgets: alike, periods }
  })
}

/** The groups of budgets for which an entry that started at a moment counts. */
export function groupsCounting({ index }: BudgetTerms, subject: Subject, startedAt: number): BudgetGroup[] {
  return index
    .matching(subject)
    .filter(
      ({ window, periods }) => contains(window, startedAt) || periods.some((period) => contains(period, startedAt)),
    )
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

/** Sums by period, and by budget and the first day of a period what belongs to periods that are not known. */
export class Sums {
  readonly #ofGroups = new Map<readonly number[], Spending>()
  readonly #byPeriod = new Map<number, Spending>()
  readonly #unknown = new Map<KnownBudget, Map<string, UnknownPeriod>>()

  constructor(readonly terms: BudgetTerms) {}

  add(side: Side, groups: readonly BudgetGroup[]): void {
    const amounts = new Map<BudgetRecord['measure'], Amount | undefined>()
    for (const group of groups) {
      const { measure, periods, budgets } = group
      if (!amounts.has(measure)) amounts.set(measure, contribution(group, side, this.terms))
      const entry = { sign: side.sign, amount: amounts.get(measure) }
      const period = periods.find((each) => contains(each, side.startedAt))
      if (period?.ids.length === budgets.length) addTo(this.#ofGroups, period.ids, entry)
      else this.#addToEach(group, side.startedAt, entry)
    }
  }

  /** What belongs to periods that are not known. */
  unknown(): UnknownPeriod[] {
    return [...this.#unknown.values()].flatMap((byDay) => [...byDay.values()])
  }

  /** Adds what belonged to a period that was not known. */
  addKnown(id: number, spending: Spending): void {
    this.#byPeriod.set(id, plus(this.#byPeriod.get(id), spending))
  }

  /** What changes, in the order of the periods. */
  rows(): (Spending & { id: number })[] {
    const sums = new Map(this.#byPeriod)
    for (const [ids, spending] of this.#ofGroups) for (const id of ids) sums.set(id, plus(sums.get(id), spending))
    return [...sums]
      .map(([id, spending]) => ({ id, ...spending }))
      .filter(changes)
      .sort((one, other) => one.id - other.id)
  }

  #addToEach(group: BudgetGroup, at: number, entry: CountedEntry): void {
    const span = periodAt(at, group, this.terms.calendar)
    for (const budget of group.budgets) {
      const period = budget.periods.find(({ startsAt, endsAt }) => startsAt <= at && at < endsAt)
      if (period) addTo(this.#byPeriod, period.id, entry)
      else if (span) {
        const byDay = this.#unknown.getOrInsertComputed(budget, () => new Map())
        const unknown = byDay.getOrInsertComputed(span.firstDay, () => ({ budget, at, spending: nothing() }))
        count(unknown.spending, entry)
      }
    }
  }
}

export interface UnknownPeriod {
  budget: KnownBudget
  /** A moment in it. */
  at: number
  spending: Spending
}

interface CountedEntry {
  sign: 1 | -1
  amount: Amount | undefined
}

const nothing = (): Spending => ({ ...NOTHING, entries: 0, unpricedEntries: 0 })

function addTo<Key>(sums: Map<Key, Spending>, key: Key, entry: CountedEntry): void {
  count(sums.getOrInsertComputed(key, nothing), entry)
}

function count(sum: Spending, { sign, amount }: CountedEntry): void {
  sum.entries += sign
  if (!amount) {
    sum.unpricedEntries += sign
    return
  }
  sum.billions += sign * amount.billions
  sum.units += sign * amount.units
  sum.millionths += sign * amount.millionths
}

function plus(one: Spending = nothing(), other: Spending): Spending {
  return {
    billions: one.billions + other.billions,
    units: one.units + other.units,
    millionths: one.millionths + other.millionths,
    entries: one.entries + other.entries,
    unpricedEntries: one.unpricedEntries + other.unpricedEntries,
  }
}

function changes({ billions, units, millionths, entries, unpricedEntries }: Spending): boolean {
  return billions !== 0 || units !== 0 || millionths !== 0 || entries !== 0 || unpricedEntries !== 0
}
