/** Composes the bills of a billing run, off the main thread: the same compositions as those of single bills. */
import type { Reader, SlowTask } from '../../database/database.ts'
import { spanOf } from '../../lib/calendar.ts'
import type { Nanos } from '../../lib/money.ts'
import { argumentsOf, type BilledProject, billableStatuses, type Issuer } from './arguments.ts'
import { composeWith, type NOTHING_OUTSIDE, type OwnLeftOut, type Sources, sourcesOf } from './composition-task.ts'
import { minorDigitsOf } from './currency.ts'
import { earlierOf, sumEarlier } from './earlier.ts'
import { outsideOf, sumOpenEntries } from './open-entries.ts'
import { countOf, RUN_CHECKS, type RunCheckName, runChecks } from './run-checks.ts'
import type { BillRequest, UsualTerms } from './schema.ts'
import type { LeftOutEntries } from './store/billable.ts'
import { getIssuer } from './store/issuer.ts'
import {
  listLastBills,
  listNewestBills,
  listPeriodBills,
  listRunClients,
  listRunProjects,
  type PeriodBill,
  type RunClient,
} from './store/run.ts'
import { requestOfTerms, usualTerms } from './usual-terms.ts'

/** Hundreds of clients with a million entries. */
const RUN_DEADLINE_MS = 60_000

/** Used until somebody has entered a rate: only the cost of such a bill is shown. */
const UNKNOWN_RATE = 1

export interface RunArgs {
  month: string
  period: { from: string; to: string }
  today: string
  includeEarlier: boolean | undefined
  leaveUnpriced: boolean
  /** Exchange rates by currency that replace the remembered ones. */
  rates: Readonly<Record<string, number>>
  portion: number
}

export interface RunRow {
  client: RunClient | undefined
  project: BilledProject | undefined
  /** Without the exchange rate if it is not known. */
  request: BillRequest
  terms: UsualTerms
  isRateKnown: boolean
  digest: string
  entries: number
  minorDigits: number
  subtotalMinor: bigint
  taxMinor: bigint
  costNanos: Nanos
  listValueNanos: Nanos
  leftOut: OwnLeftOut
  /** Bills of the period. */
  bills: PeriodBill[]
  /** The key of the newest bill in any state. */
  newest: number
}

export interface RunResult {
  issuer: Issuer
  checks: Record<RunCheckName | 'earlier', LeftOutEntries>
  rows: RunRow[]
}

export const RUN_TASK: SlowTask<RunArgs, RunResult> = {
  name: 'bills.run',
  deadlineMs: RUN_DEADLINE_MS,
  run: composeRun,
}

async function composeRun(reader: Reader, args: RunArgs): Promise<RunResult> {
  const { period } = args
  const issuer = await getIssuer(reader)
  const statuses = billableStatuses(issuer)
  const span = spanOf(period, issuer.timeZone)
  const open = await sumOpenEntries(reader, span)
  const known = {
    issuer,
    sources: sourcesOf(reader),
    earlier: await sumEarlier(reader, { before: span.startingAt, statuses }),
    outside: outsideOf(open, statuses),
    last: { client: await listLastBills(reader, 'clientId'), project: await listLastBills(reader, 'projectId') },
    newest: { client: await listNewestBills(reader, 'clientId'), project: await listNewestBills(reader, 'projectId') },
    bills: await listPeriodBills(reader, period),
  }
  const rows: RunRow[] = []
  for (const client of await listRunClients(reader)) {
    const row = await composeRow(args, known, { client, project: undefined })
    if (client.archivedAt === null || hasEntries(row)) rows.push(row)
  }
  for (const project of await listRunProjects(reader)) {
    const row = await composeRow(args, known, { client: undefined, project })
    if (hasEntries(row)) rows.push(row)
  }
  const found = runChecks(statuses)
  const earlier = earlierOf(known.earlier, 'everything')
  const checks = Object.fromEntries(RUN_CHECKS.map((name) => [name, countOf(open, found[name])])) as RunResult['checks']
  return { issuer, rows, checks: { ...checks, earlier } }
}

/** Anything in its period or before it, or a bill of it. */
function hasEntries({ entries, leftOut, bills }: RunRow): boolean {
  return entries > 0 || bills.length > 0 || Object.values(leftOut).some((left) => left.entries > 0)
}

interface Known {
  issuer: Issuer
  sources: Sources
  earlier: Awaited<ReturnType<typeof sumEarlier>>
  outside: typeof NOTHING_OUTSIDE
  last: Record<'client' | 'project', Awaited<ReturnType<typeof listLastBills>>>
  newest: Record<'client' | 'project', Map<number, number>>
  bills: PeriodBill[]
}

async function composeRow(
  { month, today, includeEarlier, leaveUnpriced, rates, portion }: RunArgs,
  { issuer, sources, earlier, outside, last, newest, bills }: Known,
  { client, project }: Pick<RunRow, 'client' | 'project'>,
): Promise<RunRow> {
  const [kind, id] = client ? (['client', client.id] as const) : (['project', project!.id] as const)
  const currency = client?.currency ?? issuer.currency
  const terms = usualTerms(currency, client, last[kind].get(id))
  const rate = currency === 'USD' ? undefined : (rates[currency] ?? terms.exchange_rate?.rate)
  const request: BillRequest = {
    ...(client ? { client: client.uid } : { project: project!.uid }),
    month,
    ...requestOfTerms(terms),
    // What the bill has, whatever the settings become before it is sent.
    currency,
    ...(rate !== undefined && { exchange_rate: rate }),
    ...(leaveUnpriced && { leave_unpriced: true }),
    ...(includeEarlier !== undefined && { include_earlier: includeEarlier }),
  }
  const isRateKnown = currency === 'USD' || rate !== undefined
  const circumstances = { issuer, today, client, project, replaced: undefined, portion }
  const args = argumentsOf({ ...request, ...(!isRateKnown && { exchange_rate: UNKNOWN_RATE }) }, circumstances)
  const composed = await composeWith(sources, args, { earlier: earlierOf(earlier, args.scope), outside })
  return {
    client,
    project,
    request,
    terms: { ...terms, ...(rates[currency] !== undefined && { exchange_rate: { rate: rates[currency], on: today } }) },
    isRateKnown,
    digest: composed.digest,
    entries: composed.entries,
    minorDigits: minorDigitsOf(currency),
    subtotalMinor: composed.subtotalMinor,
    taxMinor: composed.taxMinor,
    costNanos: composed.costNanos,
    listValueNanos: composed.listValueNanos,
    leftOut: composed.leftOut,
    bills: bills.filter((bill) => (client ? bill.clientId === id : bill.projectId === id)),
    newest: newest[kind].get(id) ?? 0,
  }
}
