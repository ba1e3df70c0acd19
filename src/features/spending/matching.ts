/** Which budgets an entry counts for. Pure. */
import type { LabelMap } from '../../database/schema/records.ts'
import type { BudgetRecord } from './records.ts'

/** What decides which budgets an entry counts for. */
export interface Subject {
  managerId: number
  projectId: number | null
  ticketId: number | null
  agent: string
  model: string
  labels: LabelMap | null
}

const COLUMNS = ['ticketId', 'projectId', 'managerId', 'clientId', 'agentName', 'model', 'labelName'] as const
type ScopeColumn = (typeof COLUMNS)[number]
export type Scope = Pick<BudgetRecord, ScopeColumn | 'labelValue'>

/** The columns that scopes set, and what has such a scope by the values that it sets them to. */
interface Shape<Scoped> {
  columns: readonly ScopeColumn[]
  byValues: Map<Value, Scoped[]>
}

/** Budgets by their whole scope, so that an entry is compared with none that it does not count for. */
export class BudgetIndex<Scoped extends Scope> {
  readonly #shapes = new Map<string, Shape<Scoped>>()

  /** @param clientOf the client of a project */
  constructor(
    all: readonly Scoped[],
    readonly clientOf: (projectId: number) => number | null,
  ) {
    for (const scoped of all) {
      const columns = COLUMNS.filter((column) => scoped[column] !== null)
      const { byValues } = this.#shapes.getOrInsertComputed(columns.join(), () => ({ columns, byValues: new Map() }))
      const values = columns.flatMap((column) =>
        column === 'labelName' ? [scoped.labelName!, scoped.labelValue!] : [scoped[column]!],
      )
      byValues.getOrInsertComputed(keyOf(values), () => []).push(scoped)
    }
  }

  /** The budgets that the entry counts for. Called for every report, so it makes nothing that it does not need. */
  matching(subject: Subject): readonly Scoped[] {
    const found: Scoped[] = []
    for (const { columns, byValues } of this.#shapes.values()) {
      for (const values of this.#valuesOf(subject, columns)) {
        const alike = byValues.get(keyOf(values))
        if (alike) for (const scoped of alike) found.push(scoped)
      }
    }
    return found
  }

  /** What scopes that set these columns must set them to: nothing fits a value that is absent, and each label may. */
  #valuesOf(subject: Subject, columns: readonly ScopeColumn[]): Value[][] {
    const values: Value[] = []
    for (const column of columns) {
      if (column === 'labelName') return Object.entries(subject.labels ?? {}).map((label) => [...values, ...label])
      const value = this.#valueOf(subject, column)
      if (value === null) return []
      values.push(value)
    }
    return [values]
  }

  #valueOf(subject: Subject, column: Exclude<ScopeColumn, 'labelName'>): Value | null {
    if (column === 'agentName') return subject.agent
    if (column === 'clientId') return subject.projectId === null ? null : this.clientOf(subject.projectId)
    return subject[column]
  }
}

type Value = string | number

/** Most scopes set one column, whose value is its own key. */
function keyOf(values: readonly Value[]): Value {
  return values.length === 1 ? values[0]! : JSON.stringify(values)
}
