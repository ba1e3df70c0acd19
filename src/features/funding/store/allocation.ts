/** The tables of shares: periods that are calculated, their generations, and what they are calculated from. */
import {
  and,
  asc,
  eq,
  gt,
  gte,
  inArray,
  isNotNull,
  isNull,
  lt,
  max,
  ne,
  notInArray,
  or,
  type SQL,
  sql,
} from 'drizzle-orm'
import type { Database, Reader, Tx } from '../../../database/database.ts'
import { portionsOf } from '../../../database/portions.ts'
import type { Tables } from '../../../database/schema/tables.ts'
import { UNCOUNTED_STATUSES } from '../../../database/schema/values.ts'
import type { Share } from '../allocation.ts'
import type { PeriodRecord } from '../contract.ts'

export type { PeriodRecord }

export interface PeriodKey {
  planId: number
  firstDay: string
}
export interface Range {
  from: number
  to: number
}

/** Changes of the periods of all plans come one after the other, also on PostgreSQL; each takes milliseconds. */
const LOCK = 'plan allocation'

/** Runs `body` while no other process changes periods. */
export function changePlanPeriods<Result>(db: Database, body: (tx: Tx) => Promise<Result>): Promise<Result> {
  return db.write(
    async (tx) => {
      await tx.lockAll(() => [LOCK])
      return body(tx)
    },
    { isolation: 'read committed' },
  )
}

/** As one text. */
export const keyOfPeriod = ({ planId, firstDay }: PeriodKey) => `${planId} ${firstDay}`

export const HOUR_MS = 3_600_000

function isPeriod({ planPeriods: p }: Tables, { planId, firstDay }: PeriodKey) {
  return and(eq(p.planId, planId), eq(p.firstDay, firstDay))
}

export async function findPeriod(reader: Reader, key: PeriodKey): Promise<PeriodRecord | undefined> {
  const [row] = await reader.select().from(reader.tables.planPeriods).where(isPeriod(reader.tables, key))
  return row
}

/** Until the end of the transaction, nobody changes the record. */
export async function lockPeriod(tx: Tx, key: PeriodKey): Promise<PeriodRecord | undefined> {
  const { planPeriods: p } = tx.tables
  const [row] = await tx.locking(tx.select().from(p).where(isPeriod(tx.tables, key)), p)
  return row
}

/** Of all plans, or of these, in order. */
export async function listPeriodRecords(reader: Reader, planIds?: readonly number[]): Promise<PeriodRecord[]> {
  const { planPeriods: p } = reader.tables
  return reader
    .select()
    .from(p)
    .where(planIds && inArray(p.planId, [...planIds]))
    .orderBy(asc(p.planId), asc(p.firstDay))
}

/** Those whose entries or terms have changed since they were calculated. */
export async function listChangedPeriods(reader: Reader): Promise<PeriodRecord[]> {
  const { planPeriods: p } = reader.tables
  return reader.select().from(p).where(gt(p.changes, 0)).orderBy(asc(p.planId), asc(p.firstDay))
}

/** Hours with changed entries, as far as the prepared sums know of them. */
export async function listUnallocatedHours(reader: Reader, limit: number): Promise<number[]> {
  const { unallocatedHours: h } = reader.tables
  return (await reader.select().from(h).orderBy(asc(h.hour)).limit(limit)).map(({ hour }) => hour)
}

/** Hours with changed entries that the prepared sums have not taken yet. */
export async function listUntakenHours(reader: Reader, range?: Range): Promise<number[]> {
  const { staleHours: h } = reader.tables
  const rows = await reader
    .selectDistinct({ hour: h.hour })
    .from(h)
    .where(range && and(gte(h.hour, Math.floor(range.from / HOUR_MS)), lt(h.hour, Math.ceil(range.to / HOUR_MS))))
  return rows.map(({ hour }) => hour)
}

/** Whether entries of a range have changed, and no period knows of it yet. */
export async function isRangeMarked(reader: Reader, range: Range): Promise<boolean> {
  const { unallocatedHours: h } = reader.tables
  const within = and(gte(h.hour, Math.floor(range.from / HOUR_MS)), lt(h.hour, Math.ceil(range.to / HOUR_MS)))
  const [marked] = await reader.select().from(h).where(within).limit(1)
  return marked !== undefined || (await listUntakenHours(reader, range)).length > 0
}

/** The prepared sums of these hours are to be built again. */
export async function markHours(tx: Tx, hours: Iterable<number>): Promise<void> {
  const rows = [...hours].map((hour) => ({ hour }))
  for (const portion of portionsOf(rows)) await tx.insert(tx.tables.staleHours).values(portion)
}

