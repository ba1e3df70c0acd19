import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chmod, lstat, mkdir, mkdtemp, readdir, readlink, rm, stat, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { parse as parseJson } from 'jsonc-parser'
import { parse as parseToml } from 'smol-toml'
import type { AgentName } from '../../src/agents/agent.ts'
import { claudeCode } from '../../src/agents/install/claude-code.ts'
import { codex } from '../../src/agents/install/codex.ts'
import { geminiCli } from '../../src/agents/install/gemini-cli.ts'
import {
  HOOKED_AGENTS,
  hasHook,
  install,
  isChange,
  planInstall,
  planUninstall,
  settingsPath,
  uninstall,
} from '../../src/agents/install/install.ts'
import { SettingsError } from '../../src/agents/install/installer.ts'
import { kimiCode } from '../../src/agents/install/kimi-code.ts'
import { shellText } from '../../src/agents/install/shell.ts'
import { type AgentsEnvironment, readAgentsEnvironment } from '../../src/config.ts'
import { runs } from '../support/tier.ts'

const commandOf = (agent: AgentName) => ['/opt/tally/tally', 'agents', 'hook', agent]
const claudeCommand = commandOf('claude-code')
const codexCommand = commandOf('codex')

/** Whether the one is in the other, with other characters between its own at most. */
function isWithin(part: string, whole: string): boolean {
  let found = 0
  for (const character of whole) if (character === part[found]) found += 1
  return found === part.length
}

const space = fc.constantFrom('', ' ', '\n', '  ', '\t', '\r\n', ' // mine\n', '/* "hooks": {} */', '\n\n')
const words = fc.constantFrom('a', 'env', 'permissions', 'Stop', 'with "quotes"', 'ünï', '\\', '//', 'notify')

/** JSON with comments and white space wherever they may stand, and commas behind the last. */
function textOfJson(value: fc.Arbitrary<unknown>): fc.Arbitrary<string> {
  return fc
    .tuple(value, fc.array(space, { minLength: 40, maxLength: 40 }), fc.boolean())
    .map(([json, spaces, comma]) => {
      let next = 0
      const gap = () => spaces[next++ % spaces.length]!
      const list = (items: string[]) => items.join(`${gap()},`) + (comma && items.length > 0 ? ',' : '')
      const write = (each: unknown): string => {
        if (Array.isArray(each)) return `[${gap()}${list(each.map((item) => gap() + write(item)))}${gap()}]`
        if (typeof each !== 'object' || each === null) return JSON.stringify(each)
        const members = Object.entries(each).map(
          ([key, of]) => `${gap()}${JSON.stringify(key)}${gap()}:${gap()}${write(of)}`,
        )
        return `{${list(members)}${gap()}}`
      }
      return gap() + write(json) + gap()
    })
}

const otherHook = fc.record({
  type: fc.constant('command'),
  command: fc.constantFrom('lint', 'say "done"', 'agents hook'),
})
const group = fc.record({ matcher: words, hooks: fc.array(otherHook, { maxLength: 2 }) }, { requiredKeys: ['hooks'] })
const hooks = fc.dictionary(
  fc.constantFrom('Stop', 'SessionEnd', 'PreToolUse', 'AfterAgent'),
  fc.array(group, { maxLength: 2 }),
)
const plain = fc.oneof(words, fc.integer(), fc.boolean(), fc.constant(null), fc.array(words, { maxLength: 2 }))
const settings = fc
  .tuple(
    fc.dictionary(words, plain, { maxKeys: 3 }),
    fc.option(hooks, { nil: undefined }),
    fc.dictionary(words, plain, { maxKeys: 2 }),
  )
  .map(([before, of, after]) => ({ ...before, ...(of ? { hooks: of } : {}), ...after }))

function withoutEmpty(value: Record<string, unknown>): unknown {
  const { hooks: of, ...rest } = value
  const kept = Object.entries((of ?? {}) as Record<string, unknown[]>).filter(([, groups]) => groups.length > 0)
  return kept.length > 0 ? { ...rest, hooks: Object.fromEntries(kept) } : rest
}

