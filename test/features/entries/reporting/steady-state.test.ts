/**
 * What recording costs the database once names, prices and rules are known, in numbers that no other load on the machine
 * changes. Whoever raises one of them makes every report slower.
 */
import { beforeEach, describe, expect, test } from 'bun:test'
import { statSync } from 'node:fs'
import { DATABASE_FILE } from '../../../../src/database/open.ts'
import { createServices } from '../../../../src/services.ts'
import { type Engine, forEachEngine, locationOf, type Open, opener } from '../../../support/databases.ts'
import { addReporter, reportBody } from '../../../support/reports.ts'

const NOW = Date.UTC(2026, 10, 20, 19, 30)

const LABELS = { repository: 'acme/web', branch: 'main' }

let session = 0
const newSession = (changes: Record<string, unknown> = {}) => {
  session += 1
  return reportBody({
    session_id: `session-${session}`,
    labels: LABELS,
    project: 'web',
    summary: 'Fixed it',
    ...changes,
  })
}

async function stage(open: Open) {
  const counts = { prepared: 0, executed: 0, built: 0, roundTrips: 0 }
  const db = await open({ counts, serving: false })
  const { entries, people } = createServices({ db, clock: { now: () => NOW } })
  const caller = await addReporter(people)
  const { reporting } = entries
  /** What happens while `work` runs. */
  async function count(work: () => Promise<unknown>) {
    const before = { ...counts }
    await work()
    return {
      prepared: counts.prepared - before.prepared,
      executed: counts.executed - before.executed,
      built: counts.built - before.built,
      roundTrips: counts.roundTrips - before.roundTrips,
    }
  }
  const report = (body = newSession()) => reporting.reportEntry(body, caller)
  const batch = (bodies: unknown[]) => reporting.reportEntries(bodies, caller)
  // Everything that is prepared once, and every name.
  const known = newSession()
  for (let time = 0; time < 2; time += 1) {
    await report()
    await batch([newSession(), newSession()])
    await report({ ...known, tokens: { input: 10 + time, output: 5 } })
  }
  return { db, count, report, batch, known }
}

forEachEngine('in the steady state', (open, engine: Engine) => {
  let staged: Awaited<ReturnType<typeof stage>>
  beforeEach(async () => {
    staged = await stage(open)
  })

  test('a report prepares and builds nothing', async () => {
    const { count, report } = staged
    const counted = await count(() => report())
    expect(counted).toMatchObject({ prepared: 0, built: 0 })
    expect(counted.executed).toBeLessThanOrEqual(engine === 'sqlite' ? 14 : 15)
  })

  test('an update of a session prepares and builds nothing', async () => {
    const { count, report, known } = staged
    const counted = await count(() => report({ ...known, tokens: { input: 50, output: 60 } }))
    expect(counted).toMatchObject({ prepared: 0, built: 0 })
    expect(counted.executed).toBeLessThanOrEqual(engine === 'sqlite' ? 14 : 15)
  })

  test('each report more in a set costs its own rows only', async () => {
    const { count, batch } = staged
    const few = await count(() => batch(Array.from({ length: 10 }, () => newSession())))
    const many = await count(() => batch(Array.from({ length: 110 }, () => newSession())))
    expect([few, many]).toMatchObject([
      { prepared: 0, built: 0 },
      { prepared: 0, built: 0 },
    ])
    // On SQLite: the query for its session, the two rows, and the event.
    expect(many.executed - few.executed).toBe(engine === 'sqlite' ? 400 : 0)
    if (engine === 'postgres') expect(many.roundTrips).toBeLessThanOrEqual(6)
  })

  test('updates in a set cost their own rows only', async () => {
    const { count, batch } = staged
    const sessions = Array.from({ length: 110 }, () => newSession())
    await batch(sessions)
    const grown = (output: number, number: number) =>
      sessions.slice(0, number).map((body) => ({ ...body, tokens: { input: 50, output } }))
    await batch(grown(6, 10))
    const few = await count(() => batch(grown(7, 10)))
    const many = await count(() => batch(grown(8, 110)))
    expect([few, many]).toMatchObject([
      { prepared: 0, built: 0 },
      { prepared: 0, built: 0 },
    ])
    // On SQLite: the queries for its session and its part, the update, and the event.
    expect(many.executed - few.executed).toBe(engine === 'sqlite' ? 400 : 0)
    if (engine === 'postgres') expect(many.roundTrips).toBeLessThanOrEqual(7)
  })
})

describe('in the steady state, on SQLite', () => {
  const open = opener('sqlite')

  test('an entry of a batch adds at most 3 kB to the log', async () => {
    const { db, batch } = await stage(open)
    const log = `${locationOf(db).dataDir}/${DATABASE_FILE}-wal`
    const before = statSync(log).size
    await batch(Array.from({ length: 200 }, () => newSession()))
    expect((statSync(log).size - before) / 200).toBeLessThan(3_000)
  })
})
