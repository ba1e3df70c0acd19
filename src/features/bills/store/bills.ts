/** Stored bills: sent once, and never changed except for their state. */
import {
  aliasedTable,
  and,
  asc,
  between,
  type Column,
  count,
  desc,
  eq,
  getTableColumns,
  gte,
  inArray,
  isNotNull,
  isNull,
  lte,
  ne,
  not,
  notInArray,
  or,
  type SQL,
  sql,
} from 'drizzle-orm'
import type { Reader, Tx } from '../../../database/database.ts'
import { exactTotal } from '../../../database/exact-sum.ts'
import type { Tables } from '../../../database/schema/tables.ts'
import { lowered, pageIn, type SortKeys } from '../../../database/sorting.ts'
import type { Id } from '../../../lib/id.ts'
import type { PageRequest } from '../../../schema/query.ts'
import type { CostBasis } from '../../../shared/cost-basis.ts'
import { amountOf } from '../../selection/contract.ts'
import type { Fingerprint } from '../portions.ts'
import type { BILL_SORTS } from '../sorts.ts'
import { hasShares } from './billable.ts'

export type BillRecord = Tables['bills']['$inferSelect']
/** Of a bill that was sent; one that is being prepared is found only by those who prepare it. */
export type BillState = Exclude<BillRecord['state'], 'preparing'>

/** A sent bill without its document. */
export type SentBill = Omit<BillRecord, 'document' | 'state'> & { state: BillState }

/** A bill without its document, with the names of the objects it refers to. */
export interface BillView {
  bill: SentBill
  client: { uid: Id<'cli'>; name: string } | null
  project: { uid: Id<'prj'>; key: string; name: string } | null
  createdBy: { uid: Id<'usr'>; name: string } | null
}

export interface BillFilter {
  states?: BillState[] | undefined
  clientId?: number | undefined
  clientIds?: readonly number[] | undefined
  projectId?: number | undefined
  /** Of which they contain entries. */
  ticketId?: number | undefined
  /** Issued on or after, and on or before, this day. */
  from?: string | undefined
  to?: string | undefined
  /** Whose period ends in it. */
  month?: string | undefined
  number?: string | undefined
  overdue?: boolean | undefined
  deliveryFailed?: boolean | undefined
}

/** Of sent bills: one that is being prepared is nobody else's. */
function selectViews(reader: Reader, condition: SQL | undefined) {
  const { bills, clients, projects, users } = reader.tables
  const { document: _, ...kept } = getTableColumns(bills)
  return reader
    .select({
      bill: { ...kept, state: sql<BillState>`${bills.state}` },
      client: { uid: clients.uid, name: clients.name },
      project: { uid: projects.uid, key: projects.key, name: projects.name },
      createdBy: { uid: users.uid, name: users.name },
    })
    .from(bills)
    .leftJoin(clients, eq(clients.id, bills.clientId))
    .leftJoin(projects, eq(projects.id, bills.projectId))
    .leftJoin(users, eq(users.id, bills.createdBy))
    .where(and(ne(bills.state, 'preparing'), condition))
}

/** `today` decides which bills are overdue. */
function conditionOf(
  reader: Reader,
  { states, clientId, clientIds, projectId, ticketId, from, to, month, number, overdue, deliveryFailed }: BillFilter,
  today: string,
): SQL | undefined {
  const { bills, entries } = reader.tables
  const equal = (column: Parameters<typeof eq>[0], value: number | string | undefined): SQL | undefined =>
    value === undefined ? undefined : eq(column, value)
  // As in `isOverdue`; the state is not bound, for the partial index.
  const isOverdue = sql`(${bills.state} = 'sent' AND ${bills.dueOn} < ${today} AND ${bills.kind} = 'bill' AND ${bills.total} > ${bills.paidAmount})`
  return and(
    states && inArray(bills.state, states),
    equal(bills.clientId, clientId),
    clientIds && inArray(bills.clientId, [...clientIds]),
    equal(bills.projectId, projectId),
    ticketId === undefined
      ? undefined
      : inArray(
          bills.id,
          reader
            .select({ id: entries.billId })
            .from(entries)
            .where(and(eq(entries.ticketId, ticketId), isNotNull(entries.billId))),
        ),
    equal(bills.number, number),
    from === undefined ? undefined : gte(bills.issuedOn, from),
    to === undefined ? undefined : lte(bills.issuedOn, to),
    month === undefined ? undefined : between(bills.periodTo, `${month}-01`, `${month}-31`),
    overdue === undefined ? undefined : overdue ? isOverdue : not(isOverdue),
    deliveryFailed === undefined
      ? undefined
      : deliveryFailed
        ? inArray(bills.id, failedDeliveries(reader))
        : notInArray(bills.id, failedDeliveries(reader)),
  )
}

