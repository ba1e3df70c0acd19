/** Finds and replaces words in the text columns of all tables, and what else an erasure removes. */
import {
  and,
  asc,
  eq,
  getTableColumns,
  getTableName,
  inArray,
  isNotNull,
  isNull,
  max,
  ne,
  or,
  type SQL,
  sql,
} from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import type { Reader, Tx } from '../../../database/database.ts'
import { keyRanges } from '../../../database/key-ranges.ts'
import type { ErasedWords } from '../../../database/schema/records.ts'
import type { Tables } from '../../../database/schema/tables.ts'
import { containingInOrder } from '../../../database/search-pattern.ts'
import type { Id } from '../../../lib/id.ts'
import { hashOfSessionId } from '../../../lib/session-id.ts'
import { type KeptBecause, TEXT_COLUMNS } from './columns.ts'
import { addMatches, type CountedMatch, type NearCounts, nearMatching } from './near-matches.ts'
import { type Replacing, replacing } from './words.ts'

export interface Subject {
  id: number
  uid: Id<'usr'>
}

export type TextTable = keyof typeof TEXT_COLUMNS

export const TEXT_TABLES = Object.keys(TEXT_COLUMNS) as TextTable[]

/** The name of a table in the database. */
export function tableName({ tables }: Pick<Reader, 'tables'>, table: TextTable): string {
  return getTableName(tables[table])
}

/** What the origin of a change by an erased person is replaced by: it was an address of theirs. */
const ERASED_ORIGIN = 'erased'

interface Column {
  name: string
  holds: 'text' | 'json' | 'session id'
  isUnique: boolean
}

interface Layout {
  table: PgTable
  columns: Record<string, PgColumn>
  key: string[]
  replaced: Column[]
  kept: [column: string, because: KeptBecause][]
}

/** A row with its key, and its texts as they are stored. */
type Row = Record<string, string | number | null>

function layoutOf(tables: Tables, name: TextTable): Layout {
  const table: PgTable = tables[name]
  const {
    key,
    text = [],
    json = [],
    sessionIds = [],
    unique,
    kept = {},
  } = TEXT_COLUMNS[name]! as {
    key: string[]
    text?: string[]
    json?: string[]
    sessionIds?: string[]
    unique?: string
    kept?: Record<string, KeptBecause>
  }
  const column = (holds: Column['holds']) => (of: string) => ({ name: of, holds, isUnique: of === unique })
  return {
    table,
    columns: getTableColumns(table) as Record<string, PgColumn>,
    key,
    replaced: [...text.map(column('text')), ...json.map(column('json')), ...sessionIds.map(column('session id'))],
    kept: Object.entries(kept),
  }
}

/**
 * Whether a text may contain one of the words: always true of texts with characters or escapes that are folded to others,
 * which SQL cannot do.
 */
function mayContain(column: PgColumn, hints: readonly string[][]): SQL {
  const isFolded = sql`octet_length(${column}) <> length(${column}) OR ${column} LIKE '%!%%' ESCAPE '!' OR ${column} LIKE '%\\%' ESCAPE '!'`
  const containsHint = hints.map((parts) => sql` OR lower(${column}) LIKE ${containingInOrder(parts)} ESCAPE '!'`)
  return sql`(${isFolded}${sql.join(containsHint)})`
}

/** The columns as text, whatever they contain. */
function selection({ columns }: Layout, names: readonly string[]): Record<string, SQL<string | null> | PgColumn> {
  return Object.fromEntries(
    names.map((name) => [name, columns[name]!.getSQLType() === 'text' ? sql`${columns[name]!}` : columns[name]!]),
  )
}

/** Rows of a range in which a column may contain one of the words, with other columns. */
async function candidates(
  reader: Reader,
  layout: Layout,
  range: SQL,
  hints: readonly string[][],
  names: readonly string[],
  others: readonly string[],
): Promise<Row[]> {
  if (names.length === 0) return []
  const rows = await reader
    .select(selection(layout, [...new Set([...layout.key, ...names, ...others])]))
    .from(layout.table)
    .where(and(range, or(...names.map((name) => mayContain(layout.columns[name]!, hints)))))
  return rows as Row[]
}

/** Whose rows about the account have words that mean others elsewhere. */
const OF_ACCOUNTS: readonly TextTable[] = ['audit', 'events']

const replacingAnywhere = (words: ErasedWords) => replacing(words, { ofAccount: false })

