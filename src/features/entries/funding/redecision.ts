/**
 * Deciding again what pays for entries that exist (docs/plans.md, "What pays for usage"): after a change of plans, their holders
 * or funding rules, and of what they decide by. Approved and billed entries keep what they had.
 */
import { type Actor, TALLY } from '../../../access/actor.ts'
import type { Database, Reader, Tx } from '../../../database/database.ts'
import { rehearse } from '../../../database/dry-run.ts'
import type { SaidFunding } from '../../../database/schema/records.ts'
import type { FundingKind } from '../../../database/schema/values.ts'
import { monthsBefore, startOfDay } from '../../../lib/calendar.ts'
import type { Clock } from '../../../lib/clock.ts'
import { counted } from '../../../lib/counted.ts'
import { timestamp } from '../../../lib/duration.ts'
import { Job } from '../../../lib/jobs.ts'
import {
  type Funded,
  type FundingService,
  findOwedFunding,
  type OwedFunding,
  settleOwedFunding,
} from '../../funding/service.ts'
import type { OrganizationService } from '../../organization/service.ts'
import type { Position } from '../../selection/contract.ts'
import { recordHistory } from '../history/record.ts'
import { type Interned, internFundings } from '../reporting/names.ts'
import { costNanosOf, isLocked } from '../rows.ts'
import { type EntryView, getViews } from '../store.ts'
import { decide, type FundingCircumstances, fundingChange, fundingView, isFundedAs, saidOfEntry } from './decided.ts'
import { listFunded, listNewest, listUnlocked, updateFundings } from './store.ts'

/** Entries per transaction: some 20 ms if all of them change, during which reports wait. */
const BATCH = 500

/** How soon a server decides what another process owes. A look reads one row. */
const LOOK_EVERY_MS = 5_000

/** How long a preview looks through entries, of which there may be millions. */
const PREVIEW_MS = 5_000

/** What pays, as sums show it. */
export interface FundingSide {
  funding: FundingKind
  plan: { uid: string; name: string } | null
}

/** What a change of plans or rules would change. */
export interface FundingPreview {
  changes: { from: FundingSide; to: FundingSide; entries: number; costNanos: bigint; unpricedEntries: number }[]
  /** Approved and billed entries that would be paid for otherwise, and keep what they have. */
  lockedEntries: number
  /** Older entries were not looked at, because it takes long; null if all were. */
  searchedTo: number | null
}

interface Dependencies {
  db: Database
  clock: Clock
  organization: Pick<OrganizationService, 'settings'>
  funding: Pick<FundingService, 'decisions'>
  interned: Interned
}

export type FundingRedecision = ReturnType<typeof createFundingRedecision>

