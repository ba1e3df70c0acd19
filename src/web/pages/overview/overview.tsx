import { Button, Grid, Group } from '@mantine/core'
import { Link } from 'wouter'
import { addressOf, useAddress } from '../../address.ts'
import { widthFor } from '../../parts/charts/buckets.ts'
import { Empty } from '../../parts/empty.tsx'
import { Failure } from '../../parts/failure.tsx'
import { Page } from '../../parts/page.tsx'
import { periodInWords } from '../../parts/period.ts'
import { PeriodPicker } from '../../parts/period-picker.tsx'
import { WhenNear } from '../../parts/when-near.tsx'
import { useSettings } from '../../server/me.ts'
import { asProblem } from '../../server/problem.ts'
import { OVERVIEW_ADDRESS } from './address.ts'
import { Attention } from './attention.tsx'
import { UrgentBudgets } from './budgets.tsx'
import { Headline } from './headline.tsx'
import { Heatmap } from './heatmap.tsx'
import { LARGEST, Largest } from './largest.tsx'
import classes from './overview.module.css'
import { PinnedViews } from './pinned-views.tsx'
import { addressIn, isFiltered, type Scope, scopeBefore, scopeOf } from './scope.ts'
import { ScopeFilterBar } from './scope-filter.tsx'
import { TopMovers } from './top-movers.tsx'
import { Trend } from './trend.tsx'
import { useHasEntries, useTrend } from './usage.ts'

export default function Overview() {
  const { time_zone } = useSettings()
  const [{ by, measure, bucket, ...address }, show] = useAddress(OVERVIEW_ADDRESS)
  const scope = scopeOf(address, time_zone)
  const width = widthFor(scope.period, bucket)
  const { data: trend, error, refetch } = useTrend(scope, width)
  const isEmpty = trend?.totals.entries === 0
  const { data: hasEntries } = useHasEntries(isEmpty)
  return (
    <Page
      title="Overview"
      lead={`${periodInWords(scope.period)} in ${time_zone}, compared with ${periodInWords(scopeBefore(scope).period)}`}
      actions={
        <>
          {!isEmpty && (
            <Button
              component={Link}
              href={addressIn('/entries', scope, { sort: 'cost' })}
              variant="default"
              size="xs"
              className={classes.expensive}
            >
              Most expensive entries
            </Button>
          )}
          {(!isEmpty || isFiltered(scope)) && <ScopeFilterBar filter={scope.filter} change={show} />}
          <PeriodPicker size="xs" value={address.period} change={(period) => show({ period })} />
        </>
      }
    >
      {error && !trend && <Failure problem={asProblem(error)} retry={refetch} />}
      {isEmpty && hasEntries === false && <EmptyCell />}
      {isEmpty && hasEntries && <NothingThen scope={scope} />}
      {!isEmpty && !error && <Figures scope={scope} chosen={{ dimension: by, measure, width }} choose={show} />}
    </Page>
  )
}

type FiguresProps = Parameters<typeof Trend>[0]

const Figures = ({ scope, chosen, choose }: FiguresProps) => (
  <>
    <Headline scope={scope} chosen={chosen} />
    <Grid gap="md">
      <Grid.Col span={{ base: 12, lg: 8 }}>
        <Trend scope={scope} chosen={chosen} choose={choose} />
      </Grid.Col>
      <Grid.Col span={{ base: 12, lg: 4 }}>
        <Attention scope={scope} />
      </Grid.Col>
      <UrgentBudgets scope={scope} />
      <Grid.Col span={12}>
        <TopMovers scope={scope} chosen={chosen} />
      </Grid.Col>
      {/* Saved views have filters of their own. */}
      {!isFiltered(scope) && <PinnedViews />}
      {LARGEST.map((dimension, at) => (
        // Two for the work, which has longer names, and three for what did it.
        <Grid.Col key={dimension} span={{ base: 12, sm: 6, lg: at < 2 ? 6 : 4 }}>
          <Largest scope={scope} dimension={dimension} measure={chosen.measure} />
        </Grid.Col>
      ))}
      <Grid.Col span={12}>
        <WhenNear className={classes.heatmap}>
          <Heatmap scope={scope} measure={chosen.measure} />
        </WhenNear>
      </Grid.Col>
    </Grid>
  </>
)

const EmptyCell = () => (
  <Empty
    title="No data yet"
    action={
      <Button component={Link} href="/connect">
        Connect an agent
      </Button>
    }
  >
    Usage and cost appear here as soon as an agent reports its first session. To connect one, create a token and add it
    to the agent’s settings.
  </Empty>
)

const NothingThen = ({ scope }: { scope: Scope }) => (
  <Empty
    title="No sessions in this period"
    action={
      <Group gap="xs" justify="center">
        <Button component={Link} href={addressIn('/', scope, { period: '12m' })} variant="default">
          Show the last 12 months
        </Button>
        {isFiltered(scope) && (
          <Button component={Link} href={addressOf('/', { period: scope.name })} variant="default">
            Clear filters
          </Button>
        )}
      </Group>
    }
  >
    {isFiltered(scope)
      ? 'Other clients or projects may have entries in it. Choose a longer period, or clear the filters.'
      : 'Entries exist outside this period. Choose a longer period to see them.'}
  </Empty>
)
