/** The filters of entries as SQL conditions. */
import {
  and,
  type Column,
  eq,
  gt,
  gte,
  inArray,
  isNotNull,
  isNull,
  lt,
  not,
  notInArray,
  or,
  type SQL,
  type SQLWrapper,
  sql,
} from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import type { Reader } from '../../../database/database.ts'
import { UNCOUNTED_STATUSES } from '../../../database/schema/values.ts'
import { containing } from '../../../database/search-pattern.ts'
import { type Id, type IdPrefix, isId } from '../../../lib/id.ts'
import { foldName } from '../../../lib/names.ts'
import { hashOfSessionId } from '../../../lib/session-id.ts'
import type { CostBasis } from '../../../shared/cost-basis.ts'
import { ENTRY_FILTER_LIST, type EntryFilterName } from '../../../shared/entry-filters.ts'
import { MISMATCH_FACTOR, MISMATCH_NANOS } from '../cost-mismatch.ts'
import type { EntryFilter, ValueOf } from '../filter.ts'
import { isLongContext, isWithoutBasePrice } from './long-context.ts'

/** The cost of an entry in nano-dollars: the reported cost, otherwise the list value; null if neither is known. */
export function costOf({ entries }: Pick<Reader['tables'], 'entries'>): SQL {
  return sql`coalesce(${entries.reportedCost}, ${entries.listValue})`
}

/**
 * The amount of an entry on a basis, in nano-dollars; null if it is unknown (docs/plans.md, "Cost by basis"). What a plan
 * pays for costs nothing beside its fee but the charge beyond its allowance. Both are known once the shares of its period
 * are calculated. Of what has no cost, the metered part is unknown, and so is the charge beyond an allowance in dollars.
 */
export function amountOf(tables: Reader['tables'], basis: CostBasis): SQL {
  const { entries, fundings, planPeriods, planShares } = tables
  if (basis === 'cost') return costOf(tables)
  if (basis === 'list') return sql`${entries.listValue}`
  const { fee, charge } = planShares
  const amount = basis === 'marginal' ? charge : sql`${fee} + ${charge}`
  const share = sql`CASE WHEN ${costOf(tables)} IS NOT NULL OR NOT ${planPeriods.chargesCost} THEN ${amount} END`
  // An entry that went to another period has two until both are calculated anew.
  return sql`(SELECT CASE
    WHEN ${fundings.funding} = 'mixed' AND ${costOf(tables)} IS NULL THEN NULL
    WHEN ${fundings.planId} IS NOT NULL THEN (
      SELECT ${share} FROM ${planShares} JOIN ${planPeriods} ON ${planPeriods.generationId} = ${planShares.generationId}
      WHERE ${planShares.entryId} = ${entries.id} AND ${planPeriods.planId} = ${fundings.planId}
      ORDER BY ${planShares.generationId} DESC LIMIT 1)
    WHEN ${fundings.funding} IN ('metered', 'credits') THEN ${costOf(tables)}
  END FROM ${fundings} WHERE ${fundings.id} = ${entries.fundingId})`
}

export function conditionOf(reader: Reader, filter: EntryFilter): SQL | undefined {
  const { entries } = reader.tables
  const conditions = ENTRY_FILTER_LIST.map(([name]) => {
    const value = filter[name]
    return value === undefined ? undefined : CONDITIONS[name](reader, value as never)
  })
  return and(...conditions, filter.billedOn && inArray(entries.id, entriesOf(reader, filter.billedOn)))
}

