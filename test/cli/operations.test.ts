/** What the commands of operations take from their definition, shown on those of clients and projects. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Command } from 'commander'
import { fieldFlagsOf } from '../../src/cli/flags/fields.ts'
import { createProgram } from '../../src/cli/program.ts'
import { ClientChange, NewClient, NewProject, ProjectChange } from '../../src/features/projects/schema.ts'
import { CommandLine } from '../support/command-line.ts'

let tally: CommandLine
beforeAll(async () => {
  tally = await CommandLine.make()
})
afterAll(() => tally.remove())

function commandNamed(program: Command, names: string[]): Command {
  return names.reduce((command, name) => command.commands.find((each) => each.name() === name)!, program)
}

test('every field of a body has a flag or is an argument, and nothing else is a field', async () => {
  const program = await createProgram()
  for (const [names, schema] of [
    [['clients', 'add'], NewClient],
    [['clients', 'change'], ClientChange],
    [['projects', 'add'], NewProject],
    [['projects', 'change'], ProjectChange],
  ] as const) {
    const command = commandNamed(program, [...names])
    const flags = [...fieldFlagsOf.get(command)!.values()].map(({ name }) => name)
    const named = command.registeredArguments
      .map((argument) => argument.name())
      .filter((name) => name in schema.properties)
    expect([...flags, ...named].sort()).toEqual(Object.keys(schema.properties).sort())
  }
})

test('values become the JSON that a request would have: exact numbers, yes and no, lists, and none for null', async () => {
  const add = ['clients', 'add', 'Acme Ltd', '--markup', '12.3456', '--reminders', 'no', '--tax', '0']
  expect(await tally.json(add)).toMatchObject({ markup: 12.3456, reminders: false, tax_percent: 0 })
  const cleared = ['clients', 'change', 'Acme Ltd', '--markup', 'none', '--reminders', 'yes', '--name', 'Acme']
  expect(await tally.json(cleared)).toMatchObject({ name: 'Acme', markup: null, reminders: true })
  const listed = ['projects', 'add', 'ACME', '--alias', 'one,two', '--alias', 'three', '--budget', '0.000000001']
  const { stdout } = await tally.done([...listed, '--json'])
  expect(JSON.parse(stdout)).toMatchObject({ aliases: ['one', 'three', 'two'] })
  expect(stdout).toContain('"budget": 0.000000001')
})

test('what the schema of the body refuses is wrong usage, named by the flag, before the database is opened', async () => {
  const refused = async (...line: string[]) => {
    const { code, stderr } = await tally.run([...line, '--data', '/nonexistent'])
    return [code, stderr]
  }
  expect(await refused('clients', 'change', 'Acme', '--markup', '1e2')).toEqual([
    2,
    'tally: --markup: must be a percentage from -100 to 10000, or none for the organization’s default\n',
  ])
  expect(await refused('clients', 'change', 'Acme', '--tax', '101', '--currency', 'EURO')).toEqual([
    2,
    "tally: --tax: must be a percentage from 0 to 100, or none for that of the last bill\ntally: --currency: must be an ISO 4217 currency code, such as EUR, or none for the organization's default\n",
  ])
  expect(await refused('clients', 'change', 'Acme', '--reminders', 'maybe')).toEqual([
    2,
    expect.stringContaining('Allowed choices are yes, no.'),
  ])
  expect(await refused('clients', 'change', 'Acme')).toEqual([
    2,
    expect.stringContaining('Nothing to change. Use --name'),
  ])
})
