/**
 * Decides who can see which entries; nothing else does. Every query of entries, or of sums of entries, requires a
 * `Viewer`, which only this file creates, and adds `visibleEntries` to its condition.
 */
import { type AnyColumn, and, eq, inArray, isNotNull, isNull, ne, or, type SQL, type SQLWrapper } from 'drizzle-orm'
import type { Reader } from '../database/database.ts'
import type { Tables } from '../database/schema/tables.ts'
import { type Role, type SheetStatus, type Source, type Status, seesEverything } from '../database/schema/values.ts'

declare const decided: unique symbol

/**
 * Sees everything, or a person's own entries, those of the projects that they lead at the time of the query, and the
 * unattributed ones of these projects' repositories ({@link ledLabelSets}). To approve, members also see what these people may decide: themselves first, then those whose deputy they are. Somebody
 * with the role viewer sees the entries of these projects, and otherwise none: no key of a person is 0.
 */
export type Viewer = (
  | { sees: 'everything' }
  | { sees: 'own_and_led'; userId: number; decidesFor: readonly number[] }
  | { sees: 'granted'; userId: 0; decidesFor: readonly number[]; projectIds: readonly number[] }
) & {
  /** Of an API token without the scope `plans:read`. */
  withoutFees?: true
  [decided]: true
}

/** The viewer of the command line, which has access to everything. */
export const EVERYTHING = { sees: 'everything' } as Viewer

/** The statuses in which approvers see entries of others: those that they can decide, or whose approval they can withdraw. */
const DECIDABLE: Status[] = ['submitted', 'pending', 'approved', 'rejected', 'voided']
const DECIDABLE_SHEETS: SheetStatus[] = ['submitted', 'approved']

/** The label whose value identifies the repository that an entry worked on. */
const REPOSITORY_LABEL = 'repository'

/** Entries made by hand reach nobody by their labels: they are shown with their sheet, which people submit. */
const ON_SHEET: Source = 'sheet'

interface Person {
  id: number
  role: Role
}

/** What a person can see because of their role (docs/design/concepts.md, "Roles"), also with a token. */
export function viewerOf({ id, role }: Person): Viewer {
  if (seesEverything(role)) return EVERYTHING
  if (role === 'viewer') return grantedViewer([])
  return { sees: 'own_and_led', userId: id, decidesFor: [] } as unknown as Viewer
}

/** The same viewer, who does not see what plans cost. */
export function withoutFees(viewer: Viewer): Viewer {
  return { ...viewer, withoutFees: true }
}

/** Who sees the entries of these projects only. Which ones were granted to somebody is for `features/viewers` to say. */
export function grantedViewer(projectIds: readonly number[]): Viewer {
  return { sees: 'granted', userId: 0, decidesFor: [], projectIds } as unknown as Viewer
}

/**
 * The same, with the entries that the person may approve: in lists of entries and sheets, and in decisions about them.
 * Everything else, such as reports and placing, takes {@link viewerOf}.
 */
export function approvalViewerOf({ id, role, actsFor = [] }: Person & { actsFor?: readonly { id: number }[] }): Viewer {
  if (role !== 'member') return viewerOf({ id, role })
  const decidesFor = [id, ...actsFor.map((person) => person.id)]
  return { sees: 'own_and_led', userId: id, decidesFor } as unknown as Viewer
}

/** Rules may name people and clients, so only those who see everything read them. */
export const readsRules = ({ sees }: Viewer): boolean => sees === 'everything'

/** The condition on `limitReadings`: people see their own, and who sees everything those of everyone. */
export function visibleLimits(reader: Reader, viewer: Viewer): SQL | undefined {
  return viewer.sees === 'everything' ? undefined : eq(reader.tables.limitReadings.userId, viewer.userId)
}

/** What is recorded about a change, without the name of the rule that made it for those who do not read rules. */
export function detailsFor<Details extends Record<string, unknown> | undefined>(
  viewer: Viewer,
  details: Details,
): Details {
  if (readsRules(viewer) || typeof details?.rule !== 'object' || details.rule === null) return details
  const { name: _, ...rule } = details.rule as Record<string, unknown>
  return { ...details, rule }
}

