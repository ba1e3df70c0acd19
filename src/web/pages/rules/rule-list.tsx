/** The rules in the order in which they are tried, which dragging changes. */
import { Anchor, Button, Modal, Stack, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import { ApplyRules } from '../../parts/apply-rules.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Failure } from '../../parts/failure.tsx'
import { Page } from '../../parts/page.tsx'
import { askRules, type Rule } from '../../parts/rule.ts'
import { SampleTrial } from '../../parts/rule-sample.tsx'
import { Waiting } from '../../parts/waiting.tsx'
import { answer, api } from '../../server/api.ts'
import { useRole } from '../../server/me.ts'
import { asProblem } from '../../server/problem.ts'
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
          ? 'They place entries that nobody named a project or ticket for. The first one that takes an entry places it: drag them into the order you want.'
          : 'They place entries that nobody named a project or ticket for. The first one that takes an entry places it. Admins change them.'
      }
      actions={
        <>
          <Button variant="default" onClick={() => setOpen('sample')}>
            Try on a sample
          </Button>
          {mayChange && list && list.length > 0 && (
            <Button variant="default" onClick={() => setOpen('apply')}>
              Apply to entries
            </Button>
          )}
          {mayChange && (
            <Button component={Link} href="/rules/new">
              New rule
            </Button>
          )}
        </>
      }
    >
      {error && <Failure problem={asProblem(error)} retry={refetch} />}
      {!list && !error && <Waiting />}
      {list?.length === 0 && <NoRules mayChange={mayChange} />}
      {list && list.length > 0 && (
        <SortableRules rules={list} mayChange={mayChange} order={(ids) => order.mutate({ ids, before: list })} />
      )}
      <ApplyRules isOpen={open === 'apply'} close={close} />
      <Modal opened={open === 'sample'} onClose={close} title="Try the rules on a sample" size="lg">
        <Stack>
          <Text size="sm" c="dimmed">
            Say what an entry would hold, and here stands which rule takes it and why the others do not. Nothing is
            written.
          </Text>
          <SampleTrial tried={{}} />
        </Stack>
      </Modal>
    </Page>
  )
}

const NoRules = ({ mayChange }: { mayChange: boolean }) => (
  <Empty
    title="No rules yet"
    action={
      mayChange ? (
        <Button component={Link} href="/rules/new" variant="light">
          Make the first rule
        </Button>
      ) : undefined
    }
  >
    Until there is one, entries go where their report says, and the others wait in{' '}
    <Anchor component={Link} href="/unattributed" inherit underline="always">
      Unattributed
    </Anchor>
    . A rule places them by what they have in common: a repository, a branch, an agent.
  </Empty>
)

interface NewOrder {
  ids: string[]
  before: readonly Rule[]
}

/** Shown at once, taken back where the server refuses, and undone on request. */
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
            The rules are tried in the new order.{' '}
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
    done: () => 'The order is as it was.',
  })
  const mutate = (order: NewOrder, isUndo = false) => {
    place(order.ids)
    ;(isUndo ? undo : send).mutate(order, {
      onError: () => void queryClient.invalidateQueries({ queryKey: ['rules'] }),
    })
  }
  return { mutate: (order: NewOrder) => mutate(order) }
}

/** Puts the rules that were fetched into an order, before the server has answered. */
function place(ids: readonly string[]) {
  queryClient.setQueryData<Awaited<ReturnType<typeof askRules>>>(['rules'], (known) => {
    if (!known) return known
    const byId = new Map(known.data.map((rule) => [rule.id, rule]))
    return { ...known, data: ids.flatMap((id, index) => ({ ...byId.get(id)!, position: index + 1 })) }
  })
}
