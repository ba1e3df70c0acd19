/** Entries with everything that decides their placement, and updates of their placement. */

import { and, asc, desc, eq, exists, gt, inArray, isNotNull, isNull, notInArray, type SQL, sql } from 'drizzle-orm'
import type { Viewer } from '../../../../access/visibility.ts'
import { visibleEntries } from '../../../../access/visibility.ts'
import type { Reader, Tx } from '../../../../database/database.ts'
import { portionsOf } from '../../../../database/portions.ts'
import type { LabelMap } from '../../../../database/schema/records.ts'
import { type Id, isId } from '../../../../lib/id.ts'
import { conditionOf, type EntryFilter, type Position } from '../../../selection/contract.ts'
import { notingChanges } from '../../../spending/contract.ts'
import { isBehind } from '../../listing/store/lists.ts'
import { type EntryChange, type EntryRecord, isBilledOn, LOCKED_STATUSES, viewTables } from '../../store.ts'

/** An entry with its place, and with every field that conditions of rules refer to. */
export interface PlacedEntry {
  entry: EntryRecord
  manager: { id: number; email: string; name: string }
  harness: string
  agent: string
  model: string
  provider: string | null
  labels: LabelMap | null
  project: { uid: Id<'prj'>; key: string } | null
  ticket: { uid: Id<'tkt'>; key: string } | null
  bill: { number: string } | null
}

function selectPlaced(reader: Reader) {
  const t = viewTables(reader.tables)
  return reader
    .select({
      entry: t.entries,
      manager: { id: t.users.id, email: t.users.email, name: t.users.name },
      harness: t.harnesses.text,
      agent: t.agents.text,
      model: t.models.text,
      provider: t.providers.text,
      labels: t.labelSets.labels,
      project: { uid: t.projects.uid, key: t.projects.key },
      ticket: { uid: t.tickets.uid, key: t.tickets.key },
      bill: { number: t.bills.number },
    })
    .from(t.entries)
    .innerJoin(t.users, eq(t.users.id, t.entries.managerId))
    .innerJoin(t.harnesses, eq(t.harnesses.id, t.entries.harnessId))
    .innerJoin(t.agents, eq(t.agents.id, t.entries.agentId))
    .innerJoin(t.models, eq(t.models.id, t.entries.modelId))
    .leftJoin(t.providers, eq(t.providers.id, t.entries.providerId))
    .leftJoin(t.labelSets, eq(t.labelSets.id, t.entries.labelSetId))
    .leftJoin(t.projects, eq(t.projects.id, t.entries.projectId))
    .leftJoin(t.tickets, eq(t.tickets.id, t.entries.ticketId))
    .leftJoin(t.bills, isBilledOn(t))
}

/** The entries with these public ids that the viewer sees, in no particular order. */
export async function listPlacedByUid(reader: Reader, uids: Id<'ent'>[], viewer: Viewer): Promise<PlacedEntry[]> {
  const found: PlacedEntry[] = []
  for (const portion of portionsOf(uids)) {
    found.push(
      ...(await selectPlaced(reader).where(
        and(inArray(reader.tables.entries.uid, portion), await visibleEntries(reader, viewer)),
      )),
    )
  }
  return found
}

/** Entries that match the filter, newest first, starting after `after`. */
export async function listPlacedNewest(
  reader: Reader,
  query: { filter: EntryFilter; viewer: Viewer; after?: Position | undefined; limit: number },
): Promise<PlacedEntry[]> {
  const { entries } = reader.tables
  return selectPlaced(reader)
    .where(
      and(conditionOf(reader, query.filter), await visibleEntries(reader, query.viewer), isBehind(reader, query.after)),
    )
    .orderBy(desc(entries.startedAt), desc(entries.id))
    .limit(query.limit)
}

function isUnlocked(reader: Reader): SQL {
  return notInArray(reader.tables.entries.status, [...LOCKED_STATUSES])
}

