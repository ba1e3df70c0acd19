/** Lists and exports of entries, single entries with their valuation, and their history. */

import { requireBasis } from '../../../access/cost-basis.ts'
import { detailsFor, readsRules, seesFees, type Viewer } from '../../../access/visibility.ts'
import type { Database, Reader } from '../../../database/database.ts'
import { tookTooLong } from '../../../database/errors.ts'
import { notFound, Problem, validationFailed } from '../../../errors.ts'
import { timestamp } from '../../../lib/duration.ts'
import { type Id, isId } from '../../../lib/id.ts'
import { eachPage, type Page, pageOf } from '../../../schema/lists.ts'
import type { CostBasis } from '../../../shared/cost-basis.ts'
import type { OrganizationService } from '../../organization/service.ts'
import { type PlacementService, type Subject, valuesOf } from '../../placement/service.ts'
import type { PricesService } from '../../prices/service.ts'
import {
  dependsOnBilling,
  type EntryFilter,
  type EntrySort,
  type FigureOrder,
  type FigurePosition,
  isIndexed,
  isSelective,
  type ListOrder,
  type Position,
  type Section,
  writeFigurePage,
  writePage,
} from '../../selection/contract.ts'
import type { Leases } from '../billing/lease.ts'
import { withStatusesBefore } from '../billing/status-before.ts'
import { getReportingToken, type HistoryView, listHistory, listNames } from '../history/store.ts'
import type { ListedTokenEntry, TokenEntryDetail, TokenEntryHistory } from '../schema.ts'
import type { EntryView } from '../store.ts'
import { valuationOf } from '../valuation/valuation.ts'
import { type ShownCosts, toListedEntry } from '../wire.ts'
import { type ChangesQuery, isAfter, writeChangesPage } from './changes.ts'
import { ENTRY_EXPORT, type ExportFormat } from './export.ts'
import type { ListQuery } from './query.ts'
import { RANKED_PAGE_TASK, type RankedPage } from './ranked-page.ts'
import { lastPosition, listChanges, positionAt, settledPosition } from './store/changes.ts'
import { findLastRecordedAt, findView, listViews, type PageRequest } from './store/lists.ts'
import { type Pace, searchViews } from './store/search.ts'
import { findSettlement, findSharesOf } from './store/shares.ts'
import { figurePositionOf, listSorted, type SortedPage, searchSorted } from './store/sorted-lists.ts'

export type { ExportFormat } from './export.ts'

export interface ListingDependencies {
  db: Database
  prices: Pick<PricesService, 'table'>
  placement: PlacementService
  organization: Pick<OrganizationService, 'settings'>
  billing: Pick<Leases, 'settled'>
  paces?: Paces | undefined
}

type PageQuery = Pick<ListQuery, 'filter' | 'limit' | 'after'> &
  Partial<Pick<ListQuery, 'order' | 'byFigure' | 'changes' | 'basis'>>

interface EntryPage extends Page<ListedTokenEntry> {
  basis: CostBasis
  /**
   * Set if the page ended because the search took long: entries before this moment, or in ascending order after it, were
   * not looked at yet.
   */
  searched_to: string | null
  /** With `updated_since`, entries that no longer exist. */
  deleted: Id<'ent'>[] | null
}

/** How long parts of a list by a figure may take. */
export interface Paces {
  rankedMs: number
  /** What one statement sorts, in entries. */
  sortLimit: number
  windows: Pace
  /** The longest that windows may take for a page that cannot be divided. */
  undividedMs: number
}

const PACES: Paces = {
  // Less than the deadline of slow reads (5 s), at which they end without an answer, by what a step of them may take.
  rankedMs: 3_000,
  // About a second's work, and what ten people use in three months.
  sortLimit: 1_000_000,
  // A person waits a moment for the first page.
  windows: { budgetMs: 1_000, statementMs: 30, rows: 5_000 },
  // Some times what the first page of the section took.
  undividedMs: 10_000,
}

