/** Reported entries that wait for the person's approval: by project, and below it one by one. */
import { Anchor, Button, Checkbox, Group, Text } from '@mantine/core'
import { useState } from 'react'
import { Link } from 'wouter'
import { addressOf } from '../../address.ts'
import { count, counted } from '../../format/counts.ts'
import { type Approvals, useApprovals } from '../../parts/approvals.ts'
import { act, askEntries, CHANGED_BY_ENTRIES, type Entry, nameOf } from '../../parts/entries/entry.ts'
import { type EntryQuery, queryOfList } from '../../parts/entries/filters.ts'
import { ManyDialog } from '../../parts/entries/many.tsx'
import { Failure } from '../../parts/failure.tsx'
import { FigureLink } from '../../parts/figure-link.tsx'
import { Count, Moment, Money } from '../../parts/figures.tsx'
import { Loading } from '../../parts/loading.tsx'
import { projectLabel } from '../../parts/project-label.ts'
import { isShifted, keepText, useToggle } from '../../parts/selection.ts'
import { SelectionToolbar } from '../../parts/selection-toolbar.tsx'
import { Caption } from '../../parts/texts.tsx'
import { useList } from '../../server/list.ts'
import { forget } from '../../server/queries.ts'
import { notify, useSend } from '../../server/send.ts'
import { Decisions, Row, Rows } from './row.tsx'
import { pressedBy } from './rows.ts'
import { useDecided } from './undo.ts'

type Waiting = Approvals['entries']['projects'][number]

/** @param lists the paths of the lists of these entries, of which each project is in one */
export function EntriesToApprove({ lists }: { lists: readonly string[] }) {
  const { data, error, refetch } = useApprovals()
  if (error) return <Failure error={error} retry={refetch} />
  if (!data) return <Loading />
  return (
    <Rows label="Entries to approve, by project">
      {data.entries.projects.map((group) => (
        <ProjectRow key={group.project?.id ?? 'none'} group={group} query={queryOf(group, lists)} />
      ))}
    </Rows>
  )
}

/** The entries of the project in the list that has them. */
function queryOf({ project }: Waiting, lists: readonly string[]): EntryQuery {
  const queries = lists.map(queryOfList)
  const query = queries.find((each) => each.project === undefined || (project && each.project.includes(project.id)))
  return { ...(query ?? queries[0]), project: [project?.key ?? 'none'] }
}

function ProjectRow({ group: { project, entries, cost }, query }: { group: Waiting; query: EntryQuery }) {
  const [isOpen, setOpen] = useState(false)
  const [deciding, setDeciding] = useState<'approve' | 'reject' | null>(null)
  const name = project ? projectLabel(project) : 'No project'
  const list = addressOf('/entries', query)
  return (
    <Row
      title={<bdi>{name}</bdi>}
      numbers={
        <>
          <FigureLink figure="cost" value={cost} to={list}>
            <Money amount={cost} />
          </FigureLink>
          <Caption component="div">
            <FigureLink figure="entries" value={entries} to={list}>
              <Count value={entries} /> {entries === 1 ? 'entry' : 'entries'}
            </FigureLink>
          </Caption>
        </>
      }
      actions={
        <Decisions
          name={name}
          approve={{ label: 'Approve all…', verb: 'Approve all entries', decide: () => setDeciding('approve') }}
          refuse={{ label: 'Reject all…', verb: 'Reject all entries', decide: () => setDeciding('reject') }}
        >
          <Button
            size="compact-sm"
            variant="subtle"
            aria-expanded={isOpen}
            aria-label={`${isOpen ? 'Hide' : 'Show'} entries: ${name}`}
            onClick={() => setOpen(!isOpen)}
            {...pressedBy('Enter')}
          >
            {isOpen ? 'Hide entries' : 'Show entries'}
          </Button>
          {deciding && <ManyDialog kind={deciding} chosen={{ query }} rows={[]} close={() => setDeciding(null)} />}
        </Decisions>
      }
    >
      {isOpen && <EntryRows query={query} name={name} />}
    </Row>
  )
}

