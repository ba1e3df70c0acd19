/** What the pages of budgets derive from a form and from the days of a period. */
import { describe, expect, test } from 'bun:test'
import '../../support/page-location.ts'
import {
  changeOf,
  EMPTY_BUDGET,
  issueFieldsOf,
  newBudgetOf,
  valuesOf,
} from '../../../src/web/pages/budgets/budget-values.ts'
import { axisDays, linesOf, shownDays } from '../../../src/web/pages/budgets/burn-down-layout.ts'
import { type Budget, entriesPageOf, scopeInWords, spanInWords } from '../../../src/web/parts/budgets/budget.ts'
import { AMOUNTS } from '../../../src/web/parts/charts/series.ts'

const NO_SCOPE = {
  client: null,
  project: null,
  ticket: null,
  agent_manager: null,
  agent_name: null,
  model: null,
  label: null,
}

const BUDGET: Budget = {
  id: 'bdg_1',
  name: 'Acme, monthly',
  scope: { ...NO_SCOPE, client: { id: 'cli_1', name: 'Acme' } },
  measure: 'cost',
  basis: 'cost',
  amount: 2_500,
  period: 'month',
  starts_on: null,
  ends_on: null,
  roll_over: false,
  thresholds: [{ percent: 80, of: 'spent', leads: true, billing: false, people: ['usr_1'], emails: [], webhooks: [] }],
  of_project: false,
  created_at: '2026-11-01T00:00:00.000Z',
  archived_at: null,
  current: null,
}
const PEOPLE = [{ id: 'usr_1', name: 'Ada' }]

describe('the form of a budget', () => {
  test('sends only what was changed, so that thresholds are not reached again without a reason', () => {
    const values = valuesOf(BUDGET, PEOPLE)
    expect(changeOf(values, BUDGET, PEOPLE)).toEqual({})
    expect(changeOf({ ...values, name: 'Acme ' }, BUDGET, PEOPLE)).toEqual({ name: 'Acme' })
    expect(changeOf({ ...values, client: null }, BUDGET, PEOPLE)).toEqual({ scope: NO_SCOPE })
  })

  test('names people, and sends their ids', () => {
    const values = valuesOf(BUDGET, PEOPLE)
    expect(values.thresholds[0]!.people).toEqual(['Ada'])
    const [threshold] = values.thresholds
    const changed = { ...values, thresholds: [{ ...threshold!, people: ['Ada', 'bob@example.com'] }] }
    expect(changeOf(changed, BUDGET, PEOPLE).thresholds![0]!.people).toEqual(['usr_1', 'bob@example.com'])
  })

  test('keeps people and webhooks that it cannot name', () => {
    const budget = { ...BUDGET, thresholds: [{ ...BUDGET.thresholds[0]!, webhooks: ['whk_1'] }] }
    expect(changeOf(valuesOf(budget, []), budget, [])).toEqual({})
  })

  test('leaves the name to the server, if none was typed', () => {
    expect(newBudgetOf({ ...EMPTY_BUDGET, name: ' ' })).not.toHaveProperty('name')
    expect(newBudgetOf({ ...EMPTY_BUDGET, name: ' Mine ' })).toMatchObject({ name: 'Mine' })
  })

  test('shows an issue with one recipient at the field that lists them', () => {
    const [threshold] = EMPTY_BUDGET.thresholds
    const thresholds = [{ ...threshold!, people: ['a@example.com'], emails: ['b', 'c'] }]
    expect(issueFieldsOf({ ...EMPTY_BUDGET, thresholds })).toMatchObject({
      '/scope/label': 'label',
      '/thresholds/0/people/0': 'thresholds.0.people',
      '/thresholds/0/emails/1': 'thresholds.0.emails',
    })
  })
})

test('a budget is described by what it counts and when', () => {
  expect([scopeInWords(NO_SCOPE), scopeInWords({ ...BUDGET.scope, model: 'gpt-5' })]).toEqual([
    'All entries',
    'Acme · model gpt-5',
  ])
  expect([
    spanInWords({ from: '2026-11-01', to: '2026-11-30' }),
    spanInWords({ from: '2026-11-01', to: null }),
    spanInWords({ from: null, to: '2026-11-30' }),
    spanInWords({ from: null, to: null }),
  ]).toEqual(['Nov 2026', 'From 1 Nov 2026', 'Until 30 Nov 2026', 'All time'])
})

test('the entries of a budget are those of the API, with further filters', () => {
  const month = 'starting_at=2026-11-01T00%3A00%3A00.000Z&ending_at=2026-12-01T00%3A00%3A00.000Z'
  const url = `/api/v1/token-entries?${month}`
  expect(entriesPageOf(url, 'UTC')).toBe('/entries?period=2026-11-01..2026-11-30')
  expect(entriesPageOf(url, 'UTC', { priced: 'false' })).toBe('/entries?period=2026-11-01..2026-11-30&priced=false')
  expect(entriesPageOf(url, 'Europe/Berlin')).toBe(`/entries?${month}`)
})

describe('the burn-down chart', () => {
  const days = [
    { date: '2026-11-01', spent: 10 },
    { date: '2026-11-02', spent: 25 },
  ]
  const size = { width: 464, height: 136, format: AMOUNTS.money }
  const chart = { days, from: '2026-11-01', to: '2026-11-04', available: 100, isCurrent: true }

  test('goes on to the last day of the period, or ends today if that is far away or missing', () => {
    expect(axisDays(chart)).toEqual(['2026-11-01', '2026-11-02', '2026-11-03', '2026-11-04'])
    for (const to of [null, '2999-12-31']) expect(axisDays({ days, to })).toEqual(['2026-11-01', '2026-11-02'])
  })

  test('leads from nothing to what is spent today, and from there to the forecast and its range', () => {
    const { spent, forecast, today } = linesOf({ ...chart, forecast: { amount: 80, low: 60, high: 100 } }, size)
    expect(spent).toBe('M64 108L164 98L214 83')
    expect(forecast).toEqual({ line: 'M214 83L464 28', band: 'M214 83L464 8L464 48z' })
    expect(today).toBe(214)
  })

  test('marks neither today nor a forecast after the period', () => {
    const { forecast, today } = linesOf({ ...chart, to: '2026-11-02', isCurrent: false, forecast: null }, size)
    expect([forecast, today]).toEqual([null, null])
  })

  test('leaves out the days before anything was spent if the budget has no first day', () => {
    const quiet = ['2026-10-29', '2026-10-30', '2026-10-31'].map((date) => ({ date, spent: 0 }))
    expect(shownDays([...quiet, ...days], null)).toEqual([quiet[2]!, ...days])
    expect(shownDays([...quiet, ...days], '2026-10-29')).toHaveLength(5)
    expect(shownDays(quiet, null)).toEqual(quiet)
  })
})
