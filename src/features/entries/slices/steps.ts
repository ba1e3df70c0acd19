/**
 * The changes that make the parts of a session and model sum to its slices, or to its totals if it has none
 * (docs/design/concepts.md, "Slices"). Pure.
 *
 * Parts that are fixed never change. Each covers its own slice; what it has more than that covers the earliest usage
 * that no other fixed part covers, count by count. Only if the sum of the fixed parts is more than the session's total is
 * there no such change.
 */
import { COUNT_KINDS, usageDetails, withoutRedundant } from '../../../shared/usage.ts'
import { difference, firstNegative, isNothing, type Part, type Totals, type Usage } from '../totals.ts'
import { COST, commonThresholds, type Quantities, quantitiesOf, REQUESTS, TOOL, usageFrom } from './quantities.ts'
import { isSameKey, keyText, type SliceKey } from './slice.ts'

/** A part of a slice, or of a session without slices: then its key is null. */
export interface SlicedPart extends Part {
  key: SliceKey | null
}

/** The usage that a slice has, or a session without slices. */
export interface Target extends Totals {
  key: SliceKey | null
  /** Its parts stay as they are, whatever else it has. */
  isComplete?: boolean
}

export type Step<Of extends Target = Target> =
  /** A part that is not fixed gets this usage, and belongs to this slice from now on. */
  | { kind: 'set'; part: number; target: Of; usage: Totals }
  /** A new part; `after` is the last one of the slice. */
  | { kind: 'append'; after: number | undefined; target: Of; usage: Totals }
  /** A part that is not fixed falls to zero, because nothing of its slice is left. */
  | { kind: 'supersede'; part: number }

/**
 * The steps in the order of the targets, which are sorted, the earliest first. Parts are in their order. Returns the name
 * of the count that would shrink if the fixed parts sum to more than the targets.
 */
export function stepsTo<Of extends Target>(
  parts: readonly SlicedPart[],
  targets: readonly Of[],
): Step<Of>[] | { shrunk: string } {
  const simple = simpleSteps(parts, targets)
  if (simple) return simple
  const chains = Map.groupBy(
    parts.map((part, at) => ({ part, at })),
    ({ part }) => keyText(part.key),
  )
  const own = targets.map(({ key }) => chains.get(keyText(key)) ?? [])
  const complete = new Set(targets.flatMap(({ isComplete }, at) => (isComplete ? own[at]!.map(({ at }) => at) : [])))
  const isSliced = targets.some(({ key }) => key !== null)
  // Once there are slices, nothing goes on from a part without one.
  const isLast = ({ part, at }: Placed) =>
    (isSliced && part.key === null) || at === chains.get(keyText(part.key))!.at(-1)!.at
  const isFixed = (each: Placed) => each.part.locked || complete.has(each.at) || !isLast(each)
  const fixed = own.map((chain) => chain.filter(isFixed).map(({ part }) => part))
  const known = new Set(own.flat())
  const foreign = [...chains.values()].flat().filter((each) => !known.has(each))
  const knowTools = targets.some(({ details }) => details?.tools != null)
  const left = deducted(
    targets.map((target, at) => difference(knowTools ? listingTools(target, fixed[at]!) : target, fixed[at]!)),
    foreign.filter(isFixed).map(({ part }) => part),
    knowTools,
  )
  if ('shrunk' in left) return left

  const steps: Step<Of>[] = []
  const spare = foreign.filter((each) => each.part.key === null && !isFixed(each))
  const isEmpty = !parts.some((part, at) => isFixed({ part, at })) && left.every((usage) => isNothing(usage))
  for (const [at, target] of targets.entries()) {
    const last = own[at]!.at(-1)
    const usage = left[at]!
    if (target.isComplete) continue
    if (isNothing(usage) && target.key !== null && !(isEmpty && at === 0)) continue
    const open = last ? (isFixed(last) ? undefined : last) : spare.shift()
    if (open) {
      const startedAt = fixed[at]!.length > 0 ? open.part.startedAt : target.startedAt
      steps.push({ kind: 'set', part: open.at, target, usage: spanning(target, usage, startedAt) })
    } else if (!isNothing(usage) || isEmpty) {
      const startedAt = last ? within(last.part.endedAt, target) : target.startedAt
      steps.push({ kind: 'append', after: last?.at, target, usage: spanning(target, usage, startedAt) })
    }
  }
  const used = new Set(steps.flatMap((step) => (step.kind === 'set' ? step.part : [])))
  for (const [at, part] of parts.entries()) {
    if (!used.has(at) && !isFixed({ part, at })) steps.push({ kind: 'supersede', part: at })
  }
  return steps
}

