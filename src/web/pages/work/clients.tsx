import { Badge, Button, Group, Text } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { one, oneOf, useAddress } from '../../address.ts'
import { agoColumn, cellColumn } from '../../parts/columns.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { DownloadCsv } from '../../parts/download.tsx'
import { Empty } from '../../parts/empty.tsx'
import { EmptyCell } from '../../parts/empty-cell.tsx'
import { useListOrder } from '../../parts/sorting.tsx'
import { useApiList } from '../../server/list.ts'
import { useRole, useSettings } from '../../server/me.ts'
import { ClientForm } from './client-form.tsx'
import { ARCHIVED, ListHead } from './list-head.tsx'
import type { Client } from './project.ts'
import { defined } from './projects.tsx'

/** The orders that the API knows. */
const SORTS = ['name', 'created_at'] as const

export function Clients() {
  const [, navigate] = useLocation()
  const seesMoney = useRole('billing', 'admin')
  const { currency } = useSettings()
  const [isAdding, setAdding] = useState(false)
  const [{ search, archived }, show] = useAddress({ search: one, archived: oneOf(...ARCHIVED) })
  const query = { search, archived }
  const { sorting, query: ordered } = useListOrder(SORTS, { by: 'name', order: 'asc' })
  const list = useApiList(['clients', query, ordered], (api, paging) =>
    api.clients.get({ query: defined({ ...query, ...ordered, ...paging }) }),
  )
  return (
    <>
      <ListHead
        what="clients"
        search={search}
        archived={archived}
        show={show}
        actions={
          <>
            <DownloadCsv path="/clients" query={query} />
            {seesMoney && (
              <Button leftSection={<IconPlus size={16} />} onClick={() => setAdding(true)}>
                New client
              </Button>
            )}
          </>
        }
      />
      <DataTable
        label="Clients"
        name="clients"
        columns={[NAME, ...(seesMoney ? billing(currency) : []), ADDED]}
        list={list}
        sorting={sorting}
        rowKey={({ id }) => id}
        open={({ id }) => navigate(`/work/clients/${id}`)}
        isMuted={({ archived_at }) => archived_at !== null}
        empty={
          search !== undefined || archived !== 'false' ? (
            <Empty title="No matching clients">Try a shorter search, or include archived clients.</Empty>
          ) : (
            <Empty title="No clients yet">
              A client receives the bills for its projects. You don’t need clients if you send no bills, or bill only
              your own team.
            </Empty>
          )
        }
      />
      {isAdding && <ClientForm close={() => setAdding(false)} saved={({ id }) => navigate(`/work/clients/${id}`)} />}
    </>
  )
}

const NAME: Column<Client> = cellColumn(
  'name',
  'Client',
  { sort: 'name', value: ({ name }) => name, phone: 'title' },
  ({ name, archived_at }) => (
    <Group gap={6} wrap="nowrap">
      <Text span inherit fw={600} truncate>
        {name}
      </Text>
      {archived_at && <Badge color="gray">archived</Badge>}
    </Group>
  ),
)

const billing = (currency: string): Column<Client>[] => [
  cellColumn(
    'email',
    'Bills sent to',
    { value: ({ email }) => email, width: '28%', phone: 'bare' },
    ({ email }) => email ?? <EmptyCell>no e-mail address</EmptyCell>,
  ),
  cellColumn(
    'currency',
    'Currency',
    { value: (client) => client.currency ?? currency, width: '90px' },
    (client) => client.currency ?? currency,
  ),
  cellColumn(
    'markup',
    'Markup (%)',
    { value: ({ markup }) => markup, isNumber: true, width: '110px' },
    ({ markup }) => markup ?? 'default',
  ),
]

const ADDED: Column<Client> = agoColumn('created', 'Added', ({ created_at }) => created_at, {
  sort: 'created_at',
  width: '140px',
  phone: 'hidden',
})
