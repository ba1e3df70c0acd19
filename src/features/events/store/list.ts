/** What somebody can read of the log, in its order. */
import {
  aliasedTable,
  and,
  asc,
  count,
  eq,
  gt,
  inArray,
  isNotNull,
  isNull,
  like,
  lte,
  max,
  ne,
  not,
  or,
  type SQL,
  sql,
} from 'drizzle-orm'
import { detailsFor, type Viewer, visibleByKeys, visibleEntries, visibleSheets } from '../../../access/visibility.ts'
import type { Reader } from '../../../database/database.ts'
import type { Tables } from '../../../database/schema/tables.ts'
import { type Id, isId } from '../../../lib/id.ts'
import {
  ALERT_TYPES,
  type Audience,
  EVENT_TYPE_NAMES,
  EVENT_TYPES,
  type EventType,
} from '../../../shared/event-types.ts'
import { type EventReader, mayRead } from '../reader.ts'
import { type EventScope, isWithin } from './scope.ts'

/** An event with the names of what it refers to. */
export interface EventView extends Pick<Tables['events']['$inferSelect'], 'id' | 'at' | 'type' | 'details'> {
  object: { id: string; name: string | null } | null
  /** Of an entry that exists. */
  entry: { uid: Id<'ent'>; agent: string; startedAt: number } | null
  user: { uid: Id<'usr'>; name: string } | null
  token: { uid: Id<'tok'>; name: string } | null
}

/** What of the log is wanted. */
export interface EventSelection {
  /** Undefined for all. */
  types: readonly EventType[] | undefined
  /** Undefined for all. */
  scope?: EventScope | undefined
  /** Alerts of budgets that name the webhook with this id are wanted as well. */
  webhook?: string | undefined
}

interface EventRange extends EventSelection {
  after: number
  /** Included. See `settledPosition`. */
  until: number
  limit: number
}

export interface EventsRead {
  views: EventView[]
  /** Where to continue: not the last event, if the reader can't see those after it. */
  next: number
  hasMore: boolean
}

/** Rows that are looked at for one page, in a few dozen milliseconds. If few match, a page is short. */
const WINDOW = 20_000

const REMOVED: EventType = 'entry.removed'

export async function listEvents(
  reader: Reader,
  who: EventReader,
  { after, until, limit, ...selection }: EventRange,
  windowRows = WINDOW,
): Promise<EventsRead> {
  const { events } = reader.tables
  const window = reader
    .select({ id: events.id })
    .from(events)
    .where(and(gt(events.id, after), lte(events.id, until)))
    .orderBy(asc(events.id))
    .limit(windowRows)
    .as('in_window')
  const [seen] = await reader.select({ rows: count(), last: max(window.id) }).from(window)
  if (!seen || seen.rows === 0) return { views: [], next: Math.max(after, until), hasMore: false }
  const isWhole = seen.rows < windowRows
  const last = isWhole ? until : Number(seen.last)
  const condition = await selected(reader, who, selection)
  if (!condition) return { views: [], next: last, hasMore: !isWhole }
  const rows = await selectEvents(reader)
    .where(and(gt(events.id, after), lte(events.id, last), condition))
    .orderBy(asc(events.id))
    .limit(limit)
  const views = await withoutHiddenSheets(reader, who, rows)
  const isFull = rows.length === limit
  return { views, next: isFull ? rows.at(-1)!.id : last, hasMore: isFull || !isWhole }
}

/** The number of events after a position that are wanted, at most `limit`. */
export async function countEvents(
  reader: Reader,
  who: EventReader,
  { after, until, limit, ...selection }: EventRange,
): Promise<number> {
  const { events, entries } = reader.tables
  const condition = await selected(reader, who, selection)
  if (!condition) return 0
  const found = reader
    .select({ id: events.id })
    .from(events)
    .leftJoin(entries, eq(entries.id, events.entryId))
    .where(and(gt(events.id, after), lte(events.id, until), condition))
    .limit(limit)
    .as('found')
  const [row] = await reader.select({ events: count() }).from(found)
  return row!.events
}

/** Undefined if the event does not exist, or the reader can't see it. */
export async function findEvent(reader: Reader, who: EventReader, id: number): Promise<EventView | undefined> {
  const condition = await readable(reader, who, undefined)
  const rows = await selectEvents(reader).where(and(eq(reader.tables.events.id, id), condition))
  const [view] = await withoutHiddenSheets(reader, who, rows)
  return view
}

function selectEvents(reader: Reader) {
  const { events, entries, names, users, tokens } = reader.tables
  return (
    reader
      .select({
        id: events.id,
        at: events.at,
        type: events.type,
        details: events.details,
        objectId: events.objectId,
        objectName: events.objectName,
        entry: { uid: entries.uid, agent: names.text, startedAt: entries.startedAt },
        user: { uid: users.uid, name: users.name },
        token: { uid: tokens.uid, name: tokens.name },
      })
      .from(events)
      // Another entry may have the key of one that was removed.
      .leftJoin(entries, and(eq(entries.id, events.entryId), ne(events.type, REMOVED)))
      .leftJoin(names, eq(names.id, entries.agentId))
      .leftJoin(tokens, eq(tokens.id, events.tokenId))
      // What an agent reports has the token alone, whose creator never changes.
      .leftJoin(users, eq(users.id, sql`coalesce(${events.userId}, ${tokens.createdBy})`))
  )
}

