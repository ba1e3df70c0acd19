/** One client: its billing details, projects and usage. */
import { Badge, Button, Group, Menu, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import { addressOf } from '../../address.ts'
import { BudgetsOf } from '../../parts/budgets/budget-table.tsx'
import { DataTable } from '../../parts/data-table.tsx'
import { Details } from '../../parts/details.tsx'
import { Empty } from '../../parts/empty.tsx'
import { EmptyCell } from '../../parts/empty-cell.tsx'
import { Failure } from '../../parts/failure.tsx'
import { Loading } from '../../parts/loading.tsx'
import { MoreActions } from '../../parts/more-actions.tsx'
import { Page } from '../../parts/page.tsx'
import { namesOf } from '../../parts/people-field.tsx'
import { SectionTitle } from '../../parts/texts.tsx'
import { WhenNear } from '../../parts/when-near.tsx'
import { useApiList } from '../../server/list.ts'
import { useRole, useSettings } from '../../server/me.ts'
import { BillsOf } from '../things/bills.tsx'
import { Changes } from '../things/changes.tsx'
import { clientQuery } from '../things/first-requests.ts'
import { usageOf } from '../things/kinds.ts'
import { ThingUsage } from '../things/thing-usage.tsx'
import { Budget } from './budget.tsx'
import { ClientForm } from './client-form.tsx'
import type { Client } from './project.ts'
import { defined, MonthCost } from './projects.tsx'
import { ArchiveWork, RemoveWork } from './work-changes.tsx'
import { useCosts } from './work-usage.ts'

export function ClientPage({ id }: { id: string }) {
  const { data, error, refetch } = useQuery(clientQuery(id))
  if (error) return <Failure error={error} retry={refetch} />
  return data ? <OneClient client={data} /> : <Loading />
}

function OneClient({ client }: { client: Client }) {
  const seesMoney = useRole('billing', 'admin')
  return (
    <Page
      above={{ href: '/work?tab=clients', title: 'Clients' }}
      title={
        <Group gap="xs">
          {client.name}
          {client.archived_at && <Badge color="gray">archived</Badge>}
        </Group>
      }
      actions={seesMoney && <ClientActions client={client} />}
    >
      {seesMoney && <ClientDetails client={client} />}
      <ThingUsage of={usageOf('client', client.id)} />
      <WhenNear>
        <Stack gap="md">
          <BudgetsOf query={{ client: [client.id] }} label={`Budgets of ${client.name}`} />
          <ProjectsOf client={client} seesMoney={seesMoney} />
          <BillsOf query={{ client: client.id }} label={`Bills of ${client.name}`} />
          <Changes of={client.id} />
        </Stack>
      </WhenNear>
    </Page>
  )
}

function ClientDetails({
  client: { email, address, tax_id, currency, markup, reminders, tax_percent, tax_name, leads, approvers },
}: {
  client: Client
}) {
  const settings = useSettings()
  return (
    <Details
      of={[
        ['Bills sent to', email ?? 'no e-mail address; download bills instead'],
        [
          'Postal address',
          address && (
            <Text inherit style={{ whiteSpace: 'pre-line' }}>
              {address}
            </Text>
          ),
        ],
        ['Tax ID', tax_id],
        ['Bill currency', currency ?? `${settings.currency} (organization default)`],
        ['Markup', typeof markup === 'number' ? `${markup}%` : 'Organization default'],
        [
          'Tax',
          typeof tax_percent === 'number'
            ? tax_percent === 0
              ? 'None'
              : `${tax_name ?? 'Tax'} ${tax_percent}%`
            : 'Same as last bill',
        ],
        [
          'Reminders',
          reminders === false ? 'None for this client' : settings.reminder_days ? 'On' : 'Off (organization setting)',
        ],
        ['Leads', namesOf(leads).join(', ') || 'None'],
        ['Approvers', namesOf(approvers).join(', ') || 'None'],
      ]}
    />
  )
}

function ClientActions({ client }: { client: Client }) {
  const [, navigate] = useLocation()
  const [open, setOpen] = useState<'change' | 'archive' | 'remove' | null>(null)
  const close = () => setOpen(null)
  const what = { part: 'clients', id: client.id, name: client.name, isArchived: client.archived_at !== null } as const
  return (
    <>
      <Button component={Link} href={addressOf('/bills/new', { client: client.id })}>
        New bill
      </Button>
      <Button variant="default" onClick={() => setOpen('change')}>
        Edit
      </Button>
      <MoreActions>
        <Menu.Item component={Link} href={addressOf('/bills', { client: client.id })}>
          View bills
        </Menu.Item>
        <Menu.Item onClick={() => setOpen('archive')}>{what.isArchived ? 'Restore' : 'Archive'}</Menu.Item>
        <Menu.Item color="red" onClick={() => setOpen('remove')}>
          Remove
        </Menu.Item>
      </MoreActions>
      {open === 'change' && <ClientForm client={client} close={close} />}
      <ArchiveWork {...what} isOpen={open === 'archive'} close={close} />
      <RemoveWork {...what} isOpen={open === 'remove'} close={close} removed={() => navigate('/work?tab=clients')} />
    </>
  )
}

function ProjectsOf({ client, seesMoney }: { client: Client; seesMoney: boolean }) {
  const [, navigate] = useLocation()
  const query = { client: [client.id] }
  const list = useApiList(['projects', query], (api, paging) =>
    api.projects.get({ query: defined({ ...query, ...paging }) }),
  )
  const month = useCosts('month', seesMoney)
  // Every entry there is: only what is a share of a budget needs it.
  const ever = useCosts('ever', seesMoney && list.rows?.some(({ budget }) => typeof budget === 'number') === true)
  return (
    <Stack gap="xs">
      <SectionTitle>Projects</SectionTitle>
      <DataTable
        label={`Projects of ${client.name}`}
        name="client-projects"
        list={list}
        rowKey={({ id }) => id}
        open={({ id }) => navigate(`/work/projects/${id}`)}
        empty={
          <Empty title="No projects yet">
            To add a project to this client, edit the project and choose the client.
          </Empty>
        }
        columns={[
          { key: 'name', title: 'Project', value: ({ name }) => name, phone: 'title', cell: ({ name }) => name },
          { key: 'key', title: 'Key', value: ({ key }) => key, width: '20%', phone: 'hidden', cell: ({ key }) => key },
          ...(seesMoney
            ? [
                {
                  key: 'month',
                  title: 'This month',
                  value: ({ id }: { id: string }) => month?.get(id) ?? 0,
                  isNumber: true,
                  width: '140px',
                  phone: 'value' as const,
                  cell: ({ id }: { id: string }) => <MonthCost project={id} costs={month} />,
                },
                {
                  key: 'budget',
                  title: 'Budget used',
                  value: ({ id, budget }: { id: string; budget?: number | null }) =>
                    budget && ever ? (ever.get(id) ?? 0) / budget : null,
                  width: '220px',
                  phone: 'bare' as const,
                  cell: ({ id, budget }: { id: string; budget?: number | null }) =>
                    typeof budget === 'number' ? (
                      ever && <Budget used={ever.get(id) ?? 0} budget={budget} />
                    ) : (
                      <EmptyCell />
                    ),
                },
              ]
            : []),
        ]}
      />
    </Stack>
  )
}
