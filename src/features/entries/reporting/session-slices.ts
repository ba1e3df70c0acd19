/**
 * Recording the slices of a session (docs/design/concepts.md, "Slices"): steps of a plan, which read and change its state
 * only.
 */
import type { SessionAttributes } from '../../../database/schema/records.ts'
import { dayNumberAt, dayText, startOfDay } from '../../../lib/calendar.ts'
import { COUNT_KINDS, totalTokens } from '../../../shared/usage.ts'
import { isShare } from '../division/divided.ts'
import { ignoresReports, isFixed, reportedPart } from '../rows.ts'
import { inOrder, isSameKey, keyText, otherLabelsOf, type Slice, type SliceKey } from '../slices/slice.ts'
import { type SlicedPart, type Step, stepsTo } from '../slices/steps.ts'
import type { EntryRecord, EntryView } from '../store.ts'
import { completeTotals, isStale, type Totals } from '../totals.ts'
import { attributesOf, attributesOfEntry, namesAgent } from './attributes.ts'
import {
  appendPart,
  changePart,
  FIRST,
  fillIn,
  type Recording,
  repeated,
  sessionShrunk,
  supersede,
  totalsOf,
} from './chains.ts'
import { textOfLabels } from './names.ts'
import type { Recorded, RecordedSlice } from './record.ts'
import { mergeLabels, sortLabels } from './report-fields.ts'
import { completedBy } from './source-slices.ts'

/** The slice that an entry is a part of; null if its session had none. */
function keyOf({ sliceDay, slicePlace }: EntryRecord): SliceKey | null {
  return sliceDay === null ? null : { day: sliceDay, place: slicePlace! }
}

/** The parts of each slice, by the text of its key. */
function chainsOf(parts: readonly EntryView[]): Map<string, EntryView[]> {
  return Map.groupBy(parts, ({ entry }) => keyText(keyOf(entry)))
}

function withoutSuperseded(parts: readonly EntryView[]): EntryView[] {
  return parts.filter(({ entry }) => !entry.superseded)
}

/** The last part of each slice. */
export function lastParts(parts: readonly EntryView[]): EntryView[] {
  return [...new Map(parts.map((part) => [keyText(keyOf(part.entry)), part])).values()]
}

export function isSliced(parts: readonly EntryView[]): boolean {
  return parts.some(({ entry }) => entry.sliceDay !== null)
}

/** Records the slices of the only source of a session, of which `parts` are those of the model. */
export function recordSlices(recording: Recording, parts: readonly EntryView[], slices: readonly Slice[]): Recorded {
  const recorded = recording.report.cells!.length === 1 ? recordOnly(recording, parts, slices[0]!) : undefined
  if (recorded) return recorded
  if (parts.length === 0) return moveSlices(recording, parts, slices)
  if (isOlder(recording.report, slices, parts)) return fillInSlices(recording, parts, slices)
  const chains = chainsOf(parts)
  const completed = completedBy(slices, ({ key }) => {
    const own = chains.get(keyText(key))
    return own ? [totalsOf(own)] : []
  })
  return moveSlices(recording, parts, completed)
}

/**
 * The shorter way of most reports, which begin their only slice or go on with it, and say of the whole session what they
 * say of it. Undefined if there is more to decide.
 */
function recordOnly(recording: Recording, parts: readonly EntryView[], slice: Slice): Recorded | undefined {
  const { report } = recording
  if (report.counts !== slice.counts || report.labels !== slice.labels) return undefined
  if (report.project !== slice.project || report.ticket !== slice.ticket) return undefined
  if (report.funding !== slice.funding) return undefined
  const [part] = parts
  const known = part && reportedPart(part.entry)
  if (part && known) {
    const isOpen = !known.locked && !part.entry.superseded && !ignoresReports(part.entry)
    const isNext = parts.length === 1 && isSameKey(keyOf(part.entry), slice.key) && slice.endedAt > known.endedAt
    if (!isOpen || !isNext) return undefined
  }
  const { summary = report.summary } = slice
  const own = { ...recording, slice, report: summary === report.summary ? report : { ...report, summary } }
  const recorded =
    part && known ? changePart(own, part, completeTotals(slice, [known])) : appendPart(own, FIRST, report)
  const { outcome, entry } = recorded
  return { outcome, replayed: false, entry, slices: [{ id: entry.entry.uid, outcome }] }
}

