/** What billing and admins can do with a budget. */
import { Button, Menu, Text } from '@mantine/core'
import { useState } from 'react'
import type { Budget } from '../../parts/budgets/budget.ts'
import { ConfirmChange } from '../../parts/confirm.tsx'
import { MoreActions } from '../../parts/more-actions.tsx'
import { answer, api } from '../../server/api.ts'
import { useSend } from '../../server/send.ts'
import { BudgetForm } from './budget-form.tsx'
import type { People } from './budget-values.ts'

export function BudgetActions({ budget, people }: { budget: Budget; people: People }) {
  const [open, setOpen] = useState<'edit' | 'archive' | null>(null)
  const { id, name } = budget
  const isArchived = budget.archived_at !== null
  const test = useSend({
    send: () => answer(api.budgets({ id }).test.post()),
    changes: [],
    done: ({ recipients, failed }) => {
      const sent = recipients.length > 0 ? `Test alert sent to ${recipients.join(', ')}.` : ''
      if (failed.length > 0) {
        const refused = failed.map(({ email, answer }) => `${email} (${answer})`).join(', ')
        return `The mail server did not accept the test alert for ${refused}. ${sent}`
      }
      return sent || 'No test alert was sent: no threshold notifies anybody who wants alerts by e-mail.'
    },
  })
  return (
    <>
      {!isArchived && (
        <Button variant="default" onClick={() => setOpen('edit')}>
          Edit
        </Button>
      )}
      <MoreActions isBusy={test.isPending}>
        <Menu.Item onClick={() => test.mutate()}>Send test alert</Menu.Item>
        <Menu.Item onClick={() => setOpen('archive')}>{isArchived ? 'Restore' : 'Archive'}</Menu.Item>
      </MoreActions>
      {open === 'edit' && <BudgetForm budget={budget} people={people} close={() => setOpen(null)} />}
      <ConfirmChange
        isOpen={open === 'archive'}
        close={() => setOpen(null)}
        title={`${isArchived ? 'Restore' : 'Archive'} the budget ${name}?`}
        action={isArchived ? 'Restore' : 'Archive'}
        send={(): Promise<Budget> =>
          answer(isArchived ? api.budgets({ id }).restore.post() : api.budgets({ id }).archive.post())
        }
        changes={['budgets', 'audit']}
        done={() => `Budget ${name} ${isArchived ? 'restored' : 'archived'}.`}
      >
        <Text size="sm">
          {isArchived
            ? 'Its entries are counted again, and thresholds that are already reached cause an alert at once if they have not yet.'
            : 'It is kept with its alerts, but counts no new entries and notifies nobody. You can restore it.'}
        </Text>
      </ConfirmChange>
    </>
  )
}
