import { expect, test } from 'bun:test'
import { COMMAND_LINE } from '../../../src/access/asker.ts'
import { EVERYTHING } from '../../../src/access/visibility.ts'
import { createReportsService } from '../../../src/features/reports/service.ts'
import { createServices } from '../../../src/services.ts'
import { forEachEngine } from '../../support/databases.ts'

const clock = { now: () => Date.parse('2026-11-20T19:30:00Z') }
const PERIOD = { starting_at: '2026-11-01', ending_at: '2026-11-20' }

forEachEngine('a report', (open) => {
  test('waits for a bill that is being sent if it depends on which entries are billed', async () => {
    const db = await open()
    const { organization, selection, funding } = createServices({ db, clock })
    let waits = 0
    const settled = <Result>(read: () => Promise<Result>) => {
      waits += 1
      return read()
    }
    const reports = createReportsService({ db, clock, organization, billing: { settled }, funding, selection })
    const all = async <Row>(rows: AsyncIterable<Row>) => {
      for await (const _ of rows);
    }
    const asks: Record<string, (status?: string) => Promise<unknown>> = {
      usage: async (status) => reports.usage(EVERYTHING, await reports.readUsage({ ...PERIOD, status }, COMMAND_LINE)),
      variance: async (status) =>
        reports.variance(EVERYTHING, await reports.readVariance({ ...PERIOD, status }, COMMAND_LINE)),
      unpriced: async (status) => reports.unpriced(EVERYTHING, await reports.readUnpriced({ status }, COMMAND_LINE)),
      'export of unpriced': async (status) =>
        all(reports.exportUnpriced(EVERYTHING, await reports.readUnpriced({ status }, COMMAND_LINE))),
      unattributed: async (status) =>
        reports.unattributed(EVERYTHING, await reports.readUnattributed({ status }, COMMAND_LINE)),
      'export of unattributed': async (status) =>
        all(reports.exportUnattributed(EVERYTHING, await reports.readUnattributed({ status }, COMMAND_LINE))),
    }
    const waitsOf = async (ask: () => Promise<unknown>) => {
      waits = 0
      await ask()
      return waits > 0
    }
    for (const [name, ask] of Object.entries(asks)) {
      const found = [await waitsOf(() => ask()), await waitsOf(() => ask('submitted'))]
      expect([name, ...found]).toEqual([name, false, true])
    }
    const checks = async () => reports.completeness(EVERYTHING, await reports.readCompleteness(PERIOD, COMMAND_LINE))
    expect(await waitsOf(checks)).toBe(true)
  })
})
