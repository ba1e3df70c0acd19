import { expect, test } from 'bun:test'
import { TALLY } from '../../../../src/access/actor.ts'
import type { CallerOf } from '../../../../src/access/caller.ts'
import { EVERYTHING, type Viewer, viewerOf } from '../../../../src/access/visibility.ts'
import { ENTRY_COLUMNS } from '../../../../src/features/entries/listing/csv.ts'
import { csvText } from '../../../../src/lib/csv-text.ts'
import { createServices } from '../../../../src/services.ts'
import { forEachEngine } from '../../../support/databases.ts'
import { reportBody } from '../../../support/reports.ts'

const clock = { now: () => Date.UTC(2026, 10, 20, 19, 30) }

/** What has to be quoted, made harmless, left empty or looked up. */
const REPORTS: Record<string, unknown>[] = [
  {},
  {
    summary: '=HYPERLINK("x")',
    labels: { repository: 'acme/web', branch: 'a,b' },
    project: 'Acme, Web',
    ticket: 'A-1',
  },
  { summary: 'two "quotes"', agent_name: '-dash', provider: 'openai', session_id: '+s 1', requests: 3 },
  { summary: '@here', reported_cost: 0.123456789, project: 'Übung', started_at: '2026-11-20T09:59:59.999Z' },
  { model: 'nobody-knows', summary: ' spaces ', labels: { repository: 'acme/web' } },
  {},
  { reported_cost: 9_000_000, tokens: { input: 1e12, output: 1e12, cache_read: 7, cache_write: 8, cache_write_1h: 9 } },
]

forEachEngine('an export', (open) => {
  async function stage(serving: boolean) {
    const db = await open({ serving })
    const services = createServices({ db, clock })
    await services.prices.loadDefaultPrices()
    await services.people.addUser({ email: 'ada@example.com', name: 'Ada "A"', role: 'admin' }, TALLY)
    const { secret } = await services.people.createToken({ kind: 'svc', user: 'ada@example.com', name: 'test' }, TALLY)
    const caller = (await services.people.authenticate(`Bearer ${secret}`)) as CallerOf<'service'>
    for (const change of REPORTS) {
      const report = reportBody({ started_at: '2026-11-20T09:00:00Z', ...change })
      await services.entries.reporting.reportEntry(report, caller)
    }
    const exported = async (viewer: Viewer) => {
      const chunks = await Array.fromAsync(services.entries.listing.exportCsv(viewer, {}))
      return Buffer.concat(chunks).toString()
    }
    return { ...services, exported }
  }

  for (const serving of [true, false]) {
    test(`of a ${serving ? 'server' : 'command line'} says of each entry what its columns say`, async () => {
      const { entries, exported } = await stage(serving)
      const rows = entries.listing.exportEntries(EVERYTHING, {})
      const told = await Array.fromAsync(csvText(rows, ENTRY_COLUMNS))
      expect(await exported(EVERYTHING)).toBe(told.join(''))
      expect(told.join('')).toContain('possible_duplicate_of')
    })
  }

  test('shows a member their own entries only', async () => {
    const { exported } = await stage(true)
    const stranger = viewerOf({ id: 999, role: 'member' })
    expect((await exported(stranger)).split('\r\n')).toHaveLength(2)
  })

  test('that its reader leaves ends, and another one begins', async () => {
    const { entries, exported } = await stage(true)
    for await (const chunk of entries.listing.exportCsv(EVERYTHING, {})) {
      expect(chunk.length).toBeGreaterThan(0)
      break
    }
    const [one, other] = await Promise.all([exported(EVERYTHING), exported(EVERYTHING)])
    expect(one).toBe(other)
    expect(one.split('\r\n')).toHaveLength(REPORTS.length + 2)
  })
})
