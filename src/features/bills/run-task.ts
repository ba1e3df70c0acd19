/** Composes the bills of a billing run, off the main thread: the same compositions as those of single bills. */
import type { Reader, SlowTask } from '../../database/database.ts'
import { spanOf } from '../../lib/calendar.ts'
import type { Nanos } from '../../lib/money.ts'
import type { CostBasis } from '../../shared/cost-basis.ts'
import { argumentsOf, type BilledProject, billableStatuses, type Issuer } from './arguments.ts'
import {
  type CompositionArgs,
  composeFrom,
  exclusionOf,
  listScope,
  type NOTHING_OUTSIDE,
  type OwnLeftOut,
} from './composition-task.ts'
import { minorDigitsOf } from './currency.ts'
import { correctionsIn, earlierOf, isIn, leftEarlier, sumEarlier } from './earlier.ts'
import { asEntries, type OpenEntries, outsideOf, sumOpenEntries } from './open-entries.ts'
import { countOf, RUN_CHECKS, type RunCheckName, runChecks } from './run-checks.ts'
import type { BillRequest, UsualTerms } from './schema.ts'
import {
  hasShares,
  KeyedNames,
  type LeftOutEntries,
  type NamedKeys,
  ScopedEntries,
  type ScopedEntry,
} from './store/billable.ts'
import { getIssuer } from './store/issuer.ts'
import { planFacts } from './store/plan-facts.ts'
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

/** The number of entries in memory at a time, unless a single bill has more. */
const BATCH_ENTRIES = 50_000

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
  /** Of all bills, instead of the usual one of each. */
  basis: CostBasis | undefined
  allowsProvisional: boolean
  portion: number
}

export interface RunRow {
  client: RunClient | undefined
  project: BilledProject | undefined
  /** Without the exchange rate if it is not known. */
  request: BillRequest
  terms: UsualTerms
  isRateKnown: boolean
  /** Of the bill, unless it lacks a decision or is empty. */
  digest: string
  entries: number
  minorDigits: number
  subtotalMinor: bigint
  taxMinor: bigint
  costNanos: Nanos
  listValueNanos: Nanos
  isProvisional: boolean
  leftOut: OwnLeftOut
  /** The number of corrections that its basis counts 0. */
  corrections: number
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
  const known = {
    issuer,
    factsOf: planFacts(reader, issuer.timeZone),
    earlierBy: onceEach((basis) => sumEarlier(reader, { before: span.startingAt, basis })),
    openBy: onceEach(async (basis) => {
      const open = await sumOpenEntries(reader, span, basis)
      return { open, outside: outsideOf(open) }
    }),
    last: { client: await listLastBills(reader, 'clientId'), project: await listLastBills(reader, 'projectId') },
    newest: { client: await listNewestBills(reader, 'clientId'), project: await listNewestBills(reader, 'projectId') },
    bills: await listPeriodBills(reader, period),
  }
  const billed: Billed[] = [
    ...(await listRunClients(reader)).map((client) => ({ client, project: undefined })),
    ...(await listRunProjects(reader)).map((project) => ({ client: undefined, project })),
  ]
  const requested = billed.map((of) => requestBill(args, known, of))
  const rows: RunRow[] = []
  for await (const { bills, names } of readBatches(reader, known, requested)) {
    for (const bill of bills) {
      const row = composeRow(known, bill, names)
      if (row.client?.archivedAt === null || hasEntries(row)) rows.push(row)
    }
  }
  const found = runChecks(statuses)
  const { open } = await known.openBy('cost')
  const earlier = earlierOf(await known.earlierBy('cost'), 'everything')
  const checks = Object.fromEntries(RUN_CHECKS.map((name) => [name, countOf(open, found[name])])) as RunResult['checks']
  return { issuer, rows, checks: { ...checks, earlier } }
}

/** Anything in its period or before it, or a bill of it. */
function hasEntries({ entries, leftOut, bills }: RunRow): boolean {
  return entries > 0 || bills.length > 0 || Object.values(leftOut).some((left) => left.entries > 0)
}

type Billed = Pick<RunRow, 'client' | 'project'>

/** What a bill of the run is requested with, and what it is composed with. */
type RequestedBill = Billed & Pick<RunRow, 'request' | 'terms' | 'isRateKnown'> & { args: CompositionArgs }

type ReadBill = RequestedBill & {
  found: ScopedEntry[]
  earlier: LeftOutEntries
  outside: typeof NOTHING_OUTSIDE
} & Pick<RunRow, 'corrections'>

/**
 * Reads the entries of the bills, in batches: hundreds of bills share most of the names that their entries refer to,
 * which are read once per batch.
 */
