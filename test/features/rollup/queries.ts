/** Random reports, answered by Tally and by a model that looks at every entry. */
import { expect } from 'bun:test'
import { eq } from 'drizzle-orm'
import { approvalViewerOf, EVERYTHING, type Viewer, viewerOf } from '../../../src/access/visibility.ts'
import type { Database, Reader } from '../../../src/database/database.ts'
import { STATUSES, type Status } from '../../../src/database/schema/values.ts'
import { EXTRA_FIGURES, extrasBody, readExtras } from '../../../src/features/reports/extra-figures.ts'
import { createSums, DIMENSIONS, type Dimension, readUse, type SumsRow } from '../../../src/features/reports/sums.ts'
import { daysWithin, monthAt } from '../../../src/features/rollup/calendar.ts'
import { isCostMismatch } from '../../../src/features/selection/cost-mismatch.ts'
import type { EntryFilter } from '../../../src/features/selection/filter.ts'
import { COST_BASES, type CostBasis } from '../../../src/shared/cost-basis.ts'
import { all, type Chance, DAY, FIRST, HOUR, NOW, type Stage, ZONES } from './scene.ts'

export interface Query {
  viewer: Viewer
  onlyStraddling: boolean
  limit?: number
  filter: EntryFilter
  dimensions: Dimension[]
  basis?: CostBasis
  bounds: number[]
}

export function randomQuery(chance: Chance, { managers }: Stage): Query {
  const zone = chance.of(ZONES)
  const range = { from: FIRST + chance.below(20 * DAY), to: NOW - chance.below(5 * DAY) }
  const days = daysWithin(range, zone)
  const months = [monthAt(FIRST, zone), monthAt(NOW, zone)]
  const bounds = chance.of([
    [...days.map(({ from }) => from), days.at(-1)!.to],
    [months[0]!.from, months[0]!.to, months[1]!.to],
    [months[0]!.from, months[1]!.to],
    [range.from, range.from + 7 * HOUR, range.to],
    Array.from({ length: 50 }, (_, hour) => range.from + hour * HOUR),
  ])
  const maybe = <Value>(value: Value): Value | undefined => (chance.is(0.1) ? value : undefined)
  const filter: EntryFilter = {
    starting_at: maybe(range.from),
    ending_at: maybe(range.to - DAY),
    project: maybe(['alpha', 'beta']),
    client: maybe(['Acme']),
    agent_manager: maybe(['ada@example.com', 'bob@example.com']),
    without_agent_manager: maybe(['ada@example.com']),
    model: maybe(['model-a']),
    status: maybe<Status[]>(['approved', 'draft']),
    source: maybe(['log'] as const) as EntryFilter['source'],
    priced: maybe(chance.is(0.5)),
    cost_mismatch: maybe(chance.is(0.5)),
    possible_duplicate: maybe(chance.is(0.5)),
    ticket: maybe(['alpha-1', 'BETA-1']),
    label: maybe([{ name: 'team', value: 'red' }]),
    without_label: maybe(['branch']),
    placed: maybe(['manual', 'none']) as EntryFilter['placed'],
    ended_after: maybe(range.to),
    funding: maybe(['plan', 'unknown']) as EntryFilter['funding'],
    plan: maybe(['Max', 'none']),
    unknown_cost: maybe(chance.of([['cost'], ['list'], ['marginal'], ['allocated', 'list']] as CostBasis[][])),
  }
  const dimensions = [
    ...new Set(Array.from({ length: chance.below(3) }, () => chance.of([...DIMENSIONS, 'label:team'] as const))),
  ]
  const member = { id: managers[0]!.id, role: 'member' } as const
  const viewer = chance.is(0.3) ? (chance.is(0.5) ? viewerOf : approvalViewerOf)(member) : EVERYTHING
  // More than there are groups: it must change nothing.
  const limit = chance.is(0.5) ? { limit: 10_000 } : {}
  const basis = chance.of(COST_BASES)
  return { viewer, filter, dimensions, basis, bounds, onlyStraddling: chance.is(0.2), ...limit }
}

/** The amount of an entry on a basis, by the definition of each. */
async function amountsOf(db: Database) {
  const { fundings, planPeriods, planShares } = db.read.tables
  const paid = new Map((await db.read.select().from(fundings)).map((funding) => [funding.id, funding]))
  const shares = (await db.read.select().from(planShares).innerJoin(planPeriods, sharesCount(db))).sort(
    (one, other) => other.plan_shares.generationId - one.plan_shares.generationId,
  )
  return (entry: Awaited<ReturnType<typeof all>>[number], basis: CostBasis): bigint | null => {
    const cost = entry.reportedCost ?? entry.listValue
    if (basis === 'cost') return cost
    if (basis === 'list') return entry.listValue
    const { funding = 'unknown', planId = null } = paid.get(entry.fundingId ?? -1) ?? {}
    if (planId === null) return funding === 'metered' || funding === 'credits' ? cost : null
    const share = shares.find((each) => each.plan_shares.entryId === entry.id && each.plan_periods.planId === planId)
    if (!share) return null
    const { fee, charge } = share.plan_shares
    return basis === 'marginal' ? charge : fee + charge
  }
}

