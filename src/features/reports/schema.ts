/** Reports in the API. One source for OpenAPI and the validation of responses in tests. */
import { type Static, Type } from '@sinclair/typebox'
import { ENTRY_FUNDINGS, SOURCES, STATUSES, WEEKDAYS } from '../../database/schema/values.ts'
import {
  array,
  component,
  flag,
  integer,
  moment,
  money,
  number,
  object,
  oneOf,
  orNull,
  text,
} from '../../schema/types.ts'
import { COST_BASES } from '../../shared/cost-basis.ts'
import { BUCKET_WIDTHS } from './buckets.ts'
import { CHECKS } from './checks.ts'

export { BUCKET_WIDTHS, WEEKDAYS }

/** Not a 64-bit integer of JSON Schema: a sum has any number of digits. */
const whole = (description: string) => integer(description, { minimum: 0 })
const knownMoney = (description: string) => orNull(money(`${description} Null if unknown.`))

const Tokens = object('Sums of the five disjoint counts.', {
  input: whole('Input tokens that were neither read from nor written to a cache.'),
  output: whole('Output tokens, including reasoning.'),
  cache_read: whole('Tokens read from the cache.'),
  cache_write: whole('Tokens written to the cache.'),
  cache_write_1h: whole('Tokens written to the cache for one hour.'),
  total: whole('Sum of the five counts.'),
})

const entries = whole('Number of token entries.')
const unpriced = whole('Number of unpriced entries, which amounts exclude.')

/** Of a report whose cost is on a basis. */
const basisFields = {
  basis: oneOf(COST_BASES, 'What `cost` is, and `unpriced_entries` are those for which it is unknown. As requested.'),
  provisional: Type.Optional(
    Type.Literal(true, {
      description:
        'With `marginal` and `allocated`, if a period of a plan in the period of the report is not closed: amounts of its entries may change.',
    }),
  ),
}

const figures = {
  entries,
  unpriced_entries: unpriced,
  straddling_entries: whole(
    'Entries whose session ended after the bucket. They count in full in the bucket in which they started.',
  ),
  tokens: Tokens,
  cost: knownMoney('Cost of the entries for which it is known, on the `basis` of the report.'),
  list_value: knownMoney('List value of the entries that have one.'),
  reported_cost: knownMoney('Reported cost of the entries that have one.'),
}

/** Only those in `include`. */
const extraFigures = Type.Partial(
  Type.Object({
    billed: knownMoney(
      'Cost of the entries that are billed at the moment, without markup and exchange rates; 0 if there are none.',
    ),
    people: whole(
      'Number of distinct agent managers. The numbers of groups and buckets do not add up to it: someone may be in several.',
    ),
    sessions: whole(
      'Number of distinct sessions, by agent manager, harness and session ID. An entry without a session ID counts as one. A session with several models, projects or days is in several groups and buckets, but counts once in their total.',
    ),
    duration: number(
      'Sum of the durations of the entries in seconds, from the start to the end of each. Entries of one session that ran at the same time both count.',
      { minimum: 0 },
    ),
    active_seconds: orNull(
      number(
        'Sum of the active times of the entries that have one, in seconds: how long agents worked, without waiting for a person. Agents of a session that worked at the same time count once. Null if none is known.',
        { minimum: 0 },
      ),
    ),
    untimed_entries: whole('Entries whose active time is unknown, which `active_seconds` leaves out.'),
  }),
).properties

const Named = object({ id: Type.String(), name: Type.String() })

const dimensions = {
  project: orNull(object({ id: Type.String(), key: Type.String(), name: Type.String() })),
  ticket: orNull(object({ id: Type.String(), key: Type.String() })),
  client: orNull(Named),
  agent_manager: orNull(Named),
  agent_name: orNull(Type.String()),
  agent_harness: orNull(Type.String()),
  provider: orNull(Type.String()),
  model: orNull(Type.String()),
  status: orNull(oneOf(STATUSES, 'Status.')),
  source: orNull(oneOf(SOURCES, 'Source of the figures.')),
  plan: orNull(Named),
  funding: orNull(oneOf(ENTRY_FUNDINGS, 'How it is paid for.')),
  labels: Type.Record(Type.String(), orNull(Type.String()), {
    description: 'Values of the labels in `group_by`, by label name.',
  }),
}

export const UsageResult = component(
  'UsageResult',
  'One group of entries. Contains only the dimensions in `group_by`, with null for entries without a value.',
  { ...Type.Partial(Type.Object(dimensions)).properties, ...figures, ...extraFigures },
)
export type UsageResult = Static<typeof UsageResult>

const bounds = {
  starting_at: moment('Start, inclusive.'),
  ending_at: moment('End, exclusive.'),
}

export const UsageBucket = component('UsageBucket', {
  starting_at: moment('Start of the bucket, inclusive.'),
  ending_at: moment('End of the bucket, exclusive.'),
  period: object(
    'The whole hour, day, week, month, quarter or year. It is longer than the bucket if the requested period starts or ends within it.',
    bounds,
  ),
  results: array('The groups, highest cost first.', UsageResult),
})
export type UsageBucket = Static<typeof UsageBucket>