/** Whether corrections of a period have changed, and it does not know of it yet. */
export async function areCorrectionsMarked(reader: Reader, { planId, firstDay }: PeriodKey): Promise<boolean> {
  const { planCorrections: c, entries: e } = reader.tables
  const moments = await reader
    .selectDistinct({ from: e.startedAt })
    .from(c)
    .innerJoin(e, eq(e.id, c.entryId))
    .where(and(eq(c.planId, planId), eq(c.ofFirstDay, firstDay)))
  for (const { from } of moments) if (await isRangeMarked(reader, { from, to: from + 1 })) return true
  return false
}

/** The periods that corrections of these hours are of. */
export async function listCorrectedPeriods(reader: Reader, hours: readonly number[]) {
  const { planCorrections: c, planPeriods: p, entries: e } = reader.tables
  return reader
    .selectDistinct({ planId: p.planId, firstDay: p.firstDay, lastDay: p.lastDay, fee: p.fee })
    .from(c)
    .innerJoin(e, eq(e.id, c.entryId))
    .innerJoin(p, and(eq(p.planId, c.planId), eq(p.firstDay, c.ofFirstDay)))
    .where(inArray(sql`${e.startedAt} / ${sql.raw(String(HOUR_MS))}`, [...hours]))
}

export const hourOf = (moment: number) => Math.floor(moment / HOUR_MS)

export async function deleteUnallocatedHours(tx: Tx, hours: readonly number[]): Promise<void> {
  const { unallocatedHours: h } = tx.tables
  await tx.delete(h).where(inArray(h.hour, [...hours]))
}

/** Of a period that is not calculated yet. */
const UNCALCULATED = {
  unused: 0n,
  unusedSeats: 0,
  entries: 0,
  unpricedEntries: 0,
  lateEntries: 0,
}

/** Periods that are to be calculated; those that are not known yet are added. */
export async function noteChanges(
  tx: Tx,
  periods: readonly (PeriodKey & { lastDay: string | null; fee: bigint })[],
): Promise<void> {
  const { planPeriods: p } = tx.tables
  for (const portion of portionsOf(periods)) {
    await tx
      .insert(p)
      .values(portion.map((period) => ({ ...period, ...UNCALCULATED, pending: period.fee, changes: 1 })))
      .onConflictDoUpdate({ target: [p.planId, p.firstDay], set: { changes: sql`${p.changes} + 1` } })
  }
}

export async function updatePeriod(tx: Tx, key: PeriodKey, change: Partial<PeriodRecord> | Record<string, SQL>) {
  await tx
    .update(tx.tables.planPeriods)
    .set(change as Partial<PeriodRecord>)
    .where(isPeriod(tx.tables, key))
}

/** A calculation counts from now on, except that changes which it has not seen are left. */
export async function finishBuilding(
  tx: Tx,
  key: PeriodKey,
  seenChanges: number,
  change: Partial<PeriodRecord>,
): Promise<void> {
  const { planPeriods: p } = tx.tables
  const isDone = { changes: sql`${p.changes} - ${seenChanges}`, buildingId: sql`NULL`, buildingUntil: sql`NULL` }
  await updatePeriod(tx, key, { ...(change as Record<string, never>), ...isDone })
}

/** A calculation that is being written ends, because it has not seen a change; the period is calculated anew. */
export async function endBuilding(tx: Tx, key: PeriodKey): Promise<void> {
  const { planPeriods: p } = tx.tables
  await updatePeriod(tx, key, { buildingId: sql`NULL`, buildingUntil: sql`NULL`, changes: sql`${p.changes} + 1` })
}

export async function deletePeriod(tx: Tx, key: PeriodKey): Promise<void> {
  await tx.delete(tx.tables.planPeriods).where(isPeriod(tx.tables, key))
}

export async function insertGeneration(tx: Tx, key: PeriodKey, createdAt: number): Promise<number> {
  const { planGenerations: g } = tx.tables
  const [row] = await tx
    .insert(g)
    .values({ ...key, createdAt })
    .returning({ id: g.id })
  return row!.id
}

export async function deleteGeneration(tx: Tx, id: number): Promise<void> {
  const { planGenerations: g } = tx.tables
  await tx.delete(g).where(eq(g.id, id))
}

/** A generation that no period uses or builds; ids of later ones are higher. */
export async function findOldGeneration(reader: Reader, now: number): Promise<number | undefined> {
  const { planGenerations: g, planPeriods: p } = reader.tables
  const isUsed = sql`EXISTS (SELECT 1 FROM ${p} WHERE ${p.generationId} = ${g.id}
    OR (${p.buildingId} = ${g.id} AND ${p.buildingUntil} > ${now}))`
  const [row] = await reader.select({ id: g.id }).from(g).where(sql`NOT ${isUsed}`).limit(1)
  return row?.id
}