/** How the words are replaced in a row: in what the logs have of the account, also those that mean others elsewhere. */
function replacingIn(name: TextTable, words: ErasedWords, { uid }: Subject) {
  const anywhere = replacingAnywhere(words)
  if (!OF_ACCOUNTS.includes(name)) return { hints: anywhere.hints, of: () => anywhere }
  const account = replacing(words, { ofAccount: true })
  return { hints: account.hints, of: (row: Row) => (row.objectId === uid ? account : anywhere) }
}

/** Columns that a row is judged by, besides those with text. */
const judgedBy = (name: TextTable) => (OF_ACCOUNTS.includes(name) ? ['objectId'] : [])

function replacedTexts(row: Row, columns: readonly Column[], { inText, inJson }: Replacing, nth?: number) {
  const replacedIn = {
    text: inText,
    json: inJson,
    'session id': (id: string) => (inText(id) === id ? id : hashOfSessionId(id)),
  }
  const changes: Record<string, string> = {}
  for (const { name, holds } of columns) {
    const text = row[name]
    if (typeof text !== 'string') continue
    const replaced = replacedIn[holds](text, nth)
    if (replaced !== text) changes[name] = replaced
  }
  return changes
}

const isChange = (changes: object) => Object.keys(changes).length > 0

export interface MentionsRequest {
  table: TextTable
  words: ErasedWords
  subject: Subject
  /** Only rows with greater keys are read. */
  after: number
  /** Whether to find what a dry run shows as well. */
  isDryRun: boolean
}

/** What a range of a table contains. */
export interface Mentions {
  /** The greatest key of the range. */
  last: number
  /** Keys of rows in which words are to be replaced. */
  keys: number[]
  /** Rows that mention the person and stay as they are. */
  kept: Partial<Record<KeptBecause, number>>
  near: CountedMatch[]
}

/** The next range of a table; undefined if no rows are left. */
export async function findMentions(
  reader: Reader,
  { table, words, subject, after, isDryRun }: MentionsRequest,
): Promise<Mentions | undefined> {
  const layout = layoutOf(reader.tables, table)
  const [key] = layout.key
  if (key === undefined || (layout.replaced.length === 0 && !isDryRun)) return undefined
  for await (const { range, last } of keyRanges(reader, layout.table, layout.columns[key]!, after)) {
    const { hints, of } = replacingIn(table, words, subject)
    const near = isDryRun ? nearMatching(words) : undefined
    const names = layout.replaced.map(({ name }) => name)
    const wanted = [...hints, ...(near?.hints ?? [])]
    const keys: number[] = []
    const counts: NearCounts = new Map()
    for (const row of await candidates(reader, layout, range, wanted, names, judgedBy(table))) {
      const changes = replacedTexts(row, layout.replaced, of(row))
      if (isChange(changes)) keys.push(Number(row[key]))
      for (const name of near ? names : []) addMatches(counts, near!.in(String(changes[name] ?? row[name] ?? '')))
    }
    const kept = isDryRun ? await countKept(reader, table, range, words, subject) : {}
    return { last, keys, kept, near: [...counts.values()] }
  }
  return undefined
}

async function countKept(reader: Reader, table: TextTable, range: SQL, words: ErasedWords, subject: Subject) {
  const layout = layoutOf(reader.tables, table)
  const replacing = replacingAnywhere(words)
  const columns = layout.kept.map(([name]) => ({ name, holds: 'text', isUnique: false }) as const)
  const names = columns.map(({ name }) => name)
  const kept: Partial<Record<KeptBecause, number>> = {}
  const owner = table === 'idempotencyKeys' ? ['managerId'] : []
  for (const row of await candidates(reader, layout, range, replacing.hints, names, owner)) {
    // Those of the person are removed.
    if (row.managerId === subject.id) continue
    const found = Object.keys(replacedTexts(row, columns, replacing))
    for (const because of new Set(layout.kept.filter(([column]) => found.includes(column)).map(([, why]) => why))) {
      kept[because] = (kept[because] ?? 0) + 1
    }
  }
  return kept
}

/** Rows by their first keys, as they are now. */
async function reread(reader: Reader, layout: Layout, table: TextTable, keys: readonly number[]): Promise<Row[]> {
  const names = [...layout.key, ...layout.replaced.map((column) => column.name), ...judgedBy(table)]
  const found = await reader
    .select(selection(layout, names))
    .from(layout.table)
    .where(inArray(layout.columns[layout.key[0]!]!, [...keys]))
  return found as Row[]
}

