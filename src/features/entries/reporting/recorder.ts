/** Records sets of reports in a transaction: loads what they refer to, plans, and writes the plan. */
import type { Outcome, Tx } from '../../../database/database.ts'
import { Problem } from '../../../errors.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { OrganizationService } from '../../organization/service.ts'
import type { PlacementService } from '../../placement/service.ts'
import type { PricesService } from '../../prices/service.ts'
import type { SpendingService } from '../../spending/service.ts'
import { locksOf } from './locks.ts'
import type { Interned } from './names.ts'
import { recordItem, type SetItem, wantAll, wantParts } from './plan.ts'
import type { Circumstances, Recorded, Reporter, Submission } from './record.ts'
import { type Joined, joinSession } from './sessions.ts'
import { RecordingState } from './state.ts'
import type { SessionKey } from './store/sessions.ts'

export interface RecorderDependencies {
  clock: Clock
  organization: Pick<OrganizationService, 'settings'>
  prices: Pick<PricesService, 'table'>
  placement: Pick<PlacementService, 'rules'>
  interned: Interned
  spending: Pick<SpendingService, 'terms' | 'record'>
}

/** A batch has as many slices; what it shows has some megabytes. */
const SHOWN_LIMIT = 10_000

function tooManyShown(): Problem {
  return new Problem(
    'too_many_entries',
    `The sessions of these reports have more than ${SHOWN_LIMIT.toLocaleString('en')} entries. Send fewer reports in one dry run.`,
  )
}

export type Recorder = ReturnType<typeof createRecorder>

export function createRecorder({ clock, organization, prices, placement, interned, spending }: RecorderDependencies) {
  async function circumstancesOf(tx: Tx): Promise<Circumstances> {
    const [table, rules, settings] = await Promise.all([
      prices.table(tx),
      placement.rules(tx),
      organization.settings(tx),
    ])
    const { unknownProjects, sameSession, hashedSessionIds, timeZone } = settings
    interned.followVersion(settings.internedVersion)
    return { now: clock.now(), prices: table, rules, unknownProjects, sameSession, hashedSessionIds, timeZone }
  }

  return {
    circumstancesOf,

    /**
     * The outcome of each report, in their order; a report that is refused changes nothing. Throws `too_many_entries` (422)
     * if it shows too many slices.
     */
    async recordSet(
      tx: Tx,
      items: readonly SetItem[],
      options?: Pick<Circumstances, 'showsSlices'>,
    ): Promise<Outcome<Recorded>[]> {
      // With READ COMMITTED, since two transactions that begin one session for different people do not see each other's rows.
      await tx.lockAll(() => items.flatMap(locksOf))
      const circumstances = { ...(await circumstancesOf(tx)), ...options }
      const state = new RecordingState(interned, circumstances)
      wantAll(state, items)
      await state.set.load(tx)
      wantParts(state, items)
      const outcomes = await state.set.plan(tx, () => {
        let shown = 0
        return items.map((item): Outcome<Recorded> => {
          if (shown > SHOWN_LIMIT) throw tooManyShown()
          try {
            const value = state.set.step(() => state.answered(recordItem(state, item, circumstances)))!
            if (options?.showsSlices) shown += value?.slices?.length ?? 1
            return { value }
          } catch (error) {
            return { error }
          }
        })
      })
      await state.save(tx, spending)
      return outcomes
    },

    /** Gets or creates a session, as a report of the reporter would. */
    async join(
      tx: Tx,
      key: SessionKey,
      source: Submission['source'],
      reporter: Reporter,
    ): Promise<Joined & { timeZone: string }> {
      const { hashedSessionIds, timeZone } = await organization.settings(tx)
      const state = new RecordingState(interned, { now: clock.now(), hashedSessionIds })
      state.wantSession(key)
      state.reportedBy(reporter)
      const joined = await state.set.plan(tx, () => joinSession(state, key, source, reporter))
      await state.save(tx, spending)
      return { ...joined, timeZone }
    },
  }
}
