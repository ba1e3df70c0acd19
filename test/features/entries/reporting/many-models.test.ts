import { expect, spyOn, test } from 'bun:test'
import { TALLY } from '../../../../src/access/actor.ts'
import type { CallerOf } from '../../../../src/access/caller.ts'
import type { Problem } from '../../../../src/errors.ts'
import { readReport } from '../../../../src/features/entries/reporting/report.ts'
import { RecordingState } from '../../../../src/features/entries/reporting/state.ts'
import { createServices } from '../../../../src/services.ts'
import { forEachEngine } from '../../../support/databases.ts'
import { reportBody } from '../../../support/reports.ts'

const NOW = Date.UTC(2026, 10, 20, 19, 30)

forEachEngine('a session with thousands of models', (open, engine) => {
  async function stage() {
    const counts = { prepared: 0, executed: 0, built: 0, roundTrips: 0 }
    const { people, entries } = createServices({ db: await open({ counts }), clock: { now: () => NOW } })
    const callerOf = async (name: string) => {
      const user = `${name}@example.com`
      await people.addUser({ email: user, name, role: 'member' }, TALLY)
      const { secret } = await people.createToken({ kind: 'svc', user, name: 'test' }, TALLY)
      return (await people.authenticate(`Bearer ${secret}`)) as CallerOf<'service'>
    }
    const personCalled = async (name: string) => {
      const caller = await callerOf(name)
      const report = (session_id: string, models: string[], hour: number) =>
        entries.reporting.reportEntries(
          models.map((model, at) => ({
            agent_harness: 'ci',
            agent_name: 'build',
            model,
            started_at: `2026-11-20T${hour}:00:00Z`,
            ended_at: `2026-11-20T${hour}:30:00Z`,
            tokens: { input: 1_000 * hour + at, output: 1 },
            session_id,
          })),
          caller,
        )
      const tell = (source: 'log', session_id: string) =>
        entries.reporting.recordFrom(
          source,
          readReport(
            reportBody({ agent_harness: 'ci', model: 'm-0', session_id, tokens: { input: 1, output: 1 } }),
            NOW,
          ),
          caller,
        )
      return Object.assign(report, { tell })
    }
    return { personCalled, counts }
  }

  const named = (prefix: string, count: number) => Array.from({ length: count }, (_, at) => `${prefix}-${at}`)

  for (const id of ['run-4711', '7abded9e-af37-492b-8216-95394ad33034']) {
    test(`does not slow down another person who reports the session id ${id}`, async () => {
      const { personCalled, counts } = await stage()
      const mallory = await personCalled('mallory')
      for (let batch = 0; batch < 5; batch += 1) await mallory(id, named(`m${batch}`, 1_000), 10)
      const ada = await personCalled('ada')
      /** The number of statements, and of times that all models of Mallory's session were gone through. */
      const counted = async (session: string) => {
        const before = counts.executed
        const chains = spyOn(RecordingState.prototype, 'chains')
        try {
          const results = await ada(session, named('ada', 200), 14)
          expect(results.every(({ outcome }) => outcome === 'created')).toBe(true)
          const passes = chains.mock.results.filter(({ value }) => (value as Map<number, unknown>).size >= 5_000).length
          return { executed: counts.executed - before, passes }
        } finally {
          chains.mockRestore()
        }
      }
      await counted('run-1')
      const alone = await counted('run-2')
      const beside = await counted(id)
      // Its entries are read once, not for each report: on SQLite, a report's own statement reads those of its own model.
      expect(beside.executed - alone.executed).toBeLessThanOrEqual(engine === 'sqlite' ? 210 : 10)
      expect(beside.passes).toBeLessThanOrEqual(1)
    })
  }

  test('has at most 20 of them if it has several sources', async () => {
    const { personCalled } = await stage()
    const ada = await personCalled('ada')
    const codesOf = (results: Awaited<ReturnType<typeof ada>>) =>
      results.map((result) => ('error' in result ? (result.error as Problem).code : result.outcome))
    // A source that comes to more models is refused, and the first one goes on.
    await ada('run-1', named('m', 21), 10)
    await expect(ada.tell('log', 'run-1')).rejects.toMatchObject({ code: 'session_too_large' })
    expect(codesOf(await ada('run-1', named('n', 2), 14))).toEqual(['created', 'created'])
    // So is a model that would be one too many; those that are known go on.
    await ada('run-2', named('m', 20), 10)
    await ada.tell('log', 'run-2')
    expect(codesOf(await ada('run-2', ['m-0', 'm-19', 'm-20'], 14))).toEqual([
      'updated',
      'updated',
      'session_too_large',
    ])
  })
})
