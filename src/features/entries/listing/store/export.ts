/** Entries for exports: narrow rows by the thousand, and each row that they refer to once. */

import {
  and,
  desc,
  eq,
  gt,
  gte,
  inArray,
  isNotNull,
  lt,
  lte,
  max,
  or,
  type SQL,
  type SQLWrapper,
  sql,
} from 'drizzle-orm'
import { type Viewer, visibleEntries } from '../../../../access/visibility.ts'
import type { Reader } from '../../../../database/database.ts'
import { conditionOf, type EntryFilter, type Position } from '../../../selection/contract.ts'
import { settledColumns } from '../../billing/store.ts'
import { isBehind } from './lists.ts'

export interface ExportRequest {
  filter: EntryFilter
  viewer: Viewer
}

const NANOS = sql.raw('1000000000')

/** What an entry's line is made of. What many entries share is referred to by key. */
interface ExportedCells {
  id: number
  /** Its digits. */
  uid: string
  status: string
  source: string
  managerId: number
  managerBy: string
  harnessId: number
  agentId: number
  modelId: number
  providerId: number | null
  startedAt: number
  endedAt: number
  input: number
  output: number
  cacheRead: number
  cacheWrite: number
  cacheWrite1h: number
  usageDetails: string | null
  requests: number | null
  /** Amounts above 2^53 would not be exact in one number. */
  reportedDollars: number | null
  reportedNanos: number
  listDollars: number | null
  listNanos: number
  priceId: number | null
  priceNote: string | null
  projectId: number | null
  ticketId: number | null
  placedBy: string | null
  summary: string | null
  labelSetId: number | null
  sessionKey: string | null
  part: number | null
  corrected: string | null
  amendment: string | null
  activeMs: number | null
  sliceDay: number | null
  estimated: number
  duplicateId: number | null
  billId: number | null
  sheetId: number | null
  fundingId: number | null
  createdAt: number
  priceStep: number | null
  ruleVersionId: number | null
  placementNote: string | null
  namedProject: string | null
  namedTicket: string | null
  continuesId: number | null
  superseded: number
  updatedAt: number | null
}

/** In the order of a row. A format needs the first ones, up to the last that it shows. */
const NAMES = [
  'id',
  'uid',
  'status',
  'source',
  'managerId',
  'managerBy',
  'harnessId',
  'agentId',
  'modelId',
  'providerId',
  'startedAt',
  'endedAt',
  'input',
  'output',
  'cacheRead',
  'cacheWrite',
  'cacheWrite1h',
  'usageDetails',
  'requests',
  'reportedDollars',
  'reportedNanos',
  'listDollars',
  'listNanos',
  'priceId',
  'priceNote',
  'projectId',
  'ticketId',
  'placedBy',
  'summary',
  'labelSetId',
  'sessionKey',
  'part',
  'corrected',
  'amendment',
  'activeMs',
  'sliceDay',
  'estimated',
  'duplicateId',
  'billId',
  'sheetId',
  'fundingId',
  'createdAt',
  'priceStep',
  'ruleVersionId',
  'placementNote',
  'namedProject',
  'namedTicket',
  'continuesId',
  'superseded',
  'updatedAt',
] as const satisfies (keyof ExportedCells)[]

type Index = Exclude<keyof typeof NAMES, keyof unknown[]>

/** The cells of an entry, as the driver returns them: an object per entry would take twice as long. */
export type ExportedRow = { readonly [At in Index]: ExportedCells[(typeof NAMES)[At]] }

/** Where a row has the cell with a name. The positions are numbers, whatever TypeScript calls the indexes of a tuple. */
export const AT = Object.fromEntries(NAMES.map((name, at) => [name, at])) as unknown as {
  readonly [At in Index as (typeof NAMES)[At]]: At
}

export type CellName = keyof ExportedCells

function cellsOf(reader: Reader): Record<CellName, SQLWrapper> {
  const { entries: e, sessions } = reader.tables
  return {
    ...e,
    ...settledColumns(reader),
    uid: reader.engine === 'sqlite' ? sql`lower(hex(${e.uid}))` : sql`encode(${e.uid}, 'hex')`,
    reportedDollars: sql`${e.reportedCost} / ${NANOS}`,
    reportedNanos: sql`${e.reportedCost} % ${NANOS}`,
    listDollars: sql`${e.listValue} / ${NANOS}`,
    listNanos: sql`${e.listValue} % ${NANOS}`,
    sessionKey: sessions.sessionKey,
    superseded: sql`CASE WHEN ${e.superseded} THEN 1 ELSE 0 END`,
    estimated: sql`CASE WHEN ${e.estimated} THEN 1 ELSE 0 END`,
    duplicateId: e.possibleDuplicateId,
  }
}

