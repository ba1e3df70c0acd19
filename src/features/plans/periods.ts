/** Periods of plans as people see, close and reopen them (docs/plans.md, "Close a period"). */
import type { Actor, Party } from '../../access/actor.ts'
import type { Database, Reader, Tx } from '../../database/database.ts'
import { type Issue, notFound, Problem, refusal, validationFailed } from '../../errors.ts'
import { addDays, dayAt, isDay } from '../../lib/calendar.ts'
import type { Clock } from '../../lib/clock.ts'
import { counted } from '../../lib/counted.ts'
import { moneyNumber } from '../../lib/money.ts'
import { issuesOfText } from '../../schema/fields.ts'
import type { AuditService } from '../audit/service.ts'
import type { EntriesService } from '../entries/service.ts'
import { type Period, type PeriodRecord, periodAt, periodsOf } from '../funding/contract.ts'
import type { FundingService } from '../funding/service.ts'
import type { OrganizationService } from '../organization/service.ts'
import type { PlanTerms } from './request.ts'
import type { AllocatedPeriod, PeriodClosing, PeriodDetail, PlanLedger } from './schema.ts'
import { listPeriodRecords, listUnclosed, sumPeople } from './store/periods.ts'
import { listPlans, type PlanView } from './store/plans.ts'
import { createValueReport, type Days, type PlanPeriods } from './value.ts'
import { allocatedBody, type LedgerAmounts, ledgerOf, stateOf, type Today } from './wire.ts'

/** The periods of a plan in one response: those of eight years, if they are weeks. */
const PERIODS_LIMIT = 400
/** Of all plans: a thousand plans of a quarter. */
const LEDGER_LIMIT = 5_000

const REASON_LIMIT = 1_000

interface Dependencies {
  db: Database
  clock: Clock
  audit: AuditService
  organization: Pick<OrganizationService, 'settings'>
  funding: Pick<FundingService, 'closePeriod' | 'reopenPeriod' | 'calculateOwed'>
  entries: Pick<EntriesService, 'corrections' | 'funding'>
  getView: (reader: Reader, text: string) => Promise<PlanView>
}

interface LedgerFilter extends Days {
  unclosed?: boolean | undefined
}