/** Replaces the words in these rows, as they are now. Returns the number of changed rows. */
export async function replaceWords(
  tx: Tx,
  name: TextTable,
  keys: readonly number[],
  words: ErasedWords,
  subject: Subject,
): Promise<number> {
  const layout = layoutOf(tx.tables, name)
  const { of } = replacingIn(name, words, subject)
  let changed = 0
  for (const row of await reread(tx, layout, name, keys)) {
    const changes = await distinctTexts(tx, layout, row, of(row))
    if (!isChange(changes)) continue
    const values = Object.fromEntries(Object.entries(changes).map(([column, text]) => [column, sql`${text}`]))
    await tx.update(layout.table).set(values).where(isRow(layout, row))
    if (name === 'labelSets') await replacePairs(tx, Number(row.id), JSON.parse(changes.labels!))
    changed += 1
  }
  return changed
}

function isRow({ key, columns }: Layout, row: Row): SQL | undefined {
  return and(...key.map((name) => eq(columns[name]!, row[name])))
}

/** Two texts that become the same stay two: sums of a label or a name stay what they were. */
async function distinctTexts(tx: Tx, layout: Layout, row: Row, words: Replacing) {
  const unique = layout.replaced.find(({ isUnique }) => isUnique)
  for (let nth = 1; ; nth += 1) {
    const changes = replacedTexts(row, layout.replaced, words, nth)
    const text = unique && changes[unique.name]
    if (text === undefined) return changes
    const taken = await tx
      .select({ key: layout.columns[layout.key[0]!]! })
      .from(layout.table)
      .where(and(eq(sql`${layout.columns[unique!.name]!}`, text), ne(layout.columns[layout.key[0]!]!, row.id)))
      .limit(1)
    if (taken.length === 0) return changes
  }
}

async function replacePairs(tx: Tx, labelSetId: number, labels: Record<string, string>): Promise<void> {
  const { labelPairs } = tx.tables
  await tx.delete(labelPairs).where(eq(labelPairs.labelSetId, labelSetId))
  const pairs = Object.entries(labels).map(([name, value]) => ({ name, value, labelSetId }))
  if (pairs.length > 0) await tx.insert(labelPairs).values(pairs)
}

/** The addresses from which the person made changes. Returns the number of changed rows, a portion at a time. */
export async function eraseOrigins(tx: Tx, { id }: Subject, limit: number): Promise<number> {
  const { audit } = tx.tables
  const rows = await tx
    .select({ id: audit.id })
    .from(audit)
    .where(and(eq(audit.userId, id), ne(audit.origin, ERASED_ORIGIN)))
    .limit(limit)
  const ids = rows.map((row) => row.id)
  if (ids.length > 0) await tx.update(audit).set({ origin: ERASED_ORIGIN }).where(inArray(audit.id, ids))
  return ids.length
}

/** Keys that the person's agents invented: nobody can repeat such a request any more. */
export async function deleteIdempotencyKeys(tx: Tx, { id }: Subject, limit: number): Promise<number> {
  const { idempotencyKeys } = tx.tables
  const ofPerson = eq(idempotencyKeys.managerId, id)
  const rows = await tx.select({ key: idempotencyKeys.key }).from(idempotencyKeys).where(ofPerson).limit(limit)
  const keys = rows.map(({ key }) => key)
  if (keys.length > 0) await tx.delete(idempotencyKeys).where(and(ofPerson, inArray(idempotencyKeys.key, keys)))
  return keys.length
}

/**
 * The person no longer leads or approves for anything, their share links end, and their views of reports and the status and limits of
 * their agents are deleted.
 */
export async function releaseWork(tx: Tx, { id }: Subject, now: number): Promise<void> {
  const {
    clientLeads,
    clientApprovers,
    projectLeads,
    projectApprovers,
    shareLinks,
    reportViews,
    agentStatuses,
    limitReadings,
  } = tx.tables
  await tx.delete(reportViews).where(eq(reportViews.ownerId, id))
  for (const table of [clientLeads, clientApprovers, projectLeads, projectApprovers, agentStatuses, limitReadings]) {
    await tx.delete(table).where(eq(table.userId, id))
  }
  await tx
    .update(shareLinks)
    .set({ revokedAt: now })
    .where(and(eq(shareLinks.createdBy, id), isNull(shareLinks.revokedAt)))
}

