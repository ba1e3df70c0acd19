import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { oneOf, useAddress } from '../../address.ts'
import { URGENT_STATES } from '../../parts/budgets/budget.ts'
import { type BudgetQuery, BudgetTable, useBudgets } from '../../parts/budgets/budget-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Page } from '../../parts/page.tsx'
import { Segmented } from '../../parts/segmented.tsx'
import { useRole } from '../../server/me.ts'
import { BudgetForm } from './budget-form.tsx'

const QUERIES: Record<'active' | 'attention' | 'archived' | 'all', BudgetQuery> = {
  active: {},
  attention: { state: [...URGENT_STATES] },
  archived: { archived: 'only' },
  all: { archived: 'include' },
}

export function BudgetList() {
  const [, navigate] = useLocation()
  const mayChange = useRole('billing', 'admin')
  const [isAdding, setAdding] = useState(false)
  const [{ show: shown }, change] = useAddress({ show: oneOf('active', 'attention', 'archived', 'all') })
  const list = useBudgets(QUERIES[shown])
  const add = mayChange && (
    <Button leftSection={<IconPlus size={16} />} onClick={() => setAdding(true)}>
      New budget
    </Button>
  )
  const isEmpty = list.rows?.length === 0
  return (
    <Page
      title="Budgets"
      lead="How much may be spent in a period, and who is notified when it is nearly used up. Budgets never stop agents."
      actions={!(isEmpty && (shown === 'active' || shown === 'all')) && add}
    >
      <Segmented
        size="xs"
        w="fit-content"
        aria-label="Budgets to show"
        value={shown}
        choose={(value) => change({ show: value === 'active' ? undefined : value })}
        titles={{ active: 'Active', attention: 'Need attention', archived: 'Archived', all: 'All' }}
      />
      <BudgetTable
        label="Budgets"
        list={list}
        empty={
          shown === 'archived' ? (
            <Empty title="No archived budgets">Budgets that are archived are kept here with their alerts.</Empty>
          ) : shown === 'attention' ? (
            <Empty title="No budget needs attention">
              Budgets of which 80% or more is spent in the current period appear here.
            </Empty>
          ) : (
            <Empty title="No budgets yet" action={add}>
              {mayChange
                ? 'A budget shows how much of an amount is spent on a project, a person or a model, forecasts when it will be used up, and notifies people by e-mail before that happens.'
                : 'Budgets of your own entries, and of the projects and clients that you lead, appear here when someone with the billing or admin role adds one.'}
            </Empty>
          )
        }
      />
      {isAdding && <BudgetForm close={() => setAdding(false)} saved={({ id }) => navigate(`/budgets/${id}`)} />}
    </Page>
  )
}
