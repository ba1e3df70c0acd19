import { expect, test } from 'bun:test'
import { EVERYTHING } from '../../../src/access/visibility.ts'
import { createReportsService, readUnattributed } from '../../../src/features/reports/service.ts'
import { createServices } from '../../../src/services.ts'
import { forEachEngine } from '../../support/databases.ts'

const clock = { now: () => Date.parse('2026-11-20T19:30:00Z') }
const PERIOD = { starting_at: '2026-11-01', ending_at: '2026-11-20' }

forEachEngine('a report', (open) => {
  test('waits for a bill that is being sent if it depends on which entries are billed', async () => {
    const db = await open()
    const { organization } = createServices({ db, clock })
    let waits = 0
    const settled = <Result>(read: () => Promise<Result>) => {
      waits += 1
      return read()
    }
    const reports = createReportsService({ db, clock, organization, billing: { settled } })
    const all = async <Row>(rows: AsyncIterable<Row>) => {
      for await (const _ of rows);
    }
    const asks: Record<string, (status?: string) => Promise<unknown>> = {
      usage: async (status) => reports.usage(EVERYTHING, await reports.readUsage({ ...PERIOD, status })),
      variance: async (status) => reports.variance(EVERYTHING, await reports.readVariance({ ...PERIOD, status })),
      unpriced: async (status) => reports.unpriced(EVERYTHING, await reports.readUnpriced({ status })),
      'export of unpriced': async (status) =>
        all(reports.exportUnpriced(EVERYTHING, await reports.readUnpriced({ status }))),
      unattributed: (status) => reports.unattributed(EVERYTHING, readUnattributed({ status })),
      'export of unattributed': (status) => all(reports.exportUnattributed(EVERYTHING, readUnattributed({ status }))),
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
    const checks = async () => reports.completeness(EVERYTHING, await reports.readCompleteness(PERIOD))
    expect(await waitsOf(checks)).toBe(true)
  })
})