async function* readBatches(
  reader: Reader,
  { factsOf, earlierBy, openBy }: Known,
  requested: readonly RequestedBill[],
) {
  const dimensions = new Set(requested.flatMap(({ args }) => args.terms.groupBy))
  const source = new ScopedEntries(reader, dimensions)
  const named = new KeyedNames(reader)
  let bills: ReadBill[] = []
  let entries = 0
  for (const bill of requested) {
    const { scope, basis, span } = bill.args
    const facts = await factsOf(basis)
    const earlier = leftEarlier(await earlierBy(basis), scope, { before: span.startingAt, basis, facts })
    const { open, outside } = await openBy(basis)
    const sums = open.filter((one) => isIn(one, scope)).flatMap(asEntries)
    const isOfSums = isNotSent(bill, sums, earlier) && !facts.uncountedCorrections.some((one) => isIn(one, scope))
    const found = isOfSums ? sums : await listScope(source, bill.args, facts)
    const args = isOfSums ? { ...bill.args, terms: { ...bill.args.terms, groupBy: [] } } : bill.args
    bills.push({ ...bill, args, found, earlier, outside, corrections: correctionsIn(facts, scope, span.endingAt) })
    entries += found.length
    if (entries < BATCH_ENTRIES && bill !== requested.at(-1)) continue
    yield {
      bills,
      names: await named.of(
        bills.flatMap(({ found }) => found),
        dimensions,
      ),
    }
    bills = []
    entries = 0
  }
}

/**
 * Whether a bill by cost lacks a decision or is empty. Nobody needs its lines and its digest then, and sums have the rest: those
 * by other bases do not show what unpriced entries cost otherwise, or which periods of plans are not closed.
 */
function isNotSent(
  { isRateKnown, args }: RequestedBill,
  open: readonly ScopedEntry[],
  earlier: LeftOutEntries,
): boolean {
  const { basis, includeEarlier, leaveUnpriced, statuses } = args
  if (basis !== 'cost' || includeEarlier) return false
  const reasons = open.map((sums) => exclusionOf(sums, statuses))
  return (
    !isRateKnown ||
    (includeEarlier === undefined && earlier.entries > 0) ||
    (!leaveUnpriced && reasons.includes('unpriced')) ||
    !reasons.includes(undefined)
  )
}

/** Most runs have bills by one basis. */
function onceEach<Found>(find: (basis: CostBasis) => Promise<Found>): (basis: CostBasis) => Promise<Found> {
  const found = new Map<CostBasis, Promise<Found>>()
  return (basis) => found.getOrInsertComputed(basis, () => find(basis))
}

interface Known {
  issuer: Issuer
  factsOf: ReturnType<typeof planFacts>
  earlierBy: (basis: CostBasis) => ReturnType<typeof sumEarlier>
  openBy: (basis: CostBasis) => Promise<{ open: OpenEntries[]; outside: typeof NOTHING_OUTSIDE }>
  last: Record<'client' | 'project', Awaited<ReturnType<typeof listLastBills>>>
  newest: Record<'client' | 'project', Map<number, number>>
  bills: PeriodBill[]
}

function requestBill(
  { month, today, includeEarlier, leaveUnpriced, rates, basis, allowsProvisional, portion }: RunArgs,
  { issuer, last }: Known,
  { client, project }: Billed,
): RequestedBill {
  const [kind, id] = client ? (['client', client.id] as const) : (['project', project!.id] as const)
  const currency = client?.currency ?? issuer.currency
  const terms = { ...usualTerms(currency, client, last[kind].get(id), issuer.costBasis), ...(basis && { basis }) }
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
    ...(allowsProvisional && hasShares(terms.basis) && { provisional: true }),
  }
  const isRateKnown = currency === 'USD' || rate !== undefined
  const circumstances = { issuer, today, client, project, replaced: undefined, portion }
  const args = argumentsOf({ ...request, ...(!isRateKnown && { exchange_rate: UNKNOWN_RATE }) }, circumstances)
  return {
    client,
    project,
    request,
    terms: { ...terms, ...(rates[currency] !== undefined && { exchange_rate: { rate: rates[currency], on: today } }) },
    isRateKnown,
    args,
  }
}

function composeRow(
  { newest, bills }: Known,
  { client, project, request, terms, isRateKnown, args, found, earlier, outside, corrections }: ReadBill,
  names: NamedKeys,
): RunRow {
  const [kind, id] = client ? (['client', client.id] as const) : (['project', project!.id] as const)
  const composed = composeFrom(found, names, args, { earlier, outside, corrections })
  return {
    client,
    project,
    request,
    terms,
    isRateKnown,
    digest: composed.digest,
    entries: composed.entries,
    minorDigits: minorDigitsOf(terms.currency),
    subtotalMinor: composed.subtotalMinor,
    taxMinor: composed.taxMinor,
    costNanos: composed.costNanos,
    listValueNanos: composed.listValueNanos,
    isProvisional: composed.isProvisional,
    leftOut: composed.leftOut,
    corrections,
    bills: bills.filter((bill) => (client ? bill.clientId === id : bill.projectId === id)),
    newest: newest[kind].get(id) ?? 0,
  }
}
