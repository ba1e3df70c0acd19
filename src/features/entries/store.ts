/** Entries as rows, and views of them with the names of what they refer to. */

import { aliasedTable, and, eq, gte, inArray, or, type SQL, sql } from 'drizzle-orm'
import type { Reader, Tx } from '../../database/database.ts'
import { lowestEntryId } from '../../database/monthly-ids.ts'
import type { LabelMap } from '../../database/schema/records.ts'
import type { Tables } from '../../database/schema/tables.ts'
import type { Status } from '../../database/schema/values.ts'
import type { Id } from '../../lib/id.ts'
import { notingChanges } from '../spending/contract.ts'

export type EntryRecord = Tables['entries']['$inferSelect']
/** The fields of an entry that may change; those that identify it stay. */
export type EntryChange = Partial<Omit<EntryRecord, 'id' | 'uid' | 'sessionId' | 'chainModelId' | 'part' | 'createdAt'>>

/** Statuses in which usage and placement are fixed. */
export const LOCKED_STATUSES: readonly Status[] = ['approved', 'billed', 'pending', 'voided']

/** An entry with the names and public ids of what it refers to. */
export interface EntryView {
  entry: EntryRecord
  manager: { uid: Id<'usr'>; name: string; email: string }
  harness: string
  agent: string
  model: string
  provider: string | null
  project: { uid: Id<'prj'>; key: string; name: string } | null
  ticket: { uid: Id<'tkt'>; key: string } | null
  rule: Id<'rul'> | null
  /** The version of the rule that placed the entry, or that gave its ticket a project. */
  ruleVersion: { name: string; version: number } | null
  labels: LabelMap | null
  price: Id<'prc'> | null
  sessionKey: string | null
  continues: Id<'ent'> | null
  duplicateOf: Id<'ent'> | null
  /** Null, too, while its entries are claimed or released in portions (billing/lease.ts). */
  bill: { uid: Id<'bil'>; number: string } | null
  sheet: Id<'sht'> | null
  /** Null if nothing says how it is paid for. */
  funding: Pick<
    Tables['fundings']['$inferSelect'],
    'saidFunding' | 'saidPlan' | 'meteredShare' | 'funding' | 'reason' | 'note'
  > | null
  fundingPlan: { uid: Id<'pln'>; name: string } | null
  fundingRule: Id<'frl'> | null
  fundingRuleVersion: { name: string; version: number } | null
}

/** The tables that a view of entries joins, under the names that filters use. */
export function viewTables(tables: Tables) {
  return {
    ...tables,
    harnesses: aliasedTable(tables.names, 'harness'),
    agents: aliasedTable(tables.names, 'agent'),
    models: aliasedTable(tables.names, 'model'),
    providers: aliasedTable(tables.names, 'provider'),
    continued: aliasedTable(tables.entries, 'continued'),
    duplicates: aliasedTable(tables.entries, 'duplicate'),
  }
}

/** `SELECT … FROM entries` with everything in an {@link EntryView}; the caller adds where, order and limit. */
export function selectViews(reader: Reader) {
  const t = viewTables(reader.tables)
  return reader
    .select({
      entry: t.entries,
      manager: { uid: t.users.uid, name: t.users.name, email: t.users.email },
      harness: t.harnesses.text,
      agent: t.agents.text,
      model: t.models.text,
      provider: t.providers.text,
      project: { uid: t.projects.uid, key: t.projects.key, name: t.projects.name },
      ticket: { uid: t.tickets.uid, key: t.tickets.key },
      rule: t.placementRules.uid,
      ruleVersion: { name: t.placementRuleVersions.name, version: t.placementRuleVersions.version },
      labels: t.labelSets.labels,
      price: t.prices.uid,
      sessionKey: t.sessions.sessionKey,
      continues: t.continued.uid,
      duplicateOf: t.duplicates.uid,
      bill: { uid: t.bills.uid, number: t.bills.number },
      sheet: t.sheets.uid,
      funding: {
        // The first decides whether there is a row.
        funding: t.fundings.funding,
        saidFunding: t.fundings.saidFunding,
        saidPlan: t.fundings.saidPlan,
        meteredShare: t.fundings.meteredShare,
        reason: t.fundings.reason,
        note: t.fundings.note,
      },
      fundingPlan: { uid: t.plans.uid, name: t.plans.name },
      fundingRule: t.fundingRules.uid,
      fundingRuleVersion: { name: t.fundingRuleVersions.name, version: t.fundingRuleVersions.version },
    })
    .from(t.entries)
    .innerJoin(t.users, eq(t.users.id, t.entries.managerId))
    .innerJoin(t.harnesses, eq(t.harnesses.id, t.entries.harnessId))
    .innerJoin(t.agents, eq(t.agents.id, t.entries.agentId))
    .innerJoin(t.models, eq(t.models.id, t.entries.modelId))
    .leftJoin(t.providers, eq(t.providers.id, t.entries.providerId))
    .leftJoin(t.projects, eq(t.projects.id, t.entries.projectId))
    .leftJoin(t.tickets, eq(t.tickets.id, t.entries.ticketId))
    .leftJoin(t.placementRuleVersions, eq(t.placementRuleVersions.id, t.entries.ruleVersionId))
    .leftJoin(t.placementRules, eq(t.placementRules.id, t.placementRuleVersions.ruleId))
    .leftJoin(t.labelSets, eq(t.labelSets.id, t.entries.labelSetId))
    .leftJoin(t.prices, eq(t.prices.id, t.entries.priceId))
    .leftJoin(t.sessions, eq(t.sessions.id, t.entries.sessionId))
    .leftJoin(t.continued, eq(t.continued.id, t.entries.continuesId))
    .leftJoin(t.duplicates, eq(t.duplicates.id, t.entries.possibleDuplicateId))
    .leftJoin(t.bills, isBilledOn(reader.tables))
    .leftJoin(t.sheets, eq(t.sheets.id, t.entries.sheetId))
    .leftJoin(t.fundings, eq(t.fundings.id, t.entries.fundingId))
    .leftJoin(t.plans, eq(t.plans.id, t.fundings.planId))
    .leftJoin(t.fundingRuleVersions, eq(t.fundingRuleVersions.id, t.fundings.ruleVersionId))
    .leftJoin(t.fundingRules, eq(t.fundingRules.id, t.fundingRuleVersions.ruleId))
}

