import { Button, Grid } from '@mantine/core'
import { Link } from 'wouter'
import { addressOf, useAddress } from '../../address.ts'
import { widthFor } from '../../parts/charts/buckets.ts'
import { Empty } from '../../parts/empty.tsx'
import { Failure } from '../../parts/failure.tsx'
import { Page } from '../../parts/page.tsx'
import { type Period, periodBefore, periodInWords, readPeriod } from '../../parts/period.ts'
import { PeriodPicker } from '../../parts/period-picker.tsx'
import { useSettings } from '../../server/me.ts'
import { asProblem } from '../../server/problem.ts'
import { OVERVIEW_ADDRESS } from './address.ts'
import { Attention } from './attention.tsx'
import { UrgentBudgets } from './budgets.tsx'
import { Headline } from './headline.tsx'
import { LARGEST, Largest } from './largest.tsx'
import { PinnedViews } from './pinned-views.tsx'
import { Trend } from './trend.tsx'
import { useHasEntries, useTrend } from './usage.ts'

export default function Overview() {
  const { time_zone } = useSettings()
  const [{ period: name, by, measure, bucket }, show] = useAddress(OVERVIEW_ADDRESS)
  const period = readPeriod(name, time_zone)
  const width = widthFor(period, bucket)
  const { data: course, error, refetch } = useTrend(period, width)
  const isEmpty = course?.totals.entries === 0
  const { data: hasEntries } = useHasEntries(isEmpty)
  return (
    <Page
      title="Overview"
      lead={`${periodInWords(period)} in ${time_zone}, compared with ${periodInWords(periodBefore(period))}`}
      actions={
        <>
          {!isEmpty && (
            <Button
              component={Link}
              href={addressOf('/entries', { period: name ?? '30d', sort: 'cost' })}
              variant="default"
            >
              Most expensive entries
            </Button>
          )}
          <PeriodPicker value={name} change={(period) => show({ period })} />
        </>
      }
    >
      {error && !course && <Failure problem={asProblem(error)} retry={refetch} />}
      {isEmpty && hasEntries === false && <EmptyCell />}
      {isEmpty && hasEntries && <NothingThen />}
      {!isEmpty && !error && (
        <Figures period={period} name={name} chosen={{ dimension: by, measure, width }} choose={show} />
      )}
    </Page>
  )
}

interface FiguresProps extends Pick<Parameters<typeof Trend>[0], 'chosen' | 'choose'> {
  period: Period
  /** The period's name in the URL, for links that keep it. */
  name: string | undefined
}

const Figures = ({ period, name, chosen, choose }: FiguresProps) => (
  <>
    <Headline period={period} name={name} width={chosen.width} />
    <Grid gap="md">
      <Grid.Col span={{ base: 12, lg: 8 }}>
        <Trend period={period} name={name} chosen={chosen} choose={choose} />
      </Grid.Col>
      <Grid.Col span={{ base: 12, lg: 4 }}>
        <Attention period={period} name={name} />
      </Grid.Col>
      <UrgentBudgets />
      <PinnedViews />
      {LARGEST.map((dimension) => (
        <Grid.Col key={dimension} span={{ base: 12, sm: 6, xl: 3 }}>
          <Largest period={period} name={name} dimension={dimension} measure={chosen.measure} />
        </Grid.Col>
      ))}
    </Grid>
  </>
)

const EmptyCell = () => (
  <Empty
    title="No data yet"
    action={
      <Button component={Link} href="/connect" mt="sm">
        Connect an agent
      </Button>
    }
  >
    Usage and cost appear here as soon as an agent reports its first session. To connect one, create a token and add it
    to the agent’s settings.
  </Empty>
)

const NothingThen = () => (
  <Empty
    title="No sessions in this period"
    action={
      <Button component={Link} href={addressOf('/', { period: '12m' })} variant="default" mt="sm">
        Show the last 12 months
      </Button>
    }
  >
    Entries exist outside this period. Choose a longer period to see them.
  </Empty>
)
