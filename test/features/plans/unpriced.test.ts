/** Entries without a price under an allowance in dollars: what they are charged is unknown, in lists and in sums, until they have one. */
import { expect, test } from 'bun:test'
import { startApp } from '../../support/app.ts'
import { forEachEngine } from '../../support/databases.ts'
import { reportBody } from '../../support/reports.ts'

const NOW = Date.parse('2026-12-20T12:00:00Z')
const OCTOBER = 'starting_at=2026-10-01&ending_at=2026-11-01'

forEachEngine('entries without a price under an allowance', (open) => {
  async function start(terms: object) {
    const db = await open({ serving: true })
    const app = await startApp({ db, clock: { now: () => NOW } })
    const admin = await app.session('admin')
    const call = async (operation: string, json?: object) => {
      const answer = await app.call(operation.replace(' ', ' /api/v1'), { session: admin, ...(json && { json }) })
      expect([answer.status < 300, answer.json?.detail]).toEqual([true, undefined])
      return answer.json
    }
    const { json: me } = await app.call('GET /api/v1/me', { session: admin })
    const token = await app.token('svc', me.person.id)
    await call('POST /plans', {
      vendor: 'V',
      product: 'Max',
      name: 'Max',
      fee: 10,
      from: '2026-10-01',
      weight: 'tokens',
      ...terms,
    })
    const report = async (session_id: string, reported_cost?: number) => {
      const times = { started_at: '2026-10-20T10:00:00Z', ended_at: '2026-10-20T10:20:00Z' }
      const usage = { model: 'house', tokens: { input: 1_000, output: 0 }, ...(reported_cost && { reported_cost }) }
      const json = { ...reportBody({ session_id, project: 'WEB' }), ...times, ...usage }
      const sent = await app.call('POST /api/v1/token-entries', { token, json })
      expect(sent.status).toBeLessThan(300)
    }
    const settle = async () => {
      await app.services.entries.funding.decideOwed()
      const totals = app.services.jobs.find(({ options }) => options.name === 'totals')!
      const { staleHours } = db.read.tables
      do {
        await totals.options.run({ signal: new AbortController().signal, pause() {} } as never)
        await app.services.funding.calculateOwed()
      } while ((await db.read.select().from(staleHours)).length > 0)
    }
    /** Number of entries, of unknown ones, and the cost: of the report, and the same of the list. */
    const sums = async (basis: string) => {
      await settle()
      const { totals } = await call(`GET /reports/usage?${OCTOBER}&bucket_width=all&basis=${basis}`)
      const { data } = await call(`GET /token-entries?${OCTOBER}&basis=${basis}`)
      const costs = data.flatMap(({ cost }: { cost: number | null }) => cost ?? [])
      const unknown = (await call(`GET /token-entries?${OCTOBER}&unknown_cost=${basis}`)).data
      const found = [totals.entries, totals.unpriced_entries, totals.cost]
      const sum = costs.length === 0 ? null : costs.reduce((one: number, other: number) => one + other, 0)
      expect([data.length, data.length - costs.length, sum]).toEqual(found)
      expect(unknown).toHaveLength(totals.unpriced_entries)
      return found
    }
    /** What is allocated of the fee of October, and the cost of the list that it leads to. */
    const allocated = async () => {
      await settle()
      const period = await call('GET /plans/Max/periods/2026-10-01')
      const { data } = await call(`GET ${period.entries_url.replace('/api/v1', '')}`)
      const cost = data.reduce((sum: number, { cost }: { cost: number | null }) => sum + (cost ?? 0), 0)
      expect(cost).toBe(period.entries_cost)
      return [period.allocated, cost, period.charge, period.corrections]
    }
    return { call, report, settle, sums, allocated }
  }
  const ALLOWANCE = { allowance: 20, allowance_unit: 'usd', overage_price: 1 }

  test('have an unknown charge, until they have one', async () => {
    const { call, report, sums, allocated } = await start(ALLOWANCE)
    await report('one')
    await report('two', 30)
    expect(await sums('marginal')).toEqual([2, 1, 10])
    expect(await sums('allocated')).toEqual([2, 1, 15])
    expect(await allocated()).toEqual([10, 15, 10, 0])
    await report('one', 4)
    expect(await sums('marginal')).toEqual([2, 0, 14])
    expect(await sums('allocated')).toEqual([2, 0, 24])
    expect(await allocated()).toEqual([10, 24, 14, 0])

    // Without a charge beyond the allowance, and with it again.
    const change = (terms: object) => call('PATCH /plans/Max', { from: '2026-10-01', ...terms })
    await report('three')
    expect(await sums('marginal')).toEqual([3, 1, 14])
    await change({ overage_price: null })
    expect(await sums('marginal')).toEqual([3, 0, 0])
    await change({ overage_price: 1 })
    expect(await sums('marginal')).toEqual([3, 1, 14])
    await change({ allowance: 1_000, allowance_unit: 'tokens', overage_price: 0.001 })
    expect(await sums('marginal')).toEqual([3, 0, 2])
  })

  test('stay unknown when the period is closed, and a correction settles what they cost', async () => {
    const { call, report, sums, settle, allocated } = await start(ALLOWANCE)
    await report('one')
    await report('two', 30)
    await settle()
    await call('POST /plans/Max/periods/2026-10-01/close', { leave_unpriced: true })
    expect(await sums('marginal')).toEqual([2, 1, 10])
    await report('one', 4)
    expect(await sums('marginal')).toEqual([2, 0, 10])
    await report('late', 30)
    await call('POST /plans/Max/periods/2026-11-01/close', {})
    // A third of the fee went to the late entry: by corrections alone, which sum to 0 here.
    expect(await allocated()).toEqual([10, 20, 10, 0])
    const { data } = await call('GET /token-entries?correction=true&basis=marginal')
    expect(data.map(({ cost }: { cost: number }) => cost)).toEqual([34])
  })
})
