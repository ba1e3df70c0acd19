/** Exports and imports in tests, and a Tally in which everything has happened that an export contains. */
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { and, eq, isNotNull } from 'drizzle-orm'
import { type Party, TALLY } from '../../src/access/actor.ts'
import type { CallerOf } from '../../src/access/caller.ts'
import type { Database, Tx } from '../../src/database/database.ts'
import { DATABASE_FILE, openDatabase } from '../../src/database/open.ts'
import { DemoClock, fillDemo } from '../../src/demo/demo.ts'
import { EXAMPLE_REPORT } from '../../src/features/agent-status/examples.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { newId } from '../../src/lib/id.ts'
import { everyRow } from '../../src/schema/lists.ts'
import { createServices, type Services } from '../../src/services.ts'
import { OPERATOR, reportBody } from './reports.ts'
import { sharedFile } from './shared-files.ts'
import { capturesIn, readOf } from './telemetry.ts'
import { isLong, runs } from './tier.ts'

/** The present of the exported Tally. */
const EXPORTED_AT = Date.parse('2026-11-20T20:00:00Z')

/** When the demonstration ends. */
const DEMO_UNTIL = Date.parse('2026-11-18T15:30:00Z')

interface Period {
  from?: number
  to?: number
}

/** The text of an export. */
export async function exportOf(db: Database, { from, to }: Period = {}): Promise<string> {
  const { transfer } = createServices({ db, clock: { now: () => EXPORTED_AT } })
  const pieces: Uint8Array[] = []
  const write = async (piece: Uint8Array) => void pieces.push(piece)
  await transfer.exportAll({ version: '1.2.3', from, to, write, onProgress() {} })
  return Buffer.concat(pieces).toString()
}

function withFile<Result>(text: string | Uint8Array, work: (file: number) => Promise<Result>): Promise<Result> {
  return inNewFolder(async (folder) => {
    const path = join(folder, 'export.ndjson')
    writeFileSync(path, text)
    const file = openSync(path, 'r')
    try {
      return await work(file)
    } finally {
      closeSync(file)
    }
  })
}

export function importInto(db: Database, text: string | Uint8Array, { dryRun = false } = {}) {
  const { transfer } = createServices({ db, clock: systemClock })
  return withFile(text, (file) => transfer.importAll({ file, dryRun, by: TALLY, onProgress() {} }))
}

export function mergeInto(
  db: Database,
  text: string,
  { dryRun = false, unknownProjects }: { dryRun?: boolean; unknownProjects?: 'create' | 'hold' } = {},
  party: Party = OPERATOR,
) {
  const { transfer } = createServices({ db, clock: systemClock })
  return withFile(text, (file) => transfer.mergeEntries({ file, dryRun, party, unknownProjects, onProgress() {} }))
}

type Line = Record<string, unknown>

