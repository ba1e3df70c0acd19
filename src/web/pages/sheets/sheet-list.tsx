import { Box, MultiSelect, Text } from '@mantine/core'
import { useLocation } from 'wouter'
import { many, useAddress } from '../../address.ts'
import { agoColumn, cellColumn, countColumn, moneyColumn, statusColumn, textColumn } from '../../parts/columns.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { DownloadCsv } from '../../parts/download.tsx'
import { Empty } from '../../parts/empty.tsx'
import { periodInWords } from '../../parts/period.ts'
import { useListOrder } from '../../parts/sorting.tsx'
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
  const { sorting, query: ordered } = useListOrder(SORTS, { by: 'period', order: 'desc' })
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
  cellColumn(
    'period',
    'Period',
    { sort: 'period', value: ({ period }) => period.from, width: '240px', phone: 'title' },
    ({ period }) => (
      <Text span inherit fw={600}>
        {periodInWords(period)}
      </Text>
    ),
  ),
  textColumn('who', 'Agent manager', ({ agent_manager }) => agent_manager.name, {
    sort: 'agent_manager',
    phone: 'bare',
    width: '18%',
  }),
  textColumn('note', 'Note', ({ reason, note }) => reason ?? note, { phone: 'bare' }),
  statusColumn('status', 'Status', ({ status }) => status, { sort: 'status', phone: 'bare', width: '110px' }),
  agoColumn('changed', 'Updated', ({ updated_at, created_at }) => updated_at ?? created_at, {
    sort: 'updated_at',
    width: '130px',
    phone: 'hidden',
  }),
  countColumn('entries', 'Entries', ({ entries }) => entries, { width: '80px' }),
  countColumn('tokens', 'Tokens', ({ tokens }) => tokens, { phone: 'hidden', width: '90px' }),
  moneyColumn('cost', 'Cost', ({ cost }) => cost, { width: '130px', phone: 'value' }),
]
