/** Which overdue bills their clients are reminded of. */
import { and, eq, isNull, lt, lte, or, type SQL, sql } from 'drizzle-orm'
import type { Reader, Tx } from '../../../database/database.ts'
import type { Tables } from '../../../database/schema/tables.ts'

export interface ReminderDays {
  today: string
  /** The last day that was long enough ago: of the last reminder, otherwise of the due date. */
  until: string
}

/** As in `isOverdue`; the state is not bound, for the partial index. */
function isDue({ bills }: Tables, { today, until }: ReminderDays): SQL | undefined {
  return and(
    sql`${bills.state} = 'sent'`,
    lt(bills.dueOn, today),
    eq(bills.kind, 'bill'),
    sql`${bills.total} > ${bills.paidAmount}`,
    lte(sql`coalesce(${bills.remindedOn}, ${bills.dueOn})`, until),
  )
}

/** Bills whose clients want reminders, with the address of the client. */
export function listDueReminders(reader: Reader, days: ReminderDays): Promise<{ id: number; email: string | null }[]> {
  const { bills, clients, projects } = reader.tables
  return reader
    .select({ id: bills.id, email: clients.email })
    .from(bills)
    .leftJoin(projects, eq(projects.id, bills.projectId))
    .leftJoin(clients, eq(clients.id, sql`coalesce(${bills.clientId}, ${projects.clientId})`))
    .where(and(isDue(reader.tables, days), or(isNull(clients.id), eq(clients.reminders, true))))
    .orderBy(bills.id)
}

/** Notes the reminder of today; false if another server has, or the bill was paid or voided meanwhile. */
export async function claimReminder(tx: Tx, id: number, days: ReminderDays): Promise<boolean> {
  const { bills } = tx.tables
  const rows = await tx
    .update(bills)
    .set({ remindedOn: days.today })
    .where(and(eq(bills.id, id), isDue(tx.tables, days)))
    .returning({ id: bills.id })
  return rows.length > 0
}
