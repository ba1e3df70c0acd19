/** The table `viewer_grants`: what each viewer sees. */
import { and, asc, eq, isNotNull, type SQL } from 'drizzle-orm'
import type { Reader, Tx } from '../../../database/database.ts'
import type { SharedMoney } from '../../../database/schema/values.ts'
import type { Id } from '../../../lib/id.ts'

/** The client, with all of its projects, or the project that a grant is about. */
export type GrantTarget = { clientId: number } | { projectId: number }

/** How much of its target a grant shows. */
export interface GrantExtent {
  money: SharedMoney
  showsPeople: boolean
  showsBills: boolean
}

export interface Grant extends GrantExtent {
  id: number
  client: { id: number; uid: Id<'cli'>; name: string } | null
  project: { id: number; uid: Id<'prj'>; key: string; name: string } | null
  createdAt: number
}

function selectGrants(reader: Reader, condition: SQL | undefined) {
  const { viewerGrants, clients, projects } = reader.tables
  return reader
    .select({
      id: viewerGrants.id,
      money: viewerGrants.money,
      showsPeople: viewerGrants.showsPeople,
      showsBills: viewerGrants.showsBills,
      createdAt: viewerGrants.createdAt,
      client: { id: clients.id, uid: clients.uid, name: clients.name },
      project: { id: projects.id, uid: projects.uid, key: projects.key, name: projects.name },
    })
    .from(viewerGrants)
    .leftJoin(clients, eq(clients.id, viewerGrants.clientId))
    .leftJoin(projects, eq(projects.id, viewerGrants.projectId))
    .where(condition)
}

const isOf = ({ tables: { viewerGrants } }: Reader, target: GrantTarget) =>
  'clientId' in target ? eq(viewerGrants.clientId, target.clientId) : eq(viewerGrants.projectId, target.projectId)

/** Those of clients first, then by name. */
export async function listGrants(reader: Reader, userId: number): Promise<Grant[]> {
  const { viewerGrants, clients, projects } = reader.tables
  const ofUser = eq(viewerGrants.userId, userId)
  return [
    ...(await selectGrants(reader, and(ofUser, isNotNull(viewerGrants.clientId))).orderBy(asc(clients.nameFolded))),
    ...(await selectGrants(reader, and(ofUser, isNotNull(viewerGrants.projectId))).orderBy(
      asc(projects.name),
      asc(projects.id),
    )),
  ]
}

export async function findGrant(reader: Reader, userId: number, target: GrantTarget): Promise<Grant | undefined> {
  const [found] = await selectGrants(
    reader,
    and(eq(reader.tables.viewerGrants.userId, userId), isOf(reader, target)),
  ).limit(1)
  return found
}

export async function insertGrant(
  tx: Tx,
  userId: number,
  target: GrantTarget,
  grant: GrantExtent & { createdAt: number },
): Promise<void> {
  await tx.insert(tx.tables.viewerGrants).values({ clientId: null, projectId: null, userId, ...target, ...grant })
}

export async function updateGrant(tx: Tx, id: number, extent: GrantExtent): Promise<void> {
  const { viewerGrants } = tx.tables
  await tx.update(viewerGrants).set(extent).where(eq(viewerGrants.id, id))
}

export async function deleteGrant(tx: Tx, id: number): Promise<void> {
  const { viewerGrants } = tx.tables
  await tx.delete(viewerGrants).where(eq(viewerGrants.id, id))
}

export async function deleteGrantsOf(tx: Tx, userId: number): Promise<void> {
  const { viewerGrants } = tx.tables
  await tx.delete(viewerGrants).where(eq(viewerGrants.userId, userId))
}
