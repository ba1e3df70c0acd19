/**
 * Entries made by hand: with the same fields, checks, valuation and placement as reported ones, but on a token sheet
 * instead of in a session. The sheet (`sheets/service.ts`) checks its own status, and provides the transaction.
 */

import type { Actor } from '../../../access/actor.ts'
import type { Viewer } from '../../../access/visibility.ts'
import type { Reader, Tx } from '../../../database/database.ts'
import { notFound } from '../../../errors.ts'
import type { Clock } from '../../../lib/clock.ts'
import { type Id, isId } from '../../../lib/id.ts'
import type { HistoryAction } from '../../../shared/history-sentences.ts'
import { recordEvents } from '../../events/service.ts'
import type { Placement, PlacementService } from '../../placement/service.ts'
import type { SheetMove } from '../approval/states.ts'
import { changedBody, hasOwnPlace, identify } from '../changed-report.ts'
import type { FundingRedecision } from '../funding/redecision.ts'
import { updateFundings } from '../funding/store.ts'
import { recordHistory } from '../history/record.ts'
import type { Interned } from '../reporting/names.ts'
import {
  type Circumstances,
  changeOf,
  NO_SESSION,
  newEntry,
  placedBy,
  placementColumns,
  type Reporter,
  subjectOf,
  valuationColumns,
} from '../reporting/record.ts'
import { type Report, readReport } from '../reporting/report.ts'
import type { ReportingService } from '../reporting/service.ts'
import { isLocked, usageColumns } from '../rows.ts'
import type { TokenEntry, TokenEntryDraft, TokenEntryDraftChange } from '../schema.ts'
import { type EntryView, getView, insertEntries, updateEntry } from '../store.ts'
import { moveAlong } from '../ticket-moves.ts'
import { toTokenEntry } from '../wire.ts'
import {
  deleteDrafts,
  findOnSheet,
  listOnSheet,
  listReportedSpans,
  listSheetProjects,
  listSheetSpans,
  type SheetProject,
  type SheetSum,
  type Span,
  sumSheets,
  updateSheetStatuses,
} from './store.ts'

export type { SheetSum } from './store.ts'

/** The sheet of a draft, and its owner. */
export interface DraftSheet {
  id: number
  uid: Id<'sht'>
  manager: { id: number; uid: Id<'usr'>; name: string; email: string }
}

/** An entry of a sheet and a reported one of the same person and harness with overlapping times. */
export interface Overlap {
  entry: Span
  reported: Span
}

interface Dependencies {
  clock: Clock
  placement: Pick<PlacementService, 'place'>
  reporting: Pick<ReportingService, 'circumstancesOf'>
  interned: Interned
  decideAgain: FundingRedecision['decideAgain']
  fundedAs: FundingRedecision['fundedAs']
}

