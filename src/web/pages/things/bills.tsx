/** The bills that a thing is on, for those who may read bills. */
import { Stack } from '@mantine/core'
import { useLocation } from 'wouter'
import { DataTable } from '../../parts/data-table.tsx'
import { SectionTitle } from '../../parts/texts.tsx'
import { useApiList } from '../../server/list.ts'
import { useRole } from '../../server/me.ts'
import { COLUMNS } from '../bills/list.tsx'

interface BillsOfProps {
  query: { ticket: string } | { client: string }
  label: string
}

/** What is settled about a bill, without its delivery. */
const SHOWN = ['number', 'for', 'period', 'issued', 'state', 'total']

/** Nothing for those who may not read bills, or if it is on none. */
export function BillsOf({ query, label }: BillsOfProps) {
  const [, navigate] = useLocation()
  const list = useApiList(['bills', 'of', query], (api, paging) => api.bills.get({ query: { ...query, ...paging } }), {
    enabled: useRole('billing', 'admin'),
  })
  if (!list.error && !list.rows?.length) return null
  return (
    <Stack gap="xs">
      <SectionTitle>Bills</SectionTitle>
      <DataTable
        label={label}
        columns={COLUMNS.filter(({ key }) => SHOWN.includes(key))}
        list={list}
        rowKey={({ id }) => id}
        open={({ id }) => navigate(`/bills/${id}`)}
        isMuted={({ state }) => state === 'void'}
        empty={null}
      />
    </Stack>
  )
}
