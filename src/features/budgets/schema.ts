/** API schema of budgets, shared by validation, OpenAPI and the command line's `--json`. */
import { type Static, Type } from '@sinclair/typebox'
import { BUDGET_MEASURES, BUDGET_PERIODS } from '../../database/schema/values.ts'
import { chosen, day, emailAddress, givenName, listOf, moment, oneOf, orNull, strict } from '../../schema/types.ts'

const THRESHOLD_LIMIT = 10
const RECIPIENT_LIMIT = 20

/** Ten times the budget: whoever wants to know that has another question. */
const PERCENT_LIMIT = 1_000

/** What a number of dollars may be, as budgets of projects had it before, and a number of tokens. */
export const DOLLARS_LIMIT = 1_000_000_000
const TOKENS_LIMIT = 1_000_000_000_000_000

const texts = (description: string, limit = RECIPIENT_LIMIT) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 320 }), { description, maxItems: limit })

export const Threshold = Type.Object(
  {
    percent: Type.Integer({ description: 'Percentage of the available amount.', minimum: 1, maximum: PERCENT_LIMIT }),
    of: Type.Optional(
      chosen(
        ['spent', 'forecast'] as const,
        '`spent` (default): what is spent so far. `forecast`: the forecast for the end of the period, checked once an hour.',
      ),
    ),
    leads: Type.Optional(
      Type.Boolean({
        description: 'Notify the leads of the project, of the project of the ticket, or of the client. Default: false.',
      }),
    ),
    billing: Type.Optional(Type.Boolean({ description: 'Notify everybody with the role billing. Default: false.' })),
    people: Type.Optional(texts('Ids or e-mail addresses of people to notify.')),
    emails: Type.Optional(texts('Other addresses to notify.')),
    webhooks: Type.Optional(
      texts('Ids of webhook endpoints that receive the alert, even if they do not subscribe to its type.'),
    ),
  },
  {
    ...strict,
    $id: 'BudgetThreshold',
    description: 'A share of a budget that causes one alert per period when it is reached, and who is notified.',
  },
)
export type Threshold = Static<typeof Threshold>

const scopeFields = {
  client: Type.Optional(orNull(Type.String({ description: 'Id (cli_…) or name of a client.' }))),
  project: Type.Optional(orNull(Type.String({ description: 'Id (prj_…), key, name or alias of a project.' }))),
  ticket: Type.Optional(orNull(Type.String({ description: 'Id (tkt_…) or key of a ticket.' }))),
  agent_manager: Type.Optional(orNull(Type.String({ description: 'Id (usr_…) or e-mail address of a person.' }))),
  agent_name: Type.Optional(orNull(Type.String({ description: 'Name of an agent.', maxLength: 200 }))),
  model: Type.Optional(orNull(Type.String({ description: 'Name of a model, as reported.', maxLength: 200 }))),
  label: Type.Optional(orNull(Type.String({ description: 'A label, such as `repository:acme/web`.', maxLength: 321 }))),
}

const Scope = Type.Object(scopeFields, {
  ...strict,
  $id: 'NewBudgetScope',
  description: 'Which entries count: those that match all of these. Without any, all entries of the organization.',
})

