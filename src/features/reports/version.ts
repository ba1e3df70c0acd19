/** Versions of reports: whether one has changed, without calculating it. */

import type { Viewer } from '../../access/visibility.ts'
import type { Database } from '../../database/database.ts'
import type { Span } from '../../lib/calendar.ts'
import { rolledUpState } from '../rollup/service.ts'
import type { EntryFilter } from '../selection/contract.ts'
import { counted } from './counted-entries.ts'
import { lastChanges } from './store/changes.ts'

interface ReportQuery extends Span {
  filter: EntryFilter
}

export function createVersions({ db }: { db: Database }) {
  /** A database that is restored from a backup repeats its numbers with other content, but not in the same process. */
  const process = crypto.randomUUID()

  return {
    /**
     * A text that changes with the report; undefined if only its content tells. It is of the entries, whose days are
     * rolled up, and of everything else that people change: names, leads, clients of projects, settings and prices are in
     * the audit log or counted by the revision. It would also tell somebody when others report, so it is only for those who
     * see every entry. Read it before the report.
     */
    async version(viewer: Viewer, query: ReportQuery): Promise<string | undefined> {
      if (viewer.sees !== 'everything') return undefined
      const { filter, startingAt, endingAt } = query
      const within = {
        from: Math.max(startingAt, filter.starting_at ?? startingAt),
        to: Math.min(endingAt, filter.ending_at ?? endingAt),
      }
      if (within.from >= within.to) return undefined
      const state = await rolledUpState(db.read, { filter: counted(filter), within })
      if (state === undefined) return undefined
      const [revision, changes] = await Promise.all([db.read.revision(), lastChanges(db.read)])
      return JSON.stringify([process, viewer, query, revision, changes, state])
    },
  }
}
