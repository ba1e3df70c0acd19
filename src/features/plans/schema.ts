/** API schema of plans, shared by validation, OpenAPI and the command line's `--json`. */
import { type Static, type TProperties, Type } from '@sinclair/typebox'
import { ALLOWANCE_UNITS, FEE_WEIGHTS, PLAN_HOLDERS, PLAN_PERIODS } from '../../database/schema/values.ts'
import { conditions, isAbsent, isGiven, when } from '../../schema/conditions.ts'
import {
  array,
  choiceOf,
  component,
  day,
  flag,
  givenName,
  integer,
  listOf,
  moment,
  number,
  object,
  oneOf,
  orNull,
  PLAIN_TEXT,
  strict,
  text,
} from '../../schema/types.ts'
import { FundingPreviewBody } from '../funding/schema.ts'
import { CONDITIONS_LIMIT } from '../placement/contract.ts'
import { Condition } from '../placement/schema.ts'

/** More than one has of seats; a plan for everyone has one holder. */
const PEOPLE_LIMIT = 2_000
/** All of them are listed in one response, and read to decide what entries are paid with. */
export const PLANS_LIMIT = 1_000
/** A change of price a month for eight years. */
export const VERSIONS_LIMIT = 100
const CODES_LIMIT = 20
const SEATS_LIMIT = 100_000
/** In units of the currency. */
const FEE_LIMIT = 1_000_000_000
/** Tokens. */
const ALLOWANCE_LIMIT = 1_000_000_000_000_000

/** What a plan costs and covers, from a day on. */
const termsFields = {
  period: choiceOf(
    PLAN_PERIODS,
    'How often the fee is charged. Default: `month`. `once` covers all the time of these terms.',
  ),
  fee: number('Of a seat and a period, without tax.', { minimum: 0, maximum: FEE_LIMIT }),
  currency: text('Of the fee, as an ISO 4217 code. Default: USD.', { examples: ['USD'] }),
  exchange_rate: orNull(
    number('Units of the currency per US dollar; required unless it is USD.', { exclusiveMinimum: 0 }),
  ),
  seats: integer('How many seats are paid for. Default: 1.', { minimum: 1, maximum: SEATS_LIMIT }),
  covers: array(
    'Which usage of its people it covers: that which meets all of the conditions. Default: all of it.',
    Condition,
    { maxItems: CONDITIONS_LIMIT },
  ),
  allowance: orNull(
    number('The usage of a seat and a period that the fee includes; null if no limit is known.', {
      minimum: 0,
      maximum: ALLOWANCE_LIMIT,
    }),
  ),
  allowance_unit: orNull(
    choiceOf(
      ALLOWANCE_UNITS,
      'What the allowance counts: `usd` at the prices of the API, tokens of all kinds, or requests.',
    ),
  ),
  overage_price: orNull(
    number(
      'Of each dollar, token or request beyond the allowance, in the currency of the fee; null if none is charged.',
      {
        minimum: 0,
        maximum: FEE_LIMIT,
      },
    ),
  ),
  pooled: flag(
    'Whether its people share the fee and the allowance of all seats. Default: false, each has a seat; if there are more people than seats, they share them.',
  ),
  weight: choiceOf(
    FEE_WEIGHTS,
    'By what entries share the fee: list value, tokens, active time, or list value within equal shares of the days with use. Default: `list_value`.',
  ),
  source_url: orNull(
    text('Where the price is published.', { maxLength: 2_000, examples: ['https://example.com/pricing'] }),
  ),
  source_day: orNull(day('When the price was read there.')),
}

const Person = object({
  person: text('Id (usr_…) or e-mail address.', { minLength: 1, maxLength: 320 }),
  from: Type.Optional(orNull(day('First day. Default: the first day of the plan.'))),
  to: Type.Optional(orNull(day('Last day. Default: none.'))),
})

/** What a plan is, at any time. */
const planFields = {
  name: givenName('Unique name. Default: the product.', ['Claude Max, Ada']),
  vendor: givenName('Who sells it.', ['Anthropic']),
  product: givenName('What it is called there.', ['Claude Max']),
  holder: choiceOf(
    PLAN_HOLDERS,
    'Who uses it: one person at a time, several people, or everyone in the organization. Default: as `people` says.',
  ),
  people: array('Who uses it, and when. Default: everyone.', Person, { maxItems: PEOPLE_LIMIT }),
  vendor_codes: array(
    'What agents call it, such as `codex:pro`.',
    Type.String({ maxLength: 100, pattern: PLAIN_TEXT }),
    {
      maxItems: CODES_LIMIT,
      uniqueItems: true,
    },
  ),
  note: orNull(text('For those who manage plans.', { maxLength: 1_000 })),
}

