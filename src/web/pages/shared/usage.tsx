/** The first page of somebody with the role viewer: the usage of the clients and projects that they see. */
import { Anchor, Group, NativeSelect } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useAddress } from '../../address.ts'
import { count } from '../../format/counts.ts'
import { dayInWords, dayOf, monthInWords } from '../../format/moments.ts'
import { cellColumn, countColumn, exactCountColumn, textColumn } from '../../parts/columns.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { DownloadCsv } from '../../parts/download.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Failure } from '../../parts/failure.tsx'
import { total } from '../../parts/figure-link.tsx'
import { Count } from '../../parts/figures.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Page } from '../../parts/page.tsx'
import { periodInWords, readPeriod } from '../../parts/period.ts'
import { PeriodPicker } from '../../parts/period-picker.tsx'
import { optionsOf } from '../../parts/segmented.tsx'
import { Caption, CardTitle } from '../../parts/texts.tsx'
import { useMe } from '../../server/me.ts'
import { Amounts, covered, Known, type Shared, showsMoney } from './amounts.tsx'
import { RecentBills } from './bills.tsx'
import { Headline } from './headline.tsx'
import { labelOf, TITLES } from './labels.ts'
import { Trend } from './trend.tsx'
import {
  type Billed,
  DIMENSIONS,
  type Dimension,
  type Result,
  type SharedUsage,
  USAGE_ADDRESS,
  usageParameters,
  usageQuery,
  type Width,
} from './usage-query.ts'

const WIDTH_TITLES: Record<Width, string> = {
  all: 'Whole period',
  '1mo': 'By month',
  '1w': 'By week',
  '1d': 'By day',
}

const BILLED_TITLES: Record<Billed, string> = {
  '': 'All entries',
  true: 'Billed entries',
  false: 'Entries that are not billed',
}

export default function SharedUsagePage() {
  const { shared } = useMe()
  return shared && shared.grants.length > 0 ? <Usage shared={shared} /> : <NothingShared shared={shared} />
}

function NothingShared({ shared }: { shared: Shared | null }) {
  const { name, email } = shared?.contact ?? { name: 'your contact', email: null }
  return (
    <Empty title="Nothing has been shared with you yet" isPage>
      Here you will see the usage of the projects that {name} shares with you.{' '}
      {email === null ? (
        <>Ask {name} to share a project with you.</>
      ) : (
        <>
          Ask {name} at{' '}
          <Anchor href={`mailto:${email}`} inherit>
            {email}
          </Anchor>
          .
        </>
      )}
    </Empty>
  )
}

interface Row {
  from: string
  result: Result
}

function Usage({ shared }: { shared: Shared }) {
  const { time_zone } = shared
  const [{ period: name, by, bucket, billed }, show] = useAddress(USAGE_ADDRESS)
  const period = readPeriod(name, time_zone)
  const question = { period, by, bucket, billed }
  const { data: usage, error, refetch, isPlaceholderData } = useQuery(usageQuery(question))
  const rows = usage?.data.flatMap(({ starting_at, results }) =>
    results.map((result): Row => ({ from: starting_at, result })),
  )
  const dimensions = DIMENSIONS.filter((dimension) => dimension !== 'agent_manager' || shared.shows_people)
  return (
    <Page
      title="Usage"
      lead={`${periodInWords(period)} in ${time_zone}`}
      actions={
        <>
          <PeriodPicker value={name} change={(period) => show({ period })} />
          <DownloadCsv path="/shared/usage" query={usageParameters(question)} />
        </>
      }
    >
      <Headline shared={shared} period={period} name={name} />
      <Trend period={period} by={by} billed={billed} />
      {shared.shows_bills && billed === '' && <RecentBills />}
      <CardTitle>Usage by {TITLES[by].toLowerCase()}</CardTitle>
      <Group gap="xs" className="tally-no-print">
        <NativeSelect
          aria-label="Group by"
          data={dimensions.map((value) => ({ value, label: TITLES[value] }))}
          value={by}
          onChange={({ currentTarget }) => show({ by: currentTarget.value as Dimension })}
        />
        <NativeSelect
          aria-label="Over time"
          data={optionsOf(WIDTH_TITLES)}
          value={bucket}
          onChange={({ currentTarget }) => show({ bucket: currentTarget.value as Width })}
        />
        {showsMoney(shared, 'amounts') && (
          <NativeSelect
            aria-label="Billed"
            data={optionsOf(BILLED_TITLES)}
            value={billed}
            onChange={({ currentTarget }) => show({ billed: currentTarget.value as Billed })}
          />
        )}
      </Group>
      {error && !usage && <Failure error={error} retry={refetch} />}
      {!rows && !error && <Loading />}
      {usage && rows && (
        <div style={{ opacity: isPlaceholderData ? 0.55 : 1 }}>
          <DataTable
            name="shared-usage"
            label={`Usage by ${TITLES[by].toLowerCase()}`}
            columns={columnsOf({ by, bucket, shared, time_zone })}
            list={rows}
            rowKey={({ from, result }) => `${from} ${JSON.stringify(result[by])}`}
            empty={<Empty title="No usage in this period">Choose a longer period.</Empty>}
            foot={footOf(usage)}
          />
          <Hints usage={usage} by={by} shared={shared} />
        </div>
      )}
    </Page>
  )
}

