/** A figure is the total of the list that it leads to: each group of a report, by each basis of cost. */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { COMMAND_LINE } from '../../../src/access/asker.ts'
import { EVERYTHING } from '../../../src/access/visibility.ts'
import { readListQuery } from '../../../src/features/entries/contract.ts'
import { createRollup } from '../../../src/features/rollup/job.ts'
import { NANO_DIGITS, parseDecimal } from '../../../src/lib/money.ts'
import { COST_BASES } from '../../../src/shared/cost-basis.ts'
import { keyOf } from '../../../src/shared/dimensions.ts'
import { COUNTED_STATUSES } from '../../../src/shared/entry-filters.ts'
import { forEachEngine } from '../../support/databases.ts'
import { runs } from '../../support/tier.ts'
import { AT_ONCE, CHANGES, Chance, clock, stage } from '../rollup/scene.ts'

const DIMENSIONS = ['project', 'agent_manager', 'plan', 'funding'] as const

/** Of a raw number of JSON. */
const nanosOf = (money: number | null) => (money === null ? null : parseDecimal(JSON.stringify(money), NANO_DIGITS)!)

forEachEngine('figures of reports', (open) => {
  test('are the totals of their lists, by each basis, whatever pays for entries', async () => {
    const property = fc.asyncProperty(fc.integer(), async (seed) => {
      const db = await open()
      const chance = new Chance(seed)
      const scene = await stage(db)
      const { reports, entries } = scene.services
      const change = async (times: number) => {
        for (let left = times; left > 0; left -= 1) await chance.of(CHANGES)(db, chance, scene)
      }
      await change(40)
      // Most days have prepared sums, and some have changed since.
      const rollup = createRollup({ db, clock, timeZone: async () => 'UTC', ...AT_ONCE })
      while ((await rollup.step()) !== 'idle');
      await change(3)

      for (const basis of COST_BASES) {
        for (const dimension of DIMENSIONS) {
          const period = { starting_at: '2026-10-01', ending_at: '2026-12-01' }
          const texts = { ...period, bucket_width: '1mo', group_by: [dimension], basis }
          const report = await reports.usage(EVERYTHING, await reports.readUsage(texts as never, COMMAND_LINE))
          let reported = 0
          for (const { starting_at, ending_at, results } of report.data) {
            for (const group of results) {
              const narrow = { [dimension]: [keyOf(group, dimension) ?? 'none'] }
              const list = { ...narrow, status: [...COUNTED_STATUSES], superseded: 'false', starting_at, ending_at }
              const query = readListQuery({ ...list, basis, limit: '1000' } as never, 'UTC')
              const { data, next_page } = await entries.listing.listEntries(EVERYTHING, query)
              expect(next_page).toBeNull()
              const known = data.flatMap(({ cost }) => nanosOf(cost) ?? [])
              const cost = known.length === 0 ? null : known.reduce((sum, each) => sum + each, 0n)
              expect([basis, narrow, group.entries, group.unpriced_entries, nanosOf(group.cost)]).toEqual([
                ...[basis, narrow, data.length, data.length - known.length, cost],
              ])
              // What is unknown has its own list.
              const unknown = readListQuery({ ...list, unknown_cost: basis, limit: '1000' } as never, 'UTC')
              expect((await entries.listing.listEntries(EVERYTHING, unknown)).data).toHaveLength(group.unpriced_entries)
              reported += group.entries
            }
          }
          expect(reported).toBe(report.totals!.entries)
        }
      }
    })
    await fc.assert(property, { numRuns: runs(10, 2) })
  })
})
