import { afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import { join } from 'node:path'
import { openDatabase } from '../../src/database/open.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { CommandLine } from '../support/command-line.ts'
import { rowsAt } from '../support/databases.ts'
import { copyDemo, DEMO_PEOPLE, demoDatabase, rowCounts, signedIn } from '../support/demo.ts'

let tally: CommandLine

const useDemo = () => copyDemo(tally.dataDir)

// Three months of an agency's work take some seconds to make, and several times as long on a busy machine.
beforeAll(async () => void (await demoDatabase()), 300_000)
beforeEach(async () => {
  tally = await CommandLine.make({ engine: 'sqlite' })
})
afterEach(() => tally.remove())

test('tally demo fills an empty database with three months that a person of each role can look around in', async () => {
  await useDemo()
  expect(rowCounts(tally.dataDir).entries).toBeGreaterThan(5_000)
  const [moments] = await rowsAt(
    tally.location,
    `SELECT demo_at AS made, max((SELECT max(at) FROM audit WHERE at <= demo_at), (SELECT max(created_at) FROM entries)) AS latest
     FROM organization`,
  )
  const { made, latest } = moments as { made: number; latest: number }
  expect(latest).toBeWithin(made - 86_400_000, made + 1)
  const server = await tally.serve()
  for (const { email, role } of DEMO_PEOPLE) {
    const get = await signedIn(server, email)
    expect(await get('/settings')).toMatchObject({ name: 'Studio Meridian (demo data)', demo: true })
    expect((await get('/me')).person.role).toBe(role)
    expect((await get('/token-entries?limit=10')).data.length).toBe(10)
  }
  const get = await signedIn(server, 'ines.marques@meridian.example')
  const all = async (path: string) => (await get(path)).data
  expect((await all('/users')).length).toBe(12)
  expect((await all('/clients')).length).toBe(4)
  expect((await all('/projects')).length).toBe(9)
  expect((await all('/bills')).map(({ state }: { state: string }) => state)).toContainValues(['sent', 'paid', 'void'])
  const states = (await all('/budgets')).map(({ current }: { current: { state: string } }) => current.state)
  expect([states.length, states.includes('exceeded')]).toEqual([11, true])
  expect((await all('/budgets/alerts')).length).toBeGreaterThan(5)
  const sheets = (await all('/token-sheets')).map(({ status }: { status: string }) => status)
  expect(sheets.sort()).toEqual(['approved', 'open', 'returned', 'submitted'])
  const periods = await get('/reports/plans?from=2000-01-01')
  expect(new Set(periods.data.map(({ state }: { state: string }) => state))).toEqual(
    new Set(['running', 'ended', 'closed']),
  )
  expect([periods.ended.unused > 0, periods.ended.charge > 0]).toEqual([true, true])
  for (const filter of [
    'placed=none',
    'priced=false',
    'possible_duplicate=true',
    'status=rejected',
    'correction=true',
  ]) {
    expect((await all(`/token-entries?${filter}`)).length, filter).toBeGreaterThan(0)
  }
})

test('tally demo refuses a database that anybody has used, and changes nothing of it', async () => {
  await tally.addUser()
  const { code, stderr } = await tally.run(['demo'])
  expect([code, stderr]).toEqual([1, expect.stringContaining('tally demo --data ./tally-demo')])
  expect((await tally.json(['users', 'list'])).data.length).toBe(1)
  expect((await tally.run(['demo', '--remove', '--yes'])).stderr).toContain('does not contain demo data')
  expect((await tally.json(['users', 'list'])).data.length).toBe(1)
})

test('tally demo refuses a database that holds a client only', async () => {
  await tally.done(['clients', 'add', 'Real'])
  expect((await tally.run(['demo'])).stderr).toContain('is already in use')
})

test('tally demo --remove gives back an empty database, which a server can set up', async () => {
  await useDemo()
  expect((await tally.run(['demo'])).stderr).toContain('already contains the demo data')
  const { code, stderr } = await tally.run(['demo', '--remove'])
  expect([code, stderr]).toEqual([2, expect.stringContaining('--yes')])
  await tally.done(['demo', '--remove', '--yes'])
  for (const list of [['users'], ['clients'], ['projects'], ['tickets'], ['bills'], ['sheets'], ['rules']]) {
    expect((await tally.json([...list, 'list'])).data, list[0]).toEqual([])
  }
  expect(await tally.json(['settings', 'show'])).toMatchObject({ name: 'Tally', demo: false })
  expect((await tally.json(['audit'])).data).toEqual([])
  expect((await tally.json(['verify'])).damage ?? []).toEqual([])
  const fresh = join(tally.folder, 'fresh')
  await (await openDatabase({ dataDir: fresh, clock: systemClock })).close()
  expect(rowCounts(tally.dataDir)).toEqual(rowCounts(fresh))
  const server = await tally.serve()
  expect(await server.untilPrinted(/setup#/)).toBeTruthy()
})

test('tally demo --remove names what was added since, and takes it along only where that is asked for', async () => {
  await useDemo()
  const { token } = await tally.createToken('svc', 'jonas.weber@meridian.example')
  const server = await tally.serve()
  const body = {
    agent_harness: 'curl',
    agent_name: 'real',
    model: 'claude-sonnet-4-5',
    started_at: new Date(Date.now() - 60_000).toISOString(),
    ended_at: new Date().toISOString(),
    tokens: { input: 1, output: 1 },
  }
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const answer = await fetch(`${server.url}/api/v1/token-entries`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  })
  expect(answer.status).toBe(201)
  await server.stop()
  const { code, stderr } = await tally.run(['demo', '--remove', '--yes'])
  expect([code, stderr]).toEqual([1, expect.stringContaining('1 × reported entry, 1 × token created')])
  expect((await tally.json(['users', 'list'])).data.length).toBe(12)
  await tally.done(['demo', '--remove', '--yes', '--everything'])
  expect((await tally.json(['users', 'list'])).data).toEqual([])
})

test('tally demo --remove refuses while a server has the database open', async () => {
  await useDemo()
  const server = await tally.serve()
  const { code, stderr } = await tally.run(['demo', '--remove', '--yes'])
  expect([code, stderr]).toEqual([1, expect.stringContaining('Stop it first')])
  expect((await fetch(`${server.url}/ready`)).status).toBe(200)
  await server.stop()
  await tally.done(['demo', '--remove', '--yes'])
})
