/** The cost calculator: which price applies to a model and why, and the cost of a number of tokens. */
import { Alert, Box, Button, Group, Paper, SimpleGrid, Space, Stack, Text, TextInput, Timeline } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { chargesTexts, noteTexts, tierTexts } from '../../../shared/price-texts.ts'
import { one, useAddress } from '../../address.ts'
import { count, decimalsOf } from '../../format/counts.ts'
import { hasUnreadable } from '../../format/read-numbers.ts'
import { cellColumn } from '../../parts/columns.tsx'
import { DateField } from '../../parts/date-field.tsx'
import { Details } from '../../parts/details.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Failure } from '../../parts/failure.tsx'
import { focusFirstIssue } from '../../parts/first-issue.ts'
import { Loading } from '../../parts/loading.tsx'
import { ModelInput } from '../../parts/model-input.tsx'
import { CountField } from '../../parts/number-fields.tsx'
import { type PlainColumn, PlainTable } from '../../parts/plain-table.tsx'
import { Caption, CardTitle, Note } from '../../parts/texts.tsx'
import { apiQuery } from '../../server/api.ts'
import { useRole } from '../../server/me.ts'
import { AliasForm } from './alias-form.tsx'
import { EffectiveFrom } from './effective-from.tsx'
import { KIND_TITLES, KINDS, type Kind, priceText, providerText, type Resolution, sourceText } from './price.ts'
import { PriceForm } from './price-form.tsx'

const RESOLVE_ADDRESS = {
  model: one,
  provider: one,
  at: one,
  input: one,
  output: one,
  cache_read: one,
  cache_write: one,
  cache_write_1h: one,
}

export function ModelCost() {
  const [address, show] = useAddress(RESOLVE_ADDRESS)
  const { model } = address
  const query = Object.fromEntries(Object.entries(address).filter(([, value]) => value !== undefined))
  const { data, error, refetch, isFetching } = useQuery({
    ...apiQuery(['prices', 'resolve', query], (api) => api.prices.resolve.get({ query: query })),
    enabled: model !== undefined,
    placeholderData: (before) => before,
  })
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }} spacing="xl">
      <Question key={JSON.stringify(query)} address={address} ask={show} isAsking={isFetching} />
      <div aria-live="polite">
        {model === undefined && (
          <Empty title="Enter a model">
            Use the name that agents report, such as <code>claude-sonnet-4-5</code>. The price that applies, and why,
            appears here.
          </Empty>
        )}
        {error && <Failure error={error} retry={refetch} />}
        {model !== undefined && !data && !error && <Loading />}
        {data && model !== undefined && !error && <Resolved resolution={data} />}
      </div>
    </SimpleGrid>
  )
}

type ResolveAddress = { [Name in keyof typeof RESOLVE_ADDRESS]: string | undefined }

interface QuestionProps {
  address: ResolveAddress
  ask: (address: ResolveAddress) => void
  isAsking: boolean
}

/** Example counts of a typical request. */
const USUAL = { input: 1_200, output: 340, cache_read: 15_000 }

