/** What an anomaly cost is what the entries of its list cost together. */
import { expect, test } from 'bun:test'
import { parseDecimal } from '../../../src/lib/money.ts'
import { startApp } from '../../support/app.ts'
import { forEachEngine } from '../../support/databases.ts'
import { reportBody } from '../../support/reports.ts'

forEachEngine('an anomaly', (open) => {
  test('lists the entries that add up to its cost, or is an entry of this cost', async () => {
    const app = await startApp({ db: await open(), clock: { now: () => Date.UTC(2026, 10, 24, 12) } })
    try {
      const session = await app.session('admin')
      await app.call('PATCH /api/v1/settings', { session, json: { time_zone: 'America/New_York' } })
      const report = async (started_at: string, { token, ...changes }: { token: string } & Record<string, unknown>) => {
        const times = { started_at, ended_at: started_at, session_id: crypto.randomUUID() }
        const sent = reportBody({ ...times, ...changes })
        const { status, json } = await app.call('POST /api/v1/token-entries', { token, json: sent })
        expect(status).toBe(201)
        return json.id as string
      }
      const [ada, grace] = [await app.token('svc'), await app.token('svc')]
      for (let day = 2; day < 22; day += 1) {
        const started = `2026-11-${String(day).padStart(2, '0')}T18:00:00Z`
        for (const token of [ada, grace]) await report(started, { token, reported_cost: 1 + (day % 3) })
      }
      // Monday, 23 November, is from 05:00 to 05:00 UTC there.
      await report('2026-11-23T04:59:59.999Z', { token: ada, reported_cost: 3 })
      await report('2026-11-23T05:00:00Z', { token: ada, reported_cost: 40.000000001 })
      await report('2026-11-24T04:59:59.999Z', { token: ada, reported_cost: 90.123456789 })
      await report('2026-11-24T05:00:00Z', { token: ada, reported_cost: 3 })
      await report('2026-11-23T12:00:00Z', { token: ada, model: 'no-such-model' })
      const voided = await report('2026-11-23T12:00:00Z', { token: ada, reported_cost: 500 })
      const json = { reason: 'A test.' }
      expect((await app.call(`POST /api/v1/token-entries/${voided}/void`, { session, json })).status).toBe(200)
      await report('2026-11-23T15:00:00Z', { token: grace, reported_cost: 80.2 })
      await app.services.anomalies.look()

      const { data } = (await app.call('GET /api/v1/events?types=usage.*', { session })).json
      const found = []
      for (const { object, after } of data) {
        const path = after.list ?? `/api/v1/token-entries/${object.id}`
        const { text, json: listed } = await app.call(`GET ${path}`, { session })
        // The digits, as they are in the response.
        const costs = [...text.matchAll(/"cost":([\d.e-]+)/g)].map(([, digits]) => parseDecimal(digits!, 9)!)
        const total = costs.reduce((sum, cost) => sum + cost, 0n)
        found.push([after.subject, after.cost, listed.data?.length ?? 1])
        expect(total).toBe(parseDecimal(JSON.stringify(after.cost), 9)!)
      }
      expect(found).toEqual([
        ['day', 210.32345679, 4],
        ['person', 130.12345679, 3],
        ['session', 90.123456789, 1],
        ['person', 80.2, 1],
        ['session', 80.2, 1],
        ['session', 40.000000001, 1],
      ])
    } finally {
      await app.close()
    }
  })
})
