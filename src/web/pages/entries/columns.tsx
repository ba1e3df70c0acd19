/** The columns of the entries table. Those that are not extra fit on a small laptop. */

import { Tooltip } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { BASIS_TITLES, type CostBasis } from '../../../shared/cost-basis.ts'
import { SOURCE_TITLES } from '../../../shared/dimensions.ts'
import { fundingTitle } from '../../../shared/funding.ts'
import { serviceText } from '../../../shared/price-texts.ts'
import { duration } from '../../format/moments.ts'
import { exactMoney, fineMoney } from '../../format/money.ts'
import { cellColumn, countColumn, fineMoneyColumn, statusColumn, textColumn, unsorted } from '../../parts/columns.tsx'
import type { Column } from '../../parts/data-table.tsx'
import { type Entry, placeKey } from '../../parts/entries/entry.ts'
import { Moment, Money } from '../../parts/figures.tsx'
import { Dimmed } from '../../parts/texts.tsx'

/** Hidden unless the person chooses it, and then on a line of its own on a phone. */
const EXTRA = { isExtra: true, phone: 'hidden' } as const

const tokens = (key: 'input' | 'output' | 'cache_read' | 'cache_write' | 'cache_write_1h', title: string) =>
  countColumn(key, title, (entry: Entry) => entry.tokens[key], { ...EXTRA, sort: key, width: '88px' })

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

/** By their basis: a table keeps the columns that a person chose. */
const COLUMNS = new Map<CostBasis, readonly Column<Entry>[]>()

export function columnsFor(basis: CostBasis): readonly Column<Entry>[] {
  const known = COLUMNS.get(basis) ?? columnsBy(basis)
  COLUMNS.set(basis, known)
  return known
}

const columnsBy = (basis: CostBasis): readonly Column<Entry>[] =>
  unsorted([
    cellColumn('summary', 'Summary', { minWidth: '204px', phone: 'title' }, ({ summary, agent_name }) =>
      summary === null ? <Dimmed>{agent_name}</Dimmed> : <bdi>{summary}</bdi>,
    ),
    cellColumn(
      'place',
      'Assigned to',
      { phone: 'bare', width: '110px' },
      (entry) => textCell(placeKey(entry) ?? null) ?? <Dimmed>unattributed</Dimmed>,
    ),
    textColumn('manager', 'Agent manager', (entry) => entry.agent_manager.name, { width: '114px', phone: 'bare' }),
    textColumn('agent', 'Agent', (entry) => entry.agent_name, { ...EXTRA, width: '120px' }),
    textColumn('harness', 'Harness', (entry) => entry.agent_harness, { ...EXTRA, width: '112px' }),
    cellColumn('model', 'Model', { phone: 'bare', width: '200px' }, (entry) => <Model entry={entry} />),
    cellColumn('provider', 'Provider', { ...EXTRA, width: '110px' }, (entry) => textCell(entry.provider)),
    cellColumn('started', 'Started', { phone: 'bare', sort: 'started_at', width: '124px' }, (entry) => (
      <Moment at={entry.started_at} isShort />
    )),
    cellColumn('duration', 'Duration', { ...EXTRA, sort: 'duration', width: '96px', isNumber: true }, (entry) =>
      duration(entry.started_at, entry.ended_at),
    ),
    tokens('input', 'Input'),
    tokens('output', 'Output'),
    tokens('cache_read', 'Cache read'),
    tokens('cache_write', 'Cache write'),
    tokens('cache_write_1h', 'Write 1 h'),
    countColumn('tokens', 'Tokens', (entry) => entry.tokens.total, { sort: 'tokens', width: '80px' }),
    {
      key: 'cost',
      title: BASIS_TITLES[basis],
      sort: 'cost',
      // With room for the mark of a mismatch.
      width: '108px',
      isNumber: true,
      phone: 'value',
      cell: (entry) => (basis === 'cost' ? <Cost entry={entry} /> : <Money amount={entry.cost} isFine />),
    },
    fineMoneyColumn('list_value', 'List value', (entry) => entry.list_value, {
      ...EXTRA,
      sort: 'list_value',
      width: '92px',
    }),
    cellColumn(
      'reported',
      'Reported cost',
      { ...EXTRA, sort: 'reported_cost', width: '108px', isNumber: true },
      (entry) => (entry.reported_cost === null ? null : <Money amount={entry.reported_cost} isFine />),
    ),
    textColumn('funding', 'Funding', ({ funding }) => fundingTitle(funding), { ...EXTRA, width: '140px' }),
    fineMoneyColumn('marginal', 'Marginal cost', (entry) => entry.marginal_cost, { ...EXTRA, width: '108px' }),
    fineMoneyColumn('allocated', 'Allocated cost', (entry) => entry.allocated_cost, { ...EXTRA, width: '108px' }),
    statusColumn('status', 'Status', (entry) => entry.status, { phone: 'bare', width: '100px' }),
    textColumn('source', 'Source', (entry) => SOURCE_TITLES[entry.source], { ...EXTRA, width: '168px' }),
    cellColumn('bill', 'Bill', { ...EXTRA, width: '96px' }, (entry) => entry.bill?.number),
    cellColumn('labels', 'Labels', { ...EXTRA, width: '200px' }, (entry) =>
      textCell(
        Object.entries(entry.labels)
          .map(([name, value]) => `${name}:${value}`)
          .join(' '),
      ),
    ),
    cellColumn('session', 'Session', { ...EXTRA, width: '130px' }, (entry) => textCell(entry.session_id)),
  ])
