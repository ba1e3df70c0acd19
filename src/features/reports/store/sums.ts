/**
 * Sums entries by bucket and group in one statement, which sees one state of the database on both engines: for each
 * period either its sums in the roll-up or its entries, and also whether the roll-up was valid.
 *
 * The roll-up is read under the name of the entries' table, so that conditions on entries, including their visibility,
 * apply to it unchanged.
 */
import { aliasedTable, and, type Column, eq, inArray, or, type SQL, sql } from 'drizzle-orm'
import { type Viewer, visibleEntries } from '../../../access/visibility.ts'
import type { Reader } from '../../../database/database.ts'
import { ROLLED_COLUMNS, type RolledColumn, STRADDLING_GRAIN } from '../rollup-grain.ts'
import { hoursOf, type Range, type ReadingPlan } from '../rollup-plan.ts'
import { costOf } from './expressions.ts'

/** The columns that entries are grouped by. */
export type GroupColumn =
  | 'projectId'
  | 'ticketId'
  | 'managerId'
  | 'agentId'
  | 'harnessId'
  | 'providerId'
  | 'modelId'
  | 'status'
  | 'source'
  | 'labelSetId'

export function isRolled(column: GroupColumn): column is RolledColumn {
  return (ROLLED_COLUMNS as readonly GroupColumn[]).includes(column)
}

/** The metrics of a group in most reports. */
export const USE = [
  'input',
  'output',
  'cacheRead',
  'cacheWrite',
  'cacheWrite1h',
  'cost',
  'listValue',
  'reportedCost',
] as const

/** Of entries with both a reported cost and a list value. */
export const COMPARED = ['comparedEntries', 'comparedReportedCost', 'comparedListValue'] as const

export type Figure = (typeof USE)[number] | (typeof COMPARED)[number]

export interface GroupSums<Asked extends Figure> {
  bucket: number
  /** Keys of rows, or a status or source, in the order of the requested columns. */
  keys: (number | string | null)[]
  entries: number
  unpricedEntries: number
  straddling: number
  figures: Record<Asked, bigint | null>
}

export interface GroupQuery<Asked extends Figure> {
  viewer: Viewer
  condition: SQL | undefined
  /** The same without conditions that are true for the whole roll-up. */
  rolledCondition: SQL | undefined
  columns: readonly GroupColumn[]
  figures: readonly Asked[]
  /** Whether to sum only sessions that continued past the end of their bucket. */
  onlyStraddling: boolean
  bounds: readonly number[]
  /** Where to read; `zone` is the roll-up's time zone, undefined if everything is read from entries. */
  plan: ReadingPlan
  zone: string | undefined
  /** The roll-up's grain that contains the columns, including those of conditions. */
  grain: number
  /** The maximum number of groups, from the first bucket on; one more is returned if there are others. */
  limit: number | undefined
  /** Whether each sum is calculated in two halves, for sums beyond 64 bits. SQLite fails if a sum does not fit. */
  inHalves: boolean
}

/** The divisor for sums in halves: 9 billion entries with the largest values fit then. */
const HALF = 1_000_000_000

/** Consecutive buckets of equal length, which a division distinguishes. */
interface Stretch {
  startsAt: number
  endsAt: number
  lengthMs: number
  bucket: number
}

function stretchesOf(bounds: readonly number[]): Stretch[] {
  const stretches: Stretch[] = []
  for (let bucket = 0; bucket + 1 < bounds.length; bucket += 1) {
    const startsAt = bounds[bucket]!
    const endsAt = bounds[bucket + 1]!
    const last = stretches.at(-1)
    if (last?.lengthMs === endsAt - startsAt) last.endsAt = endsAt
    else stretches.push({ startsAt, endsAt, lengthMs: endsAt - startsAt, bucket })
  }
  return stretches
}

/** Trusted numbers are literals in the text: ten thousand bounds would be too many parameters. */
function literal(value: number): SQL {
  return sql.raw(value.toString())
}

