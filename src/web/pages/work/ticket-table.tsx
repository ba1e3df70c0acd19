import { Badge, Group, Text } from '@mantine/core'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { cellColumn, unsorted } from '../../parts/columns.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Ago } from '../../parts/figures.tsx'
import { projectLabel } from '../../parts/project-label.ts'
import { useListOrder } from '../../parts/sorting.tsx'
import { addressOfThing } from '../../parts/thing-address.ts'
import { answer, apiUntil } from '../../server/api.ts'
import { PAGE_LIMIT, useList } from '../../server/list.ts'
import type { Archived } from './list-head.tsx'
import type { Ticket } from './project.ts'
import { defined } from './projects.tsx'
import { DecisionBadge } from './ticket-decision.tsx'
import { TicketDialog } from './ticket-dialog.tsx'

interface TicketTableProps {
  query: {
    project?: string[] | undefined
    search?: string | undefined
    archived?: Archived
    conflicting?: 'true' | undefined
  }
  label: string
  hasProject?: boolean
  /** Shows only some tickets, as part of another page. */
  isShort?: boolean
}

/** How many tickets are shown on other pages; the ticket list has the rest. */
const SHORT = '10'

/** The orders that the API knows. */
const SORTS = ['key', 'title', 'created_at'] as const

export function TicketTable({ query, label, hasProject = true, isShort = false }: TicketTableProps) {
  const [open, setOpen] = useState<string | null>(null)
  const [, navigate] = useLocation()
  // Conflicts are decided in the list, one after the other.
  const show = (id: string) => (query.conflicting ? setOpen(id) : navigate(addressOfThing('ticket', id)))
  const { sorting, query: ordered } = useListOrder(SORTS, isShort ? undefined : { by: 'created_at', order: 'desc' })
  const list = useList(['tickets', query, isShort, ordered], async (page, signal) => {
    const found = await answer(
      apiUntil(signal).tickets.get({
        query: defined({ ...query, ...ordered, page, limit: isShort ? SHORT : PAGE_LIMIT }),
      }),
    )
    return isShort ? { ...found, has_more: false, next_page: null } : found
  })
  const shown = hasProject ? COLUMNS : COLUMNS.map((column) => (column.key === 'project' ? DECISION : column))
  const opened = list.rows?.find(({ id }) => id === open)
  return (
    <>
      <DataTable
        label={label}
        name="tickets"
        list={isShort && list.rows ? list.rows : list}
        sorting={sorting}
        rowKey={({ id }) => id}
        open={({ id }) => show(id)}
        openKey={open ?? undefined}
        isMuted={({ archived_at }) => archived_at !== null}
        columns={isShort ? unsorted(shown) : shown}
        empty={
          query.conflicting ? (
            <NoConflicts />
          ) : (
            <NoTickets isFiltered={query.search !== undefined || (query.archived ?? 'false') !== 'false'} />
          )
        }
      />
      {opened && <TicketDialog ticket={opened} close={() => setOpen(null)} />}
    </>
  )
}

const COLUMNS: Column<Ticket>[] = [
  cellColumn('key', 'Ticket', { sort: 'key', value: ({ key }) => key, width: '18%', phone: 'title' }, ({ key }) => (
    <Text span inherit fw={600}>
      {key}
    </Text>
  )),
  cellColumn('title', 'Title', { sort: 'title', phone: 'bare', value: ({ title }) => title }, ({ title }) => title),
  cellColumn('project', 'Project', { width: '34%', phone: 'bare' }, (ticket) => (
    <Group gap={6} wrap="nowrap">
      {ticket.project && (
        <Text span inherit truncate>
          {projectLabel(ticket.project)}
        </Text>
      )}
      <DecisionBadge ticket={ticket} />
    </Group>
  )),
  cellColumn(
    'created',
    'Added',
    { sort: 'created_at', value: ({ created_at }) => created_at, width: '140px', phone: 'hidden' },
    ({ created_at, archived_at }) => (archived_at ? <Badge color="gray">archived</Badge> : <Ago at={created_at} />),
  ),
]

/** Replaces the project column on the page of a project. */
const DECISION: Column<Ticket> = cellColumn('project', 'Project set by', { width: '34%' }, (ticket) =>
  ticket.project_decided ? 'A person' : <DecisionBadge ticket={ticket} />,
)

const NoConflicts = () => (
  <Empty title="No conflicting projects">
    Tickets that reports assign to different projects appear here until someone sets their project.
  </Empty>
)

const NoTickets = ({ isFiltered }: { isFiltered: boolean }) =>
  isFiltered ? (
    <Empty title="No matching tickets">Try a shorter search, or include archived tickets.</Empty>
  ) : (
    <Empty title="No tickets yet">
      A ticket is created when a report first names it, or when a rule finds it in a branch name. You don’t need to add
      tickets by hand.
    </Empty>
  )
