import { afterAll, beforeAll, expect, test } from 'bun:test'
import { CommandLine } from '../support/command-line.ts'

let tally: CommandLine

/** An entry of $125, and what its session costs at the price of its model. */
let entry: string

beforeAll(async () => {
  tally = await CommandLine.make()
  await tally.addUser()
  await tally.done(['projects', 'add', 'acme-api'])
  const { token } = await tally.createToken()
  const server = await tally.app()
  const answer = await fetch(`${server.url}/api/v1/token-entries`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      agent_harness: 'codex',
      agent_name: 'reviewer',
      model: 'claude-sonnet-4-5',
      started_at: '2026-11-03T10:00:00Z',
      ended_at: '2026-11-03T11:00:00Z',
      tokens: { input: 1_000_001, output: 1_000 },
      reported_cost: 125,
      project: 'acme-web',
    }),
  })
  entry = ((await answer.json()) as { id: string }).id
})
afterAll(() => tally.remove())

const refused = async (...args: string[]) => {
  const { code, stderr } = await tally.run(['entries', ...args])
  return [code, stderr]
}

test('figures are corrected with a reason, and none removes a reported cost', async () => {
  const reason = ['--reason', 'A wrong price']
  const { stdout } = await tally.done(['entries', 'correct', entry, '--reported-cost', '1.25', ...reason])
  expect(stdout).toContain('  cost   $1.25 (as reported)\n')
  const corrected = await tally.json(['entries', 'correct', entry, '--reported-cost', 'none', ...reason])
  expect(corrected).toMatchObject({ reported_cost: null, cost: 3.015003, list_value: 3.015003 })
  expect(await refused('correct', entry, '--input', '5')).toEqual([2, expect.stringContaining("'--reason <text>'")])
  expect(await refused('correct', entry, ...reason)).toEqual([2, expect.stringContaining('Nothing to change')])
})

test('an entry is divided to the token, and made whole again', async () => {
  const { parts } = await tally.json(['entries', 'divide', entry, '--keep', '70', '--project', 'acme-api=30'])
  const sum = (of: (part: { tokens: { total: number }; cost: number }) => number) =>
    parts.reduce((total: number, part: never) => total + of(part), 0)
  expect(sum(({ tokens }) => tokens.total)).toBe(1_001_001)
  expect(sum(({ cost }) => Math.round(cost * 1e9))).toBe(3_015_003_000)
  expect((await tally.json(['entries', 'undivide', entry])).tokens.total).toBe(1_001_001)
  for (const size of ['x', '0', '-1']) {
    const [code, message] = await refused('divide', entry, '--keep', size, '--project', 'acme-api=30')
    expect([size, code, message]).toEqual([size, 2, expect.stringContaining('Use a number above 0, such as 30.')])
  }
})

test('an entry is voided with a reason, counted nowhere, and restored', async () => {
  expect(await refused('void', entry)).toEqual([2, expect.stringContaining("'--reason <text>'")])
  await tally.done(['entries', 'void', entry, '--reason', 'A test'])
  const voided = (await tally.json(['entries', 'list', '--status', 'voided'])).data
  expect(voided.map(({ id }: { id: string }) => id)).toContain(entry)
  const usage = ['usage', '--from', '2026-11-01', '--to', '2026-11-30']
  expect((await tally.json(usage)).totals.entries).toBe(0)
  await tally.done(['entries', 'restore', entry])
  expect((await tally.json(usage)).totals.entries).toBe(1)
})