function inList(column: Column, values: number[]): SQL {
  if (values.length === 0) return sql`1 = 0`
  return sql`${column} IN (${sql.join(values.map(literal), sql`, `)})`
}

/** The result of `leaf` for the stretch that contains `moment`, found by binary search, since there may be many. */
function inStretch(moment: Column, stretches: Stretch[], leaf: (stretch: Stretch) => SQL): SQL {
  if (stretches.length === 1) return leaf(stretches[0]!)
  const middle = stretches.length >> 1
  const [before, after] = [stretches.slice(0, middle), stretches.slice(middle)]
  return sql`CASE WHEN ${moment} < ${literal(after[0]!.startsAt)} THEN ${inStretch(moment, before, leaf)} ELSE ${inStretch(moment, after, leaf)} END`
}

function isSingle({ startsAt, endsAt, lengthMs }: Stretch): boolean {
  return endsAt - startsAt === lengthMs
}

function bucketOf(moment: Column, stretches: Stretch[]): SQL {
  return inStretch(moment, stretches, (stretch) =>
    isSingle(stretch)
      ? literal(stretch.bucket)
      : sql`${literal(stretch.bucket)} + (${moment} - ${literal(stretch.startsAt)}) / ${literal(stretch.lengthMs)}`,
  )
}

/** Whether `end` is after the bucket of `moment`. */
function isBehindBucket(end: Column, moment: Column, stretches: Stretch[]): SQL {
  return inStretch(moment, stretches, (stretch) =>
    isSingle(stretch)
      ? sql`${end} > ${literal(stretch.endsAt)}`
      : sql`(${end} - ${literal(stretch.startsAt)} - 1) / ${literal(stretch.lengthMs)} > (${moment} - ${literal(stretch.startsAt)}) / ${literal(stretch.lengthMs)}`,
  )
}

function isWithin(moment: Column, ranges: Range[]): SQL {
  const one = ({ from, to }: Range) => sql`(${moment} >= ${literal(from)} AND ${moment} < ${literal(to)})`
  return sql`(${sql.join(ranges.map(one), sql` OR `)})`
}

/** A sum as one column, or as two. */
function sumColumns(figure: SQL | Column, inHalves: boolean): SQL[] {
  if (!inHalves) return [sql`sum(${figure})`]
  return [sql`sum(${figure} / ${literal(HALF)})`, sql`sum(${figure} % ${literal(HALF)})`]
}

/** The columns of the arms of the statement, in this order. */
interface Arm {
  bucket: SQL
  keys: (Column | SQL)[]
  entries: SQL
  unpriced: SQL
  straddling: SQL
  figures: (Column | SQL)[]
  from: SQL
}

function selectArm({ bucket, keys, entries, unpriced, straddling, figures, from }: Arm, inHalves: boolean): SQL {
  const named = [
    sql`${bucket} AS bucket`,
    ...keys.map((key, at) => sql`${key} AS ${sql.raw(`key${at}`)}`),
    sql`${entries} AS entries`,
    sql`${unpriced} AS unpriced`,
    sql`${straddling} AS straddling`,
    ...figures
      .flatMap((figure) => sumColumns(figure, inHalves))
      .map((figure, at) => sql`${figure} AS ${sql.raw(`figure${at}`)}`),
  ]
  const groups = [...keys.keys(), keys.length].map((at) => literal(at + 1))
  return sql`SELECT ${sql.join(named, sql`, `)} FROM ${from} GROUP BY ${sql.join(groups, sql`, `)}`
}

function figuresOfEntries({ tables }: Reader): Record<Figure, Column | SQL> {
  const { entries: e } = tables
  const { input, output, cacheRead, cacheWrite, cacheWrite1h, listValue, reportedCost } = e
  const compared = (figure: SQL | Column) =>
    sql`CASE WHEN ${reportedCost} IS NOT NULL AND ${listValue} IS NOT NULL THEN ${figure} END`
  return {
    ...{ input, output, cacheRead, cacheWrite, cacheWrite1h, listValue, reportedCost },
    cost: costOf(tables),
    comparedEntries: compared(literal(1)),
    comparedReportedCost: compared(reportedCost),
    comparedListValue: compared(listValue),
  }
}

