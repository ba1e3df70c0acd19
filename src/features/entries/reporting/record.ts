/**
 * Turns a report into a row, inside one transaction: interns names, determines the placement, values the counts.
 * `sessions.ts` decides which row of a session that is.
 */
import type { Tx } from '../../../database/database.ts'
import type { ManagerBy, Source, UnknownProjects } from '../../../database/schema/values.ts'
import { Problem } from '../../../errors.ts'
import { type Id, newId } from '../../../lib/id.ts'
import type { Placement, PlacementOptions, PlacementService, Subject } from '../../placement/service.ts'
import { normalizeModelName, type PriceTable, value } from '../../prices/service.ts'
import { type Change, findIdempotencyKey, insertHistory, insertIdempotencyKey } from '../history/store.ts'
import { type ModelTotals, usageColumns } from '../rows.ts'
import { type EntryRecord, type EntryView, findDuplicate, getView, insertEntry, type NewEntry } from '../store.ts'
import { digestOf, fingerprintOf, type Report } from './report.ts'
import { type Interned, internLabels, internName, type NameKey } from './store/names.ts'
import { type Manager, moveOwnTicketEntries } from './store/sessions.ts'

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
}

export interface Recorded {
  outcome: 'created' | 'updated' | 'repeated'
  /** Whether this is the response to an earlier report with the same Idempotency-Key. */
  replayed: boolean
  entry: EntryView
}

/** Everything that recording needs besides the report, as of the transaction. */
export interface Circumstances {
  now: number
  prices: PriceTable
  placement: PlacementService
  unknownProjects: UnknownProjects
  reporter: Reporter
  interned: Interned
}

