/** The list of rules in the order in which they are evaluated. Drag to reorder. */
import { Anchor, Button, Stack } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { IconPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import { ApplyRules } from '../../parts/apply-rules.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Failure } from '../../parts/failure.tsx'
import { FormModal } from '../../parts/form-modal.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Page } from '../../parts/page.tsx'
import { ProposedRules } from '../../parts/proposed-rules.tsx'
import { askRules, type Rule } from '../../parts/rule.ts'
import { SampleTrial } from '../../parts/rule-sample.tsx'
import { Note } from '../../parts/texts.tsx'
import { answer, api } from '../../server/api.ts'
import { useRole } from '../../server/me.ts'
import { queryClient } from '../../server/queries.ts'
import { useSend } from '../../server/send.ts'
import { SortableRules } from './sortable-rules.tsx'

const rules = api['placement-rules']

export function RuleList() {
  const mayChange = useRole('admin')
  const [open, setOpen] = useState<'apply' | 'sample' | null>(null)
  const close = () => setOpen(null)
  const { data, error, refetch } = useQuery({ queryKey: ['rules'], queryFn: askRules })
  const order = useOrder()
  const list = data?.data
  return (
    <Page
      title="Rules"
      lead={
        mayChange
          ? 'Rules assign entries whose report names no project or ticket. The first matching rule applies. Drag rules to reorder them.'
          : 'Rules assign entries whose report names no project or ticket. The first matching rule applies. Only admins can change rules.'
      }
      actions={
        <>
          <Button variant="default" onClick={() => setOpen('sample')}>
            Test rules
          </Button>
          {mayChange && list && list.length > 0 && (
            <Button variant="default" onClick={() => setOpen('apply')}>
              Apply to entries
            </Button>
          )}
          {mayChange && (
            <Button component={Link} href="/rules/new" leftSection={<IconPlus size={16} />}>
              New rule
            </Button>
          )}
        </>
      }
    >
      <ProposedRules />
      {error && <Failure error={error} retry={refetch} />}
      {!list && !error && <Loading />}
      {list?.length === 0 && <NoRules mayChange={mayChange} />}
      {list && list.length > 0 && (
        <SortableRules rules={list} mayChange={mayChange} order={(ids) => order.mutate({ ids, before: list })} />
      )}
      <ApplyRules isOpen={open === 'apply'} close={close} />
      <FormModal opened={open === 'sample'} onClose={close} title="Test rules on a sample" size="lg">
        <Stack>
          <Note>Describe an entry to see which rule matches it and why the others don’t. Nothing is saved.</Note>
          <SampleTrial tried={{}} />
        </Stack>
      </FormModal>
    </Page>
  )
}

const NoRules = ({ mayChange }: { mayChange: boolean }) => (
  <Empty
    title="No rules yet"
    action={
      mayChange ? (
        <Button component={Link} href="/rules/new" variant="light">
          New rule
        </Button>
      ) : undefined
    }
  >
    Without rules, entries go to the project or ticket that their report names. All others stay in{' '}
    <Anchor component={Link} href="/unattributed" inherit>
      Unattributed
    </Anchor>
    . A rule assigns entries by what they have in common, such as a repository, branch or agent.
  </Empty>
)

interface NewOrder {
  ids: string[]
  before: readonly Rule[]
}

/** Reorders optimistically: reverts if the server rejects the order, and offers to undo. */
function useOrder() {
  const send = useSend({
    send: ({ ids }: NewOrder) => answer(rules.order.put({ rules: ids })),
    changes: ['rules', 'audit'],
    after: (_, { before }) => {
      const id = notifications.show({
        autoClose: 8_000,
        color: 'teal',
        message: (
          <>
            Rule order saved.{' '}
            <Button
              size="compact-xs"
              variant="subtle"
              onClick={() => {
                notifications.hide(id)
                mutate({ ids: before.map((rule) => rule.id), before: [] }, true)
              }}
            >
              Undo
            </Button>
          </>
        ),
      })
    },
  })
  const undo = useSend({
    send: ({ ids }: NewOrder) => answer(rules.order.put({ rules: ids })),
    changes: ['rules', 'audit'],
    done: () => 'Rule order restored.',
  })
  const mutate = (order: NewOrder, isUndo = false) => {
    place(order.ids)
    ;(isUndo ? undo : send).mutate(order, {
      onError: () => void queryClient.invalidateQueries({ queryKey: ['rules'] }),
    })
  }
  return { mutate: (order: NewOrder) => mutate(order) }
}

/** Reorders the cached rules before the server has answered. */
function place(ids: readonly string[]) {
  queryClient.setQueryData<Awaited<ReturnType<typeof askRules>>>(['rules'], (known) => {
    if (!known) return known
    const byId = new Map(known.data.map((rule) => [rule.id, rule]))
    return { ...known, data: ids.flatMap((id, index) => ({ ...byId.get(id)!, position: index + 1 })) }
  })
}
