/** `tally agents watch`: has the sessions of this machine's agents reported as they grow. */
import { type Command, Option } from 'commander'
import { AGENT_NAMES, type AgentName } from '../../agents/agent.ts'
import { readCredentials } from '../../agents/credentials.ts'
import { lastWatch, log, noteError, noteWatch } from '../../agents/journal.ts'
import { isWatching, takeWatchLock } from '../../agents/watch/lock.ts'
import {
  installService,
  isInstalled,
  isUpToDate,
  ServiceError,
  type UserService,
  uninstallService,
  watchServiceFor,
} from '../../agents/watch/service.ts'
import type { Reported } from '../../agents/watch/watcher.ts'
import { type AgentsEnvironment, agentsVariables, namedServer, readAgentsEnvironment } from '../../config.ts'
import { CommandError } from '../failures.ts'
import { examples, optionOf } from '../flags/options.ts'
import { counted } from '../terminal/numbers.ts'
import { note, print } from '../terminal/print.ts'
import { agentOption, parseSince } from './scan.ts'
import { selfCommand, stableCommand } from './self.ts'
import { agentsServer, type ServerFlags } from './server.ts'

interface WatchFlags extends ServerFlags {
  agent?: AgentName[]
  since?: number
  once?: boolean
  install?: boolean
  uninstall?: boolean
}

/** A service has what `tally agents login` stores. */
const CONFLICTS = {
  once: ['install', 'uninstall'],
  install: ['uninstall', 'url', 'token', 'tokenFile'],
  uninstall: ['agent', 'since', 'url', 'token', 'tokenFile'],
}

export function addAgentsWatchCommand(agents: Command): void {
  const action = (name: 'once' | 'install' | 'uninstall', description: string) =>
    new Option(`--${name}`, description).conflicts(CONFLICTS[name])
  agents
    .command('watch')
    .description('Report the sessions of agents as they grow, until it is stopped')
    .addOption(agentOption())
    .option('--since <when>', 'only sessions that were active after this time, as in `tally agents scan`', parseSince)
    .addOption(action('once', 'report what has changed since the last time, and exit: for cron and other schedulers'))
    .addOption(
      action('install', 'start it now and at each login: a systemd user unit, a launchd agent or a scheduled task'),
    )
    .addOption(action('uninstall', 'stop it, and remove what --install made'))
    .addOption(optionOf('url'))
    .addOption(optionOf('token'))
    .addOption(optionOf('tokenFile'))
    .addHelpText(
      'after',
      [
        '\nIt follows the session files with notifications of the system, looks for others every minute, and reports',
        'a session a few seconds after it has grown. While the server cannot be reached, it tries again. Reports are',
        'totals so far, so hooks and scans can run as well. No content of sessions is sent.\n',
      ].join('\n') +
        examples(
          'tally agents watch',
          'tally agents watch --install',
          'tally agents watch --install --agent qwen-code --since 2026-11-01',
          'tally agents watch --uninstall',
        ),
    )
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<WatchFlags>()
      if (flags.uninstall) return uninstall()
      if (flags.install) return install(flags)
      await (flags.once ? reportOnce(flags) : watch(flags))
    })
}

/** Reports, and leaves what went wrong for `tally agents status`: often nobody reads what this prints. */
async function reportOnce(flags: WatchFlags): Promise<void> {
  const environment = readAgentsEnvironment()
  const outcome = await (async () => {
    const { server } = agentsServer(flags)
    const { reportChanges } = await import('../../agents/watch/changes.ts')
    const { agent = AGENT_NAMES, since } = flags
    const options = { environment, server, named: flags.url ?? namedServer(), agents: agent }
    return { ...(await reportChanges(since === undefined ? options : { ...options, since })), url: server.url }
  })().catch((error: Error) => {
    log(environment, `reporting failed: ${error.message}`)
    noteError(environment, { at: new Date().toISOString(), message: error.message })
    throw error
  })
  const { created, updated, refused, issue, left, url } = outcome
  if (created + updated > 0) print(`Reported to ${url}: ${created} new, ${updated} updated.`)
  if (refused.length > 0) note(`The server refused ${counted(refused.length, 'report')}. See: tally agents status`)
  if (issue) throw new CommandError(`${issue.message} ${counted(left, 'report')} not sent; no data is lost.`)
}