/** Unattributed entries that rules may place, newest first, starting after `after`. */
export async function listUnattributed(
  reader: Reader,
  { filter, after, limit }: { filter: EntryFilter; after: Position | undefined; limit: number },
): Promise<PlacedEntry[]> {
  const { entries } = reader.tables
  return selectPlaced(reader)
    .where(and(isNull(entries.placedBy), conditionOf(reader, filter), isUnlocked(reader), isBehind(reader, after)))
    .orderBy(desc(entries.startedAt), desc(entries.id))
    .limit(limit)
}

/** Entries that this version of a rule placed and that may still move, by key, starting after `after`. */
export async function listPlacedByRule(
  reader: Reader,
  ruleVersionId: number,
  { filter, after, limit }: { filter: EntryFilter; after: number; limit: number },
): Promise<PlacedEntry[]> {
  const { entries } = reader.tables
  return selectPlaced(reader)
    .where(
      and(
        eq(entries.ruleVersionId, ruleVersionId),
        eq(entries.placedBy, 'rule'),
        conditionOf(reader, filter),
        isUnlocked(reader),
        gt(entries.id, after),
      ),
    )
    .orderBy(asc(entries.id))
    .limit(limit)
}

/** The versions of rules that placed entries, starting with this key. */
export async function listUsedRuleVersions(reader: Reader, from: number): Promise<number[]> {
  const { placementRuleVersions: versions, entries } = reader.tables
  const used = reader.select({ id: entries.id }).from(entries).where(eq(entries.ruleVersionId, versions.id))
  const rows = await reader
    .select({ id: versions.id })
    .from(versions)
    .where(and(gt(versions.id, from - 1), exists(used)))
    .orderBy(asc(versions.id))
  return rows.map(({ id }) => id)
}

/** The number of entries that rules may move. */
export async function countApplicable(
  reader: Reader,
  { scope, filter }: { scope: 'unattributed' | 'rule_placed'; filter: EntryFilter },
): Promise<number> {
  const { entries } = reader.tables
  const count = async (isInScope: SQL) => {
    const [row] = await reader
      .select({ count: sql<number>`count(*)`.mapWith(Number) })
      .from(entries)
      .where(and(isInScope, conditionOf(reader, filter), isUnlocked(reader)))
    return row!.count
  }
  const unattributed = await count(isNull(entries.placedBy))
  if (scope === 'unattributed') return unattributed
  // In this form, because the index of rules contains only entries that have one.
  return unattributed + (await count(and(isNotNull(entries.ruleVersionId), eq(entries.placedBy, 'rule'))!))
}

export async function listPlaced(reader: Reader, ids: number[]): Promise<PlacedEntry[]> {
  return selectPlaced(reader).where(inArray(reader.tables.entries.id, ids))
}

/** Changes several entries in the same way. */
export async function changeEntries(tx: Tx, ids: number[], change: EntryChange): Promise<void> {
  const { entries } = tx.tables
  await notingChanges(tx, ids, async () => {
    for (const portion of portionsOf(ids)) await tx.update(entries).set(change).where(inArray(entries.id, portion))
  })
}

/** The key of the project with this public id; undefined if it does not exist. */
export async function findProjectKey(reader: Reader, uid: Id<'prj'>): Promise<number | undefined> {
  const { projects } = reader.tables
  const [row] = await reader.select({ id: projects.id }).from(projects).where(eq(projects.uid, uid)).limit(1)
  return row?.id
}

/**
 * The key of the ticket with this id, or the text itself if it is not an id; undefined for an id that does not exist.
 */
export async function findTicketKey(reader: Reader, ticket: string): Promise<string | undefined> {
  if (!isId('tkt', ticket)) return ticket
  const { tickets } = reader.tables
  const [row] = await reader.select({ key: tickets.key }).from(tickets).where(eq(tickets.uid, ticket)).limit(1)
  return row?.key
}

/** Those of these public ids of tickets that exist. */
export async function listTicketUids(reader: Reader, uids: Id<'tkt'>[]): Promise<Set<string>> {
  const { tickets } = reader.tables
  const rows = await reader.select({ uid: tickets.uid }).from(tickets).where(inArray(tickets.uid, uids))
  return new Set(rows.map(({ uid }) => uid))
}