const from = day('The first day of these terms, in the organization’s time zone. Periods begin with it.')

const prorate = flag(
  'Required if it cuts a period of the terms before: true charges the fee of that period by days, false in full.',
)

/** Of every change of a plan. */
export const dryRun = flag('Only return how many entries would be paid for by something else. Default: false.')

const optional = <Fields extends TProperties>(fields: Fields) => Type.Partial(Type.Object(fields)).properties

export const NewPlan = component(
  'NewPlan',
  'Without `like`, it needs a vendor, a product and a fee.',
  {
    ...optional({ ...planFields, ...termsFields }),
    like: Type.Optional(
      text('Code of a common plan (`GET /common-plans`), from which absent fields are taken once.', {
        examples: ['claude-max'],
      }),
    ),
    from,
    dry_run: Type.Optional(dryRun),
  },
  conditions(...['vendor', 'product', 'fee'].map((field) => when(isAbsent('like'), isGiven(field)))),
)
export type NewPlan = Static<typeof NewPlan>

export const PlanChange = Type.Object(
  {
    ...optional({ ...planFields, ...termsFields }),
    from: Type.Optional(
      day(
        'The day from which the terms (`period` to `source_day`) apply; required to change one of them. On the first day of a version, they correct that version; on any other day, a new version begins.',
      ),
    ),
    prorate: Type.Optional(prorate),
    dry_run: Type.Optional(dryRun),
  },
  { ...strict, $id: 'PlanChange', description: 'Absent fields stay unchanged. A list is replaced as a whole.' },
)
export type PlanChange = Static<typeof PlanChange>

export const PlanEnd = component('PlanEnd', {
  on: orNull(day('The last day; null to continue the plan. The day before its first one if it was never used.')),
  prorate: Type.Optional(prorate),
  dry_run: Type.Optional(dryRun),
})
export type PlanEnd = Static<typeof PlanEnd>

const LoadedTerms = object({
  ...optional(termsFields),
  fee: termsFields.fee,
  from,
  prorate: Type.Optional(orNull(prorate)),
})

export const LoadedPlan = component('LoadedPlan', {
  ...optional(planFields),
  vendor: planFields.vendor,
  product: planFields.product,
  ends_on: Type.Optional(orNull(day('Last day.'))),
  end_prorate: Type.Optional(orNull(prorate)),
  versions: array('The terms, each from a day until the next.', LoadedTerms, { minItems: 1, maxItems: VERSIONS_LIMIT }),
})
export type LoadedPlan = Static<typeof LoadedPlan>

export const PlanFile = component('PlanFile', { plans: Type.Array(LoadedPlan, { maxItems: PLANS_LIMIT }) })
export type PlanFile = Static<typeof PlanFile>

export const PlanLoad = component('PlanLoad', {
  ...PlanFile.properties,
  dry_run: Type.Optional(flag('Only return what would be done. Default: false.')),
})
export type PlanLoad = Static<typeof PlanLoad>

const LOADED = ['added', 'changed', 'unchanged'] as const

export const LoadedPlans = component('LoadedPlans', {
  ...(Object.fromEntries(LOADED.map((what) => [what, Type.Integer({ minimum: 0 })])) as Record<
    (typeof LOADED)[number],
    ReturnType<typeof Type.Integer>
  >),
  plans: array('Each plan of the file.', object({ name: Type.String(), result: oneOf(LOADED) })),
  dry_run: flag('Whether nothing was written.'),
  funding: orNull(FundingPreviewBody),
})
export type LoadedPlans = Static<typeof LoadedPlans>

const storedTerms = {
  period: oneOf(PLAN_PERIODS),
  fee: number('Of a seat and a period, without tax.'),
  currency: Type.String(),
  exchange_rate: orNull(number('Units of the currency per US dollar; null for USD.')),
  seats: Type.Integer({ minimum: 1 }),
  covers: array(
    'Empty if it covers all usage of its people.',
    object({ field: Type.String(), matches: Type.String() }),
  ),
  allowance: orNull(number('The usage of a seat and a period that the fee includes; null if no limit is known.')),
  allowance_unit: orNull(oneOf(ALLOWANCE_UNITS)),
  overage_price: orNull(number('Of each unit beyond the allowance, in the currency of the fee.')),
  pooled: flag('Whether its people share the fee and the allowance of all seats.'),
  weight: oneOf(FEE_WEIGHTS, 'By what entries share the fee.'),
  source_url: orNull(Type.String()),
  source_day: orNull(Type.String()),
}

