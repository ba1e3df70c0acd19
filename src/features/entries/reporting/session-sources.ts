/**
 * Sessions with several sources (docs/design/concepts.md, "Merging sources"): steps of a plan, which read and change its
 * state only.
 */
import type { SessionSource } from '../../../database/schema/values.ts'
import { Problem } from '../../../errors.ts'
import { isFixed, readTotals, reportedModel, type Statement, writeTotals } from '../rows.ts'
import type { Slice } from '../slices/slice.ts'
import type { EntryView } from '../store.ts'
import { completeTotals, isStale, SOURCE_ORDER, supplyingSource, type Totals } from '../totals.ts'
import {
  attributesOf,
  attributesOfEntry,
  mergeAttributes,
  present,
  rankAttributes,
  withAttributes,
} from './attributes.ts'
import { moveChain, type Recording, repeated, supersede, totalsOf } from './chains.ts'
import { textOfLabels } from './names.ts'
import { type Recorded, valuationColumns } from './record.ts'
import type { Report } from './report.ts'
import {
  attributesOfAll,
  isSliced,
  lastParts,
  laterSlices,
  moveSlices,
  moveWhole,
  namesIn,
  slicesIn,
} from './session-slices.ts'
import { completeSlices, type SourceStatement, slicesFrom } from './source-slices.ts'
import type { SessionRecord, SourceTotals } from './store/sessions.ts'

/**
 * Models, counting each service tier, speed and region, of a session with several sources: each report may change all of
 * them. Agents use a handful.
 */
const MERGED_MODELS_LIMIT = 20
/** Slices of all sources and models together. */
export const MERGED_SLICES_LIMIT = 2_000

function sessionTooLarge(): Problem {
  return new Problem(
    'session_too_large',
    `The session has several sources, and would have more than ${MERGED_MODELS_LIMIT} models, counting each service tier, speed and region of a model, or more than ${MERGED_SLICES_LIMIT} slices. Use a session id for each run. Nothing was changed.`,
  )
}

/**
 * Records a session with several sources: what each of them says is stored separately. The totals are never added up:
 * the source with the most output tokens supplies every model. Everything else is merged. Throws `session_too_large`
 * (409).
 */
export function recordFromSources(recording: Recording): Recorded {
  const { state, source, report, identity } = recording
  const { chainModelId } = identity
  const chains = state.chains(recording.session.id)
  const isFurtherSource = !recording.session.contested
  if (isFurtherSource) saveFirstSource(recording, chains)

  const kept = withEarlierAttributes(state.sources(recording.session.id), recording.session, chains)
  const own = kept.find((row) => row.source === source && row.chainModelId === chainModelId)
  const models = new Set([chainModelId, ...chains.keys(), ...kept.map((row) => row.chainModelId)])
  if (models.size > MERGED_MODELS_LIMIT && (isFurtherSource || !own)) throw sessionTooLarge()
  const known = own && { ...readTotals(own.totals), ...(recording.slices === null && { slices: undefined }) }
  const isOpen = !hasFixed(chains.get(chainModelId) ?? [])
  const reported = statementOf(report, recording.slices ?? undefined)
  const statement = known ? updated(known, reported, isOpen) : reported
  const current = { chainModelId, source, totals: writeTotals(statement) }
  if (!isEqual(own?.totals, current.totals)) state.saveSource(recording.session.id, current)
  const hasNews = !isEqual(known?.attributes, statement.attributes)

  const all = [...kept.filter((row) => row !== own), current]
  const slices = all.reduce((sum, { totals }) => sum + (totals.slices?.length ?? 0), 0)
  if (slices > MERGED_SLICES_LIMIT && recording.slices) throw sessionTooLarge()
  const winner = supplyingSource(outputBySource(all))
  if (winner !== recording.session.source) {
    recording.session = state.changeSession(recording.session, { source: winner })
  }
  const moved = supplyAll({ ...recording, hasNews }, all, chains)
  const recorded = moved.get(chainModelId)
  if (recorded) return { ...recorded, entry: state.current(recorded.entry) }
  // The supplying source does not know the model.
  const entry = chains.get(chainModelId)?.at(-1) ?? moved.values().next().value!.entry
  return repeated(state.current(entry))
}

/** Sessions that an earlier version recorded: their entries have what their source said. */
function withEarlierAttributes(
  rows: readonly SourceTotals[],
  { source }: SessionRecord,
  chains: Chains,
): readonly SourceTotals[] {
  return rows.map((row) => {
    if (row.totals.attributes || row.source !== source) return row
    const last = chains.get(row.chainModelId)?.at(-1)
    return last ? { ...row, totals: { ...row.totals, attributes: attributesOfEntry(last) } } : row
  })
}

function statementOf(report: Report, slices: readonly Slice[] | undefined): Statement {
  const { model, provider, startedAt, endedAt, counts, details, requests, reportedCostNanos, activeMs } = report
  const totals = { startedAt, endedAt, counts, details, requests, reportedCostNanos, activeMs }
  const attributes = present({ ...attributesOf(report), ...(slices && attributesOfAll(slices)) })
  return { model, provider, totals, attributes, slices }
}

