import { expect, test } from 'bun:test'
import { and, eq, isNotNull, isNull } from 'drizzle-orm'
import { TALLY } from '../../../src/access/actor.ts'
import type { Database, Tx } from '../../../src/database/database.ts'
import { findInconsistentBills } from '../../../src/features/bills/integrity.ts'
import { findInconsistentEntries } from '../../../src/features/entries/integrity/integrity.ts'
import { readReport } from '../../../src/features/entries/reporting/report.ts'
import { findInconsistentTelemetry } from '../../../src/features/telemetry/integrity.ts'
import { createServices } from '../../../src/services.ts'
import { forEachEngine } from '../../support/databases.ts'
import { PARTITIONED } from '../../support/engines.ts'
import { addReporter, OPERATOR, reportBody } from '../../support/reports.ts'

const NOW = Date.UTC(2026, 11, 1, 9, 0)
const SENDING = { by: TALLY }

/** Takes back what was broken. */
class Undo extends Error {}

const REPORT = reportBody({ model: 'Some-Model[1m]', reported_cost: 1 })

/** A session with a locked part and one that goes on, a bill that stands, one that is void, a sheet, and labels. */
async function stage(db: Database) {
  const { people, projects, entries, bills, sheets } = createServices({ db, clock: { now: () => NOW } })
  const caller = await addReporter(people)
  await people.addUser({ email: 'bob@example.com', name: 'Bob', role: 'member' }, TALLY)
  await people.createToken({ kind: 'svc', user: 'bob@example.com', name: 'test' }, TALLY)
  await projects.addProject(OPERATOR, { key: 'WEB', name: 'Web' })
  await projects.addProject(OPERATOR, { key: 'APP', name: 'App' })
  const report = async (more: Record<string, unknown> = {}) =>
    (
      await entries.reporting.reportEntry(
        { ...REPORT, project: 'WEB', labels: { branch: 'main', repository: 'acme/web' }, ...more },
        caller,
      )
    ).entry.id
  await report({ session_id: 's-1' })
  await report({ reported_cost: 0.000_000_001 })
  await bills.send({ month: '2026-11', project: 'WEB' }, SENDING)
  await report({
    session_id: 's-1',
    ended_at: '2026-11-20T12:00:00Z',
    reported_cost: 3,
    tokens: { input: 20, output: 9 },
  })
  // A name that means something else to JavaScript's objects.
  await report({ project: 'APP', labels: JSON.parse('{"__proto__": "x", "constructor": "y"}') })
  const { bill } = await bills.send({ month: '2026-11', project: 'APP' }, SENDING)
  await bills.voidBill(bill.bill.number, { reason: 'Wrong client.' }, TALLY)
  const sheet = await sheets.openSheet({ person: 'ada@example.com', month: '2026-11' }, OPERATOR)
  await sheets.addEntry(sheet.id, { ...REPORT, reported_cost: 4 }, OPERATOR)
}

async function bobIn(tx: Tx): Promise<number> {
  const { users } = tx.tables
  const [bob] = await tx.select({ id: users.id }).from(users).where(eq(users.email, 'bob@example.com'))
  return bob!.id
}

async function findInconsistent(reader: Parameters<typeof findInconsistentEntries>[0]): Promise<string[]> {
  return [
    ...(await findInconsistentEntries(reader)),
    ...(await findInconsistentBills(reader)),
    ...(await findInconsistentTelemetry(reader)),
  ]
}