function fromEntries(reader: Reader, query: GroupQuery<Figure>, stretches: Stretch[]): SQL {
  const { entries: e } = reader.tables
  const figures = figuresOfEntries(reader)
  const isStraddling = isBehindBucket(e.endedAt, e.startedAt, stretches)
  const condition = and(
    isWithin(e.startedAt, query.plan.raw),
    query.onlyStraddling ? isStraddling : undefined,
    query.condition,
    visibleEntries(reader, query.viewer),
  )
  return selectArm(
    {
      bucket: bucketOf(e.startedAt, stretches),
      keys: query.columns.map((column) => e[column]),
      entries: sql`count(*)`,
      unpriced: sql`count(*) - count(${figures.cost})`,
      straddling: sql`sum(CASE WHEN ${isStraddling} THEN 1 ELSE 0 END)`,
      figures: query.figures.map((figure) => figures[figure]),
      from: sql`${e} WHERE ${condition}`,
    },
    query.inHalves,
  )
}

/** Rows of a grain, of the periods that the plan reads from the roll-up. */
function rolledArm(reader: Reader, query: GroupQuery<Figure>, grain: number, stretches: Stretch[]) {
  const { rollupPeriods: p, rollupSums } = reader.tables
  const s = aliasedTable(rollupSums, 'entries')
  const isPlanned = inList(
    p.id,
    query.plan.periods.map(({ id }) => id),
  )
  const isOfGrain = sql`${s.grain} = ${literal(grain)}`
  const isVisible = visibleEntries(reader, query.viewer)
  return {
    s,
    // SQLite keeps the order of a CROSS JOIN: few periods first, then the sums of each by the primary key.
    from: sql`${p} CROSS JOIN ${rollupSums} AS "entries"`,
    condition: and(isPlanned, eq(s.periodId, p.id), isOfGrain, query.rolledCondition, isVisible),
    isStraddling: isBehindBucket(s.straddlesTo, p.startsAt, stretches),
    bucket: bucketOf(p.startsAt, stretches),
    keys: query.columns.filter(isRolled).map((column) => s[column]),
  }
}

function fromRollup(reader: Reader, query: GroupQuery<Figure>, stretches: Stretch[]): SQL {
  const { s, from, condition, bucket, keys } = rolledArm(reader, query, query.grain, stretches)
  return selectArm(
    {
      bucket,
      keys,
      entries: sql`sum(${s.entries})`,
      unpriced: sql`sum(${s.unpricedEntries})`,
      straddling: literal(0),
      figures: query.figures.map((figure) => s[figure]),
      from: sql`${from} WHERE ${condition}`,
    },
    query.inHalves,
  )
}

/**
 * The sessions that continued past the end of both the period and the bucket. If others are requested as well, the
 * other arm sums their metrics.
 */
function straddlingFromRollup(reader: Reader, query: GroupQuery<Figure>, stretches: Stretch[]): SQL {
  const { s, from, condition, isStraddling, bucket, keys } = rolledArm(reader, query, STRADDLING_GRAIN, stretches)
  const { onlyStraddling } = query
  return selectArm(
    {
      bucket,
      keys,
      entries: onlyStraddling ? sql`sum(${s.entries})` : literal(0),
      unpriced: onlyStraddling ? sql`sum(${s.unpricedEntries})` : literal(0),
      straddling: sql`sum(${s.entries})`,
      figures: query.figures.map((figure) => (onlyStraddling ? s[figure] : sql`CAST(NULL AS bigint)`)),
      from: sql`${from} WHERE ${and(condition, isStraddling)}`,
    },
    query.inHalves,
  )
}

