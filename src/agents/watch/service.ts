/** The watcher and the server of `tally up` as services of the person, in the form that each system has for them. */
import { lstatSync, readFileSync, rmSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import type { AgentsEnvironment } from '../../config.ts'
import { writePrivateFile } from '../private-files.ts'
import { stateFolder } from '../state-folder.ts'

export interface UserService {
  /** As people call it: `systemd user unit`. */
  kind: string
  /** The file that defines it. */
  path: string
  /** What else belongs to it, and is removed with it. */
  links: string[]
  content: string | Uint8Array
  /** The program that manages it. */
  manager: string
  /** Make the manager load the file and start what it defines, also if it has been started before. */
  start: ServiceStep[]
  /** Before the file is removed. */
  stop: ServiceStep[]
  /** After the file was removed. */
  forget: ServiceStep[]
}

export interface ServiceStep {
  args: string[]
  /** What is not there cannot be stopped. */
  mayFail?: true
  /** How often to try, for a manager that has not yet forgotten what it was told to stop. */
  attempts?: number
}

export interface ServiceOptions {
  environment: AgentsEnvironment
  /** What the service runs. */
  command: readonly string[]
  /** What it needs from the environment. Not secret. */
  variables: Readonly<Record<string, string>>
  platform?: NodeJS.Platform
  user?: { uid: number; username: string }
}

interface Kind {
  /** Of the systemd unit. */
  unit: string
  /** Of the launchd agent. */
  label: string
  description: string
  madeBy: string
  /** After so many seconds it is started again, if it has failed. */
  restartSeconds: number
  /** How much less urgent than other programs it is. */
  nice: number
}

const WATCH: Kind = {
  unit: 'tally-agents.service',
  label: 'tally.agents',
  description: 'Tally: report the token usage of agents',
  madeBy: 'Made by `tally agents watch --install`; `tally agents watch --uninstall` removes it.',
  restartSeconds: 60,
  nice: 10,
}

const UP: Kind = {
  unit: 'tally-up.service',
  label: 'tally.up',
  description: 'Tally: the private server of tally up',
  madeBy: 'Made by `tally up --service`; `tally up --stop` removes it.',
  restartSeconds: 5,
  nice: 0,
}

/** Undefined where the system has none of them. */
export function watchServiceFor({ platform = process.platform, ...options }: ServiceOptions): UserService | undefined {
  return platform === 'win32' ? scheduledTask(options) : daemonFor(platform, WATCH, options)
}

/** Likewise; there is none on Windows, whose tasks are ended without being asked. */
export const upServiceFor = ({ platform = process.platform, ...options }: ServiceOptions): UserService | undefined =>
  daemonFor(platform, UP, options)

function daemonFor(platform: NodeJS.Platform, kind: Kind, options: ServiceOptions): UserService | undefined {
  if (platform === 'linux') return systemdUnit(kind, options)
  return platform === 'darwin' ? launchAgent(kind, options) : undefined
}

function systemdUnit(
  { unit, description, madeBy, restartSeconds, nice }: Kind,
  { environment, command, variables }: ServiceOptions,
): UserService {
  const folder = join(environment.configHome, 'systemd', 'user')
  const systemctl = (...args: string[]) => ['systemctl', '--user', ...args]
  return {
    kind: 'systemd user unit',
    path: join(folder, unit),
    links: [join(folder, 'default.target.wants', unit)],
    content: `# ${madeBy}
[Unit]
Description=${description}

[Service]
ExecStart=${command.map((word) => unitWord(word).replaceAll('$', '$$$$')).join(' ')}
${Object.entries(variables)
  .map(([name, value]) => `Environment=${unitWord(`${name}=${value}`)}\n`)
  .join('')}Restart=on-failure
RestartSec=${restartSeconds}
Nice=${nice}

[Install]
WantedBy=default.target
`,
    manager: 'systemctl',
    start: [
      { args: systemctl('daemon-reload') },
      { args: systemctl('enable', unit) },
      { args: systemctl('restart', unit) },
    ],
    stop: [{ args: systemctl('disable', '--now', unit), mayFail: true }],
    forget: [
      { args: systemctl('daemon-reload'), mayFail: true },
      { args: systemctl('reset-failed', unit), mayFail: true },
    ],
  }
}

/** A word of a unit's line, in which `%` begins a specifier. */
function unitWord(word: string): string {
  const escaped = word.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('%', '%%').replaceAll('\n', '\\n')
  return `"${escaped}"`
}

function launchAgent(
  { label, restartSeconds }: Kind,
  { environment, command, variables, user = userInfo() }: ServiceOptions,
): UserService {
  const path = join(environment.home, 'Library', 'LaunchAgents', `${label}.plist`)
  const [domain, text] = [`gui/${user.uid}`, (value: string) => `<string>${Bun.escapeHTML(value)}</string>`]
  const entries = Object.entries(variables).map(([name, value]) => `<key>${Bun.escapeHTML(name)}</key>${text(value)}`)
  return {
    kind: 'launchd agent',
    path,
    links: [],
    // It has no log of its own, which would grow without limit: what is worth knowing is in Tally's.
    content: `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- Made by Tally. -->
<plist version="1.0">
<dict>
  <key>Label</key>${text(label)}
  <key>ProgramArguments</key>
  <array>
${command.map((word) => `    ${text(word)}\n`).join('')}  </array>
  <key>EnvironmentVariables</key>
  <dict>
${entries.map((entry) => `    ${entry}\n`).join('')}  </dict>
  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>
  <key>ThrottleInterval</key><integer>${restartSeconds}</integer>
  <key>ProcessType</key><string>Background</string>
</dict>
</plist>
`,
    manager: 'launchctl',
    start: [
      { args: ['launchctl', 'bootout', `${domain}/${label}`], mayFail: true },
      { args: ['launchctl', 'bootstrap', domain, path], attempts: 10 },
    ],
    stop: [{ args: ['launchctl', 'bootout', `${domain}/${label}`], mayFail: true }],
    forget: [],
  }
}

const TASK = 'Tally agents'

/** It has the environment of the person, and no window because of `conhost --headless`. */
function scheduledTask({ environment, command, user = userInfo() }: ServiceOptions): UserService {
  const path = join(stateFolder(environment), 'watch-task.xml')
  const owner = `<UserId>${Bun.escapeHTML(user.username)}</UserId>`
  const words = command.map((word) => `"${word.replaceAll('"', '\\"')}"`)
  const xml = `<?xml version="1.0" encoding="UTF-16"?>
<Task version="1.3" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo>
    <Description>${Bun.escapeHTML(WATCH.madeBy)}</Description>
  </RegistrationInfo>
  <Triggers>
    <LogonTrigger>
      <Enabled>true</Enabled>
      ${owner}
    </LogonTrigger>
  </Triggers>
  <Principals>
    <Principal id="Author">
      ${owner}
      <LogonType>InteractiveToken</LogonType>
      <RunLevel>LeastPrivilege</RunLevel>
    </Principal>
  </Principals>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <Priority>7</Priority>
    <RestartOnFailure>
      <Interval>PT1M</Interval>
      <Count>255</Count>
    </RestartOnFailure>
  </Settings>
  <Actions Context="Author">
    <Exec>
      <Command>conhost.exe</Command>
      <Arguments>${Bun.escapeHTML(['--headless', ...words].join(' '))}</Arguments>
    </Exec>
  </Actions>
</Task>
`
  return {
    kind: 'scheduled task',
    path,
    links: [],
    // As Windows writes it itself: UTF-16 with a byte order mark.
    content: Buffer.from(`\ufeff${xml.replaceAll('\n', '\r\n')}`, 'utf16le'),
    manager: 'schtasks',
    start: [
      { args: ['schtasks', '/End', '/TN', TASK], mayFail: true },
      { args: ['schtasks', '/Create', '/TN', TASK, '/XML', path, '/F'] },
      { args: ['schtasks', '/Run', '/TN', TASK] },
    ],
    stop: [
      { args: ['schtasks', '/End', '/TN', TASK], mayFail: true },
      { args: ['schtasks', '/Delete', '/TN', TASK, '/F'], mayFail: true },
    ],
    forget: [],
  }
}

/** The manager refused a step; the message is its own. */
export class ServiceError extends Error {}

/** Whether the service, or a part of it, is there. */
export function isInstalled({ path, links }: UserService): boolean {
  return [path, ...links].some((each) => lstatSync(each, { throwIfNoEntry: false }) !== undefined)
}

/** Whether the service is defined exactly like this. */
export function isUpToDate({ path, content }: UserService): boolean {
  try {
    return readFileSync(path).equals(Buffer.from(content as string))
  } catch {
    return false
  }
}

/** Throws {@link ServiceError}. */
export function installService({ path, content, start }: UserService): void {
  writePrivateFile(path, content)
  perform(start)
}

/** Whatever is there of it. */
export function uninstallService(service: UserService): void {
  perform(service.stop)
  removeFiles(service)
  perform(service.forget)
}

/** Of a service that does not run. */
export function removeFiles({ path, links }: UserService): void {
  for (const each of [path, ...links]) rmSync(each, { force: true })
}

const PAUSE_MS = 500

function perform(steps: readonly ServiceStep[]): void {
  for (const { args, mayFail, attempts = 1 } of steps) {
    const attempt = () => Bun.spawnSync(args, { stdin: 'ignore', stdout: 'ignore', stderr: 'pipe' })
    let { exitCode, stderr } = attempt()
    for (let count = 1; exitCode !== 0 && count < attempts; count += 1) {
      Bun.sleepSync(PAUSE_MS)
      ;({ exitCode, stderr } = attempt())
    }
    if (exitCode === 0 || mayFail) continue
    throw new ServiceError(`\`${args.join(' ')}\` failed: ${stderr.toString().trim() || `exit code ${exitCode}`}`)
  }
}
