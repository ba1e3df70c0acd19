import { expect, test } from 'bun:test'
import { fullNameOf, withSubcommands } from '../../src/cli/command-tree.ts'
import { createProgram } from '../../src/cli/program.ts'
import { commandsLike } from '../../src/cli/unknown-command.ts'
import { CommandLine } from '../support/command-line.ts'

const program = await createProgram()

const like = (line: string) => {
  const names = line.split(' ')
  const group = names
    .slice(0, -1)
    .reduce((command, name) => command.commands.find((each) => each.name() === name)!, program)
  return commandsLike(names.at(-1)!, group)
}

test('a misspelled command leads to the one that was meant', () => {
  expect(like('user')).toEqual(['tally users'])
  expect(like('entries lst')).toEqual(['tally entries list'])
  expect(like('bills voidd')).toEqual(['tally bills void'])
  expect(like('frob')).toEqual([])
})

test('a part of the name leads to the command, and the name alone to its group', () => {
  expect(like('users role')).toEqual(['tally users set-role'])
  expect(like('users password')).toEqual(['tally users reset-password', 'tally users set-password'])
  expect(like('login')).toEqual(['tally agents login'])
  expect(like('list')).toEqual([])
})

test('words of other command lines lead to the commands that do the same', () => {
  for (const [line, ...commands] of [
    ['users delete', 'tally users disable', 'tally users erase'],
    ['clients rm', 'tally clients archive', 'tally clients remove'],
    ['tokens delete', 'tally tokens revoke'],
    ['bills cancel', 'tally bills void'],
    ['clients ls', 'tally clients list'],
    ['clients create', 'tally clients add'],
    ['tokens add', 'tally tokens create'],
    ['projects edit', 'tally projects change'],
    ['settings update', 'tally settings set'],
    ['bills get', 'tally bills show'],
    ['prices explain', 'tally prices resolve'],
    ['users suspend', 'tally users disable'],
  ] as const) {
    expect(like(line), line).toEqual([...commands])
  }
})

test('no command that removes something or asks first is suggested for a word that says nothing of the kind', () => {
  const harmless = ['role', 'invoke', 'prove', 'sender', 'loader', 'archive', 'ls', 'get', 'add', 'edit', 'enable']
  const asking = [...withSubcommands(program)].filter(({ options }) => options.some(({ long }) => long === '--yes'))
  const final = new Set([...asking.map(fullNameOf), 'tally users revoke', 'tally deputies remove'])
  // To set something is what was asked for; these two ask for some of it.
  for (const name of ['tally prices set', 'tally settings set']) final.delete(name)
  for (const group of withSubcommands(program)) {
    for (const word of harmless.filter((each) => !group.commands.some((command) => command.name() === each))) {
      for (const suggested of commandsLike(word, group))
        expect(final, `${fullNameOf(group)} ${word}`).not.toContain(suggested)
    }
  }
})

test('the message names the command with its group, and is wrong usage', async () => {
  const tally = await CommandLine.make({ isFirst: true })
  const { code, stderr } = await tally.run(['users', 'role'])
  await tally.remove()
  expect([code, stderr]).toEqual([
    2,
    "tally: unknown command 'role'. Did you mean `tally users set-role`?\n(run with --help for usage and examples)\n",
  ])
})
