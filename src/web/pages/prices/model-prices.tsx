/** All dated prices of a model, newest first, with the tiers for long requests. */
import { Badge, Button, Drawer, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import { chargesTexts } from '../../../shared/price-texts.ts'
import { addressOf } from '../../address.ts'
import { count } from '../../format/counts.ts'
import { cellColumn } from '../../parts/columns.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { EmptyCell } from '../../parts/empty-cell.tsx'
import { Failure } from '../../parts/failure.tsx'
import { Ago } from '../../parts/figures.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Caption, Dimmed, Note } from '../../parts/texts.tsx'
import { addressOfThing } from '../../parts/thing-address.ts'
import { answer, apiUntil } from '../../server/api.ts'
import { useRole } from '../../server/me.ts'
import { EffectiveFrom } from './effective-from.tsx'
import { KINDS, type Price, priceText, providerText, sourceText } from './price.ts'
import { PriceCell } from './price-cell.tsx'
import { PriceForm } from './price-form.tsx'
import { WithdrawPrices } from './withdraw-prices.tsx'

/** More dated prices than any model has. */
const LIMIT = '200'

export const useDatedPrices = ({ provider, model }: Pick<Price, 'provider' | 'model'>) =>
  useQuery({
    queryKey: ['prices', 'model', provider, model],
    queryFn: async ({ signal }) => {
      const { data } = await answer(apiUntil(signal).prices.get({ query: { model: [model], limit: LIMIT } }))
      // The API can't filter for prices without a provider.
      return data.filter((row) => row.provider === provider)
    },
  })

export function ModelPrices({ of: { provider, model, ...price }, close }: { of: Price; close: () => void }) {
  const mayChange = useRole('billing', 'admin')
  const [open, setOpen] = useState<'set' | 'withdraw' | null>(null)
  const shut = () => setOpen(null)
  const { data, error, refetch } = useDatedPrices({ provider, model })
  return (
    <Drawer opened onClose={close} title={`${model} · ${providerText(provider)}`} size="xl">
      <Stack>
        <Note>
          In US dollars per million tokens. A price applies from its date until the next one. Prices set manually take
          precedence. Entries that already have a list value keep it.
        </Note>
        {error && <Failure error={error} retry={refetch} />}
        {!data && !error && <Loading lines={3} />}
        {data && <DatedPrices prices={data} />}
        <Group gap="xs">
          <Button
            variant="default"
            component={Link}
            href={addressOf('/prices', { tab: 'cost', model, provider: provider || undefined })}
          >
            Calculate cost
          </Button>
          <Button variant="default" component={Link} href={addressOfThing('model', model)}>
            View usage
          </Button>
          {mayChange && data?.some(isWithdrawable) && (
            <Button variant="default" onClick={() => setOpen('withdraw')}>
              Withdraw manual price
            </Button>
          )}
          {mayChange && <Button onClick={() => setOpen('set')}>New price</Button>}
        </Group>
      </Stack>
      {open === 'set' && <PriceForm start={{ ...price, provider, model }} close={shut} />}
      {open === 'withdraw' && <WithdrawPrices of={{ provider, model }} close={shut} />}
    </Drawer>
  )
}

const isWithdrawable = ({ source, effective_until }: Price) => source === 'admin' && effective_until === null

/** A dated price, or one of its tiers. */
interface Row {
  price: Price
  tier: Price['tiers'][number] | null
}

export const DatedPrices = ({ prices }: { prices: Price[] }) => (
  <DataTable
    label="Price history"
    name="price-history"
    columns={prices.some((price) => chargesTexts(price, priceText).length > 0) ? [...COLUMNS, CHARGES] : COLUMNS}
    list={prices.flatMap((price): Row[] => [{ price, tier: null }, ...price.tiers.map((tier) => ({ price, tier }))])}
    rowKey={({ price, tier }) => `${price.id} ${tier?.from_tokens ?? ''}`}
    fold={50}
    empty={null}
  />
)

/** The values of tiers are those of their price, whose order they follow. */
const COLUMNS: Column<Row>[] = [
  cellColumn(
    'from',
    'Effective from',
    { value: ({ price }) => price.effective_from, minWidth: '150px', phone: 'title' },
    ({ price, tier }) => (tier ? <TierName {...tier} /> : <Since price={price} />),
  ),
  ...KINDS.map(
    ({ kind, title }): Column<Row> =>
      cellColumn(
        kind,
        title,
        { value: ({ price }) => price[kind], isNumber: true, width: kind === 'cache_write_1h' ? '120px' : '92px' },
        ({ price, tier }) =>
          tier && tier[kind] === undefined ? <EmptyCell>same</EmptyCell> : <PriceCell price={(tier ?? price)[kind]} />,
      ),
  ),
  cellColumn(
    'source',
    'Source',
    { value: ({ price }) => sourceText(price.source), width: '124px', phone: 'bare' },
    ({ price, tier }) => (tier ? <EmptyCell>{''}</EmptyCell> : <Source price={price} />),
  ),
]

const CHARGES: Column<Row> = cellColumn('charges', 'Other charges', { minWidth: '220px' }, ({ price, tier }) =>
  tier ? (
    <EmptyCell>{''}</EmptyCell>
  ) : (
    chargesTexts(price, priceText).map((text) => (
      <Text key={text} size="xs" style={{ whiteSpace: 'normal' }}>
        {text}
      </Text>
    ))
  ),
)

const TierName = ({ from_tokens }: NonNullable<Row['tier']>) => (
  <Dimmed pl="md" style={{ whiteSpace: 'normal' }}>
    requests of {count(from_tokens)}+ tokens
  </Dimmed>
)

const Since = ({ price: { effective_from, effective_until } }: { price: Price }) => (
  <>
    <EffectiveFrom at={effective_from} />
    {effective_until !== null && (
      <Caption>
        {effective_until === effective_from ? (
          'withdrawn'
        ) : (
          <>
            until <EffectiveFrom at={effective_until} />
          </>
        )}
      </Caption>
    )}
  </>
)

const Source = ({ price: { source, loaded_by, loaded_at } }: { price: Price }) => (
  <>
    {source === 'admin' ? <Badge>{sourceText(source)}</Badge> : sourceText(source)}
    <Caption>
      {loaded_by && `${loaded_by.name}, `}
      <Ago at={loaded_at} />
    </Caption>
  </>
)
