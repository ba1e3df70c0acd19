import { afterEach, expect, test } from 'bun:test'
import { TALLY } from '../../../../src/access/actor.ts'
import { EVERYTHING } from '../../../../src/access/visibility.ts'
import { openDatabase } from '../../../../src/database/open.ts'
import type { SessionSource } from '../../../../src/database/schema/values.ts'
import { readListQuery } from '../../../../src/features/entries/listing/query.ts'
import { readReport } from '../../../../src/features/entries/reporting/report.ts'
import { createServices } from '../../../../src/services.ts'
import { forEachEngine, type Location, newMigrated, rowsAt } from '../../../support/databases.ts'
import { addReporter, OPERATOR, reportBody } from '../../../support/reports.ts'

const NOW = Date.UTC(2026, 11, 1, 9)
const REASON = 'The wrong client'

const cleanUps: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const step of cleanUps.splice(0).reverse()) await step()
})

/** What the migrations that brought slices have added. */
const ADDED = {
  // The last one is of a later version.
  entries: ['slice_day', 'slice_place', 'estimated', 'active_ms', 'funding_id'],
  sessions: ['zone'],
  rollup_periods: ['format'],
}
const SLICES_VERSION = 51

/** As the version before slices has left the database. */
async function withoutSlices(location: Location): Promise<void> {
  const trigger = 'entries_marked_updated'
  if (!location.databaseUrl) await rowsAt(location, `DROP TRIGGER ${trigger}`)
  for (const [table, columns] of Object.entries(ADDED)) {
    for (const column of columns) await rowsAt(location, `ALTER TABLE ${table} DROP COLUMN ${column}`)
  }
  if (!location.databaseUrl) {
    await rowsAt(location, `CREATE TRIGGER ${trigger} AFTER UPDATE OF input ON entries BEGIN SELECT 1; END`)
  }
  // Of later versions.
  for (const [trigger, table] of [
    ['organization_owes_funding', 'organization'],
    ['organization_changes_shares', 'organization'],
    ['users_owe_funding', 'users'],
  ])
    await rowsAt(location, `DROP TRIGGER ${trigger}${location.databaseUrl ? ` ON ${table}` : ''}`)
  await rowsAt(location, 'DROP TABLE exchanged_tokens')
  await rowsAt(location, 'ALTER TABLE tokens DROP COLUMN trust_id')
  await rowsAt(location, 'DROP TABLE trusts')
  await rowsAt(location, 'DROP TABLE limit_readings')
  await rowsAt(location, 'DROP TABLE agent_statuses')
  await rowsAt(location, 'DROP TABLE telemetry_calls')
  const ofOrganization = ['locale', 'cost_basis', 'leads_see_fees']
  for (const column of ofOrganization) await rowsAt(location, `ALTER TABLE organization DROP COLUMN ${column}`)
  await rowsAt(location, 'ALTER TABLE budgets DROP COLUMN basis')
  for (const column of ['basis', 'provisional']) await rowsAt(location, `ALTER TABLE bills DROP COLUMN ${column}`)
  for (const column of ['fee', 'charge']) await rowsAt(location, `ALTER TABLE bill_entries DROP COLUMN ${column}`)
  for (const table of ['plan_corrections', 'plan_shares', 'plan_periods', 'plan_generations', 'unallocated_hours']) {
    await rowsAt(location, `DROP TABLE ${table}`)
  }
  for (const table of ['funding_owed', 'fundings', 'funding_rule_versions', 'funding_rules', 'plan_versions']) {
    await rowsAt(location, `DROP TABLE ${table}`)
  }
  await rowsAt(location, 'DROP TABLE plan_holders')
  await rowsAt(location, 'DROP TABLE plans')
  const functions = [
    'owe_funding',
    'owe_funding_of_plan',
    'owe_funding_from',
    'owe_all_funding',
    'owe_funding_of_days',
    'owe_funding_of_person',
    'change_shares_of_plan',
    'change_shares_of_version',
    'change_all_shares',
  ]
  if (location.databaseUrl) await rowsAt(location, `DROP FUNCTION ${functions.join(', ')}`)
  await rowsAt(location, `DELETE FROM migrations WHERE version >= ${SLICES_VERSION}`)
}

const usage = (input: number) => ({ tokens: { input, output: 0 } })
const body = (session: string, more: Record<string, unknown>) =>
  reportBody({ session_id: session, project: 'ONE', started_at: '2026-10-30T10:00:00Z', tokens: undefined, ...more })
const whole = (session: string) => body(session, { ended_at: '2026-10-31T10:00:00Z', ...usage(1_000) })
const sliced = (session: string) => {
  const cells = [
    ['2026-10-30', 600],
    ['2026-10-31', 500],
    ['2026-11-20', 50],
  ].map(([day, input]) => ({
    ...{ started_at: `${day}T10:00:00Z`, ended_at: `${day}T11:00:00Z` },
    ...usage(input as number),
  }))
  return body(session, { ended_at: '2026-11-20T11:00:00Z', slices: cells })
}