/** Returns whether there were as many. */
export async function deleteShares(tx: Tx, generationId: number, limit: number): Promise<boolean> {
  const { planShares: s } = tx.tables
  const some = tx.select({ id: s.entryId }).from(s).where(eq(s.generationId, generationId)).limit(limit)
  const deleted = await tx
    .delete(s)
    .where(and(eq(s.generationId, generationId), inArray(s.entryId, some)))
    .returning({ id: s.entryId })
  return deleted.length === limit
}

export type ShareRow = Share & { entryId: number }

export async function insertShares(tx: Tx, generationId: number, shares: readonly ShareRow[]): Promise<void> {
  await tx.insertAll(
    tx.tables.planShares,
    shares.map(({ entryId, fee, charge }) => ({ entryId, generationId, fee, charge })),
  )
}

export async function listShares(reader: Reader, generationId: number): Promise<ShareRow[]> {
  const { planShares: s } = reader.tables
  const query = reader
    .select({
      entryId: sql`${s.entryId}`.as('entry'),
      fee: sql`CAST(${s.fee} AS text)`.as('fee'),
      charge: sql`CAST(${s.charge} AS text)`.as('charge'),
    })
    .from(s)
    .where(eq(s.generationId, generationId))
  const rows = await reader.raw<unknown>(query).values()
  return (rows as [number, string, string][]).map(([entryId, fee, charge]) => ({
    entryId,
    fee: BigInt(fee),
    charge: BigInt(charge),
  }))
}

/** An entry that a plan pays for, as the driver returns it. */
export type EntryRow = [
  id: number,
  planId: number,
  meteredShare: number | null,
  uid: Uint8Array,
  managerId: number,
  startedAt: number,
  modelId: number,
  sessionKey: string | null,
  part: number | null,
  reportedCost: string | null,
  listValue: string | null,
  tokens: number,
  requests: number | null,
  activeMs: number | null,
  projectId: number | null,
  ticketId: number | null,
  billId: number | null,
]

/** Entries of a range that these plans pay for and that count, but no corrections, in order of time after a position. */
export async function listPaidEntries(
  reader: Reader,
  { from, to }: Range,
  planIds: readonly number[],
  after: { startedAt: number; id: number },
  limit: number,
): Promise<EntryRow[]> {
  const { entries: e, fundings: f, sessions: s } = reader.tables
  const columns = {
    id: e.id,
    planId: f.planId,
    meteredShare: f.meteredShare,
    uid: e.uid,
    managerId: e.managerId,
    startedAt: e.startedAt,
    modelId: e.modelId,
    sessionKey: s.sessionKey,
    part: e.part,
    reportedCost: sql`CAST(${e.reportedCost} AS text)`,
    listValue: sql`CAST(${e.listValue} AS text)`,
    tokens: sql`${e.input} + ${e.output} + ${e.cacheRead} + ${e.cacheWrite} + ${e.cacheWrite1h}`,
    requests: e.requests,
    activeMs: e.activeMs,
    projectId: e.projectId,
    ticketId: e.ticketId,
    billId: e.billId,
  } satisfies Record<string, SQL | object>
  const named = Object.entries(columns).map(([name, column]) => [name, sql`${column}`.as(`c_${name}`)])
  const query = reader
    .select(Object.fromEntries(named) as Record<string, SQL.Aliased>)
    .from(e)
    .innerJoin(f, eq(f.id, e.fundingId))
    .leftJoin(s, eq(s.id, e.sessionId))
    .where(
      and(
        gte(e.startedAt, Math.max(from, after.startedAt)),
        lt(e.startedAt, to),
        or(gt(e.startedAt, after.startedAt), gt(e.id, after.id)),
        inArray(f.planId, [...planIds]),
        ne(f.reason, 'correction'),
        eq(e.superseded, false),
        notInArray(e.status, [...UNCOUNTED_STATUSES]),
      ),
    )
    .orderBy(asc(e.startedAt), asc(e.id))
    .limit(limit)
  return (await reader.raw(query).values()) as EntryRow[]
}

/** The hours with entries that plans pay for and that count, but no corrections, by plan, in order. */
export async function listPaidHours(reader: Reader): Promise<{ planId: number; hour: number }[]> {
  const { entries: e, fundings: f } = reader.tables
  const hour = sql<number>`${e.startedAt} / ${sql.raw(String(HOUR_MS))}`.mapWith(Number)
  const rows = await reader
    .selectDistinct({ planId: f.planId, hour: hour.as('hour') })
    .from(e)
    .innerJoin(f, eq(f.id, e.fundingId))
    .where(
      and(
        isNotNull(f.planId),
        ne(f.reason, 'correction'),
        eq(e.superseded, false),
        notInArray(e.status, [...UNCOUNTED_STATUSES]),
      ),
    )
    .orderBy(asc(f.planId), sql`hour`)
  return rows.map(({ planId, hour: each }) => ({ planId: planId!, hour: each }))
}

