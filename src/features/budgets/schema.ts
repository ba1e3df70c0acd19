/** API schema of budgets, shared by validation, OpenAPI and the command line's `--json`. */
import { type Static, Type } from '@sinclair/typebox'
import { BUDGET_MEASURES, BUDGET_PERIODS } from '../../database/schema/values.ts'
import {
  amountIn,
  array,
  choiceOf,
  component,
  day,
  emailAddress,
  flag,
  givenName,
  integer,
  listOf,
  moment,
  money,
  number,
  object,
  oneOf,
  orNull,
  strict,
  text,
} from '../../schema/types.ts'
import { COST_BASES } from '../../shared/cost-basis.ts'

const THRESHOLD_LIMIT = 10
const RECIPIENT_LIMIT = 20

/** Ten times the budget: whoever wants to know that has another question. */
const PERCENT_LIMIT = 1_000

/** What a number of dollars may be, as budgets of projects had it before, and a number of tokens. */
export const DOLLARS_LIMIT = 1_000_000_000
const TOKENS_LIMIT = 1_000_000_000_000_000

const texts = (description: string, limit = RECIPIENT_LIMIT) =>
  array(description, Type.String({ minLength: 1, maxLength: 320 }), { maxItems: limit })

export const Threshold = component(
  'BudgetThreshold',
  'A share of a budget that causes one alert per period when it is reached, and who is notified.',
  {
    percent: integer('Percentage of the available amount.', { minimum: 1, maximum: PERCENT_LIMIT }),
    of: Type.Optional(
      choiceOf(
        ['spent', 'forecast'] as const,
        '`spent` (default): what is spent so far. `forecast`: the forecast for the end of the period, checked once an hour.',
      ),
    ),
    leads: Type.Optional(
      flag('Notify the leads of the project, of the project of the ticket, or of the client. Default: false.'),
    ),
    billing: Type.Optional(flag('Notify everyone with the role billing. Default: false.')),
    people: Type.Optional(texts('Ids or e-mail addresses of people to notify.')),
    emails: Type.Optional(texts('Other addresses to notify.')),
    webhooks: Type.Optional(
      texts('Ids of webhook endpoints that receive the alert, even if they do not subscribe to its type.'),
    ),
  },
)
export type Threshold = Static<typeof Threshold>

const scopeFields = {
  client: Type.Optional(orNull(text('Id (cli_…) or name of a client.'))),
  project: Type.Optional(orNull(text('Id (prj_…), key, name or alias of a project.'))),
  ticket: Type.Optional(orNull(text('Id (tkt_…) or key of a ticket.'))),
  agent_manager: Type.Optional(orNull(text('Id (usr_…) or e-mail address of a person.'))),
  agent_name: Type.Optional(orNull(text('Name of an agent.', { maxLength: 200 }))),
  model: Type.Optional(orNull(text('Name of a model, as reported.', { maxLength: 200 }))),
  label: Type.Optional(orNull(text('A label, such as `repository:acme/web`.', { maxLength: 321 }))),
}

const Scope = component(
  'NewBudgetScope',
  'Which entries count: those that match all of these. Without any, all entries of the organization.',
  scopeFields,
)

const amount = amountIn('measure', `In US dollars, up to ${DOLLARS_LIMIT}, or tokens, depending on the measure.`, {
  minimum: 0,
  maximum: TOKENS_LIMIT,
})

const changeable = {
  name: Type.Optional(givenName('Name. Default: what the budget is for.', ['Acme, monthly'])),
  amount,
  starts_on: Type.Optional(
    orNull(day('First day. Entries before it do not count. Default: the first day of the current period.')),
  ),
  ends_on: Type.Optional(orNull(day('Last day. Default: none.'))),
  roll_over: Type.Optional(flag('Whether what is left of a period is added to the next one. Default: false.')),
  thresholds: Type.Optional(
    array('Default: 50, 80 and 100% of what is spent, for billing and, where there are any, the leads.', Threshold, {
      maxItems: THRESHOLD_LIMIT,
    }),
  ),
}

