/** Budgets as recording needs them, what is spent of them, and their alerts. */
import { and, asc, desc, eq, gt, inArray, isNotNull, isNull, lte, sql } from 'drizzle-orm'
import type { Reader, Tx } from '../../../database/database.ts'
import { portionsOf } from '../../../database/portions.ts'
import type { LabelMap } from '../../../database/schema/records.ts'
import { newId } from '../../../lib/id.ts'
import type { DatedSpan } from '../../../shared/calendar-periods.ts'
import type { Spending } from '../amount.ts'
import type { AlertRecord, BudgetRecord, ChangeRecord, KnownPeriod, PeriodRecord, ProjectTerms } from '../records.ts'

/** Those that reports add to: other bases are counted anew (features/budgets). */
export function listActiveBudgets(reader: Reader): Promise<BudgetRecord[]> {
  const { budgets } = reader.tables
  return reader
    .select()
    .from(budgets)
    .where(and(isNull(budgets.archivedAt), eq(budgets.basis, 'cost')))
    .orderBy(asc(budgets.id))
}

/** The periods of active budgets that have not ended before a moment, the newest of each budget first. */
export async function listPeriodsSince(
  reader: Reader,
  moment: number,
): Promise<(KnownPeriod & { budgetId: number })[]> {
  const { budgets, budgetPeriods } = reader.tables
  return reader
    .select({
      id: budgetPeriods.id,
      budgetId: budgetPeriods.budgetId,
      startsAt: budgetPeriods.startsAt,
      endsAt: budgetPeriods.endsAt,
      firstDay: budgetPeriods.firstDay,
    })
    .from(budgetPeriods)
    .innerJoin(budgets, eq(budgets.id, budgetPeriods.budgetId))
    .where(and(isNull(budgets.archivedAt), eq(budgets.basis, 'cost'), gt(budgetPeriods.endsAt, moment)))
    .orderBy(desc(budgetPeriods.startsAt))
}

/** The periods of these budgets that contain the moment, by budget. */
export async function listPeriodsAt(
  reader: Reader,
  budgetIds: readonly number[],
  moment: number,
): Promise<Map<number, PeriodRecord>> {
  if (budgetIds.length === 0) return new Map()
  const { budgetPeriods: p } = reader.tables
  const rows = await reader
    .select()
    .from(p)
    .where(and(inArray(p.budgetId, [...budgetIds]), lte(p.startsAt, moment), gt(p.endsAt, moment)))
  return new Map(rows.map((row) => [row.budgetId, row]))
}

/** The newest period of a budget; undefined before the first. */
export async function findNewestPeriod(reader: Reader, budgetId: number): Promise<PeriodRecord | undefined> {
  const { budgetPeriods } = reader.tables
  const [row] = await reader
    .select()
    .from(budgetPeriods)
    .where(eq(budgetPeriods.budgetId, budgetId))
    .orderBy(desc(budgetPeriods.startsAt))
    .limit(1)
  return row
}

export interface NewPeriod extends DatedSpan {
  available: bigint
}

/**
 * Adds periods of which nothing is counted, unless there are such with their first days. Entries may be in them already:
 * they may start up to a day ahead of the clock, or were imported with the budget. No other transaction adds periods until
 * the end of this one: each changes the revision, whose row two of them would otherwise wait for while the other waits for
 * a period of theirs.
 */
export async function insertPeriods(tx: Tx, budgetId: number, periods: readonly NewPeriod[]): Promise<void> {
  const { revision, budgetPeriods } = tx.tables
  await tx.locking(tx.select().from(revision), revision)
  const nothing = { billions: 0, units: 0, millionths: 0, entries: 0, unpricedEntries: 0, alerted: 0 }
  for (const { firstDay, startingAt, endingAt, available } of periods) {
    const period = { budgetId, firstDay, startsAt: startingAt, endsAt: endingAt, available }
    await tx
      .insert(budgetPeriods)
      .values({ ...period, ...nothing, countedAt: null, recountAt: null, counts: 0 })
      .onConflictDoNothing()
  }
}

const SPENT = [
  'id',
  'budgetId',
  'firstDay',
  'billions',
  'units',
  'millionths',
  'available',
  'alerted',
  'countedAt',
] as const satisfies (keyof PeriodRecord)[]

/** What decides whether a threshold is reached. */
export type SpentPeriod = Pick<PeriodRecord, (typeof SPENT)[number]>

/** Adds to periods, and returns them as they are then. */
export async function addSpending(
  tx: Tx,
  rows: readonly (Spending & { id: number })[],
): Promise<readonly SpentPeriod[]> {
  return tx.addAll(tx.tables.budgetPeriods, rows, SPENT)
}

