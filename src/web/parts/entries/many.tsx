/** Bulk actions on entries: preview, execution and results. */
import { Alert, Button, Group, Loader, Modal, Stack, Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { count, counted } from '../../format/counts.ts'
import { money } from '../../format/money.ts'
import { asProblem, type Problem, sentence } from '../../server/problem.ts'
import { notify, useSend } from '../../server/send.ts'
import { Failure } from '../failure.tsx'
import { FormModal } from '../form-modal.tsx'
import { isChosen, NO_PLACE, placeBody } from '../place.ts'
import { PlaceFields } from '../place-fields.tsx'
import { Note } from '../texts.tsx'
import { tellUndo } from '../undo.tsx'
import { type Action, type ActionResults, act, CHANGED_BY_ENTRIES, type Chosen, type Entry } from './entry.ts'
import { type LaterReports, LaterReportsField } from './later-reports.tsx'
import { Reason } from './reason.tsx'
import { Refused } from './refusal-list.tsx'

export type ManyKind = Action['action']

interface ManyDialogProps {
  kind: ManyKind
  chosen: Chosen
  /** The rows of the list, to name the skipped entries. */
  rows: readonly Entry[]
  close: (isDone: boolean) => void
}

const WORDS: Record<ManyKind, { title: string; button: string; done: string; means: string }> = {
  approve: {
    title: 'Approve',
    button: 'Approve',
    done: 'approved',
    means: 'Counts, cost and assignment of approved entries are locked.',
  },
  reject: {
    title: 'Reject',
    button: 'Reject',
    done: 'rejected',
    means: 'Rejected entries are not billed. Their agent managers can see the reason.',
  },
  reopen: { title: 'Reopen', button: 'Reopen', done: 'reopened', means: 'They can be approved and billed again.' },
  withdraw_approval: {
    title: 'Withdraw approval of',
    button: 'Withdraw approval of',
    done: 'returned to submitted',
    means: 'Counts, cost and assignment of these entries can change again.',
  },
  release: {
    title: 'Release',
    button: 'Release',
    done: 'released',
    means: 'Released sessions are no duplicates: all their entries are counted, also those that are reported later.',
  },
  discard: {
    title: 'Discard',
    button: 'Discard',
    done: 'discarded',
    means: 'Discarded sessions are duplicates: their entries are kept, but not counted or billed.',
  },
  void: {
    title: 'Void',
    button: 'Void',
    done: 'voided',
    means: 'Voided entries are kept, but not counted or billed. Their agent managers can see the reason.',
  },
  restore: { title: 'Restore', button: 'Restore', done: 'restored', means: 'Restored entries are counted again.' },
  place: {
    title: 'Assign',
    button: 'Assign',
    done: 'assigned',
    means: 'Manual assignments are kept: rules and later reports of the sessions do not change them.',
  },
  unplace: {
    title: 'Unassign',
    button: 'Unassign',
    done: 'unassigned',
    means: 'Unassigned entries are unattributed again. Rules and later reports may assign them.',
  },
}

/**
 * The action that undoes another. Assigning has none where entries had different assignments, which their histories
 * hold.
 */
const UNDO: Partial<Record<ManyKind, { action: ManyKind; label: string }>> = {
  approve: { action: 'withdraw_approval', label: 'Withdraw approval' },
  reject: { action: 'reopen', label: 'Reopen' },
  discard: { action: 'release', label: 'Release' },
  void: { action: 'restore', label: 'Restore' },
}

/** The actions that have to be explained, and that somebody may not like. */
const EXPLAINED: readonly ManyKind[] = ['reject', 'void']

/** Debounce before the preview is fetched. */
const PAUSE_MS = 250

export function ManyDialog({ kind, chosen, rows, close }: ManyDialogProps) {
  const [reason, setReason] = useState('')
  const [laterReports, setLaterReports] = useState<LaterReports>('new_part')
  const [place, setPlace] = useState(NO_PLACE)
  const [results, setResults] = useState<ActionResults | null>(null)
  const [problem, setProblem] = useState<Problem | null>(null)
  const words = WORDS[kind]
  const isExplained = EXPLAINED.includes(kind)
  const isComplete = kind === 'place' ? isChosen(place) : !isExplained || reason.trim() !== ''
  const action = actionOf(kind, { place, reason, laterReports })
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
    <FormModal opened onClose={() => close(false)} title={`${words.title} ${objectsOf(chosen, plan.data)}`}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          setProblem(null)
          send.mutate(undefined, { onError: setProblem })
        }}
      >
        <Stack>
          {kind === 'place' && <PlaceFields value={place} change={setPlace} errors={issuesOf(plan.error)} />}
          {isExplained && <Reason value={reason} change={setReason} />}
          {kind === 'void' && <LaterReportsField value={laterReports} change={setLaterReports} />}
          <Note>{words.means}</Note>
          <Plan kind={kind} plan={plan} isComplete={isComplete} rows={rows} />
          {problem && <Failure error={problem} />}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={() => close(false)}>
              Cancel
            </Button>
            <Button
              type="submit"
              color={isExplained ? 'red' : undefined}
              loading={send.isPending}
              disabled={!isComplete || !plan.data || plan.isFetching || plan.data.done === 0}
            >
              {words.button} {plan.data && isComplete ? counted(plan.data.done, 'entry', 'entries') : 'entries'}
            </Button>
          </Group>
        </Stack>
      </form>
    </FormModal>
  )
}

