/** Bills with many entries, sent by the executable: what waits meanwhile, and what is left of one that is killed. */
import { Database as Connection } from 'bun:sqlite'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { Installation, type Server } from '../support/binary.ts'

const ENTRIES = 24_000
const BATCH = 1_000

const OCTOBER = { month: '2026-10', currency: 'USD' }

let tally: Installation
let reporter: string
let sender: string

const reportOf = (session: string, day: string) => ({
  agent_harness: 'codex',
  agent_name: 'builder',
  model: 'gpt-5-codex',
  project: 'WEB',
  session_id: session,
  started_at: `${day}T10:00:00Z`,
  ended_at: `${day}T10:05:00Z`,
  reported_cost: 0.01,
  tokens: { input: 1_000, output: 100 },
})

const send = (server: Server) => server.call('POST', '/api/v1/bills', { token: sender, body: OCTOBER })

/** The number of reports that were answered while a part of the entries was on a bill, and the others were not. */
async function reportsMeanwhile(server: Server, work: () => Promise<unknown>): Promise<number> {
  const db = new Connection(join(tally.folder, 'tally-data/tally.db'), { readonly: true })
  const billed = db.query<{ count: number }, []>('SELECT count(*) AS count FROM entries WHERE bill_id IS NOT NULL')
  let meanwhile = 0
  let isDone = false
  async function report(name: string): Promise<void> {
    for (let number = 0; !isDone; number += 1) {
      const body = reportOf(`${name}-${performance.now()}-${number}`, '2026-11-02')
      expect((await server.call('POST', '/api/v1/token-entries', { token: reporter, body })).ok).toBe(true)
      const { count } = billed.get()!
      if (count > 0 && count < ENTRIES) meanwhile += 1
    }
  }
  const reporting = Promise.all(['one', 'two', 'three'].map(report))
  try {
    await work()
  } finally {
    isDone = true
    await reporting
    db.close()
  }
  return meanwhile
}

/** Resolves when a part of the entries is claimed for a bill. */
async function untilClaimed(): Promise<void> {
  const db = new Connection(join(tally.folder, 'tally-data/tally.db'), { readonly: true })
  try {
    const claimed = db.query<{ count: number }, []>('SELECT count(*) AS count FROM bill_entries')
    while (claimed.get()!.count === 0) await Bun.sleep(1)
  } finally {
    db.close()
  }
}

async function statuses(): Promise<Record<string, number>> {
  const args = ['usage', '--by', 'status', '--from', '2026-10-01', '--to', '2026-10-31']
  const { data } = await tally.runJson<{ data: { results: { status: string; entries: number }[] }[] }>(args)
  const counts: Record<string, number> = {}
  for (const { results } of data)
    for (const { status, entries } of results) counts[status] = (counts[status] ?? 0) + entries
  return counts
}

const bills = () => tally.runJson<{ data: { number: string; state: string; entries: number }[] }>(['bills', 'list'])

beforeAll(async () => {
  tally = await Installation.brief()
  await tally.addUser('ada@example.com', 'admin')
  reporter = (await tally.createToken('svc', 'ada@example.com')).token
  sender = (await tally.createToken('svc', 'ada@example.com', ['--allow', 'bills'])).token
  const server = await tally.serve()
  for (let start = 0; start < ENTRIES; start += BATCH) {
    const body = Array.from({ length: BATCH }, (_, index) => reportOf(`session-${start + index}`, '2026-10-15'))
    expect((await server.call('POST', '/api/v1/token-entries/batch', { token: reporter, body })).ok).toBe(true)
  }
  await server.stop()
}, 300_000)

afterAll(() => tally.remove())

test('a bill that is killed while it is sent is undone, and can be sent again', async () => {
  const killed = await tally.serve()
  const sending = send(killed).catch(() => undefined)
  await untilClaimed()
  await killed.crash()
  expect(await sending).toBeUndefined()

  const server = await tally.serve()
  expect((await bills()).data).toEqual([])
  expect(await statuses()).toEqual({ submitted: ENTRIES })
  expect((await tally.run(['verify'])).code).toBe(0)
  expect((await send(server)).status).toBe(201)
  expect((await bills()).data).toMatchObject([{ number: '2026-0001', state: 'sent', entries: ENTRIES }])
  expect(await statuses()).toEqual({ billed: ENTRIES })
  await server.stop()
}, 300_000)

test('reports are answered while a bill is voided by another process, and between the portions of one that is sent', async () => {
  const server = await tally.serve()
  const voiding = () => tally.runJson(['bills', 'void', '2026-0001', '--reason', 'Wrong client', '--yes'])
  // Another process may take one portion after the other; none of the reports is refused.
  await reportsMeanwhile(server, voiding)
  expect(await statuses()).toEqual({ submitted: ENTRIES })
  expect(await reportsMeanwhile(server, () => send(server))).toBeGreaterThan(0)
  expect(await statuses()).toEqual({ billed: ENTRIES })
  expect((await bills()).data.map(({ number, state }) => [number, state])).toEqual([
    ['2026-0002', 'sent'],
    ['2026-0001', 'void'],
  ])
  expect((await tally.run(['verify'])).code).toBe(0)
  await server.stop()
}, 300_000)
