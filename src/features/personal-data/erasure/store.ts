/** Finds and replaces words in the text columns of all tables, and what else an erasure removes. */
import { and, asc, eq, getTableColumns, getTableName, inArray, isNull, max, ne, or, type SQL, sql } from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import type { Reader, Tx } from '../../../database/database.ts'
import { keyRanges } from '../../../database/key-ranges.ts'
import { portionsOf } from '../../../database/portions.ts'
import type { ErasedWords } from '../../../database/schema/records.ts'
import type { Tables } from '../../../database/schema/tables.ts'
import { containing } from '../../../database/search-pattern.ts'
import type { Id } from '../../../lib/id.ts'
import { hashOfSessionId } from '../../entries/session-id.ts'
import { type KeptBecause, TEXT_COLUMNS } from './columns.ts'
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
  isJson: boolean
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
    unique,
    kept = {},
  } = TEXT_COLUMNS[name]! as {
    key: string[]
    text?: string[]
    json?: string[]
    unique?: string
    kept?: Record<string, KeptBecause>
  }
  const column = (isJson: boolean) => (of: string) => ({ name: of, isJson, isUnique: of === unique })
  return {
    table,
    columns: getTableColumns(table) as Record<string, PgColumn>,
    key,
    replaced: [...text.map(column(false)), ...json.map(column(true))],
    kept: Object.entries(kept),
  }
}

function mentions(column: PgColumn, hints: readonly string[]): SQL | undefined {
  return or(...hints.map((hint) => sql`lower(${column}) LIKE ${containing(hint)} ESCAPE '!'`))
}

/** The columns as text, whatever they contain. */
function selection({ columns }: Layout, names: readonly string[]): Record<string, SQL<string | null> | PgColumn> {
  return Object.fromEntries(
    names.map((name) => [name, columns[name]!.getSQLType() === 'text' ? sql`${columns[name]!}` : columns[name]!]),
  )
}

/** Rows in which a column may contain one of the words, with other columns, in ranges of their keys. */
async function* eachMention(
  reader: Reader,
  layout: Layout,
  names: readonly string[],
  hints: readonly string[],
  others: readonly string[] = [],
): AsyncGenerator<Row[]> {
  const [first] = layout.key
  if (first === undefined || names.length === 0) return
  for await (const range of keyRanges(reader, layout.table, layout.columns[first]!)) {
    const rows = await reader
      .select(selection(layout, [...layout.key, ...names, ...others]))
      .from(layout.table)
      .where(and(range, or(...names.map((name) => mentions(layout.columns[name]!, hints)))))
    if (rows.length > 0) yield rows as Row[]
  }
}

/** Whose rows about the account have words that mean others elsewhere. */
const OF_ACCOUNTS: readonly TextTable[] = ['audit', 'events']

/** How the words are replaced in a row: in what the logs have of the account, also those that mean others elsewhere. */
function replacingIn(name: TextTable, words: ErasedWords, { uid }: Subject) {
  const anywhere = replacing(words, { ofAccount: false })
  if (!OF_ACCOUNTS.includes(name)) return { hints: anywhere.hints, of: () => anywhere }
  const account = replacing(words, { ofAccount: true })
  return { hints: account.hints, of: (row: Row) => (row.objectId === uid ? account : anywhere) }
}

/** Columns that a row is judged by, besides those with text. */
const judgedBy = (name: TextTable) => (OF_ACCOUNTS.includes(name) ? ['objectId'] : [])

function replacedTexts(row: Row, columns: readonly Column[], { inText, inJson }: Replacing, nth?: number) {
  const changes: Record<string, string> = {}
  for (const { name, isJson } of columns) {
    const text = row[name]
    if (typeof text !== 'string') continue
    const replaced = isJson ? inJson(text, nth) : inText(text, nth)
    if (replaced !== text) changes[name] = replaced
  }
  return changes
}

const isChange = (changes: object) => Object.keys(changes).length > 0

/** Rows of a table in which words would be replaced, and rows with words that are kept, by the reason. */
export async function countMentions(
  reader: Reader,
  name: TextTable,
  words: ErasedWords,
  subject: Subject,
): Promise<{ replaced: number; kept: Partial<Record<KeptBecause, number>> }> {
  const layout = layoutOf(reader.tables, name)
  const { hints, of } = replacingIn(name, words, subject)
  const texts = layout.replaced.map((column) => column.name)
  let replaced = 0
  for await (const rows of eachMention(reader, layout, texts, hints)) {
    const judged = await withJudged(reader, layout, name, rows)
    for (const row of judged) if (isChange(replacedTexts(row, layout.replaced, of(row)))) replaced += 1
  }
  const kept: Partial<Record<KeptBecause, number>> = {}
  const anywhere = replacing(words, { ofAccount: false })
  const columns = layout.kept.map(([column]) => ({ name: column, isJson: false, isUnique: false }))
  const keptNames = columns.map((column) => column.name)
  const owner = name === 'idempotencyKeys' ? ['managerId'] : []
  for await (const rows of eachMention(reader, layout, keptNames, anywhere.hints, owner)) {
    for (const row of rows) {
      // Those of the person are removed.
      if (row.managerId === subject.id) continue
      const found = Object.keys(replacedTexts(row, columns, anywhere))
      for (const because of new Set(layout.kept.filter(([column]) => found.includes(column)).map(([, why]) => why))) {
        kept[because] = (kept[because] ?? 0) + 1
      }
    }
  }
  return { replaced, kept }
}

