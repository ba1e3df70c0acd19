/** Turns a report into a row: its names, placement and value. Pure: `state.ts` holds what it needs of the database. */
import type { TokenLimit } from '../../../access/caller.ts'
import type {
  ManagerBy,
  SameSession,
  SessionSource,
  Source,
  Status,
  UnknownProjects,
} from '../../../database/schema/values.ts'
import { type Id, newId } from '../../../lib/id.ts'
import type { HistoryAction } from '../../../shared/history-sentences.ts'
import type { FundingDecisions } from '../../funding/service.ts'
import type { Placement, PlacementOptions, RuleSet, Subject } from '../../placement/service.ts'
import { type PriceTable, value } from '../../prices/service.ts'
import type { Change } from '../history/store.ts'
import { detailsText, type ModelTotals } from '../rows.ts'
import type { Slice } from '../slices/slice.ts'
import type { EntryRecord, EntryView } from '../store.ts'
import type { Report } from './report.ts'
import type { Manager } from './store/sessions.ts'

/**
 * How the owner of a session was identified: by a service token, which is certain; by an e-mail address sent with an
 * organization token; or by nothing, in which case the creator of the organization token is the owner until a person is
 * identified.
 */
export type IdentifiedBy = 'token' | 'email' | 'nothing'

/** The value that entries and sessions store. */
export function managerByOf(identifiedBy: IdentifiedBy): ManagerBy {
  return identifiedBy === 'email' ? 'email' : 'token'
}

/** The future owner of the entry, and the token of the report. Never taken from the report's body. */
export interface Reporter {
  manager: Manager
  managerBy: ManagerBy
  identifiedBy: IdentifiedBy
  tokenId: number | null
  /** The author of changes: the manager, but for telemetry the creator of its token. */
  personId: number
  /** The only project whose entries the token may report. */
  limit?: TokenLimit | null
}

/** A checked report, and who reports it by which source. */
export interface Submission {
  report: Report
  /** Identifies the report's set of labels; undefined if it has none. */
  labelText: string | undefined
  source: SessionSource
  reporter: Reporter
}

export interface Recorded {
  outcome: 'created' | 'updated' | 'repeated'
  /** Whether this is the response to an earlier report with the same Idempotency-Key. */
  replayed: boolean
  entry: EntryView
  /** The outcome for each slice, if the session has any. */
  slices?: readonly RecordedSlice[]
}

/** Without the entry: a batch concerns hundreds of thousands. */
export interface RecordedSlice {
  id: Id<'ent'>
  outcome: Recorded['outcome']
}

/** What recording a set of reports does to an entry. */
export interface EntryPlan {
  result: Recorded['outcome']
  /** The entry as it is; null if it is new. */
  before: EntryView | null
  after: EntryView
}

/** Everything that recording needs besides the report and the state, as of the transaction. */
export interface Circumstances {
  now: number
  prices: PriceTable
  rules: RuleSet
  funding: FundingDecisions
  unknownProjects: UnknownProjects
  sameSession: SameSession
  /** Whether some sessions have only the hash of their id. */
  hashedSessionIds: boolean
  /** That of the organization. */
  timeZone: string
}

/** The keys of the names in a report. Harness and model also have a canonical one by which sessions compare them. */
export interface Identity {
  harnessId: number
  canonicalHarnessId: number
  agentId: number
  modelId: number
  chainModelId: number
  providerId: number | null
  labelSetId: number | null
}

/** The fields that placement rules match. */
export function subjectOf(report: Report, { manager }: Reporter): Subject {
  return {
    agentHarness: report.harness,
    agentName: report.agent,
    model: report.model,
    provider: report.provider ?? null,
    manager,
    summary: report.summary ?? null,
    labels: report.labels ?? null,
  }
}

/** A report only ever places the entries of its own person. */
export function placedBy({ unknownProjects }: Circumstances, { manager }: Reporter): PlacementOptions {
  return { unknownProjects, personId: manager.id }
}

/** The change that a report makes to existing entries. */
export function changeOf(action: HistoryAction, { now }: Pick<Circumstances, 'now'>, reporter: Reporter): Change {
  return { action, at: now, by: { userId: reporter.personId, tokenId: reporter.tokenId } }
}

export function placementColumns(placement: Placement) {
  return {
    projectId: placement.project?.id ?? null,
    ticketId: placement.ticket?.id ?? null,
    placedBy: placement.by,
    ruleVersionId: placement.ruleVersionId,
    placementNote: placement.note,
    namedProject: placement.namedProject,
    namedTicket: placement.namedTicket,
  }
}