/**
 * The condition that limits `entries` to those visible to the viewer; undefined if they can see all of them. The
 * alternative of repositories is only there for whom it lets anything through: with it, no index gives the entries of
 * somebody in the order of time.
 */
export async function visibleEntries(reader: Reader, viewer: Viewer): Promise<SQL | undefined> {
  if (viewer.sees === 'everything') return undefined
  const { entries } = reader.tables
  if (viewer.sees === 'granted') return inArray(entries.projectId, [...viewer.projectIds])
  return or(
    eq(entries.managerId, viewer.userId),
    inArray(entries.projectId, ledProjects(reader, [viewer.userId])),
    (await leadsRepository(reader, viewer.userId)) ? isUnattributedOf(reader, viewer.userId) : undefined,
    viewer.decidesFor.length === 0
      ? undefined
      : and(
          inArray(entries.status, DECIDABLE),
          inArray(entries.projectId, approvedProjects(reader, viewer.decidesFor)),
        ),
  )
}

/**
 * The same condition as separate alternatives: with an index on the manager or the project, each can be read in time
 * order, but not the combined condition.
 */
export async function visibleParts(reader: Reader, viewer: Viewer): Promise<(SQL | undefined)[]> {
  if (viewer.sees === 'everything') return [undefined]
  const { entries } = reader.tables
  if (viewer.sees === 'granted') return [await visibleEntries(reader, viewer)]
  const { ledIds, approvedIds } = await projectsSeenBy(reader, viewer)
  const isLeading = ledIds.length > 0 && (await leadsRepository(reader, viewer.userId))
  return [
    eq(entries.managerId, viewer.userId),
    ...ledIds.map((id) => eq(entries.projectId, id)),
    ...(isLeading ? [isUnattributedOf(reader, viewer.userId)] : []),
    ...approvedIds.map((id) => and(eq(entries.projectId, id), inArray(entries.status, DECIDABLE))),
  ]
}

/** Unattributed entries of repositories that the person leads, in the order of an index of unattributed entries. */
function isUnattributedOf(reader: Reader, userId: number): SQL | undefined {
  const { entries } = reader.tables
  const isOfLabels = inArray(entries.labelSetId, ledLabelSets(reader, userId))
  return and(reachesByLabels(reader), isOfLabels)
}

/** The condition on `entries` for those that leads see because of their labels. */
export function reachesByLabels(reader: Reader): SQL {
  const { entries } = reader.tables
  return and(isNull(entries.placedBy), ne(entries.source, ON_SHEET))!
}

/**
 * Of some sets of labels, those whose unattributed entries the viewer sees because of a project that they lead.
 * @param labelSetIds no more than a statement can have parameters
 */
export async function visibleLabelSets(
  reader: Reader,
  viewer: Viewer,
  labelSetIds: readonly number[],
): Promise<number[]> {
  if (viewer.sees !== 'own_and_led' || !(await leadsRepository(reader, viewer.userId))) return []
  const { labelPairs } = reader.tables
  const rows = await reader
    .selectDistinct({ id: labelPairs.labelSetId })
    .from(labelPairs)
    .where(
      and(
        inArray(labelPairs.labelSetId, [...labelSetIds]),
        inArray(labelPairs.labelSetId, ledLabelSets(reader, viewer.userId)),
      ),
    )
  return rows.map(({ id }) => id)
}

/**
 * The keys of sets of labels that name a repository of a project that the person leads. Only billing and admins decide
 * which repositories a project has: if entries that were placed there made them so, a lead could draw everyone's
 * entries into their sight by placing some of their own.
 */
function ledLabelSets(reader: Reader, userId: number) {
  const { labelPairs } = reader.tables
  return reader
    .select({ id: labelPairs.labelSetId })
    .from(labelPairs)
    .where(and(eq(labelPairs.name, REPOSITORY_LABEL), inArray(labelPairs.value, ledRepositories(reader, userId))))
}