interface Fields {
  place: typeof NO_PLACE
  reason: string
  laterReports: LaterReports
}

function actionOf(kind: ManyKind, { place, reason, laterReports }: Fields): Action {
  if (kind === 'place') return { action: kind, ...(isChosen(place) && placeBody(place)) }
  return {
    action: kind,
    ...(EXPLAINED.includes(kind) && { reason: reason.trim() }),
    ...(kind === 'void' && { later_reports: laterReports }),
  }
}

/** A dry run of the action. The text of a reason does not affect it. */
function usePlan(chosen: Chosen, action: Action, isComplete: boolean) {
  const isExplained = EXPLAINED.includes(action.action)
  const previewed: Action = isExplained ? { ...action, reason: 'Preview' } : action
  const text = JSON.stringify(previewed)
  const [settled] = useDebouncedValue(text, PAUSE_MS)
  return useQuery({
    queryKey: ['entries', 'plan', chosen, settled],
    queryFn: ({ signal }) => act(chosen, { ...(JSON.parse(settled) as Action), dry_run: true }, signal),
    enabled: settled === text && (isComplete || isExplained),
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
  })
}

function objectsOf(chosen: Chosen, plan: ActionResults | undefined): string {
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
      <Failure error={problem} />
    )
  }
  if (isFetching) return <Loader size="xs" type="dots" aria-label="Loading preview" />
  if (!data || (!isComplete && kind === 'place')) return null
  const unchanged = data.results.filter(({ result }) => result === 'unchanged').length
  return (
    <Stack gap="xs">
      {data.done === 0 ? (
        <Alert color="yellow" variant="light" role="status">
          None of these entries can be {WORDS[kind].done}.
        </Alert>
      ) : (
        <Text size="sm" role="status">
          <b>{counted(data.done, 'entry', 'entries')}</b> would be {WORDS[kind].done}
          {worth(data)}.
        </Text>
      )}
      {unchanged > 0 && <Note>{counted(unchanged, 'entry is', 'entries are')} already assigned there manually.</Note>}
      <Refused results={data} rows={rows} lead="skipped" />
    </Stack>
  )
}

/** `, $12.34 total, 2 unpriced`. */
function worth({ cost, unpriced_entries, done }: ActionResults): string {
  const known = unpriced_entries < done ? `, ${money(cost)} total` : ''
  return unpriced_entries > 0 ? `${known}, ${count(unpriced_entries)} unpriced` : known
}

function tellDone(kind: ManyKind, { results, done }: ActionResults): void {
  const message = `${counted(done, 'entry', 'entries')} ${WORDS[kind].done}.`
  const undo = UNDO[kind]
  if (done === 0 || !undo) {
    notify(message)
    return
  }
  const ids = results.flatMap(({ id, result }) => (result === 'done' ? [id] : []))
  tellUndo(message, undo.label, async () => {
    const { done } = await act({ ids }, { action: undo.action })
    notify(`${counted(done, 'entry', 'entries')} ${WORDS[undo.action].done}.`)
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
      <Refused results={results} rows={rows} lead="unchanged" isOpen />
      <Group justify="flex-end">
        <Button onClick={close}>Close</Button>
      </Group>
    </Stack>
  </Modal>
)
