import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { referencePages } from '../../scripts/manual/reference.ts'
import { commandsByHeading, fullNameOf, withSubcommands } from '../../src/cli/command-tree.ts'
import { createProgram } from '../../src/cli/program.ts'
import { VERSION } from '../../src/embedded/version.ts'
import { CommandLine } from '../support/command-line.ts'

let tally: CommandLine
beforeAll(async () => {
  tally = await CommandLine.make({ isFirst: true })
})
afterAll(() => tally.remove())

/** The names under the headings of commands in a help text, without further names of the same command. */
function commandsIn(help: string): string[] {
  const lists = help.matchAll(/^(?!Options|Global Options|Arguments|Examples)[A-Z].*:\n((?: {2}.*\n)+)/gm)
  const names = [...lists].flatMap(([, list]) =>
    [...list!.matchAll(/^ {2}(\S+)/gm)].map(([, name]) => name!.split('|')[0]!),
  )
  return names.filter((name) => name !== 'help')
}

test('every command and sub-command has a help with examples that call it', async () => {
  const seen: string[] = []
  const visit = async (command: string[]) => {
    const { code, stdout, stderr } = await tally.run([...command, '--help'])
    expect([code, stderr]).toEqual([0, ''])
    const name = ['tally', ...command].join(' ')
    expect(stdout).toMatch(new RegExp(`^Usage: ${name}[ |]`))
    expect(stdout).toMatch(new RegExp(`\\nExamples:\\n( {2}\\$ .*\\n)*? {2}\\$ .*${name}`))
    expect(stdout).toContain('--data <dir>')
    // One pair of words for periods.
    expect(stdout).not.toMatch(/--(starting-at|ending-at|until)\b/)
    expect(stdout.includes('--from <day>')).toBe(stdout.includes('--to <day>'))
    // A default has a unit, like what is given.
    expect(stdout).not.toMatch(/<duration>[^<]*\(default: \d+\)/)
    seen.push(name)
    await Promise.all(commandsIn(stdout).map((sub) => visit([...command, sub])))
  }
  await visit([])
  expect(seen.sort()).toEqual([
    'tally',
    'tally agents',
    'tally agents flush',
    'tally agents hook',
    'tally agents install',
    'tally agents limits',
    'tally agents login',
    'tally agents logout',
    'tally agents scan',
    'tally agents status',
    'tally agents uninstall',
    'tally agents watch',
    'tally approvals',
    'tally audit',
    'tally backup',
    'tally backup keygen',
    'tally backup list',
    'tally backup verify',
    'tally bills',
    'tally bills credit',
    'tally bills deliver',
    'tally bills export',
    'tally bills list',
    'tally bills paid',
    'tally bills preview',
    'tally bills run',
    'tally bills send',
    'tally bills show',
    'tally bills unpaid',
    'tally bills void',
    'tally budgets',
    'tally budgets add',
    'tally budgets alerts',
    'tally budgets archive',
    'tally budgets change',
    'tally budgets check',
    'tally budgets list',
    'tally budgets restore',
    'tally budgets show',
    'tally budgets test',
    'tally ci',
    'tally ci token',
    'tally clients',
    'tally clients add',
    'tally clients approver',
    'tally clients approver add',
    'tally clients approver remove',
    'tally clients archive',
    'tally clients change',
    'tally clients lead',
    'tally clients lead add',
    'tally clients lead remove',
    'tally clients list',
    'tally clients remove',
    'tally clients restore',
    'tally clients show',
    'tally compact',
    'tally completion',
    'tally demo',
    'tally deputies',
    'tally deputies add',
    'tally deputies list',
    'tally deputies remove',
    'tally doctor',
    'tally entries',
    'tally entries approve',
    'tally entries correct',
    'tally entries discard',
    'tally entries divide',
    'tally entries export',
    'tally entries list',
    'tally entries place',
    'tally entries reject',
    'tally entries release',
    'tally entries reopen',
    'tally entries report',
    'tally entries restore',
    'tally entries show',
    'tally entries undivide',
    'tally entries unplace',
    'tally entries void',
    'tally entries withdraw-approval',
    'tally events',
    'tally events follow',
    'tally events list',
    'tally export',
    'tally import',
    'tally licenses',
    'tally move',
    'tally openapi',
    'tally partition',
    'tally plans',
    'tally plans add',
    'tally plans change',
    'tally plans close',
    'tally plans common',
    'tally plans end',
    'tally plans export',
    'tally plans ledger',
    'tally plans list',
    'tally plans load',
    'tally plans period',
    'tally plans periods',
    'tally plans remove-terms',
    'tally plans reopen',
    'tally plans rules',
    'tally plans rules add',
    'tally plans rules change',
    'tally plans rules disable',
    'tally plans rules enable',
    'tally plans rules list',
    'tally plans rules move',
    'tally plans rules remove',
    'tally plans rules show',
    'tally plans rules test',
    'tally plans show',
    'tally prices',
    'tally prices alias',
    'tally prices alias add',
    'tally prices alias list',
    'tally prices alias remove',
    'tally prices check',
    'tally prices export',
    'tally prices list',
    'tally prices load',
    'tally prices loads',
    'tally prices reprice',
    'tally prices resolve',
    'tally prices set',
    'tally prices show',
    'tally prices undo',
    'tally prices update',
    'tally prices withdraw',
    'tally projects',
    'tally projects add',
    'tally projects alias',
    'tally projects alias add',
    'tally projects alias remove',
    'tally projects approver',
    'tally projects approver add',
    'tally projects approver remove',
    'tally projects archive',
    'tally projects change',
    'tally projects lead',
    'tally projects lead add',
    'tally projects lead remove',
    'tally projects list',
    'tally projects merge',
    'tally projects remove',
    'tally projects repository',
    'tally projects repository add',
    'tally projects repository list',
    'tally projects repository remove',
    'tally projects restore',
    'tally projects show',
    'tally ready',
    'tally receipt',
    'tally reports',
    'tally reports cache',
    'tally reports completeness',
    'tally reports limits',
    'tally reports outliers',
    'tally reports plans',
    'tally reports price-changes',
    'tally reports surcharges',
    'tally reports unpriced',
    'tally reports variance',
    'tally reports what-if',
    'tally restore',
    'tally retention',
    'tally retention apply',
    'tally rules',
    'tally rules add',
    'tally rules apply',
    'tally rules change',
    'tally rules disable',
    'tally rules enable',
    'tally rules list',
    'tally rules move',
    'tally rules proposals',
    'tally rules proposals accept',
    'tally rules proposals create',
    'tally rules proposals decline',
    'tally rules proposals list',
    'tally rules proposals withdraw',
    'tally rules remove',
    'tally rules show',
    'tally rules test',
    'tally search',
    'tally serve',
    'tally settings',
    'tally settings set',
    'tally settings show',
    'tally share-links',
    'tally share-links create',
    'tally share-links create bill',
    'tally share-links create report',
    'tally share-links list',
    'tally share-links revoke',
    'tally sheets',
    'tally sheets add',
    'tally sheets approve',
    'tally sheets change',
    'tally sheets import',
    'tally sheets list',
    'tally sheets open',
    'tally sheets remove',
    'tally sheets remove-entry',
    'tally sheets return',
    'tally sheets show',
    'tally sheets submit',
    'tally sheets template',
    'tally sheets withdraw-approval',
    'tally sql',
    'tally telemetry',
    'tally telemetry assign',
    'tally telemetry status',
    'tally tickets',
    'tally tickets add',
    'tally tickets archive',
    'tally tickets change',
    'tally tickets list',
    'tally tickets remove',
    'tally tickets restore',
    'tally tickets show',
    'tally tokens',
    'tally tokens create',
    'tally tokens list',
    'tally tokens revoke',
    'tally tokens rotate',
    'tally tokens scopes',
    'tally tokens show',
    'tally trusts',
    'tally trusts add',
    'tally trusts change',
    'tally trusts list',
    'tally trusts remove',
    'tally trusts show',
    'tally trusts test',
    'tally unattributed',
    'tally up',
    'tally update',
    'tally usage',
    'tally users',
    'tally users add',
    'tally users agents',
    'tally users change',
    'tally users disable',
    'tally users emails',
    'tally users enable',
    'tally users erase',
    'tally users export',
    'tally users grant',
    'tally users grants',
    'tally users invite',
    'tally users list',
    'tally users reset-password',
    'tally users revoke',
    'tally users set-password',
    'tally users set-role',
    'tally users show',
    'tally users unlock',
    'tally verify',
    'tally version',
    'tally webhooks',
    'tally webhooks add',
    'tally webhooks change',
    'tally webhooks deliveries',
    'tally webhooks disable',
    'tally webhooks enable',
    'tally webhooks list',
    'tally webhooks listen',
    'tally webhooks remove',
    'tally webhooks resend',
    'tally webhooks rotate',
    'tally webhooks take-over',
    'tally webhooks test',
  ])
})

