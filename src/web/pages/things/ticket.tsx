/** One ticket: whose it is, what it cost, and the bills that it is on. */
import { Badge, Button, Group, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { BudgetsOf } from '../../parts/budgets/budget-table.tsx'
import { Details } from '../../parts/details.tsx'
import { Failure } from '../../parts/failure.tsx'
import { Moment } from '../../parts/figures.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Page } from '../../parts/page.tsx'
import { projectLabel } from '../../parts/project-label.ts'
import { Dimmed } from '../../parts/texts.tsx'
import { ThingLink } from '../../parts/thing-link.tsx'
import { WhenNear } from '../../parts/when-near.tsx'
import type { Ticket } from '../work/project.ts'
import { DecisionBadge } from '../work/ticket-decision.tsx'
import { TicketDialog } from '../work/ticket-dialog.tsx'
import { BillsOf } from './bills.tsx'
import { Changes } from './changes.tsx'
import { ticketQuery } from './first-requests.ts'
import { usageOf } from './kinds.ts'
import { ThingUsage } from './thing-usage.tsx'

const ABOVE = { href: '/work?tab=tickets', title: 'Tickets' }

export function TicketPage({ id }: { id: string }) {
  const { data, error, refetch } = useQuery(ticketQuery(id))
  if (data) return <OneTicket ticket={data} />
  return (
    <Page title="Ticket" above={ABOVE}>
      {error ? <Failure error={error} retry={refetch} /> : <Loading />}
    </Page>
  )
}

function OneTicket({ ticket }: { ticket: Ticket }) {
  const [isOpen, setOpen] = useState(false)
  const [, navigate] = useLocation()
  const { id, key, title, project, archived_at, created_at } = ticket
  return (
    <Page
      title={
        <Group gap="xs">
          <bdi>{key}</bdi>
          {title !== null && (
            <Dimmed>
              <bdi>{title}</bdi>
            </Dimmed>
          )}
          {archived_at && <Badge color="gray">archived</Badge>}
        </Group>
      }
      lead="Ticket"
      above={ABOVE}
      actions={
        <Button variant="default" onClick={() => setOpen(true)}>
          {ticket.assumed_projects ? 'Edit' : 'Details'}
        </Button>
      }
    >
      <Details
        of={[
          [
            'Project',
            <Group key="project" gap={6}>
              {project ? (
                <ThingLink kind="project" of={project.id}>
                  {projectLabel(project)}
                </ThingLink>
              ) : (
                'None'
              )}
              <DecisionBadge ticket={ticket} />
            </Group>,
          ],
          ['Added', <Moment key="at" at={created_at} />],
        ]}
      />
      <ThingUsage of={usageOf('ticket', id)} />
      <WhenNear>
        <Stack gap="md">
          <BillsOf query={{ ticket: id }} label={`Bills of ${key}`} />
          <BudgetsOf query={{ ticket: [id] }} label={`Budgets of ${key}`} />
          <Changes of={id} />
        </Stack>
      </WhenNear>
      {isOpen && <TicketDialog ticket={ticket} close={() => setOpen(false)} removed={() => navigate(ABOVE.href)} />}
    </Page>
  )
}
