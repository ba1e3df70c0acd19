/** All dated prices of a model, newest first, with the tiers for long requests. */
import { Badge, Button, Drawer, Group, ScrollArea, Stack, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import { chargesTexts } from '../../../price-texts.ts'
import { addressOf } from '../../address.ts'
import { count } from '../../format/counts.ts'
import { Failure } from '../../parts/failure.tsx'
import { Ago } from '../../parts/figures.tsx'
import { Loading } from '../../parts/loading.tsx'
import { addressOfThing } from '../../parts/thing-address.ts'
import { answer, apiUntil } from '../../server/api.ts'
import { useRole } from '../../server/me.ts'
import { asProblem } from '../../server/problem.ts'
import { EffectiveFrom } from './effective-from.tsx'
import { KINDS, type Price, priceText, providerText, sourceText } from './price.ts'
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
        <Text size="sm" c="dimmed">
          In US dollars per million tokens. A price applies from its date until the next one. Prices set manually take
          precedence. Entries that already have a list value keep it.
        </Text>
        {error && <Failure problem={asProblem(error)} retry={refetch} />}
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
          {mayChange && <Button onClick={() => setOpen('set')}>Set new price</Button>}
        </Group>
      </Stack>
      {open === 'set' && <PriceForm start={{ ...price, provider, model }} close={shut} />}
      {open === 'withdraw' && <WithdrawPrices of={{ provider, model }} close={shut} />}
    </Drawer>
  )
}

const isWithdrawable = ({ source, effective_until }: Price) => source === 'admin' && effective_until === null

export const DatedPrices = ({ prices }: { prices: Price[] }) => (
  <ScrollArea type="auto" viewportProps={{ tabIndex: 0 }}>
    <Table fz="sm" verticalSpacing={5} aria-label="Price history" miw={560}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Effective from</Table.Th>
          {KINDS.map(({ kind, title }) => (
            <Table.Th key={kind} ta="right">
              {title}
            </Table.Th>
          ))}
          <Table.Th>Source</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {prices.map((price) => (
          <PriceRows key={price.id} price={price} />
        ))}
      </Table.Tbody>
    </Table>
  </ScrollArea>
)

const PriceRows = ({ price }: { price: Price }) => (
  <>
    <Table.Tr>
      <Table.Td>
        <EffectiveFrom at={price.effective_from} />
        {price.effective_until !== null && (
          <Text size="xs" c="dimmed">
            {price.effective_until === price.effective_from ? (
              'withdrawn'
            ) : (
              <>
                until <EffectiveFrom at={price.effective_until} />
              </>
            )}
          </Text>
        )}
      </Table.Td>
      {KINDS.map(({ kind }) => (
        <Table.Td key={kind} ta="right">
          {priceText(price[kind])}
        </Table.Td>
      ))}
      <Table.Td>
        {price.source === 'admin' ? <Badge>{sourceText(price.source)}</Badge> : sourceText(price.source)}
        <Text size="xs" c="dimmed">
          {price.loaded_by && `${price.loaded_by.name}, `}
          <Ago at={price.loaded_at} />
        </Text>
      </Table.Td>
    </Table.Tr>
    {price.tiers.map((tier) => (
      <Table.Tr key={tier.from_tokens}>
        <Table.Td pl="lg" c="dimmed">
          requests of {count(tier.from_tokens)}+ tokens
        </Table.Td>
        {KINDS.map(({ kind }) => (
          <Table.Td key={kind} ta="right" c={tier[kind] === undefined ? 'dimmed' : undefined}>
            {tier[kind] === undefined ? 'same' : priceText(tier[kind])}
          </Table.Td>
        ))}
        <Table.Td />
      </Table.Tr>
    ))}
    {chargesTexts(price, priceText).map((text) => (
      <Table.Tr key={text}>
        <Table.Td pl="lg" c="dimmed" colSpan={KINDS.length + 2}>
          {text}
        </Table.Td>
      </Table.Tr>
    ))}
  </>
)
