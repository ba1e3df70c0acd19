/**
 * Random scenarios of reports, telemetry and decisions (`test/support/recording-acts.ts`), played on two databases,
 * which must end up with the same entries, sessions, histories and answers. TALLY_TEST_RECORDING_RUNS is the number of
 * scenarios per test.
 */
import { expect, test } from 'bun:test'
import { forEachEngine, opener, startPostgres } from '../../../support/databases.ts'
import { type StageOptions, stageOf } from '../../../support/recording.ts'
import { scenarioOf } from '../../../support/recording-acts.ts'
import { dumpOf } from '../../../support/recording-dump.ts'
import { runs } from '../../../support/tier.ts'

const RUNS = Number(process.env.TALLY_TEST_RECORDING_RUNS ?? runs(6, 2))
const ACTS = 20

interface Playing extends StageOptions {
  /** See `ScenarioOptions`. */
  independent: boolean
}

/** What the scenarios answer and leave, one after the other on one database. */
async function playedOn({ independent, ...stage }: Playing) {
  const { services, carryOut } = await stageOf(stage)
  const answers: unknown[] = []
  for (let seed = 1; seed <= RUNS; seed += 1) {
    for (const act of scenarioOf(seed, { acts: ACTS, independent })) {
      answers.push({ seed, act, answer: await carryOut(act) })
    }
    // What a price that an act adds owes to entries without a cost, as a server does.
    await services.entries.valuation.valueOwed()
    const findings = [...(await services.entries.verify()), ...(await services.telemetry.verify())]
    expect({ seed, findings }).toEqual({ seed, findings: [] })
  }
  const { tables, spelled } = await dumpOf(stage.db)
  return { answers: spelled(answers) as unknown[], tables }
}

/** Compares in steps, so that a failure shows the first act with another answer. */
async function compare(one: Playing, other: Playing): Promise<void> {
  const [first, second] = [await playedOn(one), await playedOn(other)]
  for (const [position, expected] of first.answers.entries()) expect(second.answers[position]).toEqual(expected)
  for (const [table, rows] of Object.entries(first.tables)) {
    expect({ table, rows: second.tables[table] }).toEqual({ table, rows })
  }
}

forEachEngine('reports that are sent at the same moment', (open, engine) => {
  test('are recorded as if they were sent one after the other', async () => {
    // Transactions of PostgreSQL have no order.
    const independent = engine === 'postgres'
    await compare({ db: await open(), together: false, independent }, { db: await open(), together: true, independent })
  }, 600_000)
})

const [openSqlite, openPostgres] = [opener('sqlite'), opener('postgres')]

test('SQLite and PostgreSQL record the same', async () => {
  await startPostgres()
  await compare(
    { db: await openSqlite(), together: false, independent: false },
    { db: await openPostgres(), together: false, independent: false },
  )
}, 600_000)
