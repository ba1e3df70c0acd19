/** Serialization of plans. Pure. */
import { addDays, startOfDay } from '../../lib/calendar.ts'
import { timestamp } from '../../lib/duration.ts'
import { decimalNumber, moneyNumber, NANO_DIGITS, RATE_DIGITS } from '../../lib/money.ts'
import { type Period, type PeriodRecord, periodAt } from '../funding/contract.ts'
import { COUNTED_STATUSES } from '../reports/service.ts'
import { listPath } from '../selection/contract.ts'
import type { PlanFields, PlanTerms } from './request.ts'
import type { AllocatedPeriod, LoadedPlan, PeriodBody, PlanBody, Terms } from './schema.ts'
import type { PlanView } from './store/plans.ts'

const decimalOrNull = (units: bigint | null, digits: number): number | null =>
  units === null ? null : decimalNumber(units, digits)

function termsBody(terms: PlanTerms): Terms {
  return {
    from: terms.fromDay,
    prorate: terms.prorates,
    period: terms.period,
    fee: moneyNumber(terms.fee),
    currency: terms.currency,
    exchange_rate: decimalOrNull(terms.exchangeRate, RATE_DIGITS),
    seats: terms.seats,
    covers: terms.conditions,
    allowance: decimalOrNull(terms.allowance, terms.allowanceUnit === 'usd' ? NANO_DIGITS : 0),
    allowance_unit: terms.allowanceUnit,
    overage_price: moneyNumber(terms.overagePrice),
    pooled: terms.pooled,
    weight: terms.weight,
    source_url: terms.sourceUrl,
    source_day: terms.sourceDay,
  }
}

function periodBody({ terms, firstDay, lastDay, wholeLastDay, fee, feeDollars }: Period<PlanTerms>): PeriodBody {
  return {
    from: firstDay,
    to: lastDay,
    whole_to: wholeLastDay,
    seats: terms.seats,
    fee: moneyNumber(fee),
    currency: terms.currency,
    fee_usd: moneyNumber(feeDollars),
  }
}

/** What became of the fee of a period: the other amounts sum to it. */
export interface LedgerAmounts {
  fee: bigint
  allocated: bigint
  unused: bigint
  pending: bigint
}

/** @param record undefined if nobody has used it */
export function ledgerOf({ feeDollars: fee }: Period<PlanTerms>, record: PeriodRecord | undefined): LedgerAmounts {
  if (!record) return { fee, allocated: 0n, unused: fee, pending: 0n }
  const { unused } = record
  const allocated = record.fee - unused - record.pending
  return { fee, allocated, unused, pending: fee - allocated - unused }
}

/** @param today in the organization's time zone */
export function stateOf(
  { lastDay }: Period<PlanTerms>,
  record: PeriodRecord | undefined,
  today: string,
): AllocatedPeriod['state'] {
  if (record && record.closedAt !== null) return 'closed'
  return lastDay !== null && lastDay < today ? 'ended' : 'running'
}

/** The entries that it pays for, without corrections of other periods. */
function entriesUrl(plan: Pick<PlanView, 'uid'>, { firstDay, lastDay }: Period, timeZone: string): string {
  const filter = {
    starting_at: startOfDay(firstDay, timeZone),
    ...(lastDay !== null && { ending_at: startOfDay(addDays(lastDay, 1), timeZone) }),
    plan: [plan.uid],
    correction: false,
    status: [...COUNTED_STATUSES],
    superseded: false,
  }
  return `${listPath(filter)}&basis=allocated`
}

/** The day, in the organization's time zone. */
export interface Today {
  day: string
  timeZone: string
}

export function allocatedBody(
  plan: Pick<PlanView, 'uid'>,
  period: Period<PlanTerms>,
  record: PeriodRecord | undefined,
  { day: today, timeZone }: Today,
): AllocatedPeriod {
  const { allocated, unused, pending } = ledgerOf(period, record)
  const state = stateOf(period, record, today)
  const isClosed = state === 'closed'
  return {
    ...periodBody(period),
    allocated: moneyNumber(allocated),
    unused: moneyNumber(unused),
    pending: moneyNumber(pending),
    state,
    provisional: !isClosed,
    calculated_at: record?.calculatedAt == null ? null : timestamp(record.calculatedAt),
    closed_at: isClosed ? timestamp(record!.closedAt!) : null,
    unused_seats: record ? record.unusedSeats : period.terms.seats,
    entries_cost: moneyNumber(record?.entriesCost ?? 0n),
    charge: moneyNumber(record?.entriesCharge ?? 0n),
    corrections: moneyNumber(record ? allocated - record.sumOfShares : 0n),
    entries_url: entriesUrl(plan, period, timeZone),
    entries: record?.entries ?? 0,
    unpriced_entries: record?.unpricedEntries ?? 0,
    late_entries: record?.lateEntries ?? 0,
  }
}

/** @param today in the organization's time zone */
export function planBody(plan: PlanView, today: string): PlanBody {
  const startsOn = plan.versions[0]!.fromDay
  const period = periodAt(plan, today)
  return {
    id: plan.uid,
    name: plan.name,
    vendor: plan.vendor,
    product: plan.product,
    holder: plan.holder,
    people: plan.holders.map(({ uid, name, fromDay, toDay }) => ({ id: uid, name, from: fromDay, to: toDay })),
    vendor_codes: plan.vendorCodes,
    note: plan.note,
    starts_on: startsOn,
    ends_on: plan.endsOn,
    end_prorate: plan.endProrates,
    state: plan.endsOn !== null && plan.endsOn < today ? 'ended' : startsOn > today ? 'planned' : 'active',
    current_period: period ? periodBody(period) : null,
    versions: plan.versions.map(termsBody).reverse(),
    created_at: timestamp(plan.createdAt),
  }
}

/** What people decide about a plan, for the audit log and for files: people by their e-mail addresses. */
export function loadedBody(
  plan: Omit<PlanFields, 'holders'> & { holders: readonly { email: string; fromDay: string; toDay: string | null }[] },
): Required<LoadedPlan> {
  return {
    name: plan.name,
    vendor: plan.vendor,
    product: plan.product,
    holder: plan.holder,
    people: plan.holders.map(({ email, fromDay, toDay }) => ({ person: email, from: fromDay, to: toDay })),
    vendor_codes: plan.vendorCodes,
    note: plan.note,
    ends_on: plan.endsOn,
    end_prorate: plan.endProrates,
    versions: plan.versions.map(termsBody),
  }
}
