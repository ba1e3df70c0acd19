/** Whom a billing run bills, and what it has billed. */
import { and, eq, gte, inArray, isNotNull, isNull, lte, max, ne } from 'drizzle-orm'
import type { Reader } from '../../../database/database.ts'
import type { Id } from '../../../lib/id.ts'
import type { BilledClient, BilledProject } from '../arguments.ts'
import type { LastBill, TaxSettings } from '../usual-terms.ts'

export interface RunClient extends BilledClient, TaxSettings {
  archivedAt: number | null
}

/** By name. */
export async function listRunClients(reader: Reader): Promise<RunClient[]> {
  const { clients } = reader.tables
  return reader
    .select({
      id: clients.id,
      uid: clients.uid,
      name: clients.name,
      address: clients.address,
      taxId: clients.taxId,
      email: clients.email,
      currency: clients.currency,
      taxPpm: clients.taxPpm,
      taxName: clients.taxName,
      archivedAt: clients.archivedAt,
    })
    .from(clients)
    .orderBy(clients.nameFolded)
}

/** Billable projects without a client, by key. */
export async function listRunProjects(reader: Reader): Promise<BilledProject[]> {
  const { projects } = reader.tables
  return reader
    .select({ id: projects.id, uid: projects.uid, key: projects.key, name: projects.name })
    .from(projects)
    .where(and(isNull(projects.clientId), eq(projects.billable, true), isNull(projects.mergedIntoId)))
    .orderBy(projects.key)
}

/** Of a client or a project. */
type Owner = 'clientId' | 'projectId'

/** The last bill of each that is not void, by the key of the client or project. */
export async function listLastBills(reader: Reader, owner: Owner, only?: number): Promise<Map<number, LastBill>> {
  const { bills } = reader.tables
  const newest = reader
    .select({ id: max(bills.id) })
    .from(bills)
    .where(
      and(
        eq(bills.kind, 'bill'),
        inArray(bills.state, ['sent', 'paid']),
        only === undefined ? isNotNull(bills[owner]) : eq(bills[owner], only),
      ),
    )
    .groupBy(bills[owner])
  const rows = await reader
    .select({ of: bills[owner], id: bills.uid, number: bills.number, document: bills.document })
    .from(bills)
    .where(inArray(bills.id, newest))
  return new Map(
    rows.map(({ of, id, number, document }) => [
      of!,
      { id, number, document: JSON.parse(document) as LastBill['document'] },
    ]),
  )
}

/** The newest bill of each, in any state: it tells one attempt to bill a client from the next. */
export async function listNewestBills(reader: Reader, owner: Owner): Promise<Map<number, number>> {
  const { bills } = reader.tables
  const rows = await reader
    .select({ of: bills[owner], id: max(bills.id) })
    .from(bills)
    .where(and(isNotNull(bills[owner]), ne(bills.state, 'preparing')))
    .groupBy(bills[owner])
  return new Map(rows.map(({ of, id }) => [of!, id!]))
}

export interface PeriodBill {
  clientId: number | null
  projectId: number | null
  id: Id<'bil'>
  number: string
  currency: string
  total: bigint
}

/** Bills whose period shares days with this one, and that are neither void nor credit notes. */
export async function listPeriodBills(
  reader: Reader,
  { from, to }: { from: string; to: string },
): Promise<PeriodBill[]> {
  const { bills } = reader.tables
  return reader
    .select({
      clientId: bills.clientId,
      projectId: bills.projectId,
      id: bills.uid,
      number: bills.number,
      currency: bills.currency,
      total: bills.total,
    })
    .from(bills)
    .where(
      and(
        eq(bills.kind, 'bill'),
        inArray(bills.state, ['sent', 'paid']),
        lte(bills.periodFrom, to),
        gte(bills.periodTo, from),
      ),
    )
    .orderBy(bills.id)
}
