/**
 * Token sheets: entries that a person makes by hand for a period, and submits as a whole for approval
 * (docs/design/states.md, "Sheets").
 */

import type { Static, TSchema } from '@sinclair/typebox'
import { actingFor, type Party } from '../../access/actor.ts'
import type { Asker } from '../../access/asker.ts'
import { approversOf, EVERYTHING, type Viewer } from '../../access/visibility.ts'
import type { Database, Reader, Tx } from '../../database/database.ts'
import { rehearse } from '../../database/dry-run.ts'
import { pageAfter } from '../../database/sorting.ts'
import { type Issue, notFound, Problem, validationFailed } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { isId, newId } from '../../lib/id.ts'
import { moneyNumber } from '../../lib/money.ts'
import { removeNulls } from '../../schema/absent-fields.ts'
import { SchemaChecker } from '../../schema/checker.ts'
import { issuesOf } from '../../schema/issues.ts'
import { eachPage, type Page, pageOf } from '../../schema/lists.ts'
import type { QueryTexts } from '../../schema/query.ts'
import { type AuditService, difference } from '../audit/service.ts'
import {
  type Approving,
  type DraftSheet,
  requireRight,
  SHEET_TRANSITIONS,
  type SheetAction,
  transitionFrom,
  waitingFor,
} from '../entries/contract.ts'
import { type TokenEntry, TokenEntryDraft, TokenEntryDraftChange } from '../entries/schema.ts'
import type { EntriesService } from '../entries/service.ts'
import type { OrganizationService } from '../organization/service.ts'
import { issuesOfViewer, type PeopleService } from '../people/service.ts'
import type { PricesService } from '../prices/service.ts'
import { pointerInFile, readRows, type SheetLine } from './csv.ts'
import { issueOfStart, readPeriod } from './period.ts'
import { readApprovalsQuery, readSheetList, type SheetListQuery } from './query.ts'
import { billedEntries, emptySheet, overlappingEntries, SHEET_LIMIT, sheetFull } from './refusals.ts'
import { issuesOfRequired, requireComplete, requireFields, requireKept } from './required-fields.ts'
import type { Approvals, ImportedEntries, NewSheetBody, SheetOverlaps, TokenSheet } from './schema.ts'
import {
  countOwnSheets,
  deleteSheet,
  findSheet,
  insertSheet,
  listSheets,
  listWaitingSheets,
  SHEET_KEYS,
  type SheetChange,
  type SheetFilter,
  type SheetView,
  updateSheet,
} from './store.ts'
import { approvalsBody, overlapsBody, type SheetProjects, sheetBody } from './wire.ts'

export { TEMPLATE } from './csv.ts'
export type SheetsService = ReturnType<typeof createSheetsService>

/**
 * The rows of a file become entries in one transaction: about 300 ms during which reports wait, as for a batch of
 * reports.
 */
const IMPORT_LIMIT = 1_000

/** Maximum number of issues reported for one file. */
const ISSUES_SHOWN = 100

/** Sheets per page of an export, each with the sums of its entries. */
const EXPORT_PAGE = 100

/** Sheets of the same person and days that are named before another is opened. */
const OTHERS_SHOWN = 5

/** Waiting sheets in the list; the sums include all. */
const WAITING_SHOWN = 100

const draftChecker = new SchemaChecker(TokenEntryDraft)
const changeChecker = new SchemaChecker(TokenEntryDraftChange)

/**
 * Checks a body that did not come through a route, from the command line. Throws `validation_failed` with every issue.
 */
export function requireDraft(value: unknown): TokenEntryDraft {
  removeNulls(TokenEntryDraft, value)
  return required(draftChecker, value)
}

/** As {@link requireDraft}, for a change of a draft. */
export function requireDraftChange(value: unknown): TokenEntryDraftChange {
  return required(changeChecker, value)
}

function required<Schema extends TSchema>(checker: SchemaChecker<Schema>, value: unknown): Static<Schema> {
  const issues = issuesOf(checker, value)
  if (issues.length > 0) throw validationFailed(issues)
  return value as Static<Schema>
}

/** The names of the actions in the history of entries and in the audit log. */
const DONE = {
  submit: 'submitted',
  approve: 'approved',
  return: 'returned',
  withdraw_approval: 'approval_withdrawn',
} as const satisfies Partial<Record<SheetAction, string>>
type Step = keyof typeof DONE

interface DryRun {
  /** Whether nothing is written. */
  dryRun?: boolean | undefined
}

/** Sheets that wait for somebody's approval. */
interface WaitingSheets {
  sheets: number
  costNanos: bigint
  /** When the first of them was submitted. */
  oldestAt: number | null
}

