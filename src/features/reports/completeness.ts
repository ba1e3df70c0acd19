/**
 * What is still to be done for a period before it can be billed or believed: what no one has placed, priced, approved or
 * billed, what its ends cut, and what may be counted twice.
 */
import type { Database } from '../../database/database.ts'
import type { Viewer } from '../../database/visibility.ts'
import { moneyNumber } from '../../lib/money.ts'
import { conditionOf, type EntryFilter } from '../entries/service.ts'
import { CHECKS, type CheckName } from './checks.ts'
import { listPath } from './counted.ts'
import type { CompletenessQuery } from './query.ts'
import type { CompletenessCheck, CompletenessReport } from './schema.ts'
import { countEach } from './store/completeness.ts'
import { askedBody } from './wire.ts'

export function createCompleteness({ db }: { db: Database }) {
  return {
    /** Each check with how many entries it finds, what they cost, and the path that lists them. */
    async completeness(viewer: Viewer, asked: CompletenessQuery): Promise<CompletenessReport> {
      const { startingAt, endingAt } = asked
      const checks = (Object.keys(CHECKS) as CheckName[]).map((name) => {
        const own: EntryFilter = { startingAt, endingAt, superseded: false, ...CHECKS[name].filter(asked) }
        return { name, own, filter: { ...asked.filter, ...own } }
      })
      // All that start in the period are found in one look at it; the others stand elsewhere.
      const inside = checks.filter(({ own }) => own.startingAt === startingAt)
      const among = (filter: EntryFilter) => ({ viewer, condition: conditionOf(db.slow, filter) })
      const [together, ...alone] = await Promise.all([
        countEach(db.slow, {
          ...among({ ...asked.filter, startingAt, endingAt, superseded: false }),
          each: inside.map(({ name }) => conditionOf(db.slow, CHECKS[name].filter(asked))),
        }),
        ...checks
          .filter((check) => !inside.includes(check))
          .map(async ({ filter }) => countEach(db.slow, { ...among(filter), each: [undefined] })),
      ])
      const outside = alone.flat()
      return {
        ...askedBody(asked),
        data: checks.map((check): CompletenessCheck => {
          const position = inside.indexOf(check)
          const { entries, unpricedEntries, costNanos } = position < 0 ? outside.shift()! : together[position]!
          return {
            check: check.name,
            entries,
            unpriced_entries: unpricedEntries,
            cost: moneyNumber(costNanos),
            list: listPath(check.filter),
          }
        }),
      }
    },
  }
}
