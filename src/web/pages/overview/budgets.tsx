/** Budgets that are nearly used up or exceeded; nothing if there are none. */
import { Anchor, Grid, Group, Paper } from '@mantine/core'
import { Link } from 'wouter'
import { count } from '../../format/counts.ts'
import { type Budget, spanInWords } from '../../parts/budgets/budget.ts'
import { BudgetProgress, BudgetStateBadge } from '../../parts/budgets/budget-progress.tsx'
import { Caption, CardTitle } from '../../parts/texts.tsx'
import classes from './overview.module.css'
import type { Overview } from './usage.ts'

/** Two rows on a wide screen. */
export function UrgentBudgets({ budgets }: { budgets: Overview['budgets'] | undefined }) {
  if (!budgets || budgets.total === 0) return null
  const { total, data } = budgets
  return (
    <Grid.Col span={12}>
      <Paper withBorder p="md">
        <Group justify="space-between" mb="xs">
          <CardTitle>Budgets nearly used up or exceeded</CardTitle>
          <Anchor component={Link} href="/budgets?show=attention" size="sm">
            {total > data.length ? `Show all ${count(total)}` : 'Show in list'}
          </Anchor>
        </Group>
        <ul className={classes.budgets}>
          {data.map((budget) => (
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
