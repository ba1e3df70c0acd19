/** Opens, submits, decides and removes token sheets. */
import { actingFor, type Party } from '../../access/actor.ts'
import { approversOf, EVERYTHING } from '../../access/visibility.ts'
import type { Database, Tx } from '../../database/database.ts'
import { notFound, Problem, refusal, validationFailed } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { newId } from '../../lib/id.ts'
import { moneyNumber } from '../../lib/money.ts'
import type { AuditService } from '../audit/service.ts'
import {
  type DraftSheet,
  requireRight,
  SHEET_TRANSITIONS,
  type SheetAction,
  transitionFrom,
} from '../entries/contract.ts'
import type { EntriesService } from '../entries/service.ts'
import type { OrganizationService } from '../organization/service.ts'
import { issuesOfViewer, type PeopleService } from '../people/service.ts'
import { readPeriod } from './period.ts'
import type { SheetReading } from './reading.ts'
import { billedEntries, emptySheet, overlappingEntries } from './refusals.ts'
import { requireComplete } from './required-fields.ts'
import type { NewSheetBody, TokenSheet } from './schema.ts'
import { deleteSheet, insertSheet, type SheetChange, type SheetView, updateSheet } from './store.ts'

/** The names of the actions in the history of entries and in the audit log. */
const DONE = {
  submit: 'submitted',
  approve: 'approved',
  return: 'returned',
  withdraw_approval: 'approval_withdrawn',
} as const satisfies Partial<Record<SheetAction, string>>
type Step = keyof typeof DONE

interface Dependencies {
  db: Database
  clock: Clock
  audit: Pick<AuditService, 'record'>
  organization: Pick<OrganizationService, 'settings'>
  people: Pick<PeopleService, 'findUser'>
  entries: Pick<EntriesService, 'sheetEntries'>
  reading: Pick<SheetReading, 'find' | 'body'>
}

export type SheetSteps = ReturnType<typeof createSteps>

