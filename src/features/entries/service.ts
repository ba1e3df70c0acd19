/** Token entries: reporting them and reading them. */
import type { Database, Reader, Tx } from '../../database/database.ts'
import { type SessionSource, SOURCES, STATUSES } from '../../database/tables.ts'
import type { Viewer } from '../../database/visibility.ts'
import { notFound } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { timestamp } from '../../lib/duration.ts'
import { isId } from '../../lib/id.ts'
import { eachPage, type Page, pageOf } from '../../lists.ts'
import type { AuditService } from '../audit/service.ts'
import type { CallerOf, PeopleService } from '../people/service.ts'
import { type PlacementService, type Subject, valuesOf } from '../placement/service.ts'
import type { PricesService } from '../prices/service.ts'
import type { ProjectsService } from '../projects/service.ts'
import { createApplying } from './applying.ts'
import { assignSession, planAssignment } from './assigning.ts'
import { createDeciding } from './deciding.ts'
import { createDrafts } from './drafts.ts'
import { createExporting } from './exporting.ts'
import {
  type EntryFilter,
  isIndexed,
  type ListQuery,
  PLACED_FILTERS,
  type Position,
  readFilter,
  readListQuery,
  readPage,
  readSelectingFilter,
  writePage,
} from './filter.ts'
import { findInconsistentEntries } from './integrity.ts'
import { createMerging } from './merging.ts'
import { createPlacing } from './placing.ts'
import { createPushing } from './pushing.ts'
import { type Circumstances, type Recorded, type Reporter, recordSingle } from './record.ts'
import { releaseEntries } from './releasing.ts'
import { issuesBeyondSchema, type Report, readReport } from './report.ts'
import { createRepricing } from './repricing.ts'
import type { TokenEntry, TokenEntryDetail, TokenEntryHistory, TokenEntryReport } from './schema.ts'
import { recordInSession } from './sessions.ts'
import { freezeEntries } from './store/billing.ts'
import type { EntryView } from './store/entries.ts'
import { getReportingToken, type HistoryView, listHistory } from './store/history.ts'
import { conditionOf, findView, listViews } from './store/lists.ts'
import { Interned } from './store/names.ts'
import { createTrying } from './trying.ts'
import { valuationOf } from './valuation.ts'
import { toTokenEntry } from './wire.ts'

export { actionResults } from './action-results.ts'
export { type Applied, joinApplied } from './applied.ts'
export { type AppliedRules, appliedBody } from './applied-body.ts'
export { readWalk, type Scope, type Walk } from './applying.ts'
export type { AssignedSession, Assignment } from './assigning.ts'
export { ENTRY_COLUMNS } from './csv.ts'
export { waitingFor } from './deciding.ts'
export type { DraftSheet, Overlap } from './drafts.ts'
export { EXAMPLE_ENTRY, EXAMPLE_REPORT } from './examples.ts'
export type { Owner, PushedSession, Pushing } from './pushing.ts'
export type { Report } from './report.ts'
export { Reason, TokenEntry, TokenEntryDraft, TokenEntryDraftChange, TokenEntryList } from './schema.ts'
export { requireRight, SHEET_TRANSITIONS, type SheetAction, transitionFrom } from './states.ts'
export type { SheetSum } from './store/drafts.ts'
export { type Counts, totalTokens } from './totals.ts'
export type { RuleTrialAnswer } from './trying.ts'
export type { EntryFilter, ListQuery, Recorded }
export { conditionOf, PLACED_FILTERS, readFilter, readListQuery, readPage, readSelectingFilter, SOURCES, STATUSES }
export type EntriesService = ReturnType<typeof createEntriesService>

/** Whoever holds a token that entries can come by: service tokens by report, these and organization tokens by telemetry. */
export type Reporting = CallerOf<'service' | 'organization'>

export interface EntriesDependencies {
  db: Database
  clock: Clock
  audit: AuditService
  people: Pick<PeopleService, 'organization'>
  prices: Pick<PricesService, 'table'>
  projects: ProjectsService
  placement: PlacementService
}

export interface Reported {
  outcome: Recorded['outcome']
  /** The answer is that of an earlier report with the same Idempotency-Key. */
  replayed: boolean
  entry: TokenEntry
}

/** No index has a bill's entries in the order of time: each page looks at all of them, so there should be few. */
const BILLED_PAGE = 20_000

