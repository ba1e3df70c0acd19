/** Budgets that are nearly used up or exceeded; nothing if there are none. */
import { Anchor, Grid, Group, Paper } from '@mantine/core'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { count } from '../../format/counts.ts'
import { type Budget, spanInWords, URGENT_STATES } from '../../parts/budgets/budget.ts'
import { BudgetProgress, BudgetStateBadge } from '../../parts/budgets/budget-progress.tsx'
import { Caption, CardTitle } from '../../parts/texts.tsx'
import { answer, apiUntil } from '../../server/api.ts'
import classes from './overview.module.css'
import { parametersOf, type Scope } from './scope.ts'

/** The API's page limit. */
const PAGE_LIMIT = '1000'

/** Two rows on a wide screen. */
const SHOWN = 6

export const budgetsQuery = ({ filter }: Scope) =>
  queryOptions({
    queryKey: ['budgets', 'overview', filter],
    async queryFn({ signal }) {
      const found: Budget[] = []
      for (let page: string | undefined; ; ) {
        const query = { ...parametersOf(filter), state: [...URGENT_STATES], limit: PAGE_LIMIT, page }
        const { data, next_page } = await answer(apiUntil(signal).budgets.get({ query }))
        found.push(...data)
        if (next_page === null) return found
        page = next_page
      }
    },
  })

/** The most used ones first. */
export function byUse(budgets: readonly Budget[]): Budget[] {
  const share = ({ current }: Budget) => (current!.available > 0 ? current!.spent / current!.available : 1)
  return budgets.toSorted((one, other) => share(other) - share(one))
}

export function UrgentBudgets({ scope }: { scope: Scope }) {
  const { data } = useQuery(budgetsQuery(scope))
  const urgent = byUse(data ?? [])
  if (urgent.length === 0) return null
  return (
    <Grid.Col span={12}>
      <Paper withBorder p="md">
        <Group justify="space-between" mb="xs">
          <CardTitle>Budgets nearly used up or exceeded</CardTitle>
          <Anchor component={Link} href="/budgets?show=attention" size="sm">
            {urgent.length > SHOWN ? `Show all ${count(urgent.length)}` : 'Show in list'}
          </Anchor>
        </Group>
        <ul className={classes.budgets}>
          {urgent.slice(0, SHOWN).map((budget) => (
            <Line key={budget.id} budget={budget} />
          ))}
        </ul>
      </Paper>
    </Grid.Col>
  )
}

function Line({ budget: { id, name, measure, current } }: { budget: Budget }) {
  const use = { measure, ...current! }
  return (
    <li>
      <Group gap="xs" wrap="nowrap" justify="space-between">
        <Anchor component={Link} href={`/budgets/${id}`} size="sm" fw={600} truncate>
          <bdi>{name}</bdi>
        </Anchor>
        <div style={{ flexShrink: 0 }}>
          <BudgetStateBadge use={use} />
        </div>
      </Group>
      <Caption mb={2}>{spanInWords(current!)}</Caption>
      <BudgetProgress use={use} />
    </li>
  )
}