/** Whether the statement is older than the one that the parts are of. */
function isOlder(report: Totals, slices: readonly Slice[], parts: readonly EntryView[]): boolean {
  const known = totalsOf(parts)
  if (isStale(report, known)) return true
  if (report.endedAt !== known.endedAt || totalTokens(report.counts) !== totalTokens(known.counts)) return false
  const isOpen = parts.every(({ entry }) => entry.sliceDay !== null && !isFixed(entry))
  return isOpen && laterSlices(slicesIn(parts), slices) !== slices
}

function textOfSlices(slices: readonly Pick<Slice, 'key' | 'counts'>[]): string {
  const texts = slices.map(({ key, counts }) => `${keyText(key)} ${COUNT_KINDS.map((kind) => counts[kind])}`)
  return texts.sort().join('\n')
}

/** An older statement changes no count. It fills in what the later one did not repeat. */
function fillInSlices(recording: Recording, parts: readonly EntryView[], slices: readonly Slice[]): Recorded {
  const { report } = recording
  const known = new Map(slices.map((slice) => [keyText(slice.key), slice]))
  const outcomes = [...chainsOf(parts)].map(([key, chain]) => {
    const slice = known.get(key)
    if (slice) return fillIn(ofSlice(recording, slice), chain)
    const unplaced = {
      ...report,
      ...totalsOf(chain),
      project: undefined,
      ticket: undefined,
      summary: undefined,
      labels: undefined,
      funding: undefined,
    }
    return fillIn({ ...recording, report: unplaced, identity: { ...recording.identity, labelSetId: null } }, chain)
  })
  return answerOf(recording, outcomes)
}

/** Makes the parts of a model sum to the slices. Throws `session_shrunk` (409). */
export function moveSlices(recording: Recording, parts: readonly EntryView[], slices: readonly Slice[]): Recorded {
  const ignored = parts.filter(({ entry }) => ignoresReports(entry))
  if (ignored.length === 0) return answerOf(recording, moveTo(recording, parts, slices))
  if (ignored.some(({ entry }) => entry.sliceDay === null)) return repeated(parts.at(-1)!)
  const counted = slices.map((slice) => {
    const isIgnored = ignored.some(({ entry }) => isSameKey(keyOf(entry), slice.key))
    return isIgnored ? { ...slice, isComplete: true } : slice
  })
  return answerOf(recording, moveTo(recording, parts, counted))
}

/** Makes the parts of a model whose slices do not count any more sum to its totals. Throws `session_shrunk` (409). */
export function moveWhole(recording: Recording, parts: readonly EntryView[], totals: Totals): Recorded {
  if (parts.some(({ entry }) => ignoresReports(entry))) return repeated(parts.at(-1)!)
  const [moved] = moveTo(recording, parts, [{ ...totals, key: null }])
  return moved ?? repeated(parts.at(-1)!)
}

function moveTo(recording: Recording, parts: readonly EntryView[], targets: readonly (Slice | Whole)[]): Recorded[] {
  const isSliced = targets.some(({ key }) => key !== null)
  const steps = stepsTo(
    parts.map((part) => slicedPartOf(part, isSliced)),
    targets,
  )
  if ('shrunk' in steps) throw sessionShrunk(steps.shrunk)
  return applySteps(recording, parts, steps)
}

interface Whole extends Totals {
  key: null
}

/** What a person has decided about a session without slices stays as it is once it has some, and the other way round. */
function slicedPartOf({ entry }: EntryView, isSliced: boolean): SlicedPart {
  const part = reportedPart(entry)
  const key = keyOf(entry)
  const isDecided =
    (key === null) === isSliced &&
    (entry.placedBy === 'manual' || entry.corrected !== null || entry.status === 'rejected' || isShare(entry))
  return { ...part, key, locked: part.locked || isDecided }
}

