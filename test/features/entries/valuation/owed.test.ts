/** What a change of prices owes: entries without a cost are valued, whatever stops the process that made the change. */
import { expect, test } from 'bun:test'
import { TALLY } from '../../../../src/access/actor.ts'
import { EVERYTHING } from '../../../../src/access/visibility.ts'
import type { Database } from '../../../../src/database/database.ts'
import { findOwed, settleOwed } from '../../../../src/database/owed-work.ts'
import { readReport } from '../../../../src/features/entries/reporting/report.ts'
import { createServices } from '../../../../src/services.ts'
import { forEachEngine } from '../../../support/databases.ts'
import { addReporter, reportBody } from '../../../support/reports.ts'

const NOW = Date.UTC(2026, 10, 20, 19, 30)
const clock = { now: () => NOW }
const webhooks = { privateNetworks: [], localUrl: () => 'https://tally.example.com' }

async function stage(db: Database) {
  const services = createServices({ db, clock, webhooks })
  const { people, entries } = services
  const ada = await addReporter(people)
  return {
    ...services,
    async report(model: string): Promise<string> {
      const report = readReport(reportBody({ model, session_id: crypto.randomUUID() }), NOW)
      return (await entries.reporting.recordFrom('report', report, ada)).entry.entry.uid
    },
    costOf: async (id: string) => JSON.stringify((await entries.listing.getEntry(id, EVERYTHING)).cost),
  }
}

/** Like a process that starts after the one before was killed: nothing of it is left but the database. */
const restarted = (db: Database) => createServices({ db, clock, webhooks })

forEachEngine('what a change of prices owes', (open) => {
  const ways: Record<string, (db: Database) => Promise<unknown>> = {
    'the embedded table': (db) => restarted(db).prices.loadDefaultPrices(),
    'a price': (db) =>
      restarted(db).prices.setPrice(
        { model: 'gpt-5', input: 1, output: 2, effective_from: 'always', only: true },
        TALLY,
      ),
    'a loaded table': async (db) => {
      const { prices } = restarted(db)
      const text = 'provider,model,input,output\nopenai,gpt-5,1,2\n'
      await prices.load(await prices.planTable(text, { name: 'prices.csv' }), TALLY)
    },
    'an alias': async (db) => {
      const { prices } = restarted(db)
      await prices.setPrice({ model: 'ours', input: 1, output: 2, effective_from: 'always', only: true }, TALLY)
      await db.write(async (tx) => settleOwed(tx, (await findOwed(tx, 'valuation'))!))
      await prices.setAlias({ alias: 'gpt-5', model: 'ours', provider: null }, TALLY)
    },
  }
  test.each(Object.keys(ways))('is done after a crash, and until then found by the checks: %s', async (way) => {
    const db = await open()
    const { report, costOf } = await stage(db)
    const ids = await Promise.all(Array.from({ length: 3 }, () => report('gpt-5')))
    const hopeless = await report('a model that nobody knows')
    await restarted(db).entries.valuation.valueOwed()
    expect(await costOf(ids[0]!)).toBe('null')
    expect(await findOwed(db.read, 'valuation')).toBeUndefined()
    expect(await restarted(db).entries.verify()).toEqual([])

    await ways[way]!(db)
    expect(await costOf(ids[0]!)).toBe('null')
    expect(await restarted(db).entries.verify()).toEqual([
      expect.stringMatching(/^3 entries have no cost, although there is a price since .*tally prices reprice/),
    ])
    await restarted(db).entries.valuation.valueOwed()
    for (const id of ids) expect(await costOf(id)).not.toBe('null')
    expect(await costOf(hopeless)).toBe('null')
    expect(await findOwed(db.read, 'valuation')).toBeUndefined()
    expect(await restarted(db).entries.verify()).toEqual([])
  })

  test('stays owed if prices change while it is done, or if a call runs out of time', async () => {
    const db = await open()
    const { report, prices, entries, costOf } = await stage(db)
    const id = await report('gpt-5')
    await entries.valuation.valueOwed()
    await prices.setAlias({ alias: 'other', model: 'gpt-5', provider: null }, TALLY)
    const begun = (await findOwed(db.read, 'valuation'))!
    await prices.setPrice({ model: 'gpt-5', input: 1, output: 2, effective_from: 'always', only: true }, TALLY)
    await db.write((tx) => settleOwed(tx, begun))
    expect(await findOwed(db.read, 'valuation')).toBeDefined()
    await entries.valuation.valueUnpriced({ dryRun: true })
    expect(await findOwed(db.read, 'valuation')).toBeDefined()
    await entries.valuation.valueOwed()
    expect(await costOf(id)).not.toBe('null')
    expect(await findOwed(db.read, 'valuation')).toBeUndefined()
  })
})
