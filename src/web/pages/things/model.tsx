/** One model, by the name that reports have: its usage, the price in force and earlier prices. */
import { Button, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { addressOf } from '../../address.ts'
import { Failure } from '../../parts/failure.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Page } from '../../parts/page.tsx'
import { Note, SectionTitle } from '../../parts/texts.tsx'
import { WhenNear } from '../../parts/when-near.tsx'
import { apiQuery } from '../../server/api.ts'
import { NoPrice, PriceInForce } from '../prices/model-cost.tsx'
import { DatedPrices, useDatedPrices } from '../prices/model-prices.tsx'
import type { Price } from '../prices/price.ts'
import { usageOf } from './kinds.ts'
import { ThingUsage } from './thing-usage.tsx'

export const ModelPage = ({ name }: { name: string }) => (
  <Page
    title={name}
    lead="Model"
    above={{ href: addressOf('/reports', { by: 'model' }), title: 'Models' }}
    actions={
      <Button variant="default" component={Link} href={addressOf('/prices', { tab: 'cost', model: name })}>
        Calculate cost
      </Button>
    }
  >
    <ThingUsage of={usageOf('model', name)} />
    <WhenNear>
      <Prices model={name} />
    </WhenNear>
  </Page>
)

function Prices({ model }: { model: string }) {
  const { data, error, refetch } = useQuery(
    apiQuery(['prices', 'resolve', { model }], (api) => api.prices.resolve.get({ query: { model } })),
  )
  return (
    <Stack gap="xs">
      <SectionTitle>Price in force</SectionTitle>
      {error && !data && <Failure error={error} retry={refetch} />}
      {!data && !error && <Loading lines={3} />}
      {data && (data.price ? <PriceInForce resolution={data} price={data.price} /> : <NoPrice model={model} />)}
      {data?.price && <PriceHistory of={data.price} />}
    </Stack>
  )
}

/** Of the model whose price it is, which can have another name: the reported one may be an alias. */
function PriceHistory({ of }: { of: Price }) {
  const { data, error, refetch } = useDatedPrices(of)
  return (
    <>
      <SectionTitle mt="md">Price history</SectionTitle>
      <Note>In US dollars per million tokens. A price applies from its date until the next one.</Note>
      {error && !data && <Failure error={error} retry={refetch} />}
      {data && <DatedPrices prices={data} />}
    </>
  )
}
