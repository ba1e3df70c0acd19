import { expect, test } from 'bun:test'
import { TALLY } from '../../../../src/access/actor.ts'
import type { CallerOf } from '../../../../src/access/caller.ts'
import { readReport } from '../../../../src/features/entries/reporting/report.ts'
import { createServices } from '../../../../src/services.ts'
import { forEachEngine } from '../../../support/databases.ts'
import { reportBody } from '../../../support/reports.ts'

const NOW = Date.UTC(2026, 10, 20, 19, 30)

forEachEngine('a session with thousands of models', (open) => {
  async function stage() {
    const { people, entries } = createServices({ db: await open(), clock: { now: () => NOW } })
    const callerOf = async (name: string) => {
      const user = `${name}@example.com`
      await people.addUser({ email: user, name, role: 'member' }, TALLY)
      const { secret } = await people.createToken({ kind: 'svc', user, name: 'test' }, TALLY)
      return (await people.authenticate(`Bearer ${secret}`)) as CallerOf<'service'>
    }
    return async (name: string) => {
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
  }

  const named = (prefix: string, count: number) => Array.from({ length: count }, (_, at) => `${prefix}-${at}`)

  for (const id of ['run-4711', '7abded9e-af37-492b-8216-95394ad33034']) {
    test(`does not slow down another person who reports the session id ${id}`, async () => {
      const personCalled = await stage()
      const mallory = await personCalled('mallory')
      for (let batch = 0; batch < 5; batch += 1) await mallory(id, named(`m${batch}`, 1_000), 10)
      const ada = await personCalled('ada')
      const timed = async (session: string) => {
        const start = performance.now()
        const results = await ada(session, named('ada', 200), 14)
        expect(results.every(({ outcome }) => outcome === 'created')).toBe(true)
        return performance.now() - start
      }
      await timed('run-1')
      const aloneMs = await timed('run-2')
      // Its entries are read once, not for each report.
      expect(await timed(id)).toBeLessThan(20 * aloneMs + 1_000)
    })
  }

  test('is merged from two sources in the time that each takes', async () => {
    const personCalled = await stage()
    const ada = await personCalled('ada')
    await ada('run-1', named('m', 1_000), 10)
    await ada.tell('log', 'run-1')
    const start = performance.now()
    await ada('run-1', named('m', 30), 14)
    expect(performance.now() - start).toBeLessThan(2_000)
  })
})
