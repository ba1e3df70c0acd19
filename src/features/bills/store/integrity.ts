/** Queries for rows of bills that should not exist. */
import { aliasedTable, and, eq, inArray, isNotNull, isNull, ne, notInArray, or, type SQL, sql } from 'drizzle-orm'
import type { Reader } from '../../../database/database.ts'
import { exactTotal } from '../../../database/exact-sum.ts'
import type { Nanos } from '../../../lib/money.ts'
import type { CostBasis } from '../../../shared/cost-basis.ts'
import { amountOf } from '../../selection/contract.ts'
import { hasShares } from './billable.ts'

/**
 * Billed entries with a bill that is not sent, void or credited with their release, or that are not on a line of it. The bill whose entries are being
 * claimed or released has some of them.
 */
export function listBilledOnNothing(reader: Reader, limit: number) {
  const { entries, bills, billEntries, billingLease } = reader.tables
  const leased = reader.select({ id: billingLease.billId }).from(billingLease).where(isNotNull(billingLease.billId))
  return reader
    .select({ uid: entries.uid, number: bills.number, state: bills.state, releasedById: bills.releasedById })
    .from(entries)
    .leftJoin(bills, eq(bills.id, entries.billId))
    .leftJoin(billEntries, and(eq(billEntries.billId, entries.billId), eq(billEntries.entryId, entries.id)))
    .where(
      or(
        and(
          isNotNull(entries.billId),
          notInArray(entries.billId, leased),
          or(
            isNull(billEntries.entryId),
            isNull(bills.id),
            isNotNull(bills.releasedById),
            inArray(bills.state, ['preparing', 'void']),
          ),
        ),
        and(isNull(entries.billId), eq(entries.status, 'billed')),
      ),
    )
    .limit(limit)
}

/** Entries on a line of a bill that has its entries, but is not their own. */
export function listUnbilledOnLines(reader: Reader, limit: number) {
  const { entries, bills, billEntries } = reader.tables
  const known = aliasedTable(bills, 'known')
  return reader
    .select({ uid: entries.uid, number: bills.number, status: entries.status, known: known.number })
    .from(billEntries)
    .innerJoin(
      bills,
      and(eq(bills.id, billEntries.billId), inArray(bills.state, ['sent', 'paid']), isNull(bills.releasedById)),
    )
    .innerJoin(entries, eq(entries.id, billEntries.entryId))
    .leftJoin(known, eq(known.id, entries.billId))
    .where(sql`${entries.billId} IS DISTINCT FROM ${billEntries.billId}`)
    .limit(limit)
}

/** Entries on a sheet that voiding their bill would return to a status that no entry on a sheet has. */
export function listUnreturnable(reader: Reader, limit: number) {
  const { entries, bills, billEntries } = reader.tables
  return reader
    .select({ uid: entries.uid, number: bills.number })
    .from(billEntries)
    .innerJoin(bills, eq(bills.id, billEntries.billId))
    .innerJoin(entries, eq(entries.id, billEntries.entryId))
    .where(and(isNotNull(entries.sheetId), ne(billEntries.statusBefore, 'approved')))
    .limit(limit)
}

/** What an entry costs on the basis of its bill: by marginal and allocated cost, as the bill keeps it. */
function billedCost(tables: Reader['tables'], basis: CostBasis): SQL {
  const { billEntries } = tables
  return hasShares(basis) ? sql`coalesce(${billEntries.fee}, 0) + ${billEntries.charge}` : amountOf(tables, basis)
}

export interface LineSums {
  line: number
  entries: number
  costNanos: Nanos
  listValueNanos: Nanos
  tokens: bigint
}

/** The current sums of the entries on each line of a bill; costs by marginal and allocated cost are those that it keeps. */
export function sumLines(reader: Reader, billId: number, basis: CostBasis): Promise<LineSums[]> {
  const { entries, billEntries } = reader.tables
  return reader
    .select({
      line: billEntries.line,
      entries: sql<number>`count(*)`.mapWith(Number),
      costNanos: exactTotal(billedCost(reader.tables, basis)),
      listValueNanos: exactTotal(entries.listValue),
      tokens: exactTotal(
        sql`${entries.input} + ${entries.output} + ${entries.cacheRead} + ${entries.cacheWrite} + ${entries.cacheWrite1h}`,
      ),
    })
    .from(billEntries)
    .innerJoin(entries, eq(entries.id, billEntries.entryId))
    .where(eq(billEntries.billId, billId))
    .groupBy(billEntries.line)
}