/**
 * What a source says of a model after a further report: of two the later one counts, and the other one fills gaps. A
 * stale report adds no cost to tokens that are locked.
 */
function updated(known: Statement, reported: Statement, isOpen: boolean): Statement {
  const stale = isStale(reported.totals, known.totals)
  const [older, newer] = stale ? [reported, known] : [known, reported]
  const attributes = { ...older.attributes, ...newer.attributes }
  const totals = stale && !isOpen ? newer.totals : completeTotals(newer.totals, [older.totals])
  const startedAt = Math.min(older.totals.startedAt, newer.totals.startedAt)
  const slices = laterSlices(known.slices, reported.slices)
  return { model: newer.model, provider: attributes.provider, totals: { ...totals, startedAt }, attributes, slices }
}

function hasFixed(parts: readonly EntryView[]): boolean {
  return parts.some(({ entry }) => isFixed(entry))
}

/** Updates all chains of a session to the totals of its source, and to what all its sources say besides. */
function supplyAll(recording: Recording, rows: readonly SourceTotals[], chains: Chains): Map<number, Recorded> {
  const { state, session, report } = recording
  // A statement may have thousands of slices, so each is read once.
  const statements = rows.map(statementIn)
  const rankedFor = rankAttributes(statements)
  const byModel = Map.groupBy(statements, ({ chainModelId }) => chainModelId)
  const recorded = new Map<number, Recorded>()
  for (const chainModelId of new Set([...chains.keys(), ...byModel.keys()])) {
    const parts = chains.get(chainModelId) ?? []
    const ofModel = byModel.get(chainModelId) ?? []
    const counted = ofModel.find(({ source }) => source === session.source)
    if (!counted) {
      for (const last of lastParts(parts)) supersede(recording, last)
      continue
    }
    const ranked = rankedFor(chainModelId)
    const { model, provider, totals: said } = counted
    const merged = { ...withAttributes(report, mergeAttributes(ranked)), model, details: said.details }
    const labelText = merged.labels && textOfLabels(merged.labels)
    const identity = { ...state.identify({ ...recording, report: merged, labelText }), chainModelId }
    const moving = { ...recording, report: merged, identity, ranked }
    const valued = (totals: Totals) => valuationColumns({ model, provider, totals }, recording.prices).columns.listValue
    const slices = slicesFrom(counted, statements, session.zone ?? recording.timeZone, valued)
    if (slices) {
      const completed = hasFixed(parts) ? slices : completeSlices(slices, ofModel, valued)
      recorded.set(chainModelId, moveSlices({ ...moving, hidden: namesIn(completed) }, parts, completed))
    } else {
      const totals = suppliedTotals(said, ofModel, parts)
      recorded.set(chainModelId, isSliced(parts) ? moveWhole(moving, parts, totals) : moveChain(moving, parts, totals))
    }
  }
  return recorded
}

/**
 * The totals of the supplying source, completed by those of all sources of the model. Once a part is locked, its cost is
 * no longer completed: a cost that another source reports later would be a correction of what was approved.
 */
function suppliedTotals(totals: Totals, ofModel: readonly SourceStatement[], parts: readonly EntryView[]): Totals {
  if (hasFixed(parts)) return totals
  const all = SOURCE_ORDER.flatMap((source) => ofModel.filter((other) => other.source === source)).map(
    (other) => other.totals,
  )
  return { ...completeTotals(totals, all), startedAt: Math.min(...all.map(({ startedAt }) => startedAt)) }
}

function outputBySource(rows: SourceTotals[]): Map<SessionSource, number> {
  const outputs = new Map<SessionSource, number>()
  for (const { source, totals } of rows) outputs.set(source, (outputs.get(source) ?? 0) + totals.output)
  return outputs
}

type Chains = Map<number, readonly EntryView[]>

/** From now on, what each source says is stored next to the entries, starting with the first source. */
function saveFirstSource(recording: Recording, chains: Chains): void {
  const { state } = recording
  recording.session = state.changeSession(recording.session, { contested: true })
  const { id, source } = recording.session
  for (const [chainModelId, parts] of chains) {
    const last = parts.at(-1)!
    const attributes = attributesOfEntry(last)
    const { provider } = attributes
    const slices = isSliced(parts) ? slicesIn(parts) : undefined
    const ofWhole = slices ? present({ agent: attributes.agent, provider, ...attributesOfAll(slices) }) : attributes
    const statement = { model: reportedModel(last), provider, totals: totalsOf(parts), attributes: ofWhole, slices }
    state.saveSource(id, { chainModelId, source, totals: writeTotals(statement) })
  }
}

function statementIn({ chainModelId, source, totals }: SourceTotals): SourceStatement {
  return { ...readTotals(totals), chainModelId, source }
}

function isEqual(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
