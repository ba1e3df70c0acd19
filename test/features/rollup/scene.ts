/** Entries of three people, and what changes them. */
import { eq, inArray } from 'drizzle-orm'
import type { CallerOf } from '../../../src/access/caller.ts'
import type { Database, Tx } from '../../../src/database/database.ts'
import { readReport } from '../../../src/features/entries/reporting/report.ts'
import { newId } from '../../../src/lib/id.ts'
import { createServices } from '../../../src/services.ts'
import { addReporter } from '../../support/reports.ts'

export const NOW = Date.parse('2026-11-20T19:30:00Z')
export const clock = { now: () => NOW }
export const HOUR = 3_600_000
/** A job that never waits. */
export const AT_ONCE = { quietMs: 0, restFactor: 0 }
export const DAY = 24 * HOUR

/** Whole and half hours, both halves of the year, a change of clocks within the entries' weeks, and one at midnight. */
export const ZONES = ['UTC', 'Europe/Berlin', 'Asia/Kolkata', 'America/St_Johns', 'Africa/Cairo', 'Pacific/Apia']

/** Entries begin from here to now: the weeks around the end of October, in which clocks change, and November's first. */
export const FIRST = NOW - 32 * DAY

export class Chance {
  constructor(private state: number) {}

  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0
    let value = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state)
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32
  }

  below(limit: number): number {
    return Math.floor(this.next() * limit)
  }

  of<Item>(list: readonly Item[]): Item {
    return list[this.below(list.length)]!
  }

  is(share: number): boolean {
    return this.next() < share
  }
}

export async function stage(db: Database) {
  const services = createServices({ db, clock })
  await services.prices.loadDefaultPrices()
  const callers: CallerOf<'service'>[] = []
  for (const name of ['Ada', 'Bob', 'Cy']) callers.push(await addReporter(services.people, { name, role: 'member' }))
  const managers = callers.map(({ person }) => person)
  const made = await db.write(async (tx) => {
    const { clients, projects, names, projectLeads, projectApprovers, prices } = tx.tables
    const at = { createdAt: NOW }
    const clientIds: number[] = []
    for (const name of ['Acme', 'Globex']) {
      const row = { uid: newId('cli'), name, nameFolded: name.toLowerCase(), ...at }
      clientIds.push((await tx.insert(clients).values(row).returning({ id: clients.id }))[0]!.id)
    }
    const projectIds: number[] = []
    for (const key of ['ALPHA', 'BETA', 'GAMMA']) {
      const row = { uid: newId('prj'), key, name: key, clientId: clientIds[projectIds.length] ?? null, ...at }
      projectIds.push(
        (
          await tx
            .insert(projects)
            .values(row as never)
            .returning({ id: projects.id })
        )[0]!.id,
      )
    }
    for (const [at, text] of ['ALPHA', 'BETA', 'GAMMA'].entries()) {
      const row = { folded: text.toLowerCase(), projectId: projectIds[at]!, text, kind: 'key' as const }
      await tx.insert(tx.tables.projectNames).values(row)
    }
    await tx.insert(projectLeads).values({ projectId: projectIds[0]!, userId: managers[0]!.id })
    await tx.insert(projectApprovers).values({ projectId: projectIds[1]!, userId: managers[0]!.id })
    const nameIds: number[] = []
    for (const text of ['harness', 'agent', 'model-a', 'model-b', 'provider']) {
      nameIds.push(
        (
          await tx
            .insert(names)
            .values({ text } as never)
            .returning({ id: names.id })
        )[0]!.id,
      )
    }
    const [price] = await tx.select({ id: prices.id }).from(prices).limit(1)
    const { sheets } = tx.tables
    const days = { firstDay: '2026-10-01', lastDay: '2026-11-30', startingAt: FIRST, endingAt: NOW }
    const sheet = { uid: newId('sht'), managerId: managers[0]!.id, status: 'open', ...days, ...at }
    const [{ id: sheetId }] = (await tx
      .insert(sheets)
      .values(sheet as never)
      .returning({ id: sheets.id })) as [{ id: number }]
    const ticketIds: number[] = []
    for (const key of ['ALPHA-1', 'ALPHA-2', 'BETA-1']) {
      const projectId = projectIds[key.startsWith('ALPHA') ? 0 : 1]!
      const row = { uid: newId('tkt'), key, keyFolded: key.toLowerCase(), projectId, ...at }
      const [ticket] = await tx
        .insert(tx.tables.tickets)
        .values(row as never)
        .returning({ id: tx.tables.tickets.id })
      ticketIds.push(ticket!.id)
    }
    const labelSetIds: number[] = []
    for (const labels of [{ team: 'red' }, { team: 'red', branch: 'main' }, { team: 'blue' }, { branch: 'main' }]) {
      const [set] = await tx
        .insert(tx.tables.labelSets)
        .values({ labels } as never)
        .returning({ id: tx.tables.labelSets.id })
      labelSetIds.push(set!.id)
      for (const [name, value] of Object.entries(labels)) {
        await tx.insert(tx.tables.labelPairs).values({ name, value, labelSetId: set!.id })
      }
    }
    return { clientIds, projectIds, nameIds, ticketIds, labelSetIds, priceId: price!.id, sheetId, ...(await pay(tx)) }
  })
  return { services, callers, managers, ...made }
}

