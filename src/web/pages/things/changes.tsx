/** The last changes of a thing, for those who may read the audit log. */
import { Anchor, Group, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { addressOf } from '../../address.ts'
import { DataTable } from '../../parts/data-table.tsx'
import { Ago } from '../../parts/figures.tsx'
import { Dimmed, SectionTitle } from '../../parts/texts.tsx'
import { answer, apiUntil } from '../../server/api.ts'
import { useRole } from '../../server/me.ts'
import { actionInWords, actorOf, differenceInWords, differencesOf } from '../audit/change.ts'

/** How many changes are shown; the audit log has the rest. */
const SHOWN = '5'

/** Nothing for everyone else, or if nothing was recorded. */
export function Changes({ of }: { of: string }) {
  const isAdmin = useRole('admin')
  const query = { object: [of], without_action: ['session'], limit: SHOWN }
  const { data } = useQuery({
    queryKey: ['audit', 'of', query],
    queryFn: ({ signal }) => answer(apiUntil(signal).audit.get({ query })),
    enabled: isAdmin,
  })
  if (!data?.data.length) return null
  return (
    <Stack gap="xs">
      <Group justify="space-between">
        <SectionTitle>History</SectionTitle>
        <Anchor component={Link} href={addressOf('/audit', { object: of })} size="sm">
          All changes
        </Anchor>
      </Group>
      <DataTable
        label="History"
        list={data.data}
        rowKey={(change) => `${change.at} ${change.action} ${change.object?.id} ${JSON.stringify(change.after)}`}
        empty={null}
        columns={[
          { key: 'at', title: 'Time', width: '140px', phone: 'value', cell: ({ at }) => <Ago at={at} /> },
          { key: 'who', title: 'Actor', width: '190px', cell: (change) => <bdi>{actorOf(change)}</bdi> },
          {
            key: 'action',
            title: 'Action',
            width: '190px',
            phone: 'title',
            cell: ({ action }) => actionInWords(action),
          },
          {
            key: 'changed',
            title: 'Changes',
            cell: (change) => (
              <Dimmed>
                <bdi>{differencesOf(change).map(differenceInWords).join(' · ')}</bdi>
              </Dimmed>
            ),
          },
        ]}
      />
    </Stack>
  )
}
