/** What one person's agents used, as far as the viewer sees it, and the person's token sheets. */
import { Anchor, Button, Group, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useLocation } from 'wouter'
import { addressOf } from '../../address.ts'
import { BudgetsOf } from '../../parts/budgets/budget-table.tsx'
import { DataTable } from '../../parts/data-table.tsx'
import { Details } from '../../parts/details.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Page } from '../../parts/page.tsx'
import { SectionTitle } from '../../parts/texts.tsx'
import { usageQuery } from '../../parts/usage/usage.ts'
import { WhenNear } from '../../parts/when-near.tsx'
import { apiQuery } from '../../server/api.ts'
import { useMe, useRole, useSettings } from '../../server/me.ts'
import { NotFound } from '../../shell/not-found.tsx'
import { COLUMNS } from '../sheets/sheet-list.tsx'
import { Changes } from './changes.tsx'
import { usageOf } from './kinds.ts'
import { ThingUsage } from './thing-usage.tsx'
import { ANY_TIME, usagePeriodOf } from './usage-period.ts'

export function PersonUsage({ id }: { id: string }) {
  const { name, email, role, isMissing, isKnown } = usePerson(id)
  const isAdmin = useRole('admin')
  if (isMissing) return <NotFound />
  if (!isKnown) return <Loading />
  return (
    <Page
      title={name ?? 'Person without entries'}
      lead="Agent manager"
      above={{ href: addressOf('/reports', { by: 'agent_manager' }), title: 'Agent managers' }}
      actions={
        isAdmin && (
          <Button variant="default" component={Link} href={`/people/${encodeURIComponent(id)}`}>
            Manage account
          </Button>
        )
      }
    >
      <Details
        of={[
          ['E-mail address', email],
          ['Role', role],
        ]}
      />
      <ThingUsage of={usageOf('person', id)} />
      <WhenNear>
        <Stack gap="md">
          <BudgetsOf query={{ agent_manager: [id] }} label="Budgets of this person" />
          <Sheets id={id} />
          <Changes of={id} />
        </Stack>
      </WhenNear>
    </Page>
  )
}

interface Person {
  /** Undefined if the viewer sees no entry of theirs, and so may not know who it is. */
  name?: string | undefined
  email?: string | undefined
  role?: string | undefined
}

/** Admins know everyone, others the people whose entries they see. */
function usePerson(id: string): Person & { isMissing: boolean; isKnown: boolean } {
  const { time_zone } = useSettings()
  const me = useMe()
  const isAdmin = useRole('admin')
  const isMe = me.person.id === id
  const account = useQuery({
    ...apiQuery(['users', id], (api) => api.users({ id }).get()),
    enabled: isAdmin,
  })
  const { period } = usagePeriodOf(ANY_TIME, ANY_TIME, time_zone)
  const seen = useQuery({
    ...usageQuery({
      period,
      filter: { agent_manager: [id] },
      width: 'all',
      by: ['agent_manager'],
      include: [],
    }),
    enabled: !isAdmin && !isMe,
  })
  if (isAdmin) return { ...account.data, isMissing: account.isError, isKnown: account.data !== undefined }
  if (isMe) return { name: me.person.name, email: me.person.email, isMissing: false, isKnown: true }
  const name = seen.data?.data[0]?.results[0]?.agent_manager?.name
  return { name, isMissing: seen.isError, isKnown: seen.data !== undefined }
}

/** How many sheets are shown; the page of sheets has the rest. */
const SHEETS = '5'

/** Nothing if the viewer sees none. */
function Sheets({ id }: { id: string }) {
  const [, navigate] = useLocation()
  const { data } = useQuery(
    apiQuery(['sheets', 'of', id], (api) => api['token-sheets'].get({ query: { agent_manager: [id], limit: SHEETS } })),
  )
  if (!data?.data.length) return null
  return (
    <Stack gap="xs">
      <Group justify="space-between">
        <SectionTitle>Token sheets</SectionTitle>
        <Anchor component={Link} href="/sheets" size="sm">
          All token sheets
        </Anchor>
      </Group>
      <DataTable
        label="Token sheets"
        list={data.data}
        rowKey={({ id }) => id}
        open={({ id }) => navigate(`/sheets/${id}`)}
        empty={null}
        columns={COLUMNS.filter(({ key }) => key !== 'who')}
      />
    </Stack>
  )
}
