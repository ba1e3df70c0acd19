import { Box, Select, Text } from '@mantine/core'
import { useState } from 'react'
import { one, useAddress } from '../../address.ts'
import { cellColumn, textColumn } from '../../parts/columns.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { DownloadCsv } from '../../parts/download.tsx'
import { Empty } from '../../parts/empty.tsx'
import { SearchField } from '../../parts/search-field.tsx'
import { optionsOf } from '../../parts/segmented.tsx'
import type { Sorting } from '../../parts/sorting.tsx'
import { Caption, Note } from '../../parts/texts.tsx'
import { Toolbar } from '../../parts/toolbar.tsx'
import { useApiList } from '../../server/list.ts'
import { EffectiveFrom } from './effective-from.tsx'
import { ModelPrices } from './model-prices.tsx'
import { KINDS, type ListedPrice, type Price, providerText, SOURCES, sourceText } from './price.ts'
import { PriceCell } from './price-cell.tsx'

export function PriceList() {
  const [{ search, source }, show] = useAddress({ search: one, source: one })
  const [open, setOpen] = useState<Price | null>(null)
  const [sorting, setSorting] = useState<Pick<Sorting, 'by' | 'order'>>({ by: 'model', order: 'asc' })
  const query = {
    ...(search === undefined ? {} : { search }),
    ...(source === undefined ? {} : { source: [source] }),
  }
  // Complete lists are sorted by other columns here.
  const order = sorting.by === 'model' ? sorting.order : 'asc'
  const list = useApiList(['prices', 'list', query, order], (api, paging) =>
    api.prices.get({ query: { ...query, sort: 'model', order, ...paging } }),
  )
  return (
    <>
      <Box mb="md">
        <Toolbar actions={<DownloadCsv path="/prices" query={query} />}>
          <SearchField
            label="Search models or providers"
            value={search}
            change={(text) => show({ search: text }, { replace: true })}
          />
          <Select
            aria-label="Source"
            placeholder="Any source"
            data={optionsOf(SOURCES)}
            value={source ?? null}
            onChange={(value) => show({ source: value ?? undefined })}
            clearable
            w={190}
          />
        </Toolbar>
      </Box>
      <Note>Models used in the last 90 days come first.</Note>
      <DataTable
        label="Prices, in US dollars per million tokens"
        name="prices"
        columns={COLUMNS}
        list={list}
        sorting={{ ...sorting, change: (by, order) => setSorting({ by, order }) }}
        rowKey={({ id }) => id}
        open={setOpen}
        openKey={open?.id}
        empty={
          <Empty title="No matching prices">
            Try a shorter search. The cost calculator shows how a name is priced that no table lists exactly.
          </Empty>
        }
      />
      {open && <ModelPrices of={open} close={() => setOpen(null)} />}
    </>
  )
}

const COLUMNS: Column<ListedPrice>[] = [
  cellColumn('model', 'Model', { sort: 'model', phone: 'title' }, ({ model, tiers, in_use }) => (
    <>
      <Text span inherit fw={600}>
        {model}
      </Text>
      <Caption span> {[in_use && 'in use', tiers.length > 0 && 'tiered'].filter(Boolean).join(', ')}</Caption>
    </>
  )),
  textColumn('provider', 'Provider', ({ provider }) => providerText(provider), { phone: 'bare', width: '10%' }),
  ...KINDS.map(
    ({ kind, title }): Column<ListedPrice> =>
      cellColumn(
        kind,
        title,
        {
          value: (price) => price[kind],
          isNumber: true,
          phone: kind === 'input' || kind === 'output' ? 'line' : 'hidden',
          width: kind === 'cache_write_1h' ? '120px' : '88px',
        },
        (price) => <PriceCell price={price[kind]} />,
      ),
  ),
  cellColumn(
    'from',
    'Effective from',
    { value: ({ effective_from }) => effective_from, width: '148px' },
    ({ effective_from }) => <EffectiveFrom at={effective_from} />,
  ),
  textColumn('source', 'Source', ({ source }) => sourceText(source), { phone: 'hidden', width: '116px' }),
]
