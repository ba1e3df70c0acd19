/** Applies rules to existing entries: first a preview of the moves, then the moves. */
import { Alert, Button, Group, Loader, Modal, Progress, Stack, Switch, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { counted } from '../format/counts.ts'
import { answer, api, apiQuery, type Body } from '../server/api.ts'
import { asProblem, type Problem } from '../server/problem.ts'
import { forget } from '../server/queries.ts'
import { notify } from '../server/send.ts'
import { cellColumn, countColumn, momentColumn, moneyColumn, textColumn } from './columns.tsx'
import { type Column, DataTable } from './data-table.tsx'
import { Failure } from './failure.tsx'
import { Money } from './figures.tsx'
import { Caption } from './texts.tsx'

const { apply } = api['placement-rules']

export type ApplyFilter = NonNullable<Parameters<typeof apply.post>[1]>['query']
type Applied = Body<Awaited<ReturnType<typeof apply.post>>>
type Scope = Parameters<typeof apply.post>[0]['scope']
type Where = Applied['groups'][number]['to']

/** The number of individual moves in the preview. */
const LISTED = 100

interface ApplyRulesProps {
  isOpen: boolean
  close: () => void
  /** Narrows the entries; all of them by default. */
  filter?: ApplyFilter
}

export const ApplyRules = ({ isOpen, close, ...props }: ApplyRulesProps) => (
  <Modal opened={isOpen} onClose={close} title="Apply rules to existing entries" size="xl">
    <Planned close={close} {...props} />
  </Modal>
)

function Planned({ close, filter = {} }: Omit<ApplyRulesProps, 'isOpen'>) {
  const [scope, setScope] = useState<Scope>('unattributed')
  const planned = useQuery({
    // Without a list, a call uses its whole time limit for the totals.
    ...apiQuery(['rule-application', scope, filter], (api) =>
      api['placement-rules'].apply.post({ scope, dry_run: true, limit: 0 }, { query: filter }),
    ),
    // The preview must match the current entries.
    staleTime: 0,
    gcTime: 0,
  })
  const moving = useMoving({ scope, filter, after: close })
  return (
    <Stack>
      <Switch
        label="Include entries that rules already assigned"
        description="Those that no rule matches any more become unattributed. Manual and reported assignments stay."
        checked={scope === 'rule_placed'}
        onChange={({ currentTarget }) => setScope(currentTarget.checked ? 'rule_placed' : 'unattributed')}
        disabled={moving.isRunning}
      />
      {planned.isPending && (
        <Group gap="xs" role="status">
          <Loader size="xs" /> <Text size="sm">Loading preview…</Text>
        </Group>
      )}
      {planned.error && <Failure error={planned.error} retry={planned.refetch} />}
      {planned.data && <Plan plan={planned.data} scope={scope} filter={filter} />}
      {moving.problem && <Failure error={moving.problem} />}
      {moving.isRunning && (
        <Stack gap={4} role="status">
          <Progress value={100} animated aria-label="Applying rules" />
          <Text size="sm">{counted(moving.moved, 'entry', 'entries')} moved so far. You can close this dialog.</Text>
        </Stack>
      )}
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={close}>
          {moving.isRunning ? 'Close' : 'Cancel'}
        </Button>
        <Button
          disabled={!planned.data || planned.data.entries === 0 || planned.isFetching}
          loading={moving.isRunning}
          onClick={moving.run}
        >
          {planned.data && planned.data.entries > 0
            ? `Apply to ${counted(planned.data.entries, 'entry', 'entries')}`
            : 'Apply rules'}
        </Button>
      </Group>
    </Stack>
  )
}

/** Repeats the call, which has a time limit, until all entries are moved. */
function useMoving({ scope, filter, after }: { scope: Scope; filter: ApplyFilter; after: () => void }) {
  const [isRunning, setRunning] = useState(false)
  const [moved, setMoved] = useState(0)
  const [problem, setProblem] = useState<Problem | null>(null)
  const run = async () => {
    setRunning(true)
    setProblem(null)
    let page: string | undefined
    let sum = 0
    try {
      for (;;) {
        const done = await answer(apply.post({ scope, ...(page === undefined ? {} : { page }) }, { query: filter }))
        sum += done.entries
        setMoved(sum)
        if (done.complete) break
        page = done.next_page ?? undefined
      }
      notify(`${counted(sum, 'entry', 'entries')} moved.`)
      after()
    } catch (error) {
      setProblem(asProblem(error))
    } finally {
      setRunning(false)
      await forget(['entries', 'reports', 'rules', 'tickets'])
    }
  }
  return { isRunning, moved, problem, run: () => void run() }
}

function Plan({ plan, scope, filter }: { plan: Applied; scope: Scope; filter: ApplyFilter }) {
  const [isListed, setListed] = useState(false)
  if (plan.entries === 0) {
    return (
      <Alert variant="light" color="gray" title="No entries would move">
        No enabled rule matches these entries, or they are locked because they are approved or billed.
      </Alert>
    )
  }
  return (
    <Stack gap="xs">
      <Text size="sm">
        {plan.complete ? '' : 'At least '}
        <b>{counted(plan.entries, 'entry', 'entries')}</b> would move, with a cost of <Money amount={plan.cost} />
        {plan.unpriced_entries > 0 &&
          `, including ${counted(plan.unpriced_entries, 'unpriced entry', 'unpriced entries')}`}
        .
      </Text>
      <DataTable
        label="Planned moves"
        name="planned-moves"
        columns={GROUP_COLUMNS}
        list={plan.groups}
        rowKey={({ from, to, rule }) => [whereText(from), whereText(to), rule?.id].join('>')}
        fold={10}
        empty={null}
      />
      {isListed ? (
        <Moves scope={scope} filter={filter} />
      ) : (
        <Button variant="subtle" size="compact-sm" w="fit-content" onClick={() => setListed(true)}>
          Show individual entries
        </Button>
      )}
    </Stack>
  )
}

function Moves({ scope, filter }: { scope: Scope; filter: ApplyFilter }) {
  const { data, error, refetch } = useQuery({
    ...apiQuery(['rule-moves', scope, filter], (api) =>
      api['placement-rules'].apply.post({ scope, dry_run: true, limit: LISTED }, { query: filter }),
    ),
    staleTime: 0,
  })
  if (error) return <Failure error={error} retry={refetch} />
  if (!data) return <Loader size="xs" aria-label="Loading" />
  return (
    <>
      <DataTable
        label="Entries that would move"
        name="moved-entries"
        columns={MOVE_COLUMNS}
        list={data.moves}
        rowKey={({ id }) => id}
        fold={10}
        empty={null}
      />
      {!data.complete && <Caption>The first {LISTED} of them.</Caption>}
    </>
  )
}

const GROUP_COLUMNS: Column<Applied['groups'][number]>[] = [
  textColumn('from', 'From', ({ from }) => whereText(from), { phone: 'bare', width: '22%' }),
  textColumn('to', 'To', ({ to }) => whereText(to), { phone: 'title', width: '22%' }),
  cellColumn('rule', 'Rule', { value: ({ rule }) => rule?.name }, ({ rule }) => (
    <bdi>{rule?.name ?? 'named in the report'}</bdi>
  )),
  countColumn('entries', 'Entries', ({ entries }) => entries, { width: '90px' }),
  moneyColumn('cost', 'Cost (USD)', ({ cost }) => cost, { width: '110px', phone: 'value' }),
]

const MOVE_COLUMNS: Column<Applied['moves'][number]>[] = [
  momentColumn('started', 'Started', ({ started_at }) => started_at, { width: '150px', phone: 'bare' }),
  textColumn('from', 'From', ({ from }) => whereText(from), { phone: 'bare' }),
  cellColumn('to', 'To', { value: ({ to }) => whereText(to), phone: 'title' }, ({ to, note }) => (
    <>
      {whereText(to)}
      {note && <Caption>{note}</Caption>}
    </>
  )),
  moneyColumn('cost', 'Cost (USD)', ({ cost }) => cost, { width: '110px', phone: 'value' }),
]

const whereText = ({ project, ticket }: Where): string =>
  [project?.key, ticket?.key].filter(Boolean).join(' · ') || 'unattributed'