describe.each([claudeCode, geminiCli])('the settings of $agent', ({ agent, withHook, withoutHook, hasHook: has }) => {
  test('keep every character when the hook is put in, and what they say when it is taken out', () => {
    fc.assert(
      fc.property(textOfJson(settings), (text) => {
        const made = withHook(text, commandOf(agent))
        expect(has(made)).toBe(true)
        expect(isWithin(text.trim() === '' ? '' : text, made)).toBe(true)
        const removed = withoutHook(made)
        expect(withoutEmpty(parseJson(removed ?? '{}'))).toEqual(withoutEmpty(parseJson(text)))
        for (const comment of text.match(/\/\/ mine\n|\/\* "hooks": \{\} \*\//g) ?? []) {
          expect(removed ?? '').toContain(comment.trim())
        }
      }),
      { numRuns: runs(500) },
    )
  })

  test('are unchanged when the hook is installed again, or removed when it is not installed', () => {
    fc.assert(
      fc.property(textOfJson(settings), (text) => {
        const made = withHook(text, commandOf(agent))
        expect(withHook(made, commandOf(agent))).toBe(made)
        expect(withoutHook(text)).toBe(text)
      }),
    )
  })

  test('are refused with the position of the issue if they are not JSON, and stay unchanged', () => {
    for (const [text, message] of [
      ['{\n  "a": 1\n  "b": 2\n}', 'line 3, column 3'],
      ['{ "hooks": { "Stop": [', 'is not valid JSON'],
      ['[]', 'does not contain a JSON object'],
      ['{ "hooks": [] }', '`hooks` that is not an object'],
    ] as const) {
      expect(() => withHook(text, commandOf(agent))).toThrow(message)
      expect(() => withHook(text, commandOf(agent))).toThrow(SettingsError)
    }
  })
})

describe('the settings of Claude Code', () => {
  test('get a hook for three events, after existing ones', () => {
    const before = `{
    // Ours
    "hooks": {
        "Stop": [{ "hooks": [{ "type": "command", "command": "say done" }] }], // keep
    },
    "model": "opus"
}
`
    expect(claudeCode.withHook(before, claudeCommand)).toBe(`{
    // Ours
    "hooks": {
        "Stop": [{ "hooks": [{ "type": "command", "command": "say done" }] }, {"hooks":[{"type":"command","command":"/opt/tally/tally agents hook claude-code","timeout":10}]}], // keep
        "SubagentStop": [
            {
                "hooks": [
                    {
                        "type": "command",
                        "command": "/opt/tally/tally agents hook claude-code",
                        "timeout": 10
                    }
                ]
            }
        ],
        "SessionEnd": [
            {
                "hooks": [
                    {
                        "type": "command",
                        "command": "/opt/tally/tally agents hook claude-code",
                        "timeout": 10
                    }
                ]
            }
        ]
    },
    "model": "opus"
}
`)
  })

  test('get the new path of a moved executable, and keep fields that a person added to the hook', () => {
    const old = claudeCode.withHook('{}', ['/old place/tally', 'agents', 'hook', 'claude-code'])
    const changed = old.replaceAll('"timeout": 10', '"timeout": 60,\n"async": true')
    expect(JSON.parse(claudeCode.withHook(changed, claudeCommand)).hooks.Stop).toEqual([
      { hooks: [{ type: 'command', command: '/opt/tally/tally agents hook claude-code', timeout: 10, async: true }] },
    ])
  })

  test('are not changed if they contain a name twice, because agents use the last', () => {
    for (const event of ['PreToolUse', 'SessionEnd']) {
      const twice = `{ "hooks": { "Stop": [] }, "hooks": { "${event}": [{ "hooks": [] }] } }`
      expect(() => claudeCode.withHook(twice, claudeCommand)).toThrow(/cannot be changed safely/)
    }
  })

  test('that switch every hook off are pointed out', () => {
    expect(claudeCode.warnings('{ "disableAllHooks": true }')).toEqual([expect.stringContaining('disableAllHooks')])
    expect(geminiCli.warnings('{ "hooksConfig": { "enabled": false } }')).toHaveLength(1)
    expect(geminiCli.warnings('{ "hooksConfig": {} }')).toEqual([])
  })
})

const tomlLine = fc.constantFrom(
  'model = "gpt-5-codex"',
  'n = 12345678901234567890123',
  "'quoted key' = 1",
  'at = 1979-05-27T07:32:00Z',
  'text = """\nnotify = ["not this"]\n[nor this]\n"""',
  "literal = '''\n# no comment ''",
  '# a comment with notify = []',
  '',
  'list = [\n  "a", # first\n  "]",\n]',
  'inline = { a = "}", b = [1, 2] } # end',
  '  indented = true',
  'dotted.notify = ["x"]',
)
const notifyLine = fc.constantFrom(
  'notify = ["notify-send", "Codex"]',
  'notify = [ # mine\n  "python3",\n  "/home/dev/a b/notify.py", # keep\n]',
  "notify=['/bin/literal string']",
  '"notify" = ["quoted"]',
  'notify = []',
)
const tomlTables = fc.constantFrom(
  '',
  '[tui]\nnotifications = true\n',
  '# of the table\n[notice]\nnotify = ["no"]\n[[a.b]]\nc = 1',
)
const codexSettings = fc
  .tuple(
    fc.uniqueArray(tomlLine),
    fc.option(notifyLine, { nil: undefined }),
    fc.uniqueArray(tomlLine),
    tomlTables,
    fc.boolean(),
  )
  .map(([before, notify, after, tables, isWindows]) => {
    const lines = [...new Set([...before, ...(notify ? [notify] : []), ...after])]
    const text = [...lines, tables].join('\n')
    return isWindows ? text.replaceAll('\n', '\r\n') : text
  })
  .filter((text) => {
    try {
      return Boolean(parseToml(text, { integersAsBigInt: true }))
    } catch {
      return false
    }
  })

describe('the settings of Codex', () => {
  test('keep every character when the hook is put in, and get all of them back', () => {
    fc.assert(
      fc.property(codexSettings, (text) => {
        const made = codex.withHook(text, codexCommand)
        expect(isWithin(text, made)).toBe(true)
        const before = parseToml(text, { integersAsBigInt: true })
        const words = (before.notify ?? []) as string[]
        const then = words.length > 0 ? ['--then', ...words] : []
        const expected = { ...before, notify: [...codexCommand, ...then] }
        expect(isDeepStrictEqual({ ...parseToml(made, { integersAsBigInt: true }) }, expected)).toBe(true)
        expect(codex.withHook(made, codexCommand)).toBe(made)
        const removed = codex.withoutHook(made) ?? ''
        if (then.length > 0) expect(removed).toBe(text)
        else expect(removed.trim()).toBe(text.replace(/^"?notify"? = \[\]\r?\n?/m, '').trim())
      }),
      { numRuns: runs(500) },
    )
  })

  test('pass the call on to the program that was configured before', () => {
    const before = '# of mine\nnotify = ["python3", "/home/dev/notify.py"] # keep\n\n[tui]\nnotifications = true\n'
    const made = codex.withHook(before, codexCommand)
    expect(made).toBe(
      '# of mine\nnotify = ["/opt/tally/tally", "agents", "hook", "codex", "--then", "python3", "/home/dev/notify.py"] # keep\n\n[tui]\nnotifications = true\n',
    )
    expect(codex.withHook(made, ['/new/tally', 'agents', 'hook', 'codex'])).toBe(
      made.replace('/opt/tally/tally', '/new/tally'),
    )
  })

  test('get a line of their own above the first table', () => {
    expect(codex.withHook('model = "x"\n\n[tui]\na = 1\n', codexCommand)).toBe(
      'model = "x"\nnotify = ["/opt/tally/tally", "agents", "hook", "codex"]\n\n[tui]\na = 1\n',
    )
    expect(codex.withHook('[tui]\na = 1\n', codexCommand)).toStartWith('notify = [')
    expect(codex.withHook('', codexCommand)).toBe('notify = ["/opt/tally/tally", "agents", "hook", "codex"]\n')
  })

  test('are refused with the position of the issue if they are not TOML, or if notify is not a list', () => {
    expect(() => codex.withHook('a = 1\nb = \n', codexCommand)).toThrow(/not valid TOML \(line 2/)
    expect(() => codex.withHook('notify = "x"', codexCommand)).toThrow(/not a list of strings/)
    expect(() => codex.withHook('notify = [1]', codexCommand)).toThrow(/not a list of strings/)
  })

  test('name an executable of any path', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: 'grapheme' }), (path) => {
        const command = [path, 'agents', 'hook', 'codex']
        expect(parseToml(codex.withHook('', command))).toEqual({ notify: command })
      }),
    )
  })
})