export const NewBudget = component('NewBudget', {
  ...changeable,
  scope: Type.Optional(Scope),
  measure: Type.Optional(
    choiceOf(
      BUDGET_MEASURES,
      '`cost` (default): what usage costs. `billed_amount`: cost with the markup of its project, of billable entries that are not rejected, in US dollars. `tokens`: tokens of all kinds.',
    ),
  ),
  basis: Type.Optional(
    choiceOf(
      COST_BASES,
      'By which amount cost is counted: `cost` (default): reported cost, or else list value, which each report adds up. `list`, `marginal` and `allocated` are counted anew each minute. Not with the measure `tokens`.',
    ),
  ),
  period: Type.Optional(
    choiceOf(BUDGET_PERIODS, 'Default: `month`. `once` is one period, from the first to the last day.'),
  ),
})
export type NewBudget = Static<typeof NewBudget>

export const BudgetChange = Type.Partial(Type.Object({ ...changeable, scope: Scope }), {
  ...strict,
  $id: 'BudgetChange',
  description:
    'Absent fields stay unchanged. With another amount, scope or time, every threshold can cause an alert again.',
})
export type BudgetChange = Static<typeof BudgetChange>

const reference = (description: string) => orNull(object(description, { id: Type.String(), name: Type.String() }))

export const BUDGET_STATES = ['within', 'nearly', 'exceeded'] as const
export type BudgetState = (typeof BUDGET_STATES)[number]

const countedAt = orNull(
  moment(
    'When the entries were counted last, by another basis than `cost`, which is counted each minute. Null by `cost`, which is always up to date.',
  ),
)

export const BudgetBody = component('Budget', {
  id: text('Id of the budget (bdg_…).'),
  name: Type.String(),
  scope: object('Which entries count: those that match everything that is not null.', {
    client: reference('The client whose projects count.'),
    project: orNull(object({ id: Type.String(), key: Type.String(), name: Type.String() })),
    ticket: orNull(object({ id: Type.String(), key: Type.String() })),
    agent_manager: reference('The person whose entries count.'),
    agent_name: orNull(Type.String()),
    model: orNull(Type.String()),
    label: orNull(text('`name:value`')),
  }),
  measure: oneOf(BUDGET_MEASURES),
  basis: oneOf(COST_BASES, 'By which amount cost is counted.'),
  amount: amountIn('measure', 'Per period, in US dollars or tokens.'),
  period: oneOf(BUDGET_PERIODS),
  starts_on: orNull(day('First day.')),
  ends_on: orNull(day('Last day.')),
  roll_over: Type.Boolean(),
  thresholds: Type.Array(Threshold),
  of_project: flag('Whether it is what the field `budget` of its project shows.'),
  created_at: moment('When it was created.'),
  archived_at: orNull(moment('When it was archived. Archived budgets cause no alerts.')),
  current: orNull(
    object(
      'The current period; null before the first and after the last one, and of archived budgets, which count nothing.',
      {
        from: orNull(day('First day of the current period.')),
        to: orNull(day('Last day; null if there is none.')),
        spent: amountIn('measure'),
        available: amountIn('measure'),
        state: oneOf(BUDGET_STATES),
        complete: flag('False while the entries of a new or changed budget are being counted, which takes seconds.'),
        counted_at: countedAt,
      },
    ),
  ),
})
export type BudgetBody = Static<typeof BudgetBody>

const Forecast = component(
  'BudgetForecast',
  'From the averages per weekday of the last four weeks. Null without usage in at least three of them.',
  {
    amount: number('What will probably be spent at the end of the period.'),
    low: number('In four of five cases it will be at least this.'),
    high: number('In four of five cases it will be at most this.'),
    exceeded_on: orNull(day('The day on which the available amount will probably be exceeded.')),
    days: integer('The number of past days that the forecast is based on.'),
  },
)