function EntryRows({ query, name }: { query: EntryQuery; name: string }) {
  const [selected, select] = useState<ReadonlySet<string>>(new Set())
  const [rejecting, setRejecting] = useState<string[] | null>(null)
  const [refused, setRefused] = useState<ReadonlyMap<string, string>>(new Map())
  const decided = useDecided()
  const list = useList(['entries', 'list', query, 'inbox'], (page, signal) => askEntries(query, page, signal))
  const approve = useSend({
    send: (ids: string[]) => act({ ids }, { action: 'approve' }),
    changes: CHANGED_BY_ENTRIES,
    after: ({ results, done }) => {
      setRefused(new Map(results.flatMap(({ id, problem }) => (problem ? [[id, problem.detail] as const] : []))))
      select(new Set())
      if (done === 0) return
      const ids = results.flatMap(({ id, result }) => (result === 'done' ? [id] : []))
      decided(`${counted(done, 'entry', 'entries')} approved.`, 'Withdraw approval', async () => {
        const { done } = await act({ ids }, { action: 'withdraw_approval' })
        await forget(CHANGED_BY_ENTRIES)
        notify(`${counted(done, 'entry', 'entries')} returned to submitted.`)
      })
    },
    quiet: true,
  })
  const rows = list.rows
  const toggle = useToggle({ keys: () => rows?.map(({ id }) => id) ?? [], selected, select })
  if (list.error && !rows) return <Failure error={list.error} retry={list.refetch} />
  if (!rows) return <Loading />
  const chosen = rows.filter(({ id }) => selected.has(id)).map(({ id }) => id)
  /** The selection, if the row is a part of it. */
  const withSelection = (id: string) => (selected.has(id) ? chosen : [id])
  const problemOf = (id: string) => {
    const message = refused.get(id)
    if (message !== undefined) return { message }
    return approve.variables?.[0] === id ? approve.error : null
  }
  return (
    <>
      <Rows label={`Entries to approve: ${name}`}>
        {rows.map((entry) => (
          <EntryRow
            key={entry.id}
            entry={entry}
            query={query}
            problem={problemOf(entry.id)}
            isSelected={selected.has(entry.id)}
            isPending={approve.isPending && approve.variables.includes(entry.id)}
            toggle={(isRange) => toggle(entry.id, isRange)}
            approve={() => approve.mutate(withSelection(entry.id))}
            reject={() => setRejecting(withSelection(entry.id))}
          />
        ))}
      </Rows>
      {chosen.length > 0 && (
        <SelectionToolbar label={`Selected entries: ${name}`} my={8}>
          <Text size="sm" fw={600} role="status">
            {count(chosen.length)} selected
          </Text>
          <Button size="compact-sm" loading={approve.isPending} onClick={() => approve.mutate(chosen)}>
            Approve {counted(chosen.length, 'entry', 'entries')}
          </Button>
          <Button size="compact-sm" variant="default" onClick={() => setRejecting(chosen)}>
            Reject {counted(chosen.length, 'entry', 'entries')}…
          </Button>
          <Button size="compact-sm" variant="subtle" onClick={() => select(new Set())}>
            Clear selection
          </Button>
        </SelectionToolbar>
      )}
      {list.hasMore && (
        <Button size="compact-sm" variant="subtle" my="xs" loading={list.isFetchingMore} onClick={list.fetchMore}>
          Show more entries
        </Button>
      )}
      {rejecting && (
        <ManyDialog
          kind="reject"
          chosen={{ ids: rejecting }}
          rows={rows}
          close={(isDone) => {
            setRejecting(null)
            if (isDone) select(new Set())
          }}
        />
      )}
    </>
  )
}

interface EntryRowProps {
  entry: Entry
  query: EntryQuery
  problem: { message: string } | null
  isSelected: boolean
  isPending: boolean
  toggle: (isRange: boolean) => void
  approve: () => void
  reject: () => void
}

function EntryRow({ entry, query, problem, isSelected, isPending, toggle, approve, reject }: EntryRowProps) {
  const { id, agent_manager, model, started_at, ticket, cost, tokens } = entry
  const name = nameOf(entry)
  return (
    <Row
      title={
        <Group gap="xs" wrap="nowrap">
          <Checkbox
            size="xs"
            checked={isSelected}
            onChange={(event) => toggle(isShifted(event))}
            onMouseDown={keepText}
            aria-label={`Select entry: ${name}`}
            {...pressedBy('x')}
          />
          <bdi>{name}</bdi>
        </Group>
      }
      detail={
        <>
          <bdi>{agent_manager.name}</bdi> · {ticket && <bdi>{ticket.key} · </bdi>}
          <bdi>{model}</bdi> · <Moment at={started_at} isShort />
        </>
      }
      numbers={
        <>
          <Money amount={cost} isFine />
          <Caption component="div">
            <Count value={tokens.total} /> tokens
          </Caption>
        </>
      }
      problem={problem}
      actions={
        <Decisions
          name={name}
          approve={{ label: 'Approve', verb: 'Approve', decide: approve, isPending }}
          refuse={{ label: 'Reject…', verb: 'Reject', decide: reject }}
        >
          <Anchor
            component={Link}
            href={addressOf('/entries', { ...query, open: id })}
            size="sm"
            aria-label={`Open: ${name}`}
            {...pressedBy('Enter')}
          >
            Open
          </Anchor>
        </Decisions>
      }
    />
  )
}
