/** The entries on a bill, as its documents show them. */
import { aliasedTable, and, asc, eq, gt, sql } from 'drizzle-orm'
import type { Reader } from '../../../database/database.ts'
import type { LabelMap } from '../../../database/schema/records.ts'
import type { Nanos } from '../../../lib/money.ts'

/** Rows in memory at a time: their query takes about ten milliseconds. */
const PAGE_ROWS = 2_000

function listPage(reader: Reader, billId: number, after: number): Promise<BilledRow[]> {
  // Prepared mainly because the rows are then read without drizzle, which takes three times as long.
  const page = reader.prepared('billed-entries.page', selectPage)
  return page.execute({ billId, after })
}

function selectPage(reader: Reader) {
  const { billEntries, entries, users, projects, tickets, prices, sessions, labelSets, names } = reader.tables
  const harnesses = aliasedTable(names, 'harness')
  const agents = aliasedTable(names, 'agent')
  const models = aliasedTable(names, 'model')
  const providers = aliasedTable(names, 'provider')
  const { placementRuleVersions } = reader.tables
  return reader
    .select({
      id: entries.id,
      line: billEntries.line,
      fee: billEntries.fee,
      charge: billEntries.charge,
      uid: entries.uid,
      manager: users.name,
      managerId: users.uid,
      managerEmail: users.email,
      harness: harnesses.text,
      agent: agents.text,
      model: models.text,
      provider: providers.text,
      startedAt: entries.startedAt,
      endedAt: entries.endedAt,
      input: entries.input,
      output: entries.output,
      cacheRead: entries.cacheRead,
      cacheWrite: entries.cacheWrite,
      cacheWrite1h: entries.cacheWrite1h,
      reportedCost: entries.reportedCost,
      listValue: entries.listValue,
      price: prices.uid,
      priceNote: entries.priceNote,
      project: projects.key,
      ticket: tickets.key,
      placedBy: entries.placedBy,
      rule: placementRuleVersions.name,
      summary: entries.summary,
      labels: labelSets.labels,
      sessionKey: sessions.sessionKey,
      part: entries.part,
      activeMs: entries.activeMs,
    })
    .from(billEntries)
    .innerJoin(entries, eq(entries.id, billEntries.entryId))
    .innerJoin(users, eq(users.id, entries.managerId))
    .innerJoin(harnesses, eq(harnesses.id, entries.harnessId))
    .innerJoin(agents, eq(agents.id, entries.agentId))
    .innerJoin(models, eq(models.id, entries.modelId))
    .leftJoin(providers, eq(providers.id, entries.providerId))
    .leftJoin(projects, eq(projects.id, entries.projectId))
    .leftJoin(tickets, eq(tickets.id, entries.ticketId))
    .leftJoin(placementRuleVersions, eq(placementRuleVersions.id, entries.ruleVersionId))
    .leftJoin(labelSets, eq(labelSets.id, entries.labelSetId))
    .leftJoin(prices, eq(prices.id, entries.priceId))
    .leftJoin(sessions, eq(sessions.id, entries.sessionId))
    .where(and(eq(billEntries.billId, sql.placeholder('billId')), gt(billEntries.entryId, sql.placeholder('after'))))
    .orderBy(asc(billEntries.entryId))
    .limit(PAGE_ROWS)
}

/** An entry with the current texts of the objects it refers to. */
export interface BilledRow {
  id: number
  line: number
  /** What a bill by marginal or allocated cost keeps of it. */
  fee: Nanos | null
  charge: Nanos | null
  uid: string
  manager: string
  managerId: string
  managerEmail: string
  harness: string
  agent: string
  model: string
  provider: string | null
  startedAt: number
  endedAt: number
  input: number
  output: number
  cacheRead: number
  cacheWrite: number
  cacheWrite1h: number
  reportedCost: Nanos | null
  listValue: Nanos | null
  price: string | null
  priceNote: string | null
  project: string | null
  ticket: string | null
  placedBy: string | null
  rule: string | null
  summary: string | null
  labels: LabelMap | null
  sessionKey: string | null
  part: number | null
  /** Null if unknown. */
  activeMs: number | null
}

/** The names of the labels of a bill's entries, sorted. */
export async function listBilledLabelNames(reader: Reader, billId: number): Promise<string[]> {
  const { billEntries, entries, labelSets } = reader.tables
  const sets = await reader
    .selectDistinct({ id: labelSets.id, labels: labelSets.labels })
    .from(billEntries)
    .innerJoin(entries, eq(entries.id, billEntries.entryId))
    .innerJoin(labelSets, eq(labelSets.id, entries.labelSetId))
    .where(eq(billEntries.billId, billId))
  return [...new Set(sets.flatMap(({ labels }) => Object.keys(labels)))].sort()
}

/** In order of their keys, page by page; the next page is read while the consumer processes the previous one. */
export async function* pagesOfBilledEntries(reader: Reader, billId: number): AsyncGenerator<BilledRow[]> {
  let next: Promise<BilledRow[]> | undefined = listPage(reader, billId, 0)
  while (next) {
    const page: BilledRow[] = await next
    next = page.length < PAGE_ROWS ? undefined : listPage(reader, billId, page.at(-1)!.id)
    // The awaiting consumer gets the error. If it has stopped, no one does, and it must not become an unhandled
    // rejection.
    next?.catch(() => {})
    if (page.length > 0) yield page
  }
}