const amount = Type.Number({
  description: `In US dollars, up to ${DOLLARS_LIMIT}, or tokens, depending on the measure.`,
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
  roll_over: Type.Optional(
    Type.Boolean({ description: 'Whether what is left of a period is added to the next one. Default: false.' }),
  ),
  thresholds: Type.Optional(
    Type.Array(Threshold, {
      description: 'Default: 50, 80 and 100% of what is spent, for billing and, where there are any, the leads.',
      maxItems: THRESHOLD_LIMIT,
    }),
  ),
}

export const NewBudget = Type.Object(
  {
    ...changeable,
    scope: Type.Optional(Scope),
    measure: Type.Optional(
      chosen(
        BUDGET_MEASURES,
        '`cost` (default): what usage costs. `billed_amount`: cost with the markup of its project, of billable entries that are not rejected, in US dollars. `tokens`: tokens of all kinds.',
      ),
    ),
    period: Type.Optional(
      chosen(BUDGET_PERIODS, 'Default: `month`. `once` is one period, from the first to the last day.'),
    ),
  },
  { ...strict, $id: 'NewBudget' },
)
export type NewBudget = Static<typeof NewBudget>

export const BudgetChange = Type.Partial(Type.Object({ ...changeable, scope: Scope }), {
  ...strict,
  $id: 'BudgetChange',
  description:
    'Absent fields stay unchanged. With another amount, scope or time, every threshold can cause an alert again.',
})
export type BudgetChange = Static<typeof BudgetChange>

const reference = (description: string) =>
  orNull(Type.Object({ id: Type.String(), name: Type.String() }, { ...strict, description }))

export const BUDGET_STATES = ['within', 'nearly', 'exceeded'] as const
export type BudgetState = (typeof BUDGET_STATES)[number]

export const BudgetBody = Type.Object(
  {
    id: Type.String({ description: 'Id of the budget (bdg_…).' }),
    name: Type.String(),
    scope: Type.Object(
      {
        client: reference('The client whose projects count.'),
        project: orNull(Type.Object({ id: Type.String(), key: Type.String(), name: Type.String() }, strict)),
        ticket: orNull(Type.Object({ id: Type.String(), key: Type.String() }, strict)),
        agent_manager: reference('The person whose entries count.'),
        agent_name: orNull(Type.String()),
        model: orNull(Type.String()),
        label: orNull(Type.String({ description: '`name:value`' })),
      },
      { ...strict, description: 'Which entries count: those that match everything that is not null.' },
    ),
    measure: oneOf(BUDGET_MEASURES),
    amount: Type.Number({ description: 'Per period, in US dollars or tokens.' }),
    period: oneOf(BUDGET_PERIODS),
    starts_on: orNull(day('First day.')),
    ends_on: orNull(day('Last day.')),
    roll_over: Type.Boolean(),
    thresholds: Type.Array(Threshold),
    of_project: Type.Boolean({ description: 'Whether it is what the field `budget` of its project shows.' }),
    created_at: moment('When it was created.'),
    archived_at: orNull(moment('When it was archived. Archived budgets cause no alerts.')),
    current: orNull(
      Type.Object(
        {
          from: orNull(day('First day of the current period.')),
          to: orNull(day('Last day; null if there is none.')),
          spent: Type.Number(),
          available: Type.Number(),
          state: oneOf(BUDGET_STATES),
          complete: Type.Boolean({
            description: 'False while the entries of a new or changed budget are being counted, which takes seconds.',
          }),
        },
        {
          ...strict,
          description:
            'The current period; null before the first and after the last one, and of archived budgets, which count nothing.',
        },
      ),
    ),
  },
  { ...strict, $id: 'Budget' },
)
export type BudgetBody = Static<typeof BudgetBody>

const Forecast = Type.Object(
  {
    amount: Type.Number({ description: 'What will probably be spent at the end of the period.' }),
    low: Type.Number({ description: 'In four of five cases it will be at least this.' }),
    high: Type.Number({ description: 'In four of five cases it will be at most this.' }),
    exceeded_on: orNull(day('The day on which the available amount will probably be exceeded.')),
    days: Type.Integer({ description: 'The number of past days that the forecast is based on.' }),
  },
  {
    ...strict,
    $id: 'BudgetForecast',
    description: 'From the averages per weekday of the last four weeks. Null without usage in at least three of them.',
  },
)

export const BudgetStatus = Type.Object(
  {
    budget: BudgetBody,
    period: Type.Object(
      {
        from: orNull(day('First day; null if there is none.')),
        to: orNull(day('Last day; null if there is none.')),
        starting_at: orNull(moment('Start.')),
        ending_at: orNull(moment('End, not included.')),
      },
      strict,
    ),
    spent: Type.Number({ description: 'In US dollars or tokens.' }),
    available: Type.Number({ description: 'The amount of the budget, and what was rolled over to this period.' }),
    rolled_over: Type.Number(),
    remaining: Type.Number({ description: 'Negative if the budget is exceeded.' }),
    percent: orNull(Type.Number({ description: 'Spent share of the available amount; null if that is 0.' })),
    state: oneOf(BUDGET_STATES, '`nearly` from 80%, `exceeded` if more than the available amount is spent.'),
    entries: Type.Integer({ minimum: 0 }),
    unpriced_entries: Type.Integer({
      description: 'Entries without a known cost, which are not in `spent`.',
      minimum: 0,
    }),
    complete: Type.Boolean({
      description: 'False while the entries of a new or changed budget are being counted, which takes seconds.',
    }),
    entries_url: Type.String({ description: 'The list of the entries that count.' }),
    forecast: orNull(Forecast),
    days: Type.Array(
      Type.Object({ date: day('Day.'), spent: Type.Number({ description: 'Up to its end.' }) }, strict),
      { description: 'What was spent by the end of each day of the period so far, of at most 400 days.' },
    ),
    as_of: moment('When this was calculated.'),
  },
  { ...strict, $id: 'BudgetStatus' },
)
export type BudgetStatus = Static<typeof BudgetStatus>

export const BudgetList = listOf(BudgetBody, 'BudgetList', 'Budgets, newest first.')

export const BudgetAlertBody = Type.Object(
  {
    id: Type.String({ description: 'Id of the alert (alr_…).' }),
    budget: Type.Object({ id: Type.String(), name: Type.String() }, strict),
    period: Type.Object({ from: orNull(day('First day of the period; null if it has none.')) }, strict),
    of: oneOf(['spent', 'forecast'] as const),
    percent: Type.Integer(),
    measure: oneOf(BUDGET_MEASURES),
    spent: Type.Number({
      description:
        'Spent, or the forecast, as of `at`, in US dollars or tokens. Late entries and corrections may have changed it since.',
    }),
    available: Type.Number({ description: 'As of `at`.' }),
    at: moment('When the threshold was reached.'),
    notified_at: orNull(moment('When its e-mails were queued.')),
  },
  { ...strict, $id: 'BudgetAlert' },
)
export type BudgetAlertBody = Static<typeof BudgetAlertBody>
export const BudgetAlertList = listOf(BudgetAlertBody, 'BudgetAlertList', 'Alerts, newest first.')

export const BudgetCheck = Type.Object(
  {
    allowed: Type.Boolean({ description: 'False if a budget that applies is used up.' }),
    complete: Type.Boolean({
      description: 'False while a new or changed budget is being counted, which takes seconds.',
    }),
    remaining: orNull(
      Type.Number({
        description:
          'What is left of the money budget that you can see with least left, in US dollars; null without one.',
      }),
    ),
    remaining_tokens: orNull(Type.Number({ description: 'The same for budgets of tokens.' })),
    budgets: Type.Array(
      Type.Object(
        {
          id: orNull(Type.String()),
          name: orNull(Type.String()),
          measure: oneOf(BUDGET_MEASURES),
          spent: orNull(Type.Number()),
          available: orNull(Type.Number()),
          remaining: orNull(Type.Number()),
          state: oneOf(BUDGET_STATES),
        },
        strict,
      ),
      {
        description:
          'The budgets that such entries count for, the one with least left first. Of those that you cannot see, which come last, only the measure and the state are given.',
      },
    ),
    as_of: moment('When this was read.'),
  },
  { ...strict, $id: 'BudgetCheck', description: 'Whether a script may go on. Tally itself never stops an agent.' },
)
export type BudgetCheck = Static<typeof BudgetCheck>

export const BudgetTest = Type.Object(
  {
    recipients: Type.Array(emailAddress(), { description: 'For whom the mail server accepted a test alert.' }),
    failed: Type.Array(
      Type.Object({ email: emailAddress(), answer: Type.String({ description: 'Of the mail server.' }) }, strict),
      { description: 'For whom it did not.' },
    ),
  },
  { ...strict, $id: 'BudgetTest' },
)
export type BudgetTest = Static<typeof BudgetTest>
