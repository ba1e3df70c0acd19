/** Whether seats of plans pay for themselves (docs/reports/insights.md, "Does a seat pay for itself?"). */
import { seesFees, type Viewer, visibleEntries } from '../../access/visibility.ts'
import type { Database } from '../../database/database.ts'
import { Problem } from '../../errors.ts'
import { decimalNumber, divideHalfEven, moneyNumber, NANO_DIGITS, type Nanos } from '../../lib/money.ts'
import type { Period, PeriodRecord } from '../funding/contract.ts'
import type { OrganizationService } from '../organization/service.ts'
import type { PlanTerms } from './request.ts'
import type { PlanValue, PlanValueReport, PlanValueSums } from './schema.ts'
import { type PersonSum, sumPeople } from './store/periods.ts'
import type { PlanView } from './store/plans.ts'
import { type LedgerAmounts, ledgerOf, stateOf, type Today } from './wire.ts'

const RATIO_DIGITS = 4
const SHARE_DIGITS = 9

export interface Days {
  from?: string | undefined
  to?: string | undefined
}

/** Periods of all plans; the record is undefined where nobody has used one. */
export interface PlanPeriods {
  now: Today
  days: { from: string; to: string }
  periods: { plan: PlanView; period: Period<PlanTerms>; record: PeriodRecord | undefined }[]
}

interface Dependencies {
  db: Database
  organization: Pick<OrganizationService, 'settings'>
  readPeriods: (days: Days) => Promise<PlanPeriods>
}

/** Amounts of people, or of a period. */
interface Value {
  fee: Nanos
  listValue: Nanos
  charge: Nanos
}

export function createValueReport({ db, organization, readPeriods }: Dependencies) {
  return {
    /**
     * The periods of all plans, and what each person has of them. Who sees everything sees whole fees and unused seats; leads who
     * see fees see the shares of the entries that they see, and only plans that have some. Throws 403 `fees_hidden` for others.
     */
    async readValue(viewer: Viewer, days: Days): Promise<PlanValueReport> {
      const settings = await organization.settings()
      if (!(await seesFees(db.read, viewer, settings))) {
        throw new Problem(
          'fees_hidden',
          'It shows what seats of plans cost, which needs the role billing or admin, or lead if the setting leads_see_fees is on.',
        )
      }
      const seesAll = viewer.sees === 'everything'
      const { now, days: asked, periods } = await readPeriods(days)
      const known = periods.flatMap(({ record }) => record ?? [])
      const people = await sumPeople(db.slow, known, await visibleEntries(db.slow, viewer))
      const sums = { ended: new Sum(seesAll), running: new Sum(seesAll) }
      const data: PlanValue[] = []
      for (const { plan, period, record } of periods) {
        const own = people.get(`${plan.id} ${period.firstDay}`) ?? []
        if (own.length === 0 && !seesAll) continue
        const shared = own.reduce((sum, person) => sum + feeOf(person), 0n)
        const ledger = seesAll ? ledgerOf(period, record) : { fee: shared, allocated: shared, unused: 0n, pending: 0n }
        const { terms } = period
        const state = stateOf(period, record, now.day)
        const sum = new Sum(seesAll)
        sum.add(ledger, own)
        sums[state === 'running' ? 'running' : 'ended'].add(ledger, own)
        const { periods: _, ...amounts } = sum.body()
        data.push({
          plan: { id: plan.uid, name: plan.name },
          from: period.firstDay,
          to: period.lastDay,
          state,
          seats: seesAll ? terms.seats : null,
          unused_seats: seesAll ? (record ? record.unusedSeats : terms.seats) : null,
          ...amounts,
          allowance:
            terms.allowance === null
              ? null
              : decimalNumber(terms.allowance, terms.allowanceUnit === 'usd' ? NANO_DIGITS : 0),
          allowance_unit: terms.allowanceUnit,
          late_entries: seesAll ? (record?.lateEntries ?? 0) : null,
          people: own.map((person) => personBody(person, terms)),
        })
      }
      return {
        time_zone: settings.timeZone,
        ...asked,
        data,
        ended: sums.ended.body(),
        running: sums.running.body(),
      }
    },
  }
}

const feeOf = ({ fee, corrections }: PersonSum): Nanos => fee + corrections.fee
const chargeOf = ({ charge, corrections }: PersonSum): Nanos => charge + corrections.charge

class Sum {
  #periods = 0
  readonly #ledger: LedgerAmounts = { fee: 0n, allocated: 0n, unused: 0n, pending: 0n }
  readonly #value = { listValue: 0n, charge: 0n }

  constructor(private readonly seesAll: boolean) {}

  add(ledger: LedgerAmounts, people: readonly PersonSum[]): void {
    this.#periods += 1
    for (const name of ['fee', 'allocated', 'unused', 'pending'] as const) this.#ledger[name] += ledger[name]
    for (const person of people) {
      this.#value.listValue += person.listValue
      this.#value.charge += chargeOf(person)
    }
  }

  body(): PlanValueSums {
    const { fee, allocated, unused, pending } = this.#ledger
    return {
      periods: this.#periods,
      fee_usd: moneyNumber(fee),
      allocated: moneyNumber(allocated),
      unused: this.seesAll ? moneyNumber(unused) : null,
      pending: this.seesAll ? moneyNumber(pending) : null,
      ...valueBody({ fee, ...this.#value }),
    }
  }
}

const valueBody = ({ fee, listValue, charge }: Value) => ({
  list_value: moneyNumber(listValue),
  charge: moneyNumber(charge),
  ratio: fee <= 0n ? null : decimalNumber(divideHalfEven((listValue - charge) * 10_000n, fee), RATIO_DIGITS),
})

function personBody(person: PersonSum, { allowance, allowanceUnit }: PlanTerms): PlanValue['people'][number] {
  const { uid, name, entries, unpricedEntries, listValue } = person
  const fee = feeOf(person)
  return {
    id: uid,
    name,
    entries,
    unpriced_entries: unpricedEntries,
    fee: moneyNumber(fee),
    ...valueBody({ fee, listValue, charge: chargeOf(person) }),
    allowance_used: allowance === null || allowanceUnit === null ? null : usedBody(person, allowanceUnit),
  }
}

/** Dollars to the nano, tokens and requests with the parts that are metered left out. */
function usedBody({ units }: PersonSum, unit: keyof PersonSum['units']): number {
  const used = units[unit]
  return unit === 'usd'
    ? moneyNumber(divideHalfEven(used, 10n ** BigInt(SHARE_DIGITS)))
    : decimalNumber(used, SHARE_DIGITS)
}
