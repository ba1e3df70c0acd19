/** The alerts of a budget so far. */
import { Stack } from '@mantine/core'
import { dayInWords } from '../../format/moments.ts'
import type { Budget } from '../../parts/budgets/budget.ts'
import { Amount } from '../../parts/budgets/budget-progress.tsx'
import { cellColumn, momentColumn } from '../../parts/columns.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Moment } from '../../parts/figures.tsx'
import { Note, SectionTitle } from '../../parts/texts.tsx'
import type { api, Body } from '../../server/api.ts'
import { useApiList } from '../../server/list.ts'
import { thresholdInWords } from './thresholds.tsx'

type BudgetAlert = Body<Awaited<ReturnType<(typeof api)['budgets']['alerts']['get']>>>['data'][number]

export function Alerts({ budget: { id, measure } }: { budget: Budget }) {
  const list = useApiList(['budgets', 'alerts', id], (api, paging) =>
    api.budgets.alerts.get({ query: { budget: id, ...paging } }),
  )
  return (
    <Stack gap="xs">
      <SectionTitle>Alerts</SectionTitle>
      {list.rows && list.rows.length > 0 && (
        <Note>Amounts are as of the time of the alert. Late entries and corrections may have changed them since.</Note>
      )}
      <DataTable
        label="Alerts"
        name="budget-alerts"
        list={list}
        rowKey={(alert) => alert.id}
        columns={columnsOf(measure)}
        empty={<Note>No threshold has been reached.</Note>}
      />
    </Stack>
  )
}

const columnsOf = (measure: Budget['measure']): Column<BudgetAlert>[] => [
  cellColumn('threshold', 'Threshold', { value: thresholdInWords, phone: 'title' }, thresholdInWords),
  momentColumn('at', 'As of', ({ at }) => at, { width: '170px', phone: 'value' }),
  cellColumn('period', 'Period from', { value: ({ period }) => period.from, width: '130px' }, ({ period }) =>
    period.from === null ? 'All time' : dayInWords(period.from),
  ),
  cellColumn(
    'spent',
    'Spent or forecast',
    { value: ({ spent }) => spent, isNumber: true, width: '150px' },
    ({ spent }) => <Amount measure={measure} value={spent} />,
  ),
  cellColumn(
    'available',
    'Available',
    { value: ({ available }) => available, isNumber: true, width: '130px' },
    ({ available }) => <Amount measure={measure} value={available} />,
  ),
  cellColumn(
    'notified',
    'E-mails queued',
    { value: ({ notified_at }) => notified_at, width: '170px' },
    ({ notified_at }) => <Moment at={notified_at} otherwise="no" />,
  ),
]
