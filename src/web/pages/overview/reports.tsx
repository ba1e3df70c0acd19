/** Usage of a period by one dimension: every group, where the overview shows the largest ones. */
import { Anchor, Group, NativeSelect, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { useAddress } from '../../address.ts'
import { count, counted, percent } from '../../format/counts.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { DownloadCsv } from '../../parts/download.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Failure } from '../../parts/failure.tsx'
import { type Figure, FigureLink } from '../../parts/figure-link.tsx'
import { Count, Money } from '../../parts/figures.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Page } from '../../parts/page.tsx'
import { asBounds, PERIODS, type Period, periodInWords, readPeriod } from '../../parts/period.ts'
import { PeriodPicker } from '../../parts/period-picker.tsx'
import { SearchField } from '../../parts/search-field.tsx'
import { ShareButton } from '../../parts/share-button.tsx'
import type { Sorting } from '../../parts/sorting.tsx'
import { useSettings } from '../../server/me.ts'
import { asProblem } from '../../server/problem.ts'
import { REPORTS_ADDRESS } from './address.ts'
import { entriesOf, keyOf, labelOf, measured, SORTS, sortedGroups } from './groups.ts'
import classes from './overview.module.css'
import { DIMENSIONS, type Dimension, type Result, reportQuery } from './usage.ts'

const TITLES: Record<Dimension, string> = {
  project: 'Project',
  client: 'Client',
  agent_manager: 'Person',
  agent_harness: 'Harness',
  model: 'Model',
  provider: 'Provider',
}

export default function Reports() {
  const { time_zone } = useSettings()
  const [{ period: name, by, sort, order, search }, show] = useAddress(REPORTS_ADDRESS)
  const period = readPeriod(name, time_zone)
  const { data: report, error, refetch, isPlaceholderData } = useQuery(reportQuery(period, by))
  const groups = report?.data[0]?.results ?? []
  const rows = sortedGroups(groups, { dimension: by, sort, order, search })
  const sorting: Sorting = {
    by: sort,
    order,
    change: (by, order) =>
      show({ sort: by === SORTS[0] ? undefined : (by as typeof sort), order: order === 'asc' ? order : undefined }),
  }
  return (
    <Page
      title="Reports"
      lead={`${periodInWords(period)} in ${time_zone}`}
      actions={
        <>
          <PeriodPicker value={name} change={(period) => show({ period })} />
          <ShareButton subject={{ report: { ...sharedPeriod(name, period), group_by: [by] } }} what="report" />
          <DownloadCsv path="/reports/usage" query={{ ...asBounds(period), bucket_width: 'all', group_by: [by] }} />
        </>
      }
    >
      <Group gap="xs" className="tally-no-print">
        <NativeSelect
          aria-label="Group by"
          data={DIMENSIONS.map((value) => ({ value, label: TITLES[value] }))}
          value={by}
          onChange={({ currentTarget }) => show({ by: currentTarget.value as Dimension, search: undefined })}
        />
        <SearchField label="Search names" value={search} change={(search) => show({ search }, { replace: true })} />
        {report && (
          <Text size="sm" c="dimmed" role="status">
            {rows.length < groups.length && `${count(rows.length)} of `}
            {counted(groups.length, 'name', 'names')}
          </Text>
        )}
      </Group>
      {error && !report && <Failure problem={asProblem(error)} retry={refetch} />}
      {!report && !error && <Loading />}
      {report && (
        <div style={{ opacity: isPlaceholderData ? 0.55 : 1 }}>
          <DataTable
            label={`Usage by ${TITLES[by].toLowerCase()}`}
            columns={columnsOf(by, name, report.totals)}
            list={rows}
            rowKey={(group) => keyOf(group, by) ?? ''}
            sorting={sorting}
            empty={
              <Empty title={search === undefined ? 'No usage in this period' : 'No matching names'}>
                {search === undefined ? 'Choose a longer period.' : 'Change the search to see other names.'}
              </Empty>
            }
            {...(search === undefined && { foot: footOf(report.totals) })}
          />
        </div>
      )}
    </Page>
  )
}

/** A named period moves with the calendar, also where it is shared. */
function sharedPeriod(name = '30d', period: Period): Record<string, string> {
  return Object.hasOwn(PERIODS, name) ? { period: name.replace('-', '_') } : asBounds(period)
}

type Totals = Pick<Result, 'entries' | 'tokens' | 'cost' | 'list_value'>

function columnsOf(by: Dimension, period: string | undefined, totals: Totals): Column<Result>[] {
  const share = (group: Result) => (totals.cost ? measured(group, 'cost') / totals.cost : 0)
  return [
    {
      key: 'name',
      title: TITLES[by],
      sort: 'name',
      minWidth: '180px',
      phone: 'title',
      cell: (group) => <Name group={group} by={by} period={period} />,
    },
    {
      key: 'cost',
      title: 'Cost',
      sort: 'cost',
      isNumber: true,
      width: '120px',
      phone: 'value',
      cell: (group) => (
        <Cell figure="cost" value={group.cost} to={entriesOf(group, by, period ?? '30d')}>
          <Money amount={group.cost} />
        </Cell>
      ),
    },
    {
      key: 'share',
      title: 'Share',
      width: '150px',
      phone: 'hidden',
      cell: (group) => (
        <div className={classes.share} title={percent(share(group))}>
          <div style={{ width: `${share(group) * 100}%` }} />
        </div>
      ),
    },
    {
      key: 'list_value',
      title: 'List value',
      sort: 'list_value',
      isNumber: true,
      width: '120px',
      phone: 'hidden',
      cell: ({ list_value }) => (list_value === null ? '–' : <Money amount={list_value} />),
    },
    {
      key: 'tokens',
      title: 'Tokens',
      sort: 'tokens',
      isNumber: true,
      width: '100px',
      cell: (group) => (
        <Cell figure="tokens" value={group.tokens.total} to={entriesOf(group, by, period ?? '30d')}>
          <Count value={group.tokens.total} />
        </Cell>
      ),
    },
    {
      key: 'entries',
      title: 'Entries',
      sort: 'entries',
      isNumber: true,
      width: '110px',
      cell: (group) => (
        <Cell figure="entries" value={group.entries} to={entriesOf(group, by, period ?? '30d')}>
          {count(group.entries)}
        </Cell>
      ),
    },
  ]
}

interface CellProps {
  figure: Figure
  value: number | null
  to: string | undefined
  children: ReactNode
}

/** Some groups, such as entries without a client, are selected by no filter. */
const Cell = ({ to, children, ...figure }: CellProps) =>
  to === undefined ? (
    children
  ) : (
    <FigureLink {...figure} to={to}>
      {children}
    </FigureLink>
  )

function Name({ group, by, period }: { group: Result; by: Dimension; period: string | undefined }) {
  const href = entriesOf(group, by, period ?? '30d')
  const name = <bdi>{labelOf(group, by)}</bdi>
  if (href === undefined) return name
  return (
    <Anchor component={Link} href={href} size="sm">
      {name}
    </Anchor>
  )
}

const footOf = ({ cost, list_value, tokens, entries }: Totals) => ({
  name: 'Total',
  cost: <Money amount={cost} />,
  list_value: list_value === null ? '–' : <Money amount={list_value} />,
  tokens: <Count value={tokens.total} />,
  entries: count(entries),
})
