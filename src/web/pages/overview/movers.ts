/** The groups that changed the most since the previous period. Pure. */
import { type Dimension, keyOf } from '../../parts/usage/dimensions.ts'
import { MEASURES } from '../../parts/usage/measures.ts'
import type { Result } from '../../parts/usage/usage.ts'
import type { Measure } from './groups.ts'

export interface Mover {
  /** Of the period, or of the one before if it had no usage in this one. */
  group: Result
  now: number
  before: number
  change: number
  /** Of all changes in the same direction, from 0 to 1. */
  share: number
}

export interface Movers {
  up: Mover[]
  down: Mover[]
  /** The number of groups whose change is unknown, because the cost in one of the periods is. */
  unknown: number
}

/** The number of groups in each direction. */
const SHOWN = 5

const amountOf = (result: Result | undefined, measure: Measure): number | null =>
  result ? MEASURES[measure].of(result) : 0

export function moversOf(
  now: readonly Result[],
  before: readonly Result[],
  { dimension, measure }: { dimension: Dimension; measure: Measure },
): Movers {
  const earlier = new Map(before.map((result) => [keyOf(result, dimension), result]))
  const known = new Set(now.map((result) => keyOf(result, dimension)))
  const gone = before.filter((result) => !known.has(keyOf(result, dimension)))
  const pairs = [
    ...now.map((result) => ({ group: result, now: result, before: earlier.get(keyOf(result, dimension)) })),
    ...gone.map((result) => ({ group: result, now: undefined, before: result })),
  ].map((pair) => ({ group: pair.group, now: amountOf(pair.now, measure), before: amountOf(pair.before, measure) }))
  const changes = pairs.flatMap(({ group, now, before }) =>
    now === null || before === null ? [] : [{ group, now, before, change: now - before }],
  )
  const largest = (sign: 1 | -1): Mover[] => {
    const moved = changes
      .filter(({ change }) => change * sign > 0)
      .toSorted((one, other) => sign * (other.change - one.change))
    const all = moved.reduce((sum, { change }) => sum + change, 0)
    return moved.slice(0, SHOWN).map((mover) => ({ ...mover, share: mover.change / all }))
  }
  return { up: largest(1), down: largest(-1), unknown: pairs.length - changes.length }
}
