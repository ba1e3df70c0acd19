/** Conversion of budgets between form values and API requests. Pure. */
import type { CostBasis } from '../../../shared/cost-basis.ts'
import type { Budget, Measure } from '../../parts/budgets/budget.ts'
import { peopleOf } from '../../parts/people-field.tsx'
import type { Choice } from '../../parts/pickers.tsx'
import { projectLabel } from '../../parts/project-label.ts'

type Threshold = Budget['thresholds'][number]

export interface ThresholdValues {
  percent: number | string
  of: 'spent' | 'forecast'
  leads: boolean
  billing: boolean
  /** Names of people who are known, e-mail addresses of others. */
  people: string[]
  emails: string[]
  /** Kept as they are: they are chosen with the API. */
  webhooks: string[]
}

export interface BudgetValues {
  name: string
  client: Choice | null
  project: Choice | null
  ticket: Choice | null
  agent_manager: Choice | null
  agent_name: string
  model: string
  label: string
  measure: Measure
  basis: CostBasis
  /** An empty string if nothing is typed. */
  amount: number | string
  period: Budget['period']
  starts_on: string | null
  ends_on: string | null
  roll_over: boolean
  thresholds: ThresholdValues[]
}

export type People = { id: string; name: string }[]

export const newThreshold = (percent: number | string): ThresholdValues => ({
  percent,
  of: 'spent',
  leads: true,
  billing: true,
  people: [],
  emails: [],
  webhooks: [],
})

/** The API's own defaults, shown so that they can be changed. */
export const EMPTY_BUDGET: BudgetValues = {
  name: '',
  client: null,
  project: null,
  ticket: null,
  agent_manager: null,
  agent_name: '',
  model: '',
  label: '',
  measure: 'cost',
  basis: 'cost',
  amount: '',
  period: 'month',
  starts_on: null,
  ends_on: null,
  roll_over: false,
  thresholds: [50, 80, 100].map(newThreshold),
}

/** `people` are those whose names are known; others are shown by their ids. */
export function valuesOf(budget: Budget, people: People): BudgetValues {
  const { client, project, ticket, agent_manager, agent_name, model, label } = budget.scope
  const named = (of: { id: string; name: string } | null) => of && { value: of.id, label: of.name }
  const names = new Map(people.map(({ id, name }) => [id, name]))
  return {
    name: budget.name,
    client: named(client),
    project: project && { value: project.id, label: projectLabel(project) },
    ticket: ticket && { value: ticket.id, label: ticket.key },
    agent_manager: named(agent_manager),
    agent_name: agent_name ?? '',
    model: model ?? '',
    label: label ?? '',
    measure: budget.measure,
    basis: budget.basis,
    amount: budget.amount,
    period: budget.period,
    starts_on: budget.starts_on,
    ends_on: budget.ends_on,
    roll_over: budget.roll_over,
    thresholds: budget.thresholds.map((threshold) => ({
      percent: threshold.percent,
      of: threshold.of ?? 'spent',
      leads: threshold.leads ?? false,
      billing: threshold.billing ?? false,
      people: (threshold.people ?? []).map((id) => names.get(id) ?? id),
      emails: threshold.emails ?? [],
      webhooks: threshold.webhooks ?? [],
    })),
  }
}

const textOrNull = (text: string): string | null => text.trim() || null

const scopeOf = (values: BudgetValues) => ({
  client: values.client?.value ?? null,
  project: values.project?.value ?? null,
  ticket: values.ticket?.value ?? null,
  agent_manager: values.agent_manager?.value ?? null,
  agent_name: textOrNull(values.agent_name),
  model: textOrNull(values.model),
  label: textOrNull(values.label),
})

const changeableOf = (values: BudgetValues, people: People) => ({
  name: values.name.trim(),
  scope: scopeOf(values),
  amount: Number(values.amount),
  starts_on: values.starts_on,
  ends_on: values.ends_on,
  roll_over: values.roll_over,
  thresholds: values.thresholds.map(
    (threshold): Threshold => ({
      ...threshold,
      percent: Number(threshold.percent),
      people: peopleOf(threshold.people, people),
    }),
  ),
})

/** The request that adds a budget. Without a name, the server calls it what it is for. */
export function newBudgetOf(values: BudgetValues) {
  const { name, ...fields } = changeableOf(values, [])
  const { measure, basis, period } = values
  const counted = measure !== 'tokens' && basis !== 'cost' ? { basis } : {}
  return { ...(name && { name }), ...fields, measure, ...counted, period }
}

/**
 * The request that changes a budget: only what differs, because thresholds can be reached again after a change of the
 * amount, scope or time.
 */
export function changeOf(values: BudgetValues, budget: Budget, people: People) {
  const before: Record<string, unknown> = changeableOf(valuesOf(budget, people), people)
  const after = changeableOf(values, people)
  return Object.fromEntries(
    Object.entries(after).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name])),
  ) as Partial<typeof after>
}

/** The form's field of each pointer that is not its own name. */
export function issueFieldsOf({ thresholds }: BudgetValues): Record<string, string> {
  const fields: Record<string, string> = {}
  for (const name of Object.keys(scopeOf(EMPTY_BUDGET))) fields[`/scope/${name}`] = name
  for (const [index, { people, emails }] of thresholds.entries()) {
    for (const at of people.keys()) fields[`/thresholds/${index}/people/${at}`] = `thresholds.${index}.people`
    for (const at of emails.keys()) fields[`/thresholds/${index}/emails/${at}`] = `thresholds.${index}.emails`
  }
  return fields
}
