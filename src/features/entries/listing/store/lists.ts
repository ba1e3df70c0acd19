/** Which entries a question is about: the filters of lists as conditions. */
import {
  and,
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
  notInArray,
  or,
  type SQL,
  type SQLWrapper,
  sql,
} from 'drizzle-orm'
import { type Viewer, visibleEntries, visibleParts } from '../../../../access/visibility.ts'
import type { Reader } from '../../../../database/database.ts'
import { type Id, type IdPrefix, isId } from '../../../../lib/id.ts'
import { foldName } from '../../../../lib/names.ts'
import { type EntryView, selectViews } from '../../store.ts'
import { type EntryFilter, type Position, partsOf } from '../filter.ts'

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

/** What `none` among the values stands for, or what the others do. */
function orNone(values: string[], none: SQL, others: (named: string[]) => SQL | undefined): SQL | undefined {
  const named = values.filter((value) => value !== 'none')
  return or(named.length < values.length ? none : undefined, others(named))
}

/**
 * A column among the keys that a query answers for some values. Of one value there is at most one key, and only where
 * the column equals it does an index give the entries in the order of time; among several they would all be sorted.
 */
function isKeyOf(column: Column, values: string[], query: SQLWrapper): SQL {
  return values.length === 1 ? eq(column, query) : inArray(column, query as never)
}

export function conditionOf(reader: Reader, filter: EntryFilter): SQL | undefined {
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
  const projectsThat = (condition: SQL) => reader.select({ id: t.projects.id }).from(t.projects).where(condition)
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
    filter.endedAfter === undefined ? undefined : gt(e.endedAt, filter.endedAfter),
    filter.projects &&
      orNone(filter.projects, isNull(e.projectId), (named) =>
        idOr(
          'prj',
          named,
          (ids) => isKeyOf(e.projectId, ids, projectsById(ids)),
          (texts) => isKeyOf(e.projectId, texts, projectsNamed(texts)),
        ),
      ),
    filter.tickets &&
      idOr(
        'tkt',
        filter.tickets,
        (ids) =>
          isKeyOf(
            e.ticketId,
            ids,
            reader.select({ id: t.tickets.id }).from(t.tickets).where(inArray(t.tickets.uid, ids)),
          ),
        (texts) =>
          isKeyOf(
            e.ticketId,
            texts,
            reader
              .select({ id: t.tickets.id })
              .from(t.tickets)
              .where(inArray(t.tickets.keyFolded, folded(texts))),
          ),
      ),
    filter.clients &&
      orNone(filter.clients, inArray(e.projectId, projectsThat(isNull(t.projects.clientId))), (named) =>
        idOr(
          'cli',
          named,
          (ids) => clientsProjects(inArray(t.clients.uid, ids)),
          (texts) => clientsProjects(inArray(t.clients.nameFolded, folded(texts))),
        ),
      ),
    filter.billable === undefined
      ? undefined
      : filter.billable
        ? or(isNull(e.projectId), inArray(e.projectId, projectsThat(eq(t.projects.billable, true))))
        : inArray(e.projectId, projectsThat(eq(t.projects.billable, false))),
    filter.managers &&
      idOr(
        'usr',
        filter.managers,
        (ids) =>
          isKeyOf(e.managerId, ids, reader.select({ id: t.users.id }).from(t.users).where(inArray(t.users.uid, ids))),
        (texts) =>
          isKeyOf(
            e.managerId,
            texts,
            reader
              .select({ id: t.users.id })
              .from(t.users)
              .where(inArray(t.users.email, folded(texts))),
          ),
      ),
    among(e.agentId, keyOf(filter.agents)),
    among(e.harnessId, keyOf(filter.harnesses)),
    among(e.modelId, keyOf(filter.models)),
    filter.providers &&
      or(
        filter.providers.includes('none') ? isNull(e.providerId) : undefined,
        among(e.providerId, keyOf(filter.providers)),
      ),
    filter.statuses && inArray(e.status, filter.statuses),
    filter.sources && inArray(e.source, filter.sources),
    filter.sessionKeys &&
      inArray(
        e.sessionId,
        reader.select({ id: t.sessions.id }).from(t.sessions).where(inArray(t.sessions.sessionKey, filter.sessionKeys)),
      ),
    ...labelConditions(reader, filter.labels),
    filter.withoutLabels && lacksLabels(reader, filter.withoutLabels),
    filter.placed && or(...filter.placed.map((by) => (by === 'none' ? isNull(e.placedBy) : eq(e.placedBy, by)))),
    filter.priced === undefined
      ? undefined
      : filter.priced
        ? or(isNotNull(e.reportedCost), isNotNull(e.listValue))
        : and(isNull(e.reportedCost), isNull(e.listValue)),
    filter.possibleDuplicate === undefined
      ? undefined
      : filter.possibleDuplicate
        ? isNotNull(e.possibleDuplicateId)
        : isNull(e.possibleDuplicateId),
    filter.superseded === undefined ? undefined : eq(e.superseded, filter.superseded),
    filter.bills &&
      orNone(filter.bills, isNull(e.billId), (named) =>
        idOr(
          'bil',
          named,
          (ids) => inArray(e.billId, reader.select({ id: t.bills.id }).from(t.bills).where(inArray(t.bills.uid, ids))),
          (texts) =>
            inArray(e.billId, reader.select({ id: t.bills.id }).from(t.bills).where(inArray(t.bills.number, texts))),
        ),
      ),
    filter.sheets &&
      inArray(
        e.sheetId,
        reader
          .select({ id: t.sheets.id })
          .from(t.sheets)
          .where(
            inArray(
              t.sheets.uid,
              filter.sheets.filter((sheet) => isId('sht', sheet)),
            ),
          ),
      ),
    filter.billedOn && inArray(e.id, entriesOf(reader, filter.billedOn)),
    filter.text === undefined
      ? undefined
      : sql`lower(${e.summary}) LIKE ${`%${escapeLike(filter.text.toLowerCase())}%`} ESCAPE '!'`,
  )
}