/** The lines of a file, parsed. */
export const linesOf = (text: string): Line[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

/** The lines between the header and the end, without the audit of imports. */
export const contentOf = (text: string): string[] =>
  text
    .trimEnd()
    .split('\n')
    .slice(1, -1)
    .filter((line) => !line.includes('"action":"organization.imported"'))

/** A file of these lines, with the counts and the hash that belong to them. */
export function fileOf([header, ...lines]: Line[]): string {
  const counts: Record<string, number> = {}
  for (const { type } of lines) counts[type as string] = (counts[type as string] ?? 0) + 1
  const text = [header, ...lines].map((line) => `${JSON.stringify(line)}\n`).join('')
  const sha256 = new Bun.CryptoHasher('sha256').update(text).digest('hex')
  return `${text}${JSON.stringify({ type: 'end', counts, sha256 })}\n`
}

/** Every difference that `tally verify` finds. */
export async function differencesIn(db: Database): Promise<unknown[]> {
  const { findDamage, entries, bills, telemetry, reports } = createServices({ db, clock: systemClock })
  // What pays for entries is made up here, and would be decided otherwise.
  await db.write(async (tx) => void (await tx.delete(tx.tables.fundingOwed)))
  return [
    ...(await findDamage()),
    ...(await entries.verify()),
    ...(await bills.verify()),
    ...(await telemetry.verify()),
    ...(await reports.verify()),
  ]
}

/** Creates a database with everything, which takes seconds to make: once for all tests, which work on copies. */
export async function copyEverything(dataDir: string): Promise<void> {
  writeFileSync(join(dataDir, DATABASE_FILE), await sharedFile('everything.db', makeEverything), { mode: 0o600 })
}

async function makeEverything(): Promise<Uint8Array> {
  return inNewFolder(async (dataDir) => {
    const db = await openDatabase({ dataDir, clock: systemClock })
    await fillEverything(db)
    await db.close()
    return readFileSync(join(dataDir, DATABASE_FILE))
  })
}

export async function exportOfEverything(): Promise<string> {
  return inNewFolder(async (dataDir) => {
    await copyEverything(dataDir)
    const db = await openDatabase({ dataDir, clock: systemClock })
    const text = await exportOf(db)
    await db.close()
    return text
  })
}

async function inNewFolder<Result>(work: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'tally-transfer-'))
  try {
    return await work(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** A plan, a rule and an entry that it funds. */
async function fundOneEntry(tx: Tx, userId: number): Promise<void> {
  const { entries, plans, planHolders, planVersions, fundingRules, fundingRuleVersions, fundings } = tx.tables
  const createdAt = EXPORTED_AT
  const plan = {
    name: 'Max',
    vendor: 'Anthropic',
    product: 'Claude Max',
    holder: 'person',
    vendorCodes: ['a:max'],
  } as const
  const [{ id: planId }] = (await tx
    .insert(plans)
    .values({ ...plan, vendorCodes: [...plan.vendorCodes], uid: newId('pln'), note: 'Ünpaid', createdAt })
    .returning({ id: plans.id })) as [{ id: number }]
  await tx.insert(planHolders).values({ planId, userId, fromDay: '2026-11-01', toDay: '2026-11-30' })
  await tx.insert(planVersions).values({
    ...{ planId, fromDay: '2026-11-01', period: 'month', fee: 90_000_000_001n, currency: 'EUR' },
    ...{ exchangeRate: 9_200_000_001n, seats: 1, conditions: [{ field: 'model', matches: 'claude-*' }] },
    ...{ allowance: 10n, allowanceUnit: 'requests', overagePrice: 3n, sourceDay: '2026-10-31' },
    ...{ pooled: true, weight: 'active_days' },
  })
  const [{ id: ruleId }] = (await tx
    .insert(fundingRules)
    .values({ uid: newId('frl'), position: 1, enabled: true, createdAt })
    .returning({ id: fundingRules.id })) as [{ id: number }]
  const rule = { name: 'Max pays', conditions: [], funding: 'plan', planId } as const
  const [{ id: ruleVersionId }] = (await tx
    .insert(fundingRuleVersions)
    .values({ ...rule, conditions: [], ruleId, version: 1, createdAt })
    .returning({ id: fundingRuleVersions.id })) as [{ id: number }]
  const said = { saidFunding: 'plan', saidPlan: 'Pro' } as const
  const [{ id: fundingId }] = (await tx
    .insert(fundings)
    .values({
      ...said,
      uid: newId('fnd'),
      funding: 'plan',
      planId,
      ruleVersionId,
      reason: 'rule',
      note: 'plan_not_held',
    })
    .returning({ id: fundings.id })) as [{ id: number }]
  await tx.update(entries).set({ fundingId }).where(eq(entries.managerId, userId))
  const { planCorrections, planGenerations, planPeriods, planShares } = tx.tables
  const [generation, open] = await tx
    .insert(planGenerations)
    .values([
      { planId, firstDay: '2026-11-01', createdAt },
      { planId, firstDay: '2026-12-01', createdAt },
    ])
    .returning({ id: planGenerations.id })
  const [entry] = await tx.select({ id: entries.id }).from(entries).where(eq(entries.managerId, userId)).limit(1)
  const amounts = { fee: 3n, charge: -1n }
  const share = { entryId: entry!.id, ...amounts }
  await tx.insert(planShares).values([
    { ...share, generationId: generation!.id },
    { ...share, generationId: open!.id },
  ])
  const sums = { fee: 5n, unused: 1n, pending: 1n, unusedSeats: 2, entries: 3, unpricedEntries: 4, lateEntries: 5 }
  const calculated = { ...sums, unsettled: 6, calculatedAt: createdAt, durationMs: 7 }
  await tx.insert(planPeriods).values([
    {
      ...{ planId, firstDay: '2026-11-01', lastDay: '2026-11-30', generationId: generation!.id, closedAt: createdAt },
      ...calculated,
    },
    { ...{ planId, firstDay: '2026-12-01', lastDay: '2026-12-31', generationId: open!.id }, ...calculated },
  ])
  const [place] = await tx
    .select({ projectId: entries.projectId, ticketId: entries.ticketId })
    .from(entries)
    .where(and(isNotNull(entries.projectId), isNotNull(entries.ticketId)))
    .limit(1)
  const of = { planId, ofFirstDay: '2026-11-01', managerId: userId }
  await tx.insert(planCorrections).values({ ...of, ...amounts, entryId: entry!.id, ...place! })
}

/** Services that record only one of so many reports: what else the demonstration does takes little time. */
function reportingOneOf(count: number, services: Services): Services {
  const { entries } = services
  let reports = 0
  const reportEntry: typeof entries.reporting.reportEntry = async (...report) => {
    reports += 1
    // The demonstration does nothing with the result.
    return reports % count === 0 ? entries.reporting.reportEntry(...report) : (undefined as never)
  }
  return { ...services, entries: { ...entries, reporting: { ...entries.reporting, reportEntry } } }
}

/** The demonstration, and everything that happens in none. */
async function fillEverything(db: Database): Promise<void> {
  const clock = new DemoClock()
  const services = createServices({ db, clock })
  await fillDemo({
    services: reportingOneOf(runs(1, 20), services),
    clock,
    now: DEMO_UNTIL,
    password: 'correct horse',
    onProgress() {},
  })
  // Telemetry of the captures is not older, and nothing may come from the future.
  clock.moment = Date.parse('2026-11-20T19:30:00Z')
  const { people, projects, organization, entries, telemetry, agentStatus, prices, bills, placement } = services
  const reporter = async (email: string) => {
    const { secret } = await people.createToken({ kind: 'svc', user: email, name: 'more' }, TALLY)
    return (await people.authenticate(`Bearer ${secret}`)) as CallerOf<'service'>
  }
  const [ines, mara] = await Promise.all(
    ['ines.marques', 'mara.vogel'].map((name) => reporter(`${name}@meridian.example`)),
  )
  const report = async (caller: CallerOf<'service'>, more: Record<string, unknown>, key?: string) => {
    const times = { started_at: '2026-11-18T10:00:00.123Z', ended_at: '2026-11-18T11:00:00Z' }
    return (await entries.reporting.reportEntry(reportBody({ ...times, ...more }), caller, key)).entry
  }
  const decide = (id: string, action: 'void' | 'reject' | 'approve') =>
    entries.approval.decideEntry(id, { action, ...(action !== 'approve' && { reason: 'By mistake' }) }, OPERATOR)

  await organization.changeSettings({ apiTokens: true, shareLinks: true, reminderDays: 7, markupPpm: 125_000 }, TALLY)
  await people.setFurtherEmails('mara.vogel@meridian.example', ['mara@home.example'], TALLY)
  await people.createToken(
    {
      kind: 'api',
      user: 'ines.marques@meridian.example',
      name: 'reports',
      scopes: ['entries:read'],
      networks: ['10.0.0.0/8'],
    },
    TALLY,
  )
  // Money that a double does not represent, and texts that need escapes.
  await report(
    ines!,
    { reported_cost: 0.123456789, summary: '"quoted", \\ and\u2028more', project: 'Ünï', ticket: 'NEW-1' },
    'once',
  )
  await report(ines!, {
    reported_cost: 9_000_000,
    tokens: { input: 1e12, output: 1e12, cache_write_1h: 9 },
    labels: { zeta: '1', a: 'b' },
  })
  await report(ines!, {
    provider: 'openai',
    tokens: { input: 900, output: 90, requests_above: undefined },
    tools: { web_search: 3 },
  })
  const session = crypto.randomUUID()
  const first = await report(ines!, { session_id: session, ticket: 'NEW-2' })
  await report(mara!, { session_id: session })
  await entries.division.divide(
    first.id,
    {
      parts: [
        { project: 'LAB', share: 33.3 },
        { project: 'TOOLS', share: 66.7 },
      ],
    },
    OPERATOR,
  )
  await projects.changeProject(OPERATOR, 'LAB', { repositories: ['meridian/lab'] })
  const proposer = { ...OPERATOR, person: { id: ines!.person.id, role: ines!.person.role } }
  const proposal = { name: 'Lab', repository: 'meridian/lab', project: 'LAB', conditions: [], ticket: null }
  const { proposal: proposed } = await placement.proposeRule(proposer, proposal)
  await placement.acceptProposal(OPERATOR, proposed.uid)
  await placement.proposeRule(proposer, { ...proposal, name: 'Lab again' })
  await decide((await report(ines!, { session_id: 'voided' })).id, 'void')
  await decide((await report(ines!, { session_id: 'rejected' })).id, 'reject')
  const locked = await report(ines!, { session_id: 'goes on', project: 'LAB' })
  await decide(locked.id, 'approve')
  await report(ines!, { session_id: 'goes on', tokens: { input: 70, output: 9 }, ended_at: '2026-11-18T12:00:00Z' })
  const { secret } = await people.createToken(
    { kind: 'org', user: 'ines.marques@meridian.example', name: 'push' },
    TALLY,
  )
  const organizationToken = (await people.authenticate(`Bearer ${secret}`)) as CallerOf<'organization'>
  for (const capture of capturesIn('agents')) await telemetry.receive(organizationToken, readOf(capture))
  // Which also saves what has arrived.
  await telemetry.status()
  await agentStatus.report(ines!.person.id, EXAMPLE_REPORT)

  await prices.setPrice(
    { model: 'house-model', input: 1.5, output: 2.25, effective_from: 'always', only: true, force: true },
    TALLY,
  )
  await prices.setAlias({ alias: 'house', provider: null, model: 'house-model' }, TALLY)
  await projects.changeProject(OPERATOR, 'LAB', {
    addLeads: ['mara.vogel@meridian.example'],
    addApprovers: ['ines.marques@meridian.example'],
  })
  await people.addDeputy(
    {
      person: 'mara.vogel@meridian.example',
      deputy: 'ines.marques@meridian.example',
      from: '2026-11-18',
      to: '2026-12-01',
    },
    OPERATOR,
  )
  await people.addUser({ email: 'client@meridian.example', name: 'Client', role: 'viewer' }, TALLY)
  await services.viewers.grant('client@meridian.example', { project: 'Ünï', money: 'cost' }, TALLY)
  await services.shareLinks.createShareLink(
    'ines.marques@meridian.example',
    { report: { period: '30d' } } as never,
    TALLY,
  )
  await services.reportViews.createView(
    { name: 'Models', parameters: { by: 'model', period: '90d' }, shared: true } as never,
    { person: ines!.person, by: TALLY },
  )
  await services.billDrafts.addDraft({ scope: 'everything', note: 'Ünfinished' } as never, {
    person: ines!.person,
    by: TALLY,
  })
  let rendered = 0
  for (const {
    head: { number },
  } of (await Array.fromAsync(everyRow(bills.billRows, {}))).flat()) {
    // A PDF takes as long as everything else together.
    await bills.renderBill(number, isLong || rendered === 0 ? 'pdf' : 'html')
    rendered += 1
  }
  const by = { by: { ...TALLY, userId: ines!.person.id } }
  await bills.send(
    {
      project: 'Ünï',
      period: { from: '2026-11-18', to: '2026-11-18' },
      include_earlier: false,
      leave_unpriced: true,
    } as never,
    {
      ...by,
      key: { userId: ines!.person.id, key: 'bill-once', bodyHash: new Uint8Array(32) },
    },
  )
  await db.write(async (tx) => {
    const { bills: table, billDeliveries } = tx.tables
    const [bill] = await tx.select({ id: table.id }).from(table).limit(1)
    const delivery = {
      billId: bill!.id,
      notice: 'sent',
      recipient: 'a@b.example',
      attempts: 1,
      createdAt: EXPORTED_AT,
    } as const
    await tx.insert(billDeliveries).values({ ...delivery, state: 'sent', sentAt: EXPORTED_AT })
  })
  await db.write((tx) => fundOneEntry(tx, ines!.person.id))
}