function applySteps(
  recording: Recording,
  parts: readonly EntryView[],
  steps: readonly Step<Slice | Whole>[],
): Recorded[] {
  let next = (parts.at(-1)?.entry.part ?? 0) + 1
  const apply = (step: Step<Slice | Whole>): Recorded => {
    if (step.kind === 'supersede') return supersede(recording, parts[step.part]!)
    const { target } = step
    const own = target.key === null ? recording : ofSlice(recording, target)
    const usage = target.key === null ? step.usage : startingOn(target.key.day, step.usage, recording)
    if (step.kind === 'set') return changePart(own, parts[step.part]!, usage)
    const last = step.after === undefined ? undefined : parts[step.after]!
    const further = last ? own : continuingModel(own, parts.at(-1))
    const bound = last || target.key === null ? undefined : boundBy(parts, target.key)
    return appendPart(further, { last, bound, part: next++ }, usage)
  }
  return recording.state.set.parts(steps.map((step) => () => apply(step)))
}

/** A part starts on its slice's day, whose price and bill it has, even if the part that it goes on from ended later. */
function startingOn(day: number, usage: Totals, { session, timeZone }: Recording): Totals {
  const zone = session.zone ?? timeZone
  if (dayNumberAt(usage.startedAt, zone) === day) return usage
  const [from, to] = [startOfDay(dayText(day), zone), startOfDay(dayText(day + 1), zone) - 1]
  const startedAt = Math.min(Math.max(usage.startedAt, from), to)
  return { ...usage, startedAt, endedAt: Math.max(usage.endedAt, startedAt) }
}

/** The report as it is about one slice. What it says besides hides nothing of what the slice names. */
function ofSlice(recording: Recording, slice: Slice): Recording {
  const { report: whole, state, hidden, identity, ranked } = recording
  const { startedAt, endedAt, counts, details, requests, reportedCostNanos, activeMs } = slice
  const { place, labels, funding } = hidden
    ? attributesOfSlice(recording, attributesOf(whole), slice)
    : { place: slice, labels: slice.labels, funding: slice.funding }
  const report = {
    ...whole,
    ...{ startedAt, endedAt, counts, details, requests, reportedCostNanos, activeMs, labels },
    project: place?.project,
    ticket: place?.ticket,
    summary: slice.summary ?? whole.summary,
    funding,
  }
  const labelSetOf = () => (labels ? state.labelSetOf(textOfLabels(labels), labels) : null)
  return {
    ...recording,
    report,
    identity: labels === whole.labels ? identity : { ...identity, labelSetId: labelSetOf() },
    slice,
    ...(ranked && { ranked: ranked.map((each) => attributesOfSlice(recording, each, slice)) }),
  }
}

/** Slices of the only source of a session already have what its reports say of the whole. */
function attributesOfSlice(
  { hidden }: Pick<Recording, 'hidden'>,
  whole: SessionAttributes,
  { project, ticket, labels, funding }: Slice,
): SessionAttributes {
  const isNamed = project !== undefined || ticket !== undefined
  if (!hidden) return { ...whole, place: isNamed ? { project, ticket } : undefined, labels, funding }
  const others = Object.entries(whole.labels ?? {}).filter(([name]) => !hidden.has(name))
  return {
    ...whole,
    place: isNamed ? { project, ticket } : whole.place,
    labels: mergeLabels([labels ?? {}, Object.fromEntries(others)]),
    funding: funding ?? whole.funding,
  }
}

/**
 * What slices say of their whole session, of which other sources may say less: the place and the funding that the last
 * one names, and the labels that all of them have, but for those of a place. Entries alone do not show what was said of the whole.
 */
export function attributesOfAll(slices: readonly Slice[]): Pick<SessionAttributes, 'place' | 'labels' | 'funding'> {
  const { project, ticket, funding } =
    inOrder(slices)
      .sort((one, other) => one.endedAt - other.endedAt)
      .at(-1) ?? {}
  const [first = {}, ...others] = slices.map(({ labels }) => otherLabelsOf(labels) ?? {})
  const shared = Object.entries(first).filter(([name, value]) => others.every((labels) => labels[name] === value))
  return {
    place: project === undefined && ticket === undefined ? undefined : { project, ticket },
    labels: sortLabels(Object.fromEntries(shared)),
    funding,
  }
}