/** The keys of the entries that were put on a bill. */
function entriesOf(reader: Reader, { bill, line }: NonNullable<EntryFilter['billedOn']>) {
  const { bills, billEntries } = reader.tables
  const named = reader.select({ id: bills.id }).from(bills).where(eq(bills.uid, bill))
  return reader
    .select({ id: billEntries.entryId })
    .from(billEntries)
    .where(and(inArray(billEntries.billId, named), line === undefined ? undefined : eq(billEntries.line, line)))
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

function lacksLabels(reader: Reader, names: string[]): SQL | undefined {
  const { labelPairs, entries } = reader.tables
  const having = reader.select({ id: labelPairs.labelSetId }).from(labelPairs).where(inArray(labelPairs.name, names))
  return or(isNull(entries.labelSetId), notInArray(entries.labelSetId, having))
}

function escapeLike(text: string): string {
  return text.replace(/[!%_]/g, (character) => `!${character}`)
}

export function isBehind(reader: Reader, after: Position | undefined): SQL | undefined {
  const { entries } = reader.tables
  return (
    after &&
    and(lte(entries.startedAt, after.startedAt), or(lt(entries.startedAt, after.startedAt), lt(entries.id, after.id)))
  )
}

interface Page {
  filter: EntryFilter
  viewer: Viewer
  after: Position | undefined
  limit: number
}

/** Parts that are read one by one. Of more, sorting everything costs less than asking for each. */
const PART_LIMIT = 40

/**
 * Entries newest first, starting after `after`. What several values, or a member's sight, put together is read part by
 * part, each by an index in the order of time, and merged: no index gives them together in this order.
 */
export async function listViews(reader: Reader, { filter, viewer, after, limit }: Page): Promise<EntryView[]> {
  const { entries } = reader.tables
  const newestFirst = [desc(entries.startedAt), desc(entries.id)]
  const sights = await visibleParts(reader, viewer)
  const parts = partsOf(filter).flatMap((one) => sights.map((sight) => and(conditionOf(reader, one), sight)))
  if (parts.length === 1 || parts.length > PART_LIMIT) {
    const whole = and(conditionOf(reader, filter), visibleEntries(reader, viewer))
    return selectViews(reader)
      .where(and(parts.length === 1 ? parts[0] : whole, isBehind(reader, after)))
      .orderBy(...newestFirst)
      .limit(limit)
  }
  const found = new Map<number, number>()
  for (const part of parts) {
    const rows = await reader
      .select({ id: entries.id, startedAt: entries.startedAt })
      .from(entries)
      .where(and(part, isBehind(reader, after)))
      .orderBy(...newestFirst)
      .limit(limit)
    for (const { id, startedAt } of rows) found.set(id, startedAt)
  }
  const ids = [...found].sort(([a, startOfA], [b, startOfB]) => startOfB - startOfA || b - a).map(([id]) => id)
  return selectViews(reader)
    .where(inArray(entries.id, ids.slice(0, limit)))
    .orderBy(...newestFirst)
}

/** The entry with this public id, where the caller may see it. */
export async function findView(reader: Reader, uid: Id<'ent'>, viewer: Viewer): Promise<EntryView | undefined> {
  const [row] = await selectViews(reader)
    .where(and(eq(reader.tables.entries.uid, uid), visibleEntries(reader, viewer)))
    .limit(1)
  return row
}
