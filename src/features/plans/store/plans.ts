/** The tables of plans. */
import { and, asc, eq, inArray, or } from 'drizzle-orm'
import type { Reader, Tx } from '../../../database/database.ts'
import { type Id, isId, newId } from '../../../lib/id.ts'
import { foldName } from '../../../lib/names.ts'
import type { Holding, PlanFields } from '../request.ts'

/** A plan with its people. */
export interface PlanView extends PlanFields {
  id: number
  uid: Id<'pln'>
  createdAt: number
  holders: (Holding & { uid: Id<'usr'>; name: string; email: string })[]
}

/** All plans, or those with these keys, the oldest first. */
export async function listPlans(reader: Reader, ids?: readonly number[]): Promise<PlanView[]> {
  const { plans, planHolders: holders, planVersions: versions, users } = reader.tables
  const rows = await reader
    .select()
    .from(plans)
    .where(ids && inArray(plans.id, [...ids]))
    .orderBy(asc(plans.id))
  const held = await reader
    .select({ holding: holders, uid: users.uid, name: users.name, email: users.email })
    .from(holders)
    .innerJoin(users, eq(users.id, holders.userId))
    .where(ids && inArray(holders.planId, [...ids]))
    .orderBy(asc(holders.userId), asc(holders.fromDay))
  const terms = await reader
    .select()
    .from(versions)
    .where(ids && inArray(versions.planId, [...ids]))
    .orderBy(asc(versions.fromDay))
  const heldOf = Map.groupBy(held, ({ holding }) => holding.planId)
  const termsOf = Map.groupBy(terms, ({ planId }) => planId)
  return rows.map((plan) => ({
    ...plan,
    holders: (heldOf.get(plan.id) ?? []).map(({ holding, ...person }) => ({ ...holdingOf(holding), ...person })),
    versions: (termsOf.get(plan.id) ?? []).map(({ planId: _, ...version }) => version),
  }))
}

/** By id or name. */
export async function findPlan(reader: Reader, text: string): Promise<PlanView | undefined> {
  const found = (await listNames(reader)).find(({ uid, name }) => uid === text || foldName(name) === foldName(text))
  return found && (await listPlans(reader, [found.id]))[0]
}

export type NamedPlan = Pick<PlanView, 'id' | 'uid' | 'name'>

export function listNames(reader: Reader): Promise<NamedPlan[]> {
  const { plans } = reader.tables
  return reader.select({ id: plans.id, uid: plans.uid, name: plans.name }).from(plans)
}

export async function insertPlan(tx: Tx, plan: PlanFields, createdAt: number): Promise<Id<'pln'>> {
  const { versions: _, holders: __, ...columns } = plan
  const uid = newId('pln')
  const [row] = await tx
    .insert(tx.tables.plans)
    .values({ uid, ...columns, createdAt })
    .returning({ id: tx.tables.plans.id })
  await writeParts(tx, row!.id, { holders: [], versions: [] }, plan)
  return uid
}

export async function updatePlan(tx: Tx, before: PlanView, plan: PlanFields): Promise<void> {
  const { plans } = tx.tables
  const { name, vendor, product, holder, vendorCodes, note, endsOn, endProrates } = plan
  const columns = { name, vendor, product, holder, vendorCodes, note, endsOn, endProrates }
  await tx.update(plans).set(columns).where(eq(plans.id, before.id))
  await writeParts(tx, before.id, before, plan)
}

type Parts = Pick<PlanFields, 'holders' | 'versions'>

/** Writes only rows that differ, because each of them owes that entries are decided again. */
async function writeParts(tx: Tx, planId: number, before: Parts, after: Parts): Promise<void> {
  const { planHolders: holders, planVersions: versions } = tx.tables
  const held = difference(before.holders.map(holdingOf), after.holders.map(holdingOf))
  for (const { userId, fromDay } of held.removed) {
    await tx
      .delete(holders)
      .where(and(eq(holders.planId, planId), eq(holders.userId, userId), eq(holders.fromDay, fromDay)))
  }
  if (held.added.length > 0) await tx.insert(holders).values(held.added.map((holder) => ({ planId, ...holder })))
  const terms = difference(before.versions, after.versions)
  for (const { fromDay } of terms.removed) {
    await tx.delete(versions).where(and(eq(versions.planId, planId), eq(versions.fromDay, fromDay)))
  }
  if (terms.added.length > 0) await tx.insert(versions).values(terms.added.map((version) => ({ planId, ...version })))
}

const holdingOf = ({ userId, fromDay, toDay }: Holding): Holding => ({ userId, fromDay, toDay })

function difference<Row>(before: readonly Row[], after: readonly Row[]): { removed: Row[]; added: Row[] } {
  const textOf = (row: Row) =>
    JSON.stringify(Object.entries(row as object).sort(), (_, value) => (typeof value === 'bigint' ? `${value}` : value))
  const [was, is] = [before, after].map((rows) => new Set(rows.map(textOf)))
  return {
    removed: before.filter((row) => !is!.has(textOf(row))),
    added: after.filter((row) => !was!.has(textOf(row))),
  }
}

/** The keys of people by their ids and e-mail addresses, in the order of these; undefined for those who do not exist. */
export async function findPeople(reader: Reader, people: readonly string[]): Promise<(number | undefined)[]> {
  if (people.length === 0) return []
  const { users } = reader.tables
  const ids = people.filter((text) => isId('usr', text)) as Id<'usr'>[]
  const rows = await reader
    .select({ id: users.id, uid: users.uid, email: users.email })
    .from(users)
    .where(or(inArray(users.uid, ids), inArray(users.email, people.map(foldName))))
  const keys = new Map(
    rows.flatMap(({ id, uid, email }): [string, number][] => [
      [uid, id],
      [email, id],
    ]),
  )
  return people.map((text) => keys.get(text) ?? keys.get(foldName(text)))
}