/** Joins an entry's bill, but not one whose entries are being claimed or released in portions (billing/lease.ts). */
export function isBilledOn({ bills, entries }: Tables): SQL {
  // Not bound: SQLite would prepare the statements of a report again at every execution.
  return sql`${bills.id} = ${entries.billId} AND ${bills.state} IN ('sent', 'paid') AND ${bills.releasedById} IS NULL`
}

export async function getView(reader: Reader, id: number): Promise<EntryView> {
  const [view] = await getViews(reader, [id])
  return view!
}

export async function getViews(reader: Reader, ids: readonly number[]): Promise<EntryView[]> {
  return (await findViews(reader, ids)) as EntryView[]
}

/** Of an entry that was deleted, undefined. */
export async function findViews(reader: Reader, ids: readonly number[]): Promise<(EntryView | undefined)[]> {
  const found = await reader.findEach(
    'entries.view',
    (prepare) => selectViews(prepare).where(eq(prepare.tables.entries.id, sql.placeholder('id'))),
    ids.map((id) => ({ id })),
  )
  return found.map(([view]) => view)
}

/** Identifies the parts of one model of a session. */
export interface SessionChain {
  sessionId: number
  chainModelId: number
}

/** For each chain, its parts in order, locked until the end of the transaction. */
export async function listChains(tx: Tx, chains: readonly SessionChain[]): Promise<EntryView[][]> {
  const found = await tx.findEach(
    'entries.chain',
    (prepare) => {
      const { entries } = prepare.tables
      const parts = selectViews(prepare).where(
        and(
          eq(entries.sessionId, sql.placeholder('sessionId')),
          eq(entries.chainModelId, sql.placeholder('chainModelId')),
          gte(entries.id, sql.placeholder('lowestId')),
        ),
      )
      return prepare.locking(parts, entries)
    },
    chains.map(({ sessionId, chainModelId }) => ({ sessionId, chainModelId, lowestId: lowestEntryId(sessionId) })),
  )
  return found.map(inOrderOfParts)
}

/** For each session, the parts of all its models, each in order, locked until the end of the transaction. */
export async function listSessionChains(tx: Tx, sessionIds: readonly number[]): Promise<EntryView[][]> {
  const found = await tx.findEach(
    'entries.session',
    (prepare) => {
      const { entries } = prepare.tables
      const parts = selectViews(prepare).where(
        and(eq(entries.sessionId, sql.placeholder('sessionId')), gte(entries.id, sql.placeholder('lowestId'))),
      )
      return prepare.locking(parts, entries)
    },
    sessionIds.map((sessionId) => ({ sessionId, lowestId: lowestEntryId(sessionId) })),
  )
  return found.map(inOrderOfParts)
}

function inOrderOfParts(views: EntryView[]): EntryView[] {
  return views.sort((a, b) => a.entry.part! - b.entry.part!)
}

/** Entries of these sessions, and the other parts of those that were divided. */
export function isOfSessions(reader: Reader, sessionIds: readonly number[]): SQL | undefined {
  const { entries } = reader.tables
  const divided = aliasedTable(entries, 'divided')
  const ids = [...sessionIds]
  const wholes = reader.select({ id: divided.id }).from(divided).where(inArray(divided.sessionId, ids))
  return or(inArray(entries.sessionId, ids), inArray(entries.dividedFromId, wholes))
}

/**
 * What these entries follow of their sessions, which are locked: adopting or holding a session at the same time would
 * otherwise pass over an entry that is just being unlocked.
 */
export async function listFollowed(tx: Tx, ids: readonly number[]) {
  const { entries, sessions } = tx.tables
  // The other parts of a divided entry follow its session.
  const ofWhole = sql`(SELECT divided.session_id FROM ${entries} divided WHERE divided.id = ${entries.dividedFromId})`
  const owners = tx
    .select({
      id: entries.id,
      from: entries.managerId,
      to: { managerId: sessions.managerId, managerBy: sessions.managerBy },
      status: entries.status,
      duplicate: sessions.duplicate,
    })
    .from(entries)
    .innerJoin(sessions, eq(sessions.id, sql`coalesce(${entries.sessionId}, ${ofWhole})`))
    .where(inArray(entries.id, [...ids]))
  return tx.locking(owners, sessions, 'share')
}

