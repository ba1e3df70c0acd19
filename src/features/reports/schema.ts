/** Reports in the API. One source for OpenAPI and the validation of responses in tests. */
import { type Static, Type } from '@sinclair/typebox'
import { SOURCES, STATUSES, WEEKDAYS } from '../../database/schema/values.ts'
import { moment, oneOf, orNull, strict } from '../../schema/types.ts'
import { BUCKET_WIDTHS } from './buckets.ts'
import { CHECKS } from './checks.ts'

export { BUCKET_WIDTHS, WEEKDAYS }

/** Not a 64-bit integer of JSON Schema: a sum has any number of digits. */
const whole = (description: string) => Type.Integer({ description, minimum: 0 })
const money = (description: string) =>
  orNull(Type.Number({ description: `${description} In US dollars, at most 9 decimals; null if unknown.` }))

const Tokens = Type.Object(
  {
    input: whole('Input tokens that were neither read from nor written to a cache.'),
    output: whole('Output tokens, including reasoning.'),
    cache_read: whole('Tokens read from the cache.'),
    cache_write: whole('Tokens written to the cache.'),
    cache_write_1h: whole('Tokens written to the cache for one hour.'),
    total: whole('Sum of the five counts.'),
  },
  { ...strict, description: 'Sums of the five disjoint counts.' },
)

const entries = whole('Number of token entries.')
const unpriced = whole('Number of unpriced entries, which amounts exclude.')

const figures = {
  entries,
  unpriced_entries: unpriced,
  straddling_entries: whole(
    'Entries whose session ended after the bucket. They count in full in the bucket in which they started.',
  ),
  tokens: Tokens,
  cost: money('Cost of the priced entries: the reported cost, or else the list value.'),
  list_value: money('List value of the entries that have one.'),
  reported_cost: money('Reported cost of the entries that have one.'),
}

/** Only those in `include`. */
const extraFigures = Type.Partial(
  Type.Object({
    billed: money(
      'Cost of the entries that are billed at the moment, without markup and exchange rates; 0 if there are none.',
    ),
    people: whole(
      'Number of distinct agent managers. The numbers of groups and buckets do not add up to it: someone may be in several.',
    ),
    sessions: whole(
      'Number of distinct sessions, by agent manager, harness and session ID. An entry without a session ID counts as one. A session with several models, projects or days is in several groups and buckets, but counts once in their total.',
    ),
    duration: Type.Number({
      description:
        'Sum of the durations of the entries in seconds, from the start to the end of each. Entries of one session that ran at the same time both count.',
      minimum: 0,
    }),
    active_seconds: orNull(
      Type.Number({
        description:
          'Sum of the active times of the entries that have one, in seconds: how long agents worked, without waiting for a person. Agents of a session that worked at the same time count once. Null if none is known.',
        minimum: 0,
      }),
    ),
    untimed_entries: whole('Entries whose active time is unknown, which `active_seconds` leaves out.'),
  }),
).properties

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
  source: orNull(oneOf(SOURCES, 'Source of the figures.')),
  labels: Type.Record(Type.String(), orNull(Type.String()), {
    description: 'Values of the labels in `group_by`, by label name.',
  }),
}

export const UsageResult = Type.Object(
  { ...Type.Partial(Type.Object(dimensions)).properties, ...figures, ...extraFigures },
  {
    ...strict,
    $id: 'UsageResult',
    description:
      'One group of entries. Contains only the dimensions in `group_by`, with null for entries without a value.',
  },
)
export type UsageResult = Static<typeof UsageResult>

const bounds = {
  starting_at: moment('Start, inclusive.'),
  ending_at: moment('End, exclusive.'),
}

export const UsageBucket = Type.Object(
  {
    starting_at: moment('Start of the bucket, inclusive.'),
    ending_at: moment('End of the bucket, exclusive.'),
    period: Type.Object(bounds, {
      ...strict,
      description:
        'The whole hour, day, week, month, quarter or year. It is longer than the bucket if the requested period starts or ends within it.',
    }),
    results: Type.Array(UsageResult, { description: 'The groups, highest cost first.' }),
  },
  { ...strict, $id: 'UsageBucket' },
)
export type UsageBucket = Static<typeof UsageBucket>

const query = {
  starting_at: moment('Start of the period, inclusive.'),
  ending_at: moment('End of the period, exclusive.'),
  time_zone: Type.String({ description: 'Time zone of dates and buckets.', examples: ['Europe/Berlin'] }),
  currency: Type.Literal('USD'),
}

const paged = {
  has_more: Type.Boolean(),
  next_page: orNull(Type.String({ description: 'Send it as `page` with the same parameters to get the next page.' })),
}