/** Rows that match a condition, newest first, with the cells up to `last`. */
function exportedRows(reader: Reader, condition: SQL | undefined, limit: number, last: CellName) {
  const { entries: e, sessions } = reader.tables
  const cells = cellsOf(reader)
  const names = NAMES.slice(0, NAMES.indexOf(last) + 1)
  const query = reader.raw(
    reader
      .select(Object.fromEntries(names.map((name) => [name, sql`${cells[name]}`.as(name)])))
      .from(e)
      .leftJoin(sessions, eq(sessions.id, e.sessionId))
      .where(condition)
      .orderBy(desc(e.startedAt), desc(e.id))
      .limit(limit),
  )
  return (values: Record<string, unknown>) => query.values(values) as unknown as Promise<ExportedRow[]>
}

/** How a file is read: page by page, with the cells up to `last`. */
interface PageShape {
  limit: number
  last: CellName
}

/** The rows of a request, page by page. */
export async function exportedPages(reader: Reader, request: ExportRequest, { limit, last }: PageShape) {
  const { startedAt, id } = reader.tables.entries
  const [from, start, key] = [sql.placeholder('from'), sql.placeholder('startedAt'), sql.placeholder('id')]
  const isInPage = and(gte(startedAt, from), lte(startedAt, start), or(lt(startedAt, start), lt(id, key)))
  const page = exportedRows(reader, and(isInPage, await isRequested(reader, request)), limit, last)
  /** The page that follows a position and reaches back to the start `from`. */
  return (after: Position, from: number) => page({ ...after, from })
}

async function isRequested(reader: Reader, { filter, viewer }: ExportRequest): Promise<SQL | undefined> {
  return and(conditionOf(reader, filter), await visibleEntries(reader, viewer))
}

/** The keys of all rows of a request, newest first. */
export async function listExportedKeys(reader: Reader, request: ExportRequest): Promise<number[]> {
  const { startedAt, id } = reader.tables.entries
  const query = reader
    .select({ id: sql`${id}`.as('id') })
    .from(reader.tables.entries)
    .where(await isRequested(reader, request))
    .orderBy(desc(startedAt), desc(id))
  const rows = await reader.raw<{ id: number }>(query).execute()
  return rows.map((row) => row.id)
}

/** The rows with some keys, at most `limit` at a time. */
export function exportedByKeys(reader: Reader, { limit, last }: PageShape) {
  const names = Array.from({ length: limit }, (_, at) => `key${at}`)
  const isAny = inArray(
    reader.tables.entries.id,
    names.map((name) => sql.placeholder(name)),
  )
  const rows = exportedRows(reader, isAny, limit, last)
  // No entry has the id 0.
  return (keys: number[]) => rows(Object.fromEntries(names.map((name, at) => [name, keys[at] ?? 0])))
}

/** The latest start of any entry after this position and within the filter's period; undefined if there is none. */
export async function findLatestStart(
  reader: Reader,
  { starting_at, ending_at }: EntryFilter,
  after: Position | undefined,
): Promise<number | undefined> {
  const { entries } = reader.tables
  const [row] = await reader
    .select({ latest: max(entries.startedAt) })
    .from(entries)
    .where(and(conditionOf(reader, { starting_at, ending_at }), isBehind(reader, after)))
  return row!.latest ?? undefined
}

/** The next name of any label after this one, in their order. */
export async function findNextLabelName(reader: Reader, after: string): Promise<string | null> {
  const { labelPairs } = reader.tables
  const [row] = await reader
    .select({ name: sql<string | null>`min(${labelPairs.name})` })
    .from(labelPairs)
    .where(gt(labelPairs.name, after))
  return row!.name
}