/** What pays for entries: two plans with two periods each, of which each has a former calculation, and more. */
async function pay(tx: Tx) {
  const { plans, planGenerations, planPeriods, fundings } = tx.tables
  const planIds: number[] = []
  for (const name of ['Max', 'Pro']) {
    const row = {
      uid: newId('pln'),
      name,
      vendor: 'V',
      product: name,
      holder: 'organization',
      vendorCodes: [],
      createdAt: NOW,
    }
    const [plan] = await tx
      .insert(plans)
      .values(row as never)
      .returning({ id: plans.id })
    planIds.push(plan!.id)
  }
  const generationIds: number[] = []
  for (const planId of planIds) {
    for (const firstDay of ['2026-10-15', '2026-11-01']) {
      const row = { planId, firstDay, createdAt: NOW }
      const [former, current] = await tx
        .insert(planGenerations)
        .values([row, row])
        .returning({ id: planGenerations.id })
      generationIds.push(former!.id, current!.id)
      const counts = { unused: 0n, unusedSeats: 0, pending: 0n, entries: 1, unpricedEntries: 0, lateEntries: 0 }
      await tx.insert(planPeriods).values({ planId, firstDay, generationId: current!.id, fee: 100n, ...counts })
    }
  }
  const fundingIds: number[] = []
  for (const [funding, planId] of [
    ['metered', null],
    ['credits', null],
    ['unknown', null],
    ['plan', planIds[0]!],
    ['credits', planIds[0]!],
    ['plan', planIds[1]!],
  ] as const) {
    const row = { uid: newId('fnd'), funding, planId, reason: 'rule' as const }
    const [added] = await tx
      .insert(fundings)
      .values(row as never)
      .returning({ id: fundings.id })
    fundingIds.push(added!.id)
  }
  return { fundingIds, generationIds }
}

export type Stage = Awaited<ReturnType<typeof stage>>

export function randomEntry(
  chance: Chance,
  { managers, nameIds, projectIds, labelSetIds, fundingIds, priceId }: Stage,
) {
  const startedAt = FIRST + chance.below(NOW - FIRST)
  const isPriced = chance.is(0.7)
  const isPlaced = chance.is(0.7)
  const count = () => (chance.is(0.3) ? 0 : chance.below(1_000_000))
  return {
    uid: newId('ent'),
    managerId: chance.of(managers).id,
    source: chance.of(['report', 'log'] as const),
    status: chance.of(['submitted', 'approved', 'rejected'] as const),
    harnessId: nameIds[0]!,
    agentId: chance.of(nameIds.slice(0, 2)),
    modelId: chance.of(nameIds.slice(2, 4)),
    providerId: chance.is(0.5) ? nameIds[4]! : null,
    startedAt,
    endedAt: startedAt + (chance.is(0.2) ? chance.below(40 * DAY) : chance.below(3 * HOUR)),
    input: count(),
    output: count(),
    cacheRead: count(),
    cacheWrite: count(),
    cacheWrite1h: count(),
    activeMs: chance.is(0.5) ? chance.below(2 ** 31) : null,
    // Some are more than a dollar and ten times apart.
    reportedCost: chance.is(0.3) ? BigInt(chance.below(2 ** 33)) : null,
    listValue: isPriced ? BigInt(chance.below(2 ** 31)) : null,
    priceId: isPriced ? priceId : null,
    priceStep: isPriced ? 1 : null,
    projectId: isPlaced ? chance.of(projectIds) : null,
    placedBy: isPlaced ? ('manual' as const) : null,
    labelSetId: chance.is(0.5) ? chance.of(labelSetIds) : null,
    fundingId: chance.is(0.8) ? chance.of(fundingIds) : null,
    createdAt: NOW,
  }
}

