import { expect, test } from 'bun:test'
import { EVERYTHING } from '../../../../src/access/visibility.ts'
import { readListQuery } from '../../../../src/features/entries/listing/filter.ts'
import { createServices } from '../../../../src/services.ts'
import { forEachEngine } from '../../../support/databases.ts'
import { addReporter, reportBody } from '../../../support/reports.ts'

const NOW = Date.UTC(2026, 10, 20, 19, 30)
const clock = { now: () => NOW }

forEachEngine('reports that race', (open) => {
  async function stage() {
    const db = await open()
    const services = createServices({ db, clock })
    const caller = await addReporter(services.people)
    const all = async () =>
      (await services.entries.listing.listEntries(EVERYTHING, readListQuery({ limit: '1000' }))).data
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