/** Notes that all entries of a period are counted, unless somebody else did since it was read. */
export async function finishCount(
  tx: Tx,
  { id, counts }: Pick<PeriodRecord, 'id' | 'counts'>,
  correction: Spending,
  { countedAt, recountAt }: { countedAt: number; recountAt: number },
): Promise<PeriodRecord | undefined> {
  const { budgetPeriods: p } = tx.tables
  const [row] = await tx
    .update(p)
    .set({
      billions: sql`${p.billions} + ${correction.billions}`,
      units: sql`${p.units} + ${correction.units}`,
      millionths: sql`${p.millionths} + ${correction.millionths}`,
      entries: sql`${p.entries} + ${correction.entries}`,
      unpricedEntries: sql`${p.unpricedEntries} + ${correction.unpricedEntries}`,
      countedAt,
      recountAt,
      counts: counts + 1,
    } as never)
    .where(and(eq(p.id, id), eq(p.counts, counts)))
    .returning()
  return row
}

/** Notes changes, which a job adds. */
export async function insertChanges(tx: Tx, changes: readonly Omit<ChangeRecord, 'id'>[]): Promise<void> {
  for (const portion of portionsOf(changes)) await tx.insertAll(tx.tables.budgetChanges, portion)
}

/** The next changes that were noted; they are removed. */
export async function takeChanges(tx: Tx, limit: number): Promise<ChangeRecord[]> {
  const { budgetChanges } = tx.tables
  const next = tx.select({ id: budgetChanges.id }).from(budgetChanges).orderBy(asc(budgetChanges.id)).limit(limit)
  return tx.delete(budgetChanges).where(inArray(budgetChanges.id, next)).returning()
}

export async function hasChanges(reader: Reader): Promise<boolean> {
  const rows = await reader
    .prepared('budget-changes.any', (prepare) =>
      prepare.select({ id: prepare.tables.budgetChanges.id }).from(prepare.tables.budgetChanges).limit(1),
    )
    .execute()
  return rows.length > 0
}

export function listChanges(reader: Reader, limit: number): Promise<ChangeRecord[]> {
  const { budgetChanges } = reader.tables
  return reader.select().from(budgetChanges).orderBy(asc(budgetChanges.id)).limit(limit)
}

export async function listNames(reader: Reader, ids: readonly number[]): Promise<Map<number, string>> {
  if (ids.length === 0) return new Map()
  const { names } = reader.tables
  const rows = await reader
    .select({ id: names.id, text: names.text })
    .from(names)
    .where(inArray(names.id, [...ids]))
  return new Map(rows.map(({ id, text }) => [id, text]))
}

export async function listLabels(reader: Reader, ids: readonly number[]): Promise<Map<number, LabelMap>> {
  if (ids.length === 0) return new Map()
  const { labelSets } = reader.tables
  const rows = await reader
    .select()
    .from(labelSets)
    .where(inArray(labelSets.id, [...ids]))
  return new Map(rows.map(({ id, labels }) => [id, labels]))
}

export async function listProjectTerms(reader: Reader): Promise<ProjectTerms[]> {
  const { projects, clients } = reader.tables
  const rows = await reader
    .select({
      id: projects.id,
      clientId: projects.clientId,
      billable: projects.billable,
      markupPpm: projects.markupPpm,
      clientMarkupPpm: clients.markupPpm,
    })
    .from(projects)
    .leftJoin(clients, eq(clients.id, projects.clientId))
  return rows.map(({ clientMarkupPpm, ...terms }) => ({ ...terms, markupPpm: terms.markupPpm ?? clientMarkupPpm }))
}

/** Adds an alert, unless there is one for the same version, period and threshold. */
export async function insertAlert(
  tx: Tx,
  alert: Omit<AlertRecord, 'id' | 'uid' | 'notifiedAt'>,
): Promise<AlertRecord | undefined> {
  const [row] = await tx
    .insert(tx.tables.budgetAlerts)
    .values({ uid: newId('alr'), ...alert })
    .onConflictDoNothing()
    .returning()
  return row
}

/** The counted periods of a budget that have not ended. */
export function listOpenPeriods(reader: Reader, budgetId: number, now: number): Promise<PeriodRecord[]> {
  const { budgetPeriods: p } = reader.tables
  return reader
    .select()
    .from(p)
    .where(and(eq(p.budgetId, budgetId), gt(p.endsAt, now), isNotNull(p.countedAt)))
    .orderBy(asc(p.id))
}

export async function saveAlerted(tx: Tx, periodId: number, alerted: number): Promise<void> {
  const { budgetPeriods } = tx.tables
  await tx.update(budgetPeriods).set({ alerted }).where(eq(budgetPeriods.id, periodId))
}
