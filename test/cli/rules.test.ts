import { afterAll, beforeAll, expect, test } from 'bun:test'
import { CommandLine } from '../support/command-line.ts'

let tally: CommandLine
beforeAll(async () => {
  tally = await CommandLine.make()
  await tally.addUser('ada@example.com', 'admin')
  await tally.done(['projects', 'add', 'ACME'])
})
afterAll(() => tally.remove())

const byBranch = [
  ...['--when', 'labels.repository=acme/*', '--when', 'labels.branch=/(?<ticket>ACME-[0-9]+)=?/i'],
  ...['--project', 'acme', '--ticket', '{ticket}'],
]

test('rules are added, listed and moved by their names', async () => {
  await tally.done(['rules', 'add', '--name', 'codex', '--when', 'agent_harness=codex', '--project', 'ACME'])
  const added = await tally.json(['rules', 'add', '--name', 'by branch', ...byBranch])
  expect(added).toMatchObject({ position: 2, ticket: '{ticket}', project: { key: 'ACME' } })
  expect(added.conditions[1]).toEqual({ field: 'labels.branch', matches: '/(?<ticket>ACME-[0-9]+)=?/i' })
  await tally.done(['rules', 'move', 'BY BRANCH', '--before', 'codex'])
  expect((await tally.done(['rules', 'list'])).stdout).toMatch(/1 {2}by branch.*\n *2 {2}codex/)
  await tally.done(['rules', 'move', 'by branch', '--after', 'codex'])
})

test('a sample is tried on them, and on one that is not saved', async () => {
  await tally.done(['rules', 'disable', 'codex'])

  const sample = ['--harness', 'codex', '--label', 'repository=acme/web', '--label', 'branch=x/acme-7']
  const { stdout } = await tally.done(['rules', 'test', ...sample])
  expect(stdout).toMatch(/codex +disabled\n/)
  expect(stdout).toContain("Rule 'by branch' assigns it to ticket acme-7 of ACME.")
  const unsaved = ['--when', 'agent_harness=code*', '--project', 'ACME', '--position', '1']
  expect((await tally.json(['rules', 'test', ...sample, ...unsaved])).taken.rule).toEqual({
    id: null,
    name: 'the new rule',
  })
})

test('rules are changed, switched and removed by their names', async () => {
  expect(await tally.json(['rules', 'change', 'by branch', '--ticket', 'none'])).toMatchObject({
    ticket: null,
    version: 2,
  })
  await tally.done(['rules', 'enable', 'codex'])
  await tally.done(['rules', 'remove', 'by branch', '--yes'])
  expect((await tally.json(['rules', 'list'])).data.map(({ name }: { name: string }) => name)).toEqual(['codex'])
})

test.each([
  [['rules', 'add', '--name', 'x', '--project', 'ACME'], 2, '--when'],
  [['rules', 'add', '--name', 'x', '--when', 'codex', '--project', 'ACME'], 2, 'field=pattern'],
  [['rules', 'add', '--name', 'x', '--when', 'model=/(/', '--project', 'ACME'], 2, '--when (/(/): is not a valid RE2'],
  [['rules', 'add', '--name', 'x', '--when', 'model=*', '--project', 'nowhere'], 1, 'project: '],
  [['rules', 'move', 'codex'], 2, '--before'],
  [['rules', 'show', 'nothing'], 1, "The rule 'nothing'"],
])('what is wrong is told with what to do: %p', async (args, code, message) => {
  const run = await tally.run(args)
  expect([run.code, run.stdout]).toEqual([code, ''])
  expect(run.stderr).toContain(message)
})
