/** The four key metrics of a period, each compared with the previous period. */
import { Paper, SimpleGrid, Skeleton, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { count, percent } from '../../format/counts.ts'
import { Count, Money } from '../../parts/figures.tsx'
import { type Period, periodBefore, periodInWords } from '../../parts/period.ts'
import classes from './overview.module.css'
import { type Totals, useTotalsBefore, useTrend } from './usage.ts'

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

export function Headline({ period }: { period: Period }) {
  const { data: course, isPlaceholderData } = useTrend(period)
  const { data: before } = useTotalsBefore(period)
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
          </Paper>
        )
      })}
    </SimpleGrid>
  )
}

/** From this ratio on, a multiple is easier to read than a percentage. */
const MANIFOLD = 10

/** Smaller changes would read as 0.0%. */
const NOTHING = 0.0005

interface ChangeProps {
  now: number | null | undefined
  before: number | null | undefined
  period: Period
}

/** Without a color, because more is neither good nor bad. */
function Change({ now, before, period }: ChangeProps) {
  const than = periodInWords(periodBefore(period))
  if (now === undefined || before === undefined) return <Skeleton height={16} width={90} mt={4} />
  if (now === null) return <Line>unknown</Line>
  if (before === null || before === 0) return <Line>{now === 0 ? 'no change' : 'none in the previous period'}</Line>
  const ratio = now / before
  const change = ratio - 1
  const sign = change > 0 ? '+' : ''
  if (Math.abs(change) < NOTHING) return <Line>no change</Line>
  const isManifold = ratio >= MANIFOLD
  const told = isManifold ? `${count(Math.round(ratio))}×` : `${sign}${percent(change)}`
  return (
    <Line>
      <b>{told}</b> <span title={than}>{isManifold ? 'the previous period' : 'vs. previous period'}</span>
    </Line>
  )
}

const Line = ({ children }: { children: ReactNode }) => (
  <Text size="xs" c="dimmed" mt={4}>
    {children}
  </Text>
)
