/** What the pages of plans send, and how they describe them. */
import { expect, test } from 'bun:test'
import '../../support/page-location.ts'
import {
  allowanceInWords,
  coversInWords,
  currentTerms,
  feeInWords,
  holdersInWords,
  type Plan,
} from '../../../src/web/pages/plans/plan.ts'
import {
  detailsChangeOf,
  EMPTY_PLAN,
  issueFieldsOf,
  newPlanOf,
  prorateOf,
  termsOf,
  valuesOf,
} from '../../../src/web/pages/plans/plan-values.ts'

const TERMS = {
  ...{
    from: '2026-10-17',
    prorate: null,
    period: 'month' as const,
    fee: 100,
    currency: 'USD',
    exchange_rate: null,
    seats: 1,
  },
  ...{ allowance: null, allowance_unit: null, overage_price: null, source_url: null, source_day: null },
  ...{ pooled: false, weight: 'list_value' as const },
  covers: [{ field: 'agent_harness', matches: 'claude-code' }],
}
const PLAN = {
  ...{ id: 'pln_1', name: 'Max', vendor: 'Anthropic', product: 'Claude Max', holder: 'people', note: null },
  people: [{ id: 'usr_1', name: 'Ada', from: '2026-10-17', to: null }],
  vendor_codes: [],
  ...{ starts_on: '2026-10-17', ends_on: null, end_prorate: null, state: 'active', current_period: null },
  versions: [{ ...TERMS, from: '2026-12-01', fee: 200, prorate: true }, TERMS],
  created_at: '2026-10-17T00:00:00.000Z',
} as unknown as Plan

test('the form sends only what was changed, so that a list of one person does not become the plan of one person', () => {
  const values = valuesOf(PLAN, null)
  expect(detailsChangeOf(values, PLAN)).toEqual({})
  expect(detailsChangeOf({ ...values, note: ' Ada’s card ' }, PLAN)).toEqual({ note: 'Ada’s card' })
  const people = [{ ...values.people[0]!, to: '2026-11-30' }]
  expect(detailsChangeOf({ ...values, people }, PLAN)).toEqual({
    people: [{ person: 'usr_1', from: '2026-10-17', to: '2026-11-30' }],
  })
})

test('the form of terms begins with those of its day, and sends all of them', () => {
  const { prorate: _, ...sent } = { ...TERMS, covers: [...TERMS.covers] }
  expect(termsOf({ ...valuesOf(PLAN, '2026-11-30'), from: '2026-10-17' })).toEqual(sent)
  expect(termsOf(valuesOf(PLAN, '2026-12-01'))).toEqual({ ...sent, from: '2026-12-01', fee: 200 })
  expect([prorateOf({ prorate: '' }), prorateOf({ prorate: 'no' })]).toEqual([{}, { prorate: false }])
  const unpriced = { ...EMPTY_PLAN, allowance: '', overage_price: 1, currency: 'USD', exchange_rate: 0.9 }
  expect(newPlanOf(unpriced)).toMatchObject({
    allowance: null,
    allowance_unit: null,
    overage_price: null,
    pooled: false,
    weight: 'list_value' as const,
    exchange_rate: null,
  })
  expect(newPlanOf(unpriced)).not.toHaveProperty('name')
  expect(issueFieldsOf(valuesOf(PLAN, null))).toMatchObject({
    '/people/0/to': 'people.0.to',
    '/covers/0/matches': 'rows.0.text',
  })
})

test('a plan is described by its fee, allowance, people and what it covers now', () => {
  expect(feeInWords({ ...TERMS, seats: 5, fee: 25, currency: 'EUR' })).toBe('5 seats at €25.00 per month')
  const allowing = { ...TERMS, allowance: 10, allowance_unit: 'usd', overage_price: 1 } as const
  expect(allowanceInWords(allowing)).toBe('$10.00, then $1.00 per dollar')
  expect(allowanceInWords({ ...allowing, allowance_unit: 'requests', overage_price: null })).toBe(
    '10 requests, no charge beyond that',
  )
  expect([coversInWords(TERMS.covers), coversInWords([])]).toEqual(['Harness claude-code', 'all usage'])
  expect([holdersInWords(PLAN), holdersInWords({ people: [] })]).toEqual(['Ada', 'Everyone'])
  expect(currentTerms(PLAN).fee).toBe(100)
  const period = { from: '2026-12-01' } as Plan['current_period']
  expect(currentTerms({ ...PLAN, current_period: period }).fee).toBe(200)
})