/**
 * The number of invalid parts of the roll-up that the plan uses: marked hours, stale days, days that were empty,
 * replaced periods, a dropped time zone. No term is negative, so that they can't cancel out.
 */
function doubts(reader: Reader, { trusted, trustedDays, periods }: ReadingPlan, zone: string): SQL {
  const { staleHours: h, rollupPeriods: p, rollupZones: z } = reader.tables
  const hours = trusted.map((range) => {
    const { first, last } = hoursOf(range)
    return sql`${h.hour} BETWEEN ${literal(first)} AND ${literal(last)}`
  })
  const reached = trusted.map(
    ({ from, to }) => sql`(${p.startsAt} < ${literal(to)} AND ${p.endsAt} > ${literal(from)})`,
  )
  const days = (state: 'clean' | 'stale') =>
    sql`(SELECT count(*) FROM ${p} WHERE ${and(eq(p.state, state), eq(p.level, 'day'), eq(p.zone, zone), or(...reached))})`
  const planned = inList(
    p.id,
    periods.map(({ id }) => id),
  )
  return sql.join(
    [
      sql`(SELECT count(*) FROM ${h} WHERE ${or(...hours)})`,
      days('stale'),
      sql`CASE WHEN ${days('clean')} = ${literal(trustedDays)} THEN 0 ELSE 1 END`,
      sql`${literal(periods.length)} - (SELECT count(*) FROM ${p} WHERE ${and(eq(p.state, 'clean'), planned)})`,
      sql`1 - (SELECT count(*) FROM ${z} WHERE ${and(eq(z.zone, zone), eq(z.ready, true))})`,
    ],
    sql` + `,
  )
}

/** Not a bucket: the row with the number of invalid parts. */
const DOUBTS = -1

/** The groups by bucket; undefined if the plan is no longer valid. */
export async function sumGroups<Asked extends Figure>(
  reader: Reader,
  query: GroupQuery<Asked>,
): Promise<GroupSums<Asked>[] | undefined> {
  const { plan, columns, figures, zone, limit, inHalves } = query
  const cells = inHalves ? 2 * figures.length : figures.length
  const stretches = stretchesOf(query.bounds)
  const arms: SQL[] = []
  if (plan.raw.length > 0) arms.push(fromEntries(reader, query, stretches))
  if (plan.periods.length > 0) {
    if (!query.onlyStraddling) arms.push(fromRollup(reader, query, stretches))
    arms.push(straddlingFromRollup(reader, query, stretches))
  }
  if (zone !== undefined && plan.trusted.length > 0) {
    const nothing = Array.from({ length: cells }, () => sql`NULL`)
    const selected = [
      literal(DOUBTS),
      ...columns.map(() => sql`NULL`),
      doubts(reader, plan, zone),
      literal(0),
      literal(0),
      ...nothing,
    ]
    arms.push(sql`SELECT ${sql.join(selected, sql`, `)}`)
  }
  if (arms.length === 0) return []
  const source = sql`(${sql.join(arms, sql` UNION ALL `)}) AS sums`
  // A statement with only the row of invalid parts has no column names.
  if (arms.length === 1 && plan.raw.length + plan.periods.length === 0) {
    const [row] = await reader
      .select({ doubts: sql`${doubts(reader, plan, zone!)}`.mapWith(Number) })
      .from(sql`(SELECT 1) AS one`)
    return row!.doubts === 0 ? [] : undefined
  }
  // A group may have a row from each arm. They are combined in SQL, since millions of rows must not reach the main
  // thread.
  const isPutTogether = limit !== undefined && plan.periods.length > 0
  const sumOf = (name: string) => (isPutTogether ? sql`sum(${sql.raw(name)})` : sql`${sql.raw(name)}`)
  const keys = columns.map((_, at) => sql.raw(`key${at}`))
  const selection = reader
    .select({
      bucket: sql`bucket`.mapWith(Number),
      ...Object.fromEntries(columns.map((column, at) => [`key${at}`, sql.raw(`key${at}`).mapWith(keyReader(column))])),
      entries: sumOf('entries').mapWith(Number),
      unpriced: sumOf('unpriced').mapWith(Number),
      straddling: sumOf('straddling').mapWith(Number),
      ...Object.fromEntries(
        Array.from({ length: cells }, (_, at) => [`figure${at}`, sumOf(`figure${at}`).mapWith(BigInt)]),
      ),
    })
    .from(source)
    .groupBy(...(isPutTogether ? [sql`bucket`, ...keys] : []))
    .orderBy(sql`bucket`)
  const rows = (await (limit === undefined ? selection : selection.limit(limit + 1))) as Record<string, unknown>[]
  if (rows.some((row) => row.bucket === DOUBTS && row.entries !== 0)) return undefined
  return rows.filter((row) => row.bucket !== DOUBTS).map((row) => readRow(row, query))
}

