/** A drawer with the details and actions of one entry, next to the list. */
import {
  ActionIcon,
  Box,
  CopyButton,
  Drawer,
  Group,
  Skeleton,
  Stack,
  Text,
  Timeline,
  Tooltip,
  VisuallyHidden,
} from '@mantine/core'
import { IconCheck, IconChevronDown, IconChevronUp, IconLink } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { historySentenceOf, stepActorOf } from '../../../shared/history-sentences.ts'
import { say } from '../../../shared/sentences.ts'
import { askEntry, askHistory, type Entry, type EntryDetail } from '../../parts/entries/entry.ts'
import { Failure } from '../../parts/failure.tsx'
import { Moment } from '../../parts/figures.tsx'
import { Recorded, Sentence, useFormats } from '../../parts/sentence.tsx'
import { Status } from '../../parts/status.tsx'
import { Caption } from '../../parts/texts.tsx'
import { isTyping } from '../../shell/shortcuts.ts'
import { type LeaveForm, OpenForm } from './drawer-form.tsx'
import classes from './entries.module.css'
import { EntryActions } from './entry-actions.tsx'
import { EntryCost } from './entry-cost.tsx'
import { EntryFacts } from './entry-facts.tsx'
import { EntryPlace } from './entry-place.tsx'
import { EntrySession } from './entry-session.tsx'
import { EntryWords } from './entry-words.tsx'
import { Part } from './facts.tsx'

interface EntryDrawerProps {
  /** Undefined while none is open. */
  id: string | undefined
  /** The list to step through. */
  rows: readonly Entry[]
  fetchMore: () => void
  show: (id: string | undefined) => void
}

export function EntryDrawer({ id, rows, fetchMore, show: showAtOnce }: EntryDrawerProps) {
  // Keeps its content during the closing animation.
  const last = useRef<string | undefined>(id)
  if (id !== undefined) last.current = id
  const [leaveForm, setLeaveForm] = useState<LeaveForm | null>(null)
  const show = (id: string | undefined) => (leaveForm ? leaveForm(() => showAtOnce(id)) : showAtOnce(id))
  const steps = useSteps({ id, rows, fetchMore, show })
  const row = rows.find((row) => row.id === last.current)
  return (
    <Drawer.Root
      opened={id !== undefined}
      onClose={() => show(undefined)}
      // Which closes an open form first.
      closeOnEscape={leaveForm === null}
      position="right"
      size={640}
      // The table returns it to the row that was shown last.
      returnFocus={false}
    >
      <Drawer.Overlay backgroundOpacity={0.25} />
      <Drawer.Content>
        <Drawer.Header>
          {/* Without the buttons, which would be part of the name of the dialog. */}
          <Drawer.Title flex={1}>Token entry</Drawer.Title>
          <Tools id={last.current} {...steps} />
          <Drawer.CloseButton aria-label="Close" ml={4} />
        </Drawer.Header>
        <Drawer.Body>
          {/* Of the entry that a step leads to. */}
          <VisuallyHidden aria-live="polite">{row?.summary}</VisuallyHidden>
          <div tabIndex={-1} data-autofocus={leaveForm === null || undefined} className={classes.body}>
            {last.current !== undefined && (
              <OpenForm value={setLeaveForm}>
                <OneEntry key={last.current} id={last.current} row={row} />
              </OpenForm>
            )}
          </div>
        </Drawer.Body>
      </Drawer.Content>
    </Drawer.Root>
  )
}

interface Steps {
  before: (() => void) | undefined
  next: (() => void) | undefined
}

/** Steps to the previous and the next entry, also with `k` and `j`. */
function useSteps({ id, rows, fetchMore, show }: EntryDrawerProps): Steps {
  const at = rows.findIndex((row) => row.id === id)
  const to = (row: Entry | undefined) => (at >= 0 && row ? () => show(row.id) : undefined)
  const steps = { before: to(rows[at - 1]), next: to(rows[at + 1]) }
  useEffect(() => {
    if (id === undefined) return
    if (at >= 0 && at === rows.length - 1) fetchMore()
    const listen = (event: KeyboardEvent) => {
      // A dialog above it, such as one that asks for a reason, handles the keys.
      if (isTyping(event) || document.querySelectorAll('[role="dialog"]').length > 1) return
      const step = event.key === 'j' ? steps.next : event.key === 'k' ? steps.before : undefined
      if (!step) return
      event.preventDefault()
      step()
    }
    document.addEventListener('keydown', listen)
    return () => document.removeEventListener('keydown', listen)
  })
  return steps
}