test('a shell reads a command as it was meant, whatever the path of the executable', () => {
  const paths = fc.string({
    minLength: 1,
    unit: fc.constantFrom('a', ' ', "'", '"', '$', '\\', '`', ';', 'ü', '\n', '*', '~', '!'),
  })
  fc.assert(
    fc.property(paths, (path) => {
      const { stdout } = Bun.spawnSync(['sh', '-c', `printf '%s\\0' ${shellText([path, 'agents'], 'linux')}`])
      expect(stdout.toString()).toBe(`${path}\0agents\0`)
    }),
    { numRuns: runs(50) },
  )
  expect(shellText(['/usr/local/bin/tally', 'agents', 'hook', 'codex'], 'linux')).toBe(
    '/usr/local/bin/tally agents hook codex',
  )
  expect(shellText(['C:\\Program Files\\tally.exe', 'agents'], 'win32')).toBe('"C:/Program Files/tally.exe" agents')
})

describe('the settings of Kimi Code', () => {
  const command = commandOf('kimi-code')
  const other = '[[hooks]]\nevent = "Stop"\ncommand = "lint"\n\n[models.fast]\nmodel = "kimi-k2"\n'

  test.each(['', '# mine\n', 'default_model = "fast"', `${other}\n`, other.replaceAll('\n', '\r\n')])(
    'with the hook have it at each event once, and are the same without it: %j',
    (settings) => {
      const installed = kimiCode.withHook(settings, command)
      const { hooks } = parseToml(installed) as { hooks: { event: string; command: string }[] }
      const own = hooks.filter((hook) => hook.command === '/opt/tally/tally agents hook kimi-code')
      expect(own.map(({ event }) => event)).toEqual(['Stop', 'StopFailure', 'Interrupt', 'PostCompact', 'SessionEnd'])
      expect(hooks.length - own.length).toBe(settings.includes('lint') ? 1 : 0)
      expect(kimiCode.withHook(installed, command)).toBe(installed)
      expect([kimiCode.hasHook(settings), kimiCode.hasHook(installed)]).toEqual([false, true])
      expect((kimiCode.withoutHook(installed) ?? '').trim()).toBe(settings.trim())
      const added = '# mine too\n[plugins]\nhooks = true\n'
      expect(kimiCode.withoutHook(installed + added)).toEndWith(added)
      const moved = kimiCode.withHook(installed, ['/new place/tally', ...command.slice(1)])
      expect(parseToml(moved).hooks).toHaveLength(hooks.length)
    },
  )

  test('are refused where hooks are in one line, or the file is not TOML', () => {
    expect(() => kimiCode.withHook('hooks = []\n', command)).toThrow(/Write them as \[\[hooks\]\] tables first/)
    expect(() => kimiCode.withHook('hooks = [', command)).toThrow(/is not valid TOML/)
    expect(() => kimiCode.withoutHook('hooks = [{ event = "Stop", command = "tally agents hook kimi-code" }]')).toThrow(
      /in a place that Tally cannot change/,
    )
  })
})