const sharesCount = ({ read: { tables } }: Database) =>
  eq(tables.planPeriods.generationId, tables.planShares.generationId)

/** The answer from all entries, one by one. */
export async function modelAnswer(
  db: Database,
  { managers }: Stage,
  { viewer, filter, dimensions, basis = 'cost', bounds, onlyStraddling }: Query,
) {
  const t = db.read.tables
  const byId = <Row extends { id: number }>(rows: Row[]) => new Map(rows.map((row) => [row.id, row]))
  const projects = byId(await db.read.select().from(t.projects))
  const fundings = byId(await db.read.select().from(t.fundings))
  const plans = byId(await db.read.select().from(t.plans))
  const amountOf = await amountsOf(db)
  const clients = byId(await db.read.select().from(t.clients))
  const names = byId(await db.read.select().from(t.names))
  const tickets = byId(await db.read.select().from(t.tickets))
  const labelSets = byId(await db.read.select().from(t.labelSets))
  const leads = (await db.read.select().from(t.projectLeads)).filter((lead) => lead.userId === managers[0]!.id)
  const led = new Set(leads.map(({ projectId }) => projectId))
  const approved = new Set((await db.read.select().from(t.projectApprovers)).map(({ projectId }) => projectId))
  const decidable = new Set(['submitted', 'pending', 'approved', 'rejected', 'voided'])
  const rows = new Map<string, Record<string, unknown>>()
  for (const entry of await all(db.read)) {
    const project = entry.projectId === null ? undefined : projects.get(entry.projectId)
    const client = project?.clientId ? clients.get(project.clientId) : undefined
    const manager = managers.find(({ id }) => id === entry.managerId)!
    const cost = amountOf(entry, basis)
    const funding = entry.fundingId === null ? undefined : fundings.get(entry.fundingId)!
    const plan = funding?.planId ? plans.get(funding.planId)! : undefined
    const ticket = entry.ticketId === null ? undefined : tickets.get(entry.ticketId)!
    const labels = entry.labelSetId === null ? {} : labelSets.get(entry.labelSetId)!.labels
    const isIn =
      !entry.superseded &&
      (filter.status ?? STATUSES.filter((s) => s !== 'draft' && s !== 'pending')).includes(entry.status) &&
      (viewer.sees === 'everything' ||
        entry.managerId === viewer.userId ||
        led.has(entry.projectId ?? -1) ||
        (viewer.decidesFor.length > 0 && approved.has(entry.projectId ?? -1) && decidable.has(entry.status))) &&
      entry.startedAt >= (filter.starting_at ?? -Infinity) &&
      entry.startedAt < (filter.ending_at ?? Infinity) &&
      (!filter.project || filter.project.includes(project?.key.toLowerCase() ?? '')) &&
      (!filter.client || filter.client.includes(client?.name ?? '')) &&
      (!filter.agent_manager || filter.agent_manager.includes(manager.email)) &&
      !filter.without_agent_manager?.includes(manager.email) &&
      (!filter.model || filter.model.includes(names.get(entry.modelId)!.text)) &&
      (!filter.source || filter.source.includes(entry.source)) &&
      (filter.priced === undefined || filter.priced === (amountOf(entry, 'cost') !== null)) &&
      (filter.cost_mismatch === undefined || filter.cost_mismatch === isCostMismatch(entry)) &&
      (filter.possible_duplicate === undefined || filter.possible_duplicate === (entry.possibleDuplicateId !== null)) &&
      (!filter.ticket || filter.ticket.map((key) => key.toLowerCase()).includes(ticket?.keyFolded ?? '')) &&
      (!filter.label || labels.team === 'red') &&
      (!filter.without_label || labels.branch === undefined) &&
      (!filter.placed || filter.placed.includes(entry.placedBy ?? 'none')) &&
      (!filter.funding || filter.funding.includes(funding?.funding ?? 'unknown')) &&
      (!filter.plan || filter.plan.includes(plan?.name ?? 'none')) &&
      (!filter.unknown_cost || filter.unknown_cost.some((basis) => amountOf(entry, basis as CostBasis) === null)) &&
      entry.endedAt > (filter.ended_after ?? -Infinity)
    const bucket = bounds.findIndex((from, at) => entry.startedAt >= from && entry.startedAt < bounds[at + 1]!)
    if (!isIn || bucket === -1) continue
    if (onlyStraddling && entry.endedAt <= bounds[bucket + 1]!) continue
    const values: Record<string, string | undefined> = {
      project: project?.uid,
      client: client?.uid,
      agent_manager: manager.uid,
      agent_name: names.get(entry.agentId)!.text,
      agent_harness: names.get(entry.harnessId)!.text,
      provider: entry.providerId === null ? undefined : names.get(entry.providerId)!.text,
      model: names.get(entry.modelId)!.text,
      status: entry.status,
      source: entry.source,
      ticket: ticket?.uid,
      plan: plan?.uid,
      funding: funding?.funding ?? 'unknown',
      'label:team': labels.team,
    }
    const place = JSON.stringify([bucket, ...dimensions.map((dimension) => values[dimension] ?? null)])
    const row = rows.get(place) ?? {
      entries: 0,
      unpriced: 0,
      tokens: [0n, 0n, 0n, 0n, 0n],
      straddling: 0,
      money: [null, null, null],
      compared: [0, null, null],
      duration: 0,
      active: null,
      untimed: 0,
      people: new Set(),
      sessions: new Set(),
    }
    const add = (sum: unknown, value: bigint | null) => (value === null ? sum : ((sum as bigint | null) ?? 0n) + value)
    const money = row.money as unknown[]
    const compared = row.compared as unknown[]
    const isCompared = entry.reportedCost !== null && entry.listValue !== null
    const figures = [entry.input, entry.output, entry.cacheRead, entry.cacheWrite, entry.cacheWrite1h]
    rows.set(place, {
      entries: (row.entries as number) + 1,
      unpriced: (row.unpriced as number) + (cost === null ? 1 : 0),
      tokens: (row.tokens as bigint[]).map((sum, at) => sum + BigInt(figures[at]!)),
      straddling: (row.straddling as number) + (entry.endedAt > bounds[bucket + 1]! ? 1 : 0),
      money: [add(money[0], cost), add(money[1], entry.listValue), add(money[2], entry.reportedCost)],
      compared: isCompared
        ? [(compared[0] as number) + 1, add(compared[1], entry.reportedCost), add(compared[2], entry.listValue)]
        : compared,
      duration: (row.duration as number) + entry.endedAt - entry.startedAt,
      active: entry.activeMs === null ? row.active : ((row.active as number) ?? 0) + entry.activeMs,
      untimed: (row.untimed as number) + (entry.activeMs === null ? 1 : 0),
      people: (row.people as Set<unknown>).add(entry.managerId),
      sessions: (row.sessions as Set<unknown>).add(entry.sessionId ?? entry.uid),
    })
  }
  return new Map(
    [...rows].map(([place, { duration, active, untimed, people, sessions, ...row }]) => {
      const extras = {
        // No bill is sent in the scene.
        billed: 0,
        people: (people as Set<unknown>).size,
        sessions: (sessions as Set<unknown>).size,
        duration: (duration as number) / 1_000,
        active_seconds: active === null ? null : (active as number) / 1_000,
        untimed_entries: untimed,
      }
      // Those that are cut at the end of a bucket have no further figures.
      return [place, { ...row, extras: onlyStraddling ? {} : extras }]
    }),
  )
}

