/** One project: its details, usage, tickets and recent entries. */
import { Alert, Anchor, Badge, Button, Code, Group, Menu, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import { addressOf } from '../../address.ts'
import { BudgetsOf } from '../../parts/budgets/budget-table.tsx'
import { Details } from '../../parts/details.tsx'
import { Failure } from '../../parts/failure.tsx'
import { Loading } from '../../parts/loading.tsx'
import { MoreActions } from '../../parts/more-actions.tsx'
import { Page } from '../../parts/page.tsx'
import { Dimmed, SectionTitle } from '../../parts/texts.tsx'
import { WhenNear } from '../../parts/when-near.tsx'
import { useMe, useRole } from '../../server/me.ts'
import { Changes } from '../things/changes.tsx'
import { projectQuery } from '../things/first-requests.ts'
import { usageOf } from '../things/kinds.ts'
import { ThingUsage } from '../things/thing-usage.tsx'
import { MergeProject } from './merge-project.tsx'
import type { Project } from './project.ts'
import { ProjectForm } from './project-form.tsx'
import { TicketTable } from './ticket-table.tsx'
import { ArchiveWork, RemoveWork } from './work-changes.tsx'

export function ProjectPage({ id }: { id: string }) {
  const { data, error, refetch } = useQuery(projectQuery(id))
  if (error) return <Failure error={error} retry={refetch} />
  return data ? <OneProject project={data} /> : <Loading />
}

function OneProject({ project }: { project: Project }) {
  const { key, name, archived_at, merged_into } = project
  return (
    <Page
      above={{ href: '/work', title: 'Work' }}
      title={
        <Group gap="xs">
          {name}
          {name !== key && <Dimmed>{key}</Dimmed>}
          {archived_at && !merged_into && <Badge color="gray">archived</Badge>}
          {project.billable === false && <Badge color="gray">not billable</Badge>}
        </Group>
      }
      actions={merged_into ? undefined : <ProjectActions project={project} />}
    >
      {merged_into && (
        <Alert color="gray" variant="light">
          Merged into{' '}
          <Anchor component={Link} href={`/work/projects/${merged_into.id}`} inherit>
            {merged_into.name}
          </Anchor>
          , which now has its names. Entries billed before the merge stay here.
        </Alert>
      )}
      <ProjectDetails project={project} />
      <ThingUsage of={usageOf('project', project.id)} />
      <WhenNear>
        <Stack gap="md">
          <BudgetsOf query={{ project: [project.id] }} label={`Budgets of ${key}`} />
          <Stack gap="xs">
            <Group justify="space-between">
              <SectionTitle>Tickets</SectionTitle>
              <Anchor component={Link} href={addressOf('/work', { tab: 'tickets', project: project.key })} size="sm">
                All tickets
              </Anchor>
            </Group>
            <TicketTable query={{ project: [project.id] }} label={`Tickets of ${key}`} hasProject={false} isShort />
          </Stack>
          <Changes of={project.id} />
        </Stack>
      </WhenNear>
    </Page>
  )
}

/** The project's own people, then those of its client. Undefined if the viewer may not see them. */
function peopleText(own: People | undefined, ofClient: People | undefined): string | undefined {
  if (!own) return undefined
  const names = [...own.map(({ name }) => name), ...(ofClient ?? []).map(({ name }) => `${name} (client)`)]
  return names.join(', ') || 'None'
}
type People = { name: string }[]

const ProjectDetails = ({
  project: { client, markup, aliases, billable, repositories = [], ...people },
}: {
  project: Project
}) => (
  <Details
    of={[
      [
        'Client',
        client ? (
          <Anchor key="client" component={Link} href={`/work/clients/${client.id}`} size="sm">
            {client.name}
          </Anchor>
        ) : (
          `None${billable === undefined ? '' : ' (billed to no client)'}`
        ),
      ],
      ['Leads', peopleText(people.leads, people.client_leads)],
      ['Approvers', peopleText(people.approvers, people.client_approvers)],
      ['Markup', markup === undefined ? undefined : markup === null ? 'Client default' : `${markup}%`],
      ['Billable', billable === undefined ? undefined : billable ? 'Yes' : 'No'],
      [
        'Repositories',
        repositories.length > 0 && (
          <Group gap={4}>
            {repositories.map((repository) => (
              <Anchor
                key={repository}
                component={Link}
                href={addressOf('/unattributed', { label: [`repository:${repository}`] })}
                size="sm"
              >
                <bdi>{repository}</bdi>
              </Anchor>
            ))}
          </Group>
        ),
      ],
      [
        'Aliases',
        aliases.length > 0 && (
          <Group gap={4}>
            {aliases.map((alias) => (
              <Code key={alias}>{alias}</Code>
            ))}
          </Group>
        ),
      ],
    ]}
  />
)

function ProjectActions({ project }: { project: Project }) {
  const [, navigate] = useLocation()
  const [open, setOpen] = useState<'change' | 'merge' | 'archive' | 'remove' | null>(null)
  const mayChangeAll = useRole('billing', 'admin')
  const leads = useMe().ledIds.includes(project.id)
  const close = () => setOpen(null)
  if (!mayChangeAll && !leads) return null
  const what = {
    part: 'projects',
    id: project.id,
    name: project.key,
    isArchived: project.archived_at !== null,
  } as const
  return (
    <>
      <Button variant="default" onClick={() => setOpen('change')}>
        {mayChangeAll ? 'Edit' : 'Edit aliases'}
      </Button>
      {mayChangeAll && (
        <MoreActions>
          <Menu.Item onClick={() => setOpen('merge')}>Merge into another project…</Menu.Item>
          <Menu.Item onClick={() => setOpen('archive')}>{what.isArchived ? 'Restore' : 'Archive'}</Menu.Item>
          <Menu.Item color="red" onClick={() => setOpen('remove')}>
            Remove
          </Menu.Item>
        </MoreActions>
      )}
      {open === 'change' && <ProjectForm project={project} close={close} />}
      {open === 'merge' && <MergeProject project={project} close={close} />}
      <ArchiveWork {...what} isOpen={open === 'archive'} close={close} />
      <RemoveWork {...what} isOpen={open === 'remove'} close={close} removed={() => navigate('/work')} />
    </>
  )
}
