/** Projects as people see and change them; lookups for reports are in `lookups.ts`. */
import { aliasedTable, and, asc, eq, inArray, isNotNull, isNull, ne, or, type SQL, sql } from 'drizzle-orm'
import { approvedProjects, ledProjects, type Viewer } from '../../../access/visibility.ts'
import type { Reader, Tx } from '../../../database/database.ts'
import type { Tables } from '../../../database/schema/tables.ts'
import type { ProjectNameKind } from '../../../database/schema/values.ts'
import { lowered, pageAfter, pageIn, type SortKeys } from '../../../database/sorting.ts'
import { type Id, isId, newId } from '../../../lib/id.ts'
import { foldName } from '../../../lib/names.ts'
import type { PageRequest } from '../../../schema/query.ts'
import type { PROJECT_SORTS } from '../sorts.ts'
import { type ArchivedFilter, anywhere, archivedCondition } from './clients.ts'
import { listRepositories, replaceRepositories } from './repositories.ts'
import { listResponsible, peopleNamed, type Responsible, replaceResponsible } from './responsible.ts'

type ProjectRecord = Tables['projects']['$inferSelect']

/** A project with related data for people. */
export interface ProjectView {
  project: ProjectRecord
  client: { uid: Id<'cli'>; name: string } | null
  /** In their original spelling, sorted by the folded one. */
  aliases: string[]
  leads: Responsible[]
  /** Who approves its entries without leading it. */
  approvers: Responsible[]
  /** The leads and approvers of its client, who are the same for all of the client's projects. */
  clientLeads: Responsible[]
  clientApprovers: Responsible[]
  /** Values of the label `repository`, sorted. */
  repositories: string[]
  mergedInto: { uid: Id<'prj'>; key: string; name: string } | null
}

/** Several values of one filter match any of them; several filters must all match. */
export interface ProjectFilter {
  /** Text contained in the key, the name or an alias, ignoring case. */
  search?: string | undefined
  /** Ids (`cli_…`) or names, or `none` for projects without a client. */
  clients?: string[] | undefined
  /** Ids (`usr_…`) or e-mail addresses. For members, this matches only projects that they lead themselves. */
  leads?: string[] | undefined
  /** The same for people who may approve the projects' entries. */
  approvers?: string[] | undefined
  archived?: ArchivedFilter | undefined
}

function selectProjects(reader: Reader) {
  const { projects, clients } = reader.tables
  const targets = aliasedTable(projects, 'target')
  return reader
    .select({
      project: projects,
      client: { uid: clients.uid, name: clients.name },
      mergedInto: { uid: targets.uid, key: targets.key, name: targets.name },
    })
    .from(projects)
    .leftJoin(clients, eq(clients.id, projects.clientId))
    .leftJoin(targets, eq(targets.id, projects.mergedIntoId))
}

async function viewsOf(
  reader: Reader,
  rows: Pick<ProjectView, 'project' | 'client' | 'mergedInto'>[],
): Promise<ProjectView[]> {
  if (rows.length === 0) return []
  const { projectNames } = reader.tables
  const ids = rows.map(({ project }) => project.id)
  const names = await reader
    .select({ projectId: projectNames.projectId, text: projectNames.text })
    .from(projectNames)
    .where(and(inArray(projectNames.projectId, ids), eq(projectNames.kind, 'alias')))
    .orderBy(asc(projectNames.folded))
  const clientIds = [...new Set(rows.flatMap(({ project }) => project.clientId ?? []))]
  const leadsOf = await listResponsible(reader, 'projectLeads', ids)
  const approversOf = await listResponsible(reader, 'projectApprovers', ids)
  const leadsOfClient = await listResponsible(reader, 'clientLeads', clientIds)
  const approversOfClient = await listResponsible(reader, 'clientApprovers', clientIds)
  const repositoriesOf = await listRepositories(reader, ids)
  const aliasesOf = Map.groupBy(names, ({ projectId }) => projectId)
  return rows.map((row) => ({
    ...row,
    aliases: (aliasesOf.get(row.project.id) ?? []).map(({ text }) => text),
    leads: leadsOf.get(row.project.id) ?? [],
    approvers: approversOf.get(row.project.id) ?? [],
    clientLeads: leadsOfClient.get(row.project.clientId ?? -1) ?? [],
    clientApprovers: approversOfClient.get(row.project.clientId ?? -1) ?? [],
    repositories: repositoriesOf.get(row.project.id) ?? [],
  }))
}

export async function findProjectView(
  reader: Reader,
  by: { id: number } | { uid: Id<'prj'> },
): Promise<ProjectView | undefined> {
  const { projects } = reader.tables
  const condition = 'uid' in by ? eq(projects.uid, by.uid) : eq(projects.id, by.id)
  return (await viewsOf(reader, await selectProjects(reader).where(condition).limit(1)))[0]
}

