import { Button, Select, TextInput } from '@mantine/core'
import { IconPlus, IconSearch } from '@tabler/icons-react'
import { useLocation } from 'wouter'
import { one, oneOf, useAddress } from '../../address.ts'
import { cellColumn, momentColumn, statusColumn, textColumn } from '../../parts/columns.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { DownloadCsv } from '../../parts/download.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Ago } from '../../parts/figures.tsx'
import { Page } from '../../parts/page.tsx'
import { Segmented } from '../../parts/segmented.tsx'
import { useListOrder } from '../../parts/sorting.tsx'
import { Dimmed } from '../../parts/texts.tsx'
import { Toolbar } from '../../parts/toolbar.tsx'
import { useApiList } from '../../server/list.ts'
import { Invite } from './invite.tsx'
import { type Person, ROLES, stateOf } from './roles.ts'

/** The orders that the API knows. */
const SORTS = ['name', 'email', 'role', 'last_signed_in_at', 'created_at'] as const

export function PeopleList() {
  const [, navigate] = useLocation()
  const [{ search, role, state, invite }, show] = useAddress({
    search: one,
    role: one,
    state: oneOf('active', 'disabled', 'any'),
    invite: one,
  })
  const query = {
    ...(search && { search }),
    ...(role && { role: [role] }),
    ...(state !== 'any' && { state }),
  }
  const { sorting, query: ordered } = useListOrder(SORTS, { by: 'name', order: 'asc' })
  const list = useApiList(['users', 'list', query, ordered], (api, paging) =>
    api.users.get({ query: { ...query, ...ordered, ...paging } }),
  )
  return (
    <Page
      title="People"
      lead="People who can sign in, and their roles."
      actions={
        <>
          <DownloadCsv path="/users" query={query} />
          <Button leftSection={<IconPlus size={16} />} onClick={() => show({ invite: 'true' })}>
            Invite person
          </Button>
        </>
      }
    >
      <Toolbar>
        <TextInput
          type="search"
          aria-label="Search"
          placeholder="Name or e-mail address"
          leftSection={<IconSearch size={16} />}
          value={search ?? ''}
          onChange={(event) => show({ search: event.currentTarget.value }, { replace: true })}
        />
        <Select
          aria-label="Role"
          placeholder="Any role"
          clearable
          w={140}
          data={ROLES.map(({ value }) => value)}
          value={role ?? null}
          onChange={(value) => show({ role: value ?? undefined })}
        />
        <Segmented
          aria-label="State"
          value={state}
          choose={(state) => show({ state })}
          titles={{ active: 'Active', disabled: 'Disabled', any: 'All' }}
        />
      </Toolbar>
      <DataTable
        label="People"
        name="people"
        columns={COLUMNS}
        list={list}
        sorting={sorting}
        rowKey={({ id }) => id}
        open={({ id }) => navigate(`/people/${id}`)}
        isMuted={({ disabled_at }) => disabled_at !== null}
        empty={<Empty title="No people match these filters">Change or clear the filters.</Empty>}
      />
      <Invite isOpen={invite === 'true'} close={() => show({ invite: undefined }, { replace: true })} />
    </Page>
  )
}

const COLUMNS: Column<Person>[] = [
  textColumn('name', 'Name', ({ name }) => name, { sort: 'name', phone: 'title' }),
  textColumn('email', 'E-mail address', ({ email }) => email, { sort: 'email', phone: 'bare' }),
  textColumn('role', 'Role', ({ role }) => role, { sort: 'role', width: '100px', phone: 'value' }),
  cellColumn(
    'signed_in',
    'Last signed in',
    { sort: 'last_signed_in_at', value: ({ last_signed_in_at }) => last_signed_in_at, width: '150px' },
    ({ last_signed_in_at, has_password }) => (has_password ? <Ago at={last_signed_in_at} /> : <Dimmed>Invited</Dimmed>),
  ),
  momentColumn('added', 'Added', ({ created_at }) => created_at, {
    sort: 'created_at',
    width: '165px',
    phone: 'hidden',
  }),
  statusColumn('state', 'State', stateOf, { width: '100px', phone: 'bare' }),
]