const CONDITIONS: {
  [Name in EntryFilterName]: (reader: Reader, value: ValueOf<Name>) => SQL | undefined
} = {
  starting_at: ({ tables: { entries } }, moment) => gte(entries.startedAt, moment),
  ending_at: ({ tables: { entries } }, moment) => lt(entries.startedAt, moment),
  ended_after: ({ tables: { entries } }, moment) => gt(entries.endedAt, moment),

  project: (reader, values) => {
    const { entries, projects, projectNames } = reader.tables
    return orNone(values, isNull(entries.projectId), (named) =>
      idOr(
        'prj',
        named,
        (ids) => isKeyOf(entries.projectId, ids, keys(reader, projects.id, inArray(projects.uid, ids))),
        (texts) =>
          isKeyOf(
            entries.projectId,
            texts,
            keys(reader, projectNames.projectId, inArray(projectNames.folded, texts.map(foldName))),
          ),
      ),
    )
  },

  ticket: (reader, values) => {
    const { entries, tickets } = reader.tables
    return orNone(values, isNull(entries.ticketId), (named) =>
      idOr(
        'tkt',
        named,
        (ids) => isKeyOf(entries.ticketId, ids, keys(reader, tickets.id, inArray(tickets.uid, ids))),
        (texts) =>
          isKeyOf(entries.ticketId, texts, keys(reader, tickets.id, inArray(tickets.keyFolded, texts.map(foldName)))),
      ),
    )
  },

  client: (reader, values) => {
    const { entries, projects, clients } = reader.tables
    const projectsOf = (condition: SQL) =>
      inArray(
        entries.projectId,
        reader
          .select({ id: projects.id })
          .from(projects)
          .innerJoin(clients, eq(clients.id, projects.clientId))
          .where(condition),
      )
    const withoutClient = keys(reader, projects.id, isNull(projects.clientId))
    return orNone(values, inArray(entries.projectId, withoutClient), (named) =>
      idOr(
        'cli',
        named,
        (ids) => projectsOf(inArray(clients.uid, ids)),
        (texts) => projectsOf(inArray(clients.nameFolded, texts.map(foldName))),
      ),
    )
  },

  has_client: (reader, hasClient) => {
    const { entries, projects } = reader.tables
    const { clientId } = projects
    const isOnSuch = inArray(
      entries.projectId,
      keys(reader, projects.id, hasClient ? isNotNull(clientId) : isNull(clientId)),
    )
    return hasClient ? isOnSuch : or(isNull(entries.projectId), isOnSuch)
  },

  // An entry without a project can still be assigned to a billable one.
  billable: (reader, isBillable) => {
    const { entries, projects } = reader.tables
    const isOnSuch = inArray(entries.projectId, keys(reader, projects.id, eq(projects.billable, isBillable)))
    return isBillable ? or(isNull(entries.projectId), isOnSuch) : isOnSuch
  },

  agent_manager: (reader, values) => {
    const { entries, users } = reader.tables
    return idOr(
      'usr',
      values,
      (ids) => isKeyOf(entries.managerId, ids, keys(reader, users.id, inArray(users.uid, ids))),
      (texts) => isKeyOf(entries.managerId, texts, keys(reader, users.id, inArray(users.email, texts.map(foldName)))),
    )
  },

  without_agent_manager: (reader, values) => {
    const { entries, users } = reader.tables
    const excluded = idOr(
      'usr',
      values,
      (ids) => inArray(users.uid, ids),
      (texts) => inArray(users.email, texts.map(foldName)),
    )
    return notInArray(entries.managerId, keys(reader, users.id, excluded))
  },

  agent_name: (reader, texts) => inArray(reader.tables.entries.agentId, names(reader, texts)),
  agent_harness: (reader, texts) => inArray(reader.tables.entries.harnessId, names(reader, texts)),
  model: (reader, texts) => inArray(reader.tables.entries.modelId, names(reader, texts)),

  provider: (reader, texts) => {
    const { providerId } = reader.tables.entries
    return or(texts.includes('none') ? isNull(providerId) : undefined, inArray(providerId, names(reader, texts)))
  },

  status: ({ tables: { entries } }, statuses) => inArray(entries.status, statuses),
  source: ({ tables: { entries } }, sources) => inArray(entries.source, sources),

  session_id: (reader, texts) => {
    const { entries, sessions } = reader.tables
    const ids = [...texts, ...texts.map(hashOfSessionId)]
    return inArray(entries.sessionId, keys(reader, sessions.id, inArray(sessions.sessionKey, ids)))
  },

  // Several values of one label mean any of them, several labels all of them.
  label: (reader, labels) => {
    const { entries, labelPairs } = reader.tables
    const conditions = [...Map.groupBy(labels, ({ name }) => name)].map(([name, pairs]) => {
      const texts = pairs.map(({ value }) => value)
      const isPair = and(eq(labelPairs.name, name), inArray(labelPairs.value, texts))
      return inArray(entries.labelSetId, keys(reader, labelPairs.labelSetId, isPair))
    })
    return and(...conditions)
  },

  without_label: (reader, texts) => {
    const { entries, labelPairs } = reader.tables
    const having = keys(reader, labelPairs.labelSetId, inArray(labelPairs.name, texts))
    return or(isNull(entries.labelSetId), notInArray(entries.labelSetId, having))
  },

  placed: ({ tables: { entries } }, values) =>
    or(...values.map((by) => (by === 'none' ? isNull(entries.placedBy) : eq(entries.placedBy, by)))),

  funding: (reader, kinds) => {
    const { entries, fundings } = reader.tables
    const isSuch = inArray(entries.fundingId, keys(reader, fundings.id, inArray(fundings.funding, kinds)))
    return kinds.includes('unknown') ? or(isNull(entries.fundingId), isSuch) : isSuch
  },

  plan: (reader, values) => {
    const { entries, fundings, plans } = reader.tables
    const paidBy = (condition: SQL) => inArray(entries.fundingId, keys(reader, fundings.id, condition))
    const isNone = or(isNull(entries.fundingId), paidBy(isNull(fundings.planId)))!
    return orNone(values, isNone, (named) =>
      idOr(
        'pln',
        named,
        (ids) => paidBy(inArray(fundings.planId, keys(reader, plans.id, inArray(plans.uid, ids)))),
        (texts) => paidBy(inArray(fundings.planId, keys(reader, plans.id, inArray(plans.name, texts)))),
      ),
    )
  },

  priced: ({ tables: { entries } }, isPriced) =>
    isPriced
      ? or(isNotNull(entries.reportedCost), isNotNull(entries.listValue))
      : and(isNull(entries.reportedCost), isNull(entries.listValue)),

  unknown_cost: ({ tables }, bases) => or(...bases.map((basis) => sql`${amountOf(tables, basis)} IS NULL`)),

  // As the job counts `late_entries` (features/funding/allocation-task.ts), and those whose correction was made since.
  late: ({ tables: { entries, fundings, planPeriods, planShares } }, isLate) => {
    // A part of a divided entry arrived with the whole.
    const whole = sql`(SELECT whole.created_at FROM ${entries} AS whole WHERE whole.id = ${entries.dividedFromId})`
    const arrivedAt = sql`coalesce(${whole}, ${entries.createdAt})`
    const hasShare = sql`EXISTS (SELECT 1 FROM ${planShares}
      WHERE ${planShares.entryId} = ${entries.id} AND ${planShares.generationId} = ${planPeriods.generationId})`
    const found = sql`EXISTS (SELECT 1 FROM ${fundings} JOIN ${planPeriods} ON ${planPeriods.planId} = ${fundings.planId}
      WHERE ${fundings.id} = ${entries.fundingId} AND ${fundings.reason} <> 'correction'
        AND ${planPeriods.startingAt} <= ${entries.startedAt} AND ${planPeriods.endingAt} > ${entries.startedAt}
        AND ${planPeriods.closedAt} IS NOT NULL
        AND (${planPeriods.closedAt} < ${arrivedAt} OR NOT ${hasShare}))`
    const counts = and(eq(entries.superseded, false), notInArray(entries.status, [...UNCOUNTED_STATUSES]))!
    return isLate ? and(counts, found) : not(and(counts, found)!)
  },

  correction: (reader, isCorrection) => {
    const { entries, planCorrections } = reader.tables
    const corrections = keys(reader, planCorrections.entryId, undefined)
    return isCorrection ? inArray(entries.id, corrections) : notInArray(entries.id, corrections)
  },

  // `IS NOT TRUE`, because it is unknown if one of the amounts is.
  cost_mismatch: (reader, isMismatch) =>
    isMismatch ? costMismatch(reader) : sql`(${costMismatch(reader)}) IS NOT TRUE`,

  long_context: (reader, isLong) => (isLong ? isLongContext(reader) : not(isLongContext(reader))),

  without_base_price: (reader, isWithout) => (isWithout ? isWithoutBasePrice(reader) : not(isWithoutBasePrice(reader))),

  price_load: (reader, values) => {
    const { entries, prices, priceLoads } = reader.tables
    const ids = values.filter((value) => isId('pld', value))
    const loads = keys(reader, priceLoads.id, inArray(priceLoads.uid, ids))
    return inArray(entries.priceId, keys(reader, prices.id, inArray(prices.loadId, loads)))
  },

  sheet: (reader, values) => {
    const { entries, sheets } = reader.tables
    const ids = values.filter((value) => isId('sht', value))
    return inArray(entries.sheetId, keys(reader, sheets.id, inArray(sheets.uid, ids)))
  },

  possible_duplicate: ({ tables: { entries } }, isPossible) =>
    isPossible ? isNotNull(entries.possibleDuplicateId) : isNull(entries.possibleDuplicateId),

  superseded: ({ tables: { entries } }, isSuperseded) => eq(entries.superseded, isSuperseded),

  bill: (reader, values) => {
    const { entries, bills } = reader.tables
    return orNone(values, isNull(entries.billId), (named) =>
      idOr(
        'bil',
        named,
        (ids) => inArray(entries.billId, keys(reader, bills.id, inArray(bills.uid, ids))),
        (texts) => inArray(entries.billId, keys(reader, bills.id, inArray(bills.number, texts))),
      ),
    )
  },

  q: ({ tables: { entries } }, text) =>
    sql`lower(${entries.summary}) LIKE ${containing(text.toLowerCase())} ESCAPE '!'`,
}

