/** One thing done with many entries: what it would do, doing it, and what was refused. */
import { Alert, Button, Group, Loader, Modal, Stack, Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { count, counted } from '../../format/counts.ts'
import { money } from '../../format/money.ts'
import { asProblem, type Problem, sentence } from '../../server/problem.ts'
import { tell, useSend } from '../../server/send.ts'
import { Failure } from '../failure.tsx'
import { isChosen, NO_PLACE, PlaceFields, placeBody } from '../place-fields.tsx'
import { tellUndo } from '../undo.tsx'
import { type Action, type ActionResults, act, CHANGED_BY_ENTRIES, type Chosen, type Entry } from './entry.ts'
import { Reason } from './reason.tsx'
import { Refused } from './refused.tsx'

export type ManyKind = Action['action']

interface ManyDialogueProps {
  kind: ManyKind
  chosen: Chosen
  /** What the list shows, to name what was refused. */
  rows: readonly Entry[]
  close: (isDone: boolean) => void
}

const WORDS: Record<ManyKind, { title: string; button: string; done: string; means: string }> = {
  approve: {
    title: 'Approve',
    button: 'Approve',
    done: 'approved',
    means: 'Their figures and places are fixed from then on.',
  },
  reject: {
    title: 'Reject',
    button: 'Reject',
    done: 'rejected',
    means: 'They go on no bill. The people whose entries they are see the reason.',
  },
  reopen: { title: 'Re-open', button: 'Re-open', done: 're-opened', means: 'They can be approved and billed again.' },
  withdraw_approval: {
    title: 'Withdraw the approval',
    button: 'Withdraw',
    done: 'no longer approved',
    means: 'Their figures and places can change again.',
  },
  place: {
    title: 'Place',
    button: 'Place',
    done: 'placed',
    means: 'What a person places stays: neither rules nor later reports of their sessions move it.',
  },
}

/** What takes back what was done. Placing has none: where each was before is in its history. */
const UNDO: Partial<Record<ManyKind, { action: ManyKind; label: string }>> = {
  approve: { action: 'withdraw_approval', label: 'Withdraw the approval' },
  reject: { action: 'reopen', label: 'Re-open' },
}

/** So long nothing was typed before the server is asked what would be done. */
const PAUSE_MS = 250

export function ManyDialogue({ kind, chosen, rows, close }: ManyDialogueProps) {
  const [reason, setReason] = useState('')
  const [place, setPlace] = useState(NO_PLACE)
  const [results, setResults] = useState<ActionResults | null>(null)
  const [problem, setProblem] = useState<Problem | null>(null)
  const words = WORDS[kind]
  const isComplete = kind === 'place' ? isChosen(place) : kind !== 'reject' || reason.trim() !== ''
  const action = actionOf(kind, place, reason)
  const plan = usePlan(chosen, action, isComplete)
  const send = useSend({
    send: () => act(chosen, action),
    changes: CHANGED_BY_ENTRIES,
    after: (done) => {
      tellDone(kind, done)
      if (done.refused > 0) setResults(done)
      else close(true)
    },
    quiet: true,
  })
  if (results) return <Results kind={kind} results={results} rows={rows} close={() => close(true)} />
  return (
    <Modal opened onClose={() => close(false)} title={`${words.title} ${askedFor(chosen, plan.data)}`}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          setProblem(null)
          send.mutate(undefined, { onError: setProblem })
        }}
      >
        <Stack>
          {kind === 'place' && <PlaceFields value={place} change={setPlace} errors={issuesOf(plan.error)} />}
          {kind === 'reject' && <Reason value={reason} change={setReason} />}
          <Text size="sm" c="dimmed">
            {words.means}
          </Text>
          <Plan kind={kind} plan={plan} isComplete={isComplete} rows={rows} />
          {problem && <Failure problem={problem} />}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={() => close(false)}>
              Cancel
            </Button>
            <Button
              type="submit"
              color={kind === 'reject' ? 'red' : undefined}
              loading={send.isPending}
              disabled={!isComplete || !plan.data || plan.isFetching || plan.data.done === 0}
            >
              {words.button} {plan.data && isComplete ? counted(plan.data.done, 'entry', 'entries') : ''}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}