export function createListing({ db, prices, placement, organization, billing, paces = PACES }: ListingDependencies) {
  function readerFor(filter: EntryFilter, viewer: Viewer): Reader {
    return isIndexed(filter, viewer.sees !== 'everything') ? db.read : db.slow
  }

  function isSearched(filter: EntryFilter, viewer: Viewer): boolean {
    return !isSelective(filter) && !isIndexed(filter, viewer.sees !== 'everything')
  }

  /** Throws 403 `fees_hidden` for a basis that the viewer does not see. */
  async function shownCosts(viewer: Viewer, basis: CostBasis = 'cost'): Promise<ShownCosts> {
    const settings = await organization.settings(db.read)
    await requireBasis(db.read, viewer, basis, settings)
    return { basis, seesFees: await seesFees(db.read, viewer, settings) }
  }

  async function listed(views: readonly EntryView[], shown: ShownCosts): Promise<ListedTokenEntry[]> {
    const shares = await findSharesOf(db.read, views)
    return views.map((view) => toListedEntry(view, shares.get(view.entry.id), shown))
  }

  /** The page from the columns of the roll-up, if these can answer the filter. */
  function listRanked(
    { filter, viewer, limit }: { filter: EntryFilter; viewer: Viewer; limit: number },
    { sort, order, after }: { sort: EntrySort; order: ListOrder; after: FigurePosition | undefined },
    budgetMs = paces.rankedMs,
  ): Promise<RankedPage | undefined> {
    if (isSelective(filter)) return Promise.resolve(undefined)
    const last = after && { id: after.id, value: after.value === null ? null : Number(after.value) }
    return db.slowly(RANKED_PAGE_TASK, { filter, viewer, sort, order, after: last, limit, budgetMs })
  }

  /** The first entries by a figure: all of the filter, or the latest ones that there was time for. */
  async function searchByFigure(request: SortedPage): Promise<{ views: EntryView[]; searchedTo: number | undefined }> {
    // A page that follows another is not divided: what is after its first entry is so in all of the section.
    const isDivisible = request.after === undefined
    const found = await inTime(async () => {
      const ranked = await listRanked(request, request, isDivisible ? paces.rankedMs : Number.POSITIVE_INFINITY)
      if (ranked && 'views' in ranked) return ranked
      const views = await listSorted(db.slow, request, paces.sortLimit)
      return views && { views, searchedTo: undefined }
    })
    if (found) return found
    if (isDivisible) return searchSorted(db.slow, request, paces.windows)
    const whole = await searchSorted(db.slow, request, { ...paces.windows, budgetMs: paces.undividedMs })
    if (whole.searchedTo !== undefined) throw tookTooLong()
    return whole
  }

  async function listByFigure(
    viewer: Viewer,
    { filter, limit }: PageQuery,
    by: FigureOrder,
    shown: ShownCosts,
  ): Promise<EntryPage> {
    let { section } = by
    const views = await settled(filter, async () => {
      const found = await searchByFigure({
        ...by,
        filter: section ? during(filter, section) : filter,
        viewer,
        limit: limit + 1,
      })
      if (found.searchedTo !== undefined) section = { from: found.searchedTo, to: section?.to }
      return found.views
    })
    const shares = await findSharesOf(db.read, views)
    const shareOf = ({ entry }: EntryView) => shares.get(entry.id)
    const page = pageOf(views, limit, (last) =>
      writeFigurePage({ ...by, after: figurePositionOf(last, by.sort, shareOf(last)), section }),
    )
    const data = page.data.map((view) => toListedEntry(view, shareOf(view), shown))
    const { basis } = shown
    const from = section?.from
    if (from === undefined) return { ...page, data, basis, searched_to: null, deleted: null }
    const before = writeFigurePage({ ...by, after: undefined, section: { from: undefined, to: from } })
    return {
      data,
      basis,
      has_more: true,
      next_page: page.next_page ?? before,
      searched_to: timestamp(from),
      deleted: null,
    }
  }

  async function getVisible(id: string, viewer: Viewer): Promise<EntryView> {
    const view = isId('ent', id) ? await findView(db.read, id, viewer) : undefined
    if (!view) throw notFound(`The entry ${id}`)
    const [before] = await withStatusesBefore(db.read, [view])
    return before!
  }

  /** The correction with the share of an entry that arrived late, once its period is settled, for those who see it. */
  async function settlementOf(
    { entry, fundingPlan }: EntryView,
    { provisional, marginal_cost }: ListedTokenEntry,
    viewer: Viewer,
  ): Promise<TokenEntryDetail['settled_by']> {
    if (fundingPlan === null || provisional || marginal_cost === null) return null
    const uid = await findSettlement(db.read, entry.id)
    return uid && (await findView(db.read, uid, viewer)) ? uid : null
  }

  /** The rule that placed an entry, in the version that did, for those who read rules. */
  async function placingRuleOf(view: EntryView, viewer: Viewer): Promise<TokenEntryDetail['placed_by_rule']> {
    const { ruleVersionId } = view.entry
    if (ruleVersionId === null || !readsRules(viewer)) return null
    const { ticket, conditions } = await placement.describeRuleVersion(db.read, ruleVersionId)
    const subject = subjectOfView(view)
    return {
      ticket,
      conditions: conditions.map((each) => ({ ...each, value: valuesOf(each.field, subject)[0] ?? null })),
    }
  }

  /**
   * What changed. Read while no bill is being sent or voided: what it has claimed so far would have to be shown as it was
   * before, and would not change again when the bill is final.
   */
  async function listChanged(
    viewer: Viewer,
    { filter, limit }: PageQuery,
    { since, after }: ChangesQuery,
    shown: ShownCosts,
  ): Promise<EntryPage> {
    const begin = after ?? (await positionAt(db.read, since))
    if (after && isAfter(after, await lastPosition(db))) throw replacedDatabase()
    const { views, deleted, next, hasMore } = await billing.settled(async () => {
      const until = await settledPosition(db)
      return listChanges(db.slow, { filter, viewer, after: begin, until, limit })
    })
    const data = await listed(views, shown)
    const { basis } = shown
    return { data, has_more: hasMore, next_page: writeChangesPage(next), basis, searched_to: null, deleted }
  }

  /** What is read as everyone sees it: without what a bill that is being sent or voided has claimed so far. */
  async function settled(filter: EntryFilter, read: () => Promise<EntryView[]>): Promise<EntryView[]> {
    return withStatusesBefore(db.read, await (dependsOnBilling(filter) ? billing.settled(read) : read()))
  }

  return {
    lastRecordedAt: () => findLastRecordedAt(db.read),

    /** All entries that match the filter, newest first, as the bytes of a file; reads only as fast as the consumer. */
    async *exportFile(
      viewer: Viewer,
      filter: EntryFilter,
      format: ExportFormat,
      how: Partial<ShownCosts> = {},
    ): AsyncGenerator<Uint8Array> {
      yield* db.streamSlowly(ENTRY_EXPORT, { viewer, filter, format, ...(await shownCosts(viewer, how.basis)), ...how })
    },

    /** Throws 403 `fees_hidden` for a basis that the viewer does not see, before a file is begun. */
    requireBasis: async (viewer: Viewer, basis: CostBasis): Promise<void> => {
      await shownCosts(viewer, basis)
    },

    /**
     * A page of entries that the viewer may see, newest first unless the query has another order. Throws 422 if there
     * are too many to sort, and 403 for a basis that the viewer does not see.
     */
    async listEntries(viewer: Viewer, query: PageQuery): Promise<EntryPage> {
      const { filter, limit, after, order = 'desc', byFigure, changes } = query
      const shown = await shownCosts(viewer, query.basis)
      if (changes) return listChanged(viewer, query, changes, shown)
      if (byFigure) return listByFigure(viewer, query, byFigure, shown)
      const request = { filter, viewer, order, after, limit: limit + 1 }
      let searchedTo: Position | undefined
      let reach: number | undefined
      const views = await settled(filter, async () => {
        if (!isSearched(filter, viewer)) return listViews(readerFor(filter, viewer), request)
        const position = after && { id: after.id, value: BigInt(after.startedAt) }
        // The index of mismatches has only these, of which columns would read both amounts of every entry.
        const ranked = filter.cost_mismatch
          ? undefined
          : await inTime(() => listRanked(request, { sort: 'started_at', order, after: position }))
        if (ranked && 'views' in ranked) {
          reach = ranked.searchedTo
          searchedTo = reach === undefined ? undefined : positionBefore(reach, order)
          return ranked.views
        }
        const searched = await searchViews(db.slow, ranked ? beginningAt(request, ranked.searchFrom) : request)
        searchedTo = searched.searchedTo
        reach = searchedTo?.startedAt
        return searched.views
      })
      const page = pageOf(views, limit, (last) => writePage(positionOf(last), order))
      const data = await listed(page.data, shown)
      const { basis } = shown
      if (page.has_more || !searchedTo || reach === undefined)
        return { ...page, data, basis, searched_to: null, deleted: null }
      return {
        data,
        basis,
        has_more: true,
        next_page: writePage(searchedTo, order),
        searched_to: timestamp(reach),
        deleted: null,
      }
    },

    /** All entries that match the filter. */
    async *exportEntries(viewer: Viewer, filter: EntryFilter, basis?: CostBasis): AsyncGenerator<ListedTokenEntry> {
      const shown = await shownCosts(viewer, basis)
      const pages = eachPage(
        (page) => settled(filter, () => listViews(db.slow, { filter, viewer, ...page })),
        positionOf,
      )
      for await (const views of pages) yield* await listed(views, shown)
    },

    /**
     * An entry with the calculation of its list value. Throws `not_found` if it does not exist or the viewer may not
     * see it.
     */
    async getEntry(id: string, viewer: Viewer): Promise<TokenEntryDetail> {
      const view = await getVisible(id, viewer)
      const [entry] = await listed([view], await shownCosts(viewer))
      return {
        ...entry!,
        placed_by_rule: await placingRuleOf(view, viewer),
        valuation: valuationOf(view.entry, await prices.table(db.read)),
        settled_by: await settlementOf(view, entry!, viewer),
      }
    },

    /** Who changed what, oldest first, starting with the creation of the entry. */
    async getHistory(id: string, viewer: Viewer): Promise<TokenEntryHistory> {
      const { entry, manager } = await getVisible(id, viewer)
      const reportedBy = entry.tokenId === null ? undefined : await getReportingToken(db.read, entry.tokenId)
      const rows = await listHistory(db.read, entry.id)
      const changed = rows.find(({ action }) => action === 'source_changed')
      const ids = JSON.stringify(rows.map(({ details }) => details)).match(/(?<=")[a-z]{3}_[0-9a-f]{32}(?=")/g)
      return {
        names: await listNames(db.read, [...new Set(ids)]),
        data: [
          {
            at: timestamp(entry.createdAt),
            action: 'created',
            actor: actorBody(reportedBy ?? { user: manager, token: null }),
            details: { source: changed?.details.from ?? entry.source },
          },
          ...rows.map(({ at, action, user, token, details }) => ({
            at: timestamp(at),
            action,
            actor: user && actorBody({ user, token }),
            details: detailsFor(viewer, details),
          })),
        ],
      }
    },
  }
}

