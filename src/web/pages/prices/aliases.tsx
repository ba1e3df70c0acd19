import { ActionIcon, Button, Group, Switch, Text } from '@mantine/core'
import { IconPlus, IconX } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { flag, one, useAddress } from '../../address.ts'
import { cellColumn } from '../../parts/columns.tsx'
import { ConfirmChange } from '../../parts/confirm.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Failure } from '../../parts/failure.tsx'
import { Ago } from '../../parts/figures.tsx'
import { Loading } from '../../parts/loading.tsx'
import { SearchField } from '../../parts/search-field.tsx'
import { answer, api, apiQuery, type Body } from '../../server/api.ts'
import { useRole } from '../../server/me.ts'
import { AliasForm } from './alias-form.tsx'
import { sourceText } from './price.ts'
import { PRICE_CHANGES } from './valuation.ts'

type Alias = Body<Awaited<ReturnType<(typeof api)['price-aliases']['get']>>>['data'][number]

export function Aliases() {
  const mayChange = useRole('billing', 'admin')
  const [{ all, search }, show] = useAddress({ all: flag, search: one })
  const [isAdding, setAdding] = useState(false)
  const [removing, setRemoving] = useState<Alias | null>(null)
  const { data, error, refetch } = useQuery({
    ...apiQuery(['prices', 'aliases', all], (api) => api['price-aliases'].get({ query: { all: String(all) } })),
    placeholderData: (before) => before,
  })
  const wanted = search?.toLowerCase()
  // The API returns all aliases at once.
  const rows = data?.data.filter(({ alias, model }) => !wanted || `${alias} ${model}`.toLowerCase().includes(wanted))
  return (
    <>
      <Group justify="space-between" gap="xs" mb="md">
        <Group>
          <SearchField
            label="Search aliases"
            value={search}
            change={(text) => show({ search: text }, { replace: true })}
          />
          <Switch
            label="Include aliases from price tables"
            checked={all}
            onChange={({ currentTarget }) => show({ all: currentTarget.checked })}
          />
        </Group>
        {mayChange && (
          <Button leftSection={<IconPlus size={16} />} onClick={() => setAdding(true)}>
            New alias
          </Button>
        )}
      </Group>
      {error && <Failure error={error} retry={refetch} />}
      {!rows && !error && <Loading />}
      {rows && (
        <DataTable
          label="Model aliases"
          name="aliases"
          list={rows}
          rowKey={({ alias, source }) => `${alias} ${source}`}
          columns={[...COLUMNS, ...(mayChange ? [removal(setRemoving)] : [])]}
          empty={
            wanted ? (
              <Empty title="No matching aliases">Try a shorter search, or include aliases from price tables.</Empty>
            ) : (
              <Empty title="No aliases yet">
                If agents report a model under a name that price tables don’t list, such as a deployment’s name, add an
                alias to use another model’s price.
              </Empty>
            )
          }
        />
      )}
      {isAdding && <AliasForm close={() => setAdding(false)} />}
      <RemoveAlias alias={removing} close={() => setRemoving(null)} />
    </>
  )
}

const COLUMNS: Column<Alias>[] = [
  cellColumn('alias', 'Alias', { value: ({ alias }) => alias, phone: 'title' }, ({ alias }) => (
    <Text span inherit fw={600}>
      {alias}
    </Text>
  )),
  cellColumn('model', 'Priced as', { value: ({ model }) => model, width: '32%' }, ({ model, provider }) =>
    [model, provider].filter(Boolean).join(' · '),
  ),
  cellColumn(
    'made',
    'Added',
    { value: ({ created_at }) => created_at, width: '24%' },
    ({ source, created_by, created_at }) => (
      <>
        {created_by ? created_by.name : sourceText(source)}, <Ago at={created_at} />
      </>
    ),
  ),
]

const removal = (remove: (alias: Alias) => void): Column<Alias> =>
  cellColumn(
    'remove',
    'Remove',
    { width: '84px', phone: 'value' },
    (alias) =>
      alias.source === 'admin' && (
        <ActionIcon variant="subtle" color="gray" aria-label={`Remove ${alias.alias}`} onClick={() => remove(alias)}>
          <IconX size={16} />
        </ActionIcon>
      ),
  )

function RemoveAlias({ alias, close }: { alias: Alias | null; close: () => void }) {
  return (
    <ConfirmChange
      isOpen={alias !== null}
      close={close}
      title={`Remove the alias ${alias?.alias}?`}
      action="Remove alias"
      isDangerous
      send={() => answer(api['price-aliases'].delete({}, { query: { alias: alias!.alias } }))}
      changes={PRICE_CHANGES}
      done={() => 'Alias removed.'}
    >
      <Text size="sm">
        New entries that report this name get the price listed for the name itself, if there is one. Entries already
        valued through the alias keep their list value.
      </Text>
    </ConfirmChange>
  )
}