const Tools = ({ id, before, next }: Steps & { id: string | undefined }) => (
  <Group gap={2}>
    <CopyButton value={`${location.origin}/entries/${id}`}>
      {({ copied, copy }) => (
        <Tooltip label={copied ? 'Copied' : 'Copy link to this entry'}>
          <ActionIcon variant="subtle" color="gray" onClick={copy} aria-label="Copy link to this entry">
            {copied ? <IconCheck size={16} /> : <IconLink size={16} />}
          </ActionIcon>
        </Tooltip>
      )}
    </CopyButton>
    <Step label="Previous entry (k)" go={before} icon={<IconChevronUp size={16} />} />
    <Step label="Next entry (j)" go={next} icon={<IconChevronDown size={16} />} />
  </Group>
)

const Step = ({ label, go, icon }: { label: string; go: (() => void) | undefined; icon: ReactNode }) => (
  <ActionIcon variant="subtle" color="gray" aria-label={label} title={label} disabled={!go} onClick={go}>
    {icon}
  </ActionIcon>
)

/** Shows the list's data immediately; the valuation and the rule are loaded. */
function OneEntry({ id, row }: { id: string; row: Entry | undefined }) {
  const { data, error, refetch } = useQuery({
    queryKey: ['entries', 'one', id],
    queryFn: ({ signal }) => askEntry(id, signal),
  })
  if (error && !data) return <Failure error={error} retry={refetch} />
  // The cost of a row is that of the basis of the list.
  const entry: EntryDetail | undefined =
    data ??
    (row && {
      ...row,
      cost: row.reported_cost ?? row.list_value,
      valuation: null,
      placed_by_rule: null,
      settled_by: null,
    })
  if (!entry) return <Waiting />
  return (
    <Stack gap="lg">
      <Stack gap="xs">
        <Group gap="xs" wrap="nowrap" align="flex-start" justify="space-between">
          <EntryWords entry={entry} />
          <Box flex="none">
            <Status of={entry.status} />
          </Box>
        </Group>
        <EntryActions entry={entry} />
      </Stack>
      <EntryFacts entry={entry} />
      <EntryCost entry={entry} isComplete={data !== undefined} />
      <EntryPlace entry={entry} />
      {entry.slice && entry.session_id !== null && <EntrySession entry={entry} session={entry.session_id} />}
      <EntryHistory id={id} />
    </Stack>
  )
}

const Waiting = () => (
  <Stack role="status" aria-label="Loading">
    {[60, 100, 80, 90, 70].map((width) => (
      <Skeleton key={width} height={16} width={`${width}%`} />
    ))}
  </Stack>
)

/** The history of an entry, newest first. */
function EntryHistory({ id }: { id: string }) {
  const { data, error, refetch } = useQuery({
    queryKey: ['entries', 'history', id],
    queryFn: ({ signal }) => askHistory(id, signal),
  })
  const formats = useFormats()
  const names = new Map(data?.names.map(({ id, name }) => [id, name]))
  return (
    <Part title="History">
      {error && !data && <Failure error={error} retry={refetch} />}
      {!data && !error && <Skeleton height={48} />}
      {data && (
        <Timeline bulletSize={10} lineWidth={2} active={data.data.length}>
          {data.data.toReversed().map((step) => (
            <Timeline.Item
              key={`${step.at} ${step.action}`}
              title={
                <Text size="sm" lh={1.3}>
                  <Sentence of={say`${stepActorOf(step)} ${historySentenceOf(step, names, formats)}`} />
                </Text>
              }
            >
              <Caption>
                <Moment at={step.at} />
              </Caption>
              {Object.keys(step.details).length > 0 && <Recorded of={step.details} />}
            </Timeline.Item>
          ))}
        </Timeline>
      )}
    </Part>
  )
}
