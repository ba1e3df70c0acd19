/** Token sheets as people read them, and those that wait for them. */
import type { Party } from '../../access/actor.ts'
import type { Asker } from '../../access/asker.ts'
import type { Viewer } from '../../access/visibility.ts'
import type { Database, Reader } from '../../database/database.ts'
import { pageAfter } from '../../database/sorting.ts'
import { notFound } from '../../errors.ts'
import { isId } from '../../lib/id.ts'
import { eachPage, type Page, pageOf } from '../../schema/lists.ts'
import { type QueryTexts, type SortPosition, writeSortPage } from '../../schema/query.ts'
import type { AuditService } from '../audit/service.ts'
import { type Approving, waitingFor } from '../entries/contract.ts'
import type { EntriesService } from '../entries/service.ts'
import type { OrganizationService } from '../organization/service.ts'
import type { PeopleService } from '../people/service.ts'
import type { SheetLine } from './csv.ts'
import { readPeriod } from './period.ts'
import {
  type ApprovalsQuery,
  LONGEST_WAITING,
  readApprovalsQuery,
  readSheetList,
  type SheetListQuery,
} from './query.ts'
import type { Approvals, NewSheetBody, SheetOverlaps, TokenSheet } from './schema.ts'
import {
  countOwnSheets,
  findSheet,
  listSheets,
  listWaitingSheets,
  SHEET_KEYS,
  type SheetFilter,
  type SheetView,
} from './store.ts'
import { approvalsBody, overlapsBody, type SheetProjects, sheetBody } from './wire.ts'

/** Sheets per page of an export, each with the sums of its entries. */
const EXPORT_PAGE = 100

/** Sheets of the same person and days that are named before another is opened. */
const OTHERS_SHOWN = 5

/** Sheets that wait for somebody's approval. */
interface WaitingSheets {
  sheets: number
  costNanos: bigint
  /** When the first of them was submitted. */
  oldestAt: number | null
}

interface Dependencies {
  db: Database
  audit: Pick<AuditService, 'versions'>
  organization: Pick<OrganizationService, 'settings'>
  people: Pick<PeopleService, 'requireKnown'>
  entries: Pick<EntriesService, 'sheetEntries' | 'approval'>
}

export type SheetReading = ReturnType<typeof createReading>

export function createReading({ db, audit, organization, people, entries }: Dependencies) {
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

  const sheets = {
    /** Parses the parameters of the list. Throws 422 with every issue, or if nobody has a name in the filters. */
    async readList(texts: QueryTexts, { listsPeople }: Asker): Promise<SheetListQuery> {
      const query = readSheetList(texts, (await organization.settings()).timeZone)
      if (listsPeople) await people.requireKnown(query.filter.managers, '/query/agent_manager')
      return query
    },

    /** Parses the parameters of pending approvals. Throws 422 with every issue. */
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

    /** The pairs of the sheet's entries and reported ones of the same person and harness with overlapping times. */
    async listOverlaps(id: string, viewer: Viewer): Promise<SheetOverlaps> {
      const { sheet, manager } = await getSheet(db.read, id, viewer)
      return overlapsBody(
        await entries.sheetEntries.listOverlaps(db.slow, { id: sheet.id, uid: sheet.uid, manager }, viewer),
      )
    },

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
      { period, limit, after }: ApprovalsQuery,
      { viewer, person }: { viewer: Viewer; person: Approving | null },
    ): Promise<Approvals> {
      const waiting = await listWaitingSheets(db.read, waitingFor(person, viewer), period)
      const ids = waiting.map(({ sheet }) => sheet.id)
      const sums = ids.length === 0 ? [] : await entries.sheetEntries.sumSheets(db.read, ids, viewer)
      const found = after ? waiting.filter((view) => isAfter(view, after)) : waiting
      const page = pageOf(found, limit, ({ sheet: { submittedAt, id } }) =>
        writeSortPage(LONGEST_WAITING, { value: BigInt(submittedAt ?? 0), id }),
      )
      const versions = await audit.versions(page.data.map(({ sheet }) => sheet.uid))
      const shown = await bodies(db.read, page.data, viewer)
      const data = shown.map((sheet) => ({ ...sheet, version: versions.get(sheet.id)! }))
      const { startingAt: starting_at, endingAt: ending_at } = period
      const reported = await entries.approval.sumWaiting({ person, viewer }, { starting_at, ending_at })
      return approvalsBody({ page: { ...page, data }, sums, count: waiting.length }, reported)
    },
  }
  return { find: getSheet, body, sheets }
}

function isAfter({ sheet }: SheetView, { value, id }: SortPosition): boolean {
  const [at, last] = [sheet.submittedAt ?? 0, Number(value)]
  return at > last || (at === last && sheet.id > id)
}

function projectBodies(projects: { project: { uid: string; key: string; name: string } | null }[]): SheetProjects {
  return projects.map(({ project }) => project && { id: project.uid, key: project.key, name: project.name })
}
