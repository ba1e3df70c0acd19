/** Reports on the wire. One source for validation of answers in tests and for OpenAPI. */
import { type Static, Type } from '@sinclair/typebox'
import { SOURCES, STATUSES } from '../../database/tables.ts'
import { moment, oneOf, orNull, strict } from '../../wire.ts'
import { BUCKET_WIDTHS } from './buckets.ts'
import { CHECKS } from './checks.ts'

/** Not an integer of JSON Schema's 64 bits: a sum has as many digits as it needs. */
const whole = (description: string) => Type.Integer({ description, minimum: 0 })
const money = (description: string) =>
  orNull(Type.Number({ description: `${description} US dollars, at most 9 decimals; null where none is known.` }))

const Tokens = Type.Object(
  {
    input: whole('Input tokens that were neither read from nor written to a cache.'),
    output: whole('Output tokens, reasoning included.'),
    cache_read: whole('Tokens read from the cache.'),
    cache_write: whole('Tokens written to the cache.'),
    cache_write_1h: whole('Tokens written to the cache for one hour.'),
    total: whole('Sum of the five.'),
  },
  { ...strict, description: 'Sums of the five disjoint counts.' },
)

const entries = whole('Token entries that the figures cover.')
const unpriced = whole('Those whose cost is unknown; sums of money leave them out.')

const figures = {
  entries,
  unpriced_entries: unpriced,
  straddling_entries: whole('Those whose session went on behind the end; they count whole where they started.'),
  tokens: Tokens,
  cost: money('Of the priced entries: the reported cost, else the list value.'),
  list_value: money('Of the entries that the price table values.'),
  reported_cost: money('Of the entries whose caller told a cost.'),
}

const Named = Type.Object({ id: Type.String(), name: Type.String() }, strict)

const dimensions = {
  project: orNull(Type.Object({ id: Type.String(), key: Type.String(), name: Type.String() }, strict)),
  ticket: orNull(Type.Object({ id: Type.String(), key: Type.String() }, strict)),
  client: orNull(Named),
  agent_manager: orNull(Named),
  agent_name: orNull(Type.String()),
  agent_harness: orNull(Type.String()),
  provider: orNull(Type.String()),
  model: orNull(Type.String()),
  status: orNull(oneOf(STATUSES, 'Status.')),
  source: orNull(oneOf(SOURCES, 'What supplied the figures.')),
  labels: Type.Record(Type.String(), orNull(Type.String()), {
    description: 'The labels that the question groups by, by their names.',
  }),
}

export const UsageResult = Type.Object(
  { ...Type.Partial(Type.Object(dimensions)).properties, ...figures },
  {
    ...strict,
    $id: 'UsageResult',
    description:
      'One group of entries. Only the dimensions that the question groups by are there, with null for entries that have none.',
  },
)
export type UsageResult = Static<typeof UsageResult>

const bounds = {
  starting_at: moment('Its first moment.'),
  ending_at: moment('The moment at which it is over.'),
}

export const UsageBucket = Type.Object(
  {
    starting_at: moment('From when on the bucket counts: its entries started at this moment or later …'),
    ending_at: moment('… and before this one.'),
    period: Type.Object(bounds, {
      ...strict,
      description:
        'The whole hour, day, week or month. It is more than the bucket where the question begins or ends within.',
    }),
    results: Type.Array(UsageResult, { description: 'The groups, the dearest first.' }),
  },
  { ...strict, $id: 'UsageBucket' },
)
export type UsageBucket = Static<typeof UsageBucket>

const asked = {
  starting_at: moment('The first moment that is covered.'),
  ending_at: moment('The first moment that is not.'),
  time_zone: Type.String({ description: 'The zone of dates and buckets.', examples: ['Europe/Berlin'] }),
  currency: Type.Literal('USD'),
}

const paged = {
  has_more: Type.Boolean(),
  next_page: orNull(Type.String({ description: 'Send it as `page`, with the same question, for what comes next.' })),
}

export const UsageReport = Type.Object(
  {
    ...asked,
    bucket_width: oneOf(BUCKET_WIDTHS, 'As asked.'),
    group_by: Type.Array(Type.String()),
    totals: Type.Object(figures, { ...strict, description: 'Of the whole question, on each of its pages.' }),
    data: Type.Array(UsageBucket, {
      description: 'By time. Buckets without entries are left out, but for `fill_gaps`.',
    }),
    ...paged,
  },
  { ...strict, $id: 'UsageReport' },
)
export type UsageReport = Static<typeof UsageReport>

export const UnpricedModel = Type.Object(
  {
    model: Type.String({ description: 'As it was reported.' }),
    provider: orNull(Type.String({ description: 'As it was reported.' })),
    entries,
    tokens: Tokens,
    first_at: moment('When the first of the sessions started.'),
    last_at: moment('When the last of them started.'),
    explanation: Type.String({ description: 'Path of the explanation why there is no price.' }),
    list: Type.String({ description: 'Path of the list of these entries.' }),
  },
  { ...strict, $id: 'UnpricedModel' },
)
export type UnpricedModel = Static<typeof UnpricedModel>

export const UnpricedReport = Type.Object(
  { data: Type.Array(UnpricedModel), ...paged },
  { ...strict, $id: 'UnpricedReport' },
)
export type UnpricedReport = Static<typeof UnpricedReport>

const difference = {
  reported_cost: money('What callers said.'),
  list_value: money('What the price table says.'),
  difference: money('Reported less list value.'),
  ratio: orNull(
    Type.Number({ description: 'Reported by list value, to 6 decimals; null where the list value is 0 or unknown.' }),
  ),
}

export const Variance = Type.Object(
  { model: Type.String(), agent_name: Type.String(), entries, ...difference },
  { ...strict, $id: 'Variance' },
)
export type Variance = Static<typeof Variance>

export const VarianceReport = Type.Object(
  {
    ...asked,
    totals: Type.Object(
      { entries, compared_entries: whole('Those of which both figures are known.'), ...difference },
      { ...strict, description: 'Of the whole question, on each of its pages.' },
    ),
    data: Type.Array(Variance),
    ...paged,
  },
  { ...strict, $id: 'VarianceReport' },
)
export type VarianceReport = Static<typeof VarianceReport>

export const SumsProgress = Type.Object(
  {
    time_zone: asked.time_zone,
    days: whole('Days that have entries, as far as they were looked for.'),
    days_made: whole('Those whose sums are made.'),
    complete: Type.Boolean({ description: 'Whether all of them are.' }),
  },
  {
    ...strict,
    $id: 'SumsProgress',
    description: 'How far the sums of days are made, from which reports are answered.',
  },
)
export type SumsProgress = Static<typeof SumsProgress>

export const CompletenessCheck = Type.Object(
  {
    check: oneOf(
      Object.keys(CHECKS) as (keyof typeof CHECKS)[],
      Object.entries(CHECKS)
        .map(([name, { description }]) => `\`${name}\`: ${description}.`)
        .join(' '),
    ),
    entries,
    unpriced_entries: unpriced,
    cost: money('Of the priced ones.'),
    list: Type.String({ description: 'Path of the list of exactly these entries.' }),
  },
  { ...strict, $id: 'CompletenessCheck' },
)
export type CompletenessCheck = Static<typeof CompletenessCheck>

export const CompletenessReport = Type.Object(
  { ...asked, data: Type.Array(CompletenessCheck) },
  { ...strict, $id: 'CompletenessReport' },
)
export type CompletenessReport = Static<typeof CompletenessReport>
