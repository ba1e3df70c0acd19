/** The engines that tests run on. */
export const ENGINES = ['sqlite', 'postgres'] as const
export type Engine = (typeof ENGINES)[number]

/** The environment variable with the only engine of a run. */
export const ENGINE_OF_TESTS = 'TALLY_TEST_ENGINE'

/** Set for tests on PostgreSQL with partitioned entries. */
export const PARTITIONED = 'TALLY_TEST_PARTITIONED'

/** Where {@link ENGINE_OF_TESTS} says nothing, tests of the database run on both, and all others on SQLite. */
export const onlyEngine = ENGINES.find((engine) => engine === process.env[ENGINE_OF_TESTS])
export const testEngine: Engine = onlyEngine ?? 'sqlite'