function ledRepositories(reader: Reader, userId: number) {
  const { projectRepositories, projects } = reader.tables
  return reader
    .select({ repository: projectRepositories.repository })
    .from(projectRepositories)
    .innerJoin(projects, eq(projects.id, projectRepositories.projectId))
    .where(and(isNull(projects.archivedAt), inArray(projectRepositories.projectId, ledProjects(reader, [userId]))))
}

async function leadsRepository(reader: Reader, userId: number): Promise<boolean> {
  return (await ledRepositories(reader, userId).limit(1)).length > 0
}

/** Whose entries a viewer sees, and of which projects. */
export interface VisibleProjects {
  managerId: number
  /** Projects that the viewer leads or that were granted to them, whose entries are all visible. */
  ledIds: number[]
  /** Other projects, whose entries are visible in one of the statuses. */
  approvedIds: number[]
  statuses: readonly Status[]
}

export interface VisibleKeys extends VisibleProjects {
  /** Sets of labels whose unattributed entries are visible, unless their source is one of `exceptSources`. */
  labelSetIds: number[]
  exceptSources: readonly Source[]
}

/** The same condition for entries in columns; undefined if the viewer can see all of them. */
export async function visibleKeys(reader: Reader, viewer: Viewer): Promise<VisibleKeys | undefined> {
  const projects = await visibleProjects(reader, viewer)
  if (!projects || viewer.sees === 'everything') return undefined
  const isLeading = viewer.sees === 'own_and_led' && projects.ledIds.length > 0
  const labelSets = isLeading ? await ledLabelSets(reader, viewer.userId) : []
  return { ...projects, labelSetIds: [...new Set(labelSets.map(({ id }) => id))], exceptSources: [ON_SHEET] }
}

/** The part of it that does not grow with the entries: what unattributed ones are visible is left out. */
export async function visibleProjects(reader: Reader, viewer: Viewer): Promise<VisibleProjects | undefined> {
  if (viewer.sees === 'everything') return undefined
  const projects =
    viewer.sees === 'granted'
      ? { ledIds: [...viewer.projectIds], approvedIds: [] }
      : await projectsSeenBy(reader, viewer)
  return { managerId: viewer.userId, ...projects, statuses: DECIDABLE }
}

/** The projects that the viewer leads, and the others whose entries they may decide about. */
async function projectsSeenBy(
  reader: Reader,
  { userId, decidesFor }: Extract<Viewer, { sees: 'own_and_led' }>,
): Promise<Pick<VisibleProjects, 'ledIds' | 'approvedIds'>> {
  const led = new Set((await ledProjects(reader, [userId])).map(({ id }) => id))
  const approved =
    decidesFor.length === 0 ? led : new Set((await approvedProjects(reader, decidesFor)).map(({ id }) => id))
  return { ledIds: [...led], approvedIds: [...approved.difference(led)] }
}

/**
 * The condition on `sheets`: people see their own, and those with an entry of a project that they lead or, once they
 * are submitted, may approve. Of the entries on a sheet they see those that {@link visibleEntries} allows.
 */
export function visibleSheets(reader: Reader, viewer: Viewer): SQL | undefined {
  if (viewer.sees === 'everything') return undefined
  const { entries, sheets } = reader.tables
  const withEntryOf = (projects: ReturnType<typeof ledProjects>) =>
    inArray(
      sheets.id,
      reader
        .select({ id: entries.sheetId })
        .from(entries)
        .where(and(isNotNull(entries.sheetId), inArray(entries.projectId, projects))),
    )
  return or(
    eq(sheets.managerId, viewer.userId),
    withEntryOf(ledProjects(reader, [viewer.userId])),
    viewer.decidesFor.length === 0
      ? undefined
      : and(inArray(sheets.status, DECIDABLE_SHEETS), withEntryOf(approvedProjects(reader, viewer.decidesFor))),
  )
}

/** Keys of people, or a query for them. */
type People = readonly number[] | SQLWrapper

/** The keys of the projects that one of these people leads, by themselves or with their client. */
export function ledProjects(reader: Reader, people: People) {
  const { projectLeads, clientLeads } = reader.tables
  return projectsOf(reader, people, { ofProjects: [projectLeads], ofClients: [clientLeads] })
}

