/** Everything that names a person or that they wrote, besides entries. */
import { aliasedTable, and, asc, eq, gt, inArray, isNotNull, or, type SQL, sql } from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import type { Reader } from '../../database/database.ts'
import { keyRanges } from '../../database/key-ranges.ts'
import { containing } from '../../database/search-pattern.ts'
import type { Id } from '../../lib/id.ts'
import { foldName } from '../../lib/names.ts'

export interface Subject {
  id: number
  uid: Id<'usr'>
  /** Folded. */
  email: string
}

/** The rows of a table without an index for the condition, oldest first. */
async function* inRanges<Row>(
  reader: Reader,
  { table, id }: { table: PgTable; id: PgColumn },
  list: (range: SQL) => Promise<Row[]>,
): AsyncGenerator<Row> {
  for await (const { range } of keyRanges(reader, table, id)) yield* await list(range)
}

export function listSignIns(reader: Reader, { id }: Subject) {
  const { signIns } = reader.tables
  return reader.select().from(signIns).where(eq(signIns.userId, id)).orderBy(asc(signIns.id))
}

export function listTokens(reader: Reader, { id }: Subject) {
  const { tokens } = reader.tables
  return reader.select().from(tokens).where(eq(tokens.createdBy, id)).orderBy(asc(tokens.id))
}

/** What a viewer sees. */
export async function listGrants(reader: Reader, { id }: Subject) {
  const { viewerGrants, clients, projects } = reader.tables
  const rows = await reader
    .select({
      grant: viewerGrants,
      client: { of: clients.uid, name: clients.name },
      project: { of: projects.uid, name: projects.name },
    })
    .from(viewerGrants)
    .leftJoin(clients, eq(clients.id, viewerGrants.clientId))
    .leftJoin(projects, eq(projects.id, viewerGrants.projectId))
    .where(eq(viewerGrants.userId, id))
    .orderBy(asc(viewerGrants.id))
  return rows.map(({ grant, client, project }) => ({ grant, ...(client ?? project!) }))
}

/** The clients and projects that the person leads or approves for. */
export async function listResponsibilities(reader: Reader, { id }: Subject) {
  const { clientLeads, clientApprovers, projectLeads, projectApprovers, clients, projects } = reader.tables
  const found: { relation: 'lead' | 'approver'; of: string; name: string }[] = []
  const tables = { lead: [clientLeads, projectLeads], approver: [clientApprovers, projectApprovers] } as const
  for (const relation of ['lead', 'approver'] as const) {
    const [ofClients, ofProjects] = tables[relation]
    const names = [
      ...(await reader
        .select({ of: clients.uid, name: clients.name })
        .from(ofClients)
        .innerJoin(clients, eq(clients.id, ofClients.clientId))
        .where(eq(ofClients.userId, id))),
      ...(await reader
        .select({ of: projects.uid, name: projects.name })
        .from(ofProjects)
        .innerJoin(projects, eq(projects.id, ofProjects.projectId))
        .where(eq(ofProjects.userId, id))),
    ]
    found.push(...names.map((row) => ({ relation, ...row })))
  }
  return found
}

/** Whose deputy the person is, and who is theirs. */
export function listDeputies(reader: Reader, { id }: Subject) {
  const { deputies, users } = reader.tables
  const [person, deputy] = [aliasedTable(users, 'person'), aliasedTable(users, 'deputy')]
  return reader
    .select({ record: deputies, person: person.name, deputy: deputy.name })
    .from(deputies)
    .innerJoin(person, eq(person.id, deputies.personId))
    .innerJoin(deputy, eq(deputy.id, deputies.deputyId))
    .where(or(eq(deputies.personId, id), eq(deputies.deputyId, id)))
    .orderBy(asc(deputies.id))
}

export function listPreferences(reader: Reader, { id }: Subject) {
  const { preferences } = reader.tables
  return reader.select().from(preferences).where(eq(preferences.userId, id))
}

export function listNotifications(reader: Reader, { id }: Subject) {
  const { notifications } = reader.tables
  return reader.select().from(notifications).where(eq(notifications.userId, id)).orderBy(asc(notifications.id))
}

export function listAgentStatuses(reader: Reader, { id }: Subject) {
  const { agentStatuses } = reader.tables
  return reader.select().from(agentStatuses).where(eq(agentStatuses.userId, id)).orderBy(asc(agentStatuses.id))
}

export function listLimitReadings(reader: Reader, { id }: Subject) {
  const { limitReadings } = reader.tables
  return reader.select().from(limitReadings).where(eq(limitReadings.userId, id)).orderBy(asc(limitReadings.id))
}

export function listShareLinks(reader: Reader, { id }: Subject) {
  const { shareLinks } = reader.tables
  return reader.select().from(shareLinks).where(eq(shareLinks.createdBy, id)).orderBy(asc(shareLinks.id))
}

export function listReportViews(reader: Reader, { id }: Subject) {
  const { reportViews } = reader.tables
  return reader.select().from(reportViews).where(eq(reportViews.ownerId, id)).orderBy(asc(reportViews.id))
}

/** Drafts of bills that the person began or changed last. */
export function listBillDrafts(reader: Reader, { id }: Subject) {
  const { billDrafts } = reader.tables
  return reader
    .select()
    .from(billDrafts)
    .where(or(eq(billDrafts.createdBy, id), eq(billDrafts.updatedBy, id)))
    .orderBy(asc(billDrafts.id))
}

export function listPlans(reader: Reader, { id }: Subject) {
  const { plans, planHolders } = reader.tables
  return reader
    .select({ plan: plans, holder: planHolders })
    .from(planHolders)
    .innerJoin(plans, eq(plans.id, planHolders.planId))
    .where(eq(planHolders.userId, id))
    .orderBy(asc(plans.id), asc(planHolders.fromDay))
}

