import { Button, SegmentedControl } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { oneOf, useAddress } from '../../address.ts'
import { BudgetTable, useBudgets } from '../../parts/budgets/budget-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Page } from '../../parts/page.tsx'
import { useRole } from '../../server/me.ts'
import { BudgetForm } from './budget-form.tsx'

export function BudgetList() {
  const [, navigate] = useLocation()
  const mayChange = useRole('billing', 'admin')
  const [isAdding, setAdding] = useState(false)
  const [{ archived }, show] = useAddress({ archived: oneOf('exclude', 'only', 'include') })
  const list = useBudgets({ archived })
  const add = mayChange && (
    <Button leftSection={<IconPlus size={16} />} onClick={() => setAdding(true)}>
      Add budget
    </Button>
  )
  const isEmpty = list.rows?.length === 0
  return (
    <Page
      title="Budgets"
      lead="How much may be spent in a period, and who is notified when it is nearly used up. Budgets never stop agents."
      actions={!(isEmpty && archived !== 'only') && add}
    >
      <SegmentedControl
        size="xs"
        w="fit-content"
        aria-label="Archive status"
        value={archived}
        onChange={(value) => show({ archived: value === 'exclude' ? undefined : (value as typeof archived) })}
        data={[
          { value: 'exclude', label: 'Active' },
          { value: 'only', label: 'Archived' },
          { value: 'include', label: 'All' },
        ]}
      />
      <BudgetTable
        label="Budgets"
        list={list}
        empty={
          archived === 'only' ? (
            <Empty title="No archived budgets">Budgets that are archived are kept here with their alerts.</Empty>
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