const Terms = component('PlanTerms', {
  from: day('The first day of these terms.'),
  prorate: orNull(flag('Whether they charge the fee of the period that they cut by days; null if that was not said.')),
  ...storedTerms,
})
export type Terms = Static<typeof Terms>

export const PeriodBody = component('PlanPeriod', 'A period of a plan. A change of its terms and its end cut it.', {
  from: day('First day.'),
  to: orNull(day('Last day; null if it has none yet.')),
  whole_to: orNull(day('The last day that it has without a cut.')),
  seats: Type.Integer({ minimum: 1 }),
  fee: number('Of all seats.'),
  currency: Type.String(),
  fee_usd: number('The same in US dollars, at the exchange rate of the terms.'),
})
export type PeriodBody = Static<typeof PeriodBody>

const PERIOD_STATES = ['running', 'ended', 'closed'] as const

/** What became of the fee of a period: `fee_usd` is `allocated` + `unused` + `pending`. */
const ledgerFields = {
  allocated: number('Of the fee: the shares of its entries, and the corrections of these in later periods.'),
  unused: number('Of the fee: for seats that nobody used.'),
  pending: number(
    'Of the fee: not allocated yet. Negative if entries were billed for more than their shares are by now. 0 once the period is closed and settled.',
  ),
}

const allocationFields = {
  ...ledgerFields,
  state: oneOf(PERIOD_STATES, 'Running, ended but still open, or closed, so that its shares stay.'),
  provisional: flag('Whether its shares may still change, because it is not closed.'),
  calculated_at: orNull(moment('When its shares were calculated last; null if they were not yet.')),
  closed_at: orNull(moment('When it was closed.')),
  unused_seats: Type.Integer({ minimum: 0 }),
  entries_cost: number(
    'Of the entries that it pays for, without corrections: the sum of their allocated costs, as far as they are known. The list `entries_url` has this total.',
  ),
  charge: number('Of `entries_cost`: charged in addition to the fee.'),
  corrections: number('Of `allocated`: the corrections of its shares, which are entries of later periods.'),
  entries_url: text('The entries that it pays for, by allocated cost.'),
  entries: integer('Entries that it pays for, without corrections.', { minimum: 0 }),
  unpriced_entries: integer('Of these, entries without a price, whose share is 0.', { minimum: 0 }),
  late_entries: integer('Of these, entries that arrived after it was closed and wait for a correction.', {
    minimum: 0,
  }),
}

export const AllocatedPeriod = component('AllocatedPlanPeriod', 'A period, and how its fee was allocated.', {
  ...PeriodBody.properties,
  ...allocationFields,
})
export type AllocatedPeriod = Static<typeof AllocatedPeriod>

export const PeriodDetail = component('PlanPeriodDetail', 'A period, and the shares of its people.', {
  ...AllocatedPeriod.properties,
  people: array(
    'Who used it, highest list value first.',
    object({
      id: text('Id of the person (usr_…).'),
      name: Type.String(),
      entries: Type.Integer({ minimum: 0 }),
      list_value: number('Of the entries with a price.'),
      share: number('Of the fee.'),
      charge: number('Charged beyond the allowance.'),
      corrections: number('Of the share, in later periods.'),
    }),
  ),
})
export type PeriodDetail = Static<typeof PeriodDetail>

export const PlanLedger = component('PlanLedger', 'Periods of all plans, and the sums of what they list.', {
  data: Type.Array(
    Type.Object({ plan: object({ id: Type.String(), name: Type.String() }), ...AllocatedPeriod.properties }, strict),
  ),
  fee_usd: number('Of all periods.'),
  ...ledgerFields,
})
export type PlanLedger = Static<typeof PlanLedger>

/** Of seats: what they cost, and what their usage would have cost. */
const valueFields = {
  list_value: number('Of the entries that it pays for, as far as they have a price.'),
  charge: number('Charged in addition to the fee: beyond the allowance, and for metered parts of entries.'),
  ratio: orNull(
    number(
      'Whether the fee pays for itself: the list value minus charges in addition to the fee, divided by the fee. 1 is break-even; four decimal places; null without a fee.',
      { examples: [4.3125] },
    ),
  ),
}

