/** The four key metrics of a period, each compared with the previous period. */
import { Paper, SimpleGrid, Skeleton, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { addressOf } from '../../address.ts'
import { count } from '../../format/counts.ts'
import { money } from '../../format/money.ts'
import type { Width } from '../../parts/charts/buckets.ts'
import { type Figure, FigureLink } from '../../parts/figure-link.tsx'
import { Count, Money } from '../../parts/figures.tsx'
import { ownPeriod, type Period, periodBefore, periodInWords } from '../../parts/period.ts'
import { changeInWords } from './change.ts'
import classes from './overview.module.css'
import { type Totals, totalsBeforeQuery, useTrend } from './usage.ts'

interface Headlined {
  title: string
  figure: Figure
  /** Null if unknown. */
  of: (totals: Totals) => number | null
  shown: (value: number) => ReactNode
}

const dollars = (amount: number) => <Money amount={amount} />

const FIGURES: readonly Headlined[] = [
  { title: 'Cost', figure: 'cost', of: ({ cost }) => cost, shown: dollars },
  { title: 'List value', figure: 'list_value', of: ({ list_value }) => list_value, shown: dollars },
  { title: 'Tokens', figure: 'tokens', of: ({ tokens }) => tokens.total, shown: (value) => <Count value={value} /> },
  { title: 'Entries', figure: 'entries', of: ({ entries }) => entries, shown: count },
]

interface HeadlineProps {
  period: Period
  /** The period's name in the URL, for links that keep it. */
  name: string | undefined
  width: Width
}

export function Headline({ period, name, width }: HeadlineProps) {
  const { data: course, isPlaceholderData } = useTrend(period, width)
  const { data: before } = useQuery(totalsBeforeQuery(period))
  return (
    <SimpleGrid cols={{ base: 2, lg: 4 }} spacing="md" opacity={isPlaceholderData ? 0.55 : 1}>
      {FIGURES.map(({ title, figure, of, shown }) => {
        const value = course && of(course.totals)
        return (
          <Paper key={title} withBorder p="md">
            <Text size="sm" c="dimmed">
              {title}
            </Text>
            <div className={classes.figure}>
              {course ? (
                value === null || value === undefined ? (
                  '–'
                ) : (
                  <FigureLink figure={figure} value={value} to={addressOf('/entries', { period: name ?? '30d' })}>
                    {shown(value)}
                  </FigureLink>
                )
              ) : (
                <Skeleton height={28} width={120} />
              )}
            </div>
            <Change figure={figure} now={value} before={before && of(before)} period={period} />
            {title === 'Cost' && course && <Rejected totals={course.totals} period={period} />}
          </Paper>
        )
      })}
    </SimpleGrid>
  )
}

/** Rejected entries are usage, but are not billed: how much of the cost they are. */
function Rejected({ totals, period }: { totals: Totals; period: Period }) {
  if (!totals.rejected_cost) return null
  return (
    <FigureLink
      figure="cost"
      value={totals.rejected_cost}
      to={addressOf('/entries', { period: ownPeriod(period), status: 'rejected' })}
      fz="xs"
      c="var(--mantine-color-anchor)"
    >
      {money(totals.rejected_cost)} rejected, not billed
    </FigureLink>
  )
}

interface ChangeProps {
  figure: Figure
  now: number | null | undefined
  before: number | null | undefined
  period: Period
}

/** Without a color, because more is neither good nor bad. */
function Change({ figure, now, before, period }: ChangeProps) {
  const previous = periodBefore(period)
  const than = periodInWords(previous)
  if (now === undefined || before === undefined) return <Skeleton height={16} width={90} mt={4} />
  const { change, comparison } = changeInWords(now, before)
  return (
    <Text size="xs" c="dimmed" mt={4}>
      {change === undefined ? (
        comparison
      ) : (
        <>
          <b>{change}</b>{' '}
          <FigureLink
            figure={figure}
            value={before}
            to={addressOf('/entries', { period: ownPeriod(previous) })}
            title={than}
            td="underline"
          >
            {comparison}
          </FigureLink>
        </>
      )}
    </Text>
  )
}