test('the help lists all commands under headings, daily ones first, and the manual has the same', async () => {
  const program = await createProgram()
  const headings = commandsByHeading(program).map(([heading]) => heading)
  expect(headings).toEqual([
    'Usage and cost',
    'Projects and approval',
    'Prices, budgets and bills',
    'Agents and integrations',
    'People and access',
    'Server',
    'Database',
    'Help',
  ])
  const { stdout } = await tally.done(['--help'])
  expect(stdout.match(/^[A-Z].*:$/gm)).toEqual(['Options:', ...headings.map((heading) => `${heading}:`), 'Examples:'])
  const page = (await referencePages()).get('reference/commands')!
  expect([...page.matchAll(/^## (.*)$/gm)].map(([, heading]) => heading!)).toEqual(headings)
})

test('each command takes one or two lines in the list of commands of an 80-column terminal', async () => {
  for (const command of withSubcommands(await createProgram())) {
    const help = Object.assign(command.createHelp(), { helpWidth: 80 })
    const width = help.padWidth(command, help)
    for (const each of command.commands) {
      const item = help.formatItem(help.subcommandTerm(each), width, help.subcommandDescription(each), help)
      expect(item.split('\n').length, item).toBeLessThanOrEqual(2)
    }
  }
})

/** The verbs of a description that lists some: `List and follow` of `List and follow events: what happened`. */
function verbsIn(description: string): string[] {
  const series = description
    .split(/[:;]/)
    .map((clause) => /^ ?([a-z-]+(?:, [a-z-]+)*,? and [a-z-]+) /i.exec(clause)?.[1])
  return series.flatMap((verbs) => verbs?.toLowerCase().split(/,? and |, /) ?? [])
}

test('the verbs that the description of a group lists are commands of it', async () => {
  expect(verbsIn('Load, list and set prices; record payments; void and credit')).toEqual(['load', 'list', 'set'])
  for (const group of withSubcommands(await createProgram())) {
    if (group.commands.length === 0 || group.parent === null) continue
    const names = group.commands.flatMap((command) => [command.name(), ...command.name().split('-')])
    for (const verb of verbsIn(group.description())) expect(names, fullNameOf(group)).toContain(verb)
  }
})

test('flags that say whether something is so show yes|no, and also accept true and false', async () => {
  const program = await createProgram()
  const options = [...withSubcommands(program)].flatMap((command) => command.options)
  expect(options.filter(({ flags }) => /true|false/.test(flags)).map(({ flags }) => flags)).toEqual([])
  const flags = options.filter((option) => option.flags.endsWith('<yes|no>'))
  expect(flags.length).toBeGreaterThan(15)
  for (const option of flags) {
    const read = (text: string) => String(option.parseArg!(text, undefined))
    expect(['yes', 'true', 'no', 'false'].map(read), option.flags).toEqual(['true', 'true', 'false', 'false'])
    expect(() => read('maybe')).toThrow('Allowed choices are yes, no.')
  }
})

test('without a command the help goes to standard error, as wrong usage', async () => {
  const { code, stdout, stderr } = await tally.run([])
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr).toStartWith('Usage: tally')
})

test('a command line loads the command that it calls and no other, or all if it calls none', async () => {
  const namesFor = async (...args: string[]) => (await createProgram(args)).commands.map((command) => command.name())
  const { commands } = await createProgram()
  expect(commands.length).toBeGreaterThan(30)
  for (const command of commands) {
    for (const name of [command.name(), ...command.aliases()]) {
      expect(await namesFor('--data', 'serve', '--as=demo', name, '--help', 'verify')).toEqual([command.name()])
    }
  }
  const all = commands.map((command) => command.name())
  for (const flag of ['--version', '-V']) expect(await namesFor('--data', 'serve', flag)).toEqual(['version'])
  for (const line of ['--help', 'user list', '--unknown users list', '--data users']) {
    expect(await namesFor(...line.split(' ')), line).toEqual(all)
  }
})

test('the version is shown in three ways', async () => {
  expect((await tally.done(['--version'])).stdout).toBe(`${VERSION}\n`)
  expect((await tally.done(['version'])).stdout).toStartWith(`tally ${VERSION} (`)
  expect(await tally.json(['version'])).toEqual({
    version: VERSION,
    commit: expect.any(String),
    bun: Bun.version,
    platform: `${process.platform}-${process.arch}`,
  })
})

describe('tally openapi', () => {
  test('prints the document that a server answers, and leaves nothing behind', async () => {
    const { stdout } = await tally.done(['openapi'], { env: { TMPDIR: tally.folder }, asProcess: true })
    expect(await Array.fromAsync(new Bun.Glob('**').scan({ cwd: tally.folder, onlyFiles: false }))).toEqual([])
    expect(JSON.parse(stdout)).toEqual((await tally.app()).document)
  })

  test('may be read by a program that stops early', async () => {
    const shell = Bun.spawn(['sh', '-c', `"${await tally.executable()}" openapi | head -c 20`], {
      cwd: tally.folder,
      stdout: 'pipe',
      stderr: 'pipe',
    })
    expect([await shell.stdout.text(), await shell.stderr.text()]).toEqual(['{\n  "openapi": "3.1.', ''])
  })
})
