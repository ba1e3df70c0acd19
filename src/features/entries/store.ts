import {
  aliasedTable,
  and,
  asc,
  type Column,
  desc,
  eq,
  gt,
  gte,
  inArray,
  isNotNull,
  isNull,
  lt,
  lte,
  ne,
  notInArray,
  or,
  type SQL,
  type SQLWrapper,
  sql,
} from 'drizzle-orm'
import type { Reader, Tx } from '../../database/database.ts'
import type { LabelMap, SessionTotals } from '../../database/records.ts'
import type { SessionSource, Status, Tables } from '../../database/tables.ts'
import { type Id, type IdPrefix, isId } from '../../lib/id.ts'
import { foldName } from '../../lib/names.ts'
import type { EntryFilter, Position } from './filter.ts'

export type EntryRecord = Tables['entries']['$inferSelect']
export type NewEntry = Omit<EntryRecord, 'id'>
/** What may change of an entry; what identifies it stays. */
export type EntryChange = Partial<Omit<EntryRecord, 'id' | 'uid' | 'sessionId' | 'chainModelId' | 'part' | 'createdAt'>>
export type SessionRecord = Tables['sessions']['$inferSelect']
export type HistoryRecord = Tables['entryHistory']['$inferSelect']

/** Statuses in which figures and placement are fixed. */
export const LOCKED_STATUSES: readonly Status[] = ['approved', 'billed', 'pending']

/** An entry with the names and public ids of what it refers to. */
export interface EntryView {
  entry: EntryRecord
  manager: { uid: Id<'usr'>; name: string }
  harness: string
  agent: string
  model: string
  provider: string | null
  project: { uid: Id<'prj'>; key: string; name: string } | null
  ticket: { uid: Id<'tkt'>; key: string } | null
  labels: LabelMap | null
  price: Id<'prc'> | null
  sessionKey: string | null
  continues: Id<'ent'> | null
  duplicateOf: Id<'ent'> | null
  bill: { uid: Id<'bil'>; number: string } | null
}

