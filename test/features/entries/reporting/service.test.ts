import { expect, test } from 'bun:test'
import { EVERYTHING } from '../../../../src/access/visibility.ts'
import { readListQuery } from '../../../../src/features/entries/listing/query.ts'
import { createServices } from '../../../../src/services.ts'
import { canOverlap, forEachEngine } from '../../../support/databases.ts'
import { addReporter, reportBody } from '../../../support/reports.ts'

const NOW = Date.UTC(2026, 10, 20, 19, 30)
const clock = { now: () => NOW }

forEachEngine('reports that race', (open) => {
  async function stage() {
    const db = await open()
    const services = createServices({ db, clock })
    const caller = await addReporter(services.people)
    const all = async () =>
      (await services.entries.listing.listEntries(EVERYTHING, readListQuery({ limit: '1000' }, 'UTC'))).data
    return { ...services, caller, all }
  }

  test('with one Idempotency-Key make one entry, which every caller gets', async () => {
    const { entries, caller, all } = await stage()
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => entries.reporting.reportEntry(reportBody(), caller, 'once')),
    )
    expect(new Set(answers.map(({ entry }) => entry.id)).size).toBe(1)
    expect(answers.filter(({ outcome }) => outcome === 'created')).toHaveLength(1)
    expect(await all()).toHaveLength(1)
  })

  test('with new names, projects, tickets and labels make each of them once', async () => {
    const { db, entries, caller } = await stage()
    await Promise.all(
      Array.from({ length: 60 }, (_, index) =>
        entries.reporting.reportEntry(
          reportBody({
            model: `model-${index % 3}`,
            project: index % 2 ? 'Acme' : 'ACME ',
            ticket: `acme-${index % 4}`,
            labels: { repository: `r-${index % 5}` },
          }),
          caller,
        ),
      ),
    )
    const { projects, tickets, labelSets, labelPairs, names, projectNames } = db.read.tables
    const counts = []
    for (const table of [projects, projectNames, tickets, labelSets, labelPairs, names]) {
      counts.push((await db.read.select().from(table as typeof projects)).length)
    }
    // Three models, a harness and an agent.
    expect(counts).toEqual([1, 1, 4, 5, 5, 5])
  })
})

forEachEngine('a report that meets another change of its entry', (open, engine) => {
  test.if(engine === 'postgres' && canOverlap(engine))('waits for an approval, and adds a part after it', async () => {
    const db = await open()
    const other = await open({ sharing: db })
    const [one, two] = [db, other].map((each) => createServices({ db: each, clock: { now: () => NOW } }))
    const caller = await addReporter(one!.people)
    const session = { session_id: 'met' }
    await one!.entries.reporting.reportEntry(reportBody(session), caller)
    const approved = Promise.withResolvers<void>()
    const waited = Promise.withResolvers<void>()
    const approving = db.write(async (tx) => {
      await tx.update(tx.tables.entries).set({ status: 'approved' }).returning({ id: tx.tables.entries.id })
      approved.resolve()
      await waited.promise
    })
    await approved.promise
    const report = reportBody({ ...session, tokens: { input: 30, output: 9 }, ended_at: '2026-11-20T11:30:00Z' })
    const reporting = two!.entries.reporting.reportEntry(report, caller)
    // Long enough to wait for the row; a report that is later than that finds it approved as well.
    await Bun.sleep(100)
    waited.resolve()
    await approving
    expect(await reporting).toMatchObject({ outcome: 'created', entry: { part: 2, tokens: { input: 20, output: 4 } } })
  })
})