/** The sets of labels of the requested entries that start after `from`, and not after `to`; of all without a window. */
export async function listLabelSets(
  reader: Reader,
  request: ExportRequest,
  window: { from: number; to: number } | undefined,
): Promise<number[]> {
  const { entries, sessions } = reader.tables
  const isInWindow = window && and(gt(entries.startedAt, window.from), lte(entries.startedAt, window.to))
  const query = reader
    .selectDistinct({ id: sql`${entries.labelSetId}`.as('id') })
    .from(entries)
    .leftJoin(sessions, eq(sessions.id, entries.sessionId))
    .where(and(isNotNull(entries.labelSetId), isInWindow, await isRequested(reader, request)))
  const rows = await reader.raw<{ id: number }>(query).execute()
  return rows.map(({ id }) => id)
}

const KEY = sql.placeholder('key')

function selectName(reader: Reader) {
  const { names: t } = reader.tables
  return reader.select({ key: t.id, text: t.text }).from(t).where(eq(t.id, KEY))
}

function selectId(reader: Reader) {
  const { entries: t } = reader.tables
  return reader.select({ key: t.id, id: t.uid }).from(t).where(eq(t.id, KEY))
}

/** The rows that entries refer to, by what they are of an entry. */
const REFERRED = {
  managers: (reader: Reader) => {
    const { users: t } = reader.tables
    return reader.select({ key: t.id, id: t.uid, name: t.name, email: t.email }).from(t).where(eq(t.id, KEY))
  },
  harnesses: selectName,
  agents: selectName,
  models: selectName,
  providers: selectName,
  prices: (reader: Reader) => {
    const { prices: t } = reader.tables
    return reader.select({ key: t.id, id: t.uid }).from(t).where(eq(t.id, KEY))
  },
  projects: (reader: Reader) => {
    const { projects: t } = reader.tables
    return reader.select({ key: t.id, id: t.uid, project: t.key, name: t.name }).from(t).where(eq(t.id, KEY))
  },
  tickets: (reader: Reader) => {
    const { tickets: t } = reader.tables
    return reader.select({ key: t.id, id: t.uid, ticket: t.key }).from(t).where(eq(t.id, KEY))
  },
  rules: (reader: Reader) => {
    const { placementRules, placementRuleVersions: t } = reader.tables
    return reader
      .select({ key: t.id, id: placementRules.uid, name: t.name, version: t.version })
      .from(t)
      .innerJoin(placementRules, eq(placementRules.id, t.ruleId))
      .where(eq(t.id, KEY))
  },
  labels: (reader: Reader) => {
    const { labelSets: t } = reader.tables
    return reader.select({ key: t.id, labels: t.labels }).from(t).where(eq(t.id, KEY))
  },
  continued: selectId,
  duplicated: selectId,
  bills: (reader: Reader) => {
    const { bills: t } = reader.tables
    return reader.select({ key: t.id, id: t.uid, number: t.number }).from(t).where(eq(t.id, KEY))
  },
  fundings: (reader: Reader) => {
    const { fundings: t, plans, fundingRules, fundingRuleVersions: versions } = reader.tables
    return reader
      .select({
        key: t.id,
        funding: {
          funding: t.funding,
          saidFunding: t.saidFunding,
          saidPlan: t.saidPlan,
          meteredShare: t.meteredShare,
          reason: t.reason,
          note: t.note,
        },
        fundingPlan: { uid: plans.uid, name: plans.name },
        fundingRule: fundingRules.uid,
        fundingRuleVersion: { name: versions.name, version: versions.version },
      })
      .from(t)
      .leftJoin(plans, eq(plans.id, t.planId))
      .leftJoin(versions, eq(versions.id, t.ruleVersionId))
      .leftJoin(fundingRules, eq(fundingRules.id, versions.ruleId))
      .where(eq(t.id, KEY))
  },
  sheets: (reader: Reader) => {
    const { sheets: t } = reader.tables
    return reader.select({ key: t.id, id: t.uid }).from(t).where(eq(t.id, KEY))
  },
}

export type Referred = keyof typeof REFERRED
export type ReferredRow<Kind extends Referred> = Awaited<ReturnType<(typeof REFERRED)[Kind]>>[number]

export async function listReferred<Kind extends Referred>(
  reader: Reader,
  kind: Kind,
  keys: number[],
): Promise<ReferredRow<Kind>[]> {
  const each = keys.map((key) => ({ key }))
  const found = await reader.findEach<ReferredRow<Kind>>(`export.${kind}`, REFERRED[kind] as never, each)
  return found.flat()
}