/** The bills of which one of the latest deliveries failed, as in `deliveryState`. */
function failedDeliveries(reader: Reader) {
  const { billDeliveries } = reader.tables
  const others = aliasedTable(billDeliveries, 'others')
  const latest = reader
    .select({ createdAt: others.createdAt })
    .from(others)
    .where(and(eq(others.billId, billDeliveries.billId), ne(others.notice, 'reminder')))
    .orderBy(desc(others.id))
    .limit(1)
  return reader
    .select({ id: billDeliveries.billId })
    .from(billDeliveries)
    .where(
      and(
        eq(billDeliveries.state, 'failed'),
        ne(billDeliveries.notice, 'reminder'),
        eq(billDeliveries.createdAt, latest),
      ),
    )
}

/** Without their amounts, unlike `sumBills`. */
export async function countBills(reader: Reader, filter: BillFilter, today: string): Promise<number> {
  const { bills } = reader.tables
  const [row] = await reader
    .select({ bills: count() })
    .from(bills)
    .where(and(ne(bills.state, 'preparing'), conditionOf(reader, filter, today)))
  return row!.bills
}

export const BILL_KEYS: SortKeys<typeof BILL_SORTS, BillView> = {
  number: { sql: ({ bills }) => bills.number, of: ({ bill }) => bill.number },
  // A bill of everything has neither, and is the last.
  recipient: {
    sql: ({ clients, projects }) => sql`lower(coalesce(${clients.name}, ${projects.key}))`,
    of: ({ client, project }) => {
      const recipient = client?.name ?? project?.key
      return recipient === undefined ? null : lowered(recipient)
    },
  },
  period: { sql: ({ bills }) => bills.periodFrom, of: ({ bill }) => bill.periodFrom },
  issued_on: { sql: ({ bills }) => bills.issuedOn, of: ({ bill }) => bill.issuedOn },
  // A credit note is not due.
  due_on: {
    sql: ({ bills }) => sql`(CASE WHEN ${bills.kind} = 'bill' THEN ${bills.dueOn} END)`,
    of: ({ bill }) => (bill.kind === 'bill' ? bill.dueOn : null),
  },
  state: { sql: ({ bills }) => bills.state, of: ({ bill }) => bill.state },
  entries: { sql: ({ bills }) => bills.entries, of: ({ bill }) => bill.entries },
  total: { sql: ({ bills }) => bills.total, of: ({ bill }) => bill.total },
  balance: {
    sql: ({ bills }) => sql`(CASE WHEN ${bills.state} = 'void' THEN 0 ELSE ${bills.total} - ${bills.paidAmount} END)`,
    of: ({ bill }) => (bill.state === 'void' ? 0n : bill.total - bill.paidAmount),
  },
}

/** Newest first, unless the page has another order. */
export async function listBills(
  reader: Reader,
  filter: BillFilter,
  { limit, today, ...page }: PageRequest<keyof typeof BILL_SORTS> & { today: string },
): Promise<BillView[]> {
  const { behind, order } = pageIn(reader, reader.tables.bills.id, page, BILL_KEYS)
  return selectViews(reader, and(conditionOf(reader, filter, today), behind))
    .orderBy(...order)
    .limit(limit)
}

/** Bills that are neither void nor credit notes, of any of these clients or projects, or of everything, up to this day or later. */
export async function listBillsOf(
  reader: Reader,
  { clientIds, projectIds, since }: { clientIds: readonly number[]; projectIds: readonly number[]; since: string },
): Promise<{ id: number; uid: Id<'bil'>; currency: string; basis: CostBasis }[]> {
  const { bills } = reader.tables
  return reader
    .select({ id: bills.id, uid: bills.uid, currency: bills.currency, basis: bills.basis })
    .from(bills)
    .where(
      and(
        inArray(bills.state, ['sent', 'paid']),
        eq(bills.kind, 'bill'),
        gte(bills.periodTo, since),
        or(
          inArray(bills.clientId, [...clientIds]),
          inArray(bills.projectId, [...projectIds]),
          and(isNull(bills.clientId), isNull(bills.projectId)),
        ),
      ),
    )
    .orderBy(asc(bills.id))
}

/** The sums of bills in one currency, in minor units. */
export interface BillSums {
  currency: string
  bills: number
  total: bigint
  paid: bigint
  /** Of bills alone: a credit note makes it no smaller until it is offset. */
  open: bigint
  /** What of credit notes is neither refunded nor offset; positive. */
  credit: bigint
  overdue: bigint
}