/** The figures on request, by group. */
async function extrasIn(reader: Reader, query: Query): Promise<Map<string, string>> {
  const { sums, keys } = await readUse(reader, query)
  const extras = await readExtras(reader, { ...query, include: EXTRA_FIGURES })
  return new Map(
    Array.from({ length: sums.length }, (_, row) => [
      placeOf({ bucket: sums.buckets[row]!, keys: keys.map((key) => key(row)) }),
      JSON.stringify(extrasBody(extras, sums, row)),
    ]),
  )
}

function placeOf({ bucket, keys }: Pick<SumsRow, 'bucket' | 'keys'>): string {
  return JSON.stringify([bucket, ...keys.map((key) => (key !== null && typeof key === 'object' ? key.id : key))])
}

export async function answer(db: Database, query: Query) {
  const { sums, compare } = createSums({ db })
  const compared = new Map((await compare(query)).map((row) => [placeOf(row), row]))
  const extras = query.onlyStraddling ? undefined : await db.slowly({ name: 'extras', run: extrasIn }, query)
  return new Map(
    (await sums(query)).map((row) => {
      const { input, output, cacheRead, cacheWrite, cacheWrite1h } = row.tokens
      const both = compared.get(placeOf(row))!
      expect(both.entries).toBe(row.entries)
      return [
        placeOf(row),
        {
          entries: row.entries,
          unpriced: row.unpricedEntries,
          tokens: [input, output, cacheRead, cacheWrite, cacheWrite1h],
          straddling: query.onlyStraddling ? row.entries : row.straddling,
          money: [row.costNanos, row.listValueNanos, row.reportedCostNanos],
          compared: [both.comparedEntries, both.reportedCostNanos, both.listValueNanos],
          extras: extras ? JSON.parse(extras.get(placeOf(row))!) : {},
        },
      ]
    }),
  )
}

/** As texts that can be compared: bigints are none to a diff. */
export function shown(rows: Map<string, unknown>): string[] {
  const text = (value: unknown) => JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? `${part}` : part))
  return [...rows].map(([place, row]) => `${place} ${text(row)}`).sort()
}
