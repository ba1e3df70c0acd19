import {
  ALLOWANCE_UNITS,
  ENTRY_FUNDINGS,
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
import { generationsOfClosed, sharesOfClosed } from '../store/closed-periods.ts'

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
    metered_share: orNone(integer('meteredShare', 0)),
    funding: choice('funding', ENTRY_FUNDINGS),
    plan: orNone(reference('planId', 'plans')),
    rule: orNone(reference('ruleVersionId', 'fundingRuleVersions')),
    reason: choice('reason', FUNDING_REASONS),
    note: orNone(choice('note', FUNDING_NOTES)),
  },
})

const amount = (column: string) => decimal(column, NANO_DIGITS)

/** A closed period, and the calculation of it that counts. */
export const PLAN_PERIOD = kind({
  type: 'plan_period',
  table: 'planGenerations',
  order: ['id'],
  chosen: generationsOfClosed,
  fields: { plan: reference('planId', 'plans'), first_day: day('firstDay'), created_at: moment('createdAt') },
  parts: {
    period: {
      table: 'planPeriods',
      of: 'generationId',
      single: true,
      fields: {
        plan: reference('planId', 'plans'),
        first_day: day('firstDay'),
        last_day: orNone(day('lastDay')),
        starting_at: moment('startingAt'),
        ending_at: moment('endingAt'),
        fee: amount('fee'),
        unused: amount('unused'),
        unused_seats: integer('unusedSeats', 0),
        pending: amount('pending'),
        entries: integer('entries', 0),
        unpriced_entries: integer('unpricedEntries', 0),
        late_entries: integer('lateEntries', 0),
        unsettled: integer('unsettled', 0),
        charges_cost: flag('chargesCost'),
        shares: amount('sumOfShares'),
        entries_cost: amount('entriesCost'),
        entries_charge: amount('entriesCharge'),
        calculated_at: orNone(moment('calculatedAt')),
        duration_ms: orNone(integer('durationMs', 0)),
        closed_at: orNone(moment('closedAt')),
      },
    },
  },
})

/** The share of an entry in the fee of a closed period. */
export const PLAN_SHARE = kind({
  type: 'plan_share',
  table: 'planShares',
  order: ['entryId', 'generationId'],
  chosen: sharesOfClosed,
  fields: {
    entry: reference('entryId', 'entries'),
    period: reference('generationId', 'planGenerations'),
    fee: amount('fee'),
    charge: amount('charge'),
  },
})

/** An entry that corrects the shares of a closed period in a later one. */
export const PLAN_CORRECTION = kind({
  type: 'plan_correction',
  table: 'planCorrections',
  order: ['entryId'],
  fields: {
    entry: reference('entryId', 'entries'),
    plan: reference('planId', 'plans'),
    of_first_day: day('ofFirstDay'),
    agent_manager: reference('managerId', 'users'),
    project: orNone(reference('projectId', 'projects')),
    ticket: orNone(reference('ticketId', 'tickets')),
    fee: amount('fee'),
    charge: amount('charge'),
  },
})