/** Of the bills that match, without void ones, by currency. */
export async function sumBills(reader: Reader, filter: BillFilter, today: string): Promise<BillSums[]> {
  const { bills } = reader.tables
  const overdue = conditionOf(reader, { overdue: true }, today)!
  const balance = sql`${bills.total} - ${bills.paidAmount}`
  return reader
    .select({
      currency: bills.currency,
      bills: sql<number>`count(*)`.mapWith(Number),
      total: exactTotal(bills.total),
      paid: exactTotal(bills.paidAmount),
      open: exactTotal(sql`CASE WHEN ${bills.kind} = 'bill' THEN ${balance} ELSE 0 END`),
      credit: exactTotal(sql`CASE WHEN ${bills.kind} = 'credit_note' THEN -(${balance}) ELSE 0 END`),
      overdue: exactTotal(sql`CASE WHEN ${overdue} THEN ${balance} ELSE 0 END`),
    })
    .from(bills)
    .where(and(notInArray(bills.state, ['preparing', 'void']), conditionOf(reader, filter, today)))
    .groupBy(bills.currency)
    .orderBy(asc(bills.currency))
}

/** By id or number; undefined if it does not exist. */
export async function findBill(reader: Reader, by: { uid: Id<'bil'> } | { number: string } | { id: number }) {
  const { bills } = reader.tables
  const condition =
    'uid' in by ? eq(bills.uid, by.uid) : 'number' in by ? eq(bills.number, by.number) : eq(bills.id, by.id)
  const [view] = await selectViews(reader, condition).limit(1)
  return view
}

export async function getDocument(reader: Reader, id: number): Promise<string> {
  const { bills } = reader.tables
  const [row] = await reader.select({ document: bills.document }).from(bills).where(eq(bills.id, id))
  return row!.document
}

/** The numbers of the bills with these keys. */
export async function listReferences(
  reader: Reader,
  ids: readonly (number | null)[],
): Promise<Map<number, { id: Id<'bil'>; number: string }>> {
  const known = ids.filter((id) => id !== null)
  if (known.length === 0) return new Map()
  const { bills } = reader.tables
  const rows = await reader
    .select({ key: bills.id, id: bills.uid, number: bills.number })
    .from(bills)
    .where(inArray(bills.id, known))
  return new Map(rows.map(({ key, ...reference }) => [key, reference]))
}

/** The bills that followed from one: credit notes that are not void, and its replacement. */
export async function listFollowers(reader: Reader, billId: number) {
  const { bills } = reader.tables
  const rows = await reader
    .select({ correctsId: bills.correctsId, state: bills.state, id: bills.uid, number: bills.number })
    .from(bills)
    .where(and(or(eq(bills.correctsId, billId), eq(bills.replacesId, billId)), ne(bills.state, 'preparing')))
    .orderBy(bills.id)
  const reference = ({ id, number }: (typeof rows)[number]) => ({ id, number })
  const isNote = ({ correctsId }: (typeof rows)[number]) => correctsId === billId
  return {
    corrected_by: rows.filter((row) => isNote(row) && row.state !== 'void').map(reference),
    replaced_by: rows.filter((row) => !isNote(row)).map(reference),
  }
}

/** The sums of a bill's credit notes that are not void, in minor units. */
export async function sumCredits(reader: Reader, billId: number): Promise<{ subtotal: bigint; tax: bigint }> {
  const { bills } = reader.tables
  const [row] = await reader
    .select({ subtotal: exactTotal(bills.subtotal), tax: exactTotal(bills.tax) })
    .from(bills)
    .where(and(eq(bills.correctsId, billId), ne(bills.state, 'void')))
  return row!
}

export async function insertBill(tx: Tx, bill: Omit<BillRecord, 'id'>): Promise<number> {
  const { bills } = tx.tables
  const [row] = await tx.insert(bills).values(bill).returning({ id: bills.id })
  return row!.id
}

/** Sends a bill that was prepared. */
export async function completeBill(
  tx: Tx,
  id: number,
  change: Pick<BillRecord, 'state' | 'number' | 'document' | 'createdAt'>,
): Promise<void> {
  await tx.update(tx.tables.bills).set(change).where(eq(tx.tables.bills.id, id))
}

export async function updateBillState(
  tx: Tx,
  id: number,
  change: Partial<
    Pick<BillRecord, 'state' | 'paidAmount' | 'paidOn' | 'paidReference' | 'voidedAt' | 'voidReason' | 'releasedById'>
  >,
): Promise<void> {
  await tx.update(tx.tables.bills).set(change).where(eq(tx.tables.bills.id, id))
}