/** Each breaks one thing that nothing in the database itself refuses, and says how it is told. */
const BREAKS: Record<string, { breaks: (tx: Tx) => Promise<unknown>; told: RegExp[] }> = {
  'an entry that is on a bill but could be billed again': {
    breaks: (tx) =>
      tx
        .update(tx.tables.entries)
        .set({ status: 'submitted', billId: null })
        .where(and(eq(tx.tables.entries.part, 1), eq(tx.tables.entries.status, 'billed'))),
    told: [/^Entry ent_\w+ is on bill 2026-0001, but it is submitted and could be billed again\. Void 2026-0001/],
  },
  'an entry whose funding does not exist': {
    breaks: (tx) => tx.update(tx.tables.entries).set({ fundingId: 987_654 }).where(eq(tx.tables.entries.part, 2)),
    told: [/^What pays for entry ent_\w+ is not known any more\./],
  },
  'a void bill that keeps its entries': {
    breaks: (tx) =>
      tx
        .update(tx.tables.bills)
        .set({ state: 'void', voidedAt: NOW, voidReason: 'x' })
        .where(eq(tx.tables.bills.number, '2026-0001')),
    told: [/^Entry ent_\w+ is billed, but its bill 2026-0001 is void\./, /^Entry ent_/],
  },
  'a billed entry that no line of its bill has': {
    breaks: async (tx) => {
      const { bills, entries } = tx.tables
      const [other] = await tx.select({ id: bills.id }).from(bills).where(eq(bills.number, '2026-0001'))
      await tx.update(entries).set({ status: 'billed', billId: other!.id }).where(eq(entries.part, 2))
    },
    told: [/^Entry ent_\w+ is billed, but not on any line of bill 2026-0001\./],
  },
  'a cost that changed after it was billed': {
    breaks: (tx) =>
      tx.update(tx.tables.entries).set({ reportedCost: 2n }).where(eq(tx.tables.entries.reportedCost, 1n)),
    told: [
      /^Line 1 of bill 2026-0001: cost is 1\.000000001, but 1\.000000002 in its entries\. Compare it with the document/,
    ],
  },
  'tokens that changed after they were billed': {
    breaks: (tx) => tx.update(tx.tables.entries).set({ input: 11 }).where(eq(tx.tables.entries.reportedCost, 1n)),
    told: [/^Line 1 of bill 2026-0001: tokens is 30, but 31 in its entries\./],
  },
  'entries on a line that their bill has not': {
    breaks: (tx) => tx.update(tx.tables.billEntries).set({ line: 2 }).where(eq(tx.tables.billEntries.billId, 2)),
    told: [
      /^Line 1 of bill 2026-0002: entries is 1, but 0 in its entries\./,
      /^Bill 2026-0002 has entries on line 2, which does not exist\./,
    ],
  },
  'sums of a bill that are not those of its document': {
    breaks: (tx) =>
      tx
        .update(tx.tables.bills)
        .set({ subtotal: 99n, tax: 1n, cost: 5n })
        .where(eq(tx.tables.bills.number, '2026-0001')),
    told: [
      /Bill 2026-0001: subtotal is 99, but 100 in its document\./,
      /tax is 1, but 0 in its document\./,
      /sum of its lines is 99, but 100 in its document\./,
      /: cost is 0\.000000005, but 1\.000000001 in its document\./,
      /cost of its lines is 0\.000000005/,
    ],
  },
  'a part that continues nothing': {
    breaks: (tx) => tx.update(tx.tables.entries).set({ continuesId: null }).where(eq(tx.tables.entries.part, 2)),
    told: [/^Entry ent_\w+ is part 2 of session s-1, but does not continue the previous part\./],
  },
  'a chain that lacks a part': {
    breaks: (tx) => tx.update(tx.tables.entries).set({ part: 3 }).where(eq(tx.tables.entries.part, 2)),
    told: [/^Entry ent_\w+ is part 3 of session s-1/],
  },
  'an entry that continues one without a session': {
    breaks: async (tx) => {
      const { entries } = tx.tables
      const [some] = await tx.select({ id: entries.id }).from(entries).where(isNotNull(entries.sessionId))
      await tx.update(entries).set({ continuesId: some!.id }).where(eq(entries.reportedCost, 1n))
    },
    told: [/^Entry ent_\w+ continues another entry but has no session\./],
  },
  'a session that was reported and has no entry': {
    breaks: async (tx) => {
      const { sessions } = tx.tables
      const [some] = await tx.select().from(sessions)
      const { id: _, ...row } = some!
      await tx.insert(sessions).values({ ...row, sessionKey: 's-2' })
    },
    told: [/^Session s-2 has no entries/],
  },
  'a session whose source said nothing': {
    breaks: (tx) => tx.update(tx.tables.sessions).set({ contested: true }),
    told: [/^Session s-1 uses the totals of its source report, which are missing\./],
  },
  'labels that are not found by one of their pairs': {
    breaks: (tx) => tx.delete(tx.tables.labelPairs).where(eq(tx.tables.labelPairs.name, 'branch')),
    told: [/^The index of label set \d+ does not match its labels\./],
  },
  'a name whose spelling leads on to another': {
    breaks: async (tx) => {
      const { names } = tx.tables
      const [harness] = await tx.select({ id: names.id }).from(names).where(eq(names.text, 'codex'))
      await tx.update(names).set({ canonicalId: harness!.id }).where(eq(names.text, 'some-model'))
    },
    told: [/^The name Some-Model\[1m\] is normalized to some-model, which is itself normalized to another name\./],
  },
  'a sheet that went on without its entries': {
    breaks: (tx) => tx.update(tx.tables.sheets).set({ status: 'submitted', submittedAt: NOW }),
    told: [/^Entry ent_\w+ is on sheet sht_\w+ \(submitted\), but is draft or belongs to another person\./],
  },
  'an entry that another person’s service token brought': {
    breaks: async (tx) => {
      const { entries } = tx.tables
      const isFree = and(isNull(entries.sessionId), eq(entries.status, 'submitted'))
      await tx
        .update(entries)
        .set({ managerId: await bobIn(tx) })
        .where(isFree)
    },
    told: [/^Entry ent_\w+ belongs to bob@example\.com, but was reported with a service token of ada@example\.com\./],
  },
  'an entry that another person’s service token changed': {
    breaks: async (tx) => {
      const { tokens } = tx.tables
      const [token] = await tx
        .select()
        .from(tokens)
        .where(eq(tokens.createdBy, await bobIn(tx)))
      const row = { entryId: 1, at: NOW, userId: token!.createdBy, tokenId: token!.id }
      const details = { project: 'prj_1', because: 'bill_voided' }
      await tx.insert(tx.tables.entryHistory).values([
        { ...row, action: 'source_changed', details: { from: 'report', to: 'log' } },
        { ...row, action: 'placed', details },
      ])
    },
    told: [/^Entry ent_\w+ belongs to ada@.+, but was changed with a service token of bob@.+ \(source_changed\)\./],
  },
  'an entry that a member moved by naming its ticket': {
    breaks: async (tx) => {
      const details = { project: 'prj_1', because: 'ticket_found_project' }
      const row = { entryId: 1, at: NOW, action: 'placed', userId: await bobIn(tx), tokenId: null, details }
      await tx.insert(tx.tables.entryHistory).values(row)
    },
    told: [
      /^Entry ent_\w+ belongs to ada@.+, but a report of bob@example\.com that named its ticket moved it to another project\./,
    ],
  },
  'an entry that is not whose its session is': {
    breaks: async (tx) => tx.update(tx.tables.sessions).set({ managerId: await bobIn(tx) }),
    told: [/^Entry ent_\w+ belongs to ada@example\.com, but its session s-1 belongs to bob@example\.com\./],
  },
  'telemetry without an entry, and without totals': {
    breaks: async (tx) => {
      const { sessions, names, telemetrySessions, telemetryTotals } = tx.tables
      const [session] = await tx.select().from(sessions)
      const [name] = await tx.select().from(names).where(eq(names.text, 'codex'))
      const { id: _, ...row } = session!
      const ids: number[] = []
      for (const sessionKey of ['t-1', 't-2']) {
        const [made] = await tx
          .insert(sessions)
          .values({ ...row, sessionKey, source: 'log' })
          .returning()
        ids.push(made!.id)
        const known = { facts: {}, email: null, lastSeenAt: NOW, forgottenTo: null, remembers: true }
        await tx.insert(telemetrySessions).values({ sessionId: made!.id, ...known })
      }
      const totals = {} as never
      await tx.insert(telemetryTotals).values({ sessionId: ids[0]!, chainModelId: name!.id, source: 'log', totals })
    },
    told: [
      /^Session t-1 has no entry for codex, although telemetry \(log\) reported totals for it\./,
      /^Telemetry has a record of what was counted for session t-2, but no totals\./,
    ],
  },
}

