/** The forms in which each system starts the watcher. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { basename } from 'node:path'
import { type UserService, upServiceFor, watchServiceFor } from '../../src/agents/watch/service.ts'
import { readAgentsEnvironment } from '../../src/config.ts'
import { AgentHome } from '../support/agent-home.ts'

const COMMAND = ['/opt/new & old/50% "off"/$tally', 'agents', 'watch', '--agent', 'codex']
const VARIABLES = { CODEX_HOME: '/srv/a b/100%/"x"\\y', QWEN_HOME: '/q<&>' }

let home: AgentHome
beforeAll(() => {
  home = new AgentHome()
})
afterAll(() => home.remove())

function serviceOn(platform: NodeJS.Platform): UserService {
  const user = { uid: 501, username: 'ada' }
  const environment = readAgentsEnvironment({ HOME: home.folder })
  return watchServiceFor({ platform, environment, command: COMMAND, variables: VARIABLES, user })!
}

describe('a systemd user unit', () => {
  test('runs the command with the variables, whatever characters they have', () => {
    const { path, content } = serviceOn('linux')
    expect(path).toBe(`${home.folder}/.config/systemd/user/tally-agents.service`)
    expect(String(content).split('\n')).toEqual(
      expect.arrayContaining([
        'ExecStart="/opt/new & old/50%% \\"off\\"/$$tally" "agents" "watch" "--agent" "codex"',
        'Environment="CODEX_HOME=/srv/a b/100%%/\\"x\\"\\\\y"',
        'Environment="QWEN_HOME=/q<&>"',
        'Restart=on-failure',
        'WantedBy=default.target',
      ]),
    )
  })

  test.skipIf(Bun.which('systemd-analyze') === null)('is valid for systemd', async () => {
    const command = [home.write('bin/new & old/tally', '#!/bin/sh\n'), 'agents', 'watch']
    await Bun.$`chmod +x ${command[0]!}`.quiet()
    const environment = readAgentsEnvironment({ HOME: home.folder })
    for (const serviceFor of [watchServiceFor, upServiceFor]) {
      const { content, path } = serviceFor({ platform: 'linux', environment, command, variables: VARIABLES })!
      const unit = home.write(basename(path), content)
      const { exitCode, stderr } = await Bun.$`systemd-analyze verify --user --man=no ${unit}`
        .env({ PATH: process.env.PATH!, HOME: home.folder, XDG_RUNTIME_DIR: home.folder })
        .nothrow()
        .quiet()
      const about = stderr
        .toString()
        .split('\n')
        .filter((line) => line.includes(basename(path)))
      expect([exitCode, about]).toEqual([0, []])
    }
  })
})

/** What a program of Python that reads standard input prints as JSON. */
async function parsed(program: string, input: string | Uint8Array) {
  const child = Bun.spawn(['python3', '-c', program], { stdin: Buffer.from(input as string), stdout: 'pipe' })
  return JSON.parse(await child.stdout.text())
}

describe.skipIf(Bun.which('python3') === null)('as others read it', () => {
  test('a launchd agent is a property list with the command and the variables', async () => {
    const { path, content, start } = serviceOn('darwin')
    expect(path).toBe(`${home.folder}/Library/LaunchAgents/tally.agents.plist`)
    const program = 'import json, plistlib, sys; print(json.dumps(plistlib.load(sys.stdin.buffer)))'
    expect(await parsed(program, content)).toEqual({
      Label: 'tally.agents',
      ProgramArguments: COMMAND,
      EnvironmentVariables: VARIABLES,
      RunAtLoad: true,
      KeepAlive: { SuccessfulExit: false },
      ThrottleInterval: 60,
      ProcessType: 'Background',
    })
    expect(start.map(({ args }) => args.join(' '))).toEqual([
      'launchctl bootout gui/501/tally.agents',
      `launchctl bootstrap gui/501 ${path}`,
    ])
  })

  test('a scheduled task of Windows starts at the login of its person, without a window', async () => {
    const { path, content, start } = serviceOn('win32')
    const program = `import json, sys, xml.etree.ElementTree as tree
print(json.dumps({e.tag: e.text for e in tree.fromstring(sys.stdin.buffer.read()).iter() if not len(e)}))`
    const name = (tag: string) => `{http://schemas.microsoft.com/windows/2004/02/mit/task}${tag}`
    expect(await parsed(program, content)).toMatchObject({
      [name('UserId')]: 'ada',
      [name('LogonType')]: 'InteractiveToken',
      [name('MultipleInstancesPolicy')]: 'IgnoreNew',
      [name('ExecutionTimeLimit')]: 'PT0S',
      [name('Command')]: 'conhost.exe',
      [name('Arguments')]: '--headless "/opt/new & old/50% \\"off\\"/$tally" "agents" "watch" "--agent" "codex"',
    })
    expect(start.map(({ args }) => args.join(' '))).toContain(`schtasks /Create /TN Tally agents /XML ${path} /F`)
  })
})

test('the server of tally up has a service of its own, but none on Windows', () => {
  const environment = readAgentsEnvironment({ HOME: home.folder })
  const on = (platform: NodeJS.Platform) => upServiceFor({ platform, environment, command: COMMAND, variables: {} })
  expect(on('linux')!.path).toBe(`${home.folder}/.config/systemd/user/tally-up.service`)
  expect(on('darwin')!.path).toBe(`${home.folder}/Library/LaunchAgents/tally.up.plist`)
  expect(on('win32')).toBeUndefined()
})

test('other systems have none of them', () => {
  const environment = readAgentsEnvironment({ HOME: home.folder })
  expect(watchServiceFor({ platform: 'freebsd', environment, command: COMMAND, variables: {} })).toBeUndefined()
})
