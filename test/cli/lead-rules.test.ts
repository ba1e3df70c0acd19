/** A lead's rule, from the repository of a project to what an admin decides, on the command line. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { CommandLine } from '../support/command-line.ts'

let tally: CommandLine
const LEAD = 'mara@example.com'

beforeAll(async () => {
  tally = await CommandLine.make()
  await tally.addUser()
  await tally.done(['users', 'add', '--email', LEAD, '--name', 'Mara', '--role', 'member'])
  await tally.done(['projects', 'add', 'ACME'])
  await tally.done(['projects', 'lead', 'add', 'ACME', LEAD])
})
afterAll(() => tally.remove())

const propose = (name: string, ...more: string[]) =>
  tally.run(
    ['rules', 'proposals', 'create', '--name', name, '--repository', 'acme/web', '--project', 'ACME'].concat(more),
  )

test('the repositories of a project are added, listed and removed', async () => {
  const added = await tally.done(['projects', 'repository', 'add', 'ACME', 'acme/web', 'acme/api'])
  expect(added.stdout).toBe('acme/api\nacme/web\n')
  expect((await tally.done(['projects', 'repository', 'remove', 'ACME', 'acme/api'])).stdout).toBe('acme/web\n')
  const listed = await tally.json(['projects', 'repository', 'list', 'ACME'])
  expect(listed.repositories).toEqual(['acme/web'])
})

test('a rule is proposed by a lead, and accepted, declined or withdrawn', async () => {
  const nobody = await propose('Nobody')
  expect([nobody.code, nobody.stderr]).toEqual([2, expect.stringContaining('--as')])
  const branch = ['--when', 'labels.branch=/(?<ticket>ACME-[0-9]+)/', '--ticket', '{ticket}']
  for (const name of ['One', 'Two', 'Three']) expect((await propose(name, '--as', LEAD, ...branch)).code).toBe(0)
  const open = await tally.json(['rules', 'proposals', 'list', '--state', 'open'])
  const [three, two, one] = open.data.map(({ id }: { id: string }) => id)
  const accepted = await tally.done(['rules', 'proposals', 'accept', one])
  expect(accepted.stdout).toMatch(/^Proposed rule 'One' \(rpr_.*\): accepted, rule rul_/)
  await tally.done(['rules', 'proposals', 'decline', two, '--reason', 'Twice'])
  await tally.done(['rules', 'proposals', 'withdraw', three, '--as', LEAD])
  const listed = await tally.done(['rules', 'proposals', 'list'])
  expect(listed.stdout).toMatch(/Three +withdrawn +Mara +acme\/web .*\n.*Two +declined .*\n.*One +accepted /)
  expect((await tally.json(['rules', 'list'])).data).toMatchObject([{ name: 'One', lead_repository: null }])
})

test('takes effect at once where leads make rules', async () => {
  await tally.done(['settings', 'set', '--lead-rules', 'yes'])
  const made = await propose('Mine', '--as', LEAD)
  expect(made.stdout).toContain(': accepted, rule rul_')
  expect((await tally.done(['rules', 'list'])).stdout).toMatch(/Mine +enabled, of a lead/)
})
