/** Reads the entries of a bill and composes its document, off the main thread: a hundred thousand of them take long. */

import { createHash } from 'node:crypto'
import type { Reader, SlowTask } from '../../database/database.ts'
import type { Nanos } from '../../lib/money.ts'
import { moneyNumber } from '../../lib/money.ts'
import type { CostBasis } from '../../shared/cost-basis.ts'
import { type EntryFilter, OPEN_STATUSES } from '../selection/contract.ts'
import { type BillableEntry, type BillNames, type BillTerms, composeBill, type Heading } from './document.ts'
import { correctionsIn, leftEarlier, sumEarlier } from './earlier.ts'
import { outsideOf, sumOpenEntries } from './open-entries.ts'
import { type NotClosed, notClosedIn } from './open-periods.ts'
import { type Portion, portionsOfEntries } from './portions.ts'
import type { LeftOut, LeftOutReason } from './schema.ts'
import {
  countEarlier,
  KeyedNames,
  type LeftOutEntries,
  type Moments,
  type NamedKeys,
  ScopedEntries,
  type ScopedEntry,
  type ScopeKeys,
} from './store/billable.ts'
import { type PlanFacts, planFacts, sumUnusedSeats } from './store/plan-facts.ts'

/** Before all data in Tally. */
const EARLIEST = 0

/** A bill of a million entries. */
const COMPOSITION_DEADLINE_MS = 30_000

export interface CompositionArgs {
  scope: ScopeKeys
  span: Moments
  /** The statuses that can be billed. */
  statuses: readonly BillableEntry['status'][]
  /** What the request says about entries from before the period; undefined if it says nothing. */
  includeEarlier: boolean | undefined
  leaveUnpriced: boolean
  basis: CostBasis
  /** Whether shares of periods that are not closed may be billed. */
  allowsProvisional: boolean
  /** In parts per million; the request's replaces all others. */
  markups: { requested: number | undefined; ofOrganization: number }
  terms: BillTerms
  heading: CommonHeading
  /** The number of entries in a portion. */
  portion: number
}

/** What does not depend on entries. */
export type CommonHeading = Omit<Heading, 'left_out' | 'basis' | 'provisional' | 'unused_seats'>

export interface Composition {
  /** Its number is null, and its second property. As text: numbers that a double would change are lost in a clone. */
  documentText: string
  /** Identifies the document and the assignment of entries to lines. */
  digest: string
  entries: number
  portions: Portion[]
  subtotalMinor: bigint
  taxMinor: bigint
  costNanos: Nanos
  listValueNanos: Nanos
  basis: CostBasis
  /** Whether it contains shares of periods that are not closed. */
  isProvisional: boolean
}

/** The composition, or what the request has to decide before. */
export type CompositionResult =
  | { composition: Composition }
  | { earlier: LeftOutEntries & { firstAt: number } }
  | { unpricedEntries: number }
  | { notClosed: NotClosed[] }

export const COMPOSITION_TASK: SlowTask<CompositionArgs, CompositionResult> = {
  name: 'bills.compose',
  deadlineMs: COMPOSITION_DEADLINE_MS,
  run: compose,
}

async function compose(reader: Reader, args: CompositionArgs): Promise<CompositionResult> {
  const { scope, span, includeEarlier, basis } = args
  const facts = await planFacts(reader, args.heading.time_zone)(basis)
  const before = { before: span.startingAt, basis, facts }
  if (includeEarlier === undefined) {
    const { firstAt, ...undecided } = await countEarlier(reader, scope, before)
    if (firstAt !== null) return { earlier: { ...undecided, firstAt } }
  }
  // As in a billing run: the digest is of these figures, too.
  const earlier =
    includeEarlier === false
      ? leftEarlier(await sumEarlier(reader, { ...before, only: filterOf(args.heading) }), scope, before)
      : NOTHING
  const outside = scope === 'everything' ? NOTHING_OUTSIDE : outsideOf(await sumOpenEntries(reader, span, basis))
  const found = await listScope(new ScopedEntries(reader), args, facts)
  const names = await new KeyedNames(reader).of(found, new Set(args.terms.groupBy))
  const seats =
    scope === 'everything' && basis === 'allocated' ? await sumUnusedSeats(reader, args.heading.period) : NONE
  const { leftOut, billed, idsOfLines, ...composed } = composeFrom(found, names, args, {
    earlier,
    outside,
    seats,
    corrections: correctionsIn(facts, scope, span.endingAt),
  })
  if (leftOut.unpriced.entries > 0 && !args.leaveUnpriced) return { unpricedEntries: leftOut.unpriced.entries }
  if (composed.isProvisional && !args.allowsProvisional) return { notClosed: notClosedIn(billed) }
  const inOrder = billed.sort((one, other) => one.id - other.id)
  return { composition: { ...composed, portions: portionsOfEntries(inOrder, idsOfLines, args.portion) } }
}

