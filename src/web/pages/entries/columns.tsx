/** The columns of the entries table, and the choice of columns. */
import { Text, Tooltip } from '@mantine/core'
import { useLocalStorage } from '@mantine/hooks'
import { IconAlertTriangle } from '@tabler/icons-react'
import { serviceText } from '../../../price-texts.ts'
import { duration } from '../../format/moments.ts'
import { exactMoney, fineMoney } from '../../format/money.ts'
import type { Column } from '../../parts/data-table.tsx'
import { type Entry, placeKey } from '../../parts/entries/entry.ts'
import { Count, Moment, Money } from '../../parts/figures.tsx'
import { Status } from '../../parts/status.tsx'

const SOURCES: Record<Entry['source'], string> = {
  report: 'report',
  log: 'OTLP logs',
  span: 'OTLP spans',
  metric: 'OTLP metrics',
  sheet: 'token sheet',
}

const Dimmed = ({ children }: { children: string }) => (
  <Text span inherit c="dimmed">
    {children}
  </Text>
)

const tokens = (key: 'input' | 'output' | 'cache_read' | 'cache_write' | 'cache_write_1h', title: string) => ({
  key,
  title,
  isNumber: true,
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
    minWidth: '220px',
    phone: 'title',
    cell: ({ summary, agent_name }) => (summary === null ? <Dimmed>{agent_name}</Dimmed> : <bdi>{summary}</bdi>),
  },
  {
    key: 'place',
    title: 'Assigned to',
    width: '124px',
    cell: (entry) => textCell(placeKey(entry) ?? null) ?? <Dimmed>unattributed</Dimmed>,
  },
  {
    key: 'manager',
    title: 'Agent manager',
    width: '118px',
    phone: 'hidden',
    cell: (entry) => textCell(entry.agent_manager.name),
  },
  { key: 'agent', title: 'Agent', width: '120px', phone: 'hidden', cell: (entry) => textCell(entry.agent_name) },
  { key: 'harness', title: 'Harness', width: '112px', phone: 'hidden', cell: (entry) => textCell(entry.agent_harness) },
  { key: 'model', title: 'Model', width: '150px', cell: (entry) => <Model entry={entry} /> },
  { key: 'provider', title: 'Provider', width: '110px', phone: 'hidden', cell: (entry) => textCell(entry.provider) },
  {
    key: 'started',
    title: 'Started',
    sort: 'started_at',
    width: '124px',
    cell: (entry) => <Moment at={entry.started_at} isShort />,
  },
  {
    key: 'duration',
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
    title: 'List value',
    width: '92px',
    isNumber: true,
    phone: 'hidden',
    cell: (entry) => <Money amount={entry.list_value} isFine />,
  },
  {
    key: 'reported',
    title: 'Reported cost',
    width: '108px',
    isNumber: true,
    phone: 'hidden',
    cell: (entry) => (entry.reported_cost === null ? null : <Money amount={entry.reported_cost} isFine />),
  },
  { key: 'status', title: 'Status', width: '100px', cell: (entry) => <Status of={entry.status} /> },
  { key: 'source', title: 'Source', width: '112px', phone: 'hidden', cell: (entry) => SOURCES[entry.source] },
  { key: 'bill', title: 'Bill', width: '96px', phone: 'hidden', cell: (entry) => entry.bill?.number },
  {
    key: 'labels',
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
  { key: 'session', title: 'Session', width: '130px', phone: 'hidden', cell: (entry) => textCell(entry.session_id) },
]

/** The orders of the list; the first is the default. */
export const SORTS = ['started_at', 'cost', 'tokens', 'duration'] as const

/** The default columns: those that fit on a small laptop. */
const USUAL = ['summary', 'place', 'manager', 'model', 'started', 'tokens', 'cost', 'status']

/**
 * The columns chosen in this browser, in table order. The summary opens the row and is always shown, as is the column
 * that sorts the list.
 */
export function useColumns(sortedBy: string) {
  const [chosen, choose] = useLocalStorage<string[]>({
    key: 'tally-entry-columns',
    defaultValue: USUAL,
    // Otherwise the table would first render with the default columns.
    getInitialValueInEffect: false,
  })
  const known = Array.isArray(chosen) ? chosen : USUAL
  const columns = COLUMNS.filter(
    ({ key, sort }) => key === 'summary' || known.includes(key) || (sort === sortedBy && sort !== SORTS[0]),
  )
  return { columns, chosen: known, choose, reset: () => choose(USUAL) }
}
