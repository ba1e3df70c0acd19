/** The four key metrics of a period, each compared with the previous period. */
import { Anchor, Paper, SimpleGrid, Skeleton, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { addressOf } from '../../address.ts'
import { count } from '../../format/counts.ts'
import { money } from '../../format/money.ts'
import { Count, Money } from '../../parts/figures.tsx'
import { asBounds, type Period, periodBefore, periodInWords } from '../../parts/period.ts'
import type { Width } from './buckets.ts'
import { changeInWords } from './change.ts'
import classes from './overview.module.css'
import { type Totals, totalsBeforeQuery, useTrend } from './usage.ts'

interface Figure {
  title: string
  /** Null if unknown. */
  of: (totals: Totals) => number | null
  shown: (value: number) => ReactNode
}

const dollars = (amount: number) => <Money amount={amount} />

const FIGURES: readonly Figure[] = [
  { title: 'Cost', of: ({ cost }) => cost, shown: dollars },
  { title: 'List value', of: ({ list_value }) => list_value, shown: dollars },
  { title: 'Tokens', of: ({ tokens }) => tokens.total, shown: (value) => <Count value={value} /> },
  { title: 'Entries', of: ({ entries }) => entries, shown: count },
]

export function Headline({ period, width }: { period: Period; width: Width }) {
  const { data: course, isPlaceholderData } = useTrend(period, width)
  const { data: before } = useQuery(totalsBeforeQuery(period))
  return (
    <SimpleGrid cols={{ base: 2, lg: 4 }} spacing="md" opacity={isPlaceholderData ? 0.55 : 1}>
      {FIGURES.map(({ title, of, shown }) => {
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
                  shown(value)
                )
              ) : (
                <Skeleton height={28} width={120} />
              )}
            </div>
            <Change now={value} before={before && of(before)} period={period} />
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
    <Anchor
      component={Link}
      href={addressOf('/entries', { ...asBounds(period), status: 'rejected', superseded: 'false' })}
      size="xs"
    >
      {money(totals.rejected_cost)} rejected, not billed
    </Anchor>
  )
}

interface ChangeProps {
  now: number | null | undefined
  before: number | null | undefined
  period: Period
}

/** Without a color, because more is neither good nor bad. */
function Change({ now, before, period }: ChangeProps) {
  const than = periodInWords(periodBefore(period))
  if (now === undefined || before === undefined) return <Skeleton height={16} width={90} mt={4} />
  const { change, comparison } = changeInWords(now, before)
  return (
    <Text size="xs" c="dimmed" mt={4}>
      {change === undefined ? (
        comparison
      ) : (
        <>
          <b>{change}</b> <span title={than}>{comparison}</span>
        </>
      )}
    </Text>
  )
}