function Question({ address, ask, isAsking }: QuestionProps) {
  const form = useForm({
    initialValues: {
      model: address.model ?? '',
      provider: address.provider ?? '',
      at: address.at ?? null,
      counts: Object.fromEntries(
        KINDS.map(({ kind }) => [
          kind,
          (address[kind] === undefined ? undefined : Number(address[kind])) ??
            (address.model === undefined ? (USUAL as Partial<Record<Kind, number>>)[kind] : '') ??
            '',
        ]),
      ) as Record<Kind, string | number>,
    },
    validate: { model: (model) => (model.trim() === '' ? 'Required.' : null) },
  })
  const submit = form.onSubmit(({ model, provider, at, counts }) => {
    if (hasUnreadable(counts)) return focusFirstIssue()
    ask({
      model: model.trim(),
      provider: provider.trim() || undefined,
      at: at ?? undefined,
      ...(Object.fromEntries(
        KINDS.map(({ kind }) => [kind, counts[kind] === '' ? undefined : String(counts[kind])]),
      ) as Record<Kind, string | undefined>),
    })
  })
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="sm">
        <ModelInput label="Model" placeholder="claude-sonnet-4-5" required {...form.getInputProps('model')} />
        <SimpleGrid cols={2} spacing="xs">
          <TextInput label="Provider" placeholder="Any" {...form.getInputProps('provider')} />
          <DateField label="Date" placeholder="Now" clearable {...form.getInputProps('at')} />
        </SimpleGrid>
        <SimpleGrid cols={{ base: 2, sm: 3 }} spacing="xs">
          {KINDS.map(({ kind, title }) => (
            <CountField key={kind} label={`${title} tokens`} {...form.getInputProps(`counts.${kind}`)} />
          ))}
        </SimpleGrid>
        <Group>
          <Button type="submit" loading={isAsking}>
            Calculate cost
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

function Resolved({ resolution }: { resolution: Resolution }) {
  const { model, price } = resolution
  return (
    <Stack gap="md">
      {price ? <PriceInForce resolution={resolution} price={price} /> : <NoPrice model={model} />}
      <Why resolution={resolution} />
    </Stack>
  )
}

interface PriceInForceProps {
  resolution: Resolution
  /** That of the resolution. */
  price: NonNullable<Resolution['price']>
}

/** The price that applies, where it is from, and what it makes of the token counts that were asked for. */
export const PriceInForce = ({ resolution: { sources, value }, price }: PriceInForceProps) => (
  <Paper withBorder p="md">
    <CardTitle>
      <bdi>{price.model}</bdi> · {providerText(price.provider)}
    </CardTitle>
    <Box my="xs">
      <Details of={KINDS.map(({ kind, title }) => [title, price[kind] !== null && `$${priceText(price[kind])}`])} />
    </Box>
    <Note>
      Per million tokens,{' '}
      {price.effective_from === null ? (
        'always in effect'
      ) : (
        <>
          in effect from <EffectiveFrom at={price.effective_from} />
        </>
      )}
      . Source: {sourceText(price.source)}
      {sources.length > 0 && `: ${sources.map(({ source, as_of }) => `${source} of ${as_of}`).join(', ')}`}
      {sources.length === 0 && price.as_of !== null && `, as of ${price.as_of}`}
    </Note>
    {[...tierTexts(price.tiers, priceText), ...chargesTexts(price, priceText)].map((text) => (
      <Note key={text}>{text}</Note>
    ))}
    {value && <Arithmetic value={value} />}
  </Paper>
)

/** With all digits, because a request often costs less than a cent. */
const dollars = (amount: number) => decimalsOf(amount, 2, 12)

type Value = NonNullable<Resolution['value']>

const PARTS: PlainColumn<Value['parts'][number]>[] = [
  cellColumn('tokens', 'Tokens', {}, ({ kind, from_tokens }) => (
    <>
      {KIND_TITLES[kind]}
      {from_tokens !== null && <Caption>price for requests of {count(from_tokens)} tokens or more</Caption>}
    </>
  )),
  cellColumn('count', 'Count', { isNumber: true }, ({ tokens }) => count(tokens)),
  cellColumn('price', 'Per million', { isNumber: true }, ({ price }) => priceText(price)),
  cellColumn('amount', 'USD', { isNumber: true }, ({ amount }) => dollars(amount)),
]

const Arithmetic = ({ value: { parts, note, list_value } }: { value: Value }) => (
  <>
    <Space h="sm" />
    <PlainTable
      label="Calculation"
      columns={PARTS}
      rows={parts}
      rowKey={({ kind }) => kind}
      foot={{ tokens: 'List value of one request', amount: dollars(list_value) }}
    />
    {noteTexts(note).map((text) => (
      <Caption key={text}>{text}</Caption>
    ))}
  </>
)

export function NoPrice({ model }: { model: string }) {
  const mayChange = useRole('billing', 'admin')
  const [open, setOpen] = useState<'price' | 'alias' | null>(null)
  return (
    <Alert color="orange" variant="light" title={<bdi>{model} has no price</bdi>}>
      <Text size="sm">The cost of its entries is unknown, which is not the same as zero.</Text>
      {mayChange ? (
        <Group gap="xs" mt="sm">
          <Button size="xs" onClick={() => setOpen('price')}>
            New price
          </Button>
          <Button size="xs" variant="default" onClick={() => setOpen('alias')}>
            Use another model’s price
          </Button>
        </Group>
      ) : (
        <Text size="sm">Someone with the billing or admin role can set a price.</Text>
      )}
      {open === 'price' && <PriceForm start={{ model }} close={() => setOpen(null)} />}
      {open === 'alias' && <AliasForm alias={model} close={() => setOpen(null)} />}
    </Alert>
  )
}

const OUTCOMES: Record<Resolution['steps'][number]['outcome'], string> = {
  found: 'found',
  not_listed: 'not listed',
  not_yet: 'not yet effective',
  ended: 'no longer effective',
  does_not_apply: 'does not apply',
}

const STEPS: Record<number, string> = {
  1: 'Manual price',
  2: 'Alias',
  3: 'Reported provider',
  4: 'Model vendor',
  5: 'Normalized name',
  6: 'Name without date or version',
  7: 'Name without vendor prefix',
  8: 'No match',
}

const Why = ({ resolution: { steps, step } }: { resolution: Resolution }) => (
  <Stack gap="xs">
    <CardTitle>Price lookup</CardTitle>
    <Timeline bulletSize={16} lineWidth={2} active={step === 8 ? -1 : step - 1}>
      {steps.map((one) => (
        <Timeline.Item
          key={one.step}
          title={
            <Text size="sm" component="span" fw={one.outcome === 'found' ? 600 : 400}>
              {STEPS[one.step]}: {OUTCOMES[one.outcome]}
            </Text>
          }
        >
          <Caption>{one.detail}</Caption>
        </Timeline.Item>
      ))}
    </Timeline>
  </Stack>
)
