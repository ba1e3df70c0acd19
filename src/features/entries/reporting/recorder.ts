/** Records sets of reports in a transaction: loads what they refer to, plans, and writes the plan. */
import type { Outcome, Tx } from '../../../database/database.ts'
import { UnusedIds } from '../../../database/dry-run.ts'
import { Problem } from '../../../errors.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { FundingDecisions, FundingService } from '../../funding/service.ts'
import type { OrganizationService } from '../../organization/service.ts'
import type { PlacementService, RuleSet } from '../../placement/service.ts'
import type { PricesService } from '../../prices/service.ts'
import type { SpendingService } from '../../spending/service.ts'
import { locksOf } from './locks.ts'
import type { Interned } from './names.ts'
import { recordItem, type SetItem, wantAll, wantParts } from './plan.ts'
import type { Circumstances, EntryPlan, Recorded, Reporter, Submission } from './record.ts'
import { type Joined, joinSession } from './sessions.ts'
import { RecordingState } from './state.ts'
import type { SessionKey } from './store/sessions.ts'
import { isShownTo } from './within-limit.ts'

export interface RecorderDependencies {
  clock: Clock
  organization: Pick<OrganizationService, 'settings'>
  prices: Pick<PricesService, 'table'>
  placement: Pick<PlacementService, 'rules'>
  funding: Pick<FundingService, 'decisions'>
  interned: Interned
  spending: Pick<SpendingService, 'terms' | 'record'>
}

/** A batch has as many slices; what it shows has some megabytes. */
const SHOWN_LIMIT = 10_000

function tooManyShown(): Problem {
  return new Problem(
    'too_many_entries',
    `These reports concern more than ${SHOWN_LIMIT.toLocaleString('en')} entries. Send fewer reports in one dry run.`,
  )
}

export type Recorder = ReturnType<typeof createRecorder>

export function createRecorder(dependencies: RecorderDependencies) {
  const { clock, organization, prices, placement, funding, interned, spending } = dependencies

  /** Rules are made anew with each revision, so the same rules are of the same one, which need not be read once more. */
  const decisionsBeside = new WeakMap<RuleSet, FundingDecisions>()

  async function circumstancesOf(tx: Tx): Promise<Circumstances> {
    const [table, rules, settings] = await Promise.all([
      prices.table(tx),
      placement.rules(tx),
      organization.settings(tx),
    ])
    const decisions = decisionsBeside.get(rules) ?? (await funding.decisions(tx))
    decisionsBeside.set(rules, decisions)
    const { unknownProjects, sameSession, hashedSessionIds, timeZone } = settings
    interned.followVersion(settings.internedVersion)
    const now = clock.now()
    const asked = { unknownProjects, sameSession, hashedSessionIds, timeZone }
    return { now, prices: table, rules, funding: decisions, ...asked }
  }

  /**
   * The outcome of each report, in their order, and what is to be saved. A report that is refused changes nothing. No
   * report is begun after `limitMs`, but for the first one.
   */
  async function planSet(
    tx: Tx,
    items: readonly SetItem[],
    { unused, limitMs = Number.POSITIVE_INFINITY }: { unused?: UnusedIds; limitMs?: number | undefined } = {},
  ) {
    // With READ COMMITTED, since two transactions that begin one session for different people do not see each other's rows.
    await tx.lockAll(() => items.flatMap(locksOf))
    const circumstances = await circumstancesOf(tx)
    const state = new RecordingState(interned, circumstances, unused)
    wantAll(state, items)
    await state.set.load(tx)
    wantParts(state, items)
    const record = (item: SetItem): Outcome<Recorded> => {
      try {
        return { value: state.set.step(() => state.answered(recordItem(state, item, circumstances)))! }
      } catch (error) {
        return { error }
      }
    }
    const outcomes = await state.set.plan(tx, () => {
      const startedAt = performance.now()
      const planned: Outcome<Recorded>[] = []
      for (const item of items) {
        if (planned.length > 0 && performance.now() - startedAt > limitMs) break
        planned.push(record(item))
      }
      return planned
    })
    return { outcomes, state }
  }

  return {
    circumstancesOf,

    /** Records all reports, or only the first ones if they take longer than `limitMs`. */
    async recordSet(tx: Tx, items: readonly SetItem[], limitMs?: number): Promise<Outcome<Recorded>[]> {
      const { outcomes, state } = await planSet(tx, items, { limitMs })
      await state.save(tx, spending)
      return outcomes
    },

    /**
     * The same plan of a person's reports, without saving it: nothing is written, and no id is used up. Throws
     * `too_many_entries` (422).
     */
    async tryOut(
      tx: Tx,
      items: readonly SetItem[],
      reporter: Reporter,
    ): Promise<{ outcomes: Outcome<Recorded>[]; entries: EntryPlan[] }> {
      const { outcomes, state } = await planSet(tx, items, { unused: new UnusedIds() })
      const entries = state.entries(isShownTo(reporter))
      if (entries.length > SHOWN_LIMIT) throw tooManyShown()
      return { outcomes, entries }
    },

    /** Gets or creates a session, as a report of the reporter would. */
    async join(
      tx: Tx,
      key: SessionKey,
      source: Submission['source'],
      reporter: Reporter,
    ): Promise<Joined & { timeZone: string }> {
      const { hashedSessionIds, timeZone } = await organization.settings(tx)
      const decisions = await funding.decisions(tx)
      const state = new RecordingState(interned, { now: clock.now(), hashedSessionIds, funding: decisions, timeZone })
      state.wantSession(key)
      state.reportedBy(reporter)
      const joined = await state.set.plan(tx, () => joinSession(state, key, source, reporter))
      await state.save(tx, spending)
      return { ...joined, timeZone }
    },
  }
}