export const UsageReport = Type.Object(
  {
    ...query,
    bucket_width: oneOf(BUCKET_WIDTHS, 'As requested.'),
    week_start: oneOf(WEEKDAYS, 'First day of weeks.'),
    group_by: Type.Array(Type.String()),
    totals: Type.Object(
      {
        ...figures,
        ...extraFigures,
        rejected_entries: whole('Rejected entries among these. They count as usage, but are never billed.'),
        rejected_cost: money('Their known cost, which is part of `cost`. Null if none is known.'),
      },
      { ...strict, description: 'Totals of the whole report, on every page.' },
    ),
    data: Type.Array(UsageBucket, {
      description: 'In chronological order. Buckets without entries are omitted unless `fill_gaps` is true.',
    }),
    ...paged,
  },
  { ...strict, $id: 'UsageReport' },
)
export type UsageReport = Static<typeof UsageReport>

export const UnpricedModel = Type.Object(
  {
    model: Type.String({ description: 'As reported.' }),
    provider: orNull(Type.String({ description: 'As reported.' })),
    entries,
    tokens: Tokens,
    first_at: moment('Start of the first session.'),
    last_at: moment('Start of the last session.'),
    explanation: Type.String({ description: 'Path of the explanation of the missing price.' }),
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
  reported_cost: money('Total reported cost.'),
  list_value: money('Total list value.'),
  difference: money('Reported cost minus list value.'),
  ratio: orNull(
    Type.Number({
      description: 'Reported cost divided by list value, to 6 decimals; null if the list value is 0 or unknown.',
    }),
  ),
}

export const Variance = Type.Object(
  { model: Type.String(), agent_name: Type.String(), entries, ...difference },
  { ...strict, $id: 'Variance' },
)
export type Variance = Static<typeof Variance>

export const VarianceReport = Type.Object(
  {
    ...query,
    totals: Type.Object(
      { entries, compared_entries: whole('Number of entries for which both amounts are known.'), ...difference },
      { ...strict, description: 'Totals of the whole report, on every page.' },
    ),
    data: Type.Array(Variance),
    ...paged,
  },
  { ...strict, $id: 'VarianceReport' },
)
export type VarianceReport = Static<typeof VarianceReport>

export const SumsProgress = Type.Object(
  {
    time_zone: query.time_zone,
    days: orNull(whole('Number of days with entries that were found so far.')),
    days_made: orNull(whole('Number of days whose totals are ready, or that are still changing.')),
    percent: orNull(whole('Percentage of these days that are ready. 100 only if `complete`.')),
    complete: Type.Boolean({
      description: 'Whether all days were found and none waits for its totals; for members, whether all were found.',
    }),
  },
  {
    ...strict,
    $id: 'SumsProgress',
    description:
      'Progress of the totals that reports are based on. Numbers of days are null for members, who do not see all entries.',
  },
)
export type SumsProgress = Static<typeof SumsProgress>
/** The progress as those see it who see every entry. */
export type WholeProgress = { [Name in keyof SumsProgress]: NonNullable<SumsProgress[Name]> }

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
    cost: money('Cost of the priced entries.'),
    list: Type.String({ description: 'Path of the list of these entries.' }),
  },
  { ...strict, $id: 'CompletenessCheck' },
)
export type CompletenessCheck = Static<typeof CompletenessCheck>

export const CompletenessReport = Type.Object(
  { ...query, data: Type.Array(CompletenessCheck) },
  { ...strict, $id: 'CompletenessReport' },
)
export type CompletenessReport = Static<typeof CompletenessReport>

export const LeftOutPart = Type.Object(
  {
    model: Type.String({ description: 'As reported.' }),
    provider: orNull(Type.String({ description: 'As reported.' })),
    ...bounds,
    entries,
    list: Type.String({ description: 'Path of the list of these entries.' }),
  },
  { ...strict, $id: 'LeftOutPart', description: 'Entries of a model between two moments.' },
)
export type LeftOutPart = Static<typeof LeftOutPart>

const leftOut = Type.Array(LeftOutPart, {
  description:
    'The entries that the amounts exclude: `unvalued_entries` of the totals, in parts that are lists. A model is excluded from one change of its price to the next if some of its tokens between them have no price.',
})

const cacheFigures = {
  entries,
  unvalued_entries: whole('Entries of models that use a cache and have no price, which the amounts exclude.'),
  tokens: Tokens,
  hit_rate: orNull(
    Type.Number({
      description: 'Share of the input that was read from the cache, from 0 to 1, to 6 decimals; null without input.',
    }),
  ),
  uncached_value: money('Value of the tokens read from and written to caches at the price of uncached input.'),
  cached_value: money('Value of the same tokens at the prices of cache reads and writes.'),
  saved: money('Difference of the two. Negative if more was written to caches than reading them saved.'),
}

export const CacheGroup = Type.Object(
  {
    ...Type.Partial(Type.Pick(Type.Object(dimensions), ['model', 'agent_manager', 'project'])).properties,
    ...cacheFigures,
    list: Type.String({ description: 'Path of the list of these entries.' }),
  },
  { ...strict, $id: 'CacheGroup', description: 'One group of entries. Contains only the dimension in `group_by`.' },
)
export type CacheGroup = Static<typeof CacheGroup>