describe('a file of settings', () => {
  let home: string
  let environment: AgentsEnvironment
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'tally-settings-'))
  })
  afterAll(() => rm(home, { recursive: true }))

  let count = 0
  async function inEmptyHome() {
    environment = readAgentsEnvironment({ HOME: join(home, `home ${++count}`) })
  }

  async function fileOf(agent: AgentName, content: string | Uint8Array): Promise<string> {
    await inEmptyHome()
    const path = settingsPath(agent, environment)
    await mkdir(dirname(path), { recursive: true })
    await Bun.write(path, content)
    return path
  }

  const put = (agent: AgentName) => install(environment, planInstall(agent, environment, commandOf(agent)))
  const take = (agent: AgentName) => uninstall(environment, planUninstall(agent, environment))

  test.each([...HOOKED_AGENTS])('of %s that was not there is made, and removed again', async (agent) => {
    await inEmptyHome()
    put(agent)
    expect(hasHook(agent, environment)).toBe(true)
    expect(isChange(planInstall(agent, environment, commandOf(agent)))).toBe(false)
    take(agent)
    expect(await Bun.file(settingsPath(agent, environment)).exists()).toBe(false)
    expect(isChange(planUninstall(agent, environment))).toBe(false)
  })

  test('has the very same bytes when the hook was put in, moved and taken out', async () => {
    const samples: [AgentName, string][] = [
      ['claude-code', ''],
      ['claude-code', '{}'],
      ['claude-code', '\ufeff{\r\n\t"hooks" : { "Stop": [ ] }, // x\r\n}'],
      ['gemini-cli', '{"hooks":{}}\n\n'],
      ['codex', '\ufeff[tui]\r\na=1'],
      ['codex', 'notify = []'],
      ['codex', 'model = "x" # no line end'],
    ]
    for (const [agent, text] of samples) {
      const path = await fileOf(agent, text)
      put(agent)
      install(environment, planInstall(agent, environment, ['/moved/tally', 'agents', 'hook', agent]))
      expect(await Bun.file(path).text()).toContain('/moved/tally')
      take(agent)
      expect(Buffer.from(await Bun.file(path).bytes()).toString('latin1')).toBe(Buffer.from(text).toString('latin1'))
    }
  })

  test('keeps its permissions, and stays the target of a symbolic link', async () => {
    const path = await fileOf('claude-code', '{}\n')
    const target = join(environment.home, 'dotfiles.json')
    await Bun.write(target, '{ "model": "opus" }\n')
    await chmod(target, 0o640)
    await rm(path)
    await symlink(target, path)
    put('claude-code')
    expect((await lstat(path)).isSymbolicLink()).toBe(true)
    expect(await readlink(path)).toBe(target)
    expect((await stat(target)).mode & 0o777).toBe(0o640)
    expect(await Bun.file(target).text()).toContain('agents hook claude-code')
    expect((await readdir(environment.home)).sort()).toEqual(['.claude', '.local', 'dotfiles.json'])
    take('claude-code')
    expect(await Bun.file(target).text()).toBe('{ "model": "opus" }\n')
  })

  test('keeps what a person changed after the hook was put in', async () => {
    const path = await fileOf('claude-code', '{}')
    put('claude-code')
    const text = await Bun.file(path).text()
    await Bun.write(path, text.replace('{', '{ // mine\n  "model": "opus",'))
    take('claude-code')
    expect(await Bun.file(path).text()).toContain('// mine')
    expect(parseJson(await Bun.file(path).text())).toEqual({ model: 'opus' })
  })

  test('is not overwritten if it changed while the person was asked', async () => {
    const path = await fileOf('codex', 'model = "a"\n')
    const plan = planInstall('codex', environment, codexCommand)
    await Bun.write(path, 'model = "b"\n')
    expect(() => install(environment, plan)).toThrow(/changed by another program/)
    expect(await Bun.file(path).text()).toBe('model = "b"\n')
  })

  test('is refused if it is not UTF-8 or is a broken link', async () => {
    const path = await fileOf('codex', Uint8Array.of(0x61, 0xff))
    expect(() => planInstall('codex', environment, codexCommand)).toThrow(/not valid UTF-8/)
    await rm(path)
    await symlink('/nowhere/config.toml', path)
    expect(() => put('codex')).toThrow(/link to a file that does not exist/)
  })

  const others: [AgentName, string][] = [
    ['opencode', 'export const Other = 1\n'],
    ['github-copilot', '{"version":1,"hooks":{"Stop":[{"type":"command","command":"mine"}]}}'],
    ['github-copilot', '// mine\n'],
    ['grok', '{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"mine"}]}]}}'],
  ]
  test.each(others)('of %s that Tally did not make is left alone', async (agent, text) => {
    const path = await fileOf(agent, text)
    expect(() => put(agent)).toThrow(/not created by Tally/)
    expect(isChange(planUninstall(agent, environment))).toBe(false)
    expect(await Bun.file(path).text()).toBe(text)
  })
})
