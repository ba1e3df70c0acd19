import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useState } from 'react'
import { Link } from 'wouter'
import { addressOf, flag, one, oneOf, useAddress } from '../../address.ts'
import { DownloadCsv } from '../../parts/download.tsx'
import { useRole } from '../../server/me.ts'
import { ARCHIVED, ListHead } from './list-head.tsx'
import { NewTicket } from './ticket-dialog.tsx'
import { TicketTable } from './ticket-table.tsx'

const DEAREST = addressOf('/reports', { by: 'ticket', period: 'month' })

export function Tickets() {
  const mayAdd = useRole('billing', 'admin')
  const [isAdding, setAdding] = useState(false)
  const [{ search, archived, project, conflicting }, show] = useAddress({
    search: one,
    archived: oneOf(...ARCHIVED),
    project: one,
    conflicting: flag,
  })
  const query = {
    search,
    archived,
    project: project === undefined ? undefined : [project],
    conflicting: conflicting ? ('true' as const) : undefined,
  }
  return (
    <>
      <ListHead
        what="tickets"
        search={search}
        archived={archived}
        show={show}
        filters={
          <>
            <ProjectFilter project={project} show={show} />
            <Button
              size="xs"
              variant={conflicting ? 'light' : 'default'}
              aria-pressed={conflicting}
              onClick={() => show({ conflicting: !conflicting })}
            >
              Conflicting projects
            </Button>
          </>
        }
        actions={
          <>
            <Button component={Link} href={DEAREST} variant="default" visibleFrom="sm">
              Most expensive this month
            </Button>
            <DownloadCsv path="/tickets" query={query} />
            {mayAdd && (
              <Button leftSection={<IconPlus size={16} />} onClick={() => setAdding(true)}>
                New ticket
              </Button>
            )}
          </>
        }
      />
      <TicketTable query={query} label="Tickets" />
      {isAdding && <NewTicket close={() => setAdding(false)} />}
    </>
  )
}

interface ProjectFilterProps {
  project: string | undefined
  show: (changes: { project: string | undefined }) => void
}

const ProjectFilter = ({ project, show }: ProjectFilterProps) =>
  project !== undefined && project !== 'none' ? (
    <Button size="xs" variant="light" onClick={() => show({ project: undefined })}>
      Project: {project} ✕
    </Button>
  ) : (
    <Button
      size="xs"
      variant={project === 'none' ? 'light' : 'default'}
      aria-pressed={project === 'none'}
      onClick={() => show({ project: project === 'none' ? undefined : 'none' })}
    >
      Without a project
    </Button>
  )
