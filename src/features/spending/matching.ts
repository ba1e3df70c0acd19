/** Which budgets an entry counts for. Pure. */
import type { LabelMap } from '../../database/schema/records.ts'
import type { Tables } from '../../database/schema/tables.ts'

export type BudgetRecord = Tables['budgets']['$inferSelect']

/** What decides which budgets an entry counts for. */
export interface Subject {
  managerId: number
  projectId: number | null
  ticketId: number | null
  agent: string
  model: string
  labels: LabelMap | null
}

/** The columns of a scope, from those that leave fewest entries to those that leave most. */
const ORDERED = ['ticketId', 'projectId', 'labelName', 'managerId', 'agentName', 'model', 'clientId'] as const
type ScopeColumn = (typeof ORDERED)[number]

/** Budgets by one attribute of their scope, so that an entry is compared only with those that share it. */
export class BudgetIndex<Budget extends Pick<BudgetRecord, ScopeColumn | 'labelValue'>> {
  readonly #ofEverything: Budget[] = []
  readonly #byColumn = new Map<ScopeColumn, Map<unknown, Budget[]>>()

  /** @param clientOf the client of a project */
  constructor(
    budgets: readonly Budget[],
    readonly clientOf: (projectId: number) => number | null,
  ) {
    for (const budget of budgets) {
      const column = ORDERED.find((each) => budget[each] !== null)
      if (column === undefined) {
        this.#ofEverything.push(budget)
        continue
      }
      let byValue = this.#byColumn.get(column)
      if (!byValue) {
        byValue = new Map()
        this.#byColumn.set(column, byValue)
      }
      const value = column === 'labelName' ? labelKey(budget.labelName!, budget.labelValue!) : budget[column]
      const alike = byValue.get(value)
      if (alike) alike.push(budget)
      else byValue.set(value, [budget])
    }
  }

  /** The budgets that the entry counts for. Called for every report, so it makes nothing that it does not need. */
  matching(subject: Subject): readonly Budget[] {
    const found = [...this.#ofEverything]
    for (const [column, byValue] of this.#byColumn) {
      if (column === 'labelName') {
        for (const name in subject.labels) this.#add(found, byValue.get(labelKey(name, subject.labels[name]!)), subject)
      } else {
        const value = this.#valueOf(subject, column)
        if (value !== null) this.#add(found, byValue.get(value), subject)
      }
    }
    return found
  }

  #valueOf(subject: Subject, column: Exclude<ScopeColumn, 'labelName'>): unknown {
    if (column === 'agentName') return subject.agent
    if (column === 'clientId') return subject.projectId === null ? null : this.clientOf(subject.projectId)
    return subject[column]
  }

  #add(found: Budget[], candidates: readonly Budget[] | undefined, subject: Subject): void {
    if (candidates) for (const budget of candidates) if (this.#matches(budget, subject)) found.push(budget)
  }

  #matches(budget: Budget, subject: Subject): boolean {
    const { clientId, projectId, ticketId, managerId, agentName, model, labelName, labelValue } = budget
    return (
      (projectId === null || projectId === subject.projectId) &&
      (ticketId === null || ticketId === subject.ticketId) &&
      (managerId === null || managerId === subject.managerId) &&
      (agentName === null || agentName === subject.agent) &&
      (model === null || model === subject.model) &&
      (labelName === null || subject.labels?.[labelName] === labelValue) &&
      (clientId === null || (subject.projectId !== null && this.clientOf(subject.projectId) === clientId))
    )
  }
}

function labelKey(name: string, value: string): string {
  return `${name}:${value}`
}