forEachEngine('the sessions of a database from before slices', (_, engine) => {
  async function openAt(location: Location) {
    const db = await openDatabase({ ...location, clock: { now: () => NOW } })
    const services = createServices({ db, clock: { now: () => NOW } })
    const tell = async (report: ReturnType<typeof whole>, source: SessionSource = 'report') => {
      const caller = await services.people
        .findUser('ada@example.com')
        .then((known) => (known ? tokenOf(services) : addReporter(services.people)))
      return services.entries.reporting.recordFrom(source, readReport(report, NOW), caller)
    }
    return { db, services, tell }
  }

  async function tokenOf({ people }: ReturnType<typeof createServices>) {
    const { secret } = await people.createToken({ kind: 'svc', user: 'ada@example.com', name: 'later' }, TALLY)
    return (await people.authenticate(`Bearer ${secret}`)) as Awaited<ReturnType<typeof addReporter>>
  }

  test('are sliced by their next report, without a change of what people have decided, and no row is written before', async () => {
    const location = await newMigrated(engine, cleanUps)
    const older = await openAt(location)
    const price = { model: 'gpt-5-codex', input: 3, output: 15, effective_from: 'always', only: true, force: true }
    await older.services.prices.setPrice(price as never, TALLY)
    const { approval, places, division } = older.services.entries
    for (const key of ['ONE', 'TWO']) await older.services.projects.addProject(OPERATOR, { key, name: key })
    const decided: Record<string, (id: string) => Promise<unknown>> = {
      billed: async () => older.services.bills.send({ month: '2026-10', project: 'ONE' }, { by: TALLY }),
      submitted: async () => {},
      approved: (id) => approval.decideEntry(id, { action: 'approve' }, OPERATOR),
      rejected: (id) => approval.decideEntry(id, { action: 'reject', reason: REASON }, OPERATOR),
      voided: (id) => approval.decideEntry(id, { action: 'void', reason: REASON }, OPERATOR),
      ignored: (id) => approval.decideEntry(id, { action: 'void', reason: REASON, laterReports: 'ignore' }, OPERATOR),
      placed: (id) => places.changeEntry(id, { project: 'TWO' }, OPERATOR),
      corrected: (id) => places.changeEntry(id, { ...usage(900), reason: REASON }, OPERATOR),
      relabelled: (id) => places.changeEntry(id, { labels: { branch: 'A-1' } }, OPERATOR),
      divided: (id) =>
        division.divide(id, { parts: ['ONE', 'TWO'].map((project) => ({ project, share: 1 })) }, OPERATOR),
      contested: () => older.tell(whole('contested'), 'log'),
    }
    for (const [session, decide] of Object.entries(decided)) {
      await decide((await older.tell(whole(session))).entry.entry.uid)
    }
    await older.db.close()
    await withoutSlices(location)
    // In PostgreSQL with the transaction that has written each row.
    const rows = (table: string) =>
      rowsAt(
        location,
        engine === 'postgres' ? `SELECT xmin::text, * FROM ${table} ORDER BY id` : `SELECT * FROM ${table} ORDER BY id`,
      )
    const before = { entries: await rows('entries'), sessions: await rows('sessions') }

    const upgraded = await openAt(location)
    cleanUps.push(() => upgraded.db.close())
    const added = {
      slice_day: null,
      slice_place: null,
      active_ms: null,
      funding_id: null,
      estimated: engine === 'postgres' ? false : 0,
    }
    expect(await rows('entries')).toEqual(before.entries.map((row) => ({ ...row, ...added })))
    expect(await rows('sessions')).toEqual(before.sessions.map((row) => ({ ...row, zone: null })))

    const shown = async (session: string) => {
      const query = readListQuery({ session_id: [session] }, 'UTC')
      const { data } = await upgraded.services.entries.listing.listEntries(EVERYTHING, query)
      return data
        .map(({ status, slice, tokens }) => `${slice?.day.slice(5) ?? 'whole'} ${tokens.input} ${status}`)
        .sort()
    }
    const goesOn = ['10-31 100 submitted', '11-20 50 submitted']
    const days = ['10-30 600 submitted', '10-31 500 submitted', '11-20 50 submitted']
    const expected: Record<string, string[]> = {
      ...{ submitted: days, contested: days },
      billed: [...goesOn, 'whole 1000 billed'],
      approved: [...goesOn, 'whole 1000 approved'],
      rejected: [...goesOn, 'whole 1000 rejected'],
      voided: [...goesOn, 'whole 1000 voided'],
      ignored: ['whole 1000 voided'],
      placed: [...goesOn, 'whole 1000 submitted'],
      relabelled: [...goesOn, 'whole 1000 submitted'],
      corrected: [...goesOn, 'whole 900 submitted'],
      divided: [...goesOn, 'whole 500 submitted'],
    }
    for (const session of Object.keys(decided)) {
      await upgraded.tell(sliced(session))
      expect([session, await shown(session)]).toEqual([session, expected[session]!])
      expect((await upgraded.tell(sliced(session))).outcome).toBe('repeated')
    }
    const [split] = await rowsAt(location, "SELECT count(*) AS entries FROM entry_history WHERE action = 'sliced'")
    expect(Number(split!.entries)).toBe(2)
    expect(await upgraded.services.entries.verify()).toEqual([])
    expect(await upgraded.services.bills.verify()).toEqual([])
  }, 120_000)
})
