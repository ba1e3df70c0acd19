/** The usage of a project or client: this month, in total and by month. */
import { Anchor, Paper, SimpleGrid, Stack, Table, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { addressOf } from '../../address.ts'
import { counted } from '../../format/counts.ts'
import { addDays, addMonths, dayOf, monthInWords } from '../../format/moments.ts'
import { Failure } from '../../parts/failure.tsx'
import { FigureLink } from '../../parts/figure-link.tsx'
import { Count, Money } from '../../parts/figures.tsx'
import { Loading } from '../../parts/loading.tsx'
import { ownPeriod } from '../../parts/period.ts'
import { useMe, useRole, useSettings } from '../../server/me.ts'
import { asProblem } from '../../server/problem.ts'
import { Budget } from './budget.tsx'
import classes from './work.module.css'
import { type Figures, useEver, useMonths, type WorkFilter } from './work-usage.ts'

interface UsageProps {
  filter: WorkFilter
  /** In US dollars; null if there is none or the person may not see it. */
  budget?: number | null
  /** The budget that it is. */
  budgetId?: string | undefined
}

export function Usage({ filter, budget = null, budgetId }: UsageProps) {
  const ever = useEver(filter)
  const months = useMonths(filter)
  const { time_zone } = useSettings()
  const { ledIds } = useMe()
  const seesAll = useRole('billing', 'admin') || (filter.project?.every((id) => ledIds.includes(id)) ?? false)
  const error = ever.error ?? months.error
  if (error) return <Failure problem={asProblem(error)} retry={() => (ever.error ? ever : months).refetch()} />
  if (!ever.data || !months.data) return <Loading lines={4} />
  const month = months.data[0]?.results[0]
  return (
    <Stack gap="xs">
      <Title order={2} size="h4">
        {seesAll ? 'Usage' : 'Your usage'}
      </Title>
      <SimpleGrid cols={{ base: 2, md: 4 }} spacing="sm">
        <Figure title="This month">
          <FigureLink
            figure="cost"
            value={month?.cost ?? null}
            to={addressOf('/entries', { ...filter, period: monthOf(months.data[0]!.starting_at, time_zone) })}
          >
            <Money amount={month?.cost ?? 0} />
          </FigureLink>
        </Figure>
        <Figure title="Total">
          <FigureLink figure="cost" value={ever.data.cost} to={addressOf('/entries', { ...filter })}>
            <Money amount={ever.data.cost ?? 0} />
          </FigureLink>
        </Figure>
        {budget !== null && (
          <Figure
            title={
              budgetId === undefined ? (
                'Budget'
              ) : (
                <Anchor component={Link} href={`/budgets/${budgetId}`} inherit>
                  Budget
                </Anchor>
              )
            }
          >
            <Budget used={ever.data.cost ?? 0} budget={budget} />
          </Figure>
        )}
        <Figure title="Total entries">
          <FigureLink figure="entries" value={ever.data.entries} to={addressOf('/entries', { ...filter })}>
            <Count value={ever.data.entries} />
          </FigureLink>
          <Unpriced figures={ever.data} filter={filter} />
        </Figure>
      </SimpleGrid>
      {ever.data.entries > 0 && <Months months={months.data} filter={filter} />}
    </Stack>
  )
}

const Figure = ({ title, children }: { title: ReactNode; children: ReactNode }) => (
  <Paper withBorder p="sm">
    <Text size="xs" c="dimmed">
      {title}
    </Text>
    <Text fz="lg" fw={600} component="div">
      {children}
    </Text>
  </Paper>
)

const Unpriced = ({ figures: { unpriced_entries }, filter }: { figures: Figures; filter: WorkFilter }) =>
  unpriced_entries > 0 && (
    <FigureLink
      figure="entries"
      value={unpriced_entries}
      to={addressOf('/entries', { ...filter, priced: 'false' })}
      fz="xs"
      c="var(--mantine-color-anchor)"
      display="block"
    >
      {counted(unpriced_entries, 'entry', 'entries')} without a price
    </FigureLink>
  )

/** The whole month that starts at a moment, as a period in the URL. */
function monthOf(startingAt: string, timeZone: string): string {
  const first = dayOf(new Date(startingAt), timeZone)
  return ownPeriod({ from: first, to: addDays(addMonths(first, 1), -1) })
}

type Month = NonNullable<ReturnType<typeof useMonths>['data']>[number]

function Months({ months, filter }: { months: Month[]; filter: WorkFilter }) {
  const { time_zone } = useSettings()
  const dearest = Math.max(...months.map(({ results }) => results[0]?.cost ?? 0))
  return (
    <Table verticalSpacing={4} aria-label="Usage by month">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Month</Table.Th>
          <Table.Th className={classes.bars} aria-hidden />
          <Table.Th ta="right">Cost (USD)</Table.Th>
          <Table.Th ta="right" visibleFrom="xs">
            Tokens
          </Table.Th>
          <Table.Th ta="right">Entries</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {months.map(({ starting_at, results: [figures] }) => {
          const first = dayOf(new Date(starting_at), time_zone)
          const href = addressOf('/entries', { ...filter, period: monthOf(starting_at, time_zone) })
          const cost = figures?.cost ?? 0
          return (
            <Table.Tr key={first}>
              <Table.Td>
                <Anchor component={Link} href={href} size="sm">
                  {monthInWords(first)}
                </Anchor>
              </Table.Td>
              <Table.Td className={classes.bars} aria-hidden>
                {cost > 0 && <div className={classes.bar} style={{ width: `${(100 * cost) / dearest}%` }} />}
              </Table.Td>
              <Table.Td ta="right">
                <FigureLink figure="cost" value={figures?.cost ?? null} to={href}>
                  <Money amount={cost} />
                </FigureLink>
              </Table.Td>
              <Table.Td ta="right" visibleFrom="xs">
                <FigureLink figure="tokens" value={figures?.tokens.total ?? 0} to={href}>
                  <Count value={figures?.tokens.total ?? 0} />
                </FigureLink>
              </Table.Td>
              <Table.Td ta="right">
                <FigureLink figure="entries" value={figures?.entries ?? 0} to={href}>
                  <Count value={figures?.entries ?? 0} />
                </FigureLink>
              </Table.Td>
            </Table.Tr>
          )
        })}
      </Table.Tbody>
    </Table>
  )
}