export function createPeriods({ db, clock, audit, organization, funding, entries, getView }: Dependencies) {
  /** In the organization's time zone. */
  const today = async (): Promise<Today> => {
    const { timeZone } = await organization.settings()
    return { day: dayAt(clock.now(), timeZone), timeZone }
  }

  /** Throws 404 if no period of the plan begins on the day. */
  function getPeriod(plan: PlanView, firstDay: string): Period<PlanTerms> {
    const period = isDay(firstDay) ? periodAt(plan, firstDay) : undefined
    if (period?.firstDay !== firstDay) throw notFound(`A period of the plan ${plan.name} from ${firstDay}`)
    return period
  }

  function within(plan: PlanView, days: { from: string; to: string }, limit: number): Period<PlanTerms>[] {
    const periods: Period<PlanTerms>[] = []
    for (const period of periodsOf(plan, days)) {
      periods.push(period)
      if (periods.length > limit) {
        throw refusal('/query/from', 'too_many', `must not be so early: more than ${limit} periods`)
      }
    }
    return periods.reverse()
  }

  /**
   * Those of all plans that contain any of the days, by default of the last 31 days, by plan, the newest first; or of these, or of any
   * time, only used ones that have ended and are not closed.
   */
  async function readPeriods({ from, to, unclosed = false }: LedgerFilter): Promise<PlanPeriods> {
    const now = await today()
    const { day } = now
    const last = to ?? day
    const days = { from: from ?? addDays(last, -30), to: last }
    const periods: PlanPeriods['periods'][number][] = []
    const waiting = unclosed ? await listUnclosed(db.read, day) : undefined
    if (waiting?.size === 0) return { now, days, periods }
    const records = await listPeriodRecords(db.read, waiting && [...waiting.keys()])
    const plans = (await listPlans(db.read)).sort((one, other) => one.name.localeCompare(other.name, 'en'))
    for (const plan of plans) {
      if (waiting && !waiting.has(plan.id)) continue
      const asked = { from: from ?? waiting?.get(plan.id) ?? days.from, to: last }
      for (const period of within(plan, asked, LEDGER_LIMIT - periods.length)) {
        const record = records.get(`${plan.id} ${period.firstDay}`)
        const isWaiting = stateOf(period, record, day) === 'ended' && record !== undefined && record.entries > 0
        if (!unclosed || isWaiting) periods.push({ plan, period, record })
      }
    }
    return { now, days, periods }
  }

  const nameOf = (plan: PlanView, { firstDay }: { firstDay: string }) =>
    `the period from ${firstDay} of plan ${plan.name}`

  /** Throws 409 if it cannot be closed. */
  function requireClosable(
    plan: PlanView,
    period: Period<PlanTerms>,
    record: PeriodRecord,
    { all, day, leaveUnpriced }: { all: readonly PeriodRecord[]; day: string; leaveUnpriced: boolean },
  ): void {
    const refuse = (why: string) => new Problem('wrong_status', `Cannot close ${nameOf(plan, period)}: ${why}`)
    if (record.closedAt !== null) throw refuse('it is closed.')
    if (period.lastDay === null || period.lastDay >= day) {
      const end = period.lastDay === null ? 'has no end' : `ends on ${period.lastDay}`
      throw refuse(`it must have ended, but ${end}.`)
    }
    const earlier = all.find(
      ({ firstDay, closedAt, entries: paid }) => firstDay < period.firstDay && closedAt === null && paid > 0,
    )
    if (earlier) throw refuse(`the period from ${earlier.firstDay} is open. Close that one first.`)
    if (record.unpricedEntries > 0 && !leaveUnpriced) {
      throw new Problem(
        'unpriced_entries',
        `${counted(record.unpricedEntries, 'entry has', 'entries have')} no price in ${nameOf(plan, period)}, and would get no share of its fee. Load prices for their models, or close it with leave_unpriced.`,
      )
    }
  }

  return {
    ...createValueReport({ db, organization, readPeriods }),

    /** The periods of a plan, the newest first: those with any of the days, by default of the last twelve months. Throws 422 for more than 400. */
    async listPeriods(text: string, { from, to }: Days): Promise<AllocatedPeriod[]> {
      const [plan, now] = [await getView(db.read, text), await today()]
      const last = to ?? now.day
      const records = await listPeriodRecords(db.read, [plan.id])
      return within(plan, { from: from ?? addDays(last, -365), to: last }, PERIODS_LIMIT).map((period) =>
        allocatedBody(plan, period, records.get(`${plan.id} ${period.firstDay}`), now),
      )
    },

    /** The periods of all plans that contain any of the days, by default of the last 31 days, and their sums. */
    async readLedger(filter: LedgerFilter): Promise<PlanLedger> {
      const { now, periods } = await readPeriods(filter)
      const sums: LedgerAmounts = { fee: 0n, allocated: 0n, unused: 0n, pending: 0n }
      for (const { period, record } of periods) {
        const amounts = ledgerOf(period, record)
        for (const name of ['fee', 'allocated', 'unused', 'pending'] as const) sums[name] += amounts[name]
      }
      const { fee, allocated, unused, pending } = sums
      return {
        data: periods.map(({ plan, period, record }) => ({
          plan: { id: plan.uid, name: plan.name },
          ...allocatedBody(plan, period, record, now),
        })),
        fee_usd: moneyNumber(fee),
        allocated: moneyNumber(allocated),
        unused: moneyNumber(unused),
        pending: moneyNumber(pending),
      }
    },

    /** How many used periods have ended and are not closed. */
    countUnclosed: async (): Promise<number> => (await readPeriods({ unclosed: true })).periods.length,

    async getPeriod(text: string, firstDay: string): Promise<PeriodDetail> {
      const plan = await getView(db.read, text)
      const period = getPeriod(plan, firstDay)
      const record = (await listPeriodRecords(db.read, [plan.id])).get(`${plan.id} ${firstDay}`)
      const key = { planId: plan.id, firstDay, generationId: record?.generationId ?? null }
      const people = (await sumPeople(db.slow, [key])).get(`${plan.id} ${firstDay}`) ?? []
      return {
        ...allocatedBody(plan, period, record, await today()),
        people: people.map(({ uid, name, entries: used, listValue, fee, charge, corrections }) => ({
          id: uid,
          name,
          entries: used,
          list_value: moneyNumber(listValue),
          share: moneyNumber(fee),
          charge: moneyNumber(charge),
          corrections: moneyNumber(corrections.fee),
        })),
      }
    },

    /**
     * Closes a period that has ended, and settles it: its shares stay from now on. Throws 409 `wrong_status` if it is running
     * or closed or an earlier one with entries is open, and `unpriced_entries`.
     */
    async closePeriod(
      text: string,
      firstDay: string,
      { leave_unpriced: leaveUnpriced = false }: PeriodClosing,
      { by }: Pick<Party, 'by'>,
    ): Promise<PeriodDetail> {
      const plan = await getView(db.read, text)
      const period = getPeriod(plan, firstDay)
      const { day } = await today()
      // What cannot be closed is not calculated.
      const known = await listPeriodRecords(db.read, [plan.id])
      const record = known.get(`${plan.id} ${firstDay}`)
      if (record) requireClosable(plan, period, record, { all: [], day, leaveUnpriced: true })
      await entries.funding.decideOwed()
      const corrections = await funding.closePeriod(
        { planId: plan.id, firstDay },
        (_tx, current, all) => requireClosable(plan, period, current, { all, day, leaveUnpriced }),
        (tx, differences, { period: corrected, startedAt }) =>
          entries.corrections.add(tx, differences, {
            plan,
            firstDay: corrected.firstDay,
            startedAt,
            summary: summaryOf(plan, corrected),
            by,
          }),
        (tx, sum) => recordChange(tx, by, 'plan_period.closed', plan, { period: firstDay, corrections: sum }),
      )
      if (corrections === undefined) {
        throw new Problem(
          'wrong_status',
          `${nameOf(plan, period)} was not closed: its entries keep changing. Try again.`,
        )
      }
      return this.getPeriod(text, firstDay)
    },

    /** Lets the shares of a closed period follow its entries again. Corrections that no bill has are voided. */
    async reopenPeriod(
      text: string,
      firstDay: string,
      { reason }: { reason: string },
      { by }: Pick<Party, 'by'>,
    ): Promise<PeriodDetail> {
      const issues: Issue[] = issuesOfText(reason, '/reason', REASON_LIMIT)
      if (issues.length > 0) throw validationFailed(issues)
      const plan = await getView(db.read, text)
      const period = getPeriod(plan, firstDay)
      await funding.reopenPeriod(
        { planId: plan.id, firstDay },
        (record) => {
          if (record && record.closedAt !== null) return
          throw new Problem('wrong_status', `Cannot reopen ${nameOf(plan, period)}: it is not closed.`)
        },
        (tx, ids) => entries.corrections.withdraw(tx, ids, reason, by),
        (tx, voided) =>
          recordChange(tx, by, 'plan_period.reopened', plan, { period: firstDay, reason, voided_corrections: voided }),
      )
      await funding.calculateOwed()
      return this.getPeriod(text, firstDay)
    },
  }

  function recordChange(
    tx: Tx,
    by: Actor,
    action: 'plan_period.closed' | 'plan_period.reopened',
    { uid, name }: PlanView,
    after: Record<string, unknown>,
  ): Promise<void> {
    return audit.record(tx, by, { action, object: { id: uid, name }, after })
  }
}

/** `Correction of Claude Max, 2026-10-17 to 2026-11-16: 3 late entries` */
function summaryOf(
  { name }: PlanView,
  { firstDay, lastDay, late }: { firstDay: string; lastDay: string | null; late: readonly unknown[] },
): string {
  const because = late.length === 0 ? '' : `: ${counted(late.length, 'late entry', 'late entries')}`
  return `Correction of ${name}, ${firstDay} to ${lastDay}${because}`
}