async function withJudged(reader: Reader, layout: Layout, name: TextTable, rows: Row[]): Promise<Row[]> {
  if (judgedBy(name).length === 0) return rows
  const found: Row[] = []
  for (const portion of portionsOf(rows)) found.push(...(await reread(reader, layout, name, portion)))
  return found
}

/** Rows by their keys, as they are now. */
async function reread(reader: Reader, layout: Layout, name: TextTable, rows: readonly Row[]): Promise<Row[]> {
  const [first] = layout.key
  const names = [...layout.key, ...layout.replaced.map((column) => column.name), ...judgedBy(name)]
  const keys = [...new Set(rows.map((row) => row[first!]))]
  const found = await reader
    .select(selection(layout, names))
    .from(layout.table)
    .where(inArray(layout.columns[first!]!, keys))
  return found as Row[]
}

/** The keys of rows in which words may have to be replaced, in portions that a transaction can change. */
export async function* eachPortion(
  reader: Reader,
  name: TextTable,
  words: ErasedWords,
  subject: Subject,
): AsyncGenerator<Row[]> {
  const layout = layoutOf(reader.tables, name)
  const { hints } = replacingIn(name, words, subject)
  const texts = layout.replaced.map((column) => column.name)
  for await (const rows of eachMention(reader, layout, texts, hints)) yield* portionsOf(rows)
}

/** Replaces the words in these rows, as they are now. Returns the number of changed rows. */
export async function replaceWords(
  tx: Tx,
  name: TextTable,
  rows: readonly Row[],
  words: ErasedWords,
  subject: Subject,
): Promise<number> {
  const layout = layoutOf(tx.tables, name)
  const { of } = replacingIn(name, words, subject)
  let changed = 0
  for (const row of await reread(tx, layout, name, rows)) {
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

/** The ids of sessions that contain a word. */
export async function* eachSessionMention(reader: Reader, words: ErasedWords): AsyncGenerator<number[]> {
  const { inText, hints } = replacing(words, { ofAccount: false })
  const layout = layoutOf(reader.tables, 'sessions')
  for await (const rows of eachMention(reader, layout, ['sessionKey'], hints)) {
    const found = rows.filter(({ sessionKey }) => inText(sessionKey as string) !== sessionKey)
    yield* portionsOf(found.map(({ id }) => Number(id)))
  }
}

/** Replaces the ids of sessions by their hashes, so that reports of them still find them. */
export async function hashSessionIds(tx: Tx, ids: readonly number[]): Promise<void> {
  const { sessions } = tx.tables
  const found = await tx
    .select({ id: sessions.id, sessionKey: sessions.sessionKey })
    .from(sessions)
    .where(inArray(sessions.id, [...ids]))
  for (const { id, sessionKey } of found) {
    await tx
      .update(sessions)
      .set({ sessionKey: hashOfSessionId(sessionKey) })
      .where(eq(sessions.id, id))
  }
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

/** The person no longer leads or approves for anything, their share links end, and their views of reports are deleted. */
export async function releaseWork(tx: Tx, { id }: Subject, now: number): Promise<void> {
  const { clientLeads, clientApprovers, projectLeads, projectApprovers, shareLinks, reportViews } = tx.tables
  await tx.delete(reportViews).where(eq(reportViews.ownerId, id))
  for (const table of [clientLeads, clientApprovers, projectLeads, projectApprovers]) {
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

/** Addresses that telemetry named for sessions of the person, unless they are somebody else's. */
export async function listTelemetryEmails(reader: Reader, { id }: Subject): Promise<string[]> {
  const { sessions, telemetrySessions, users, userEmails } = reader.tables
  const rows = await reader
    .selectDistinct({ email: telemetrySessions.email })
    .from(telemetrySessions)
    .innerJoin(sessions, eq(sessions.id, telemetrySessions.sessionId))
    .where(
      and(eq(sessions.managerId, id), eq(sessions.unidentified, false), sql`${telemetrySessions.email} IS NOT NULL`),
    )
  const emails = rows.map(({ email }) => email!)
  const others = [
    ...(await reader
      .select({ email: users.email })
      .from(users)
      .where(and(inArray(users.email, emails), ne(users.id, id)))),
    ...(await reader
      .select({ email: userEmails.email })
      .from(userEmails)
      .where(and(inArray(userEmails.email, emails), ne(userEmails.userId, id)))),
  ].map(({ email }) => email)
  return emails.filter((email) => !others.includes(email))
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

/** Forgets the words. False if another server has ended it. */
export async function endErasure(tx: Tx, { id }: Subject, endedAt: number): Promise<boolean> {
  const { erasures } = tx.tables
  const ended = await tx
    .update(erasures)
    .set({ words: null, endedAt })
    .where(and(eq(erasures.userId, id), isNull(erasures.endedAt)))
    .returning({ userId: erasures.userId })
  return ended.length > 0
}