export function createSteps({ db, clock, audit, organization, people, entries, reading }: Dependencies) {
  const { find: getSheet, body } = reading

  /**
   * Begins a change: locks the sheet, and checks that its status and the person allow the action. Throws `not_found`,
   * `forbidden` (403) and `wrong_status` (409).
   */
  async function begin(tx: Tx, id: string, action: SheetAction, { viewer, person, by }: Party) {
    const known = await getSheet(tx, id, viewer)
    await updateSheet(tx, known.sheet.id, { updatedAt: clock.now() })
    const view = await getSheet(tx, id, viewer)
    const name = `sheet ${id}`
    const projects = await entries.sheetEntries.listSheetProjects(tx, [view.sheet.id])
    const subject = { name, ownerId: view.manager.id, projectIds: projects.map(({ projectId }) => projectId) }
    const forId = requireRight(action, SHEET_TRANSITIONS, subject, person, await approversOf(tx, viewer))
    const step = transitionFrom(SHEET_TRANSITIONS, action, view.sheet.status, name)
    return {
      view,
      step,
      name,
      by: actingFor({ person, by }, forId),
      on: { id: view.sheet.id, uid: view.sheet.uid, manager: view.manager },
    }
  }

  /** Changes the status of a sheet and its entries. */
  async function move(
    id: string,
    action: Step,
    party: Party,
    {
      reason,
      check,
    }: { reason?: string; check?: (tx: Tx, on: DraftSheet, name: string) => Promise<object | undefined> } = {},
  ): Promise<TokenSheet> {
    return db.write(async (tx) => {
      const { view, step, name, by, on } = await begin(tx, id, action, party)
      const more = await check?.(tx, on, name)
      const now = clock.now()
      await updateSheet(tx, on.id, changeOf(action, step.to!, { now, reason, decidedBy: party.by.userId }))
      const moved = await entries.sheetEntries.moveSheetEntries(tx, on, step.entries!, {
        action: `sheet_${DONE[action]}`,
        reason,
        by,
      })
      const [sum] = await entries.sheetEntries.sumSheets(tx, [on.id], EVERYTHING)
      await audit.record(tx, by, {
        action: `sheet.${DONE[action]}`,
        object: objectOf(view),
        before: { status: view.sheet.status },
        after: {
          status: step.to,
          entries: moved,
          cost: moneyNumber(sum?.costNanos ?? 0n),
          ...(reason === undefined ? {} : { reason }),
          ...more,
        },
      })
      // Whoever may do this sees the whole sheet, but approvers no longer see one that was returned.
      return body(tx, id, EVERYTHING)
    })
  }

  const sheets = {
    /**
     * Opens a sheet for a period: for the caller, or for another person if the caller is an admin or the command line.
     * Throws `validation_failed`, `forbidden` and `not_found`.
     */
    async openSheet(
      { person: named, note, ...days }: NewSheetBody,
      { viewer, person, by }: Party,
    ): Promise<TokenSheet> {
      const owner = named === undefined ? undefined : await people.findUser(named)
      if (named !== undefined && person !== null && person.role !== 'admin' && owner?.id !== person.id) {
        throw new Problem('forbidden', 'To open a sheet for another person, you need the role admin.')
      }
      if (named !== undefined && !owner) throw notFound(`The person '${named}'`)
      const issues = owner ? issuesOfViewer(owner, '/person', 'have no token sheets') : []
      if (issues.length > 0) throw validationFailed(issues)
      const managerId = owner?.id ?? person?.id
      if (managerId === undefined) {
        throw refusal('/person', 'required', 'is required: specify the owner of the sheet')
      }
      return db.write(async (tx) => {
        const period = readPeriod(days, (await organization.settings(tx)).timeZone)
        const uid = newId('sht')
        await insertSheet(tx, { uid, managerId, ...period, note: note?.trim() || null, createdAt: clock.now() })
        await audit.record(tx, by, {
          action: 'sheet.opened',
          object: objectOf(await getSheet(tx, uid, EVERYTHING)),
          after: { from: period.firstDay, to: period.lastDay },
        })
        return body(tx, uid, viewer)
      })
    },

    /** Removes a sheet that is open or returned, with its drafts. */
    removeSheet: (id: string, party: Party): Promise<void> =>
      db.write(async (tx) => {
        const { view, on } = await begin(tx, id, 'remove', party)
        const [sum] = await entries.sheetEntries.sumSheets(tx, [on.id], EVERYTHING)
        await entries.sheetEntries.removeDrafts(tx, on.id, party.by)
        await deleteSheet(tx, on.id)
        await audit.record(tx, party.by, {
          action: 'sheet.removed',
          object: objectOf(view),
          before: { status: view.sheet.status, entries: sum?.entries ?? 0, cost: moneyNumber(sum?.costNanos ?? 0n) },
        })
      }),

    /**
     * Submits a sheet: its drafts await approval. Throws `empty_sheet`, `incomplete_entries` (409) if entries lack
     * required fields, and `overlapping_entries` (409) if entries overlap with reported ones and this is not confirmed.
     */
    submitSheet: (id: string, party: Party, { confirmOverlaps = false } = {}): Promise<TokenSheet> =>
      move(id, 'submit', party, {
        check: async (tx, on, name) => {
          const [sum] = await entries.sheetEntries.sumSheets(tx, [on.id], EVERYTHING)
          if (!sum) throw emptySheet(name)
          const required = (await organization.settings(tx)).sheetRequiredFields
          if (required.length > 0) requireComplete(await entries.sheetEntries.listDrafts(tx, on.id), required)
          const overlaps = await entries.sheetEntries.listOverlaps(tx, on, EVERYTHING)
          if (overlaps.length > 0 && !confirmOverlaps) throw overlappingEntries(overlaps)
          return overlaps.length > 0 ? { confirmed_overlaps: overlaps.length } : undefined
        },
      }),

    approveSheet: (id: string, party: Party): Promise<TokenSheet> => move(id, 'approve', party),

    /** Returns a sheet for correction: its entries become drafts again. */
    returnSheet: (id: string, reason: string, party: Party): Promise<TokenSheet> =>
      move(id, 'return', party, { reason }),

    /** Also throws `wrong_status` if entries of the sheet are on a bill. */
    withdrawApproval: (id: string, party: Party): Promise<TokenSheet> =>
      move(id, 'withdraw_approval', party, {
        check: async (tx, on, name) => {
          const [sum] = await entries.sheetEntries.sumSheets(tx, [on.id], EVERYTHING)
          if (sum && sum.billedEntries > 0) throw billedEntries(name, sum.billedEntries)
          return undefined
        },
      }),
  }
  return { begin, sheets }
}

function changeOf(
  action: Step,
  status: SheetView['sheet']['status'],
  { now, reason, decidedBy }: { now: number; reason: string | undefined; decidedBy: number | null },
): SheetChange {
  const undecided = { status, reason: null, decidedAt: null, decidedBy: null }
  if (action === 'submit') return { ...undecided, submittedAt: now }
  if (action === 'withdraw_approval') return undecided
  return { status, reason: reason ?? null, decidedAt: now, decidedBy }
}

/** What the audit log names. */
export function objectOf({ sheet, manager }: SheetView): { id: string; name: string } {
  return { id: sheet.uid, name: `${manager.name}, ${sheet.firstDay} to ${sheet.lastDay}` }
}
