/** One budget: what is spent, the forecast, its thresholds and its alerts. */
import { Alert, Anchor, Badge, Group, Paper, SimpleGrid, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { BASIS_TITLES } from '../../../shared/cost-basis.ts'
import { counted } from '../../format/counts.ts'
import { dayInWords, dayOf } from '../../format/moments.ts'
import {
  type Budget,
  entriesPageOf,
  forecastInWords,
  MEASURES,
  PERIODS,
  scopeInWords,
  spanInWords,
} from '../../parts/budgets/budget.ts'
import { Amount, BudgetProgress, BudgetStateBadge } from '../../parts/budgets/budget-progress.tsx'
import { COUNTING_MS } from '../../parts/budgets/budget-table.tsx'
import { Details } from '../../parts/details.tsx'
import { Failure } from '../../parts/failure.tsx'
import { FigureLink, figure } from '../../parts/figure-link.tsx'
import { Ago, Moment } from '../../parts/figures.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Page } from '../../parts/page.tsx'
import { Caption, SectionTitle } from '../../parts/texts.tsx'
import { answer, type api, apiQuery, apiUntil, type Body } from '../../server/api.ts'
import { basisInAddress } from '../../server/cost-basis.ts'
import { useRole, useSettings } from '../../server/me.ts'
import { Changes } from '../things/changes.tsx'
import { Alerts } from './alerts.tsx'
import { BudgetActions } from './budget-actions.tsx'
import type { People } from './budget-values.ts'
import classes from './budgets.module.css'
import { BurnDown } from './burn-down.tsx'
import { shownDays } from './burn-down-layout.ts'
import { Thresholds } from './thresholds.tsx'

type BudgetStatus = Body<Awaited<ReturnType<ReturnType<(typeof api)['budgets']>['status']['get']>>>

export function BudgetPage({ id }: { id: string }) {
  const budget = useQuery(apiQuery(['budgets', 'one', id], (api) => api.budgets({ id }).get()))
  const status = useQuery({
    ...apiQuery(['budgets', 'status', id], (api) => api.budgets({ id }).status.get()),
    refetchInterval: ({ state }) =>
      state.data && !state.data.complete && state.data.budget.archived_at === null ? COUNTING_MS : false,
  })
  const failed = [budget, status].find(({ error, data }) => error && !data)
  if (failed) return <Failure error={failed.error} retry={failed.refetch} />
  return budget.data && status.data ? <OneBudget budget={budget.data} status={status.data} /> : <Loading />
}

function OneBudget({ budget, status }: { budget: Budget; status: BudgetStatus }) {
  const { time_zone } = useSettings()
  const mayChange = useRole('billing', 'admin')
  const people = usePeople(budget)
  const { measure, archived_at } = budget
  const use = { measure, ...status }
  const today = dayOf(new Date(status.as_of), time_zone)
  const isCurrent = status.days.at(-1)?.date === today
  return (
    <Page
      above={{ href: '/budgets', title: 'Budgets' }}
      title={
        <Group gap="xs">
          <bdi>{budget.name}</bdi>
          {archived_at ? <Badge color="gray">archived</Badge> : <BudgetStateBadge use={use} />}
        </Group>
      }
      lead={`${spanInWords(status.period)} in ${time_zone}`}
      actions={mayChange && <BudgetActions budget={budget} people={people} />}
    >
      {archived_at && (
        <Alert color="gray" variant="light">
          Archived on <Moment at={archived_at} />. New entries are not counted, and it causes no alerts.
        </Alert>
      )}
      <BudgetProgress use={use} size="lg" />
      <Figures budget={budget} status={status} />
      <BurnDown
        measure={measure}
        of={{
          days: shownDays(status.days, status.period.from),
          from: status.period.from,
          to: status.period.to,
          isCurrent,
          available: status.available,
          forecast: isCurrent && status.complete ? status.forecast : null,
        }}
      />
      <Facts budget={budget} />
      <Thresholds budget={budget} people={people} />
      <Alerts budget={budget} />
      <Changes of={budget.id} />
    </Page>
  )
}

function Figures({ budget: { measure, basis }, status }: { budget: Budget; status: BudgetStatus }) {
  const { spent, available, remaining, rolled_over, entries, unpriced_entries, entries_url, complete, counted_at } =
    status
  const settings = useSettings()
  const { time_zone } = settings
  const onBasis = { basis: measure === 'tokens' ? undefined : basisInAddress(basis, settings) }
  const list = entriesPageOf(entries_url, time_zone, onBasis)
  const isOver = remaining < 0
  return (
    <SimpleGrid cols={{ base: 2, lg: 4 }} spacing="sm">
      <Figure
        title="Spent"
        value={
          <Anchor component={Link} href={list} inherit>
            {measure === 'billed_amount' ? (
              <Amount measure={measure} value={spent} />
            ) : (
              <span {...(complete && figure(measure, spent))}>
                <Amount measure={measure} value={spent} />
              </span>
            )}
          </Anchor>
        }
      >
        {complete ? (
          <FigureLink figure="entries" value={entries} to={list}>
            {counted(entries, 'entry', 'entries')}
          </FigureLink>
        ) : (
          'so far; its entries are being counted'
        )}
        {unpriced_entries > 0 && (
          <FigureLink
            figure="entries"
            value={unpriced_entries}
            to={entriesPageOf(entries_url, time_zone, basis === 'cost' ? { priced: 'false' } : { unknown_cost: basis })}
            fz="xs"
            display="block"
          >
            {counted(unpriced_entries, 'entry', 'entries')}{' '}
            {basis === 'cost' ? 'without a price' : `of unknown ${BASIS_TITLES[basis].toLowerCase()}`} not included
          </FigureLink>
        )}
        {counted_at && (
          <div>
            {BASIS_TITLES[basis]}, counted <Ago at={counted_at} />
          </div>
        )}
      </Figure>
      <Figure
        title={isOver ? 'Over budget' : 'Remaining'}
        value={complete ? <Amount measure={measure} value={Math.abs(remaining)} /> : '–'}
      />
      <Figure title="Available" value={<Amount measure={measure} value={available} />}>
        {rolled_over !== 0 && (
          <>
            including <Amount measure={measure} value={rolled_over} /> rolled over
          </>
        )}
      </Figure>
      <Forecast measure={measure} status={status} />
    </SimpleGrid>
  )
}

function Forecast({ measure, status }: { measure: Budget['measure']; status: BudgetStatus }) {
  const { forecast, state, period, complete } = status
  if (!forecast || !complete) {
    return (
      <Figure title="Forecast" value="–">
        {period.to === null
          ? 'The budget has no last day.'
          : 'Needs usage on three days of the last four weeks, in a period that has not ended.'}
      </Figure>
    )
  }
  return (
    <Figure title="Forecast" value={forecastInWords(forecast.amount, measure)}>
      {forecast.exceeded_on
        ? `Will be exceeded on ${dayInWords(forecast.exceeded_on)}`
        : state !== 'exceeded' && 'Will not be exceeded'}
      <div>
        80% likely {forecastInWords(forecast.low, measure)} to {forecastInWords(forecast.high, measure)}
      </div>
    </Figure>
  )
}

const Figure = ({ title, value, children }: { title: string; value: ReactNode; children?: ReactNode }) => (
  <Paper withBorder p="sm">
    <Caption>{title}</Caption>
    <div className={classes.figure}>{value}</div>
    <Caption component="div">{children}</Caption>
  </Paper>
)

function Facts({
  budget: { scope, measure, basis, period, starts_on, ends_on, roll_over, of_project },
}: {
  budget: Budget
}) {
  const { project, client } = scope
  const work = project
    ? { href: `/work/projects/${project.id}`, title: project.name }
    : client && { href: `/work/clients/${client.id}`, title: client.name }
  return (
    <Stack gap="xs">
      <SectionTitle>Details</SectionTitle>
      <Details
        of={[
          ['Scope', <bdi key="scope">{scopeInWords(scope)}</bdi>],
          [
            project ? 'Project' : 'Client',
            work && (
              <Anchor key="work" component={Link} href={work.href} size="sm">
                {work.title}
              </Anchor>
            ),
          ],
          ['Measure', MEASURES[measure]],
          ['Basis', measure !== 'tokens' && BASIS_TITLES[basis]],
          ['Period', PERIODS[period]],
          ['First day', starts_on && dayInWords(starts_on)],
          ['Last day', ends_on && dayInWords(ends_on)],
          ['Roll over', roll_over && 'Unspent budget carries over'],
          ['Budget of the project', of_project && 'Its amount is also the project’s budget'],
        ]}
      />
    </Stack>
  )
}

/** The names of the people whom a budget's thresholds notify. */
const NOBODY: People = []

/** For admins only: others cannot read people. Empty until they are loaded. */
function usePeople({ thresholds }: Budget): People {
  const seesPeople = useRole('admin')
  const ids = [...new Set(thresholds.flatMap(({ people }) => people ?? []))].sort()
  const { data } = useQuery({
    queryKey: ['users', 'names', ids],
    queryFn: ({ signal }) =>
      Promise.all(ids.map(async (id) => answer(apiUntil(signal).users({ id }).get()))) as Promise<People>,
    enabled: seesPeople && ids.length > 0,
  })
  return data ?? NOBODY
}