interface Shown {
  by: Dimension
  bucket: Width
  shared: Shared
  time_zone: string
}

function columnsOf({ by, bucket, shared, time_zone }: Shown): Column<Row>[] {
  const columns: (Column<Row> | false)[] = [
    bucket !== 'all' &&
      cellColumn('period', 'Period', { value: ({ from }) => from, width: '150px' }, ({ from }) =>
        (bucket === '1mo' ? monthInWords : dayInWords)(dayOf(new Date(from), time_zone)),
      ),
    textColumn('name', TITLES[by], ({ result }) => labelOf(result, by), { minWidth: '180px', phone: 'title' }),
    showsMoney(shared, 'amounts') &&
      by !== 'model' && {
        key: 'amount',
        title: 'Billed',
        // Amounts in several currencies have no order.
        value: ({ result: { amounts } }) => (amounts.length === 1 ? amounts[0]!.amount : null),
        isNumber: true,
        width: '130px',
        phone: 'value',
        cell: ({ result }) => <Amounts of={result.amounts} />,
      },
    showsMoney(shared, 'cost') &&
      cellColumn(
        'cost',
        'Cost',
        { value: ({ result }) => result.cost, isNumber: true, width: '130px', phone: 'value' },
        ({ result }) => <Known amount={result.cost} />,
      ),
    countColumn('tokens', 'Tokens', ({ result }) => result.tokens.total, { width: '110px' }),
    exactCountColumn('entries', 'Entries', ({ result }) => result.entries, { width: '110px' }),
  ]
  return columns.filter((column) => column !== false)
}

const footOf = ({ totals }: SharedUsage) => ({
  name: 'Total',
  amount: <Amounts of={totals.amounts} />,
  cost: (
    <span {...total('cost', totals.cost)}>
      <Known amount={totals.cost} />
    </span>
  ),
  tokens: <Count value={totals.tokens.total} />,
  entries: <span {...total('entries', totals.entries)}>{count(totals.entries)}</span>,
})

/** What the money in the table does and does not cover. */
function Hints({ usage: { totals }, by, shared }: { usage: SharedUsage; by: Dimension; shared: Shared }) {
  const hints = [
    ...(showsMoney(shared, 'amounts')
      ? by === 'model'
        ? ['Billed amounts are not shown by model.']
        : [
            `Billed amounts are before tax, and cover ${covered(totals.amount_entries, totals.entries)} that are on bills.`,
          ]
      : []),
    ...(showsMoney(shared, 'cost') && totals.cost_entries < totals.entries
      ? [`Cost covers ${covered(totals.cost_entries, totals.entries)}.`]
      : []),
  ]
  if (hints.length === 0) return null
  return <Caption mt="xs">{hints.join(' ')}</Caption>
}
