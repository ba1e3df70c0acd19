/**
 * Entries that correct the shares of a closed period of a plan (docs/plans.md, "Close a period"): without usage, approved by who
 * closes the period, and paid by the plan in a later period. Their amounts are in `plan_corrections`.
 */
import type { Actor } from '../../../access/actor.ts'
import type { Tx } from '../../../database/database.ts'
import type { Clock } from '../../../lib/clock.ts'
import { newId } from '../../../lib/id.ts'
import { correctionBy, type Funded } from '../../funding/service.ts'
import { notingChanges } from '../../spending/contract.ts'
import { recordHistory } from '../history/record.ts'
import { type Interned, internFundings } from '../reporting/names.ts'
import { NO_SESSION } from '../reporting/record.ts'
import { changeStatuses, type EntryView, getViews, insertEntries } from '../store.ts'
import { lockUnbilled } from './store.ts'

/** Whose shares are corrected, and where. */
export interface NewCorrection {
  managerId: number
  projectId: number | null
  ticketId: number | null
  /** The entry whose agent, model, provider and labels it has. */
  likeEntryId: number
}

export interface CorrectionContext {
  plan: Parameters<typeof correctionBy>[0]
  /** The first day of the period that is corrected. */
  firstDay: string
  startedAt: number
  summary: string
  by: Actor
}

const UNUSED = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0 }

export function createCorrections({ clock, interned }: { clock: Clock; interned: Interned }) {
  return {
    /** Returns the keys of the entries, in the order of the corrections. */
    async add(tx: Tx, corrections: readonly NewCorrection[], context: CorrectionContext): Promise<number[]> {
      if (corrections.length === 0) return []
      await interned.follow(tx)
      const { plan, firstDay, startedAt, summary, by } = context
      const funded: Funded = correctionBy(plan)
      const [fundingId] = await internFundings(tx, interned, [funded])
      const alike = await getViews(
        tx,
        corrections.map(({ likeEntryId }) => likeEntryId),
      )
      const ids = await tx.reserveIds(tx.tables.entries, corrections.length)
      const now = clock.now()
      const views = corrections.map(({ managerId, projectId, ticketId }, position): EntryView => {
        const like = alike[position]!
        const isPlaced = projectId !== null || ticketId !== null
        const entry: EntryView['entry'] = {
          ...like.entry,
          ...NO_SESSION,
          chainModelId: null,
          id: ids[position]!,
          uid: newId('ent'),
          managerId,
          managerBy: 'token',
          tokenId: null,
          source: 'report',
          status: 'approved',
          startedAt,
          endedAt: startedAt,
          ...UNUSED,
          usageDetails: null,
          requests: null,
          activeMs: null,
          reportedCost: 0n,
          // No tokens at the price of the entry that it is like.
          listValue: like.entry.listValue === null ? null : 0n,
          priceStep: like.entry.listValue === null ? null : 1,
          priceNote: null,
          projectId,
          ticketId,
          placedBy: isPlaced ? 'manual' : null,
          ruleVersionId: null,
          placementNote: null,
          namedProject: null,
          namedTicket: null,
          summary,
          superseded: false,
          fingerprint: null,
          possibleDuplicateId: null,
          billId: null,
          sheetId: null,
          corrected: null,
          amendment: null,
          dividedFromId: null,
          sliceDay: null,
          slicePlace: null,
          estimated: false,
          fundingId: fundingId!,
          createdAt: now,
          updatedAt: null,
        }
        return { ...like, entry }
      })
      await notingChanges(tx, ids, () => insertEntries(tx, views))
      await recordHistory(
        tx,
        { action: 'settled', at: now, by },
        ids.map((entryId) => ({ entryId, details: { plan: { id: plan.uid, name: plan.name }, period: firstDay } })),
      )
      return ids
    },

    /** Voids those of the entries that no bill has. Returns their keys. */
    async withdraw(tx: Tx, ids: readonly number[], reason: string, by: Actor): Promise<number[]> {
      const rows = await lockUnbilled(tx, ids)
      const free = rows.map(({ id }) => id)
      if (free.length === 0) return []
      await changeStatuses(tx, free, 'voided')
      await recordHistory(
        tx,
        { action: 'voided', at: clock.now(), by },
        rows.map(({ id, status }) => ({ entryId: id, details: { status: { from: status, to: 'voided' }, reason } })),
      )
      return free
    },
  }
}
