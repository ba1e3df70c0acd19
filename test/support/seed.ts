/** Loaded before every file of tests: random input follows from one number, which `scripts/test` prints. */
import fc from 'fast-check'

/** The environment variable with the seed of a run; without it, each property draws its own. */
export const SEED_OF_TESTS = 'TALLY_TEST_SEED'

const seed = process.env[SEED_OF_TESTS]
if (seed !== undefined) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(seed) })