/** Projects that were merged into this one, whose keys and names are now its aliases. */
export async function listMergedInto(reader: Reader, id: number): Promise<ProjectView[]> {
  const { projects } = reader.tables
  return viewsOf(reader, await selectProjects(reader).where(eq(projects.mergedIntoId, id)).orderBy(asc(projects.id)))
}

const PROJECT_KEYS: SortKeys<typeof PROJECT_SORTS, ProjectView> = {
  key: { sql: ({ projects }) => sql`lower(${projects.key})`, of: ({ project }) => lowered(project.key) },
  name: { sql: ({ projects }) => sql`lower(${projects.name})`, of: ({ project }) => lowered(project.name) },
  client: { sql: ({ clients }) => sql`lower(${clients.name})`, of: ({ client }) => client && lowered(client.name) },
  created_at: { sql: ({ projects }) => projects.createdAt, of: ({ project }) => project.createdAt },
}

/** The token of the page that follows this row. */
export const pageAfterProject = (view: ProjectView, by: PageRequest<keyof typeof PROJECT_SORTS>['by']): string =>
  pageAfter(PROJECT_KEYS, by, view, view.project.id)

/** Newest first, unless the page has another order. */
export async function listProjectViews(
  reader: Reader,
  viewer: Viewer,
  filter: ProjectFilter,
  { limit, ...page }: PageRequest<keyof typeof PROJECT_SORTS>,
): Promise<ProjectView[]> {
  const { projects } = reader.tables
  const { behind, order } = pageIn(reader, projects.id, page, PROJECT_KEYS)
  const rows = await selectProjects(reader)
    .where(and(conditionOf(reader, viewer, filter), behind))
    .orderBy(...order)
    .limit(limit)
  return viewsOf(reader, rows)
}

function conditionOf(
  reader: Reader,
  viewer: Viewer,
  { search, clients: named, leads, approvers, archived }: ProjectFilter,
): SQL | undefined {
  const { projects, projectNames, clients } = reader.tables
  return and(
    search === undefined
      ? undefined
      : or(
          inArray(
            projects.id,
            reader
              .select({ id: projectNames.projectId })
              .from(projectNames)
              .where(sql`${projectNames.folded} LIKE ${anywhere(search)} ESCAPE '!'`),
          ),
          // Merged projects have passed on their names.
          sql`lower(${projects.key}) LIKE ${anywhere(search)} ESCAPE '!'`,
        ),
    named &&
      or(
        named.includes('none') ? sql`${projects.clientId} IS NULL` : undefined,
        inArray(
          projects.clientId,
          reader
            .select({ id: clients.id })
            .from(clients)
            .where(
              or(
                inArray(clients.uid, named.filter((text) => isId('cli', text)) as Id<'cli'>[]),
                inArray(clients.nameFolded, named.map(foldName)),
              ),
            ),
        ),
      ),
    leads &&
      and(
        inArray(projects.id, ledProjects(reader, peopleNamed(reader, leads))),
        viewer.sees === 'everything' ? undefined : inArray(projects.id, ledProjects(reader, [viewer.userId])),
      ),
    approvers &&
      and(
        inArray(projects.id, approvedProjects(reader, peopleNamed(reader, approvers))),
        viewer.sees === 'everything' ? undefined : inArray(projects.id, approvedProjects(reader, viewer.decidesFor)),
      ),
    archivedCondition(projects.archivedAt, archived),
  )
}

/** Adds a project without names: `replaceNames` follows in the same transaction. */
export async function insertProjectRecord(
  tx: Tx,
  project: Pick<ProjectRecord, 'key' | 'name'> & ProjectChange,
  now: number,
): Promise<number> {
  const { projects } = tx.tables
  const [row] = await tx
    .insert(projects)
    .values({ ...project, uid: newId('prj'), createdAt: now })
    .returning({ id: projects.id })
  return row!.id
}

export type ProjectChange = Partial<Omit<ProjectRecord, 'id' | 'uid' | 'createdAt'>>

/**
 * Writes the row even if none of its columns change: the names and the people of a project are in other tables, and two
 * simultaneous changes of these must meet in one row.
 */
export async function updateProject(tx: Tx, id: number, change: ProjectChange): Promise<void> {
  const { projects } = tx.tables
  await tx
    .update(projects)
    .set({ createdAt: sql`${projects.createdAt}`, ...change })
    .where(eq(projects.id, id))
}

export interface ProjectName {
  folded: string
  text: string
  kind: ProjectNameKind
}

/** Replaces the names by which a project is found. Returns those that belong to another project, if there are any. */
export async function replaceNames(tx: Tx, projectId: number, names: ProjectName[]): Promise<ProjectName[]> {
  const { projectNames } = tx.tables
  await tx.delete(projectNames).where(eq(projectNames.projectId, projectId))
  const taken = await tx
    .insert(projectNames)
    .values(names.map((name) => ({ ...name, projectId })))
    .onConflictDoNothing()
    .returning({ folded: projectNames.folded })
  return names.filter(({ folded }) => !taken.some((row) => row.folded === folded))
}

