/** A table of budgets with their progress: all of them, or those of a project or client. */
import { Badge, Group, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { useLocation } from 'wouter'
import { BASIS_TITLES } from '../../../shared/cost-basis.ts'
import { type List, useApiList } from '../../server/list.ts'
import { cellColumn } from '../columns.tsx'
import { type Column, DataTable } from '../data-table.tsx'
import { Caption, SectionTitle } from '../texts.tsx'
import { type Budget, type BudgetState, PERIODS, scopeInWords, spanInWords, stateInWords } from './budget.ts'
import { BudgetProgress, BudgetStateBadge } from './budget-progress.tsx'

export interface BudgetQuery {
  project?: string[]
  client?: string[]
  ticket?: string[]
  agent_manager?: string[]
  archived?: 'exclude' | 'include' | 'only'
  state?: BudgetState[]
}

/** Entries of a new budget are counted within seconds, and the page shows the result without a reload. */
export const COUNTING_MS = 2_000

export const useBudgets = (query: BudgetQuery): List<Budget> =>
  useApiList(['budgets', 'list', query], (api, paging) => api.budgets.get({ query: { ...query, ...paging } }), {
    refetchIntervalMs: COUNTING_MS,
    isWaiting: ({ current, archived_at }) => isBeingCounted(current, archived_at),
  })

const isBeingCounted = (current: Budget['current'], archivedAt: string | null) =>
  archivedAt === null && current?.complete === false

interface BudgetTableProps {
  label: string
  list: List<Budget>
  empty: ReactNode
}

export function BudgetTable({ label, list, empty }: BudgetTableProps) {
  const [, navigate] = useLocation()
  return (
    <DataTable
      label={label}
      name="budgets"
      columns={COLUMNS}
      list={list}
      rowKey={({ id }) => id}
      open={({ id }) => navigate(`/budgets/${id}`)}
      isMuted={({ archived_at }) => archived_at !== null}
      empty={empty}
    />
  )
}

/** The budgets of a project, client, ticket or person; nothing if there are none. */
export function BudgetsOf({ query, label }: { query: BudgetQuery; label: string }) {
  const list = useBudgets(query)
  if (!list.error && !list.rows?.length) return null
  return (
    <Stack gap="xs">
      <SectionTitle>Budgets</SectionTitle>
      <BudgetTable label={label} list={list} empty={null} />
    </Stack>
  )
}

const COLUMNS: Column<Budget>[] = [
  cellColumn(
    'name',
    'Budget',
    { value: ({ name }) => name, phone: 'title' },
    ({ name, scope, measure, basis, archived_at }) => (
      <>
        <Group gap={6} wrap="nowrap">
          <Text span inherit fw={600} truncate>
            <bdi>{name}</bdi>
          </Text>
          {archived_at && <Badge color="gray">archived</Badge>}
        </Group>
        <Caption fw={400} truncate>
          <bdi>{scopeInWords(scope)}</bdi>
          {measure !== 'tokens' && basis !== 'cost' && ` · ${BASIS_TITLES[basis]}`}
        </Caption>
      </>
    ),
  ),
  cellColumn(
    'period',
    'Period',
    { value: ({ current }) => current?.from, width: '236px', phone: 'bare' },
    ({ period, current, archived_at }) => (
      <>
        {current ? spanInWords(current) : archived_at === null && 'No current period'}
        <Caption>{PERIODS[period]}</Caption>
      </>
    ),
  ),
  {
    key: 'spent',
    title: 'Spent',
    // The share: budgets in dollars and in tokens are in one list.
    value: ({ current }) => (current && current.available > 0 ? current.spent / current.available : null),
    width: '270px',
    phone: 'bare',
    cell: ({ measure, current }) => current && <BudgetProgress use={{ measure, ...current }} />,
  },
  cellColumn(
    'state',
    'State',
    {
      value: ({ current, archived_at }) => (current && archived_at === null ? stateInWords(current) : null),
      width: '140px',
      phone: 'value',
    },
    ({ measure, current, archived_at }) =>
      current && archived_at === null && <BudgetStateBadge use={{ measure, ...current }} />,
  ),
]
