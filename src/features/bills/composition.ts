/** Composes a bill from a request and the current data; writes nothing. */
import type { Reader } from '../../database/database.ts'
import { type Issue, notFound, Problem, validationFailed } from '../../errors.ts'
import { addDays, dayAt, spanOf } from '../../lib/calendar.ts'
import { isId } from '../../lib/id.ts'
import { moneyNumber } from '../../lib/money.ts'
import type { ProjectsService } from '../projects/service.ts'
import {
  type BillableEntry,
  type BillNames,
  type BillTerms,
  type Composed,
  composeBill,
  type Heading,
} from './document.ts'
import { earlierEntries, nothingToBill, tooLarge, unpricedEntries } from './refusals.ts'
import { issuesOfRequest, type RequestedTerms, readAmounts, readRequest } from './request.ts'
import type { BillDocument, BillRequest, LeftOut, LeftOutReason } from './schema.ts'
import {
  countEarlier,
  countOutside,
  type LeftOutEntries,
  listScoped,
  type NamedKeys,
  nameKeys,
  type ScopedEntry,
  type ScopeKeys,
} from './store/billable.ts'
import { findBill } from './store/bills.ts'
import { getIssuer } from './store/issuer.ts'

/** Before all data in Tally. */
const EARLIEST = 0

/** A bill that could be sent, and the data that it was composed from. */
export interface BillDraft extends Composed {
  entries: BillableEntry[]
  clientId: number | null
  projectId: number | null
  clientEmail: string | null
  replacesId: number | null
  numberFormat: string
}

export interface CompositionDependencies {
  projects: Pick<ProjectsService, 'getClient' | 'showProject'>
}

export function createComposition({ projects }: CompositionDependencies) {
  async function partiesOf(body: BillRequest) {
    const project = body.project === undefined ? undefined : await projects.showProject(body.project)
    // A project's bill goes to its client, with the client's currency and markup.
    const clientId = body.client ?? project?.client?.uid
    const client = clientId === undefined ? undefined : await projects.getClient(clientId)
    return { project, client }
  }

  /**
   * Composes the bill. Throws `validation_failed`, `not_found`, `unpriced_entries`, `earlier_entries`,
   * `bill_too_large`, and, unless `isEmptyFine`, `nothing_to_bill`.
   */
  return async function compose(
    reader: Reader,
    body: BillRequest,
    { now, isEmptyFine }: { now: number; isEmptyFine: boolean },
  ): Promise<BillDraft> {
    const issuer = await getIssuer(reader)
    const today = dayAt(now, issuer.timeZone)
    const issues: Issue[] = issuesOfRequest(body, today)
    const { project, client } = await partiesOf(body)
    const currency = body.currency ?? client?.currency ?? issuer.currency
    const amounts = readAmounts(body, currency)
    issues.push(...amounts.issues)
    if (issues.length > 0) throw validationFailed(issues)

    const requested = readRequest(body)
    const statuses: BillableEntry['status'][] = issuer.approvalRequired ? ['approved'] : ['submitted', 'approved']
    const scope: ScopeKeys = project
      ? { projectId: project.project.id }
      : client
        ? { clientId: client.id }
        : 'everything'
    const span = spanOf(requested.period, issuer.timeZone)
    // Each takes much of a second for a hundred thousand entries, and they are independent.
    const [found, earlier, outside] = await Promise.all([
      listScoped(reader, scope, span),
      countEarlier(reader, scope, { before: span.startingAt, statuses }),
      scope === 'everything' ? NOTHING_OUTSIDE : countOutside(reader, span, statuses),
    ])
    if (earlier.firstAt !== null && body.include_earlier === undefined)
      throw earlierEntries(earlier, dayAt(earlier.firstAt, issuer.timeZone))
    const foundEarlier = body.include_earlier
      ? await listScoped(reader, scope, { startingAt: EARLIEST, endingAt: span.startingAt })
      : []

    const sorted = separate([...mark(found, false), ...mark(foundEarlier, true)], statuses)
    if (sorted.leftOut.unpriced.entries > 0 && !body.leave_unpriced)
      throw unpricedEntries(sorted.leftOut.unpriced.entries)
    if (sorted.billed.length === 0 && amounts.terms.extraLines.length === 0 && !isEmptyFine) throw nothingToBill()

    const named = await nameKeys(reader, sorted.billed)
    const names = namesOf(named, requested, issuer.markupPpm ?? 0)
    const replaced = await replacedBill(reader, body.replaces)
    const heading: Heading = {
      kind: 'bill',
      number: null,
      issued_on: today,
      due_on: addDays(today, body.due_days ?? issuer.dueDays),
      time_zone: issuer.timeZone,
      issuer: { name: issuer.name, address: issuer.address, tax_id: issuer.taxId, email: issuer.email },
      recipient: client
        ? { name: client.name, address: client.address, tax_id: client.taxId, email: client.email }
        : null,
      scope: {
        client: client ? { id: client.uid, name: client.name } : null,
        project: project ? { id: project.project.uid, key: project.project.key, name: project.project.name } : null,
      },
      period: requested.period,
      purchase_order: body.purchase_order ?? null,
      note: body.note ?? null,
      footer: issuer.footer,
      replaces: replaced ? { id: replaced.bill.uid, number: replaced.bill.number } : null,
      corrects: null,
      left_out: leftOutOf({
        ...sorted.leftOut,
        earlier: body.include_earlier === false ? earlier : NOTHING,
        unattributed: outside.unattributed,
        without_client: outside.withoutClient,
        without_project: outside.withoutProject,
      }),
    }
    const terms: BillTerms = {
      ...amounts.terms,
      groupBy: requested.groupBy,
      tax: requested.tax,
      showCost: requested.showCost,
    }
    const composed = composeBill(sorted.billed, names, terms, heading)
    if (isTooLarge(composed)) throw tooLarge()
    return {
      ...composed,
      entries: sorted.billed,
      clientId: client?.id ?? null,
      projectId: project?.project.id ?? null,
      clientEmail: client?.email ?? null,
      replacesId: replaced?.bill.id ?? null,
      numberFormat: issuer.numberFormat,
    }
  }
}