/** Corrections whose entries the plan does not pay for as such, so that they have no amount. */
export async function listUnpaidCorrections(reader: Reader): Promise<number[]> {
  const { entries: e, fundings: f, planCorrections: c } = reader.tables
  const isPaid = and(eq(f.id, e.fundingId), eq(f.planId, c.planId), eq(f.reason, 'correction'))
  const rows = await reader
    .select({ id: c.entryId })
    .from(c)
    .innerJoin(e, eq(e.id, c.entryId))
    .leftJoin(f, isPaid)
    .where(isNull(f.id))
    .orderBy(asc(c.entryId))
  return rows.map(({ id }) => id)
}

/** A correction that counts. */
export interface CorrectionRow extends Share {
  entryId: number
  planId: number
  ofFirstDay: string
  startedAt: number
  managerId: number
  projectId: number | null
  ticketId: number | null
}

export async function listCorrections(reader: Reader, planIds: readonly number[]): Promise<CorrectionRow[]> {
  const { planCorrections: c, entries: e } = reader.tables
  const rows = await reader
    .select({ correction: c, startedAt: e.startedAt })
    .from(c)
    .innerJoin(e, eq(e.id, c.entryId))
    .where(and(inArray(c.planId, [...planIds]), notInArray(e.status, [...UNCOUNTED_STATUSES])))
    .orderBy(asc(c.entryId))
  if (rows.length === 0) return []
  const { projects } = reader.tables
  const merged = new Map(
    (
      await reader
        .select({ id: projects.id, into: projects.mergedIntoId })
        .from(projects)
        .where(isNotNull(projects.mergedIntoId))
    ).map(({ id, into }) => [id, into!]),
  )
  const targetOf = (id: number | null): number | null =>
    id !== null && merged.has(id) ? targetOf(merged.get(id)!) : id
  return rows.map(({ correction, startedAt }) => ({
    ...correction,
    // Where the entries are that it corrects.
    projectId: targetOf(correction.projectId),
    startedAt,
  }))
}

/** The amounts of entries on these bills that were billed by allocated or marginal cost. */
export async function listBilledShares(
  reader: Reader,
  billed: readonly { id: number; billId: number }[],
): Promise<Map<number, { fee: bigint | null; charge: bigint | null }>> {
  const { bills: b, billEntries: be } = reader.tables
  const found = new Map<number, { fee: bigint | null; charge: bigint | null }>()
  const billIds = [...new Set(billed.map(({ billId }) => billId))]
  const freezing = new Set<number>()
  for (const portion of portionsOf(billIds)) {
    const isFreezing = and(
      inArray(b.id, portion),
      inArray(b.basis, ['marginal', 'allocated']),
      ne(b.state, 'void'),
      isNull(b.releasedById),
    )
    for (const { id } of await reader.select({ id: b.id }).from(b).where(isFreezing)) freezing.add(id)
  }
  const ofBills = billed.filter(({ billId }) => freezing.has(billId))
  const billOf = new Map(ofBills.map(({ id, billId }) => [id, billId]))
  for (const portion of portionsOf(ofBills.map(({ id }) => id))) {
    const rows = await reader
      .select({ entryId: be.entryId, billId: be.billId, fee: be.fee, charge: be.charge })
      .from(be)
      .where(inArray(be.entryId, portion))
    for (const { entryId, billId, fee, charge } of rows) {
      if (billOf.get(entryId) === billId) found.set(entryId, { fee, charge })
    }
  }
  return found
}

/** Texts of models and public ids of people, which put entries in an order that is the same in every database. */
export async function listNames(reader: Reader, modelIds: readonly number[]): Promise<Map<number, string>> {
  const { names } = reader.tables
  const found = new Map<number, string>()
  for (const portion of portionsOf(modelIds)) {
    const rows = await reader.select({ id: names.id, text: names.text }).from(names).where(inArray(names.id, portion))
    for (const { id, text } of rows) found.set(id, text)
  }
  return found
}

export async function listPeople(reader: Reader, ids: readonly number[]): Promise<Map<number, string>> {
  const { users } = reader.tables
  const found = new Map<number, string>()
  for (const portion of portionsOf(ids)) {
    const rows = await reader.select({ id: users.id, uid: users.uid }).from(users).where(inArray(users.id, portion))
    for (const { id, uid } of rows) found.set(id, uid)
  }
  return found
}

export async function findTimeZone(reader: Reader): Promise<string> {
  const { organization } = reader.tables
  const [row] = await reader.select({ timeZone: organization.timeZone }).from(organization)
  return row!.timeZone
}

/** Whether there are plans, without which nothing is calculated. */
export async function hasPlans(reader: Reader): Promise<boolean> {
  const { plans } = reader.tables
  const [row] = await reader.select({ last: max(plans.id) }).from(plans)
  return row?.last != null
}
