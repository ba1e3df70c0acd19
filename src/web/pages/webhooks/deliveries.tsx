/** The latest attempts to deliver events to a webhook. */
import { cellColumn, momentColumn, textColumn } from '../../parts/columns.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Status } from '../../parts/status.tsx'
import { useApiList } from '../../server/list.ts'
import type { WebhookDelivery } from '../../server/webhooks.ts'

/** So that somebody who waits for an event sees it arrive. */
const REFRESH_MS = 5_000

export function Deliveries({ id, show }: { id: string; show: (delivery: WebhookDelivery) => void }) {
  const list = useApiList(
    ['webhooks', id, 'deliveries'],
    (api, paging) => api.webhooks({ id }).deliveries.get({ query: paging }),
    { refetchIntervalMs: REFRESH_MS },
  )
  return (
    <DataTable
      label="Deliveries"
      name="webhook-deliveries"
      columns={COLUMNS}
      list={list}
      rowKey={({ at, event, attempt, kind }) => `${at} ${event} ${attempt} ${kind}`}
      open={show}
      empty={
        <Empty title="No deliveries yet">
          Attempts to deliver events appear here, with what was sent and what came back, for 7 days. Send a test to see
          the first one.
        </Empty>
      }
    />
  )
}

const KINDS: Record<WebhookDelivery['kind'], string> = { event: '', resend: 'sent again', test: 'test' }

const COLUMNS: Column<WebhookDelivery>[] = [
  momentColumn('at', 'Sent', ({ at }) => at, { width: '165px', phone: 'bare' }),
  textColumn('type', 'Event', ({ type }) => type, { phone: 'title', width: '220px' }),
  cellColumn(
    'attempt',
    'Attempt',
    { value: ({ attempt }) => attempt, width: '110px' },
    ({ attempt, kind }) => KINDS[kind] || String(attempt),
  ),
  cellColumn(
    'result',
    'Result',
    { value: ({ delivered }) => delivered, width: '100px', phone: 'value' },
    ({ delivered }) => <Status of={delivered ? 'delivered' : 'failed'} />,
  ),
  cellColumn(
    'status',
    'Status',
    { value: ({ status }) => status, width: '80px', isNumber: true },
    ({ status }) => status ?? '–',
  ),
  cellColumn(
    'time',
    'Time',
    { value: ({ latency_ms }) => latency_ms, width: '90px', isNumber: true },
    ({ latency_ms }) => `${latency_ms} ms`,
  ),
  cellColumn('error', 'Error', { value: ({ error }) => error, phone: 'bare' }, ({ error }) => error ?? ''),
]
