import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { CommandLine } from '../support/command-line.ts'

let tally: CommandLine
beforeAll(async () => {
  tally = await CommandLine.make()
  await tally.addUser()
  await tally.addUser('mia@example.com', 'member')
})
afterAll(() => tally.remove())

const openSheet = async (): Promise<string> =>
  (await tally.json(['sheets', 'open', '--person', 'mia@example.com', '--month', '2026-10', '--another'])).id

test('a sheet goes from CSV to approved, with a return between', async () => {
  const sheet = await openSheet()
  const columns = (await tally.done(['sheets', 'template'])).stdout.trim().split(',')
  const row = (cells: Record<string, string>) => columns.map((column) => cells[column] ?? '').join(',')
  const cells = {
    agent_harness: 'codex',
    agent_name: 'builder',
    model: 'gpt-5',
    started_at: '2026-10-03T10:00:00Z',
    ended_at: '2026-10-03T11:00:00Z',
    input: '1000000',
    output: '0',
    project: 'acme',
  }
  const file = join(tally.folder, 'october.csv')
  await Bun.write(file, `${columns.join(',')}\n${row(cells)}\n${row({ ...cells, input: 'many', model: '' })}\n`)
  const wrong = await tally.run(['sheets', 'import', sheet, file])
  expect([wrong.code, wrong.stderr]).toEqual([
    1,
    'tally: line 3, input must be a whole number, such as 1200\ntally: line 3, model is required\ntally: Nothing was added.\n',
  ])

  await Bun.write(file, `${columns.join(',')}\n${row(cells)}\n${row({ ...cells, reported_cost: '0.5' })}\n`)
  expect((await tally.done(['sheets', 'import', sheet, file])).stdout).toEndWith('Added 2 entries.\n')
  expect(await tally.json(['sheets', 'submit', sheet])).toMatchObject({ status: 'submitted', cost: 1.75 })
  expect(await tally.json(['approvals'])).toMatchObject({ sheets: { sheets: 1, entries: 2, cost: 1.75 } })
  expect((await tally.done(['sheets', 'return', sheet, '--reason', 'Too dear'])).stdout).toContain('returned: Too dear')
  const [dear] = (await tally.json(['entries', 'list', '--sheet', sheet])).data
  const set = ['--set', '{"reported_cost":0.25,"summary":"corrected"}']
  expect(await tally.json(['sheets', 'change', sheet, dear.id, ...set])).toMatchObject({ cost: 0.25 })
  await tally.done(['sheets', 'submit', sheet])
  expect(await tally.json(['sheets', 'approve', sheet])).toMatchObject({ status: 'approved', decided_by: null })
  const shown = await tally.json(['sheets', 'show', sheet])
  expect(shown.data.map(({ status }: { status: string }) => status)).toEqual(['approved', 'approved'])
  expect((await tally.done(['sheets', 'list', '--status', 'approved'])).stdout).toContain(sheet)

  const late = await tally.run(['sheets', 'import', sheet, file])
  expect([late.code, late.stderr]).toEqual([
    1,
    `tally: Cannot change the entries of sheet ${sheet}: it must be open or returned, but is approved.\n`,
  ])
})

test('overlaps with reported entries are shown, and wait for a flag where nobody can be asked', async () => {
  const sheet = await openSheet()
  const entry = [
    ['--harness', 'codex'],
    ['--agent', 'builder'],
    ['--model', 'gpt-5'],
    ['--started-at', '2026-10-05T10:00:00Z'],
    ['--ended-at', '2026-10-05T11:00:00Z'],
    ['--input', '1000'],
    ['--output', '10'],
  ].flat()
  const server = await tally.app()
  const { token } = await tally.createToken('svc', 'mia@example.com')
  await tally.done(['entries', 'report', '--url', server.url, ...entry], { env: { TALLY_TOKEN: token } })
  await tally.done(['sheets', 'add', sheet, ...entry])
  const { code, stderr } = await tally.run(['sheets', 'submit', sheet])
  expect(code).toBe(1)
  expect(stderr).toMatch(/ent_\w+ \(2026-10-05 10:00 to 2026-10-05 11:00\) and ent_\w+/)
  expect(stderr).toContain('add --confirm-overlaps')
  expect(await tally.json(['sheets', 'submit', sheet, '--yes'])).toMatchObject({ status: 'submitted' })
  await tally.done(['sheets', 'return', sheet, '--reason', 'Is this counted twice?'])
  expect(await tally.json(['sheets', 'submit', sheet, '--confirm-overlaps'])).toMatchObject({ status: 'submitted' })

  // The reported one is decided about by itself.
  const { data } = await tally.json(['entries', 'list', '--status', 'submitted'])
  const [reported] = data
  expect(await tally.json(['entries', 'approve', '--status', 'submitted', '--dry-run'])).toMatchObject({ done: 1 })
  const approved = await tally.json(['entries', 'approve', reported.id])
  expect(approved).toMatchObject({ done: 1, results: [{ id: reported.id, status: 'approved' }] })
  const again = await tally.run(['entries', 'reject', reported.id, '--reason', 'a test'])
  expect([again.code, again.stderr]).toEqual([
    1,
    `Cannot reject entry ${reported.id}: it must be submitted, but is approved. Withdraw its approval first.\ntally: Nothing was changed.\n`,
  ])
  expect((await tally.run(['entries', 'approve'])).code).toBe(2)
  // By a filter, only those are meant with which it can be done.
  const rest = await tally.json(['entries', 'approve', '--agent-harness', 'codex', '--yes'])
  expect(rest).toMatchObject({ done: 0, refused: 0 })
  const withdrawn = ['entries', 'withdraw-approval', '--agent-harness', 'codex', '--source', 'report', '--yes']
  expect(await tally.json(withdrawn)).toMatchObject({ done: 1, refused: 0 })
})

test('a sheet and its drafts are removed together', async () => {
  const sheet = await openSheet()
  expect((await tally.done(['sheets', 'remove', sheet, '--yes'])).stdout).toBe(`Removed ${sheet}.\n`)
  expect((await tally.run(['sheets', 'show', sheet])).stderr).toContain('was not found')
  expect((await tally.run(['sheets', 'open', '--person', 'mia@example.com'])).code).toBe(2)
})

test('another sheet for the same days is opened if that is confirmed', async () => {
  const open = ['sheets', 'open', '--person', 'mia@example.com', '--month', '2026-03']
  await tally.done(open)
  const { code, stderr } = await tally.run(open)
  expect([code, stderr]).toEqual([1, expect.stringContaining('or add --another or --yes.')])
  await tally.done([...open, '--yes'])
})

test('a person that does not exist is named with its flag', async () => {
  const { code, stderr } = await tally.run(['sheets', 'list', '--person', 'nobody@example.com'])
  expect(stderr).toBe("tally: --person: there is no person 'nobody@example.com'\n")
  expect(code).toBe(1)
})