/** Redirects all names of one project to another, and also the projects that were merged into it, and its trusts. */
export async function redirectNames(tx: Tx, fromId: number, toId: number): Promise<void> {
  const { projectNames, projects, trusts } = tx.tables
  await tx.update(trusts).set({ projectId: toId }).where(eq(trusts.projectId, fromId))
  await tx.update(projectNames).set({ projectId: toId, kind: 'alias' }).where(eq(projectNames.projectId, fromId))
  await tx.update(projects).set({ mergedIntoId: toId }).where(eq(projects.mergedIntoId, fromId))
}

/**
 * Waits for transactions that are about to place something on the project, and makes later ones read it again:
 * PostgreSQL lets rows refer to a project while it is updated, but not while its public id is changed, so it is changed
 * and changed back. On SQLite, which has a single writer, these are two small updates.
 */
export async function holdProject(tx: Tx, { id, uid }: Pick<ProjectRecord, 'id' | 'uid'>): Promise<void> {
  const { projects } = tx.tables
  await tx
    .update(projects)
    .set({ uid: newId('prj') })
    .where(eq(projects.id, id))
  await tx.update(projects).set({ uid }).where(eq(projects.id, id))
}

/** The objects that refer to a project, for the error message. */
export async function usesOfProject(reader: Reader, id: number): Promise<string[]> {
  const {
    entries,
    tickets,
    placementRuleVersions: rules,
    projects,
    bills,
    webhookEndpoints: webhooks,
    trusts,
  } = reader.tables
  const { ruleProposals: proposals, planCorrections: corrections } = reader.tables
  const anyOf = async (query: Promise<unknown[]>, what: string) => ((await query).length > 0 ? [what] : [])
  type Referring = Tables[
    | 'entries'
    | 'tickets'
    | 'placementRuleVersions'
    | 'ruleProposals'
    | 'projects'
    | 'bills'
    | 'webhookEndpoints'
    | 'trusts']
  const one = (from: Referring, condition: SQL) => reader.select({ id: from.id }).from(from).where(condition).limit(1)
  return [
    ...(await anyOf(one(entries, eq(entries.projectId, id)), 'entries')),
    ...(await anyOf(one(tickets, eq(tickets.projectId, id)), 'tickets')),
    ...(await anyOf(one(rules, eq(rules.projectId, id)), 'placement rules')),
    ...(await anyOf(one(proposals, eq(proposals.projectId, id)), 'proposed rules')),
    ...(await anyOf(one(bills, eq(bills.projectId, id)), 'bills')),
    ...(await anyOf(one(webhooks, eq(webhooks.projectId, id)), 'webhooks')),
    ...(await anyOf(one(trusts, and(eq(trusts.projectId, id), isNull(trusts.removedAt))!), 'trusts')),
    ...(await anyOf(one(projects, eq(projects.mergedIntoId, id)), 'merged projects')),
    ...(await anyOf(
      reader.select({ id: corrections.entryId }).from(corrections).where(eq(corrections.projectId, id)).limit(1),
      'corrections of plans',
    )),
  ]
}

/** Project names in reports of other people that did not resolve to a project. */
export async function listNamedByOthers(reader: Reader, userId: number): Promise<string[]> {
  const { entries } = reader.tables
  const rows = await reader
    .selectDistinct({ name: entries.namedProject })
    .from(entries)
    .where(and(isNotNull(entries.namedProject), ne(entries.managerId, userId)))
  return rows.map(({ name }) => name!)
}

/**
 * Deletes an unreferenced project, with its names, its leads, its grants, its removed trusts and the assumptions of reports.
 * The revoked tokens of those trusts stay, since entries that were moved elsewhere may refer to them.
 */
export async function deleteProject(tx: Tx, id: number): Promise<void> {
  const { projects, projectNames, ticketAssumptions, tokens, trusts, viewerGrants } = tx.tables
  const removed = tx.select({ id: trusts.id }).from(trusts).where(eq(trusts.projectId, id))
  await tx.update(tokens).set({ trustId: null }).where(inArray(tokens.trustId, removed))
  await tx.delete(trusts).where(eq(trusts.projectId, id))
  await tx.update(ticketAssumptions).set({ projectId: null }).where(eq(ticketAssumptions.projectId, id))
  await tx.delete(projectNames).where(eq(projectNames.projectId, id))
  await replaceResponsible(tx, 'projectLeads', id, [])
  await replaceResponsible(tx, 'projectApprovers', id, [])
  await replaceRepositories(tx, id, [])
  await tx.delete(viewerGrants).where(eq(viewerGrants.projectId, id))
  await tx.delete(projects).where(eq(projects.id, id))
}
