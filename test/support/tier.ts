/**
 * Which tests run when. The default tier proves every rule once; the long tier repeats it on the other engine, by process,
 * as every role and with more random input. A file that only the long tier runs is called `*.long.test.ts`.
 */
export const TIERS = ['default', 'long'] as const
export type Tier = (typeof TIERS)[number]

/** The environment variable with the tier of a run; without it, tests are those of the default tier. */
export const TIER_OF_TESTS = 'TALLY_TEST_TIER'

export const isLong = process.env[TIER_OF_TESTS] === 'long'

/** How often a property is tried, or a load repeated: a tenth in the default tier, unless the test needs another number. */
export function runs(inLongTier: number, byDefault = Math.ceil(inLongTier / 10)): number {
  return isLong ? inLongTier : byDefault
}