/** Takes the next number of a sequence; concurrent transactions wait or are retried. */
export async function takeSequence(tx: Tx, scope: string): Promise<number> {
  const { billSequences } = tx.tables
  const [row] = await tx
    .insert(billSequences)
    .values({ scope, last: 1 })
    .onConflictDoUpdate({ target: billSequences.scope, set: { last: sql`${billSequences.last} + 1` } })
    .returning({ last: billSequences.last })
  return row!.last
}

export async function findBillKey(
  reader: Reader,
  userId: number,
  key: string,
): Promise<{ bodyHash: Uint8Array; billId: number } | undefined> {
  const { billKeys } = reader.tables
  const [row] = await reader
    .select({ bodyHash: billKeys.bodyHash, billId: billKeys.billId })
    .from(billKeys)
    .where(and(eq(billKeys.userId, userId), eq(billKeys.key, key)))
  return row
}

export async function insertBillKey(
  tx: Tx,
  row: { userId: number; key: string; bodyHash: Uint8Array; billId: number },
): Promise<void> {
  await tx.insert(tx.tables.billKeys).values(row)
}

/** A document as it was first rendered. */
export async function findRendered(reader: Reader, billId: number, format: string): Promise<Uint8Array | undefined> {
  const { billDocuments } = reader.tables
  const [row] = await reader
    .select({ bytes: billDocuments.bytes })
    .from(billDocuments)
    .where(and(eq(billDocuments.billId, billId), eq(billDocuments.format, format)))
  return row?.bytes
}

/** Stores a document, and returns the stored one: another one if that was stored meanwhile. */
export async function keepRendered(tx: Tx, billId: number, format: string, bytes: Uint8Array): Promise<Uint8Array> {
  const { billDocuments } = tx.tables
  await tx.insert(billDocuments).values({ billId, format, bytes }).onConflictDoNothing()
  return (await findRendered(tx, billId, format))!
}

/** Adds entries to the lines of a bill. */
export async function insertBilledEntries(
  tx: Tx,
  rows: readonly Tables['billEntries']['$inferSelect'][],
): Promise<void> {
  await tx.insertAll(tx.tables.billEntries, rows)
}

/**
 * The current state of a bill's entries in a range of keys, both included, as one row of sums: it differs from that at
 * composition if an entry was changed meanwhile.
 */
export async function fingerprintOf(
  tx: Tx,
  billId: number,
  { first, last }: { first: number; last: number },
  basis: CostBasis,
): Promise<Fingerprint> {
  const { entries, billEntries } = tx.tables
  const ofBill = tx
    .select({ id: billEntries.entryId })
    .from(billEntries)
    .where(and(eq(billEntries.billId, billId), between(billEntries.entryId, first, last)))
  const ofEach = (column: Column) => exactTotal(sql`${column} * ${entries.id}`)
  const [row] = await tx
    .select({
      entries: sql<number>`count(*)`.mapWith(Number),
      cost: exactTotal(amountOf(tx.tables, basis)),
      listValue: exactTotal(entries.listValue),
      tokens: exactTotal(
        sql`${entries.input} + ${entries.output} + ${entries.cacheRead} + ${entries.cacheWrite} + ${entries.cacheWrite1h}`,
      ),
      projects: ofEach(entries.projectId),
      tickets: ofEach(entries.ticketId),
      labels: ofEach(entries.labelSetId),
      approved: exactTotal(sql`case when ${entries.status} = 'approved' then ${entries.id} else 0 end`),
    })
    .from(entries)
    .where(
      and(
        inArray(entries.id, ofBill),
        inArray(entries.status, ['submitted', 'approved']),
        eq(entries.superseded, false),
      ),
    )
  return { ...row!, kept: hasShares(basis) ? await countKept(tx, billId, { first, last }) : 0 }
}

/** Entries of a bill whose amounts are those that it keeps: their sum alone would be the same if a fee was shared otherwise. */
async function countKept(tx: Tx, billId: number, { first, last }: { first: number; last: number }): Promise<number> {
  const { entries, billEntries } = tx.tables
  const { fee, charge } = billEntries
  const [row] = await tx
    .select({ entries: count() })
    .from(billEntries)
    .innerJoin(entries, eq(entries.id, billEntries.entryId))
    .where(
      and(
        eq(billEntries.billId, billId),
        between(billEntries.entryId, first, last),
        eq(charge, amountOf(tx.tables, 'marginal')),
        or(isNull(fee), eq(sql`${fee} + ${charge}`, amountOf(tx.tables, 'allocated'))),
      ),
    )
  return row!.entries
}
