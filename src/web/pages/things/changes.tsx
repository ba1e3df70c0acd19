/** The last changes of a thing, for those who may read the audit log. */
import { Anchor, Group, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { addressOf } from '../../address.ts'
import { DataTable } from '../../parts/data-table.tsx'
import { Ago } from '../../parts/figures.tsx'
import { ChangeSentence } from '../../parts/sentence.tsx'
import { SectionTitle } from '../../parts/texts.tsx'
import { apiQuery } from '../../server/api.ts'
import { useRole } from '../../server/me.ts'

/** How many changes are shown; the audit log has the rest. */
const SHOWN = '5'

/** Nothing for everyone else, or if nothing was recorded. */
export function Changes({ of }: { of: string }) {
  const isAdmin = useRole('admin')
  const query = { object: [of], without_action: ['session'], limit: SHOWN }
  const { data } = useQuery({
    ...apiQuery(['audit', 'of', query], (api) => api.audit.get({ query })),
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
          { key: 'at', title: 'Time', width: '140px', phone: 'title', cell: ({ at }) => <Ago at={at} /> },
          { key: 'change', title: 'Change', phone: 'bare', cell: (change) => <ChangeSentence of={change} /> },
        ]}
      />
    </Stack>
  )
}