async function watch(flags: WatchFlags): Promise<void> {
  const environment = readAgentsEnvironment()
  const { server } = agentsServer(flags)
  using lock = takeWatchLock(environment)
  if (!lock) throw new CommandError(`Another watcher is running${processOf(environment)}. See: tally agents status`)
  const { agent: agents = [...AGENT_NAMES] } = flags
  const self = selfCommand()
  const ending = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => ending.abort())
  const state = { pid: process.pid, startedAt: new Date().toISOString(), agents }
  let said = ''
  print(`Watching the sessions of ${agents.join(', ')}, which are reported to ${server.url}. Stop with Ctrl+C.`)
  noteWatch(environment, { ...state, limit: null, retryAt: null })
  const { watchSessions } = await import('../../agents/watch/watcher.ts')
  await watchSessions({
    environment,
    agents,
    signal: ending.signal,
    report: (due) =>
      reportInChild([...self, ...watchArguments({ ...flags, agent: [...due] }), '--once'], ending.signal),
    onState: ({ limit, retryAt }) => {
      if (limit !== null && limit !== said) note(limit)
      said = limit ?? ''
      noteWatch(environment, { ...state, limit, retryAt: retryAt?.toISOString() ?? null })
    },
  })
}

/** It ends when the watcher is killed. Compiling for long runs would take a fifth of its processor time. */
const ENVIRONMENT = { BUN_FEATURE_FLAG_NO_ORPHANS: '1', BUN_JSC_useFTLJIT: '0' }

/** In a process that ends afterwards with all that it has read. */
async function reportInChild(command: string[], signal: AbortSignal): Promise<Reported> {
  // biome-ignore lint/style/noProcessEnv: all of it, for another process of Tally.
  const env = { ...process.env, ...ENVIRONMENT }
  try {
    const child = Bun.spawn(command, { env, stdio: ['ignore', 'inherit', 'inherit'], signal })
    const isDone = (await child.exited) === 0
    return { isDone, processorMs: Number(child.resourceUsage()?.cpuTime.total ?? 0) / 1_000 }
  } catch (error) {
    if (signal.aborted) return { isDone: false, processorMs: 0 }
    // Moved or replaced by an upgrade. A service is then started again by the name that it knows.
    throw new CommandError(`${command[0]} cannot be started: ${(error as Error).message}. Start the watcher again.`)
  }
}

function watchArguments({ agent, since, url, tokenFile }: WatchFlags): string[] {
  return [
    ...['agents', 'watch'],
    ...(agent ? ['--agent', ...agent] : []),
    ...(since === undefined ? [] : ['--since', new Date(since).toISOString()]),
    ...(url === undefined ? [] : ['--url', url]),
    ...(tokenFile === undefined ? [] : ['--token-file', tokenFile]),
  ]
}

function processOf(environment: AgentsEnvironment): string {
  const pid = lastWatch(environment)?.pid
  return pid === undefined ? '' : ` (process ${pid})`
}

/** The service of this person, whether it is installed or not; undefined where the system has none. */
export function findWatchService(flags: Pick<WatchFlags, 'agent' | 'since'> = {}): UserService | undefined {
  const environment = readAgentsEnvironment()
  return watchServiceFor({
    environment,
    command: [...stableCommand(environment), ...watchArguments(flags)],
    variables: agentsVariables(),
  })
}

function install(flags: WatchFlags): void {
  const environment = readAgentsEnvironment()
  const stored = readCredentials(environment)
  if (!stored) {
    throw new CommandError('The service uses the token of `tally agents login`. Run that first, then this again.')
  }
  const service = findWatchService(flags)
  if (!service || !Bun.which(service.manager)) {
    throw new CommandError(
      `This system has no ${service?.manager ?? 'service manager that Tally knows'}. Start \`tally agents watch\` with whatever starts programs here, or report every five minutes with this line in \`crontab -e\`: */5 * * * * ${stableCommand(environment).join(' ')} agents watch --once`,
    )
  }
  const { kind, path } = service
  if (isUpToDate(service) && isWatching(environment)) {
    print(`The ${kind} ${path} is already installed, and runs.`)
    return
  }
  if (!isInstalled(service) && isWatching(environment)) {
    note(`Another watcher is running${processOf(environment)}. Stop it: the service starts within a minute after that.`)
  }
  try {
    installService(service)
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    throw new CommandError(
      `${path} is written, but could not be started: ${error.message}\nRun \`tally agents watch --install\` again as the person whose agents are reported, logged in and without sudo.`,
    )
  }
  print(`Installed the ${kind} ${path} and started it. It reports to ${stored.url} for as long as you are logged in.`)
  if (service.manager === 'systemctl') print('To keep it running when you log out: loginctl enable-linger')
}

function uninstall(): void {
  const service = findWatchService()
  if (!service || !isInstalled(service)) print('No service is installed.')
  if (service && Bun.which(service.manager)) {
    const wasInstalled = isInstalled(service)
    uninstallService(service)
    if (wasInstalled) print(`Stopped the ${service.kind} and removed ${service.path}.`)
  }
  const environment = readAgentsEnvironment()
  if (isWatching(environment)) note(`A watcher that was started otherwise still runs${processOf(environment)}.`)
}
