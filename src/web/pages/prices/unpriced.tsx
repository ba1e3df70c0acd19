/** Models in use that have no price, with actions to set one. */
import { Anchor, Button, Group, Text } from '@mantine/core'
import { useState } from 'react'
import { Link } from 'wouter'
import { addressOf } from '../../address.ts'
import { agoColumn, cellColumn, countColumn } from '../../parts/columns.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { FigureLink } from '../../parts/figure-link.tsx'
import { Count } from '../../parts/figures.tsx'
import { Dimmed } from '../../parts/texts.tsx'
import { answer, type api, apiUntil, type Body } from '../../server/api.ts'
import { useList } from '../../server/list.ts'
import { useRole } from '../../server/me.ts'
import { AliasForm } from './alias-form.tsx'
import { PriceForm } from './price-form.tsx'

type UnpricedModel = Body<Awaited<ReturnType<typeof api.reports.unpriced.get>>>['data'][number]

export const useUnpriced = () =>
  useList(['reports', 'unpriced'], (page, signal) =>
    answer(apiUntil(signal).reports.unpriced.get({ query: page === undefined ? {} : { page } })),
  )

interface Giving {
  what: 'price' | 'alias'
  model: UnpricedModel
}

export function Unpriced() {
  const mayChange = useRole('billing', 'admin')
  const [giving, setGiving] = useState<Giving | null>(null)
  const close = () => setGiving(null)
  return (
    <>
      <DataTable
        label="Models without a price"
        name="unpriced"
        list={useUnpriced()}
        rowKey={({ model, provider }) => `${model} ${provider}`}
        columns={[...COLUMNS, ...(mayChange ? [remedies(setGiving)] : [])]}
        empty={
          <Empty title="Every model in use has a price">
            If an agent reports a model without a known price, it appears here, and bills show what they leave out.
          </Empty>
        }
      />
      {giving?.what === 'price' && (
        <PriceForm start={{ model: giving.model.model, provider: giving.model.provider ?? '' }} close={close} />
      )}
      {giving?.what === 'alias' && <AliasForm alias={giving.model.model} close={close} />}
    </>
  )
}

const COLUMNS: Column<UnpricedModel>[] = [
  cellColumn('model', 'Model', { value: ({ model }) => model, phone: 'title' }, ({ model, provider }) => (
    <>
      <Text span inherit fw={600}>
        {model}
      </Text>
      {provider && <Dimmed> · {provider}</Dimmed>}
    </>
  )),
  cellColumn(
    'entries',
    'Entries',
    { value: ({ entries }) => entries, isNumber: true, width: '90px' },
    ({ model, provider, entries }) => (
      <FigureLink
        figure="entries"
        value={entries}
        to={addressOf('/entries', { model, provider: provider ?? 'none', priced: 'false' })}
      >
        <Count value={entries} />
      </FigureLink>
    ),
  ),
  countColumn('tokens', 'Tokens', ({ tokens }) => tokens.total, { width: '100px' }),
  agoColumn('first', 'First used', ({ first_at }) => first_at, { width: '130px', phone: 'hidden' }),
  agoColumn('last', 'Last used', ({ last_at }) => last_at, { width: '130px' }),
  cellColumn('why', 'Reason', { width: '90px', phone: 'hidden' }, ({ model, provider }) => (
    <Anchor
      component={Link}
      href={addressOf('/prices', { tab: 'cost', model, provider: provider ?? undefined })}
      inherit
    >
      Explain
    </Anchor>
  )),
]

const remedies = (give: (giving: Giving) => void): Column<UnpricedModel> =>
  cellColumn('give', 'Action', { phone: 'bare', width: '260px' }, (model) => (
    <Group gap={6} wrap="nowrap">
      <Button size="compact-xs" variant="light" onClick={() => give({ what: 'price', model })}>
        New price
      </Button>
      <Button size="compact-xs" variant="default" onClick={() => give({ what: 'alias', model })}>
        New alias
      </Button>
    </Group>
  ))
