import { Anchor, Button, Grid, Group, Paper, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import { addressOf, changedAddress, readAddress, useAddress } from '../../address.ts'
import { widthFor } from '../../parts/charts/buckets.ts'
import { Empty } from '../../parts/empty.tsx'
import { fieldOf } from '../../parts/entries/fields.ts'
import { AddFilter } from '../../parts/entries/filter-bar.tsx'
import { FilterChip } from '../../parts/entries/filter-chip.tsx'
import { Failure } from '../../parts/failure.tsx'
import { Page } from '../../parts/page.tsx'
import { periodInWords } from '../../parts/period.ts'
import { PeriodPicker } from '../../parts/period-picker.tsx'
import { Caption } from '../../parts/texts.tsx'
import { formatOf, measureOf } from '../../parts/usage/measures.ts'
import { usageQuery } from '../../parts/usage/usage.ts'
import { WhenNear } from '../../parts/when-near.tsx'
import { useMe } from '../../server/me.ts'
import { type ReportView, reportViewsQuery } from '../../server/report-views.ts'
import { REPORTS_ADDRESS } from '../reports/address.ts'
import { groupsQuestion, questionOf } from '../reports/question.ts'
import { OVERVIEW_ADDRESS } from './address.ts'
import { Attention } from './attention.tsx'
import { UrgentBudgets } from './budgets.tsx'
import { Headline } from './headline.tsx'
import { Heatmap } from './heatmap.tsx'
import { LARGEST, Largest } from './largest.tsx'
import classes from './overview.module.css'
import { addressIn, isFiltered, SCOPE_FILTERS, type Scope, type ScopeFilter, scopeBefore, scopeOf } from './scope.ts'
import { TopMovers } from './top-movers.tsx'
import { Trend } from './trend.tsx'
import { overviewQuery, useHasEntries } from './usage.ts'

export default function Overview() {
  const me = useMe()
  const { time_zone } = me.settings
  const [{ by, measure, bucket, ...address }, show] = useAddress(OVERVIEW_ADDRESS)
  const scope = scopeOf(address, me)
  const chosen = { dimension: by, measure, width: widthFor(scope.period, bucket) }
  const { data, error, refetch, isPlaceholderData } = useQuery(overviewQuery(scope, chosen))
  const isEmpty = data?.usage.totals.entries === 0
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
      {error && !data && <Failure error={error} retry={refetch} />}
      {isEmpty && hasEntries === false && <EmptyCell />}
      {isEmpty && hasEntries && <NothingThen scope={scope} />}
      {!isEmpty && (data || !error) && (
        <Figures scope={scope} data={data} isStale={isPlaceholderData} chosen={chosen} choose={show} />
      )}
    </Page>
  )
}

const Figures = ({ choose, ...shown }: Parameters<typeof Trend>[0]) => (
  <>
    <Headline {...shown} />
    <Grid gap="md">
      <Grid.Col span={{ base: 12, lg: 8 }}>
        <Trend {...shown} choose={choose} />
      </Grid.Col>
      <Grid.Col span={{ base: 12, lg: 4 }}>
        <Attention {...shown} />
      </Grid.Col>
      <UrgentBudgets budgets={shown.data?.budgets} />
      <Grid.Col span={12}>
        <TopMovers {...shown} />
      </Grid.Col>
      {/* Saved views have filters of their own. */}
      {!isFiltered(shown.scope) && <PinnedViews />}
      {LARGEST.map((dimension, at) => (
        // Two for the work, which has longer names, and three for what did it.
        <Grid.Col key={dimension} span={{ base: 12, sm: 6, lg: at < 2 ? 6 : 4 }}>
          <Largest {...shown} dimension={dimension} />
        </Grid.Col>
      ))}
      <Grid.Col span={12}>
        <WhenNear className={classes.heatmap}>
          <Heatmap scope={shown.scope} measure={shown.chosen.measure} />
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

/** Limits the overview to clients or projects. */
const FIELDS = SCOPE_FILTERS.map((name) => ({ name, field: fieldOf(name)! }))

interface ScopeFilterBarProps {
  filter: ScopeFilter
  change: (filter: Partial<ScopeFilter>) => void
}

function ScopeFilterBar({ filter, change }: ScopeFilterBarProps) {
  const [open, setOpen] = useState<string>()
  const shown = FIELDS.filter(({ name }) => filter[name].length > 0 || name === open)
  const offered = FIELDS.filter((each) => !shown.includes(each)).map(({ field }) => field)
  return (
    <>
      {shown.map(({ name, field }) => (
        <FilterChip
          key={name}
          field={field}
          values={filter[name]}
          change={(values) => change({ [name]: values })}
          isOpen={open === name}
          setOpen={(isOpen) => setOpen(isOpen ? name : undefined)}
        />
      ))}
      {offered.length > 0 && <AddFilter offered={offered} add={({ name }) => setOpen(name)} />}
    </>
  )
}

/** The views that the person pinned to their overview, each with its total. */
function PinnedViews() {
  const { data: views } = useQuery(reportViewsQuery)
  return views
    ?.filter(({ pinned }) => pinned)
    .map((view) => (
      <Grid.Col key={view.id} span={{ base: 12, sm: 6, xl: 3 }}>
        <PinnedView view={view} />
      </Grid.Col>
    ))
}

function PinnedView({ view: { id, name, parameters } }: { view: ReportView }) {
  const me = useMe()
  const address = changedAddress('/reports', '', { ...parameters, view: id })
  const question = questionOf(readAddress(address.split('?')[1] ?? '', REPORTS_ADDRESS), me)
  const { data } = useQuery(usageQuery({ ...groupsQuestion(question), by: [] }))
  const { title, of } = measureOf(question.measure, question.basis)
  const value = data && of(data.totals)
  return (
    <Paper withBorder p="md" h="100%">
      <Anchor component={Link} href={address} size="sm" fw={600}>
        <bdi>{name}</bdi>
      </Anchor>
      <Text fz="xl" fw={600}>
        {value === undefined || value === null ? '–' : formatOf(question.measure).inWords(value)}
      </Text>
      <Caption>
        {title} · {periodInWords(question.period)}
      </Caption>
    </Paper>
  )
}