/**
 * The condition of the index `entries_cost_mismatches`, which SQLite uses only if terms and literals are the same, and not
 * if a column is compared directly. Dividing the larger amount cannot overflow, and for integers `a > 10 * b` means
 * `(a - 1) / 10 >= b`. Of the few entries in the index, those without tokens are left out.
 */
function costMismatch({ tables: { entries } }: Reader): SQL {
  const { reportedCost, listValue, input, output, cacheRead, cacheWrite, cacheWrite1h } = entries
  const [factor, nanos] = [MISMATCH_FACTOR, MISMATCH_NANOS].map((constant) => sql.raw(String(constant)))
  const hasTokens = sql`${sql.join([input, output, cacheRead, cacheWrite, cacheWrite1h], sql.raw(' + '))} > 0`
  const exceeds = (more: Column, less: Column) => sql`(${more} - 1) / ${factor} - ${less} >= 0`
  return sql`abs(${reportedCost} - ${listValue}) > ${nanos} AND (${exceeds(reportedCost, listValue)} OR ${exceeds(listValue, reportedCost)}) AND ${hasTokens}`
}

/** A query for the values of a key in the rows of its table for which the condition holds. */
function keys(reader: Reader, key: PgColumn, condition: SQL | undefined) {
  return reader
    .select({ id: key })
    .from(key.table as never)
    .where(condition)
}

/** The keys of agents, harnesses, models and providers with these names. */
function names(reader: Reader, texts: string[]) {
  const { names } = reader.tables
  return keys(reader, names.id, inArray(names.text, texts))
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

/** The condition of the value `none`, or that of the other values. */
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

/** The keys of the entries that were put on a bill. */
function entriesOf(reader: Reader, { bill, line }: NonNullable<EntryFilter['billedOn']>) {
  const { bills, billEntries } = reader.tables
  const isOn = and(
    inArray(billEntries.billId, keys(reader, bills.id, eq(bills.uid, bill))),
    line === undefined ? undefined : eq(billEntries.line, line),
  )
  return keys(reader, billEntries.entryId, isOn)
}