function keyReader(column: GroupColumn): (value: unknown) => number | string {
  return column === 'status' || column === 'source' ? String : Number
}

function readRow<Asked extends Figure>(
  row: Record<string, unknown>,
  { columns, figures, inHalves }: GroupQuery<Asked>,
): GroupSums<Asked> {
  const figure = (at: number): bigint | null => {
    if (!inHalves) return row[`figure${at}`] as bigint | null
    const upper = row[`figure${2 * at}`] as bigint | null
    return upper === null ? null : upper * BigInt(HALF) + (row[`figure${2 * at + 1}`] as bigint)
  }
  return {
    bucket: row.bucket as number,
    keys: columns.map((_, at) => row[`key${at}`] as number | string | null),
    entries: row.entries as number,
    unpricedEntries: row.unpriced as number,
    straddling: row.straddling as number,
    figures: Object.fromEntries(figures.map((name, at) => [name, figure(at)])) as Record<Asked, bigint | null>,
  }
}

/** Keys per statement, within the limits of both engines. */
const KEYS_PER_QUERY = 1_000

/** The rows of the table that a group column refers to, by key. */
export async function listNamed(
  reader: Reader,
  what: 'projects' | 'clients' | 'tickets' | 'users' | 'names' | 'labels',
  ids: number[],
): Promise<Map<number, Named>> {
  const named = new Map<number, Named>()
  for (let from = 0; from < ids.length; from += KEYS_PER_QUERY) {
    const rows = await selectNamed(reader, what, ids.slice(from, from + KEYS_PER_QUERY))
    for (const { id, ...row } of rows) named.set(id, row)
  }
  return named
}

export interface Named {
  uid?: string | null
  key?: string
  name?: string | null
  labels?: Record<string, string>
}

async function selectNamed(
  { tables: t, select }: Reader,
  what: Parameters<typeof listNamed>[1],
  ids: number[],
): Promise<(Named & { id: number })[]> {
  switch (what) {
    case 'projects': {
      const { id, uid, key, name } = t.projects
      return select({ id, uid, key, name }).from(t.projects).where(inArray(id, ids))
    }
    case 'clients':
      // By project: an entry belongs to the current client of its project.
      return select({ id: t.projects.id, uid: t.clients.uid, name: t.clients.name })
        .from(t.projects)
        .innerJoin(t.clients, eq(t.clients.id, t.projects.clientId))
        .where(inArray(t.projects.id, ids))
    case 'tickets': {
      const { id, uid, key } = t.tickets
      return select({ id, uid, key }).from(t.tickets).where(inArray(id, ids))
    }
    case 'users': {
      const { id, uid, name } = t.users
      return select({ id, uid, name }).from(t.users).where(inArray(id, ids))
    }
    case 'names': {
      const { id, text } = t.names
      return select({ id, name: text }).from(t.names).where(inArray(id, ids))
    }
    case 'labels': {
      const { id, labels } = t.labelSets
      return select({ id, labels }).from(t.labelSets).where(inArray(id, ids))
    }
  }
}