/** Budgets that the person added, that are of their entries, or whose thresholds notify them by name. */
export async function listBudgets(reader: Reader, { id, uid, email }: Subject) {
  const { budgets } = reader.tables
  const rows = await reader.select().from(budgets).orderBy(asc(budgets.id))
  return rows.flatMap((budget) => {
    const notifies = budget.thresholds.some(
      ({ people, emails }) => people?.includes(uid) || emails?.some((address) => foldName(address) === email),
    )
    return budget.createdBy === id || budget.managerId === id || notifies ? [{ budget, notifies }] : []
  })
}

export function listWebhooks(reader: Reader, { id }: Subject) {
  const { webhookEndpoints } = reader.tables
  return reader
    .select()
    .from(webhookEndpoints)
    .where(or(eq(webhookEndpoints.createdBy, id), eq(webhookEndpoints.ownerId, id)))
    .orderBy(asc(webhookEndpoints.id))
}

/** The versions of rules that the person wrote. */
export function listRules(reader: Reader, { id }: Subject) {
  const { placementRules, placementRuleVersions: versions } = reader.tables
  return reader
    .select({ uid: placementRules.uid, version: versions })
    .from(versions)
    .innerJoin(placementRules, eq(placementRules.id, versions.ruleId))
    .where(eq(versions.createdBy, id))
    .orderBy(asc(versions.id))
}

/** The rules that the person proposed, and those that they decided about. */
export function listProposals(reader: Reader, { id }: Subject) {
  const { ruleProposals } = reader.tables
  return reader
    .select()
    .from(ruleProposals)
    .where(or(eq(ruleProposals.proposedBy, id), eq(ruleProposals.decidedBy, id)))
    .orderBy(asc(ruleProposals.id))
}

/** Sheets of the person, and those that they decided about. */
export function listSheets(reader: Reader, { id }: Subject) {
  const { sheets } = reader.tables
  return reader
    .select()
    .from(sheets)
    .where(or(eq(sheets.managerId, id), eq(sheets.decidedBy, id)))
    .orderBy(asc(sheets.id))
}

/** Bills that the person sent, that name them, or that have entries of theirs. */
export function listBills(reader: Reader, { id, uid }: Subject) {
  const { bills, entries } = reader.tables
  const withEntries = reader
    .selectDistinct({ id: entries.billId })
    .from(entries)
    .where(and(eq(entries.managerId, id), isNotNull(entries.billId)))
  return reader
    .select({
      uid: bills.uid,
      number: bills.number,
      kind: bills.kind,
      state: bills.state,
      issuedOn: bills.issuedOn,
      createdBy: bills.createdBy,
      isNamed: sql<number | boolean>`${bills.document} LIKE ${containing(uid)} ESCAPE '!'`,
    })
    .from(bills)
    .where(
      and(
        sql`${bills.state} <> 'preparing'`,
        or(
          eq(bills.createdBy, id),
          inArray(bills.id, withEntries),
          sql`${bills.document} LIKE ${containing(uid)} ESCAPE '!'`,
        ),
      ),
    )
    .orderBy(asc(bills.id))
}

/** The person's sessions, with the address that telemetry named. */
export function eachSession(reader: Reader, { id }: Subject) {
  const { sessions, telemetrySessions, names } = reader.tables
  return inRanges(reader, { table: sessions, id: sessions.id }, (range) =>
    reader
      .select({
        harness: names.text,
        sessionKey: sessions.sessionKey,
        source: sessions.source,
        email: telemetrySessions.email,
        facts: telemetrySessions.facts,
      })
      .from(sessions)
      .innerJoin(names, eq(names.id, sessions.harnessId))
      .leftJoin(telemetrySessions, eq(telemetrySessions.sessionId, sessions.id))
      .where(and(range, eq(sessions.managerId, id)))
      .orderBy(asc(sessions.id)),
  )
}

/** What happened to the person's entries, and what they did to those of others. */
export function eachHistory(reader: Reader, { id }: Subject) {
  const { entryHistory, entries } = reader.tables
  return inRanges(reader, { table: entryHistory, id: entryHistory.id }, (range) =>
    reader
      .select({ record: entryHistory, entry: entries.uid, managerId: entries.managerId })
      .from(entryHistory)
      .innerJoin(entries, eq(entries.id, entryHistory.entryId))
      .where(and(range, or(eq(entries.managerId, id), eq(entryHistory.userId, id))))
      .orderBy(asc(entryHistory.id)),
  )
}

/** Changes by the person, for them, or of their account. */
export function eachChange(reader: Reader, { id, uid }: Subject) {
  const { audit } = reader.tables
  return inRanges(reader, { table: audit, id: audit.id }, (range) =>
    reader
      .select()
      .from(audit)
      .where(and(range, or(eq(audit.userId, id), eq(audit.forId, id), eq(audit.objectId, uid))))
      .orderBy(asc(audit.id)),
  )
}

/** Keys per page. */
const PAGE_ROWS = 1_000

/** Idempotency keys of the person's reports. */
export async function* eachIdempotencyKey(reader: Reader, { id }: Subject) {
  const { idempotencyKeys, entries } = reader.tables
  let after = ''
  for (;;) {
    const rows = await reader
      .select({ key: idempotencyKeys.key, entry: entries.uid })
      .from(idempotencyKeys)
      .innerJoin(entries, eq(entries.id, idempotencyKeys.entryId))
      .where(and(eq(idempotencyKeys.managerId, id), gt(idempotencyKeys.key, after)))
      .orderBy(asc(idempotencyKeys.key))
      .limit(PAGE_ROWS)
    yield* rows
    if (rows.length < PAGE_ROWS) return
    after = rows.at(-1)!.key
  }
}
