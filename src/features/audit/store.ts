import type { Tx } from '../../database/database.ts'
import type { Tables } from '../../database/tables.ts'

type AuditRecord = Tables['audit']['$inferSelect']

export async function insertChange(tx: Tx, change: Omit<AuditRecord, 'id'>): Promise<void> {
  await tx.insert(tx.tables.audit).values(change)
}