/** After the entries that come before a moment in the order of time. */
function positionBefore(moment: number, order: ListOrder): Position {
  return order === 'asc' ? { startedAt: moment, id: 0 } : { startedAt: moment - 1, id: Number.MAX_SAFE_INTEGER }
}

/** Undefined if the deadline of slow reads ends it. */
async function inTime<Result>(read: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof Problem && error.code === 'database_deadline') return undefined
    throw error
  }
}

/** The entries of the filter that began during a section. */
function during(filter: EntryFilter, { from, to }: Section): EntryFilter {
  return {
    ...filter,
    ...(from !== undefined && { starting_at: Math.max(from, filter.starting_at ?? from) }),
    ...(to !== undefined && { ending_at: Math.min(to, filter.ending_at ?? to) }),
  }
}

/** The search without the time that is known to have no matches. */
function beginningAt(request: PageRequest, moment: number): PageRequest {
  const { starting_at = moment, ending_at = moment } = request.filter
  const narrowed =
    request.order === 'asc'
      ? { starting_at: Math.max(starting_at, moment) }
      : { ending_at: Math.min(ending_at, moment) }
  return { ...request, filter: { ...request.filter, ...narrowed } }
}

function replacedDatabase(): Problem {
  const message =
    'is of a later state than that of the database, which a backup has probably replaced: begin again without it'
  return validationFailed([{ pointer: '/query/page', code: 'bad_page', message }])
}

/** The fields that rules match, as far as they may be shown: of the person, only the name. */
function subjectOfView({ entry, harness, agent, model, provider, manager, labels }: EntryView): Subject {
  const { summary } = entry
  return {
    agentHarness: harness,
    agentName: agent,
    model,
    provider,
    manager: { email: '', name: manager.name },
    summary,
    labels,
  }
}

function actorBody({ user, token }: { user: NonNullable<HistoryView['user']>; token: HistoryView['token'] }) {
  return { user: { id: user.uid, name: user.name }, token: token && { id: token.uid, name: token.name } }
}

function positionOf({ entry }: EntryView): Position {
  return { startedAt: entry.startedAt, id: entry.id }
}