type EventRow = Awaited<ReturnType<typeof selectEvents>>[number]

/** The condition on events that are wanted and that the reader can see; undefined if that is none. */
async function selected(
  reader: Reader,
  who: EventReader,
  { types, scope, webhook }: EventSelection,
): Promise<SQL | undefined> {
  const { events } = reader.tables
  const wanted = await readable(reader, who, types)
  const alerts = webhook === undefined ? undefined : await readable(reader, who, ALERT_TYPES)
  const parts = [
    ...(wanted ? [and(wanted, scope && isWithin(reader, scope))!] : []),
    ...(alerts ? [and(alerts, like(sql`${events.details}`, `%"${webhook}"%`))!] : []),
  ]
  return parts.length > 0 ? or(...parts) : undefined
}

/** The condition on events that the reader can see, as far as it is one of a query; undefined if that is none. */
async function readable(
  reader: Reader,
  who: EventReader,
  types: readonly EventType[] | undefined,
): Promise<SQL | undefined> {
  const { events } = reader.tables
  const { viewer } = who
  const wanted = new Set((types ?? EVENT_TYPE_NAMES).filter((type) => mayRead(who, type)))
  const of = (audience: Audience, condition?: SQL): SQL[] => {
    const allowed = EVENT_TYPE_NAMES.filter(
      (type) => wanted.has(type) && type !== REMOVED && EVENT_TYPES[type].audience === audience,
    )
    return allowed.length > 0 ? [and(inArray(events.type, allowed), condition)!] : []
  }
  const isVisible = and(isOfCurrentEntry(reader), await visibleEntries(reader, viewer))
  const parts = [
    ...of('entries', isVisible),
    // Which of them are visible is asked afterwards, because they are few.
    ...of('sheets'),
    ...of('budgets', visibleByKeys(reader, viewer, { projectId: events.projectId })),
    ...of('usage', isOfUsage(reader, viewer, isVisible)),
    ...of('billing'),
    ...of('admins'),
    ...(wanted.has(REMOVED) ? [and(eq(events.type, REMOVED), visibleByKeys(reader, viewer, events))!] : []),
  ]
  return parts.length > 0 ? or(...parts) : undefined
}

/** Anomalies of the organization and of everyone, or of the viewer alone; not of an entry that they can't see now. */
function isOfUsage(reader: Reader, viewer: Viewer, isVisible: SQL | undefined): SQL | undefined {
  const { events } = reader.tables
  return and(
    viewer.sees === 'everything' ? undefined : eq(events.managerId, viewer.userId),
    or(isNull(events.entryId), isVisible),
  )
}

/** Whether the entry of an event exists, and is not another one that has the key of one that was removed. */
function isOfCurrentEntry(reader: Reader): SQL | undefined {
  const { events, entries } = reader.tables
  const removed = aliasedTable(events, 'removed')
  // The type is not bound, so that its index is used.
  const isRemoved = sql`EXISTS (SELECT 1 FROM ${events} AS ${sql.identifier('removed')} WHERE ${removed.type} = 'entry.removed' AND ${removed.entryId} = ${events.entryId} AND ${removed.id} > ${events.id})`
  return and(isNotNull(entries.id), not(isRemoved))
}

async function withoutHiddenSheets(
  reader: Reader,
  { viewer }: EventReader,
  rows: readonly EventRow[],
): Promise<EventView[]> {
  const views = rows.map((row) => viewOf(row, viewer))
  const sheetIds = views.flatMap(({ type, object }) =>
    EVENT_TYPES[type].audience === 'sheets' && object && isId('sht', object.id) ? [object.id] : [],
  )
  if (viewer.sees === 'everything' || sheetIds.length === 0) return views
  const { sheets } = reader.tables
  const found = await reader
    .select({ uid: sheets.uid })
    .from(sheets)
    .where(and(inArray(sheets.uid, [...new Set(sheetIds)]), visibleSheets(reader, viewer)))
  const visible = new Set<string>(found.map(({ uid }) => uid))
  return views.filter(({ type, object }) => EVENT_TYPES[type].audience !== 'sheets' || visible.has(object?.id ?? ''))
}

function viewOf({ objectId, objectName, ...row }: EventRow, viewer: Viewer): EventView {
  const { entry } = row
  return {
    ...row,
    details: row.details && { ...row.details, after: detailsFor(viewer, row.details.after) },
    object: objectId === null ? null : { id: objectId, name: objectName },
    entry: entry?.uid ? { ...entry, agent: entry.agent! } : null,
  } as EventView
}
