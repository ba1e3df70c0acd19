import { Badge, Button, Group, Text } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { spanInWords } from '../../parts/budgets/budget.ts'
import { cellColumn } from '../../parts/columns.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Money } from '../../parts/figures.tsx'
import { Page } from '../../parts/page.tsx'
import { Caption, Dimmed } from '../../parts/texts.tsx'
import { answer, apiUntil } from '../../server/api.ts'
import { useList } from '../../server/list.ts'
import { currentTerms, feeInWords, holdersInWords, type Plan, STATE_COLORS } from './plan.ts'
import { NewPlanForm } from './plan-form.tsx'
import { FundingRules } from './rules.tsx'

export function PlanList() {
  const [, navigate] = useLocation()
  const [isAdding, setAdding] = useState(false)
  const list = useList(['plans', 'list'], (_, signal) => answer(apiUntil(signal).plans.get()))
  const add = (
    <Button leftSection={<IconPlus size={16} />} onClick={() => setAdding(true)}>
      New plan
    </Button>
  )
  return (
    <Page
      title="Plans"
      lead="Subscriptions and credits that you pay for in addition to API prices: what they cost, and who uses them."
      actions={list.rows?.length !== 0 && add}
    >
      <DataTable
        label="Plans"
        name="plans"
        columns={COLUMNS}
        list={list}
        rowKey={({ id }) => id}
        open={({ id }) => navigate(`/plans/${id}`)}
        isMuted={({ state }) => state === 'ended'}
        empty={
          <Empty title="No plans yet" action={add}>
            Add the subscriptions that your agents run on, such as Claude Max or Copilot, with their fee and the people
            who use them. You can start from a table of common plans.
          </Empty>
        }
      />
      <FundingRules />
      {isAdding && <NewPlanForm close={() => setAdding(false)} saved={({ id }) => navigate(`/plans/${id}`)} />}
    </Page>
  )
}

const COLUMNS: Column<Plan>[] = [
  cellColumn('name', 'Plan', { value: ({ name }) => name, phone: 'title' }, ({ name, vendor, product, state }) => (
    <>
      <Group gap={6} wrap="nowrap">
        <Text span inherit fw={600} truncate>
          <bdi>{name}</bdi>
        </Text>
        {state !== 'active' && <Badge color={STATE_COLORS[state]}>{state}</Badge>}
      </Group>
      <Caption fw={400} truncate>
        <bdi>{`${product}, ${vendor}`}</bdi>
      </Caption>
    </>
  )),
  cellColumn('people', 'Used by', { value: holdersInWords, width: '220px', phone: 'bare' }, (plan) => (
    <bdi>{holdersInWords(plan)}</bdi>
  )),
  cellColumn('fee', 'Fee', { value: (plan) => currentTerms(plan).fee, width: '240px', phone: 'bare' }, (plan) =>
    feeInWords(currentTerms(plan)),
  ),
  cellColumn(
    'period',
    'Current period',
    { value: ({ current_period }) => current_period?.from, width: '220px', phone: 'bare' },
    ({ current_period }) => (current_period ? spanInWords(current_period) : <Dimmed>None</Dimmed>),
  ),
  cellColumn(
    'cost',
    'Period fee (USD)',
    { value: ({ current_period }) => current_period?.fee_usd ?? null, width: '140px', phone: 'value', isNumber: true },
    ({ current_period }) => current_period && <Money amount={current_period.fee_usd} />,
  ),
]