interface Dependencies {
  db: Database
  clock: Clock
  audit: Pick<AuditService, 'record'>
  organization: Pick<OrganizationService, 'settings'>
  people: Pick<PeopleService, 'findUser' | 'requireKnown'>
  prices: Pick<PricesService, 'table'>
  entries: EntriesService
}

export function createSheetsService({ db, clock, audit, organization, people, prices, entries }: Dependencies) {
  async function getSheet(reader: Reader, id: string, viewer: Viewer): Promise<SheetView> {
    const view = isId('sht', id) ? await findSheet(reader, id, viewer) : undefined
    if (!view) throw notFound(`The sheet ${id}`)
    return view
  }

  async function bodies(reader: Reader, views: SheetView[], viewer: Viewer): Promise<TokenSheet[]> {
    if (views.length === 0) return []
    const ids = views.map(({ sheet }) => sheet.id)
    const sums = new Map((await entries.sheetEntries.sumSheets(reader, ids, viewer)).map((sum) => [sum.sheetId, sum]))
    const projects = Map.groupBy(await entries.sheetEntries.listSheetProjects(reader, ids), ({ sheetId }) => sheetId)
    return views.map((view) =>
      sheetBody(view, sums.get(view.sheet.id), projectBodies(projects.get(view.sheet.id) ?? [])),
    )
  }

  async function body(reader: Reader, id: string, viewer: Viewer): Promise<TokenSheet> {
    return (await bodies(reader, [await getSheet(reader, id, viewer)], viewer))[0]!
  }

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

  /** Reads changed prices once, outside of the transaction: data read inside one is cached only after it. */
  const refreshPrices = () => prices.table(db.read)

  const requiredFields = async (tx: Tx) => (await organization.settings(tx)).sheetRequiredFields

  /** Writes, or does the same and rolls it back. */
  const writeOr = <Outcome>(isDryRun: boolean, body: (tx: Tx) => Promise<Outcome>): Promise<Outcome> =>
    isDryRun ? rehearse(db, body) : db.write(body)

  async function requireRoom(tx: Tx, sheetId: number, more: number): Promise<void> {
    const [sum] = await entries.sheetEntries.sumSheets(tx, [sheetId], EVERYTHING)
    if ((sum?.entries ?? 0) + more > SHEET_LIMIT) throw sheetFull()
  }

  async function recordAdded(tx: Tx, view: SheetView, added: TokenEntry[], { by }: Party): Promise<void> {
    await audit.record(tx, by, {
      action: 'sheet.entries_added',
      object: objectOf(view),
      after: { entries: added.length, ...(added.length === 1 ? { entry: added[0]!.id, ...contentOf(added[0]!) } : {}) },
    })
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

  return {
    /** Parses the parameters of the list. Throws 422 with every issue, or if nobody has a name in the filters. */
    async readList(texts: QueryTexts, { listsPeople }: Asker): Promise<SheetListQuery> {
      const asked = readSheetList(texts, (await organization.settings()).timeZone)
      if (listsPeople) await people.requireKnown(asked.filter.managers, '/query/agent_manager')
      return asked
    },

    /** Parses the period to list approvals for. Throws 422 with every issue. */
    readApprovals: async (texts: QueryTexts) => readApprovalsQuery(texts, (await organization.settings()).timeZone),

    /** Sheets that the viewer may see, newest first unless the query has another order. */
    async listSheets(
      viewer: Viewer,
      { filter, limit, after, by }: Omit<SheetListQuery, 'format'>,
    ): Promise<Page<TokenSheet>> {
      const views = await listSheets(by ? db.slow : db.read, { filter, viewer, after, by, limit: limit + 1 })
      const page = pageOf(views, limit, (view) => pageAfter(SHEET_KEYS, by, view, view.sheet.id))
      return { ...page, data: await bodies(db.read, page.data, viewer) }
    },

    /** Sheets of a person that share days with a period: a second one is usually a mistake. Throws `validation_failed`. */
    async listSheetsOfDays(
      { person, ...days }: Pick<NewSheetBody, 'period' | 'month'> & { person: string },
      viewer: Viewer,
    ): Promise<TokenSheet[]> {
      const { startingAt, endingAt } = readPeriod(days, (await organization.settings()).timeZone)
      const filter = { managers: [person], endingAt, endingAfter: startingAt }
      const views = await listSheets(db.read, { filter, viewer, after: undefined, limit: OTHERS_SHOWN })
      return bodies(db.read, views, viewer)
    },

    /** All sheets that match the filter. */
    async *exportSheets(viewer: Viewer, filter: SheetFilter): AsyncGenerator<SheetLine> {
      const pages = eachPage(
        (page) => listSheets(db.slow, { filter, viewer, ...page }),
        ({ sheet }: SheetView) => sheet.id,
        EXPORT_PAGE,
      )
      for await (const views of pages) {
        for (const [at, sheet] of (await bodies(db.slow, views, viewer)).entries()) {
          const { manager, decider } = views[at]!
          yield { ...sheet, agent_manager_email: manager.email, decided_by_email: decider?.email ?? null }
        }
      }
    },

    /** Throws `not_found` if the sheet does not exist or the viewer may not see it. */
    getSheet: (id: string, viewer: Viewer): Promise<TokenSheet> => body(db.read, id, viewer),

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
        throw validationFailed([
          { pointer: '/person', code: 'required', message: 'is required: specify the owner of the sheet' },
        ])
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
     * Adds a draft. `draft` has passed the schema; throws `validation_failed` with the issues that the schema cannot
     * express, and if a field that the organization requires is missing. A dry run returns the draft, with its list value
     * and whether its cost is far from it, and adds nothing.
     */
    async addEntry(
      id: string,
      draft: TokenEntryDraft,
      party: Party,
      { dryRun = false }: DryRun = {},
    ): Promise<TokenEntry> {
      const report = entries.sheetEntries.readDraft(draft)
      await refreshPrices()
      return writeOr(dryRun, async (tx) => {
        const { view, on } = await begin(tx, id, 'edit', party)
        const outside = issueOfStart(report.startedAt, view.sheet)
        if (outside) throw validationFailed([outside])
        await requireRoom(tx, on.id, 1)
        const added = await entries.sheetEntries.addDraft(tx, on, report)
        requireFields(added, await requiredFields(tx))
        await recordAdded(tx, view, [added], party)
        return added
      })
    },

    /**
     * Adds all rows of a filled template, or none: `validation_failed` then names each issue with its line, as
     * `/lines/7/started_at`. A dry run returns what would be added.
     */
    async importEntries(
      id: string,
      file: string,
      party: Party,
      { dryRun = false }: DryRun = {},
    ): Promise<ImportedEntries> {
      const rows = readRows(file, (await organization.settings()).timeZone)
      if (rows.length > IMPORT_LIMIT) {
        const message = `has ${rows.length.toLocaleString('en')} entries, but the limit per import is ${IMPORT_LIMIT.toLocaleString('en')}. Split the file`
        throw validationFailed([{ pointer: '/lines', code: 'too_large', message }])
      }
      await refreshPrices()
      return writeOr(dryRun, async (tx) => {
        const { view, on } = await begin(tx, id, 'edit', party)
        const issues = rows.flatMap(({ line, body: draft, issues: ofCells }) =>
          issuesOfRow(draft, view)
            .map((one) => ({ ...one, pointer: pointerInFile(line, one.pointer) }))
            .reduce(onePerPlace, ofCells),
        )
        if (issues.length > 0) throw validationFailed(issues.slice(0, ISSUES_SHOWN))
        await requireRoom(tx, on.id, rows.length)
        const required = await requiredFields(tx)
        const added: TokenEntry[] = []
        const missing: Issue[] = []
        for (const { line, body: draft } of rows) {
          const report = entries.sheetEntries.readDraft(draft as TokenEntryDraft)
          const entry = await entries.sheetEntries.addDraft(tx, on, report)
          added.push(entry)
          missing.push(
            ...issuesOfRequired(entry, required).map((one) => ({ ...one, pointer: pointerInFile(line, one.pointer) })),
          )
        }
        if (missing.length > 0) throw validationFailed(missing.slice(0, ISSUES_SHOWN))
        await recordAdded(tx, view, added, party)
        return { added: added.length, data: added }
      })
    },

    /** Changes a draft: absent is unchanged, null removes the value, unless the organization requires it. */
    async changeEntry(
      id: string,
      entryId: string,
      change: TokenEntryDraftChange,
      party: Party,
      { dryRun = false }: DryRun = {},
    ): Promise<TokenEntry> {
      await refreshPrices()
      return writeOr(dryRun, async (tx) => {
        const { view, on } = await begin(tx, id, 'edit', party)
        const changed = await entries.sheetEntries.readDraftChange(tx, on, entryId, change)
        const outside = issueOfStart(changed.report.startedAt, view.sheet)
        if (outside) throw validationFailed([outside])
        const { before, after } = await entries.sheetEntries.changeDraft(tx, on, changed, change)
        requireKept(after, change, await requiredFields(tx))
        const differing = difference(contentOf(before), contentOf(after))
        if (differing) {
          await audit.record(tx, party.by, {
            action: 'sheet.entry_changed',
            object: objectOf(view),
            before: { entry: entryId, ...differing.before },
            after: { entry: entryId, ...differing.after },
          })
        }
        return after
      })
    },

    /** Removes a draft permanently; the audit log records its content. */
    removeEntry: (id: string, entryId: string, party: Party): Promise<void> =>
      db.write(async (tx) => {
        const { view, on } = await begin(tx, id, 'edit', party)
        const removed = await entries.sheetEntries.removeDraft(tx, on, entryId, party.by)
        await audit.record(tx, party.by, {
          action: 'sheet.entry_removed',
          object: objectOf(view),
          before: { entry: entryId, ...contentOf(removed) },
        })
      }),

    /** The pairs of the sheet's entries and reported ones of the same person and harness with overlapping times. */
    async listOverlaps(id: string, viewer: Viewer): Promise<SheetOverlaps> {
      const { sheet, manager } = await getSheet(db.read, id, viewer)
      return overlapsBody(
        await entries.sheetEntries.listOverlaps(db.slow, { id: sheet.id, uid: sheet.uid, manager }, viewer),
      )
    },

    /**
     * Submits a sheet: its drafts await approval. Throws `empty_sheet`, `incomplete_entries` (409) if entries lack
     * required fields, and `overlapping_entries` (409) if entries overlap with reported ones and this is not confirmed.
     */
    submitSheet: (id: string, party: Party, { confirmOverlaps = false } = {}): Promise<TokenSheet> =>
      move(id, 'submit', party, {
        check: async (tx, on, name) => {
          const [sum] = await entries.sheetEntries.sumSheets(tx, [on.id], EVERYTHING)
          if (!sum) throw emptySheet(name)
          const required = await requiredFields(tx)
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

    /** The number of a person's own sheets, and when the first of their periods began. */
    countOwnSheets: (userId: number, filter: Pick<SheetFilter, 'statuses' | 'endedBefore'>) =>
      countOwnSheets(db.read, userId, filter),

    /** The sheets that wait for this person's approval: those of {@link listApprovals}. */
    async sumWaitingSheets({ viewer, person }: Pick<Party, 'viewer' | 'person'>): Promise<WaitingSheets> {
      const waiting = await listWaitingSheets(db.read, waitingFor(person, viewer), {})
      const ids = waiting.map(({ sheet }) => sheet.id)
      const sums = ids.length === 0 ? [] : await entries.sheetEntries.sumSheets(db.read, ids, viewer)
      return {
        sheets: waiting.length,
        costNanos: sums.reduce((sum, { costNanos }) => sum + costNanos, 0n),
        oldestAt: waiting[0]?.sheet.submittedAt ?? null,
      }
    },

    /** Sheets and reported entries that this person could approve, with sums. */
    async listApprovals(
      period: Pick<SheetFilter, 'startingAt' | 'endingAt'>,
      { viewer, person }: { viewer: Viewer; person: Approving | null },
    ): Promise<Approvals> {
      const waiting = await listWaitingSheets(db.read, waitingFor(person, viewer), period)
      const ids = waiting.map(({ sheet }) => sheet.id)
      const sums = ids.length === 0 ? [] : await entries.sheetEntries.sumSheets(db.read, ids, viewer)
      const shown = await bodies(db.read, waiting.slice(0, WAITING_SHOWN), viewer)
      const { startingAt: starting_at, endingAt: ending_at } = period
      const reported = await entries.approval.sumWaiting({ person, viewer }, { starting_at, ending_at })
      return approvalsBody({ shown, sums, count: waiting.length }, reported)
    },
  }

  /** Every issue of a row's body. */
  function issuesOfRow(draft: unknown, { sheet }: SheetView): Issue[] {
    const issues = [...issuesOf(draftChecker, draft), ...entries.reporting.issuesBeyondSchema(draft)]
    if (issues.length > 0) return issues
    const outside = issueOfStart(entries.sheetEntries.readDraft(draft as TokenEntryDraft).startedAt, sheet)
    return outside ? [outside] : []
  }
}

/** Skips an issue if its place has one already: a cell that is not a number is not also missing. */
function onePerPlace(issues: Issue[], one: Issue): Issue[] {
  return issues.some(({ pointer }) => pointer === one.pointer) ? issues : [...issues, one]
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

function projectBodies(projects: { project: { uid: string; key: string; name: string } | null }[]): SheetProjects {
  return projects.map(({ project }) => project && { id: project.uid, key: project.key, name: project.name })
}

function objectOf({ sheet, manager }: SheetView): { id: string; name: string } {
  return { id: sheet.uid, name: `${manager.name}, ${sheet.firstDay} to ${sheet.lastDay}` }
}

/** The content of a draft, for the audit log. */
function contentOf(entry: TokenEntry) {
  const { agent_harness, agent_name, model, provider, started_at, ended_at, tokens, requests, cost } = entry
  const { project, ticket, summary, labels } = entry
  return {
    agent_harness,
    agent_name,
    model,
    provider,
    started_at,
    ended_at,
    tokens,
    requests,
    cost,
    project: project?.key ?? null,
    ticket: ticket?.key ?? null,
    summary,
    labels,
  }
}