function idempotencyKeyReused(key: string): Problem {
  return new Problem(
    'idempotency_key_reused',
    `The Idempotency-Key '${key}' was already used with a different body. Use a new key for a new report, or send the original body again.`,
  )
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

/**
 * The key of a name. Names of all kinds share a table, so each is stored with its canonical form, whatever kind it had
 * when it was first seen: the name of an agent may become that of a model later.
 */
export function intern(tx: Tx, interned: Interned, name: string): Promise<NameKey> {
  return internName(tx, interned, name, normalizeModelName(name))
}

export async function identify(tx: Tx, report: Report, { interned }: Circumstances): Promise<Identity> {
  const harness = await intern(tx, interned, report.harness)
  const agent = await intern(tx, interned, report.agent)
  const model = await intern(tx, interned, report.model)
  return {
    harnessId: harness.id,
    canonicalHarnessId: harness.canonicalId,
    agentId: agent.id,
    modelId: model.id,
    chainModelId: model.canonicalId,
    providerId: report.provider === undefined ? null : (await intern(tx, interned, report.provider)).id,
    labelSetId: report.labels ? await internLabels(tx, interned, report.labels) : null,
  }
}

/** The fields that placement rules match. */
export function subjectOf(report: Report, { reporter: { manager } }: Circumstances): Subject {
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

/** The placement by the report's names or by rules. */
export async function place(tx: Tx, report: Report, circumstances: Circumstances): Promise<Placement> {
  const placeable = { named: report, subject: subjectOf(report, circumstances) }
  return settle(tx, await circumstances.placement.place(tx, placeable, placedBy(circumstances)), circumstances)
}

/** A report only ever places the entries of its own person. */
export function placedBy({ unknownProjects, reporter }: Circumstances): PlacementOptions {
  return { unknownProjects, personId: reporter.manager.id }
}

/** If a ticket got its project for this person, their earlier entries on it move as well. */
export async function settle(tx: Tx, placement: Placement, circumstances: Circumstances): Promise<Placement> {
  if (placement.ticketFoundProject) {
    await moveOwnEntries(tx, placement, circumstances.reporter.manager.id, changeOf('placed', circumstances))
  }
  return placement
}

/** Moves a person's earlier entries on a ticket that got its project for them. */
export async function moveOwnEntries(
  tx: Tx,
  { ticket, project }: Placement,
  managerId: number,
  change: Change,
): Promise<void> {
  const moved = await moveOwnTicketEntries(tx, { ticketId: ticket!.id, projectId: project!.id, managerId })
  await recordFoundProject(tx, moved, project!, change)
}

/** Records in the history of entries that they moved because their ticket got a project. */
export function recordFoundProject(
  tx: Tx,
  entryIds: number[],
  { uid }: { uid: Id<'prj'> },
  change: Change,
): Promise<void> {
  const details = { project: uid, because: 'ticket_found_project' }
  return insertHistory(
    tx,
    change,
    entryIds.map((entryId) => ({ entryId, details })),
  )
}

/** The change that a report makes to existing entries. */
export function changeOf(action: string, { now, reporter }: Circumstances): Change {
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
export interface NewEntryDraft {
  source: Source
  identity: Identity
  placement: Placement
  report: Report
  /** Values that continue from the previous part. The returned view does not show them: read it back. */
  kept?: Partial<NewEntry>
  /** The sheet of a draft; absent for reported entries. */
  sheet?: { id: number; uid: Id<'sht'> }
}

type Extra = Pick<EntryRecord, 'sessionId' | 'part' | 'continuesId' | 'fingerprint' | 'possibleDuplicateId'>
export const NO_SESSION = { sessionId: null, part: null, continuesId: null }

/** Adds an entry with this usage, and returns its view without reading it back. */
export async function addEntry(
  tx: Tx,
  { source, identity, placement, report, kept, sheet }: NewEntryDraft,
  of: ModelTotals,
  extra: Extra,
  uids: Pick<EntryView, 'continues' | 'duplicateOf'>,
  { now, prices, reporter }: Circumstances,
): Promise<EntryView> {
  const { columns, price } = valuationColumns(of, prices)
  const entry: NewEntry = {
    uid: newId('ent'),
    managerId: reporter.manager.id,
    managerBy: reporter.managerBy,
    tokenId: reporter.tokenId,
    source,
    status: sheet ? 'draft' : 'submitted',
    harnessId: identity.harnessId,
    agentId: identity.agentId,
    modelId: identity.modelId,
    providerId: identity.providerId,
    startedAt: of.totals.startedAt,
    endedAt: of.totals.endedAt,
    ...usageColumns(of.totals),
    ...columns,
    ...placementColumns(placement),
    summary: report.summary ?? null,
    labelSetId: identity.labelSetId,
    chainModelId: extra.sessionId === null ? null : identity.chainModelId,
    ...extra,
    superseded: false,
    billId: null,
    sheetId: sheet?.id ?? null,
    createdAt: now,
    updatedAt: null,
    ...kept,
  }
  const id = await insertEntry(tx, entry)
  return {
    entry: { id, ...entry },
    manager: reporter.manager,
    harness: report.harness,
    agent: report.agent,
    model: of.model,
    provider: of.provider ?? null,
    project: placement.project,
    ticket: placement.ticket,
    rule: placement.rule?.uid ?? null,
    ruleVersion: placement.rule,
    labels: report.labels ?? null,
    price,
    sessionKey: extra.sessionId === null ? null : report.sessionKey!,
    bill: null,
    sheet: sheet?.uid ?? null,
    ...uids,
  }
}

/** Records a report without a session: as a new entry, or as the replay of an earlier one. */
export async function recordSingle(
  tx: Tx,
  report: Report,
  key: string | undefined,
  circumstances: Circumstances,
): Promise<Recorded> {
  const managerId = circumstances.reporter.manager.id
  const digest = digestOf(report)
  if (key !== undefined) {
    const known = await findIdempotencyKey(tx, managerId, key)
    if (known) {
      if (!Buffer.from(known.bodyHash).equals(digest)) throw idempotencyKeyReused(key)
      return { outcome: 'repeated', replayed: true, entry: await getView(tx, known.entryId) }
    }
  }
  const fingerprint = fingerprintOf(digest)
  const duplicate =
    key === undefined ? await findDuplicate(tx, { managerId, startedAt: report.startedAt, fingerprint }) : undefined
  const draft: NewEntryDraft = {
    source: 'report',
    identity: await identify(tx, report, circumstances),
    placement: await place(tx, report, circumstances),
    report,
  }
  const entry = await addEntry(
    tx,
    draft,
    { model: report.model, provider: report.provider, totals: report },
    { ...NO_SESSION, fingerprint, possibleDuplicateId: duplicate?.id ?? null },
    { continues: null, duplicateOf: duplicate?.uid ?? null },
    circumstances,
  )
  if (key !== undefined) await insertIdempotencyKey(tx, { managerId, key, bodyHash: digest, entryId: entry.entry.id })
  return { outcome: 'created', replayed: false, entry }
}
