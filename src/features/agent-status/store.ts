/** The table `agent_statuses`: what each agent on the machines of a person records, as its machine last reported it. */
import { and, asc, count, desc, eq, inArray, isNull, lt, or } from 'drizzle-orm'
import { addedValue } from '../../database/added-value.ts'
import type { Reader, Tx } from '../../database/database.ts'
import type { Tables } from '../../database/schema/tables.ts'
import type { Id } from '../../lib/id.ts'

export type AgentStatusRecord = Omit<Tables['agentStatuses']['$inferSelect'], 'id'>

export interface AgentStatusView {
  id: number
  record: AgentStatusRecord
  user: { uid: Id<'usr'>; name: string; email: string }
}

export interface AgentStatusFilter {
  /** The person whose machines a caller sees; null for those of everyone. */
  ownerId: number | null
  /** Ids or folded e-mail addresses of people. */
  users?: readonly string[] | undefined
  readsAll?: boolean | undefined
}

/** Disabled people have no machines that report. */
function conditionOf(
  { tables: { agentStatuses, users } }: Reader,
  { ownerId, users: whose, readsAll }: AgentStatusFilter,
) {
  return and(
    isNull(users.disabledAt),
    ownerId === null ? undefined : eq(agentStatuses.userId, ownerId),
    whose && or(inArray(users.uid, whose as Id<'usr'>[]), inArray(users.email, [...whose])),
    readsAll === undefined ? undefined : eq(agentStatuses.readsAll, readsAll),
  )
}

/** Newest first. */
export async function listAgentStatuses(
  reader: Reader,
  filter: AgentStatusFilter,
  { after, limit }: { after: number | undefined; limit: number },
): Promise<AgentStatusView[]> {
  const { agentStatuses, users } = reader.tables
  return reader
    .select({
      id: agentStatuses.id,
      record: {
        userId: agentStatuses.userId,
        machine: agentStatuses.machine,
        harness: agentStatuses.harness,
        version: agentStatuses.version,
        tallyVersion: agentStatuses.tallyVersion,
        sessions: agentStatuses.sessions,
        notRead: agentStatuses.notRead,
        readsAll: agentStatuses.readsAll,
        reportedAt: agentStatuses.reportedAt,
      },
      user: { uid: users.uid, name: users.name, email: users.email },
    })
    .from(agentStatuses)
    .innerJoin(users, eq(users.id, agentStatuses.userId))
    .where(and(conditionOf(reader, filter), after === undefined ? undefined : lt(agentStatuses.id, after)))
    .orderBy(desc(agentStatuses.id))
    .limit(limit)
}

export async function countAgentStatuses(reader: Reader, filter: AgentStatusFilter): Promise<number> {
  const { agentStatuses, users } = reader.tables
  const [row] = await reader
    .select({ statuses: count() })
    .from(agentStatuses)
    .innerJoin(users, eq(users.id, agentStatuses.userId))
    .where(conditionOf(reader, filter))
  return row!.statuses
}

/** Keeps the person as they are until the end of the transaction; false if they are erased. */
export async function lockOwner(tx: Tx, userId: number): Promise<boolean> {
  const { users } = tx.tables
  const found = tx
    .select({ id: users.id })
    .from(users)
    .where(and(eq(users.id, userId), isNull(users.erasedAt)))
  return (await tx.locking(found, users)).length > 0
}

export async function saveAgentStatuses(tx: Tx, rows: AgentStatusRecord[]): Promise<void> {
  if (rows.length === 0) return
  const { agentStatuses: t } = tx.tables
  await tx
    .insert(t)
    .values(rows)
    .onConflictDoUpdate({
      target: [t.userId, t.machine, t.harness],
      set: {
        version: addedValue(t.version),
        tallyVersion: addedValue(t.tallyVersion),
        sessions: addedValue(t.sessions),
        notRead: addedValue(t.notRead),
        readsAll: addedValue(t.readsAll),
        reportedAt: addedValue(t.reportedAt),
      },
    })
}

/** Keeps those of the person that were reported last, and first of all those with something that was not read. */
export async function deleteOldest(tx: Tx, userId: number, kept: number): Promise<void> {
  const { agentStatuses: t } = tx.tables
  const rows = await tx
    .select({ id: t.id })
    .from(t)
    .where(eq(t.userId, userId))
    .orderBy(asc(t.readsAll), desc(t.reportedAt), asc(t.id))
    .offset(kept)
    .limit(kept)
  const ids = rows.map(({ id }) => id)
  if (ids.length > 0) await tx.delete(t).where(inArray(t.id, ids))
}

export async function deleteReportedBefore(tx: Tx, before: number): Promise<void> {
  const { agentStatuses: t } = tx.tables
  await tx.delete(t).where(lt(t.reportedAt, before))
}
