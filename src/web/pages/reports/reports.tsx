/** A report: usage of any kind by up to two dimensions, over time and compared with an earlier period. */
import { Button, Group } from '@mantine/core'
import { IconPrinter } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useSearch } from 'wouter'
import { type RowOrder, SORTS, type Sort, sortedRows } from '../../../shared/report-table.ts'
import { useAddress } from '../../address.ts'
import { count, counted } from '../../format/counts.ts'
import { DataTable } from '../../parts/data-table.tsx'
import { DownloadCsv } from '../../parts/download.tsx'
import { Empty } from '../../parts/empty.tsx'
import { FilterBar } from '../../parts/entries/filter-bar.tsx'
import { Failure } from '../../parts/failure.tsx'
import { total } from '../../parts/figure-link.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Page } from '../../parts/page.tsx'
import { asBounds, PERIODS, type Period, periodInWords } from '../../parts/period.ts'
import { SearchField } from '../../parts/search-field.tsx'
import { ShareButton } from '../../parts/share-button.tsx'
import type { Sorting } from '../../parts/sorting.tsx'
import { Note } from '../../parts/texts.tsx'
import { titleOf } from '../../parts/usage/dimensions.ts'
import { measureOf } from '../../parts/usage/measures.ts'
import { type Usage, usageParameters, usageQuery } from '../../parts/usage/usage.ts'
import { useMe, useSettings } from '../../server/me.ts'
import { REPORTS_ADDRESS } from './address.ts'
import { Controls, chartFor } from './controls.tsx'
import { groupsQuestion, questionOf } from './question.ts'
import { ReportChart } from './report-chart.tsx'
import { footOf, UnpricedNote, UntimedNote, useReportColumns } from './report-table.tsx'
import { type Row, rowsOf, sortableOf } from './rows.ts'
import { SavedViews } from './saved-views.tsx'
import { viewParametersOf } from './view-parameters.ts'

/** Parts of the period that the filter bar does not offer: a report has days. */
const WITHOUT = ['starting_at', 'ending_at'] as const

export default function Reports() {
  const me = useMe()
  const { time_zone } = me.settings
  const [address, show] = useAddress(REPORTS_ADDRESS)
  const search = useSearch()
  const question = questionOf(address, me)
  const { period, earlier, by, second, measure, basis, width, filter } = question
  const groups = groupsQuestion(question)
  const { data: report, error, refetch, isPlaceholderData } = useQuery(usageQuery(groups))
  const before = useQuery({ ...usageQuery(groupsQuestion(question, earlier)), enabled: earlier !== undefined })
  const kind = chartFor(address.chart, measure, earlier !== undefined)
  const dimensions = [by, ...(second === undefined ? [] : [second])]
  const grouped = `by ${dimensions.map((dimension) => titleOf(dimension).toLowerCase()).join(' and ')}`
  const isHere = report !== undefined && (!earlier || before.data !== undefined)
  return (
    <Page
      title="Reports"
      lead={`${periodInWords(period)} in ${time_zone}${earlier ? `, compared with ${periodInWords(earlier)}` : ''}`}
      actions={
        <>
          <SavedViews parameters={{ ...viewParametersOf(search), basis: basis! }} open={address.view} />
          <ShareButton
            subject={{
              report: {
                ...{ ...filter, ...sharedPeriod(address.period, period), group_by: dimensions, measure },
                ...(basis !== 'cost' && { basis }),
                ...(kind !== 'none' && { chart: kind, bucket_width: width }),
                ...(address.compare !== 'none' && { compare: address.compare }),
                ...{ sort: address.sort, order: address.order },
                ...(address.search !== undefined && { names: address.search }),
              },
            }}
            what="report"
          />
          <Button
            variant="default"
            visibleFrom="sm"
            leftSection={<IconPrinter size={16} />}
            onClick={() => window.print()}
          >
            Print or save as PDF
          </Button>
          <DownloadCsv path="/reports/usage" query={usageParameters({ ...groups, width })} />
        </>
      }
    >
      <FilterBar
        hasPeriod
        filters={{ ...address, starting_at: undefined, ending_at: undefined }}
        without={WITHOUT}
        show={show}
      />
      <Controls question={question} chart={kind} compare={address.compare} show={show} />
      {kind !== 'none' && (
        <ReportChart
          question={question}
          kind={kind}
          // By group, the table of the report has the same amounts.
          hasTable={width !== 'all'}
          title={`${measureOf(measure, basis).title}${width === 'all' ? '' : ' over time'}${earlier && width !== 'all' ? '' : ` ${grouped}`}`}
        />
      )}
      {(error ?? before.error) && !isHere && (
        <Failure error={error ?? before.error} retry={() => (error ? refetch() : before.refetch())} />
      )}
      {!isHere && !(error ?? before.error) && <Loading />}
      {isHere && (
        <div style={{ opacity: isPlaceholderData || before.isPlaceholderData ? 0.55 : 1 }}>
          <Groups
            report={report}
            earlier={earlier && before.data}
            question={question}
            label={`Usage ${grouped}`}
            order={{ sort: address.sort, order: address.order, search: address.search }}
            show={show}
          />
        </div>
      )}
    </Page>
  )
}

interface GroupsProps {
  report: Usage
  earlier: Usage | undefined
  question: ReturnType<typeof questionOf>
  label: string
  order: RowOrder & { sort: Sort }
  show: (
    changes: { sort?: Sort | undefined; order?: 'asc' | undefined; search?: string | undefined },
    how?: { replace?: boolean },
  ) => void
}

function Groups({ report, earlier, question, label, order, show }: GroupsProps) {
  const settings = useSettings()
  const { by, second, measure } = question
  const dimensions = [by, ...(second === undefined ? [] : [second])]
  const groups = report.data[0]?.results ?? []
  const all = rowsOf(groups, earlier?.data[0]?.results, { dimensions, measure })
  const rows = sortedRows(all, sortableOf, order)
  const { totals } = report
  const columns = useReportColumns({ question, totals })
  const { search } = order
  const sorting: Sorting = {
    by: order.sort,
    order: order.order,
    change: (by, order) =>
      show({ sort: by === SORTS[0] ? undefined : (by as Sort), order: order === 'asc' ? order : undefined }),
  }
  return (
    <>
      <Group gap="xs" mb="xs" className="tally-no-print">
        <SearchField label="Search names" value={search} change={(search) => show({ search }, { replace: true })} />
        <Note role="status">
          {rows.length < all.length && `${count(rows.length)} of `}
          <span {...total('groups', all.length)}>{counted(all.length, 'row', 'rows')}</span>
        </Note>
        <UnpricedNote question={question} totals={totals} />
        <UntimedNote question={question} totals={totals} />
        {report.provisional && <Note>A plan period is not closed yet, so amounts may change.</Note>}
      </Group>
      <DataTable<Row>
        label={label}
        name="reports"
        columns={columns}
        list={rows}
        rowKey={({ key }) => key}
        sorting={sorting}
        empty={
          <Empty title={search === undefined ? 'No usage in this period' : 'No matching names'}>
            {search === undefined
              ? 'Choose a longer period, or remove filters.'
              : 'Change the search to see other names.'}
          </Empty>
        }
        {...(search === undefined && { foot: footOf({ question, totals }, earlier?.totals, settings) })}
      />
    </>
  )
}

/** A named period moves with the calendar, also where it is shared. */
function sharedPeriod(name = '30d', period: Period): Record<string, string> {
  return Object.hasOwn(PERIODS, name) ? { period: name.replace('-', '_') } : asBounds(period)
}
