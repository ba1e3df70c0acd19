import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'
import { createProgram, run } from '../../src/cli/program.ts'
import { migrateSqlite } from '../../src/database/schema/migrate.ts'

/** A command line that asks, for each command that does; with the flags that make it one, where not all of them do. */
const ASKING: Record<string, string[]> = {
  'agents install': [],
  'agents uninstall': [],
  'bills credit': [],
  'bills deliver': [],
  'bills send': [],
  'bills void': [],
  'clients remove': [],
  demo: ['--remove'],
  'entries approve': ['--project', 'acme'],
  'entries discard': ['--project', 'acme'],
  'entries reject': ['--project', 'acme'],
  'entries release': ['--project', 'acme'],
  'entries reopen': ['--project', 'acme'],
  'entries restore': ['--project', 'acme'],
  'entries void': ['--project', 'acme'],
  'entries withdraw-approval': ['--project', 'acme'],
  import: [],
  move: [],
  partition: ['--database-url', 'postgres://tally@127.0.0.1/tally'],
  'plans close': [],
  'plans load': [],
  'plans remove-terms': [],
  'plans reopen': ['--reason', 'x'],
  'plans rules remove': [],
  'prices load': [],
  'prices reprice': [],
  'prices set': [],
  'prices undo': [],
  'prices withdraw': [],
  'projects merge': [],
  'projects remove': [],
  restore: ['--replace'],
  'retention apply': [],
  'rules apply': [],
  'rules remove': [],
  'settings set': ['--retention-texts', '24'],
  'share-links revoke': [],
  'sheets remove': [],
  'sheets remove-entry': [],
  'telemetry assign': [],
  'tickets remove': [],
  'tokens revoke': [],
  'trusts remove': [],
  'users erase': [],
  'webhooks remove': [],
}

/** Commands that ask only if they find something to ask about, which is tested with them. */
const ASKING_BY_DATA = ['sheets open', 'sheets submit', 'up']

/** Words of commands that cannot be undone: one that is named like this asks, or is listed with what undoes it. */
const FINAL_WORDS =
  /^(apply|assign|credit|delete|deliver|erase|import|load|merge|purge|remove|revoke|send|undo|void)(-|$)/

const UNDONE_BY: Record<string, string> = {
  'clients approver remove': 'clients approver add',
  'clients lead remove': 'clients lead add',
  'deputies remove': 'deputies add',
  'prices alias remove': 'prices alias add',
  'projects alias remove': 'projects alias add',
  'projects approver remove': 'projects approver add',
  'projects lead remove': 'projects lead add',
  'projects repository remove': 'projects repository add',
  'sheets import': 'sheets remove-entry',
  'users revoke': 'users grant',
}

function leavesOf(command: Command, path: string[] = []): [string, Command][] {
  return command.commands.flatMap((sub) => {
    const name = [...path, sub.name()]
    return sub.commands.length > 0 ? leavesOf(sub, name) : [[name.join(' '), sub] as [string, Command]]
  })
}

/** A value for each required flag and argument, which no command comes to read. */
function lineOf(name: string, command: Command): string[] {
  const flags = command.options.filter(({ mandatory }) => mandatory).flatMap(({ long }) => [long!, '1'])
  const values = command.registeredArguments.flatMap(({ required, argChoices }) =>
    required ? [argChoices?.[0] ?? 'any'] : [],
  )
  return [...name.split(' '), ...values, ...flags, ...(ASKING[name] ?? [])]
}

const leaves = leavesOf(await createProgram())
const isTTY = process.stdin.isTTY
const write = process.stderr.write
let shown = ''
beforeEach(() => {
  process.stdin.isTTY = false
  shown = ''
  process.stderr.write = ((text: string) => {
    shown += text
    return true
  }) as typeof write
})
afterEach(() => {
  process.stdin.isTTY = isTTY
  process.stderr.write = write
})

test('the commands that take --yes are those that ask', () => {
  const taking = leaves.filter(([, { options }]) => options.some(({ long }) => long === '--yes'))
  expect(taking.map(([name]) => name).sort()).toEqual([...Object.keys(ASKING), ...ASKING_BY_DATA].sort())
})

test('every file that asks declares it, so that --yes answers', async () => {
  for await (const path of new Bun.Glob('src/cli/**/*.ts').scan(join(import.meta.dir, '../..'))) {
    const text = await Bun.file(join(import.meta.dir, '../..', path)).text()
    if (/await confirm\(/.test(text)) expect(text, path).toContain('asksFirst')
  }
})

test('a command whose name says that it is final asks, or another one undoes it', () => {
  const final = leaves.flatMap(([name]) => (FINAL_WORDS.test(name.split(' ').at(-1)!) ? [name] : []))
  const commands = leaves.map(([name]) => name)
  for (const name of final) expect([...Object.keys(ASKING), ...Object.keys(UNDONE_BY)]).toContain(name)
  for (const undoing of Object.values(UNDONE_BY)) expect(commands).toContain(undoing)
})

describe('without a terminal', () => {
  // `agents install` shows its changes before it refuses, which is tested with it.
  for (const [name, command] of leaves.filter(([name]) => name in ASKING && !name.startsWith('agents '))) {
    test(`tally ${name} is refused as wrong usage, unless with --yes`, async () => {
      // No database is there: a command that gets past the rule says so.
      const line = [...lineOf(name, command), '--data', '/nowhere']
      expect([await run(line), shown]).toEqual([2, expect.stringContaining('Add --yes to confirm.')])
    })
  }

  test('a wrong value is wrong usage, named by its flag or argument', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tally-values-'))
    migrateSqlite(join(folder, 'tally.db'), 0)
    for (const [line, message] of [
      [['usage', '--month', '2026-13'], '--month: must be a month, such as 2026-11'],
      [['entries', 'list', '--limit', '0'], '--limit: must be a whole number from 1 to 1000'],
      [['usage', '--bucket', 'year'], '--bucket: must be one of 1h, 1d, 1w, 1mo, 1q, 1y, all'],
      [['clients', 'add', ''], '<name>: must not be empty'],
      [['users', 'add', '--email', 'ada', '--name', 'Ada', '--role', 'admin'], '--email: must be an e-mail address'],
    ] as const) {
      shown = ''
      const code = await run([...line, '--data', folder])
      expect([code, shown]).toEqual([2, expect.stringContaining(`tally: ${message}`)])
    }
    rmSync(folder, { recursive: true })
  })

  test('a dry run asks nothing, and neither does --yes', async () => {
    for (const flag of ['--dry-run', '--yes']) {
      shown = ''
      expect(await run(['projects', 'merge', 'a', 'b', flag, '--data', '/nowhere'])).toBe(1)
      expect(shown).toStartWith('tally: There is no Tally database in /nowhere.')
    }
  })
})
