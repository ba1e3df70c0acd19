/** One row for each client of a billing run, and for each billable project without one. */

import { Anchor, Button, Group, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { BASIS_TITLES } from '../../../shared/cost-basis.ts'
import { counted } from '../../format/counts.ts'
import { dayInWords } from '../../format/moments.ts'
import { billedMoney } from '../../format/money.ts'
import { cellColumn, exactCountColumn } from '../../parts/columns.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Status } from '../../parts/status.tsx'
import { Caption, Dimmed } from '../../parts/texts.tsx'
import { BillLink } from './bill-link.tsx'
import { blocksInWords, keyOf, nameOf, type Outcome, type RunRow } from './run-body.ts'

interface RunRowsProps {
  rows: readonly RunRow[]
  chosen: ReadonlySet<string>
  choose: (chosen: ReadonlySet<string>) => void
  outcomes: Readonly<Record<string, Outcome>>
  /** Keys of the rows whose previews are open. */
  previewed: readonly string[]
  toggle: (key: string) => void
}

export const RunRows = ({ rows, chosen, choose, outcomes, previewed, toggle }: RunRowsProps) => (
  <DataTable
    label="Bills of the month"
    name="billing-run"
    columns={columnsOf(outcomes, previewed, toggle)}
    list={rows}
    rowKey={keyOf}
    selected={chosen}
    select={choose}
    selectLabel={(row) => `Select ${nameOf(row)}`}
    isSelectable={({ state }) => state === 'ready'}
    isMuted={({ state }) => state === 'empty'}
    empty={<Empty title="Nobody to bill">There are no clients, and no billable projects with entries.</Empty>}
  />
)

const columnsOf = (
  outcomes: RunRowsProps['outcomes'],
  previewed: RunRowsProps['previewed'],
  toggle: RunRowsProps['toggle'],
): Column<RunRow>[] => [
  cellColumn('for', 'For', { value: nameOf, width: '200px', phone: 'title' }, (row) => <For row={row} />),
  cellColumn('state', 'State', { value: ({ state }) => STATES[state], minWidth: '260px' }, (row) => (
    <State row={row} outcome={outcomes[keyOf(row)]} />
  )),
  cellColumn('left_out', 'Left out', { value: leftOutOf, width: '110px' }, leftOutInWords),
  cellColumn('last', 'Last bill', { value: ({ last_bill }) => last_bill?.issued_on, width: '165px' }, (row) => (
    <LastBill row={row} />
  )),
  exactCountColumn('entries', 'Entries', ({ entries }) => entries, { width: '80px' }),
  cellColumn(
    'total',
    'Total',
    { value: ({ total, entries }) => (entries === 0 ? null : total), width: '120px', isNumber: true, phone: 'value' },
    ({ total, currency, entries }) =>
      entries === 0 ? '–' : total === null ? 'rate unknown' : billedMoney(total, currency),
  ),
  cellColumn(
    'preview',
    'Preview',
    { width: '100px', phone: 'bare' },
    (row) =>
      row.entries > 0 && (
        <Button
          size="compact-xs"
          variant={previewed.includes(keyOf(row)) ? 'light' : 'default'}
          disabled={row.total === null}
          aria-pressed={previewed.includes(keyOf(row))}
          aria-label={`Preview of ${nameOf(row)}`}
          onClick={() => toggle(keyOf(row))}
        >
          Preview
        </Button>
      ),
  ),
]

const For = ({ row }: { row: RunRow }) => (
  <>
    <Anchor
      component={Link}
      href={row.client ? `/work/clients/${row.client.id}` : `/work/projects/${row.project!.id}`}
      inherit
    >
      <bdi>{nameOf(row)}</bdi>
    </Anchor>
    {!row.client && <Dimmed> · project without a client</Dimmed>}
    {row.basis !== 'cost' && <Dimmed> · {BASIS_TITLES[row.basis]}</Dimmed>}
  </>
)

const NO_MAIL = 'no e-mail address'

const STATES: Record<RunRow['state'], string> = {
  ready: 'ready',
  blocked: 'blocked',
  billed: 'billed',
  empty: 'nothing to bill',
}

function State({ row, outcome }: { row: RunRow; outcome: Outcome | undefined }): ReactNode {
  if (outcome?.is === 'sending') return 'Sending…'
  if (outcome?.is === 'changed' && row.state === 'ready') {
    return (
      <Text inherit style={{ whiteSpace: 'normal' }}>
        Changed since you looked, so nothing was sent. Check it and send it again.
      </Text>
    )
  }
  if (outcome?.is === 'failed' && row.state === 'ready') {
    return (
      <Text inherit c="var(--mantine-color-error)" style={{ whiteSpace: 'normal' }}>
        Not sent: {outcome.message}
      </Text>
    )
  }
  const reason = row.state === 'blocked' ? blocksInWords(row) : row.state === 'ready' && !row.client?.email && NO_MAIL
  // The last one has a column of its own.
  const others = row.bills.filter(({ id }) => id !== row.last_bill?.id)
  return (
    <Group gap={6} wrap="nowrap">
      <Status of={STATES[row.state]} />
      {reason && (
        <Caption lineClamp={2} title={reason} style={{ whiteSpace: 'normal' }}>
          {reason}
        </Caption>
      )}
      {others.map(({ id, number }) => (
        <Text key={id} size="xs" flex="none">
          <BillLink id={id} number={number} />
        </Text>
      ))}
    </Group>
  )
}

const leftOutOf = ({ left_out }: RunRow): number => Object.values(left_out).reduce((sum, left) => sum + left.entries, 0)

function leftOutInWords(row: RunRow): string {
  const entries = leftOutOf(row)
  const isMore = Object.values(row.left_out).some((left) => left.at_least)
  return entries === 0 ? '–' : `${isMore ? 'more than ' : ''}${counted(entries, 'entry', 'entries')}`
}

const LastBill = ({ row: { last_bill } }: { row: RunRow }) =>
  last_bill ? (
    <>
      <BillLink id={last_bill.id} number={last_bill.number} />
      <Caption>
        {dayInWords(last_bill.issued_on)}, {billedMoney(last_bill.total, last_bill.currency)}
      </Caption>
    </>
  ) : (
    'none'
  )
