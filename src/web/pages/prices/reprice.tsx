/** Valuing entries again at the prices that are loaded now: first what would change, then changing it. */
import {
  Alert,
  Button,
  Group,
  Loader,
  Modal,
  Progress,
  ScrollArea,
  SegmentedControl,
  SimpleGrid,
  Stack,
  Table,
  TagsInput,
  Text,
} from '@mantine/core'
import { DateInput } from '@mantine/dates'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { counted } from '../../format/counts.ts'
import { addDays, startOfDay } from '../../format/moments.ts'
import { Failure } from '../../parts/failure.tsx'
import { Count, Money } from '../../parts/figures.tsx'
import { answer, api } from '../../server/api.ts'
import { useSettings } from '../../server/me.ts'
import { asProblem, type Problem } from '../../server/problem.ts'
import { forget } from '../../server/queries.ts'
import { tell } from '../../server/send.ts'
import type { Repricing } from './price.ts'
import { PRICE_CHANGES } from './valued.ts'

type Question = Parameters<typeof api.prices.reprice.post>[0]

export function Reprice({ close }: { close: () => void }) {
  const [question, setQuestion] = useState<Question>({})
  const planned = useQuery({
    queryKey: ['repricing', question],
    queryFn: () => answer(api.prices.reprice.post({ ...question, dry_run: true })),
    // What is confirmed must be what there is now.
    staleTime: 0,
    gcTime: 0,
    retry: false,
  })
  const running = useRepricing(question, close)
  const plan = planned.data
  return (
    <Modal opened onClose={close} title="Value entries again" size="lg">
      <Stack>
        <Text size="sm" c="dimmed">
          At the prices that are loaded now. Entries that are approved, pending or billed never change; each change
          leaves its trace in the entry’s history.
        </Text>
        <Scope change={setQuestion} />
        {planned.isFetching && (
          <Group gap="xs" role="status">
            <Loader size="xs" /> <Text size="sm">Calculating; nothing is changed yet …</Text>
          </Group>
        )}
        {planned.error && <Failure problem={asProblem(planned.error)} retry={planned.refetch} />}
        {plan && !planned.isFetching && <Plan plan={plan} />}
        {running.problem && <Failure problem={running.problem} />}
        {running.isRunning && (
          <Stack gap={4} role="status">
            <Progress value={100} animated aria-label="Valuing" />
            <Text size="sm">{counted(running.done, 'entry', 'entries')} so far. You may close this.</Text>
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
            {plan && plan.entries > 0 ? `Change ${counted(plan.entries, 'entry', 'entries')}` : 'Change entries'}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}

function Scope({ change }: { change: (question: Question) => void }) {
  const { time_zone } = useSettings()
  const [all, setAll] = useState(false)
  const [from, setFrom] = useState<string | null>(null)
  const [to, setTo] = useState<string | null>(null)
  const [models, setModels] = useState<string[]>([])
  const say = (next: { all?: boolean; from?: string | null; to?: string | null; models?: string[] }) => {
    const said = { all, from, to, models, ...next }
    if (!said.all) return change({})
    change({
      all: true,
      ...(said.from ? { starting_at: startOfDay(said.from, time_zone) } : {}),
      ...(said.to ? { ending_at: startOfDay(addDays(said.to, 1), time_zone) } : {}),
      ...(said.models.length > 0 ? { models: said.models } : {}),
    })
  }
  return (
    <Stack gap="xs">
      <SegmentedControl
        aria-label="Which entries"
        value={String(all)}
        onChange={(value) => {
          setAll(value === 'true')
          say({ all: value === 'true' })
        }}
        data={[
          { value: 'false', label: 'Those without a price' },
          { value: 'true', label: 'All that are not locked' },
        ]}
      />
      {all && (
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs">
          <DateInput
            label="From"
            description={`Days in ${time_zone}`}
            placeholder="Ever"
            clearable
            valueFormat="D MMM YYYY"
            value={from}
            onChange={(day) => {
              setFrom(day)
              say({ from: day })
            }}
          />
          <DateInput
            label="To"
            description="Included"
            placeholder="Now"
            clearable
            valueFormat="D MMM YYYY"
            value={to}
            onChange={(day) => {
              setTo(day)
              say({ to: day })
            }}
          />
          <TagsInput
            label="Only these models"
            description="As they were reported; Enter after each."
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
    <Alert variant="light" color="gray" title="Nothing would change">
      {plan.complete
        ? 'Every one of these entries has the value that the prices give now, or still no price.'
        : 'Among those that were looked at so far; there are more.'}
    </Alert>
  ) : (
    <Stack gap="xs">
      <Text size="sm">
        {plan.complete ? '' : 'At least '}
        <b>{counted(plan.entries, 'entry', 'entries')}</b> would change: costs from <Money amount={plan.cost.before} />{' '}
        to <Money amount={plan.cost.after} />, list values from <Money amount={plan.list_value.before} /> to{' '}
        <Money amount={plan.list_value.after} />.
      </Text>
      <ScrollArea.Autosize mah={280} type="auto" viewportProps={{ tabIndex: 0 }}>
        <Table fz="sm" verticalSpacing={4} aria-label="By model">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Model</Table.Th>
              <Table.Th ta="right">Entries</Table.Th>
              <Table.Th ta="right">List value before (USD)</Table.Th>
              <Table.Th ta="right">After (USD)</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {plan.models.map(({ model, entries, list_value }) => (
              <Table.Tr key={model}>
                <Table.Td>{model}</Table.Td>
                <Table.Td ta="right">
                  <Count value={entries} />
                </Table.Td>
                <Table.Td ta="right">
                  <Money amount={list_value.before} />
                </Table.Td>
                <Table.Td ta="right">
                  <Money amount={list_value.after} />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </ScrollArea.Autosize>
    </Stack>
  )

/** Calls as often as it takes; each ends after some seconds. */
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
      tell(`${counted(sum, 'entry', 'entries')} changed.`)
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