type Marked = ScopedEntry & { isEarlier: boolean }

const mark = (entries: ScopedEntry[], isEarlier: boolean): Marked[] => entries.map((entry) => ({ ...entry, isEarlier }))

const NOTHING: LeftOutEntries = { entries: 0, costNanos: 0n, isMore: false }
const NOTHING_OUTSIDE = { unattributed: NOTHING, withoutClient: NOTHING, withoutProject: NOTHING }

type Exclusion = 'rejected' | 'held' | 'unpriced' | 'not_approved' | 'on_sheets' | 'not_billable'

/** Separates the entries to bill from the others, with the reason for each of those. */
function separate(entries: Marked[], statuses: readonly string[]) {
  const leftOut: Record<Exclusion, LeftOutEntries> = {
    rejected: { ...NOTHING },
    held: { ...NOTHING },
    unpriced: { ...NOTHING },
    not_approved: { ...NOTHING },
    on_sheets: { ...NOTHING },
    not_billable: { ...NOTHING },
  }
  const billed: BillableEntry[] = []
  for (const entry of entries) {
    const reason = exclusionOf(entry, statuses)
    if (reason === 'discarded') continue
    if (reason === undefined) {
      const { isBillable: _, ...billable } = entry
      billed.push(billable as BillableEntry)
    } else {
      leftOut[reason].entries += 1
      leftOut[reason].costNanos += entry.costNanos ?? 0n
    }
  }
  return { billed, leftOut }
}

/** Whether one of its sums exceeds the range of the database. */
function isTooLarge({ subtotalMinor, taxMinor, costNanos, listValueNanos }: Composed): boolean {
  const sums = [subtotalMinor, subtotalMinor + taxMinor, costNanos, listValueNanos]
  return sums.some((sum) => BigInt.asIntN(64, sum) !== sum)
}

/** In the order in which a person would resolve the reasons to get the entry billed. */
function exclusionOf(
  { status, isBillable, costNanos }: Marked,
  statuses: readonly string[],
): Exclusion | 'discarded' | undefined {
  if (status === 'discarded') return 'discarded'
  if (!isBillable) return 'not_billable'
  if (status === 'draft' || status === 'pending') return 'on_sheets'
  if (status === 'rejected') return 'rejected'
  if (status === 'held') return 'held'
  if (!statuses.includes(status)) return 'not_approved'
  return costNanos === null ? 'unpriced' : undefined
}

function leftOutOf(counts: Record<LeftOutReason, LeftOutEntries>): BillDocument['left_out'] {
  return Object.fromEntries(
    Object.entries(counts).map(([reason, { entries, costNanos, isMore }]): [string, LeftOut] => [
      reason,
      { entries, cost: moneyNumber(costNanos), at_least: isMore },
    ]),
  ) as BillDocument['left_out']
}

/**
 * The markup of each project: the request's, otherwise its own, otherwise its client's, otherwise the organization's.
 */
function namesOf(named: NamedKeys, { markupPpm: requested }: RequestedTerms, ofOrganization: number): BillNames {
  const markupOf = (project: { markupPpm: number | null; clientId: number | null }) =>
    requested ??
    project.markupPpm ??
    (project.clientId === null ? undefined : named.clients.get(project.clientId)?.markupPpm) ??
    ofOrganization
  return {
    projects: new Map([...named.projects].map(([id, project]) => [id, { ...project, markupPpm: markupOf(project) }])),
    tickets: named.tickets,
    names: new Map([...named.names].map(([id, { text }]) => [id, text])),
    managers: named.managers,
    labelSets: new Map([...named.labelSets].map(([id, { labels }]) => [id, labels])),
    markupPpm: requested ?? ofOrganization,
  }
}

async function replacedBill(reader: Reader, replaces: string | undefined) {
  if (replaces === undefined) return undefined
  const found = await findBill(reader, isId('bil', replaces) ? { uid: replaces } : { number: replaces })
  if (!found) throw notFound(`The bill '${replaces}'`)
  if (found.bill.state !== 'void') {
    throw new Problem(
      'wrong_status',
      `Bill ${found.bill.number} is ${found.bill.state}. Only a void bill can be replaced. Void it first.`,
    )
  }
  return found
}