/** What only those see who see everything. */
const feeFields = {
  fee_usd: number('Of all seats. For leads: the shares of the fee of the entries that they see.'),
  allocated: number('Of the fee: the shares of the people.'),
  unused: orNull(number('Of the fee: for seats that nobody used. Null for leads.')),
  pending: orNull(number('Of the fee: not allocated yet. Null for leads.')),
}

const PlanValueSums = component('PlanValueSums', 'Sums of periods.', {
  periods: integer('How many they are.', { minimum: 0 }),
  ...feeFields,
  ...valueFields,
})
export type PlanValueSums = Static<typeof PlanValueSums>

export const PlanValueReport = component('PlanValueReport', 'What seats of plans cost, and what they are worth.', {
  time_zone: Type.String(),
  from: day('First day.'),
  to: day('Last day.'),
  data: array(
    'Periods that contain any of the days, by plan, the newest first.',
    object({
      plan: object({ id: Type.String(), name: Type.String() }),
      from: day('First day of the period.'),
      to: orNull(day('Its last day; null if it has none yet.')),
      state: oneOf(PERIOD_STATES, 'Running, ended and to be closed, or closed, so that its shares stay.'),
      seats: orNull(Type.Integer({ minimum: 1 })),
      unused_seats: orNull(integer('Null for leads.', { minimum: 0 })),
      ...feeFields,
      ...valueFields,
      allowance: orNull(number('The usage of a seat that the fee includes; null if no limit is known.')),
      allowance_unit: orNull(oneOf(ALLOWANCE_UNITS)),
      late_entries: orNull(
        integer('Entries that arrived after it was closed and wait for a correction: they are in no amount.', {
          minimum: 0,
        }),
      ),
      people: array(
        'Who used it, highest list value first.',
        object({
          id: text('Id of the person (usr_…).'),
          name: Type.String(),
          entries: Type.Integer({ minimum: 0 }),
          unpriced_entries: integer('Of these: without a list value.', { minimum: 0 }),
          fee: number('Their share of the fee, with its corrections in later periods.'),
          ...valueFields,
          allowance_used: orNull(number('In the unit of the allowance; null without one.')),
        }),
      ),
    }),
  ),
  ended: PlanValueSums,
  running: PlanValueSums,
})
export type PlanValueReport = Static<typeof PlanValueReport>
export type PlanValue = PlanValueReport['data'][number]

export const PeriodClosing = component('PlanPeriodClosing', {
  leave_unpriced: Type.Optional(
    flag('Close it although entries have no price, and give them no share. Default: false.'),
  ),
})
export type PeriodClosing = Static<typeof PeriodClosing>

export const PeriodReopening = component('PlanPeriodReopening', {
  reason: text('For the audit log.', { minLength: 1, maxLength: 1_000 }),
})
export type PeriodReopening = Static<typeof PeriodReopening>

const STATES = ['planned', 'active', 'ended'] as const

export const PlanBody = component('Plan', {
  id: text('Id of the plan (pln_…).'),
  name: Type.String(),
  vendor: Type.String(),
  product: Type.String(),
  holder: oneOf(PLAN_HOLDERS),
  people: array(
    'Who uses it, and when; empty if everyone does.',
    object({ id: Type.String(), name: Type.String(), from: day('First day.'), to: orNull(day('Last day.')) }),
  ),
  vendor_codes: Type.Array(Type.String()),
  note: orNull(Type.String()),
  starts_on: day('First day.'),
  ends_on: orNull(day('Last day; null while it continues.')),
  end_prorate: orNull(
    flag('Whether the end charges the fee of the period that it cuts by days; null if that was not said.'),
  ),
  state: oneOf(STATES, 'Today, in the organization’s time zone.'),
  current_period: orNull(PeriodBody),
  versions: array('The terms, each from a day until the next, the newest first.', Terms),
  created_at: moment('When it was added.'),
})
export type PlanBody = Static<typeof PlanBody>

export const PlanList = listOf(PlanBody, 'PlanList', 'All plans, by name.')
export const PeriodList = listOf(AllocatedPeriod, 'PlanPeriodList', 'Periods, the newest first.')

export const CommonPlan = component('CommonPlan', {
  code: text('For `like`.'),
  vendor: Type.String(),
  product: Type.String(),
  ...storedTerms,
  vendor_codes: Type.Array(Type.String()),
  source_url: Type.String(),
  source_day: day('When the price was read there.'),
  note: orNull(text('What the terms do not say.')),
})
export type CommonPlan = Static<typeof CommonPlan>
export const CommonPlanList = listOf(CommonPlan, 'CommonPlanList', 'Common plans, by vendor.')
