import { Button, CloseButton, Group, Text } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { Link, useLocation } from 'wouter'
import { addressOf, one, oneOf, useAddress } from '../../address.ts'
import { dayInWords, monthInWords } from '../../format/moments.ts'
import { billedMoney } from '../../format/money.ts'
import { cellColumn, exactCountColumn, statusColumn, textColumn } from '../../parts/columns.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { DownloadCsv } from '../../parts/download.tsx'
import { Empty } from '../../parts/empty.tsx'
import { EmptyCell } from '../../parts/empty-cell.tsx'
import { Page } from '../../parts/page.tsx'
import { periodInWords, readPeriod } from '../../parts/period.ts'
import { PeriodPicker } from '../../parts/period-picker.tsx'
import { ClientPicker } from '../../parts/pickers.tsx'
import { Segmented } from '../../parts/segmented.tsx'
import { useListOrder } from '../../parts/sorting.tsx'
import { Status } from '../../parts/status.tsx'
import { Dimmed, Note } from '../../parts/texts.tsx'
import { Toolbar } from '../../parts/toolbar.tsx'
import { useApiList } from '../../server/list.ts'
import { useSettings } from '../../server/me.ts'
import { type BillHead, scopeOf } from './bill-body.ts'
import { DraftList } from './draft-list.tsx'
import { BillSums } from './sums.tsx'

const NewBillButton = () => (
  <Button component={Link} href="/bills/new" leftSection={<IconPlus size={16} />}>
    New bill
  </Button>
)

/** The orders that the API knows. */
const SORTS = ['number', 'recipient', 'period', 'issued_on', 'due_on', 'state', 'entries', 'total', 'balance'] as const

export function BillList() {
  const { time_zone } = useSettings()
  const [, navigate] = useLocation()
  const [{ state, client, issued, month }, show] = useAddress({
    state: oneOf('', 'sent', 'overdue', 'paid', 'void'),
    client: one,
    issued: one,
    month: one,
  })
  const query = {
    ...(state === 'overdue' ? { overdue: 'true' } : state && { state: [state] }),
    ...(client && { client }),
    ...(issued && readPeriod(issued, time_zone)),
    ...(month && { month }),
  }
  const { sorting, query: ordered } = useListOrder(SORTS, { by: 'issued_on', order: 'desc' })
  const list = useApiList(['bills', 'list', query, ordered], (api, paging) =>
    api.bills.get({ query: { ...query, ...ordered, ...paging } }),
  )
  const isFiltered = Object.keys(query).length > 0
  return (
    <Page
      title="Bills"
      lead="Each bill collects the unbilled entries of a client, a project or everything for a period, and locks them."
      actions={
        <>
          <DownloadCsv path="/bills" query={query} />
          <Button component={Link} href="/bills/run" variant="default">
            Billing run
          </Button>
          <NewBillButton />
        </>
      }
    >
      <Toolbar>
        <Segmented
          aria-label="State"
          value={state}
          choose={(state) => show({ state })}
          titles={{ '': 'All', sent: 'Sent', overdue: 'Overdue', paid: 'Paid', void: 'Void' }}
        />
        <ClientPicker
          aria-label="Client"
          placeholder="Any client"
          // The API accepts a name or an id; a name makes the URL readable.
          value={client ? { value: client, label: client } : null}
          change={(choice) => show({ client: choice?.label })}
        />
        <Group gap={6}>
          <Note>Issued</Note>
          <PeriodPicker isOptional value={issued} change={(value) => show({ issued: value })} />
        </Group>
        {month && (
          <Group gap={6}>
            <Note>For {/^\d{4}-\d{2}$/.test(month) ? monthInWords(`${month}-01`) : <bdi>{month}</bdi>}</Note>
            <CloseButton size="sm" aria-label="Show bills of all months" onClick={() => show({ month: undefined })} />
          </Group>
        )}
      </Toolbar>
      <DraftList />
      <BillSums
        query={query}
        listOf={(wanted) => addressOf('/bills', { state: state === 'overdue' ? state : wanted, client, issued, month })}
      />
      <DataTable
        label="Bills"
        name="bills"
        columns={COLUMNS}
        list={list}
        sorting={sorting}
        rowKey={({ id }) => id}
        open={({ id }) => navigate(`/bills/${id}`)}
        isMuted={({ state }) => state === 'void'}
        empty={
          isFiltered ? (
            <NothingFound clear={() => show({ state: '', client: undefined, issued: undefined, month: undefined })} />
          ) : (
            <NoBills />
          )
        }
      />
    </Page>
  )
}

const NothingFound = ({ clear }: { clear: () => void }) => (
  <Empty
    title="No matching bills"
    action={
      <Button variant="light" onClick={clear}>
        Show all bills
      </Button>
    }
  >
    No bills match this state, client and issue date.
  </Empty>
)

const NoBills = () => (
  <Empty title="No bills yet" action={<NewBillButton />}>
    A bill includes every unbilled entry of a client for a period. Before you send it, you see a preview that also lists
    the entries it leaves out.
  </Empty>
)

export const COLUMNS: Column<BillHead>[] = [
  textColumn('number', 'Number', ({ number }) => number, { sort: 'number', width: '105px', phone: 'title' }),
  cellColumn('for', 'For', { sort: 'recipient', value: scopeOf, phone: 'bare' }, (bill: BillHead) => (
    <>
      <bdi>{scopeOf(bill)}</bdi>
      {bill.kind === 'credit_note' && <Dimmed> · credit note</Dimmed>}
    </>
  )),
  cellColumn(
    'period',
    'Period',
    { sort: 'period', value: ({ period }) => period.from, width: '140px', phone: 'bare' },
    ({ period }) => periodInWords(period),
  ),
  cellColumn(
    'issued',
    'Issued',
    { sort: 'issued_on', value: ({ issued_on }) => issued_on, width: '122px', phone: 'hidden' },
    ({ issued_on }) => dayInWords(issued_on),
  ),
  cellColumn(
    'due',
    'Due',
    { sort: 'due_on', value: ({ kind, due_on }) => (kind === 'credit_note' ? null : due_on), width: '122px' },
    (bill) => <Due bill={bill} />,
  ),
  statusColumn('state', 'State', ({ state, overdue }) => (overdue ? 'overdue' : state), {
    sort: 'state',
    width: '90px',
    phone: 'bare',
  }),
  cellColumn(
    'delivery',
    'E-mail',
    { value: ({ delivery }) => (delivery === 'none' ? null : delivery), width: '76px' },
    ({ delivery }) => (delivery === 'none' ? <EmptyCell /> : <Status of={delivery} />),
  ),
  exactCountColumn('entries', 'Entries', ({ entries }) => entries, { sort: 'entries', width: '80px', phone: 'hidden' }),
  cellColumn(
    'total',
    'Total',
    { sort: 'total', value: ({ total }) => total, width: '120px', isNumber: true, phone: 'value' },
    ({ total, currency }) => billedMoney(total, currency),
  ),
  cellColumn(
    'balance',
    'Open',
    { sort: 'balance', value: ({ balance }) => balance, width: '110px', isNumber: true },
    ({ balance, currency }) => (balance === 0 ? <EmptyCell /> : billedMoney(balance, currency)),
  ),
]

function Due({ bill }: { bill: BillHead }) {
  if (bill.kind === 'credit_note') return <EmptyCell />
  if (!bill.overdue) return <>{dayInWords(bill.due_on)}</>
  return (
    <Text component="span" inherit c="var(--mantine-color-error)">
      {dayInWords(bill.due_on)}
    </Text>
  )
}
