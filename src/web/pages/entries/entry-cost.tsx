/** The cost of an entry: the reported cost and the calculation of the list value. */
import { Alert, Anchor, List, Skeleton, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import {
  allocatedSentence,
  fundingSentence,
  fundingTitle,
  hidesFees,
  marginalSentence,
} from '../../../shared/funding.ts'
import { noteTexts } from '../../../shared/price-texts.ts'
import { addressOf } from '../../address.ts'
import { count, decimalsOf } from '../../format/counts.ts'
import { exactMoney } from '../../format/money.ts'
import { plainNumber } from '../../format/read-numbers.ts'
import { cellColumn } from '../../parts/columns.tsx'
import type { EntryDetail } from '../../parts/entries/entry.ts'
import { Moment } from '../../parts/figures.tsx'
import { type PlainColumn, PlainTable } from '../../parts/plain-table.tsx'
import { Caption, Note } from '../../parts/texts.tsx'
import { useRole } from '../../server/me.ts'
import { Facts, Part } from './facts.tsx'

const KINDS = {
  input: 'Input',
  output: 'Output',
  cache_read: 'Cache read',
  cache_write: 'Cache write',
  cache_write_1h: 'Cache write, 1 h',
  input_audio: 'Audio input',
  input_image: 'Image input',
  output_audio: 'Audio output',
  output_image: 'Image output',
} as const
type Kind = keyof typeof KINDS

/** Parts of the input and the output. */
const MEDIA: Kind[] = ['input_audio', 'input_image', 'output_audio', 'output_image']

/** Why the amounts of all tokens are multiplied. */
const MULTIPLIERS: Record<string, string> = {
  service_tier: 'Service tier',
  speed: 'Speed',
  region: 'Region',
  hours: 'Hours',
}

/** How the price was matched to the model's name, by the step of the lookup. */
const STEPS: Record<number, string> = {
  1: 'a custom price for exactly this name',
  2: 'an alias',
  3: 'the exact provider and name',
  4: 'name, vendor price',
  5: 'the name in a different spelling',
  6: 'the name without its date',
  7: 'the name without its provider prefix',
}

export function EntryCost({ entry, isComplete }: { entry: EntryDetail; isComplete: boolean }) {
  const { cost, reported_cost, list_value, cost_mismatch, valuation, funding } = entry
  return (
    <Part
      title="Cost"
      aside={
        <Text fw={650} size="lg">
          {cost === null ? 'no price' : exactMoney(cost)}
        </Text>
      }
    >
      <Facts
        facts={[
          ['Funding', <Funding key="funding" funding={funding} />],
          ['Reported cost', reported_cost !== null && `${exactMoney(reported_cost)} (used as the cost)`],
          ['List value', reported_cost !== null && (list_value === null ? 'unknown' : exactMoney(list_value))],
          ['Marginal cost', <Paid key="marginal" amount={entry.marginal_cost} because={marginalSentence(entry)} />],
          [
            'Allocated cost',
            !hidesFees(entry) && (
              <Paid key="allocated" amount={entry.allocated_cost} because={allocatedSentence(entry)} />
            ),
          ],
          [
            'Settled by',
            entry.settled_by && (
              <Anchor
                key="settled"
                component={Link}
                href={addressOf('/entries', { correction: 'true', open: entry.settled_by })}
                inherit
              >
                a correction
              </Anchor>
            ),
          ],
        ]}
      />
      {cost_mismatch && (
        <Alert color="orange" variant="light" title="Cost mismatch" my="xs">
          The reported cost is more than 10 times the list value, or less than a tenth of it. Check the unit of the
          reported cost, and the price of the model. The entry counts with its reported cost.
        </Alert>
      )}
      {isComplete ? <Arithmetic entry={entry} /> : <Skeleton height={140} />}
      {entry.division && valuation && (
        <Note>A share of the value of the whole entry: its lines may differ from the total by parts of a token.</Note>
      )}
      {isComplete && list_value === null && <Unpriced entry={entry} />}
      {valuation && <PriceRow entry={entry} valuation={valuation} />}
      <Notes notes={noteTexts(entry.price?.note)} />
    </Part>
  )
}

/** What pays for it, and why. */
function Funding({ funding }: Pick<EntryDetail, 'funding'>) {
  return (
    <>
      {fundingTitle(funding)}
      <Note>{fundingSentence(funding)}</Note>
    </>
  )
}

/** What was paid, and why. */
const Paid = ({ amount, because }: { amount: number | null; because: string }) => (
  <>
    {amount === null ? 'unknown' : exactMoney(amount)}
    <Note>{because}</Note>
  </>
)

interface Line {
  key: string
  title: ReactNode
  note?: string
  count?: string
  price?: string
  amount?: string
}

/** The token counts, each with its list value if known, and what else the list value is made of. */
function linesOf({ tokens, valuation }: EntryDetail): Line[] {
  if (!valuation) {
    return (Object.keys(KINDS) as Kind[])
      .filter((kind) => !MEDIA.includes(kind) && tokens[kind]! > 0)
      .map((kind) => ({ key: kind, title: KINDS[kind], count: count(tokens[kind]!) }))
  }
  const priceOf = aligned(
    valuation.parts.map(({ price }) => price),
    2,
  )
  const amountOf = amountFormat(valuation)
  return [
    ...valuation.parts.map(({ kind, tokens, price, from_tokens, amount }) => ({
      key: `${kind} ${from_tokens}`,
      title: KINDS[kind as Kind],
      ...(from_tokens !== null && { note: `long context, from ${count(from_tokens)} tokens` }),
      count: count(tokens),
      price: priceOf(price),
      amount: amountOf(amount),
    })),
    ...valuation.multipliers.map(({ kind, name, multiplier }) => ({
      key: kind,
      title: (
        <>
          {MULTIPLIERS[kind]} <bdi>{name}</bdi>
        </>
      ),
      price: `× ${multiplier}`,
    })),
    ...valuation.tools.map(({ name, uses, price, amount }) => ({
      key: `tool ${name}`,
      title: <bdi>{name}</bdi>,
      note: `$${digits(price)} per use`,
      count: count(uses),
      amount: amountOf(amount),
    })),
  ]
}

const TOKEN_COLUMNS: PlainColumn<Line>[] = [
  cellColumn('tokens', 'Tokens', {}, ({ title, note }) => (
    <>
      {title}
      {note && <Caption>{note}</Caption>}
    </>
  )),
  cellColumn('count', 'Count', { isNumber: true }, ({ count }) => count),
]

const AMOUNT_COLUMNS: PlainColumn<Line>[] = [
  cellColumn('price', '× $ per million', { isNumber: true }, ({ price }) => price),
  cellColumn('amount', '= $', { isNumber: true }, ({ amount }) => amount),
]

const Arithmetic = ({ entry }: { entry: EntryDetail }) => (
  <PlainTable
    label="Calculation of the list value"
    columns={entry.valuation ? [...TOKEN_COLUMNS, ...AMOUNT_COLUMNS] : TOKEN_COLUMNS}
    rows={linesOf(entry)}
    rowKey={({ key }) => key}
    foot={{
      tokens: 'Total',
      count: count(entry.tokens.total),
      amount: entry.valuation && amountFormat(entry.valuation)(entry.valuation.list_value),
    }}
  />
)

/** Up to 12 decimals, the most a part can have; the total is rounded to nine. */
const digits = (amount: number): string => decimalsOf(amount, 0, 12)

/** A format with the decimals that the longest of the amounts needs, so that their points are aligned. */
function aligned(amounts: readonly number[], least = 0): (amount: number) => string {
  const decimals = Math.max(least, ...amounts.map((amount) => plainNumber(amount).split('.')[1]?.length ?? 0))
  return (amount) => decimalsOf(amount, decimals, decimals)
}

const amountFormat = ({ parts, tools }: NonNullable<EntryDetail['valuation']>) =>
  aligned([...parts, ...tools].map(({ amount }) => amount))

function PriceRow({ entry, valuation }: { entry: EntryDetail; valuation: NonNullable<EntryDetail['valuation']> }) {
  const { model, provider, source, effective_from } = valuation.price
  return (
    <Note>
      Price for{' '}
      <Anchor component={Link} href={addressOf('/prices', { tab: 'cost', model: entry.model })} size="sm">
        <bdi>{[provider, model].filter(Boolean).join(' / ')}</bdi>
      </Anchor>{' '}
      ({source === 'default' ? 'built-in price table' : source},{' '}
      {effective_from === null ? (
        'no start date'
      ) : (
        <>
          valid from <Moment at={effective_from} />
        </>
      )}
      ), matched by {STEPS[entry.price?.step ?? 0] ?? 'its name'}. Later price tables do not change this value.
    </Note>
  )
}

/** What was assumed: a reader must not miss it in the paragraph about the price. */
function Notes({ notes }: { notes: string[] }) {
  if (notes.length === 0) return null
  return (
    <List size="sm" mt="xs" pr="md">
      {notes.map((note) => (
        <List.Item key={note}>{note}</List.Item>
      ))}
    </List>
  )
}

function Unpriced({ entry: { model, reported_cost } }: { entry: EntryDetail }) {
  const maySet = useRole('billing', 'admin')
  return (
    <Note>
      The price table has no price for <bdi>{model}</bdi>
      {reported_cost === null && ', so its cost is unknown (not 0)'}.{' '}
      {maySet ? (
        <Anchor component={Link} href={addressOf('/prices', { tab: 'cost', model })} size="sm">
          Find out why and set a price
        </Anchor>
      ) : (
        'Ask a person with the billing or admin role to set one.'
      )}
    </Note>
  )
}
