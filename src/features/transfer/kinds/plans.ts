import {
  ALLOWANCE_UNITS,
  FEE_WEIGHTS,
  FUNDING_NOTES,
  FUNDING_REASONS,
  FUNDINGS,
  PLAN_HOLDERS,
  PLAN_PERIODS,
  SAID_FUNDINGS,
} from '../../../database/schema/values.ts'
import { NANO_DIGITS, RATE_DIGITS } from '../../../lib/money.ts'
import { choice, day, decimal, flag, integer, json, moment, orNone, ownId, reference, text } from '../columns.ts'
import { kind } from '../kind.ts'

export const PLAN = kind({
  type: 'plan',
  table: 'plans',
  order: ['id'],
  fields: {
    id: ownId('pln'),
    name: text('name'),
    vendor: text('vendor'),
    product: text('product'),
    holder: choice('holder', PLAN_HOLDERS),
    vendor_codes: json('vendorCodes'),
    note: orNone(text('note')),
    ends_on: orNone(day('endsOn')),
    end_prorates: orNone(flag('endProrates')),
    created_at: moment('createdAt'),
  },
  parts: {
    holders: {
      table: 'planHolders',
      of: 'planId',
      fields: { person: reference('userId', 'users'), from: day('fromDay'), to: orNone(day('toDay')) },
    },
    versions: {
      table: 'planVersions',
      of: 'planId',
      fields: {
        from: day('fromDay'),
        prorates: orNone(flag('prorates')),
        period: choice('period', PLAN_PERIODS),
        fee: decimal('fee', NANO_DIGITS),
        currency: text('currency'),
        exchange_rate: orNone(decimal('exchangeRate', RATE_DIGITS)),
        seats: integer('seats', 1),
        conditions: json('conditions'),
        // Nano-dollars, tokens or requests.
        allowance: orNone(decimal('allowance', 0)),
        allowance_unit: orNone(choice('allowanceUnit', ALLOWANCE_UNITS)),
        overage_price: orNone(decimal('overagePrice', NANO_DIGITS)),
        pooled: flag('pooled'),
        weight: choice('weight', FEE_WEIGHTS),
        source_url: orNone(text('sourceUrl')),
        source_day: orNone(day('sourceDay')),
      },
    },
  },
})

export const FUNDING_RULE = kind({
  type: 'funding_rule',
  table: 'fundingRules',
  order: ['id'],
  fields: {
    id: ownId('frl'),
    position: integer('position'),
    enabled: flag('enabled'),
    created_at: moment('createdAt'),
    removed_at: orNone(moment('removedAt')),
  },
  parts: {
    versions: {
      table: 'fundingRuleVersions',
      of: 'ruleId',
      fields: {
        version: integer('version', 1),
        name: text('name'),
        conditions: json('conditions'),
        funding: choice('funding', FUNDINGS),
        plan: orNone(reference('planId', 'plans')),
        created_at: moment('createdAt'),
      },
    },
  },
})

/** What entries are paid with: one line for all that are equal. */
export const FUNDING = kind({
  type: 'funding',
  table: 'fundings',
  order: ['id'],
  fields: {
    id: ownId('fnd'),
    said_funding: orNone(choice('saidFunding', SAID_FUNDINGS)),
    said_plan: orNone(text('saidPlan')),
    funding: choice('funding', FUNDINGS),
    plan: orNone(reference('planId', 'plans')),
    rule: orNone(reference('ruleVersionId', 'fundingRuleVersions')),
    reason: choice('reason', FUNDING_REASONS),
    note: orNone(choice('note', FUNDING_NOTES)),
  },
})