const query = {
  starting_at: moment('Start of the period, inclusive.'),
  ending_at: moment('End of the period, exclusive.'),
  time_zone: text('Time zone of dates and buckets.', { examples: ['Europe/Berlin'] }),
  currency: Type.Literal('USD'),
}

const paged = {
  has_more: Type.Boolean(),
  next_page: orNull(text('Send it as `page` with the same parameters to get the next page.')),
}

export const UsageReport = component('UsageReport', {
  ...query,
  bucket_width: oneOf(BUCKET_WIDTHS, 'As requested.'),
  week_start: oneOf(WEEKDAYS, 'First day of weeks.'),
  group_by: Type.Array(Type.String()),
  ...basisFields,
  totals: object('Totals of the whole report, on every page.', {
    ...figures,
    ...extraFigures,
    rejected_entries: whole('Rejected entries among these. They count as usage, but are never billed.'),
    rejected_cost: knownMoney('Their known cost, which is part of `cost`. Null if none is known.'),
  }),
  data: array('In chronological order. Buckets without entries are omitted unless `fill_gaps` is true.', UsageBucket),
  ...paged,
})
export type UsageReport = Static<typeof UsageReport>

export const UnpricedModel = component('UnpricedModel', {
  model: text('As reported.'),
  provider: orNull(text('As reported.')),
  entries,
  tokens: Tokens,
  first_at: moment('Start of the first session.'),
  last_at: moment('Start of the last session.'),
  explanation: text('Path of the explanation of the missing price.'),
  list: text('Path of the list of these entries.'),
})
export type UnpricedModel = Static<typeof UnpricedModel>

export const UnpricedReport = component('UnpricedReport', { data: Type.Array(UnpricedModel), ...paged })
export type UnpricedReport = Static<typeof UnpricedReport>

const difference = {
  reported_cost: knownMoney('Total reported cost.'),
  list_value: knownMoney('Total list value.'),
  difference: knownMoney('Reported cost minus list value.'),
  ratio: orNull(number('Reported cost divided by list value, to 6 decimals; null if the list value is 0 or unknown.')),
}

export const Variance = component('Variance', {
  model: Type.String(),
  agent_name: Type.String(),
  entries,
  ...difference,
})
export type Variance = Static<typeof Variance>

export const VarianceReport = component('VarianceReport', {
  ...query,
  totals: object('Totals of the whole report, on every page.', {
    entries,
    compared_entries: whole('Number of entries for which both amounts are known.'),
    ...difference,
  }),
  data: Type.Array(Variance),
  ...paged,
})
export type VarianceReport = Static<typeof VarianceReport>

export const SumsProgress = component(
  'SumsProgress',
  'Progress of the totals that reports are based on. Numbers of days are null for members, who do not see all entries.',
  {
    time_zone: query.time_zone,
    days: orNull(whole('Number of days with entries that were found so far.')),
    days_made: orNull(whole('Number of days whose totals are ready, or that are still changing.')),
    percent: orNull(whole('Percentage of these days that are ready. 100 only if `complete`.')),
    complete: flag('Whether all days were found and none waits for its totals; for members, whether all were found.'),
  },
)
export type SumsProgress = Static<typeof SumsProgress>
/** The progress as those see it who see every entry. */
export type WholeProgress = { [Name in keyof SumsProgress]: NonNullable<SumsProgress[Name]> }

export const CompletenessCheck = component('CompletenessCheck', {
  check: oneOf(
    Object.keys(CHECKS) as (keyof typeof CHECKS)[],
    Object.entries(CHECKS)
      .map(([name, { description }]) => `\`${name}\`: ${description}.`)
      .join(' '),
  ),
  entries,
  unpriced_entries: unpriced,
  cost: knownMoney('Cost of the priced entries.'),
  list: text('Path of the list of these entries.'),
})
export type CompletenessCheck = Static<typeof CompletenessCheck>

export const CompletenessReport = component('CompletenessReport', { ...query, data: Type.Array(CompletenessCheck) })
export type CompletenessReport = Static<typeof CompletenessReport>

export const LeftOutPart = component('LeftOutPart', 'Entries of a model between two moments.', {
  model: text('As reported.'),
  provider: orNull(text('As reported.')),
  ...bounds,
  entries,
  list: text('Path of the list of these entries.'),
})
export type LeftOutPart = Static<typeof LeftOutPart>

const leftOut = array(
  'The entries that the amounts exclude: `unvalued_entries` of the totals, in parts that are lists. A model is excluded from one change of its price to the next if some of its tokens between them have no price.',
  LeftOutPart,
)

const cacheFigures = {
  entries,
  unvalued_entries: whole('Entries of models that use a cache and have no price, which the amounts exclude.'),
  tokens: Tokens,
  hit_rate: orNull(
    number('Share of the input that was read from the cache, from 0 to 1, to 6 decimals; null without input.'),
  ),
  uncached_value: knownMoney('Value of the tokens read from and written to caches at the price of uncached input.'),
  cached_value: knownMoney('Value of the same tokens at the prices of cache reads and writes.'),
  saved: knownMoney('Difference of the two. Negative if more was written to caches than reading them saved.'),
}