/** A session of two days that two sources report, of which the first day is divided. */
async function sliced(db: Database) {
  const { people, projects, entries } = createServices({ db, clock: { now: () => NOW } })
  const caller = await addReporter(people)
  for (const key of ['WEB', 'APP']) await projects.addProject(OPERATOR, { key, name: key })
  const cells = ['19', '20'].map((day) => ({
    ...{ started_at: `2026-11-${day}T10:00:00Z`, ended_at: `2026-11-${day}T11:00:00Z` },
    tokens: { input: 10, output: 5 },
  }))
  const times = { started_at: '2026-11-19T10:00:00Z', ended_at: '2026-11-20T11:00:00Z' }
  const body = { ...reportBody({ ...times, tokens: undefined, session_id: 's-3', project: 'APP' }), slices: cells }
  for (const source of ['log', 'report'] as const) {
    await entries.reporting.recordFrom(source, readReport(body, NOW), caller)
  }
  const [first] = await db.read.select({ uid: db.read.tables.entries.uid }).from(db.read.tables.entries)
  const halves = ['WEB', 'APP'].map((project) => ({ project, share: 1 }))
  await entries.division.divide(first!.uid, { parts: halves }, OPERATOR)
}

const BREAKS_OF_SLICES: typeof BREAKS = {
  'a part on another day than its slice': {
    breaks: (tx) =>
      tx.update(tx.tables.entries).set({ sliceDay: 20_000 }).where(isNotNull(tx.tables.entries.dividedFromId)),
    told: [/^Entry ent_\w+ is a part of 2024-10-04, but does not start on that day\./],
  },
  'usage that no source of a session has reported': {
    breaks: (tx) => tx.update(tx.tables.entries).set({ input: 11 }).where(eq(tx.tables.entries.input, 10)),
    told: [/^The entries of session s-3 sum to 21 in input for gpt-5-codex, but its source has reported 20\./],
  },
}

async function expectReported(db: Database, corruptions: typeof BREAKS): Promise<void> {
  expect(await findInconsistent(db.read)).toEqual([])
  for (const [name, { breaks, told }] of Object.entries(corruptions)) {
    let found: string[] = []
    const run = db.write(async (tx) => {
      await breaks(tx)
      found = await findInconsistent(tx)
      throw new Undo()
    })
    expect(await run.catch((error: unknown) => error)).toBeInstanceOf(Undo)
    expect({ name, found }).toEqual({ name, found: told.map((each) => expect.stringMatching(each)) })
  }
  expect(await findInconsistent(db.read)).toEqual([])
}

forEachEngine('integrity', (open) => {
  // Partitioned tables refuse some of it.
  test.skipIf(process.env[PARTITIONED] !== undefined)(
    'data that Tally writes is consistent, and any corruption of it is reported',
    async () => {
      const db = await open()
      await stage(db)
      await expectReported(db, BREAKS)
    },
  )

  test('of sessions with slices is that of their days and sums', async () => {
    const db = await open()
    await sliced(db)
    await expectReported(db, BREAKS_OF_SLICES)
  })
})