/** The names of labels that any of the slices has. */
export function namesIn(slices: readonly Slice[]): Set<string> {
  return new Set(slices.flatMap(({ labels }) => Object.keys(labels ?? {})))
}

/** The slices that the parts of a model sum to. */
export function slicesIn(parts: readonly EntryView[]): Slice[] {
  return [...chainsOf(withoutSuperseded(parts)).values()].flatMap((chain) => {
    const last = chain.at(-1)!
    const key = keyOf(last.entry)
    if (key === null) return []
    const { place, labels, summary, funding } = attributesOfEntry(last)
    return [
      {
        ...totalsOf(chain),
        ...{ key, project: place?.project, ticket: place?.ticket, labels, summary, funding, estimated: false },
      },
    ]
  })
}

/** Of two statements the later one counts, then the larger one, then the one with more slices, then always the same. */
export function laterSlices(
  one: readonly Slice[] | undefined,
  other: readonly Slice[] | undefined,
): readonly Slice[] | undefined {
  if (!one || !other) return one ?? other
  const rank = (slices: readonly Slice[]) =>
    [
      Math.max(...slices.map(({ endedAt }) => endedAt)),
      slices.reduce((sum, { counts }) => sum + totalTokens(counts), 0),
      slices.length,
    ] as const
  const [ofOne, ofOther] = [rank(one), rank(other)]
  const at = ofOne.findIndex((value, index) => value !== ofOther[index])
  if (at !== -1) return ofOne[at]! > ofOther[at]! ? one : other
  return textOfSlices(one) < textOfSlices(other) ? one : other
}

/** A slice that begins has what a later report need not repeat of the model. */
function continuingModel(recording: Recording, last: EntryView | undefined): Recording {
  const { report, identity } = recording
  if (!last || (namesAgent(report) && report.provider !== undefined)) return recording
  const agent = namesAgent(report) ? {} : { agent: last.agent }
  const provider = report.provider === undefined && last.provider !== null ? { provider: last.provider } : {}
  return {
    ...recording,
    report: { ...report, ...agent, ...provider },
    identity: {
      ...identity,
      ...('agent' in agent && { agentId: last.entry.agentId }),
      ...('provider' in provider && { providerId: last.entry.providerId }),
    },
  }
}

/** The part of another day at the same place that a person has placed or divided: the nearest earlier one, else none. */
function boundBy(parts: readonly EntryView[], { day, place }: SliceKey): EntryView | undefined {
  const placed = parts.filter(
    ({ entry }) =>
      entry.slicePlace === place && entry.sliceDay! < day && (entry.placedBy === 'manual' || isShare(entry)),
  )
  return placed.reduce<EntryView | undefined>(
    (nearest, part) => (nearest && nearest.entry.sliceDay! > part.entry.sliceDay! ? nearest : part),
    undefined,
  )
}

/** With the entry of the latest slice, and of every slice what became of it. */
function answerOf({ state, session, identity }: Recording, outcomes: readonly Recorded[]): Recorded {
  const parts = state.parts(session.id, identity.chainModelId)
  if (parts.length === 1 && outcomes.length === 1) {
    const [{ outcome }] = outcomes as [Recorded]
    return { outcome, replayed: false, entry: parts[0]!, slices: [{ id: parts[0]!.entry.uid, outcome }] }
  }
  const lasts = lastParts(withoutSuperseded(parts)).filter(({ entry }) => entry.sliceDay !== null)
  const latest = lasts.reduce<EntryView | undefined>(
    (found, part) => (found && found.entry.startedAt > part.entry.startedAt ? found : part),
    undefined,
  )
  const changes = new Map(outcomes.map(({ entry, outcome }) => [entry.entry.id, outcome]))
  const slices = lasts.map(
    ({ entry: { id, uid } }): RecordedSlice => ({ id: uid, outcome: changes.get(id) ?? 'repeated' }),
  )
  const outcome = (['created', 'updated'] as const).find((each) => [...changes.values()].includes(each)) ?? 'repeated'
  return { outcome, replayed: false, entry: latest ?? parts.at(-1)!, slices }
}