/** Most reports begin a session, or go on with its only part: nothing that is fixed has to be deducted. */
function simpleSteps<Of extends Target>(parts: readonly SlicedPart[], targets: readonly Of[]): Step<Of>[] | undefined {
  const [part] = parts
  const [target] = targets
  if (parts.length > 1 || !targets.every(isSound)) return undefined
  if (part) {
    if (targets.length !== 1 || part.locked || target!.isComplete || !isSameKey(part.key, target!.key)) return undefined
    return [{ kind: 'set', part: 0, target: target!, usage: spanning(target!, target!, target!.startedAt) }]
  }
  const used = targets.filter((each) => !isNothing(each))
  return (used.length > 0 ? used : targets.slice(0, 1)).map((each) => ({
    ...{ kind: 'append', after: undefined, target: each, usage: spanning(each, each, each.startedAt) },
  }))
}

interface Placed {
  part: SlicedPart
  at: number
}

/** A slice without tools says that none was used if another one lists some; else nothing is known of them. */
function listingTools<Of extends Totals>(target: Of, fixed: readonly Part[]): Of {
  if (target.details?.tools || !fixed.some(({ details }) => details?.tools)) return target
  return { ...target, details: usageDetails({ ...target.details, tools: {} }) }
}

function within(moment: number, { startedAt, endedAt }: Totals): number {
  return Math.min(Math.max(moment, startedAt), Math.max(startedAt, endedAt))
}

function spanning({ endedAt }: Totals, usage: Usage, startedAt: number): Totals {
  return { ...usage, startedAt, endedAt: Math.max(endedAt, startedAt) }
}

/** What is left of the targets after what is fixed in other slices, and what is missing in their own. */
function deducted(left: readonly Totals[], fixed: readonly Part[], knowTools: boolean): Usage[] | { shrunk: string } {
  if (fixed.length === 0 && left.every(isSound)) return [...left]
  const thresholds = commonThresholds([...left, ...fixed])
  const quantities = left.map((usage) => quantitiesOf(usage, thresholds))
  const excess = sumOf(fixed.map((part) => quantitiesOf({ ...part, reportedCostNanos: part.costNanos }, thresholds)))
  for (const each of quantities) {
    for (const [name, amount] of each) {
      if (amount >= 0n) continue
      add(excess, name, -amount)
      each.set(name, 0n)
    }
  }
  const shrunk = deduct(quantities, excess, { thresholds, knowTools })
  if (shrunk !== undefined) return { shrunk }
  return quantities.map((each, at) => {
    const { details } = left[at]!
    const usage = usageFrom(each, thresholds, details)
    const above = usage.details?.requestsAbove
    return above ? { ...usage, details: { ...usage.details!, requestsAbove: withoutRedundant(above) } } : usage
  })
}

/** Whether no count is negative, and none from longer requests is more than the one that includes it. */
function isSound(usage: Totals): boolean {
  if (firstNegative(usage) !== undefined || (usage.activeMs ?? 0) < 0) return false
  let { counts: outer } = usage
  for (const { counts } of usage.details?.requestsAbove ?? []) {
    if (COUNT_KINDS.some((kind) => counts[kind] > outer[kind])) return false
    outer = counts
  }
  return true
}

/** Deducts each quantity, the earliest slices first. Returns the name of what the slices have too little of. */
function deduct(
  slices: readonly Quantities[],
  excess: Quantities,
  { thresholds, knowTools }: { thresholds: readonly number[]; knowTools: boolean },
): string | undefined {
  const take = (name: string, amount: bigint): bigint => {
    let missing = amount
    for (const slice of slices) {
      const taken = lesser(slice.get(name) ?? 0n, missing)
      if (taken === 0n) continue
      slice.set(name, slice.get(name)! - taken)
      missing -= taken
    }
    return missing
  }
  const isKnown = (name: string) =>
    name.startsWith(TOOL) ? knowTools : (name === REQUESTS || name === COST) && slices.every((slice) => slice.has(name))
  for (const kind of COUNT_KINDS) {
    let missing = 0n
    // What is missing of shorter requests is taken from longer ones.
    for (const bound of [0, ...thresholds])
      missing = take(`${kind} ${bound}`, missing + (excess.get(`${kind} ${bound}`) ?? 0n))
    if (missing > 0n) return kind
  }
  for (const [name, amount] of excess) {
    if (COUNT_KINDS.some((kind) => name.startsWith(`${kind} `))) continue
    const missing = take(name, amount)
    if (missing > 0n && isKnown(name)) return name.startsWith(TOOL) ? `uses of ${name.slice(TOOL.length)}` : name
  }
  return undefined
}

function sumOf(all: readonly Quantities[]): Quantities {
  const sum: Quantities = new Map()
  for (const each of all) for (const [name, amount] of each) add(sum, name, amount)
  return sum
}

function add(sum: Quantities, name: string, amount: bigint): void {
  sum.set(name, (sum.get(name) ?? 0n) + amount)
}

function lesser(one: bigint, other: bigint): bigint {
  return one < other ? one : other
}
