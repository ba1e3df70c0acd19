/** A seeded random number generator: the same seed gives the same draws on every machine. */

export { Random } from '../../src/lib/random.ts'

/** Slots of an urn: enough for the rarest of a few hundred items, and a draw is one lookup instead of a search. */
const URN_SLOTS = 8_192

/** Items that are drawn by weight. */
export type Urn<Thing> = readonly Thing[]

/** An urn in which each item has slots according to its weight, at least one. */
export function urnOf<Thing>(things: readonly Thing[], weightOf: (thing: Thing, rank: number) => number): Urn<Thing> {
  const weights = things.map(weightOf)
  const whole = weights.reduce((sum, weight) => sum + weight, 0)
  return things.flatMap((thing, rank) =>
    new Array<Thing>(Math.max(1, Math.round((weights[rank]! / whole) * URN_SLOTS))).fill(thing),
  )
}

/**
 * Zipf's law: the second is drawn half as often as the first, the tenth a tenth as often. Names and work are
 * distributed like this.
 */
export function zipf(_thing: unknown, rank: number): number {
  return 1 / (rank + 1)
}