function actionOf(kind: ManyKind, place: typeof NO_PLACE, reason: string): Action {
  if (kind === 'place') return { action: kind, ...(isChosen(place) && placeBody(place)) }
  return { action: kind, ...(kind === 'reject' && { reason: reason.trim() }) }
}

/** What would be done. The words of a reason change nothing about that. */
function usePlan(chosen: Chosen, action: Action, isComplete: boolean) {
  const asked: Action = action.action === 'reject' ? { ...action, reason: 'To be said' } : action
  const text = JSON.stringify(asked)
  const [settled] = useDebouncedValue(text, PAUSE_MS)
  return useQuery({
    queryKey: ['entries', 'plan', chosen, settled],
    queryFn: () => act(chosen, { ...(JSON.parse(settled) as Action), dry_run: true }),
    enabled: settled === text && (isComplete || action.action === 'reject'),
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
  })
}

function askedFor(chosen: Chosen, plan: ActionResults | undefined): string {
  const entries = 'ids' in chosen ? chosen.ids.length : plan?.results.length
  return entries === undefined ? 'entries' : counted(entries, 'entry', 'entries')
}

const issuesOf = (error: Error | null): Record<string, string> =>
  error ? Object.fromEntries(asProblem(error).issues.map(({ pointer, message }) => [pointer, sentence(message)])) : {}

interface PlanProps {
  kind: ManyKind
  plan: ReturnType<typeof usePlan>
  isComplete: boolean
  rows: readonly Entry[]
}

function Plan({ kind, plan: { data, error, isFetching }, isComplete, rows }: PlanProps) {
  if (error) {
    const problem = asProblem(error)
    return Object.keys(issuesOf(error)).some((pointer) => pointer === '/project' || pointer === '/ticket') ? null : (
      <Failure problem={problem} />
    )
  }
  if (isFetching) return <Loader size="xs" type="dots" aria-label="Looking what that would do" />
  if (!data || (!isComplete && kind === 'place')) return null
  const unchanged = data.results.filter(({ result }) => result === 'unchanged').length
  return (
    <Stack gap="xs">
      {data.done === 0 ? (
        <Alert color="yellow" variant="light" role="status">
          None of them can be {WORDS[kind].done}.
        </Alert>
      ) : (
        <Text size="sm" role="status">
          <b>{counted(data.done, 'entry', 'entries')}</b> would be {WORDS[kind].done}
          {worth(data)}.
        </Text>
      )}
      {unchanged > 0 && (
        <Text size="sm" c="dimmed">
          {counted(unchanged, 'entry', 'entries')} {unchanged === 1 ? 'is' : 'are'} there by hand already.
        </Text>
      )}
      <Refused results={data} rows={rows} lead="left out" />
    </Stack>
  )
}

/** `, $12.34 together`, and of how many the cost is unknown. */
function worth({ cost, unpriced_entries, done }: ActionResults): string {
  const known = unpriced_entries < done ? `, ${money(cost)} together` : ''
  return unpriced_entries > 0 ? `${known}, ${count(unpriced_entries)} of unknown cost` : known
}

function tellDone(kind: ManyKind, { results, done }: ActionResults): void {
  const message = `${counted(done, 'entry', 'entries')} ${WORDS[kind].done}.`
  const undo = UNDO[kind]
  if (done === 0 || !undo) {
    tell(message)
    return
  }
  const ids = results.flatMap(({ id, result }) => (result === 'done' ? [id] : []))
  tellUndo(message, undo.label, async () => {
    const { done } = await act({ ids }, { action: undo.action })
    tell(`${counted(done, 'entry', 'entries')} ${WORDS[undo.action].done}.`)
  })
}

interface ResultsProps {
  kind: ManyKind
  results: ActionResults
  rows: readonly Entry[]
  close: () => void
}

const Results = ({ kind, results, rows, close }: ResultsProps) => (
  <Modal opened onClose={close} title={`${counted(results.done, 'entry', 'entries')} ${WORDS[kind].done}`}>
    <Stack>
      <Refused results={results} rows={rows} lead="refused" isOpen />
      <Group justify="flex-end">
        <Button onClick={close}>Close</Button>
      </Group>
    </Stack>
  </Modal>
)