/** The entries of a scope: a project of a client is only this project. */
function filterOf({ scope: { client, project } }: Pick<Heading, 'scope'>): Pick<EntryFilter, 'client' | 'project'> {
  if (project) return { project: [project.id] }
  return client ? { client: [client.id] } : {}
}

/** What a bill leaves out of its scope and period. */
export type OwnLeftOut = Record<Exclusion, LeftOutEntries>

/** An entry that is billed, with its period if that is not closed. */
export type BilledEntry = BillableEntry & Pick<ScopedEntry, 'openPeriod'>

/** With the billed entries, and the keys of those of each line. */
export interface Composed extends Omit<Composition, 'portions'> {
  billed: BilledEntry[]
  idsOfLines: readonly (readonly number[])[]
  leftOut: OwnLeftOut
}

/** The entries that a bill is composed from, also those that it leaves out. */
export async function listScope(
  entries: ScopedEntries,
  { scope, span, includeEarlier, basis }: Pick<CompositionArgs, 'scope' | 'span' | 'includeEarlier' | 'basis'>,
  facts: PlanFacts,
): Promise<ScopedEntry[]> {
  const found = await entries.list(scope, span, { isEarlier: false, basis, facts })
  if (includeEarlier) {
    const before = { startingAt: EARLIEST, endingAt: span.startingAt }
    for (const entry of await entries.list(scope, before, { isEarlier: true, basis, facts })) found.push(entry)
  }
  return found
}

/**
 * The composition without the decisions that it needs before it is sent: entries from before the period are left out
 * unless they are to be included, and unpriced ones are left out.
 */
export function composeFrom(
  found: readonly ScopedEntry[],
  named: NamedKeys,
  args: Pick<CompositionArgs, 'statuses' | 'includeEarlier' | 'markups' | 'terms' | 'heading' | 'basis'>,
  {
    earlier,
    outside,
    corrections,
    seats = NONE,
  }: { earlier: LeftOutEntries; outside: typeof NOTHING_OUTSIDE; corrections: number; seats?: typeof NONE },
): Composed {
  const { basis } = args
  const { billed, leftOut: separated } = separate(found, args.statuses)
  const leftOut = { ...separated, ...(!args.includeEarlier && { earlier }) }
  const names = namesOf(named, args.markups)
  const isProvisional = billed.some(({ openPeriod }) => openPeriod !== undefined)
  const { document, idsOfLines, ...sums } = composeBill(billed, names, args.terms, {
    ...args.heading,
    basis,
    ...(isProvisional && { provisional: true }),
    left_out: {
      ...leftOutBody({
        ...leftOut,
        unattributed: outside.unattributed,
        without_client: outside.withoutClient,
        without_project: outside.withoutProject,
      }),
      ...correctionsBody(corrections),
    },
    ...(seats.seats > 0 && { unused_seats: { seats: seats.seats, cost: moneyNumber(seats.costNanos) } }),
  })
  const documentText = JSON.stringify(document)
  const digest = digestOf(documentText, idsOfLines)
  return { documentText, digest, entries: document.entries, ...sums, basis, isProvisional, billed, idsOfLines, leftOut }
}

/** A digest of a bill's document, which has the number of entries of each line, and of the entries of the lines. */
function digestOf(documentText: string, idsOfLines: readonly (readonly number[])[]): string {
  const hash = createHash('sha256').update(documentText)
  for (const ids of idsOfLines) hash.update(Float64Array.from(ids))
  return hash.digest('base64url')
}