export function createFundingRedecision({ db, clock, organization, funding, interned }: Dependencies) {
  async function circumstancesOf(reader: Reader | Tx): Promise<FundingCircumstances> {
    const [decisions, { timeZone }] = await Promise.all([funding.decisions(reader), organization.settings(reader)])
    return { funding: decisions, timeZone }
  }

  /**
   * Decides these entries again, but for locked ones, in the transaction of a change that may make a difference. Returns
   * how many have changed.
   */
  async function decideAgain(tx: Tx, ids: readonly number[], by: Actor = TALLY): Promise<number> {
    const circumstances = await circumstancesOf(tx)
    // Without plans and rules, most entries have nothing to decide.
    const concerned = circumstances.funding.isEmpty ? await listFunded(tx, ids) : ids
    if (concerned.length === 0) return 0
    const views = (await getViews(tx, concerned)).filter(({ entry }) => !isLocked(entry))
    const changing = views.flatMap((view) => changeOf(circumstances, view) ?? [])
    if (changing.length === 0) return 0
    await interned.follow(tx)
    const found = [...new Map(changing.flatMap(({ to }) => (to ? [[to.uid, to] as const] : []))).values()]
    const keys = await internFundings(tx, interned, found)
    const keyOf = new Map(found.map(({ uid }, position) => [uid, keys[position]!]))
    const now = clock.now()
    await updateFundings(
      tx,
      changing.map(({ view, to }) => ({ id: view.entry.id, fundingId: to && keyOf.get(to.uid)!, updatedAt: now })),
    )
    await recordHistory(
      tx,
      { action: 'funding_decided', at: now, by },
      changing.map(({ view, to }) => ({ entryId: view.entry.id, details: fundingChange(view, fundingView(to)) })),
    )
    return changing.length
  }

  /**
   * What says which entries keep what was decided: those whose labels and summary were removed with their retention period,
   * since plans and rules may have decided by these.
   */
  async function keptOnes(): Promise<(view: EntryView) => boolean> {
    const { retentionTexts, timeZone } = await organization.settings(db.read)
    if (retentionTexts === null) return () => false
    const before = monthsBefore(clock.now(), retentionTexts, timeZone)
    const hasNoTexts = ({ entry }: EntryView) => entry.labelSetId === null && entry.summary === null
    return (view) =>
      view.entry.endedAt < before && hasNoTexts(view) && ['rule', 'person'].includes(view.funding?.reason ?? 'none')
  }

  /** The keys of unlocked entries that are decided otherwise now, page by page. */
  async function* waiting({ fromDay }: OwedFunding): AsyncGenerator<number[]> {
    // Read after what is owed: what changes after it is still owed.
    const from = startOf(fromDay, (await circumstancesOf(db.read)).timeZone)
    let after: Position | undefined
    for (;;) {
      const page = await listUnlocked(db.slow, { from, after, limit: BATCH })
      const circumstances = await circumstancesOf(db.read)
      const isKept = await keptOnes()
      yield page.filter((view) => !isKept(view) && changeOf(circumstances, view)).map(({ entry }) => entry.id)
      if (page.length < BATCH) return
      after = page.at(-1)!.entry
    }
  }

  /** Each batch is durable by itself; after a crash, all of them are looked at once more. */
  async function decideOwed(): Promise<void> {
    const owed = await findOwedFunding(db.read)
    if (!owed) return
    for await (const ids of waiting(owed)) if (ids.length > 0) await db.write((tx) => decideAgain(tx, ids))
    await db.write((tx) => settleOwedFunding(tx, owed))
  }

  return {
    decideAgain,

    /** The entry with what pays for it by what is said of it now; it is not saved. */
    async fundedAs(tx: Tx, view: EntryView, said: SaidFunding | null): Promise<EntryView> {
      const decided = decide(await circumstancesOf(tx), view, said)
      const [fundingId = null] = decided ? await internFundings(tx, interned, [decided]) : []
      return { ...view, ...fundingView(decided), entry: { ...view.entry, fundingId } }
    },

    /** Decides what changes of plans, holders and rules owe. */
    decideOwed,

    job: new Job({
      name: 'funding',
      task: 'decide again how entries are paid for',
      everyMs: LOOK_EVERY_MS,
      run: decideOwed,
    }),

    /** A sentence if entries wait to be decided again. */
    async verifyOwed(): Promise<string[]> {
      const owed = await findOwedFunding(db.slow)
      let entries = 0
      if (owed) for await (const ids of waiting(owed)) entries += ids.length
      if (!owed || entries === 0) return []
      return [
        `How ${counted(entries, 'entry is', 'entries are')} paid for is to be decided again, because plans or funding rules have changed since ${timestamp(owed.since)}. A running server does it.`,
      ]
    },

    /** What a change of plans or rules would change; the change is made, and rolled back. */
    async preview(change: (tx: Tx) => Promise<unknown>): Promise<FundingPreview> {
      const before = await circumstancesOf(db.read)
      const { owed, circumstances: after } = await rehearse(db, async (tx) => {
        const owedBefore = await findOwedFunding(tx)
        if (owedBefore) await settleOwedFunding(tx, owedBefore)
        await change(tx)
        return { owed: await findOwedFunding(tx), circumstances: await circumstancesOf(tx) }
      })
      const preview: FundingPreview = { changes: [], lockedEntries: 0, searchedTo: null }
      if (!owed) return preview
      const from = startOf(owed.fromDay, after.timeZone)
      const isKept = await keptOnes()
      const startedAt = performance.now()
      let position: Position | undefined
      for (;;) {
        const page = await listNewest(db.slow, { from, after: position, limit: BATCH })
        for (const view of page) if (!isKept(view)) count(preview, view, { before, after })
        position = page.at(-1)?.entry
        if (page.length < BATCH) return preview
        if (performance.now() - startedAt > PREVIEW_MS) return { ...preview, searchedTo: position!.startedAt }
      }
    },
  }
}

/** The first moment of a day; of the year 1, which stands for all days, the first of all. */
function startOf(day: string, timeZone: string): number {
  return day < '1970' ? 0 : startOfDay(day, timeZone)
}

/** What pays for the entry, if it is not what pays for it so far. */
function changeOf(circumstances: FundingCircumstances, view: EntryView): { view: EntryView; to: Funded | null } | null {
  // What corrects a plan is paid by it whatever else is decided.
  if (view.funding?.reason === 'correction') return null
  const to = decide(circumstances, view, saidOfEntry(view))
  return isFundedAs(view, to) ? null : { view, to }
}

/** Counts an entry that the plans and rules of after decide otherwise than those of before. */
function count(
  preview: FundingPreview,
  view: EntryView,
  { before, after }: Record<'before' | 'after', FundingCircumstances>,
): void {
  if (view.funding?.reason === 'correction') return
  const said = saidOfEntry(view)
  const [from, to] = [before, after].map((circumstances): FundingSide => {
    const decided = decide(circumstances, view, said)
    return { funding: decided?.funding ?? 'unknown', plan: decided?.plan ?? null }
  }) as [FundingSide, FundingSide]
  const isSame = (one: FundingSide, other: FundingSide) =>
    one.funding === other.funding && one.plan?.uid === other.plan?.uid
  if (isSame(from, to)) return
  if (isLocked(view.entry)) {
    preview.lockedEntries += 1
    return
  }
  let sum = preview.changes.find((known) => isSame(known.from, from) && isSame(known.to, to))
  if (!sum) {
    sum = { from, to, entries: 0, costNanos: 0n, unpricedEntries: 0 }
    preview.changes.push(sum)
  }
  const cost = costNanosOf(view.entry)
  sum.entries += 1
  sum.costNanos += cost ?? 0n
  if (cost === null) sum.unpricedEntries += 1
}
