import { Box, MultiSelect, Text } from '@mantine/core'
import { useLocation } from 'wouter'
import { many, useAddress } from '../../address.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { DownloadCsv } from '../../parts/download.tsx'
import { Empty } from '../../parts/empty.tsx'
import { EmptyCell } from '../../parts/empty-cell.tsx'
import { Ago, Count, Money } from '../../parts/figures.tsx'
import { periodInWords } from '../../parts/period.ts'
import { useListOrder } from '../../parts/sorting.tsx'
import { Status } from '../../parts/status.tsx'
import { Toolbar } from '../../parts/toolbar.tsx'
import { answer, apiUntil } from '../../server/api.ts'
import { PAGE_LIMIT, useList } from '../../server/list.ts'
import { useMe } from '../../server/me.ts'
import type { Sheet } from './sheet-body.ts'

const STATUSES = ['open', 'submitted', 'returned', 'approved']

/** The orders that the API knows. */
const SORTS = ['period', 'agent_manager', 'status', 'updated_at'] as const

export function OwnSheets() {
  const { person } = useMe()
  return (
    <SheetList
      of={{ agent_manager: [person.id] }}
      columns={COLUMNS.filter(({ key }) => key !== 'who')}
      empty={
        <Empty title="No sheets yet">
          Create a sheet for usage that no agent could report, such as a session in a browser. Usage that agents report
          needs no sheet.
        </Empty>
      }
    />
  )
}

export const AllSheets = () => (
  <SheetList
    of={{}}
    columns={COLUMNS}
    empty={<Empty title="No sheets yet">Sheets of people whose projects you can see appear here.</Empty>}
  />
)

interface SheetListProps {
  of: { agent_manager?: string[] }
  columns: Column<Sheet>[]
  empty: React.ReactNode
}

function SheetList({ of, columns, empty }: SheetListProps) {
  const [, navigate] = useLocation()
  const [{ status }, show] = useAddress({ status: many })
  const query = { ...of, ...(status.length > 0 ? { status } : {}) }
  const { sorting, query: ordered } = useListOrder(SORTS)
  const list = useList(['sheets', 'list', query, ordered], (page, signal) =>
    answer(
      apiUntil(signal)['token-sheets'].get({
        query: { ...query, ...ordered, limit: PAGE_LIMIT, ...(page === undefined ? {} : { page }) },
      }),
    ),
  )
  return (
    <>
      <Box mb="md">
        <Toolbar actions={<DownloadCsv path="/token-sheets" query={query} />}>
          <MultiSelect
            aria-label="Status"
            placeholder={status.length === 0 ? 'Any status' : undefined}
            data={STATUSES}
            value={status}
            onChange={(chosen) => show({ status: chosen })}
            clearable
            miw={220}
          />
        </Toolbar>
      </Box>
      <DataTable
        label="Token sheets"
        name="sheets"
        columns={columns}
        list={list}
        sorting={sorting}
        rowKey={({ id }) => id}
        open={({ id }) => navigate(`/sheets/${id}`)}
        empty={
          status.length > 0 ? (
            <Empty title="No matching sheets">Choose another status, or clear the filter.</Empty>
          ) : (
            empty
          )
        }
      />
    </>
  )
}

export const COLUMNS: Column<Sheet>[] = [
  {
    key: 'period',
    sort: 'period',
    title: 'Period',
    value: ({ period }) => period.from,
    width: '240px',
    phone: 'title',
    cell: ({ period }) => (
      <Text span inherit fw={600}>
        {periodInWords(period)}
      </Text>
    ),
  },
  {
    key: 'who',
    sort: 'agent_manager',
    title: 'Agent manager',
    value: ({ agent_manager }) => agent_manager.name,
    phone: 'bare',
    width: '18%',
    cell: ({ agent_manager }) => agent_manager.name,
  },
  {
    key: 'note',
    title: 'Note',
    value: ({ reason, note }) => reason ?? note,
    phone: 'bare',
    cell: ({ reason, note }) => reason ?? note ?? <EmptyCell />,
  },
  {
    key: 'status',
    sort: 'status',
    title: 'Status',
    value: ({ status }) => status,
    phone: 'bare',
    width: '110px',
    cell: ({ status }) => <Status of={status} />,
  },
  {
    key: 'changed',
    sort: 'updated_at',
    title: 'Updated',
    value: ({ updated_at, created_at }) => updated_at ?? created_at,
    width: '130px',
    phone: 'hidden',
    cell: (sheet) => <Ago at={sheet.updated_at ?? sheet.created_at} />,
  },
  {
    key: 'entries',
    title: 'Entries',
    value: ({ entries }) => entries,
    isNumber: true,
    width: '80px',
    cell: ({ entries }) => <Count value={entries} />,
  },
  {
    key: 'tokens',
    title: 'Tokens',
    value: ({ tokens }) => tokens,
    isNumber: true,
    phone: 'hidden',
    width: '90px',
    cell: ({ tokens }) => <Count value={tokens} />,
  },
  {
    key: 'cost',
    title: 'Cost',
    value: ({ cost }) => cost,
    isNumber: true,
    width: '130px',
    phone: 'value',
    cell: ({ cost }) => <Money amount={cost} />,
  },
]