/** What the person was called, and the addresses that they had, as far as the audit log knows. */
export async function listFormerNames(
  reader: Reader,
  { uid }: Subject,
): Promise<
  { objectName: string | null; before: Record<string, unknown> | null; after: Record<string, unknown> | null }[]
> {
  const { audit } = reader.tables
  return reader
    .select({ objectName: audit.objectName, before: audit.before, after: audit.after })
    .from(audit)
    .where(eq(audit.objectId, uid))
    .orderBy(asc(audit.id))
}

/** Addresses that telemetry named for sessions of the person. */
export async function listTelemetryEmails(reader: Reader, { id }: Subject): Promise<string[]> {
  const { sessions, telemetrySessions } = reader.tables
  const rows = await reader
    .selectDistinct({ email: telemetrySessions.email })
    .from(telemetrySessions)
    .innerJoin(sessions, eq(sessions.id, telemetrySessions.sessionId))
    .where(
      and(eq(sessions.managerId, id), eq(sessions.unidentified, false), sql`${telemetrySessions.email} IS NOT NULL`),
    )
  return rows.map(({ email }) => email!)
}

/** What other people are called, and their addresses. */
export async function listOthers(reader: Reader, { id }: Subject): Promise<{ names: string[]; emails: string[] }> {
  const { users, userEmails } = reader.tables
  const others = await reader
    .select({ name: users.name, email: users.email })
    .from(users)
    .where(and(ne(users.id, id), isNull(users.erasedAt)))
  const further = await reader.select({ email: userEmails.email }).from(userEmails).where(ne(userEmails.userId, id))
  return { names: others.map(({ name }) => name), emails: [...others, ...further].map(({ email }) => email) }
}

export type ErasureRecord = Tables['erasures']['$inferSelect']

export async function insertErasure(tx: Tx, record: ErasureRecord): Promise<void> {
  await tx.insert(tx.tables.erasures).values(record)
}

export async function findErasure(reader: Reader, { id }: Subject): Promise<ErasureRecord | undefined> {
  const { erasures } = reader.tables
  const [found] = await reader.select().from(erasures).where(eq(erasures.userId, id))
  return found
}

/** Erasures that have not ended, with their person, the oldest first. */
export async function listUnfinished(reader: Reader): Promise<{ record: ErasureRecord; subject: Subject }[]> {
  const { erasures, users } = reader.tables
  return reader
    .select({ record: erasures, subject: { id: users.id, uid: users.uid } })
    .from(erasures)
    .innerJoin(users, eq(users.id, erasures.userId))
    .where(isNull(erasures.endedAt))
    .orderBy(asc(erasures.startedAt))
}

/** When the latest erasure ended; null if none has. */
export async function findLastEnded(reader: Reader): Promise<number | null> {
  const { erasures } = reader.tables
  const [row] = await reader.select({ endedAt: max(erasures.endedAt) }).from(erasures)
  return row?.endedAt == null ? null : Number(row.endedAt)
}

export async function addCounts(tx: Tx, subject: Subject, table: string, rows: number): Promise<void> {
  const { erasures } = tx.tables
  const { counts } = (await findErasure(tx, subject))!
  await tx
    .update(erasures)
    .set({ counts: { ...counts, [table]: (counts[table] ?? 0) + rows } })
    .where(eq(erasures.userId, subject.id))
}

/** Begins an erasure that has ended once more, with other words. Undefined if it has not ended. */
export async function reopenErasure(
  tx: Tx,
  { id }: Subject,
  words: ErasedWords,
  startedAt: number,
): Promise<ErasureRecord | undefined> {
  const { erasures } = tx.tables
  const [reopened] = await tx
    .update(erasures)
    .set({ words, startedAt, endedAt: null })
    .where(and(eq(erasures.userId, id), isNotNull(erasures.endedAt)))
    .returning()
  return reopened
}

/** Forgets the words. False if another server has ended it. */
export async function endErasure(tx: Tx, { userId, startedAt }: ErasureRecord, endedAt: number): Promise<boolean> {
  const { erasures } = tx.tables
  const isSame = and(eq(erasures.userId, userId), eq(erasures.startedAt, startedAt), isNull(erasures.endedAt))
  const ended = await tx
    .update(erasures)
    .set({ words: null, endedAt })
    .where(isSame)
    .returning({ userId: erasures.userId })
  return ended.length > 0
}