export const BudgetStatus = component('BudgetStatus', {
  budget: BudgetBody,
  period: object({
    from: orNull(day('First day; null if there is none.')),
    to: orNull(day('Last day; null if there is none.')),
    starting_at: orNull(moment('Start.')),
    ending_at: orNull(moment('End, not included.')),
  }),
  spent: number('In US dollars or tokens.'),
  available: number('The amount of the budget, and what was rolled over to this period.'),
  rolled_over: Type.Number(),
  remaining: number('Negative if the budget is exceeded.'),
  percent: orNull(number('Spent share of the available amount; null if that is 0.')),
  state: oneOf(BUDGET_STATES, '`nearly` from 80%, `exceeded` if more than the available amount is spent.'),
  entries: Type.Integer({ minimum: 0 }),
  unpriced_entries: integer('Entries without a known cost, which are not in `spent`.', { minimum: 0 }),
  complete: flag('False while the entries of a new or changed budget are being counted, which takes seconds.'),
  counted_at: countedAt,
  entries_url: text('The list of the entries that count.'),
  forecast: orNull(Forecast),
  days: array(
    'What was spent by the end of each day of the period so far, of at most 400 days.',
    object({ date: day('Day.'), spent: number('Up to its end.') }),
  ),
  as_of: moment('When this was calculated.'),
})
export type BudgetStatus = Static<typeof BudgetStatus>

export const BudgetList = listOf(BudgetBody, 'BudgetList', 'Budgets, newest first.')

export const BudgetAlertBody = component('BudgetAlert', {
  id: text('Id of the alert (alr_…).'),
  budget: object({ id: Type.String(), name: Type.String() }),
  period: object({ from: orNull(day('First day of the period; null if it has none.')) }),
  of: oneOf(['spent', 'forecast'] as const),
  percent: Type.Integer(),
  measure: oneOf(BUDGET_MEASURES),
  basis: oneOf(COST_BASES),
  spent: number(
    'Spent, or the forecast, as of `at`, in US dollars or tokens. Late entries and corrections may have changed it since.',
  ),
  available: number('As of `at`.'),
  at: moment('When the threshold was reached.'),
  notified_at: orNull(moment('When its e-mails were queued.')),
})
export type BudgetAlertBody = Static<typeof BudgetAlertBody>
export const BudgetAlertList = listOf(BudgetAlertBody, 'BudgetAlertList', 'Alerts, newest first.')

export const BudgetCheck = component('BudgetCheck', 'Whether a script may go on. Tally itself never stops an agent.', {
  allowed: flag('False if a budget that applies is used up.'),
  complete: flag('False while a new or changed budget is being counted, which takes seconds.'),
  remaining: orNull(money('What is left of the money budget that you can see with least left; null without one.')),
  remaining_tokens: orNull(number('The same for budgets of tokens.')),
  budgets: array(
    'The budgets that such entries count for, the one with least left first. Of those that you cannot see, which come last, only the measure, the basis and the state are given, and when they were counted.',
    object({
      id: orNull(Type.String()),
      name: orNull(Type.String()),
      measure: oneOf(BUDGET_MEASURES),
      basis: oneOf(COST_BASES, 'By which amount cost is counted.'),
      spent: orNull(amountIn('measure')),
      available: orNull(amountIn('measure')),
      remaining: orNull(amountIn('measure')),
      state: oneOf(BUDGET_STATES),
      counted_at: countedAt,
    }),
  ),
  left_out: integer(
    'Budgets by allocated cost that apply, but count neither for `allowed` nor here, because you do not see what plans cost.',
    { minimum: 0 },
  ),
  as_of: moment('When this was read.'),
})
export type BudgetCheck = Static<typeof BudgetCheck>

export const BudgetTest = component('BudgetTest', {
  recipients: array('For whom the mail server accepted a test alert.', emailAddress()),
  failed: array('For whom it did not.', object({ email: emailAddress(), answer: text('Of the mail server.') })),
})
export type BudgetTest = Static<typeof BudgetTest>