const NONE = { seats: 0, costNanos: 0n }
const NOTHING: LeftOutEntries = { entries: 0, unpriced: 0, costNanos: 0n, isMore: false }
export const NOTHING_OUTSIDE = { unattributed: NOTHING, withoutClient: NOTHING, withoutProject: NOTHING }

type Exclusion = 'rejected' | 'held' | 'unpriced' | 'not_approved' | 'on_sheets' | 'not_billable' | 'earlier'

/** Separates the entries to bill from the others, with the reason for each of those. */
function separate(entries: readonly ScopedEntry[], statuses: readonly string[]) {
  const leftOut: Record<Exclusion, LeftOutEntries> = {
    rejected: { ...NOTHING },
    held: { ...NOTHING },
    unpriced: { ...NOTHING },
    not_approved: { ...NOTHING },
    on_sheets: { ...NOTHING },
    not_billable: { ...NOTHING },
    earlier: { ...NOTHING },
  }
  const billed: BilledEntry[] = []
  for (const entry of entries) {
    const reason = exclusionOf(entry, statuses)
    if (reason === 'never') continue
    if (reason === undefined) {
      billed.push(entry as BilledEntry)
    } else {
      // Of those whose amount on the basis is unknown, what they would cost by another one shows how much is missing.
      const costNanos = entry.costNanos ?? (reason === 'unpriced' ? entry.otherCostNanos : undefined) ?? null
      leftOut[reason].entries += entry.entries ?? 1
      if (costNanos === null) leftOut[reason].unpriced += entry.entries ?? 1
      leftOut[reason].costNanos += costNanos ?? 0n
    }
  }
  return { billed, leftOut }
}

/**
 * In the order in which a person would resolve the reasons to get the entry billed. Earlier ones that are not billed together
 * with the period have one reason, if they may still be billed: the others are left out of every bill.
 */
export function exclusionOf(entry: ScopedEntry, statuses: readonly string[]): Exclusion | 'never' | undefined {
  const { status, isBillable, costNanos, isEarlier, isUncounted } = entry
  if (status === 'discarded' || status === 'voided' || isUncounted) return 'never'
  if (isEarlier && !statuses.includes(status)) return OPEN_STATUSES.includes(status) && isBillable ? 'earlier' : 'never'
  if (!isBillable) return isEarlier ? 'never' : 'not_billable'
  if (status === 'draft' || status === 'pending') return 'on_sheets'
  if (status === 'rejected') return 'rejected'
  if (status === 'held') return 'held'
  if (!statuses.includes(status)) return 'not_approved'
  return costNanos === null ? 'unpriced' : undefined
}

export function leftOutBody<Reason extends LeftOutReason>(
  counts: Record<Reason, LeftOutEntries>,
): Record<Reason, LeftOut> {
  return Object.fromEntries(
    Object.entries<LeftOutEntries>(counts).map(
      ([reason, { entries, unpriced, costNanos, isMore }]): [string, LeftOut] => [
        reason,
        { entries, unpriced_entries: unpriced, cost: moneyNumber(costNanos), at_least: isMore },
      ],
    ),
  ) as Record<Reason, LeftOut>
}

/** The basis counts them 0. Absent without any. */
export function correctionsBody(entries: number): { corrections?: LeftOut } {
  return entries > 0 ? { corrections: { entries, unpriced_entries: 0, cost: 0, at_least: false } } : {}
}

/**
 * The markup of each project: the request's, otherwise its own, otherwise its client's, otherwise the organization's.
 */
function namesOf(named: NamedKeys, { requested, ofOrganization }: CompositionArgs['markups']): BillNames {
  const markupOf = (project: { markupPpm: number | null; clientId: number | null }) =>
    requested ??
    project.markupPpm ??
    (project.clientId === null ? undefined : named.clients.get(project.clientId)?.markupPpm) ??
    ofOrganization
  return {
    ...named,
    projects: new Map([...named.projects].map(([id, project]) => [id, { ...project, markupPpm: markupOf(project) }])),
    markupPpm: requested ?? ofOrganization,
  }
}