export const CacheReport = Type.Object(
  {
    ...query,
    bucket_width: oneOf(BUCKET_WIDTHS, 'As requested.'),
    group_by: orNull(Type.String({ description: 'As requested.' })),
    totals: Type.Object(cacheFigures, strict),
    left_out: leftOut,
    data: Type.Array(
      Type.Object(
        { ...bounds, results: Type.Array(CacheGroup, { description: 'The groups, largest savings first.' }) },
        strict,
      ),
      { description: 'In chronological order, without buckets that have no entries.' },
    ),
  },
  { ...strict, $id: 'CacheReport' },
)
export type CacheReport = Static<typeof CacheReport>

const whatIf = {
  entries,
  unvalued_entries: whole('Entries for which one of the two models has no price, which the amounts exclude.'),
  tokens: Tokens,
  value: money('Value of the tokens at the standard prices of the model that was used.'),
  other_value: money('Value of the same tokens at the standard prices of the other model.'),
  difference: money('`other_value` minus `value`.'),
  ratio: orNull(Type.Number({ description: '`other_value` divided by `value`, to 6 decimals; null if that is 0.' })),
}

export const WhatIfModel = Type.Object(
  {
    model: Type.String({ description: 'As reported.' }),
    provider: orNull(Type.String({ description: 'As reported.' })),
    ...whatIf,
    list: Type.String({ description: 'Path of the list of these entries.' }),
  },
  { ...strict, $id: 'WhatIfModel' },
)
export type WhatIfModel = Static<typeof WhatIfModel>

export const WhatIfReport = Type.Object(
  {
    ...query,
    as_model: Type.String({ description: 'The other model, as requested.' }),
    as_provider: orNull(Type.String({ description: 'Its provider, as requested.' })),
    totals: Type.Object(whatIf, strict),
    left_out: leftOut,
    data: Type.Array(WhatIfModel, { description: 'The models in use, highest value first.' }),
  },
  { ...strict, $id: 'WhatIfReport' },
)
export type WhatIfReport = Static<typeof WhatIfReport>

const surcharge = {
  entries: whole('Entries that are valued at prices of long requests.'),
  unvalued_entries: whole(
    'Entries with tokens that have no base price, as selected by the filter `without_base_price`. `surcharge`, `base_value` and `share` exclude them.',
  ),
  cost: money('Cost of the entries.'),
  list_value: money('List value of the entries.'),
  surcharge: money(
    'What the prices of long requests add to the list value, compared with the base prices of the same rows.',
  ),
  base_value: money('The list value without the surcharge.'),
  share: orNull(
    Type.Number({ description: '`surcharge` divided by the list value, to 6 decimals; null if that is 0.' }),
  ),
  list: Type.String({ description: 'Path of the list of these entries.' }),
  unvalued_list: Type.String({ description: 'Path of the list of those in `unvalued_entries`.' }),
}

export const SurchargeModel = Type.Object(
  {
    model: Type.String({ description: 'As reported.' }),
    provider: orNull(Type.String({ description: 'As reported.' })),
    ...surcharge,
  },
  { ...strict, $id: 'SurchargeModel' },
)
export type SurchargeModel = Static<typeof SurchargeModel>

export const SurchargesReport = Type.Object(
  {
    ...query,
    totals: Type.Object(surcharge, strict),
    data: Type.Array(SurchargeModel, { description: 'The models in use, highest surcharge first.' }),
  },
  { ...strict, $id: 'SurchargesReport' },
)
export type SurchargesReport = Static<typeof SurchargesReport>

const perMillion = (description: string) =>
  orNull(Type.Number({ description: `${description} US dollars per million tokens; null if unknown.` }))

const StandardPrices = Type.Object(
  {
    input: perMillion('Input.'),
    output: perMillion('Output.'),
    cache_read: perMillion('Cache reads.'),
    cache_write: perMillion('Cache writes.'),
    cache_write_1h: perMillion('Cache writes for one hour.'),
  },
  { ...strict, description: 'Standard prices, with those that apply instead of missing ones.' },
)

export const PriceEffect = Type.Object(
  {
    model: Type.String({ description: 'As reported.' }),
    provider: orNull(Type.String({ description: 'As reported.' })),
    changed_at: moment('When the new price took effect.'),
    ending_at: moment('The next change of the price, or the end of the period.'),
    before: StandardPrices,
    after: StandardPrices,
    entries: whole('Entries that started between the two moments.'),
    unvalued_entries: whole(
      '0, or all of the entries if one of the two prices does not cover some of their tokens. The amounts are null then.',
    ),
    value_before: money('Value of their tokens at the earlier standard prices.'),
    value_after: money('Value of their tokens at the new standard prices.'),
    effect: money('`value_after` minus `value_before`.'),
    ratio: orNull(
      Type.Number({ description: '`value_after` divided by `value_before`, to 6 decimals; null if that is 0.' }),
    ),
    list: Type.String({ description: 'Path of the list of these entries.' }),
  },
  { ...strict, $id: 'PriceEffect' },
)
export type PriceEffect = Static<typeof PriceEffect>

export const PriceEffectsReport = Type.Object(
  { ...query, data: Type.Array(PriceEffect, { description: 'Largest effect first.' }) },
  { ...strict, $id: 'PriceEffectsReport' },
)
export type PriceEffectsReport = Static<typeof PriceEffectsReport>