export const CacheGroup = component('CacheGroup', 'One group of entries. Contains only the dimension in `group_by`.', {
  ...Type.Partial(Type.Pick(Type.Object(dimensions), ['model', 'agent_manager', 'project'])).properties,
  ...cacheFigures,
  trend: Type.Optional(
    array(
      'With `trend`: the hit rate in each bucket of the period, in chronological order; null in one without usage.',
      object({ ...bounds, hit_rate: cacheFigures.hit_rate }),
    ),
  ),
  list: text('Path of the list of these entries.'),
})
export type CacheGroup = Static<typeof CacheGroup>

export const CacheReport = component('CacheReport', {
  ...query,
  bucket_width: oneOf(BUCKET_WIDTHS, 'As requested.'),
  group_by: orNull(text('As requested.')),
  totals: object(cacheFigures),
  left_out: leftOut,
  data: array(
    'In chronological order, without buckets that have no entries.',
    object({ ...bounds, results: array('The groups, largest savings first.', CacheGroup) }),
  ),
})
export type CacheReport = Static<typeof CacheReport>

const whatIf = {
  entries,
  unvalued_entries: whole('Entries for which one of the two models has no price, which the amounts exclude.'),
  tokens: Tokens,
  value: knownMoney('Value of the tokens at the standard prices of the model that was used.'),
  other_value: knownMoney('Value of the same tokens at the standard prices of the other model.'),
  difference: knownMoney('`other_value` minus `value`.'),
  ratio: orNull(number('`other_value` divided by `value`, to 6 decimals; null if that is 0.')),
}

export const WhatIfModel = component('WhatIfModel', {
  model: text('As reported.'),
  provider: orNull(text('As reported.')),
  ...whatIf,
  list: text('Path of the list of these entries.'),
})
export type WhatIfModel = Static<typeof WhatIfModel>

export const WhatIfReport = component('WhatIfReport', {
  ...query,
  as_model: text('The other model, as requested.'),
  as_provider: orNull(text('Its provider, as requested.')),
  totals: object(whatIf),
  left_out: leftOut,
  data: array('The models in use, highest value first.', WhatIfModel),
})
export type WhatIfReport = Static<typeof WhatIfReport>

const surcharge = {
  entries: whole('Entries that are valued at prices of long requests.'),
  unvalued_entries: whole(
    'Entries with tokens that have no base price, as selected by the filter `without_base_price`. `surcharge`, `base_value` and `share` exclude them.',
  ),
  cost: knownMoney('Cost of the entries.'),
  list_value: knownMoney('List value of the entries.'),
  surcharge: knownMoney(
    'What the prices of long requests add to the list value, compared with the base prices of the same rows.',
  ),
  base_value: knownMoney('The list value without the surcharge.'),
  share: orNull(number('`surcharge` divided by the list value, to 6 decimals; null if that is 0.')),
  list: text('Path of the list of these entries.'),
  unvalued_list: text('Path of the list of those in `unvalued_entries`.'),
}

export const SurchargeModel = component('SurchargeModel', {
  model: text('As reported.'),
  provider: orNull(text('As reported.')),
  ...surcharge,
})
export type SurchargeModel = Static<typeof SurchargeModel>

export const SurchargesReport = component('SurchargesReport', {
  ...query,
  totals: object(surcharge),
  data: array('The models in use, highest surcharge first.', SurchargeModel),
})
export type SurchargesReport = Static<typeof SurchargesReport>

const perMillion = (description: string) =>
  orNull(number(`${description} US dollars per million tokens; null if unknown.`))

const StandardPrices = object('Standard prices, with those that apply instead of missing ones.', {
  input: perMillion('Input.'),
  output: perMillion('Output.'),
  cache_read: perMillion('Cache reads.'),
  cache_write: perMillion('Cache writes.'),
  cache_write_1h: perMillion('Cache writes for one hour.'),
})

export const PriceEffect = component('PriceEffect', {
  model: text('As reported.'),
  provider: orNull(text('As reported.')),
  changed_at: moment('When the new price took effect.'),
  ending_at: moment('The next change of the price, or the end of the period.'),
  before: StandardPrices,
  after: StandardPrices,
  entries: whole('Entries that started between the two moments.'),
  unvalued_entries: whole(
    '0, or all of the entries if one of the two prices does not cover some of their tokens. The amounts are null then.',
  ),
  value_before: knownMoney('Value of their tokens at the earlier standard prices.'),
  value_after: knownMoney('Value of their tokens at the new standard prices.'),
  effect: knownMoney('`value_after` minus `value_before`.'),
  ratio: orNull(number('`value_after` divided by `value_before`, to 6 decimals; null if that is 0.')),
  list: text('Path of the list of these entries.'),
})
export type PriceEffect = Static<typeof PriceEffect>

export const PriceEffectsReport = component('PriceEffectsReport', {
  ...query,
  data: array('Largest effect first.', PriceEffect),
})
export type PriceEffectsReport = Static<typeof PriceEffectsReport>
