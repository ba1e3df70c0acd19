/** The columns of the entries table. Those that are not extra fit on a small laptop. */
import { Tooltip } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { serviceText } from '../../../shared/price-texts.ts'
import { duration } from '../../format/moments.ts'
import { exactMoney, fineMoney } from '../../format/money.ts'
import type { Column } from '../../parts/data-table.tsx'
import { type Entry, placeKey } from '../../parts/entries/entry.ts'
import { Count, Moment, Money } from '../../parts/figures.tsx'
import { Status } from '../../parts/status.tsx'
import { Dimmed } from '../../parts/texts.tsx'

const SOURCES: Record<Entry['source'], string> = {
  report: 'report',
  log: 'OTLP logs',
  span: 'OTLP spans',
  metric: 'OTLP metrics',
  sheet: 'token sheet',
}

const tokens = (key: 'input' | 'output' | 'cache_read' | 'cache_write' | 'cache_write_1h', title: string) => ({
  key,
  title,
  sort: key,
  isNumber: true,
  isExtra: true,
  width: '88px',
  phone: 'hidden' as const,
  cell: (entry: Entry) => <Count value={entry.tokens[key]} />,
})

/** Isolates text from agents, so that its direction does not change that of the row. */
const textCell = (text: string | null) => (text === null ? null : <bdi>{text}</bdi>)

/** With the tier, speed and region, which have prices of their own. */
function Model({ entry }: { entry: Entry }) {
  const service = serviceText(entry)
  return (
    <>
      {textCell(entry.model)}
      {service !== null && <Dimmed>{` ${service}`}</Dimmed>}
    </>
  )
}

/** A cost far from the list value is marked, with both amounts. */
function Cost({ entry: { cost, reported_cost, list_value, cost_mismatch } }: { entry: Entry }) {
  if (!cost_mismatch) return <Money amount={cost} isFine />
  const both = `Cost mismatch: reported cost ${exactMoney(reported_cost!)}, list value ${exactMoney(list_value!)}`
  return (
    <Tooltip label={both}>
      <span>
        <IconAlertTriangle role="img" aria-label={both} size={12} color="var(--mantine-color-orange-6)" />{' '}
        {fineMoney(cost!)}
      </span>
    </Tooltip>
  )
}

export const COLUMNS: readonly Column<Entry>[] = [
  {
    key: 'summary',
    title: 'Summary',
    minWidth: '204px',
    phone: 'title',
    cell: ({ summary, agent_name }) => (summary === null ? <Dimmed>{agent_name}</Dimmed> : <bdi>{summary}</bdi>),
  },
  {
    key: 'place',
    phone: 'bare',
    title: 'Assigned to',
    width: '110px',
    cell: (entry) => textCell(placeKey(entry) ?? null) ?? <Dimmed>unattributed</Dimmed>,
  },
  {
    key: 'manager',
    title: 'Agent manager',
    width: '114px',
    phone: 'hidden',
    cell: (entry) => textCell(entry.agent_manager.name),
  },
  {
    key: 'agent',
    isExtra: true,
    title: 'Agent',
    width: '120px',
    phone: 'hidden',
    cell: (entry) => textCell(entry.agent_name),
  },
  {
    key: 'harness',
    isExtra: true,
    title: 'Harness',
    width: '112px',
    phone: 'hidden',
    cell: (entry) => textCell(entry.agent_harness),
  },
  { key: 'model', phone: 'bare', title: 'Model', width: '200px', cell: (entry) => <Model entry={entry} /> },
  {
    key: 'provider',
    isExtra: true,
    title: 'Provider',
    width: '110px',
    phone: 'hidden',
    cell: (entry) => textCell(entry.provider),
  },
  {
    key: 'started',
    phone: 'bare',
    title: 'Started',
    sort: 'started_at',
    width: '124px',
    cell: (entry) => <Moment at={entry.started_at} isShort />,
  },
  {
    key: 'duration',
    isExtra: true,
    title: 'Duration',
    sort: 'duration',
    width: '96px',
    isNumber: true,
    phone: 'hidden',
    cell: (entry) => duration(entry.started_at, entry.ended_at),
  },
  tokens('input', 'Input'),
  tokens('output', 'Output'),
  tokens('cache_read', 'Cache read'),
  tokens('cache_write', 'Cache write'),
  tokens('cache_write_1h', 'Write 1 h'),
  {
    key: 'tokens',
    title: 'Tokens',
    sort: 'tokens',
    width: '80px',
    isNumber: true,
    cell: (entry) => <Count value={entry.tokens.total} />,
  },
  {
    key: 'cost',
    title: 'Cost',
    sort: 'cost',
    // With room for the mark of a mismatch.
    width: '108px',
    isNumber: true,
    phone: 'value',
    cell: (entry) => <Cost entry={entry} />,
  },
  {
    key: 'list_value',
    isExtra: true,
    title: 'List value',
    sort: 'list_value',
    width: '92px',
    isNumber: true,
    phone: 'hidden',
    cell: (entry) => <Money amount={entry.list_value} isFine />,
  },
  {
    key: 'reported',
    isExtra: true,
    title: 'Reported cost',
    sort: 'reported_cost',
    width: '108px',
    isNumber: true,
    phone: 'hidden',
    cell: (entry) => (entry.reported_cost === null ? null : <Money amount={entry.reported_cost} isFine />),
  },
  { key: 'status', phone: 'bare', title: 'Status', width: '100px', cell: (entry) => <Status of={entry.status} /> },
  {
    key: 'source',
    isExtra: true,
    title: 'Source',
    width: '112px',
    phone: 'hidden',
    cell: (entry) => SOURCES[entry.source],
  },
  { key: 'bill', isExtra: true, title: 'Bill', width: '96px', phone: 'hidden', cell: (entry) => entry.bill?.number },
  {
    key: 'labels',
    isExtra: true,
    title: 'Labels',
    width: '200px',
    phone: 'hidden',
    cell: (entry) =>
      textCell(
        Object.entries(entry.labels)
          .map(([name, value]) => `${name}:${value}`)
          .join(' '),
      ),
  },
  {
    key: 'session',
    isExtra: true,
    title: 'Session',
    width: '130px',
    phone: 'hidden',
    cell: (entry) => textCell(entry.session_id),
  },
]