export async function updateManagers(
  tx: Tx,
  changes: readonly Pick<EntryRecord, 'id' | 'managerId' | 'managerBy'>[],
): Promise<void> {
  const ids = changes.map(({ id }) => id)
  await notingChanges(tx, ids, async () => tx.updateAll(tx.tables.entries, changes))
}

export async function changeStatuses(tx: Tx, ids: readonly number[], status: Status): Promise<void> {
  const { entries } = tx.tables
  await notingChanges(tx, ids, () =>
    tx
      .update(entries)
      .set({ status })
      .where(inArray(entries.id, [...ids])),
  )
}

export async function insertEntries(tx: Tx, views: readonly EntryView[]): Promise<void> {
  await tx.insertAll(
    tx.tables.entries,
    views.map(({ entry }) => entry),
  )
}

export async function updateEntry(tx: Tx, id: number, change: EntryChange): Promise<void> {
  const { entries } = tx.tables
  await notingChanges(tx, [id], () => tx.update(entries).set(change).where(eq(entries.id, id)))
}

/** An entry before and after what reports changed. */
export interface ReportedChange {
  before: EntryView
  after: EntryView
}

/**
 * Updates the columns that reports may change, in entries of their sessions. Most reports change the usage only: with
 * the other columns in the statement, SQLite would write the entry to all its indexes again.
 */
export async function updateReported(tx: Tx, changes: readonly ReportedChange[]): Promise<void> {
  const { entries } = tx.tables
  const ofUsage: EntryRecord[] = []
  const ofAll: EntryRecord[] = []
  for (const { before, after } of changes) {
    const isSame = OTHER_COLUMNS.every((column) => before.entry[column] === after.entry[column])
    if (isSame) ofUsage.push(after.entry)
    else ofAll.push(after.entry)
  }
  await tx.updateAll(entries, dividedOf(changes))
  await tx.updateAll(entries, ofUsage.map(usageUpdate))
  await tx.updateAll(
    entries,
    ofAll.map((entry) => {
      const others = OTHER_COLUMNS.map((column) => [column, entry[column]] as const)
      return { ...usageUpdate(entry), ...Object.fromEntries(others) }
    }),
  )
}

/** The whole that a divided entry keeps is the sum of its parts. */
function dividedOf(changes: readonly ReportedChange[]): Pick<EntryRecord, 'id' | 'amendment'>[] {
  return changes.flatMap(({ after: { entry } }) =>
    entry.amendment?.whole ? [{ id: entry.id, amendment: entry.amendment }] : [],
  )
}

/** Columns besides the usage that reports may change. Indexes contain most of them. */
const OTHER_COLUMNS = [
  'status',
  'startedAt',
  'source',
  'superseded',
  'agentId',
  'providerId',
  'labelSetId',
  'managerId',
  'managerBy',
  'projectId',
  'ticketId',
  'placedBy',
  'ruleVersionId',
  'placementNote',
  'namedProject',
  'namedTicket',
  'sliceDay',
  'slicePlace',
  'estimated',
  'activeMs',
  'fundingId',
] as const satisfies (keyof EntryRecord)[]

function usageUpdate(entry: EntryRecord) {
  return {
    id: entry.id,
    endedAt: entry.endedAt,
    input: entry.input,
    output: entry.output,
    cacheRead: entry.cacheRead,
    cacheWrite: entry.cacheWrite,
    cacheWrite1h: entry.cacheWrite1h,
    usageDetails: entry.usageDetails,
    requests: entry.requests,
    reportedCost: entry.reportedCost,
    listValue: entry.listValue,
    priceId: entry.priceId,
    priceStep: entry.priceStep,
    priceNote: entry.priceNote,
    summary: entry.summary,
    updatedAt: entry.updatedAt,
  }
}

/** For each content, the manager's first entry with exactly this content; undefined if there is none. */
export async function findDuplicates(
  reader: Reader,
  contents: readonly { managerId: number; startedAt: number; fingerprint: bigint }[],
): Promise<({ id: number; uid: Id<'ent'> } | undefined)[]> {
  const found = await reader.findEach(
    'entries.duplicate',
    (prepare) => {
      const { entries } = prepare.tables
      const first = prepare
        .select({ id: sql`min(${entries.id})` })
        .from(entries)
        .where(
          and(
            eq(entries.managerId, sql.placeholder('managerId')),
            eq(entries.startedAt, sql.placeholder('startedAt')),
            eq(entries.fingerprint, sql.placeholder('fingerprint')),
          ),
        )
      return prepare.select({ id: entries.id, uid: entries.uid }).from(entries).where(eq(entries.id, first))
    },
    contents.map(({ managerId, startedAt, fingerprint }) => ({ managerId, startedAt, fingerprint })),
  )
  return found.map(([row]) => row)
}
