/** Reprices entries at current prices: previews the changes, then applies them. */
import { Alert, Button, Group, Loader, Progress, SimpleGrid, Stack, TagsInput, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { counted } from '../../format/counts.ts'
import { addDays, startOfDay } from '../../format/moments.ts'
import { countColumn, moneyColumn, textColumn } from '../../parts/columns.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { DateField } from '../../parts/date-field.tsx'
import { Failure } from '../../parts/failure.tsx'
import { Money } from '../../parts/figures.tsx'
import { FormModal } from '../../parts/form-modal.tsx'
import { Segmented } from '../../parts/segmented.tsx'
import { Note } from '../../parts/texts.tsx'
import { answer, api, apiQuery } from '../../server/api.ts'
import { useSettings } from '../../server/me.ts'
import { asProblem, type Problem } from '../../server/problem.ts'
import { forget } from '../../server/queries.ts'
import { notify } from '../../server/send.ts'
import type { Repricing } from './price.ts'
import { PRICE_CHANGES } from './valuation.ts'

type Question = Parameters<typeof api.prices.reprice.post>[0]

export function Reprice({ close }: { close: () => void }) {
  const [question, setQuestion] = useState<Question>({})
  const planned = useQuery({
    ...apiQuery(['repricing', question], (api) => api.prices.reprice.post({ ...question, dry_run: true })),
    // The preview that is confirmed must be current.
    staleTime: 0,
    gcTime: 0,
    retry: false,
  })
  const running = useRepricing(question, close)
  const plan = planned.data
  return (
    <FormModal opened onClose={close} title="Reprice entries" size="lg">
      <Stack>
        <Note>
          Recalculates list values at current prices. Approved, pending and billed entries never change. Each change is
          recorded in the entry’s history.
        </Note>
        <Scope change={setQuestion} />
        {planned.isFetching && (
          <Group gap="xs" role="status">
            <Loader size="xs" /> <Text size="sm">Loading preview. Nothing has changed yet…</Text>
          </Group>
        )}
        {planned.error && <Failure error={planned.error} retry={planned.refetch} />}
        {plan && !planned.isFetching && <Plan plan={plan} />}
        {running.problem && <Failure error={running.problem} />}
        {running.isRunning && (
          <Stack gap={4} role="status">
            <Progress value={100} animated aria-label="Repricing" />
            <Text size="sm">{counted(running.done, 'entry', 'entries')} so far. You can close this dialog.</Text>
          </Stack>
        )}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={close}>
            {running.isRunning ? 'Close' : 'Cancel'}
          </Button>
          <Button
            disabled={!plan || planned.isFetching || (plan.entries === 0 && plan.complete)}
            loading={running.isRunning}
            onClick={running.run}
          >
            {plan && plan.entries > 0 ? `Reprice ${counted(plan.entries, 'entry', 'entries')}` : 'Reprice entries'}
          </Button>
        </Group>
      </Stack>
    </FormModal>
  )
}

function Scope({ change }: { change: (question: Question) => void }) {
  const { time_zone } = useSettings()
  const [all, setAll] = useState(false)
  const [from, setFrom] = useState<string | null>(null)
  const [to, setTo] = useState<string | null>(null)
  const [models, setModels] = useState<string[]>([])
  const say = (next: { all?: boolean; from?: string | null; to?: string | null; models?: string[] }) => {
    const values = { all, from, to, models, ...next }
    if (!values.all) return change({})
    change({
      all: true,
      ...(values.from ? { starting_at: startOfDay(values.from, time_zone) } : {}),
      ...(values.to ? { ending_at: startOfDay(addDays(values.to, 1), time_zone) } : {}),
      ...(values.models.length > 0 ? { models: values.models } : {}),
    })
  }
  return (
    <Stack gap="xs">
      <Segmented
        aria-label="Entries to reprice"
        value={all ? 'true' : 'false'}
        choose={(value) => {
          setAll(value === 'true')
          say({ all: value === 'true' })
        }}
        titles={{ false: 'Unpriced entries', true: 'All unlocked entries' }}
      />
      {all && (
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs">
          <DateField
            label="From"
            description={`Days in ${time_zone}`}
            placeholder="Any time"
            clearable
            value={from}
            onChange={(day) => {
              setFrom(day)
              say({ from: day })
            }}
          />
          <DateField
            label="To"
            description="Inclusive"
            placeholder="Now"
            clearable
            value={to}
            onChange={(day) => {
              setTo(day)
              say({ to: day })
            }}
          />
          <TagsInput
            label="Models"
            description="Names as reported. Press Enter after each. Leave empty for all."
            value={models}
            onChange={(names) => {
              setModels(names)
              say({ models: names })
            }}
          />
        </SimpleGrid>
      )}
    </Stack>
  )
}

const Plan = ({ plan }: { plan: Repricing }) =>
  plan.entries === 0 ? (
    <Alert variant="light" color="gray" title="No changes">
      {plan.complete
        ? 'These entries already have the list value that current prices give, or still have no price.'
        : 'None among the entries checked so far. There are more.'}
    </Alert>
  ) : (
    <Stack gap="xs">
      <Text size="sm">
        {plan.complete ? '' : 'At least '}
        <b>{counted(plan.entries, 'entry', 'entries')}</b> would change: cost from <Money amount={plan.cost.before} />{' '}
        to <Money amount={plan.cost.after} />, list value from <Money amount={plan.list_value.before} /> to{' '}
        <Money amount={plan.list_value.after} />.
      </Text>
      <DataTable
        label="By model"
        name="repriced-models"
        columns={COLUMNS}
        list={plan.models}
        rowKey={({ model }) => model}
        fold={10}
        empty={null}
      />
    </Stack>
  )

const COLUMNS: Column<Repricing['models'][number]>[] = [
  textColumn('model', 'Model', ({ model }) => model, { phone: 'title' }),
  countColumn('entries', 'Entries', ({ entries }) => entries, { width: '90px' }),
  moneyColumn('before', 'List value before (USD)', ({ list_value }) => list_value.before, { width: '180px' }),
  moneyColumn('after', 'After (USD)', ({ list_value }) => list_value.after, { width: '110px', phone: 'value' }),
]

/** Repeats the call until all entries are repriced; each call stops after some seconds. */
function useRepricing(question: Question, after: () => void) {
  const [isRunning, setRunning] = useState(false)
  const [done, setDone] = useState(0)
  const [problem, setProblem] = useState<Problem | null>(null)
  const run = async () => {
    setRunning(true)
    setProblem(null)
    let page: string | null = null
    let sum = 0
    try {
      for (;;) {
        const changed: Repricing = await answer(
          api.prices.reprice.post(page === null ? question : { ...question, page }),
        )
        sum += changed.entries
        setDone(sum)
        if (changed.complete) break
        page = changed.next_page
      }
      notify(`${counted(sum, 'entry', 'entries')} repriced.`)
      after()
    } catch (error) {
      setProblem(asProblem(error))
    } finally {
      setRunning(false)
      await forget(PRICE_CHANGES)
    }
  }
  return { isRunning, done, problem, run: () => void run() }
}