export function createSheetEntries(dependencies: Dependencies) {
  const { clock, placement, reporting, interned, decideAgain, fundedAs } = dependencies
  const now = () => clock.now()

  /** The placement by the draft's names or by rules; if a ticket gets its project, earlier entries move as well. */
  async function place(tx: Tx, report: Report, reporter: Reporter, circumstances: Circumstances): Promise<Placement> {
    const placeable = { named: report, subject: subjectOf(report, reporter) }
    const placed = await placement.place(tx, placeable, placedBy(circumstances, reporter))
    await moveAlong(tx, placed, reporter.manager.id, changeOf('placed', circumstances, reporter))
    return placed
  }

  async function getOnSheet(reader: Reader, sheet: DraftSheet, id: string): Promise<EntryView> {
    const view = isId('ent', id) ? await findOnSheet(reader, sheet.id, id) : undefined
    if (!view) throw notFound(`The entry ${id} on sheet ${sheet.uid}`)
    return view
  }

  /** Deletes one or all drafts of a sheet. Their keys may become those of other entries, so an event says that they end. */
  async function remove(tx: Tx, by: Actor, sheetId: number, entryId?: number): Promise<void> {
    const removed = await deleteDrafts(tx, sheetId, entryId)
    await recordEvents(
      tx,
      removed.map(({ id, uid, managerId, projectId }) => ({
        type: 'entry.removed',
        by: { userId: by.userId, tokenId: by.tokenId },
        object: { id: uid, name: uid },
        entryId: id,
        managerId,
        projectId,
      })),
      now(),
    )
  }

  return {
    /** Parses a draft. Throws `validation_failed` with every issue that its schema cannot express. */
    readDraft: (body: TokenEntryDraft): Report => readReport(body, now()),

    /** Adds a draft to a sheet that is open for changes. */
    async addDraft(tx: Tx, sheet: DraftSheet, report: Report): Promise<TokenEntry> {
      const circumstances = await reporting.circumstancesOf(tx)
      const reporter = reporterOf(sheet)
      const identity = await identify(tx, interned, report)
      const placement = await place(tx, report, reporter, circumstances)
      const [id] = await tx.reserveIds(tx.tables.entries, 1)
      const view = newEntry(
        id!,
        { source: 'sheet', status: 'draft', identity, placement, report, reporter, sheet },
        { model: report.model, provider: report.provider, totals: report },
        // Without a fingerprint: a draft that equals a report is shown as an overlap when it is submitted.
        { ...NO_SESSION, fingerprint: null, possibleDuplicateId: null },
        { continues: null, duplicateOf: null },
        circumstances,
      )
      const paid = await fundedAs(tx, view, report.funding ?? null)
      await insertEntries(tx, [paid])
      return toTokenEntry(paid)
    },

    /** Parses the draft with the change applied; writes nothing. Throws `not_found` and `validation_failed`. */
    async readDraftChange(
      tx: Tx,
      sheet: DraftSheet,
      id: string,
      change: TokenEntryDraftChange,
    ): Promise<{ view: EntryView; report: Report }> {
      const view = await getOnSheet(tx, sheet, id)
      return { view, report: readReport(changedBody(view, change), now()) }
    },

    /**
     * Changes a draft and values it again. It is also placed again if the change names a place, or if its current place
     * was not named or chosen. Returns it as it was and as it is.
     */
    async changeDraft(
      tx: Tx,
      sheet: DraftSheet,
      { view, report }: { view: EntryView; report: Report },
      change: TokenEntryDraftChange,
    ): Promise<{ before: TokenEntry; after: TokenEntry }> {
      const circumstances = await reporting.circumstancesOf(tx)
      const identity = await identify(tx, interned, report)
      const keepsPlace = !namesPlace(change) && hasOwnPlace(view)
      await updateEntry(tx, view.entry.id, {
        harnessId: identity.harnessId,
        agentId: identity.agentId,
        modelId: identity.modelId,
        providerId: identity.providerId,
        labelSetId: identity.labelSetId,
        summary: report.summary ?? null,
        startedAt: report.startedAt,
        endedAt: report.endedAt,
        ...usageColumns(report),
        ...valuationColumns({ model: report.model, provider: report.provider, totals: report }, circumstances.prices)
          .columns,
        ...(keepsPlace ? {} : placementColumns(await place(tx, report, reporterOf(sheet), circumstances))),
        updatedAt: circumstances.now,
      })
      const after = await fundedAs(tx, await getView(tx, view.entry.id), report.funding ?? null)
      await updateFundings(tx, [after.entry])
      return { before: toTokenEntry(view), after: toTokenEntry(after) }
    },

    /** Deletes a draft permanently, and returns it. Throws `not_found`. */
    async removeDraft(tx: Tx, sheet: DraftSheet, id: string, by: Actor): Promise<TokenEntry> {
      const view = await getOnSheet(tx, sheet, id)
      await remove(tx, by, sheet.id, view.entry.id)
      return toTokenEntry(view)
    },

    /** All entries of a sheet. */
    listDrafts: async (tx: Tx, sheetId: number): Promise<TokenEntry[]> =>
      (await listOnSheet(tx, sheetId)).map((view) => toTokenEntry(view)),

    removeDrafts: (tx: Tx, sheetId: number, by: Actor): Promise<void> => remove(tx, by, sheetId),

    /**
     * Changes the status of a sheet's entries after that of the sheet, and records it in the history of each. Returns
     * their number.
     */
    async moveSheetEntries(
      tx: Tx,
      sheet: { id: number; uid: Id<'sht'> },
      { from, to }: SheetMove,
      { action, reason, by }: { action: HistoryAction; reason: string | undefined; by: Actor },
    ): Promise<number> {
      const at = now()
      const ids = await updateSheetStatuses(tx, sheet.id, { from, to, now: at })
      await recordHistory(
        tx,
        { action, at, by },
        ids.map((entryId) => ({
          entryId,
          details: { status: { from, to }, sheet: sheet.uid, ...(reason === undefined ? {} : { reason }) },
        })),
      )
      if (isLocked({ status: from }) && !isLocked({ status: to })) await decideAgain(tx, ids, by)
      return ids.length
    },

    /** Sums of the entries on sheets, as far as the viewer sees them; a sheet without visible entries has no sum. */
    sumSheets: (reader: Reader, sheetIds: readonly number[], viewer: Viewer): Promise<SheetSum[]> =>
      sumSheets(reader, sheetIds, viewer),

    /**
     * The projects of all entries on sheets, visible or not: a lead may approve a sheet only if they lead all of them.
     */
    listSheetProjects: (reader: Reader, sheetIds: readonly number[]): Promise<SheetProject[]> =>
      listSheetProjects(reader, sheetIds),

    /** The pairs of a sheet's entries and reported ones with overlapping times, in order of time. */
    async listOverlaps(reader: Reader, sheet: DraftSheet, viewer: Viewer): Promise<Overlap[]> {
      const own = await listSheetSpans(reader, sheet.id, viewer)
      if (own.length === 0) return []
      const from = Math.min(...own.map(({ startedAt }) => startedAt))
      const to = Math.max(...own.map(({ endedAt }) => endedAt))
      return overlapsOf(own, await listReportedSpans(reader, { managerId: sheet.manager.id, from, to }, viewer))
    },
  }
}

/** As for a report of the sheet's owner, but without a token. */
function reporterOf({ manager }: DraftSheet): Reporter {
  return { manager, managerBy: 'token', identifiedBy: 'token', tokenId: null, personId: manager.id }
}

/** Spans of the same harness that share more than an instant, or begin at the same one. Pure. */
export function overlapsOf(own: readonly Span[], reported: readonly Span[]): Overlap[] {
  const byHarness = Map.groupBy(reported, ({ canonicalHarnessId }) => canonicalHarnessId)
  return own
    .toSorted((one, other) => one.startedAt - other.startedAt)
    .flatMap((entry) =>
      (byHarness.get(entry.canonicalHarnessId) ?? [])
        .filter(
          (other) =>
            (other.startedAt < entry.endedAt && other.endedAt > entry.startedAt) || other.startedAt === entry.startedAt,
        )
        .toSorted((one, other) => one.startedAt - other.startedAt)
        .map((other) => ({ entry, reported: other })),
    )
}

function namesPlace(change: TokenEntryDraftChange): boolean {
  return change.project !== undefined || change.ticket !== undefined
}