export const all = (tx: Pick<Tx, 'select' | 'tables'>) => tx.select().from(tx.tables.entries)

/** What people and programs do to entries, each as one transaction. */
export const CHANGES: ((db: Database, chance: Chance, stage: Stage) => Promise<unknown>)[] = [
  (db, chance, stage) =>
    db.write(async (tx) => {
      for (let left = 1 + chance.below(6); left > 0; left -= 1) {
        await tx.insert(tx.tables.entries).values(randomEntry(chance, stage) as never)
      }
    }),
  // A session goes on, and is perhaps found to have begun earlier.
  (_db, chance, { services, callers }) => {
    const [startedAt, endedAt] = [FIRST + chance.below(NOW - FIRST), NOW]
    const body = {
      agent_harness: 'harness',
      agent_name: 'agent',
      model: chance.of(['model-a', 'claude-sonnet-4-5']),
      started_at: new Date(startedAt).toISOString(),
      ended_at: new Date(endedAt).toISOString(),
      tokens: { input: chance.below(1000), output: chance.below(1000) },
      session_id: chance.of(['s-1', 's-2']),
      project: chance.of(['ALPHA', 'DELTA']),
    }
    const report = readReport(body, NOW)
    // Smaller totals than were reported before are refused, which changes nothing.
    return services.entries.reporting
      .recordFrom(chance.of(['report', 'log', 'metric'] as const), report, chance.of(callers))
      .catch(() => {})
  },
  (db, chance, stage) =>
    changeOne(db, chance, ({ startedAt }) => {
      const { uid: _, startedAt: moved, endedAt, ...other } = randomEntry(chance, stage)
      return {
        ...other,
        ticketId: null,
        ...(chance.is(0.3) ? { startedAt: moved, endedAt } : { endedAt: startedAt + chance.below(DAY) }),
      }
    }),
  (db, chance) => changeOne(db, chance, () => ({ status: chance.of(['submitted', 'approved', 'rejected']) })),
  // By hand, on a sheet.
  (db, chance, scene) =>
    db.write(async (tx) => {
      const { entries, sheets } = tx.tables
      const [sheet] = await tx.select({ status: sheets.status }).from(sheets)
      if (sheet!.status !== 'open') return
      const manual = { source: 'sheet', status: 'draft', managerId: scene.managers[0]!.id, sheetId: scene.sheetId }
      await tx.insert(entries).values({ ...randomEntry(chance, scene), ...manual } as never)
    }),
  // The sheet is submitted, or taken back.
  (db) =>
    db.write(async (tx) => {
      const { entries, sheets } = tx.tables
      const [sheet] = await tx.select({ status: sheets.status }).from(sheets)
      const isOpen = sheet!.status === 'open'
      await tx.update(sheets).set({ status: isOpen ? 'submitted' : 'open', submittedAt: NOW } as never)
      await tx
        .update(entries)
        .set({ status: isOpen ? 'pending' : 'draft' })
        .where(eq(entries.source, 'sheet'))
    }),
  // As a bill does: many entries at once.
  (db) =>
    db.write(async (tx) => {
      const { entries } = tx.tables
      await tx.update(entries).set({ status: 'submitted' }).where(eq(entries.status, 'approved'))
    }),
  // A merge moves all entries of a project.
  (db, chance, { projectIds }) =>
    db.write(async (tx) => {
      const { entries } = tx.tables
      const projectId = chance.of(projectIds)
      await tx
        .update(entries)
        .set({ projectId })
        .where(eq(entries.projectId, chance.of(projectIds)))
    }),
  // Who the client of a project is stands at the project alone.
  (db, chance, { projectIds, clientIds }) =>
    db.write(async (tx) => {
      const { projects } = tx.tables
      const clientId = chance.is(0.2) ? null : chance.of(clientIds)
      await tx
        .update(projects)
        .set({ clientId })
        .where(eq(projects.id, chance.of(projectIds)))
    }),
  (db, chance) => changeOne(db, chance, () => ({ superseded: chance.is(0.5) })),
  (db, chance) => changeOne(db, chance, () => ({ activeMs: chance.of([null, 0, chance.below(2 ** 40)]) })),
  (db, chance, { fundingIds }) => changeOne(db, chance, () => ({ fundingId: chance.of([null, ...fundingIds]) })),
  // Shares are calculated, as a job does: what they change is marked.
  (db, chance, { generationIds }) =>
    db.write(async (tx) => {
      const { planShares } = tx.tables
      const rows = (await all(tx)).sort((one, other) => one.id - other.id).filter(() => chance.is(0.5))
      for (const { id: entryId, startedAt } of rows) {
        const generationId = chance.of(generationIds)
        const fee = BigInt(chance.below(2 ** 33) - 2 ** 20)
        const share = { entryId, generationId, fee, charge: chance.is(0.5) ? 0n : BigInt(chance.below(2 ** 40)) }
        await tx.insert(planShares).values(share).onConflictDoNothing()
        await mark(tx, startedAt)
      }
    }),
  // Another calculation of a period counts.
  (db, chance, { generationIds }) =>
    db.write(async (tx) => {
      const { planPeriods, planShares } = tx.tables
      const at = 2 * chance.below(generationIds.length / 2)
      const both = generationIds.slice(at, at + 2)
      const [former, current] = chance.is(0.5) ? both : both.toReversed()
      await tx.update(planPeriods).set({ generationId: current! }).where(eq(planPeriods.generationId, former!))
      const shares = await tx.select().from(planShares).where(inArray(planShares.generationId, both))
      const changed = new Set(shares.map(({ entryId }) => entryId))
      for (const { id, startedAt } of await all(tx)) if (changed.has(id)) await mark(tx, startedAt)
    }),
  // Attributes that change alone.
  (db, chance, { ticketIds, projectIds }) =>
    changeOne(db, chance, ({ projectId }) => {
      if (projectId === projectIds[0]) return { ticketId: chance.of([null, ...ticketIds.slice(0, 2)]) }
      return projectId === projectIds[1] ? { ticketId: chance.of([null, ticketIds[2]!]) } : { ticketId: null }
    }),
  (db, chance, { labelSetIds }) => changeOne(db, chance, () => ({ labelSetId: chance.of([null, ...labelSetIds]) })),
  (db, chance) =>
    changeOne(db, chance, ({ placedBy }) => ({ placedBy: placedBy && chance.of(['manual', 'named'] as const) })),
  (db) =>
    db.write(async (tx) => {
      const { entries } = tx.tables
      const [draft] = await tx.select({ id: entries.id }).from(entries).where(eq(entries.status, 'draft')).limit(1)
      if (draft) await tx.delete(entries).where(eq(entries.id, draft.id))
    }),
  // A transaction that ends in nothing marks nothing.
  (db, chance, stage) =>
    db
      .write(async (tx) => {
        await tx.insert(tx.tables.entries).values(randomEntry(chance, stage) as never)
        throw new Error('given up')
      })
      .catch(() => {}),
]

async function mark(tx: Tx, startedAt: number): Promise<void> {
  await tx
    .insert(tx.tables.staleHours)
    .values({ hour: Math.trunc(startedAt / HOUR) })
    .onConflictDoNothing()
}

async function changeOne(
  db: Database,
  chance: Chance,
  change: (entry: Tx['tables']['entries']['$inferSelect']) => object,
): Promise<void> {
  await db.write(async (tx) => {
    const { entries } = tx.tables
    const rows = (await all(tx)).filter(({ source }) => source !== 'sheet').sort((a, b) => a.id - b.id)
    if (rows.length === 0) return
    const entry = chance.of(rows)
    await tx.update(entries).set(change(entry)).where(eq(entries.id, entry.id))
  })
}