const UNPRICED = { listValue: null, priceId: null, priceStep: null, priceNote: null }

/** The list value of a usage by the price in effect at its start; nulls if the model has no price. */
export function valuationColumns({ model, provider, totals }: ModelTotals, prices: PriceTable) {
  // The order matters: a report is totals as well, and has its own model and provider.
  const valuation = value(prices, { ...totals, model, provider: provider ?? null })
  if (!valuation) return { columns: UNPRICED, price: null }
  return {
    columns: {
      listValue: valuation.listValueNanos,
      priceId: valuation.price.id,
      priceStep: valuation.step,
      priceNote: valuation.note,
    },
    price: valuation.price.uid,
  }
}

/** An entry without its usage. */
export interface EntryDraft {
  source: Source
  status: Status
  identity: Identity
  placement: Placement
  report: Report
  reporter: Reporter
  slice?: Pick<Slice, 'key' | 'estimated'> | undefined
  /** The sheet of a draft; absent for reported entries. */
  sheet?: { id: number; uid: Id<'sht'> }
}

type Extra = Pick<EntryRecord, 'sessionId' | 'part' | 'continuesId' | 'fingerprint' | 'possibleDuplicateId'>
export const NO_SESSION = { sessionId: null, part: null, continuesId: null }

/** A new entry with this usage. */
export function newEntry(
  id: number,
  { source, status, identity, placement, report, reporter, slice, sheet }: EntryDraft,
  of: ModelTotals,
  extra: Extra,
  uids: Pick<EntryView, 'continues' | 'duplicateOf'>,
  { now, prices }: Pick<Circumstances, 'now' | 'prices'>,
): EntryView {
  const { columns, price } = valuationColumns(of, prices)
  const { counts, details, requests, reportedCostNanos, activeMs, startedAt, endedAt } = of.totals
  return {
    // Written out, because the properties of an entry are too many to copy from one object to the next for each report.
    entry: {
      id,
      uid: newId('ent'),
      managerId: reporter.manager.id,
      managerBy: reporter.managerBy,
      tokenId: reporter.tokenId,
      source,
      status,
      harnessId: identity.harnessId,
      agentId: identity.agentId,
      modelId: identity.modelId,
      providerId: identity.providerId,
      startedAt,
      endedAt,
      input: counts.input,
      output: counts.output,
      cacheRead: counts.cacheRead,
      cacheWrite: counts.cacheWrite,
      cacheWrite1h: counts.cacheWrite1h,
      usageDetails: detailsText(details),
      requests,
      reportedCost: reportedCostNanos,
      listValue: columns.listValue,
      priceId: columns.priceId,
      priceStep: columns.priceStep,
      priceNote: columns.priceNote,
      projectId: placement.project?.id ?? null,
      ticketId: placement.ticket?.id ?? null,
      placedBy: placement.by,
      ruleVersionId: placement.ruleVersionId,
      placementNote: placement.note,
      namedProject: placement.namedProject,
      namedTicket: placement.namedTicket,
      summary: report.summary ?? null,
      labelSetId: identity.labelSetId,
      sessionId: extra.sessionId,
      chainModelId: extra.sessionId === null ? null : identity.chainModelId,
      part: extra.part,
      continuesId: extra.continuesId,
      superseded: false,
      fingerprint: extra.fingerprint,
      possibleDuplicateId: extra.possibleDuplicateId,
      billId: null,
      sheetId: sheet ? sheet.id : null,
      createdAt: now,
      updatedAt: null,
      corrected: null,
      amendment: null,
      dividedFromId: null,
      sliceDay: slice ? slice.key.day : null,
      slicePlace: slice ? slice.key.place : null,
      estimated: slice ? slice.estimated : false,
      activeMs,
      fundingId: null,
    },
    manager: reporter.manager,
    harness: report.harness,
    agent: report.agent,
    model: of.model,
    provider: identity.providerId === null ? null : (report.provider ?? null),
    project: placement.project,
    ticket: placement.ticket,
    rule: placement.rule?.uid ?? null,
    ruleVersion: placement.rule,
    labels: report.labels ?? null,
    price,
    sessionKey: extra.sessionId === null ? null : report.sessionKey!,
    continues: uids.continues,
    duplicateOf: uids.duplicateOf,
    bill: null,
    sheet: sheet ? sheet.uid : null,
    funding: null,
    fundingPlan: null,
    fundingRule: null,
    fundingRuleVersion: null,
  }
}
