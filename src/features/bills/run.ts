/** A billing run: what a month still owes to whom, with the same figures as the previews of its bills. */

import { createHash } from 'node:crypto'
import type { Database } from '../../database/database.ts'
import { refusal } from '../../errors.ts'
import { dayAt, daysOfMonth, spanOf } from '../../lib/calendar.ts'
import type { Clock } from '../../lib/clock.ts'
import { decimalNumber, moneyNumber } from '../../lib/money.ts'
import type { EntriesService } from '../entries/service.ts'
import { listPath, OPEN_STATUSES } from '../selection/contract.ts'
import { billableStatuses } from './arguments.ts'
import { type Allocation, isTooLarge } from './composition.ts'
import { correctionsBody, leftOutBody } from './composition-task.ts'
import { minorDigitsOf } from './currency.ts'
import type { BillRunQuery } from './query.ts'
import { RUN_CHECKS, runChecks } from './run-checks.ts'
import type { BillRun, BillRunBlock, BillRunCheck, BillRunRow } from './run-schema.ts'
import { RUN_TASK, type RunArgs, type RunResult, type RunRow } from './run-task.ts'
import type { LeftOutEntries } from './store/billable.ts'
import { getIssuer } from './store/issuer.ts'

interface RunDependencies {
  db: Database
  clock: Clock
  billing: Pick<EntriesService['billing'], 'settled' | 'portion'>
  funding: Allocation
}

export function createRun({ db, clock, billing, funding }: RunDependencies) {
  /** Throws `validation_failed` for a month that has not begun. */
  return async function run({ month, ...decided }: BillRunQuery): Promise<BillRun> {
    const { timeZone } = await getIssuer(db.read)
    const today = dayAt(clock.now(), timeZone)
    const period = daysOfMonth(month)!
    if (period.from > today) {
      throw refusal('/query/month', 'too_large', 'must not be in the future')
    }
    const args: RunArgs = { month, period, today, ...decided, portion: billing.portion }
    await funding.calculateOwed()
    const { issuer, checks, rows } = await billing.settled(() => db.slowly(RUN_TASK, args))
    return {
      month,
      period,
      period_is_over: period.to < today,
      approval_required: issuer.approvalRequired,
      checks: checksBody(checks, { issuer, period }),
      data: rows.map((row) => rowBody(row, args)),
    }
  }
}

/** With the lists that contain exactly these entries. */
function checksBody(
  checks: RunResult['checks'],
  { issuer, period }: Pick<RunResult, 'issuer'> & Pick<RunArgs, 'period'>,
): BillRunCheck[] {
  const span = spanOf(period, issuer.timeZone)
  const statuses = billableStatuses(issuer)
  const found = runChecks(statuses)
  const inPeriod = { starting_at: span.startingAt, ending_at: span.endingAt }
  const earlier = { status: [...OPEN_STATUSES], billable: true, superseded: false, ending_at: span.startingAt }
  return [
    ...RUN_CHECKS.map((check) => checkBody(check, checks[check], listPath({ ...found[check].filter, ...inPeriod }))),
    checkBody('earlier', checks.earlier, listPath(earlier)),
  ]
}

function checkBody(check: BillRunCheck['check'], count: LeftOutEntries, list: string): BillRunCheck {
  return { check, ...leftOutBody({ unpriced: count }).unpriced, unpriced_entries: count.unpriced, list }
}

function rowBody(row: RunRow, args: RunArgs): BillRunRow {
  const { client, project, request, terms, isRateKnown, entries, minorDigits, bills } = row
  const blocks = blocksOf(row, args)
  const money = (minor: bigint) => (isRateKnown ? decimalNumber(minor, minorDigits) : null)
  const state = stateOf(row, blocks)
  return {
    client: client ? { id: client.uid, name: client.name, email: client.email } : null,
    project: project ? { id: project.uid, key: project.key, name: project.name } : null,
    state,
    blocked_by: state === 'blocked' ? blocks : [],
    request,
    digest: state === 'ready' ? row.digest : null,
    idempotency_key: state === 'ready' ? keyOf(row, args) : null,
    entries,
    cost: moneyNumber(row.costNanos),
    currency: terms.currency,
    basis: terms.basis,
    provisional: row.isProvisional,
    subtotal: money(row.subtotalMinor),
    tax: money(row.taxMinor),
    total: money(row.subtotalMinor + row.taxMinor),
    left_out: { ...leftOutBody(row.leftOut), ...correctionsBody(row.corrections) },
    exchange_rate: terms.exchange_rate,
    bills: bills.map(({ id, number, currency, total }) => ({
      id,
      number,
      currency,
      total: decimalNumber(total, minorDigitsOf(currency)),
    })),
    last_bill: terms.last_bill,
  }
}

/** What has to be decided or entered before the bill can be sent. */
function blocksOf(row: RunRow, { includeEarlier, leaveUnpriced, allowsProvisional }: RunArgs): BillRunBlock[] {
  const { leftOut, isRateKnown, entries } = row
  const blocks: BillRunBlock[] = []
  if (leftOut.earlier.entries > 0 && includeEarlier === undefined) blocks.push('earlier_entries')
  if (leftOut.unpriced.entries > 0 && !leaveUnpriced) blocks.push('unpriced_entries')
  if (row.isProvisional && !allowsProvisional) blocks.push('period_not_closed')
  if (entries > 0 && !isRateKnown) blocks.push('exchange_rate')
  if (isTooLarge(row)) blocks.push('bill_too_large')
  return blocks
}

function stateOf({ entries, bills }: RunRow, blocks: readonly BillRunBlock[]): BillRunRow['state'] {
  if (blocks.length > 0) return 'blocked'
  if (entries > 0) return 'ready'
  return bills.length > 0 ? 'billed' : 'empty'
}

/**
 * The same for each attempt to send this bill, also after a reload, and another one once the client has a further bill:
 * a bill that was voided is not the response to sending it again.
 */
function keyOf({ client, project, digest, newest }: RunRow, { month }: RunArgs): string {
  const parts = [month, client?.uid ?? project?.uid, newest, digest]
  return `run-${createHash('sha256').update(JSON.stringify(parts)).digest('base64url')}`
}