/** The tables that a view of entries joins, under the names that filters use. */
function viewTables(tables: Tables) {
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

/** `SELECT … FROM entries` with everything an {@link EntryView} holds; the caller adds where, order and limit. */
function selectViews(reader: Reader) {
  const t = viewTables(reader.tables)
  return reader
    .select({
      entry: t.entries,
      manager: { uid: t.users.uid, name: t.users.name },
      harness: t.harnesses.text,
      agent: t.agents.text,
      model: t.models.text,
      provider: t.providers.text,
      project: { uid: t.projects.uid, key: t.projects.key, name: t.projects.name },
      ticket: { uid: t.tickets.uid, key: t.tickets.key },
      labels: t.labelSets.labels,
      price: t.prices.uid,
      sessionKey: t.sessions.sessionKey,
      continues: t.continued.uid,
      duplicateOf: t.duplicates.uid,
      bill: { uid: t.bills.uid, number: t.bills.number },
    })
    .from(t.entries)
    .innerJoin(t.users, eq(t.users.id, t.entries.managerId))
    .innerJoin(t.harnesses, eq(t.harnesses.id, t.entries.harnessId))
    .innerJoin(t.agents, eq(t.agents.id, t.entries.agentId))
    .innerJoin(t.models, eq(t.models.id, t.entries.modelId))
    .leftJoin(t.providers, eq(t.providers.id, t.entries.providerId))
    .leftJoin(t.projects, eq(t.projects.id, t.entries.projectId))
    .leftJoin(t.tickets, eq(t.tickets.id, t.entries.ticketId))
    .leftJoin(t.labelSets, eq(t.labelSets.id, t.entries.labelSetId))
    .leftJoin(t.prices, eq(t.prices.id, t.entries.priceId))
    .leftJoin(t.sessions, eq(t.sessions.id, t.entries.sessionId))
    .leftJoin(t.continued, eq(t.continued.id, t.entries.continuesId))
    .leftJoin(t.duplicates, eq(t.duplicates.id, t.entries.possibleDuplicateId))
    .leftJoin(t.bills, eq(t.bills.id, t.entries.billId))
}

export async function getView(reader: Reader, id: number): Promise<EntryView> {
  const [row] = await reader
    .prepared('entries.view', (prepare) =>
      selectViews(prepare).where(eq(prepare.tables.entries.id, sql.placeholder('id'))),
    )
    .execute({ id })
  return row!
}

function placeholdersFor<Column extends string>(columns: Column[]): Record<Column, ReturnType<typeof sql.placeholder>> {
  return Object.fromEntries(columns.map((column) => [column, sql.placeholder(column)])) as never
}

/** Adds an entry and answers its key. */
export async function insertEntry(tx: Tx, entry: NewEntry): Promise<number> {
  const [row] = await tx
    .prepared('entries.insert', (prepare) => {
      const { entries } = prepare.tables
      const columns = Object.keys(entry) as (keyof NewEntry)[]
      return prepare
        .insert(entries)
        .values(placeholdersFor(columns) as never)
        .returning({ id: entries.id })
    })
    .execute(entry as unknown as Record<string, unknown>)
  return row!.id
}

export async function updateEntry(tx: Tx, id: number, change: EntryChange): Promise<void> {
  const { entries } = tx.tables
  await tx.update(entries).set(change).where(eq(entries.id, id))
}

/** The columns that a session's new totals may change. Always all of them, so that the statement is prepared once. */
const PART_COLUMNS = [
  'startedAt',
  'endedAt',
  'input',
  'output',
  'cacheRead',
  'cacheWrite',
  'cacheWrite1h',
  'over200kInput',
  'over200kOutput',
  'over200kCacheRead',
  'over200kCacheWrite',
  'over200kCacheWrite1h',
  'requests',
  'reportedCost',
  'listValue',
  'priceId',
  'priceStep',
  'priceNote',
  'source',
  'superseded',
  'agentId',
  'providerId',
  'summary',
  'labelSetId',
  'projectId',
  'ticketId',
  'placedBy',
  'placementNote',
  'namedProject',
  'namedTicket',
  'updatedAt',
] as const satisfies (keyof EntryRecord)[]
export type PartChange = Pick<EntryRecord, (typeof PART_COLUMNS)[number]>

/** Moves a part to new totals. */
export async function updatePart(tx: Tx, id: number, change: PartChange): Promise<void> {
  await tx
    .prepared('entries.update-part', (prepare) => {
      const { entries } = prepare.tables
      return prepare
        .update(entries)
        .set(placeholdersFor([...PART_COLUMNS]) as never)
        .where(eq(entries.id, sql.placeholder('id')))
        .returning({ id: entries.id })
    })
    .execute({ ...change, id })
}

/** The first entry of the manager that says exactly the same; undefined where there is none. */
export async function findDuplicate(
  reader: Reader,
  entry: { managerId: number; startedAt: number; fingerprint: bigint },
): Promise<{ id: number; uid: Id<'ent'> } | undefined> {
  const [found] = await reader
    .prepared('entries.duplicate', (prepare) => {
      const { entries } = prepare.tables
      return prepare
        .select({ id: sql<number | null>`min(${entries.id})`.mapWith(numberOrNull) })
        .from(entries)
        .where(
          and(
            eq(entries.managerId, sql.placeholder('managerId')),
            eq(entries.startedAt, sql.placeholder('startedAt')),
            eq(entries.fingerprint, sql.placeholder('fingerprint')),
          ),
        )
    })
    .execute(entry)
  if (!found || found.id === null) return undefined
  const { entries } = reader.tables
  const [row] = await reader.select({ id: entries.id, uid: entries.uid }).from(entries).where(eq(entries.id, found.id))
  return row
}

function numberOrNull(value: unknown): number | null {
  return value === null ? null : Number(value)
}

// Names and label sets, kept once

/** The key of a text, and of the spelling by which it is compared within a session. */
export interface NameKey {
  id: number
  canonicalId: number
}

/**
 * Keys of names and label sets that were met lately, so that a report does not look up five of them. Filled only
 * after a commit: a key that was rolled back may be given to another text.
 */
export class Interned {
  readonly names = new Recent<NameKey>()
  readonly labelSets = new Recent<number>()
}

/** Enough for every repository and model of a large team, and at most some megabytes of hostile names. */
const RECENT_LIMIT = 20_000

class Recent<Value> extends Map<string, Value> {
  override set(key: string, value: Value): this {
    if (this.size >= RECENT_LIMIT) this.clear()
    return super.set(key, value)
  }
}

/** The key of a text, interned on first use with its canonical spelling, which must not depend on what the text names. */
export async function internName(tx: Tx, interned: Interned, text: string, canonical: string): Promise<NameKey> {
  const known = interned.names.get(text)
  if (known) return known
  const key = await findOrAddName(tx, text, canonical)
  tx.afterCommit(() => interned.names.set(text, key))
  return key
}

async function findOrAddName(tx: Tx, text: string, canonical: string): Promise<NameKey> {
  const known = await findName(tx, text)
  if (known) return known
  const canonicalId = canonical === text ? null : (await findOrAddName(tx, canonical, canonical)).id
  const { names } = tx.tables
  await tx.insert(names).values({ text, canonicalId }).onConflictDoNothing()
  return (await findName(tx, text))!
}

async function findName(tx: Tx, text: string): Promise<NameKey | undefined> {
  const [row] = await tx
    .prepared('names.by-text', (prepare) => {
      const { names } = prepare.tables
      return prepare
        .select({ id: names.id, canonicalId: names.canonicalId })
        .from(names)
        .where(eq(names.text, sql.placeholder('text')))
    })
    .execute({ text })
  return row && { id: row.id, canonicalId: row.canonicalId ?? row.id }
}

export async function getName(reader: Reader, id: number): Promise<string> {
  const { names } = reader.tables
  const [row] = await reader.select({ text: names.text }).from(names).where(eq(names.id, id)).limit(1)
  return row!.text
}

/** The key of a set of labels, whose names are sorted. */
export async function internLabels(tx: Tx, interned: Interned, labels: LabelMap): Promise<number> {
  const text = JSON.stringify(labels)
  const known = interned.labelSets.get(text)
  if (known !== undefined) return known
  const id = (await findLabelSet(tx, labels)) ?? (await addLabelSet(tx, labels))
  tx.afterCommit(() => interned.labelSets.set(text, id))
  return id
}

async function findLabelSet(tx: Tx, labels: LabelMap): Promise<number | undefined> {
  const { labelSets } = tx.tables
  const [row] = await tx.select({ id: labelSets.id }).from(labelSets).where(eq(labelSets.labels, labels)).limit(1)
  return row?.id
}

async function addLabelSet(tx: Tx, labels: LabelMap): Promise<number> {
  const { labelSets, labelPairs } = tx.tables
  const [added] = await tx.insert(labelSets).values({ labels }).onConflictDoNothing().returning({ id: labelSets.id })
  if (!added) return (await findLabelSet(tx, labels))!
  await tx
    .insert(labelPairs)
    .values(Object.entries(labels).map(([name, value]) => ({ name, value, labelSetId: added.id })))
  return added.id
}

// Sessions

/**
 * The session, made where it is missing, and locked until the transaction ends so that two reports of it come one
 * after the other on PostgreSQL too.
 */
export async function lockSession(
  tx: Tx,
  session: { sessionKey: string; harnessId: number; managerId: number; source: SessionSource },
): Promise<SessionRecord> {
  const [row] = await tx
    .prepared('sessions.lock', (prepare) => {
      const { sessions } = prepare.tables
      return prepare
        .insert(sessions)
        .values({
          sessionKey: sql.placeholder('sessionKey'),
          harnessId: sql.placeholder('harnessId'),
          managerId: sql.placeholder('managerId'),
          source: sql.placeholder('source'),
          contested: false,
        })
        .onConflictDoUpdate({
          target: [sessions.sessionKey, sessions.harnessId, sessions.managerId],
          set: { sessionKey: sql`${sessions.sessionKey}` },
        })
        .returning()
    })
    .execute(session)
  return row!
}

/** Every session with this harness and id, whoever owns it, oldest first. */
export async function listSessions(
  reader: Reader,
  session: { sessionKey: string; harnessId: number },
): Promise<SessionRecord[]> {
  const found = await reader
    .prepared('sessions.by-key', (prepare) => {
      const { sessions } = prepare.tables
      return prepare
        .select()
        .from(sessions)
        .where(
          and(
            eq(sessions.sessionKey, sql.placeholder('sessionKey')),
            eq(sessions.harnessId, sql.placeholder('harnessId')),
          ),
        )
    })
    .execute(session)
  return found.sort((a, b) => a.id - b.id)
}

export async function updateSession(
  tx: Tx,
  id: number,
  change: { source?: SessionSource; contested?: boolean; managerId?: number },
): Promise<void> {
  const { sessions } = tx.tables
  await tx.update(sessions).set(change).where(eq(sessions.id, id))
}

/** The parts of one model of a session, in order. */
export async function listParts(reader: Reader, sessionId: number, chainModelId: number): Promise<EntryRecord[]> {
  const parts = await reader
    .prepared('entries.parts', (prepare) => {
      const { entries } = prepare.tables
      return prepare
        .select()
        .from(entries)
        .where(
          and(
            eq(entries.sessionId, sql.placeholder('sessionId')),
            eq(entries.chainModelId, sql.placeholder('chainModelId')),
          ),
        )
    })
    .execute({ sessionId, chainModelId })
  return parts.sort((a, b) => a.part! - b.part!)
}

/** All parts of all models of a session, by model and part. */
export async function listSessionParts(reader: Reader, sessionId: number): Promise<EntryRecord[]> {
  const { entries } = reader.tables
  return reader
    .select()
    .from(entries)
    .where(eq(entries.sessionId, sessionId))
    .orderBy(asc(entries.chainModelId), asc(entries.part))
}

export interface SourceTotals {
  chainModelId: number
  source: SessionSource
  totals: SessionTotals
}

export async function listSourceTotals(reader: Reader, sessionId: number): Promise<SourceTotals[]> {
  const { sessionSources } = reader.tables
  return reader
    .select({ chainModelId: sessionSources.chainModelId, source: sessionSources.source, totals: sessionSources.totals })
    .from(sessionSources)
    .where(eq(sessionSources.sessionId, sessionId))
}

export async function saveSourceTotals(
  tx: Tx,
  sessionId: number,
  { chainModelId, source, totals }: SourceTotals,
): Promise<void> {
  const { sessionSources } = tx.tables
  await tx
    .insert(sessionSources)
    .values({ sessionId, chainModelId, source, totals })
    .onConflictDoUpdate({
      target: [sessionSources.sessionId, sessionSources.chainModelId, sessionSources.source],
      set: { totals },
    })
}

/** Gives the unlocked parts of a session to another manager, and answers their keys. */
export async function changeManager(tx: Tx, sessionId: number, managerId: number): Promise<number[]> {
  const { entries } = tx.tables
  const changed = await tx
    .update(entries)
    .set({ managerId })
    .where(
      and(
        eq(entries.sessionId, sessionId),
        ne(entries.managerId, managerId),
        notInArray(entries.status, [...LOCKED_STATUSES]),
      ),
    )
    .returning({ id: entries.id })
  return changed.map(({ id }) => id)
}

/** Moves the unlocked entries of a ticket that has found its project, and answers their keys. */
export async function moveTicketEntries(tx: Tx, ticketId: number, projectId: number): Promise<number[]> {
  const { entries } = tx.tables
  const moved = await tx
    .update(entries)
    .set({ projectId })
    .where(and(eq(entries.ticketId, ticketId), notInArray(entries.status, [...LOCKED_STATUSES])))
    .returning({ id: entries.id })
  return moved.map(({ id }) => id)
}

// Idempotency keys

export async function findIdempotencyKey(
  reader: Reader,
  managerId: number,
  key: string,
): Promise<{ bodyHash: Uint8Array; entryId: number } | undefined> {
  const [row] = await reader
    .prepared('idempotency-keys.by-key', (prepare) => {
      const { idempotencyKeys } = prepare.tables
      return prepare
        .select({ bodyHash: idempotencyKeys.bodyHash, entryId: idempotencyKeys.entryId })
        .from(idempotencyKeys)
        .where(
          and(
            eq(idempotencyKeys.managerId, sql.placeholder('managerId')),
            eq(idempotencyKeys.key, sql.placeholder('key')),
          ),
        )
    })
    .execute({ managerId, key })
  return row
}

/** Fails with a unique violation where another transaction took the key meanwhile. */
export async function insertIdempotencyKey(
  tx: Tx,
  row: { managerId: number; key: string; bodyHash: Uint8Array; entryId: number },
): Promise<void> {
  await tx.insert(tx.tables.idempotencyKeys).values(row)
}

// History

export async function insertHistory(tx: Tx, rows: Omit<HistoryRecord, 'id'>[]): Promise<void> {
  if (rows.length > 0) await tx.insert(tx.tables.entryHistory).values(rows)
}

export interface HistoryView {
  at: number
  action: string
  details: Record<string, unknown>
  user: { uid: Id<'usr'>; name: string } | null
  token: { uid: Id<'tok'>; name: string } | null
}

export async function listHistory(reader: Reader, entryId: number): Promise<HistoryView[]> {
  const { entryHistory, users, tokens } = reader.tables
  return reader
    .select({
      at: entryHistory.at,
      action: entryHistory.action,
      details: entryHistory.details,
      user: { uid: users.uid, name: users.name },
      token: { uid: tokens.uid, name: tokens.name },
    })
    .from(entryHistory)
    .leftJoin(users, eq(users.id, entryHistory.userId))
    .leftJoin(tokens, eq(tokens.id, entryHistory.tokenId))
    .where(eq(entryHistory.entryId, entryId))
    .orderBy(asc(entryHistory.id))
}

/** The token that an entry came with; its creation is no row of the history. */
export async function findReportingToken(
  reader: Reader,
  tokenId: number,
): Promise<{ uid: Id<'tok'>; name: string } | undefined> {
  const { tokens } = reader.tables
  const [row] = await reader
    .select({ uid: tokens.uid, name: tokens.name })
    .from(tokens)
    .where(eq(tokens.id, tokenId))
    .limit(1)
  return row
}

// Lists

/** What a caller may see: everything, or a person's own entries and those of the projects they lead. */
export type Visible = 'all' | { userId: number }

function visibleTo(reader: Reader, visible: Visible): SQL | undefined {
  if (visible === 'all') return undefined
  const { entries, projectLeads } = reader.tables
  const led = reader
    .select({ id: projectLeads.projectId })
    .from(projectLeads)
    .where(eq(projectLeads.userId, visible.userId))
  return or(eq(entries.managerId, visible.userId), inArray(entries.projectId, led))
}

/** A condition on one of several texts, of which some are public ids. */
function idOr<P extends IdPrefix>(
  prefix: P,
  values: string[],
  byId: (ids: Id<P>[]) => SQL | undefined,
  byText: (texts: string[]) => SQL | undefined,
) {
  const ids = values.filter((value) => isId(prefix, value)) as Id<P>[]
  const texts = values.filter((value) => !isId(prefix, value))
  return or(ids.length > 0 ? byId(ids) : undefined, texts.length > 0 ? byText(texts) : undefined)
}

function conditionOf(reader: Reader, filter: EntryFilter): SQL | undefined {
  const t = reader.tables
  const e = t.entries
  const among = (column: Column, query: SQLWrapper | undefined) => query && inArray(column, query as never)
  const keyOf = (texts: string[] | undefined) =>
    texts && reader.select({ id: t.names.id }).from(t.names).where(inArray(t.names.text, texts))
  const folded = (texts: string[]) => texts.map(foldName)

  const projectsNamed = (texts: string[]) =>
    reader
      .select({ id: t.projectNames.projectId })
      .from(t.projectNames)
      .where(inArray(t.projectNames.folded, folded(texts)))
  const projectsById = (uids: Id<'prj'>[]) =>
    reader.select({ id: t.projects.id }).from(t.projects).where(inArray(t.projects.uid, uids))
  const clientsProjects = (condition: SQL) =>
    inArray(
      e.projectId,
      reader
        .select({ id: t.projects.id })
        .from(t.projects)
        .innerJoin(t.clients, eq(t.clients.id, t.projects.clientId))
        .where(condition),
    )

  return and(
    filter.startingAt === undefined ? undefined : gte(e.startedAt, filter.startingAt),
    filter.endingAt === undefined ? undefined : lt(e.startedAt, filter.endingAt),
    filter.projects &&
      idOr(
        'prj',
        filter.projects,
        (ids) => inArray(e.projectId, projectsById(ids)),
        (texts) => inArray(e.projectId, projectsNamed(texts)),
      ),
    filter.tickets &&
      idOr(
        'tkt',
        filter.tickets,
        (ids) =>
          inArray(e.ticketId, reader.select({ id: t.tickets.id }).from(t.tickets).where(inArray(t.tickets.uid, ids))),
        (texts) =>
          inArray(
            e.ticketId,
            reader
              .select({ id: t.tickets.id })
              .from(t.tickets)
              .where(inArray(t.tickets.keyFolded, folded(texts))),
          ),
      ),
    filter.clients &&
      idOr(
        'cli',
        filter.clients,
        (ids) => clientsProjects(inArray(t.clients.uid, ids)),
        (texts) => clientsProjects(inArray(t.clients.nameFolded, folded(texts))),
      ),
    filter.managers &&
      idOr(
        'usr',
        filter.managers,
        (ids) => inArray(e.managerId, reader.select({ id: t.users.id }).from(t.users).where(inArray(t.users.uid, ids))),
        (texts) =>
          inArray(
            e.managerId,
            reader
              .select({ id: t.users.id })
              .from(t.users)
              .where(inArray(t.users.email, folded(texts))),
          ),
      ),
    among(e.agentId, keyOf(filter.agents)),
    among(e.harnessId, keyOf(filter.harnesses)),
    among(e.modelId, keyOf(filter.models)),
    filter.statuses && inArray(e.status, filter.statuses),
    filter.sources && inArray(e.source, filter.sources),
    filter.sessionKeys &&
      inArray(
        e.sessionId,
        reader.select({ id: t.sessions.id }).from(t.sessions).where(inArray(t.sessions.sessionKey, filter.sessionKeys)),
      ),
    ...labelConditions(reader, filter.labels),
    filter.placed && or(...filter.placed.map((by) => (by === 'none' ? isNull(e.placedBy) : eq(e.placedBy, by)))),
    filter.priced === undefined
      ? undefined
      : filter.priced
        ? or(isNotNull(e.reportedCost), isNotNull(e.listValue))
        : and(isNull(e.reportedCost), isNull(e.listValue)),
    filter.bills &&
      or(
        filter.bills.includes('none') ? isNull(e.billId) : undefined,
        idOr(
          'bil',
          filter.bills.filter((bill) => bill !== 'none'),
          (ids) => inArray(e.billId, reader.select({ id: t.bills.id }).from(t.bills).where(inArray(t.bills.uid, ids))),
          (texts) =>
            inArray(e.billId, reader.select({ id: t.bills.id }).from(t.bills).where(inArray(t.bills.number, texts))),
        ),
      ),
    filter.text === undefined
      ? undefined
      : sql`lower(${e.summary}) LIKE ${`%${escapeLike(filter.text.toLowerCase())}%`} ESCAPE '!'`,
  )
}

/** Several values of one label mean any of them, several labels all of them. */
function labelConditions(reader: Reader, labels: EntryFilter['labels'] = []): SQL[] {
  const { labelPairs, entries } = reader.tables
  return [...Map.groupBy(labels, ({ name }) => name)].map(([name, pairs]) =>
    inArray(
      entries.labelSetId,
      reader
        .select({ id: labelPairs.labelSetId })
        .from(labelPairs)
        .where(
          and(
            eq(labelPairs.name, name),
            inArray(
              labelPairs.value,
              pairs.map(({ value }) => value),
            ),
          ),
        ),
    ),
  )
}

function escapeLike(text: string): string {
  return text.replace(/[!%_]/g, (character) => `!${character}`)
}

function isBehind(reader: Reader, after: Position | undefined): SQL | undefined {
  const { entries } = reader.tables
  return (
    after &&
    and(lte(entries.startedAt, after.startedAt), or(lt(entries.startedAt, after.startedAt), lt(entries.id, after.id)))
  )
}

/** Entries newest first, from behind `after`. */
export async function listViews(
  reader: Reader,
  {
    filter,
    visible,
    after,
    limit,
  }: { filter: EntryFilter; visible: Visible; after: Position | undefined; limit: number },
): Promise<EntryView[]> {
  const { entries } = reader.tables
  return selectViews(reader)
    .where(and(conditionOf(reader, filter), visibleTo(reader, visible), isBehind(reader, after)))
    .orderBy(desc(entries.startedAt), desc(entries.id))
    .limit(limit)
}

/** The entry with this public id, where the caller may see it. */
export async function findView(reader: Reader, uid: Id<'ent'>, visible: Visible): Promise<EntryView | undefined> {
  const [row] = await selectViews(reader)
    .where(and(eq(reader.tables.entries.uid, uid), visibleTo(reader, visible)))
    .limit(1)
  return row
}

// Valuing again

/** An entry with the names by which its price is found. */
export interface PricedEntry {
  entry: EntryRecord
  model: string
  provider: string | null
  price: Id<'prc'> | null
}

function selectPriced(reader: Reader) {
  const { entries, prices, models, providers } = viewTables(reader.tables)
  return reader
    .select({ entry: entries, model: models.text, provider: providers.text, price: prices.uid })
    .from(entries)
    .innerJoin(models, eq(models.id, entries.modelId))
    .leftJoin(providers, eq(providers.id, entries.providerId))
    .leftJoin(prices, eq(prices.id, entries.priceId))
}

/** The terms of the index that holds the entries whose cost is unknown. */
function isUnpriced({ entries }: Tables): SQL | undefined {
  return and(isNull(entries.listValue), isNull(entries.reportedCost))
}

/** A model that entries without a cost used, and who sold it. */
export interface UnpricedModel {
  modelId: number
  providerId: number | null
  model: string
  provider: string | null
}

export async function listUnpricedModels(reader: Reader): Promise<UnpricedModel[]> {
  const { entries, models, providers } = viewTables(reader.tables)
  const pairs = reader
    .selectDistinct({ modelId: entries.modelId, providerId: entries.providerId })
    .from(entries)
    .where(isUnpriced(reader.tables))
    .as('pairs')
  return reader
    .select({ modelId: pairs.modelId, providerId: pairs.providerId, model: models.text, provider: providers.text })
    .from(pairs)
    .innerJoin(models, eq(models.id, pairs.modelId))
    .leftJoin(providers, eq(providers.id, pairs.providerId))
    .orderBy(asc(pairs.modelId), asc(pairs.providerId))
}

/** How many entries have no cost and are on no bill. */
export async function countUnpriced(reader: Reader): Promise<number> {
  const { entries } = reader.tables
  const [row] = await reader
    .select({ count: sql<number>`count(*)`.mapWith(Number) })
    .from(entries)
    .where(and(isUnpriced(reader.tables), isNull(entries.billId)))
  return row!.count
}

/** Entries of a model that have no cost and are on no bill, by key from behind `after`. */
export async function listUnpriced(
  reader: Reader,
  { modelId, providerId }: Pick<UnpricedModel, 'modelId' | 'providerId'>,
  { after, limit }: { after: number; limit: number },
): Promise<PricedEntry[]> {
  const { entries } = reader.tables
  return selectPriced(reader)
    .where(
      and(
        isUnpriced(reader.tables),
        eq(entries.modelId, modelId),
        providerId === null ? isNull(entries.providerId) : eq(entries.providerId, providerId),
        gt(entries.id, after),
        isNull(entries.billId),
      ),
    )
    .orderBy(asc(entries.id))
    .limit(limit)
}

/** Entries whose value may still change: not locked, or without a cost and on no bill. Newest first, from behind `after`. */
export async function listRepriceable(
  reader: Reader,
  { filter, after, limit }: { filter: EntryFilter; after: Position | undefined; limit: number },
): Promise<PricedEntry[]> {
  const { entries } = reader.tables
  return selectPriced(reader)
    .where(
      and(
        conditionOf(reader, filter),
        or(notInArray(entries.status, [...LOCKED_STATUSES]), and(isUnpriced(reader.tables), isNull(entries.billId))),
        isBehind(reader, after),
      ),
    )
    .orderBy(desc(entries.startedAt), desc(entries.id))
    .limit(limit)
}

export async function listPriced(reader: Reader, ids: number[]): Promise<PricedEntry[]> {
  return selectPriced(reader).where(inArray(reader.tables.entries.id, ids))
}

export type ValuationChange = Pick<EntryRecord, 'listValue' | 'priceId' | 'priceStep' | 'priceNote' | 'updatedAt'>

export async function updateValuation(tx: Tx, id: number, change: ValuationChange): Promise<void> {
  await tx
    .prepared('entries.update-valuation', (prepare) => {
      const { entries } = prepare.tables
      return prepare
        .update(entries)
        .set(placeholdersFor(['listValue', 'priceId', 'priceStep', 'priceNote', 'updatedAt']) as never)
        .where(eq(entries.id, sql.placeholder('id')))
        .returning({ id: entries.id })
    })
    .execute({ ...change, id })
}