/** The keys of the projects whose entries one of these people may approve without a role: as lead, or as approver. */
export function approvedProjects(reader: Reader, people: People) {
  const { projectLeads, projectApprovers, clientLeads, clientApprovers } = reader.tables
  return projectsOf(reader, people, {
    ofProjects: [projectLeads, projectApprovers],
    ofClients: [clientLeads, clientApprovers],
  })
}

interface Responsibilities {
  ofProjects: Tables['projectLeads' | 'projectApprovers'][]
  ofClients: Tables['clientLeads' | 'clientApprovers'][]
}

function projectsOf(reader: Reader, people: People, { ofProjects, ofClients }: Responsibilities) {
  const { projects } = reader.tables
  const isOneOf = (column: Parameters<typeof inArray>[0]) => inArray(column, people as SQLWrapper)
  return reader
    .select({ id: projects.id })
    .from(projects)
    .where(
      or(
        ...ofProjects.map((table) =>
          inArray(projects.id, reader.select({ id: table.projectId }).from(table).where(isOneOf(table.userId))),
        ),
        ...ofClients.map((table) =>
          inArray(projects.clientId, reader.select({ id: table.clientId }).from(table).where(isOneOf(table.userId))),
        ),
      ),
    )
}

/** A person, and the projects whose entries they may approve without a role. */
export interface Approver {
  userId: number
  projectIds: ReadonlySet<number>
}

/** The viewer, if they are a member, and those whose deputy they are. */
export async function approversOf(reader: Reader, viewer: Viewer): Promise<Approver[]> {
  if (viewer.sees === 'everything') return []
  const found: Approver[] = []
  for (const userId of viewer.decidesFor) {
    found.push({ userId, projectIds: new Set((await approvedProjects(reader, [userId])).map(({ id }) => id)) })
  }
  return found
}

/**
 * Whose right decides, by itself or together with the first one's: in all projects, or in those that these people may
 * approve. Nobody approves what is their own, nor does their deputy.
 */
export interface PendingScope {
  /** Undefined if approving one's own entries is allowed. */
  notOf: number | undefined
  /** Undefined for all projects. */
  approverIds: readonly number[] | undefined
}

/** The condition on the owner and the projects of what waits for someone's approval. */
export function isApprovable(
  { notOf, approverIds }: PendingScope,
  { ownerId, isWithin }: { ownerId: AnyColumn; isWithin: (approverIds: readonly number[]) => SQL | undefined },
): SQL | undefined {
  const byRight = approverIds?.map((id) => and(isWithin([approverIds[0]!, id]), ne(ownerId, id)))
  return and(notOf === undefined ? undefined : ne(ownerId, notOf), byRight && or(...byRight))
}

/**
 * Who sees what plans cost, and so the shares of their fees in the cost of entries: who sees everything, and leads if the
 * organization allows it, as far as they see entries. An API token also needs the scope `plans:read`.
 */
export async function seesFees(
  reader: Reader,
  viewer: Viewer,
  { leadsSeeFees }: { leadsSeeFees: boolean },
): Promise<boolean> {
  if (viewer.withoutFees) return false
  if (viewer.sees !== 'own_and_led') return viewer.sees === 'everything'
  return leadsSeeFees && (await ledProjects(reader, [viewer.userId]).limit(1)).length > 0
}

/** The condition on `entry_changes` for deleted entries that were visible to the viewer. */
export function visibleDeletions(reader: Reader, viewer: Viewer): SQL | undefined {
  const { entryChanges } = reader.tables
  return and(isNotNull(entryChanges.deletedUid), visibleByKeys(reader, viewer, entryChanges))
}

/**
 * The condition on what has the key of a person or of a project instead of an entry; undefined for a viewer who sees
 * everything.
 */
export function visibleByKeys(
  reader: Reader,
  viewer: Viewer,
  { managerId, projectId }: { managerId?: AnyColumn; projectId: AnyColumn },
): SQL | undefined {
  if (viewer.sees === 'everything') return undefined
  return or(managerId && eq(managerId, viewer.userId), inArray(projectId, ledProjects(reader, [viewer.userId])))
}
