import { Anchor, Group, Stack, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useLocation } from 'wouter'
import { addressOf } from '../../address.ts'
import { DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Failure } from '../../parts/failure.tsx'
import { Ago, Count, Money } from '../../parts/figures.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Status } from '../../parts/status.tsx'
import { answer, apiUntil } from '../../server/api.ts'
import { asProblem } from '../../server/problem.ts'
import type { WorkFilter } from './work-usage.ts'

/** How many entries are shown; the entries page lists the rest. */
const SHOWN = '5'

export function LastEntries({ filter }: { filter: WorkFilter }) {
  const [, navigate] = useLocation()
  const { data, error, refetch } = useQuery({
    queryKey: ['entries', 'last', filter],
    queryFn: ({ signal }) => answer(apiUntil(signal)['token-entries'].get({ query: { ...filter, limit: SHOWN } })),
  })
  return (
    <Stack gap="xs">
      <Group justify="space-between">
        <Title order={2} size="h4">
          Recent entries
        </Title>
        <Anchor component={Link} href={addressOf('/entries', { ...filter })} size="sm">
          All entries
        </Anchor>
      </Group>
      {error && <Failure problem={asProblem(error)} retry={refetch} />}
      {!data && !error && <Loading lines={3} />}
      {data && (
        <DataTable
          label="Recent entries"
          name="recent-entries"
          list={data.data}
          rowKey={({ id }) => id}
          open={({ id }) => navigate(addressOf('/entries', { ...filter, open: id }))}
          empty={
            <Empty title="No entries yet">
              Entries that name this project, or that a rule assigns to it, appear here.
            </Empty>
          }
          columns={[
            {
              key: 'at',
              title: 'Started',
              phone: 'bare',
              width: '130px',
              cell: ({ started_at }) => <Ago at={started_at} />,
            },
            {
              key: 'who',
              title: 'Agent manager',
              phone: 'bare',
              width: '18%',
              cell: ({ agent_manager }) => agent_manager.name,
            },
            {
              key: 'summary',
              title: 'Summary',
              phone: 'title',
              cell: ({ summary, agent_name, ticket }) =>
                [ticket?.key, summary ?? agent_name].filter(Boolean).join(' · '),
            },
            { key: 'model', title: 'Model', phone: 'bare', width: '18%', cell: ({ model }) => model },
            {
              key: 'status',
              title: 'Status',
              phone: 'hidden',
              width: '100px',
              cell: ({ status }) => <Status of={status} />,
            },
            {
              key: 'tokens',
              title: 'Tokens',
              isNumber: true,
              width: '90px',
              phone: 'hidden',
              cell: ({ tokens }) => <Count value={tokens.total} />,
            },
            {
              key: 'cost',
              title: 'Cost (USD)',
              isNumber: true,
              width: '130px',
              phone: 'value',
              cell: ({ cost }) => <Money amount={cost} />,
            },
          ]}
        />
      )}
    </Stack>
  )
}