export function createEntriesService({ db, clock, audit, people, prices, projects, placement }: EntriesDependencies) {
  const interned = new Interned()

  async function circumstancesFor(tx: Tx, reporter: Reporter): Promise<Circumstances> {
    return {
      now: clock.now(),
      prices: await prices.table(tx),
      placement,
      unknownProjects: (await people.organization(tx)).unknownProjects,
      reporter,
      interned,
    }
  }

  /**
   * Prices and rules that changed are read once here, and not by every body of the coming commit: what is read inside a
   * transaction is kept only after it.
   */
  async function readAhead(): Promise<void> {
    await prices.table(db.read)
    await placement.rules(db.read)
  }

  async function record(
    report: Report,
    source: SessionSource,
    caller: Reporting,
    idempotencyKey: string | undefined,
  ): Promise<Recorded> {
    await readAhead()
    return db.write(async (tx) => {
      const { id, uid, name, email } = caller.person
      const circumstances = await circumstancesFor(tx, {
        manager: { id, uid, name, email },
        managerBy: 'token',
        identifiedBy: caller.kind === 'service' ? 'token' : 'nothing',
        tokenId: caller.token.id,
        personId: id,
      })
      if (report.sessionKey !== undefined) return recordInSession(tx, report, source, circumstances)
      return recordSingle(tx, report, idempotencyKey, circumstances)
    })
  }

  function readerFor(filter: EntryFilter, viewer: Viewer): Reader {
    return isIndexed(filter, viewer.sees !== 'everything') ? db.read : db.slow
  }

  async function getVisible(id: string, viewer: Viewer): Promise<EntryView> {
    const view = isId('ent', id) ? await findView(db.read, id, viewer) : undefined
    if (!view) throw notFound(`The entry ${id}`)
    return view
  }

  /** What the rule that placed an entry said then. Rules may name people, so only who sees everything is told. */
  async function ruleBehind(view: EntryView, viewer: Viewer): Promise<TokenEntryDetail['placed_by_rule']> {
    const { ruleVersionId } = view.entry
    if (ruleVersionId === null || viewer.sees !== 'everything') return null
    const { ticket, conditions } = await placement.describeRuleVersion(db.read, ruleVersionId)
    const subject = subjectOfView(view)
    return {
      ticket,
      conditions: conditions.map((each) => ({ ...each, value: valuesOf(each.field, subject)[0] ?? null })),
    }
  }

  return {
    /** A sentence for everything that is not as reporting, sheets and bills leave it. */
    verify: () => findInconsistentEntries(db.slow),

    freezeEntries,
    releaseEntries,
    assignSession,
    planAssignment,
    readAhead,
    ...createRepricing({ db, clock, audit, prices }),
    ...createExporting({ db }),
    ...createMerging({ db, clock, audit, projects }),
    ...createDeciding({ db, clock, audit }),
    ...createDrafts({
      now: () => clock.now(),
      circumstancesFor: (tx, manager) =>
        circumstancesFor(tx, {
          manager,
          managerBy: 'token',
          identifiedBy: 'token',
          tokenId: null,
          personId: manager.id,
        }),
    }),
    ...createPushing({ circumstancesFor }),
    ...createTrying({ db, placement }),
    ...createApplying({ db, clock, audit, placement }),
    ...createPlacing({ db, clock, audit, projects, placement, interned }),

    /**
     * Records a checked report body for the creator of the caller's token, durably before it answers.
     * `idempotencyKey` counts only where the report has no session. Throws `validation_failed`,
     * `idempotency_key_reused` (422) and `session_shrunk` (409).
     */
    async reportEntry(body: TokenEntryReport, caller: CallerOf<'service'>, idempotencyKey?: string): Promise<Reported> {
      const { entry, ...told } = await record(readReport(body, clock.now()), 'report', caller, idempotencyKey)
      return { ...told, entry: toTokenEntry(entry) }
    },

    /** Every issue of a report that its schema cannot express. */
    issuesBeyondSchema: (body: unknown) => issuesBeyondSchema(body, clock.now()),

    /** As {@link reportEntry}, for a report that telemetry or an agent's own log made. */
    recordFrom: (source: SessionSource, report: Report, caller: Reporting): Promise<Recorded> =>
      record(report, source, caller, undefined),

    /** A page of entries, newest first, of those that the viewer may see. */
    async listEntries(
      viewer: Viewer,
      { filter, limit, after }: Pick<ListQuery, 'filter' | 'limit' | 'after'>,
    ): Promise<Page<TokenEntry>> {
      const views = await listViews(readerFor(filter, viewer), { filter, viewer, after, limit: limit + 1 })
      const page = pageOf(views, limit, (last) => writePage(positionOf(last)))
      return { ...page, data: page.data.map(toTokenEntry) }
    },

    /** Every entry that the filter lets through. */
    async *exportEntries(viewer: Viewer, filter: EntryFilter): AsyncGenerator<TokenEntry> {
      const limit = filter.billedOn && BILLED_PAGE
      const pages = eachPage((page) => listViews(db.slow, { filter, viewer, ...page }), positionOf, limit)
      for await (const views of pages) for (const view of views) yield toTokenEntry(view)
    },

    /**
     * An entry with the arithmetic of its list value. Throws `not_found` for one that does not exist or that the viewer
     * may not see.
     */
    async getEntry(id: string, viewer: Viewer): Promise<TokenEntryDetail> {
      const view = await getVisible(id, viewer)
      return {
        ...toTokenEntry(view),
        placed_by_rule: await ruleBehind(view, viewer),
        valuation: valuationOf(view.entry, await prices.table(db.read)),
      }
    },

    /** Who changed what, oldest first, beginning with the entry's arrival. */
    async getHistory(id: string, viewer: Viewer): Promise<TokenEntryHistory> {
      const { entry, manager } = await getVisible(id, viewer)
      const brought = entry.tokenId === null ? undefined : await getReportingToken(db.read, entry.tokenId)
      const rows = await listHistory(db.read, entry.id)
      const changed = rows.find(({ action }) => action === 'source_changed')
      return {
        data: [
          {
            at: timestamp(entry.createdAt),
            action: 'created',
            actor: actorBody(brought ?? { user: manager, token: null }),
            details: { source: changed?.details.from ?? entry.source },
          },
          ...rows.map(({ at, action, user, token, details }) => ({
            at: timestamp(at),
            action,
            actor: user && actorBody({ user, token }),
            details,
          })),
        ],
      }
    },
  }
}

/** What rules look at, as far as it is shown: of the person the name. */
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
