/** The bills that are shared with a viewer. */
import { Anchor, Button, Group, Skeleton, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, Route, Switch, useLocation } from 'wouter'
import { dayInWords } from '../../format/moments.ts'
import { billedMoney } from '../../format/money.ts'
import { cellColumn, statusColumn, textColumn } from '../../parts/columns.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Details } from '../../parts/details.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Failure } from '../../parts/failure.tsx'
import { Page } from '../../parts/page.tsx'
import { periodInWords } from '../../parts/period.ts'
import { Status } from '../../parts/status.tsx'
import { CardTitle } from '../../parts/texts.tsx'
import { answer, type api, apiQuery, apiUntil, type Body } from '../../server/api.ts'
import { useApiList } from '../../server/list.ts'

type SharedBill = Body<Awaited<ReturnType<ReturnType<typeof api.shared.bills>['get']>>>

export default function SharedBills() {
  return (
    <Switch>
      <Route path="/bills/:id">{({ id }) => <BillPage key={id} id={id} />}</Route>
      <Route component={BillList} />
    </Switch>
  )
}

const COLUMNS: Column<SharedBill>[] = [
  textColumn('number', 'Number', ({ number }) => number, { width: '130px', phone: 'title' }),
  textColumn('for', 'For', (bill) => subjectOf(bill)),
  cellColumn(
    'period',
    'Period',
    { value: ({ period }) => period.from, width: '210px', phone: 'hidden' },
    ({ period }) => periodInWords(period),
  ),
  cellColumn('due', 'Due', { value: ({ due_on }) => due_on, width: '130px' }, ({ due_on }) => dayInWords(due_on)),
  statusColumn('state', 'State', (bill) => stateOf(bill), { width: '120px' }),
  cellColumn(
    'total',
    'Total',
    { value: ({ total }) => total, isNumber: true, width: '130px', phone: 'value' },
    ({ total, currency }) => billedMoney(total, currency),
  ),
  cellColumn(
    'balance',
    'Balance',
    {
      value: ({ state, balance }) => (state === 'void' ? null : balance),
      isNumber: true,
      width: '130px',
      phone: 'hidden',
    },
    ({ state, balance, currency }) => (state === 'void' ? '–' : billedMoney(balance, currency)),
  ),
]

const stateOf = ({ state, overdue }: SharedBill) => (overdue ? 'overdue' : state)

const subjectOf = ({ client, project, kind }: SharedBill) =>
  [client?.name, project?.name, kind === 'credit_note' && 'credit note'].filter(Boolean).join(' · ')

function BillList() {
  const [, navigate] = useLocation()
  const list = useApiList(['bills', 'shared'], (api, paging) => api.shared.bills.get({ query: paging }))
  return (
    <Page title="Bills" lead="Bills that were sent, newest first.">
      <DataTable
        label="Bills"
        name="shared-bills"
        columns={COLUMNS}
        list={list}
        rowKey={({ id }) => id}
        open={({ id }) => navigate(`/bills/${id}`)}
        isMuted={({ state }) => state === 'void'}
        empty={<Empty title="No bills yet">Bills appear here as soon as they are sent.</Empty>}
      />
    </Page>
  )
}

/** As many as are of interest beside the usage. */
const RECENT = 3

/** The latest bills, and the way to all of them. */
export function RecentBills() {
  const [, navigate] = useLocation()
  const { data: bills } = useQuery(
    apiQuery(['bills', 'shared', 'recent'], (api) => api.shared.bills.get({ query: { limit: String(RECENT) } })),
  )
  if (!bills || bills.data.length === 0) return null
  return (
    <Stack gap="xs">
      <Group justify="space-between">
        <CardTitle>Latest bills</CardTitle>
        <Anchor component={Link} href="/bills" size="sm">
          All bills
        </Anchor>
      </Group>
      <DataTable
        label="Latest bills"
        name="recent-bills"
        columns={COLUMNS}
        list={bills.data}
        rowKey={({ id }) => id}
        open={({ id }) => navigate(`/bills/${id}`)}
        isMuted={({ state }) => state === 'void'}
        empty={null}
      />
    </Stack>
  )
}

const ABOVE = { href: '/bills', title: 'Bills' }

function BillPage({ id }: { id: string }) {
  const {
    data: bill,
    error,
    refetch,
  } = useQuery({
    queryKey: ['bills', 'shared', id],
    queryFn: ({ signal }): Promise<SharedBill> => answer(apiUntil(signal).shared.bills({ id }).get()),
  })
  if (!bill) {
    return (
      <Page title="Bill" above={ABOVE}>
        {error ? <Failure error={error} retry={refetch} /> : <Skeleton height={320} />}
      </Page>
    )
  }
  const { number, kind, state, currency, period, issued_on, due_on, subtotal, tax, total, amount_paid, balance } = bill
  const money = (amount: number) => billedMoney(amount, currency)
  const path = `/api/v1/shared/bills/${bill.id}`
  return (
    <Page
      title={
        <Group gap="xs" component="span">
          {kind === 'bill' ? 'Bill' : 'Credit note'} {number} <Status of={stateOf(bill)} />
        </Group>
      }
      above={ABOVE}
      lead={<bdi>{subjectOf(bill)}</bdi>}
      actions={
        <>
          <Button component="a" href={`${path}/html`} target="_blank" variant="default">
            Read or print
          </Button>
          <Button component="a" href={`${path}/pdf`} target="_blank">
            Open PDF
          </Button>
        </>
      }
    >
      <Stack maw={480}>
        {state === 'void' && <Text>It is void: nothing is owed for it.</Text>}
        <Details
          of={[
            ['Period', periodInWords(period)],
            ['Date', dayInWords(issued_on)],
            ['Due', dayInWords(due_on)],
            ['Subtotal', money(subtotal)],
            ['Tax', money(tax)],
            ['Total', money(total)],
            ['Paid', money(amount_paid)],
            ['Balance', state === 'void' ? null : money(balance)],
          ]}
        />
      </Stack>
    </Page>
  )
}
