/** The engines that tests run on. */
export const ENGINES = ['sqlite', 'postgres'] as const
export type Engine = (typeof ENGINES)[number]

/** The environment variable with the engine of a run. */
export const ENGINE_OF_TESTS = 'TALLY_TEST_ENGINE'

/** Set for tests on PostgreSQL with partitioned entries. */
export const PARTITIONED = 'TALLY_TEST_PARTITIONED'

/** What tests open databases of, except those of one engine alone. */
export const testEngine: Engine = ENGINES.find((engine) => engine === process.env[ENGINE_OF_TESTS]) ?? 'sqlite'
