/** Entries from the list of unattributed ones to their tickets: by a rule that is tested first, and by hand. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import expected from '../fixtures/agents-expected.json'
import type { TestApp } from '../support/app.ts'
import { CommandLine } from '../support/command-line.ts'

let tally: CommandLine
let server: TestApp
let ids: string[]

beforeAll(async () => {
  tally = await CommandLine.make()
  await tally.addUser()
  const { token } = await tally.createToken()
  server = await tally.app()
  ids = []
  for (const { agent_harness, session_id, model, reported_cost_otlp, requests, ...tokens } of expected) {
    const answer = await fetch(`${server.url}/api/v1/token-entries`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        agent_harness,
        agent_name: agent_harness,
        session_id,
        model,
        requests,
        tokens,
        started_at: '2026-11-20T10:00:00Z',
        ended_at: '2026-11-20T10:30:00Z',
        labels: { repository: 'acme/web', branch: 'feature/ACME-42' },
      }),
    })
    ids.push(((await answer.json()) as { id: string }).id)
  }
})
afterAll(() => tally.remove())

const said = ['--when', 'labels.branch=/(?<ticket>ACME-[0-9]+)/', '--project', 'ACME', '--ticket', '{ticket}']

test('the sessions of agents are shown as one group', async () => {
  const shown = await tally.done(['unattributed'])
  expect(shown.stdout).toMatch(/^GROUP +ENTRIES +TOKENS +COST \(USD\) +LAST USED +ALSO IN COMMON\nacme\/web +7 /)
  expect(shown.stdout).toContain('branch feature/ACME-42')
  expect((await tally.json(['unattributed'])).totals).toMatchObject({ groups: 1, entries: 7 })
  expect((await tally.done(['unattributed', '--csv'])).stdout).toContain('acme/web,7,')
})

test('a rule is tried on them, before it is saved and after', async () => {
  await tally.done(['projects', 'add', 'ACME'])
  const tried = await tally.done(['rules', 'test', '--last', '1000', ...said])
  expect(tried.stdout).toMatch(/the new rule +ACME ACME-42/)
  await tally.done(['rules', 'add', '--name', 'By branch', ...said])
  const known = await tally.json(['rules', 'test', '--last', '3'])
  expect(known.data.map(({ taken }: { taken: { ticket: string } }) => taken.ticket)).toEqual(Array(3).fill('ACME-42'))
})

test('by that rule they go to ticket ACME-42, exactly as the dry run said', async () => {
  const unasked = await tally.run(['rules', 'apply'])
  expect([unasked.code, unasked.stderr]).toEqual([
    2,
    expect.stringContaining('Add --yes to confirm. To see what would change, use --dry-run.'),
  ])
  const planned = await tally.json(['rules', 'apply', '--dry-run'])
  expect(planned.moves.map(({ id }: { id: string }) => id).sort()).toEqual([...ids].sort())
  expect(planned.groups).toHaveLength(1)
  const table = (await tally.done(['rules', 'apply', '--dry-run'])).stdout
  expect(table).toMatch(/unattributed +ACME ACME-42 +By branch +7 /)
  expect(table).toContain('7 entries would move')
  const moved = await tally.done(['rules', 'apply', '--yes'])
  expect(moved.stdout).toBe(table.replace('would move', 'moved'))
})

test('nothing is left to place or to move', async () => {
  expect((await tally.done(['unattributed'])).stdout).toBe('No unattributed entries.\n')
  expect((await tally.done(['rules', 'apply', '--all', '--yes'])).stdout).toBe('No entries to move.\n')
})

test('entries are placed manually, and refusals are listed one by one', async () => {
  const [first, second] = ids as [string, string]
  expect((await tally.done(['entries', 'place', first, second, '--ticket', 'ACME-43', '--dry-run'])).stdout).toBe(
    '2 entries would be placed.\n',
  )
  expect((await tally.done(['entries', 'place', first, second, '--ticket', 'ACME-43'])).stdout).toBe(
    '2 entries placed.\n',
  )
  expect((await tally.json(['entries', 'show', first])).placement.by).toBe('manual')
  expect((await tally.done(['entries', 'place', first, '--project', 'none'])).stdout).toBe('1 entry placed.\n')
  const refused = await tally.run(['entries', 'place', second, 'ent_none', '--project', 'ACME', '--ticket', 'none'])
  expect([refused.code, refused.stdout]).toEqual([1, '1 entry placed.\n'])
  expect(refused.stderr).toContain('ent_none')
  const slip = await tally.run(['entries', 'place', first, '--project', 'ACNE'])
  expect([slip.code, slip.stderr]).toEqual([1, expect.stringContaining("Project 'ACNE' does not exist")])
  expect((await tally.run(['entries', 'place', first])).code).toBe(2)
})

test('a filter whose variable is not set changes nothing', async () => {
  for (const command of ['entries approve --label= --yes', 'rules apply --project= --placed rule --yes']) {
    const { code, stderr } = await tally.run(command.split(' '))
    expect([command, code]).toEqual([command, 2])
    expect(stderr).toMatch(/^tally: --(label|project): is empty; give it a value, or leave it out$/m)
  }
})
