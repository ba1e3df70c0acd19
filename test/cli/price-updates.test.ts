import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { CommandLine, type RunningServer } from '../support/command-line.ts'
import { reportBody } from '../support/reports.ts'

let tally: CommandLine
let server: RunningServer
let table = ''
let source: ReturnType<typeof Bun.serve>

const tableOf = (input: number) => `provider,model,input,output\nopenai,gpt-99,${input},2\n`

beforeAll(async () => {
  source = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response(table) })
  table = tableOf(1)
  tally = await CommandLine.make()
  await tally.addUser()
  const from = `http://127.0.0.1:${source.port}/prices.csv`
  server = await tally.serve(['--prices-from', from, '--prices-every', '24h'])
})
afterAll(async () => {
  await tally.remove()
  await source.stop(true)
})

const priceOf = async (model: string) => (await tally.json(['prices', 'resolve', model])).price?.input

describe('updates of prices', () => {
  test('are made by a server with a schedule, which metrics and the doctor show', async () => {
    while ((await priceOf('gpt-99')) !== 1) await Bun.sleep(50)
    const read = async () => (await fetch(`${server.url}/metrics`)).text()
    let metrics = await read()
    // The success is recorded after the prices.
    while (metrics.includes('tally_last_price_update_timestamp_seconds 0\n')) metrics = await read()
    expect(metrics).toMatch(/\ntally_last_price_update_timestamp_seconds 1\.?\d{9}/)
    expect(metrics).toContain('\ntally_price_update_failures 0\n')
    const { stdout } = await tally.run(['doctor'])
    expect(stdout).toMatch(/ok +prices +prices as of \d{4}-\d\d-\d\d, updated 2/)
  })

  test('on request show models in use that change, are listed, and undone until a list value is from them', async () => {
    const { token } = await tally.createToken()
    const report = async () => {
      const now = new Date().toISOString()
      const body = reportBody({ model: 'gpt-99', started_at: now, ended_at: now })
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
      await fetch(`${server.url}/api/v1/token-entries`, { method: 'POST', headers, body: JSON.stringify(body) })
    }
    await report()
    const place = `http://127.0.0.1:${source.port}/prices.csv`
    table = tableOf(1.5)
    const { stdout } = await tally.done(['prices', 'update', '--from', place])
    expect(stdout).toMatch(/Models in use whose price changes \(1\):[\s\S]*gpt-99 .*\+50%/)
    const undo = /tally prices undo (pld_\w+)/.exec(stdout)![1]!
    expect(await priceOf('gpt-99')).toBe(1.5)
    expect((await tally.done(['prices', 'undo', undo, '--yes'])).stdout).toContain('The previous prices apply again.')
    expect(await priceOf('gpt-99')).toBe(1)
    expect((await tally.done(['prices', 'loads'])).stdout).toMatch(new RegExp(`prices\\.csv .* ${undo}`))
    const { code, stderr } = await tally.run(['prices', 'undo', '--yes'])
    expect([code, stderr]).toEqual([1, expect.stringContaining('1 entry has a list value from this load')])
  })

  test('that fail are shown by the doctor', async () => {
    table = '{"prices": ['
    const { code, stderr } = await tally.run(['prices', 'update', '--from', `http://127.0.0.1:${source.port}/p`])
    expect([code, stderr]).toEqual([1, expect.stringContaining('it is not valid JSON')])
    const { stdout } = await tally.run(['doctor'])
    expect(stdout).toMatch(/WARNING +prices .*the last update failed: .*not valid JSON/)
  })

  test('need a source, and a schedule one as well', async () => {
    expect((await tally.run(['prices', 'update'])).stderr).toContain('TALLY_PRICES_FROM')
    for (const [args, message] of [
      [['--prices-every', '24h'], 'needs a source'],
      [['--prices-every', '1min', '--prices-from', 'x.csv'], 'Use 1h or longer'],
      [['--prices-from', 'http://example.com/x'], 'http:// only on this machine'],
    ] as const) {
      const { code, stderr } = await tally.run(['serve', ...args])
      expect([code, stderr]).toEqual([2, expect.stringContaining(message)])
    }
  })
})

test('a check lists models in use with another price, and can fail for it', async () => {
  const file = join(tally.folder, 'other.csv')
  await Bun.write(file, tableOf(3))
  const { stdout } = await tally.done(['prices', 'check', file])
  expect(stdout).toMatch(/gpt-99 .*\+200%/)
  expect(stdout).toContain('1 model in use in the last 30 days, 1 with another price.')
  const failing = await tally.run(['prices', 'check', file, '--exit-code'])
  expect([failing.code, failing.stderr]).toEqual([1, 'tally: The prices of 1 model differ.\n'])
})

test('a check shows the date of the other table, and counts models that it does not list separately', async () => {
  const file = join(tally.folder, 'other.json')
  const listing = (model: string) =>
    JSON.stringify({ as_of: '2025-01-01', prices: [{ provider: 'openai', model, input: 3, output: 2 }] })
  await Bun.write(file, listing('gpt-99'))
  expect((await tally.done(['prices', 'check', file])).stdout).toContain('3 / 2, tally 2025-01-01')
  await Bun.write(file, listing('gpt-98'))
  const { stdout } = await tally.done(['prices', 'check', file])
  expect(stdout).toContain('1 model in use in the last 30 days, 0 with another price, 1 not in the other table.')
})
