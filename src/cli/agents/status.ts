import { Argument, type Command } from 'commander'
import { AGENT_NAMES, type AgentName, type NotRead } from '../../agents/agent.ts'
import { HOOKED_AGENTS, hasHook, hookWarnings, SettingsError, settingsPath } from '../../agents/install/install.ts'
import { hasTelemetry } from '../../agents/install/telemetry.ts'
import { lastDelivery, lastError, lastHook, lastWatch, logPath } from '../../agents/journal.ts'
import { presenceOf, type UnreadPresence, unreadOn } from '../../agents/presence.ts'
import { lastStatuses } from '../../agents/report-status.ts'
import { readMe, ServerError } from '../../agents/server.ts'
import { readJobs, readRefused, refusedFolder, spoolFolder } from '../../agents/spool.ts'
import { isWatching } from '../../agents/watch/lock.ts'
import { isInstalled } from '../../agents/watch/service.ts'
import { type AgentsEnvironment, ConfigError, readAgentsEnvironment, telemetryEndpoint } from '../../config.ts'
import { agentNotReadText } from '../../shared/not-read.ts'
import { CommandError } from '../failures.ts'
import { examples, optionOf } from '../flags/options.ts'
import { counted } from '../terminal/numbers.ts'
import { minute, note, print, printJson, printTable } from '../terminal/print.ts'
import { agentsServer, isLoggedOut, type ServerFlags } from './server.ts'
import { findWatchService } from './watch.ts'

interface StatusFlags extends ServerFlags {
  json?: boolean
}

/** What keeps usage from being reported, and the command that fixes it; null if none does. */
interface Missing {
  what: string
  command: string | null
}

interface AgentStatus {
  agent: AgentName
  /** Whether its command, its settings or its sessions are on this machine. */
  found: boolean
  version: string | null
  program: string | null
  /** What is read. */
  folders: string[]
  session_files: number
  last_session_at: string | null
  connected: ('hook' | 'telemetry' | 'watch')[]
  hook: 'installed' | 'not installed' | 'unknown' | 'not available'
  /** The settings of the agent with the hook. */
  file: string | null
  /** Why the settings cannot be read. */
  error: string | null
  last_hook: { at: string; event: string } | null
  /** Number of sessions with undelivered usage. */
  waiting: number
  refused: { session_id: string; at: string; reasons: string[] }[]
  /** By a hook, a watcher or a scan. */
  last_delivery: { at: string; session_id: string; entries: number } | null
  missing: Missing[]
  /** The newest version in its session files when they were last reported, and what could not be read. */
  version_read: string | null
  not_read: NotRead[]
}

interface WatchStatus {
  running: boolean
  pid: number | null
  started_at: string | null
  agents: AgentName[]
  limit: string | null
  /** When it tries again, after a failure. */
  retry_at: string | null
  /** The file that starts it at each login. */
  service: { kind: string; file: string } | null
}

export function addAgentsStatusCommand(agents: Command): void {
  agents
    .command('status')
    .description(
      'Show which agents are on this machine, how each is connected, what was last reported, and what is missing; also without a login',
    )
    .summary('Show which agents are on this machine, and how each is connected')
    .addArgument(new Argument('[agents...]', 'only these agents').choices(AGENT_NAMES))
    .addOption(optionOf('url'))
    .addOption(optionOf('token'))
    .addOption(optionOf('tokenFile'))
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tally agents status', 'tally agents status claude-code --json'))
    .action(async (names: AgentName[], _flags, command: Command) => {
      const flags = command.optsWithGlobals<StatusFlags>()
      const environment = readAgentsEnvironment()
      const watch = watchStatus(environment)
      const lastOf = lastStatuses(environment)
      const chosen = names.length > 0 ? names : AGENT_NAMES
      const statuses = chosen.map((agent) => statusOf(agent, environment, watch, lastOf(agent)))
      const status = {
        agents: statuses,
        unread: names.length > 0 ? [] : unreadOn(environment),
        watch,
        server: await serverStatus(flags),
        last_error: lastError(environment) ?? null,
        damaged: [...readJobs(environment).damaged, ...readRefused(environment).damaged],
        spool: spoolFolder(environment),
        refused: refusedFolder(environment),
        log: logPath(environment),
      }
      if (flags.json) return printJson(status)
      printStatus(status, { all: names.length > 0 })
    })
}

function statusOf(
  agent: AgentName,
  environment: AgentsEnvironment,
  watch: WatchStatus,
  last: ReturnType<ReturnType<typeof lastStatuses>>,
): AgentStatus {
  const { program, version, folders, sessionFiles, lastSessionAt, damage } = presenceOf(agent, environment)
  const sessions = readJobs(environment).waiting.filter(({ content }) => content.agent === agent)
  const refused = readRefused(environment).waiting.filter(({ content }) => content.job.agent === agent)
  const delivery = lastDelivery(environment, agent)
  const hook = hookStatus(agent, environment)
  const isWatched = watch.running && watch.agents.includes(agent)
  const connected = [
    ...(hook.hook === 'installed' ? (['hook'] as const) : []),
    ...(hasTelemetry(agent, environment, telemetryEndpoint) ? (['telemetry'] as const) : []),
    ...(isWatched ? (['watch'] as const) : []),
  ]
  const status = {
    agent,
    found: program !== null || folders.length > 0 || hook.hook === 'installed' || hook.hook === 'unknown',
    version,
    program,
    folders,
    session_files: sessionFiles,
    last_session_at: lastSessionAt === null ? null : new Date(lastSessionAt).toISOString(),
    connected,
    ...hook,
    last_hook: lastHook(environment, agent) ?? null,
    waiting: new Set(sessions.map(({ content }) => content.sessionId)).size,
    refused: refused.map(({ content: { job, at, reasons } }) => ({ session_id: job.sessionId, at, reasons })),
    ...{ version_read: last?.version ?? null, not_read: last?.not_read ?? [] },
    last_delivery: delivery ? { at: delivery.at, session_id: delivery.sessionId, entries: delivery.entries } : null,
  }
  const unread = damage.map(({ file, what }): Missing => ({ what: `${file} ${what}`, command: null }))
  return { ...status, missing: status.found ? [...missingOf(status, environment), ...unread] : [] }
}

function hookStatus(agent: AgentName, environment: AgentsEnvironment): Pick<AgentStatus, 'hook' | 'file' | 'error'> {
  if (!HOOKED_AGENTS.includes(agent)) return { hook: 'not available', file: null, error: null }
  const file = settingsPath(agent, environment)
  try {
    return { hook: hasHook(agent, environment) ? 'installed' : 'not installed', file, error: null }
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error
    return { hook: 'unknown', file, error: `${file} ${error.message}.` }
  }
}

function missingOf(status: Omit<AgentStatus, 'missing'>, environment: AgentsEnvironment): Missing[] {
  const { agent, connected, hook, error, refused } = status
  const missing: Missing[] = []
  if (error !== null) missing.push({ what: error, command: null })
  if (connected.length === 0 && error === null) {
    const command = hook === 'not available' ? 'tally agents watch --install' : `tally agents install ${agent}`
    missing.push({ what: 'It does not report what it uses.', command })
  }
  for (const what of hook === 'installed' ? hookWarnings(agent, environment) : []) missing.push({ what, command: null })
  if (hook === 'installed' && status.last_hook === null && status.session_files > 0) {
    const what = 'The hook has not run yet. Restart sessions that were running when it was installed.'
    missing.push({ what, command: null })
  }
  if (status.session_files > 0 && status.last_delivery === null && !connected.includes('telemetry')) {
    const command = `tally agents scan --agent ${agent} --report`
    missing.push({ what: 'None of its sessions has been reported from this machine.', command })
  }
  if (refused.length > 0) {
    const command = 'tally agents flush --refused'
    missing.push({ what: `The server refused ${counted(refused.length, 'session')}.`, command })
  }
  return missing
}

function watchStatus(environment: AgentsEnvironment): WatchStatus {
  const running = isWatching(environment)
  const last = running ? lastWatch(environment) : undefined
  const service = findWatchService()
  return {
    running,
    pid: last?.pid ?? null,
    started_at: last?.startedAt ?? null,
    agents: last?.agents ?? [],
    limit: last?.limit ?? null,
    retry_at: last?.retryAt ?? null,
    service: service && isInstalled(service) ? { kind: service.kind, file: service.path } : null,
  }
}

const LOGGED_OUT =
  'Not logged in, so nothing is reported, and what hooks see stays queued. Create a service token with `tally tokens create --kind svc --user … --name …`, then run `tally agents login --url …`.'

/** Whether the server accepts reports with this token. */
async function serverStatus(flags: ServerFlags) {
  let url: string | null = null
  try {
    if (isLoggedOut(flags)) throw new CommandError(LOGGED_OUT)
    const { server } = agentsServer(flags)
    url = server.url
    const me = await readMe(server)
    const owner = `${me.person.name} (${me.person.email})`
    const issue =
      me.kind === 'service' ? null : 'The token is not a service token. Store one with `tally agents login`.'
    return {
      url,
      reachable: true,
      reports_for: issue ? null : owner,
      held_entries: me.held_entries ?? null,
      error: issue,
    }
  } catch (error) {
    const isKnown = error instanceof ServerError || error instanceof ConfigError || error instanceof CommandError
    if (!isKnown) throw error
    return {
      url,
      reachable: error instanceof ServerError && error.status !== null,
      reports_for: null,
      held_entries: null,
      error: error.message,
    }
  }
}

interface Status {
  agents: AgentStatus[]
  unread: UnreadPresence[]
  watch: WatchStatus
  server: Awaited<ReturnType<typeof serverStatus>>
  last_error: { at: string; message: string } | null
  damaged: string[]
  refused: string
  log: string
}

function printStatus(status: Status, { all }: { all: boolean }): void {
  const shown = status.agents.filter(({ found, waiting, refused }) => all || found || waiting > 0 || refused.length > 0)
  if (shown.length > 0) {
    printTable(
      [
        { title: 'AGENT', of: ({ agent }) => agent },
        { title: 'VERSION', of: ({ version, found }) => version ?? (found ? 'unknown' : '–') },
        { title: 'CONNECTED BY', of: ({ connected }) => connected.join(', ') || 'none' },
        { title: 'SESSION FILES', of: ({ session_files }) => String(session_files), align: 'right' },
        { title: 'LAST SESSION (UTC)', of: ({ last_session_at }) => minute(last_session_at) },
        { title: 'LAST REPORT (UTC)', of: ({ last_delivery }) => minute(last_delivery?.at ?? null) },
        { title: 'QUEUED', of: ({ waiting }) => String(waiting), align: 'right' },
        { title: 'REFUSED', of: ({ refused }) => String(refused.length), align: 'right' },
        { title: 'READ FROM', rank: 1, of: ({ folders }) => folders.join(', ') || '–' },
      ],
      shown,
    )
  }
  const others = status.agents.filter((each) => !shown.includes(each))
  if (others.length > 0) print(`Not on this machine: ${others.map(({ agent }) => agent).join(', ')}`)
  for (const { title, path, reason } of status.unread) print(`Found, but not read: ${title} (${path}). ${reason}`)
  const { url, reports_for, held_entries, error } = status.server
  print(`\nserver  ${error ?? `${url} accepts reports for ${reports_for}`}`)
  print(`watch   ${watchText(status.watch)}`)
  if (held_entries)
    print(`held    ${counted(held_entries, 'entry', 'entries')}: another person has reported the same sessions`)
  print(`log     ${status.log}`)
  const missing = shown.flatMap((each) => each.missing.map((one) => ({ ...one, agent: each.agent })))
  if (missing.length > 0) print('')
  for (const { agent, what, command } of missing)
    print(`${agent}: ${what}${command === null ? '' : ` Run: ${command}`}`)
  for (const { agent, version_read, not_read } of shown) {
    if (not_read.length > 0) note(`Not counted: ${agentNotReadText(agent, version_read, not_read)}`)
  }
  for (const { agent, refused } of shown) {
    for (const { session_id, at, reasons } of refused) {
      note(`The server refused ${agent} ${session_id} on ${minute(at)} UTC: ${reasons.join('; ')}`)
    }
  }
  if (shown.some(({ refused }) => refused.length > 0)) {
    note(`To discard refused sessions, delete their files in ${status.refused}`)
  }
  if (status.last_error) note(`Last error, ${minute(status.last_error.at)} UTC: ${status.last_error.message}`)
  for (const file of status.damaged) note(`${file} cannot be read, so it is not delivered.`)
}

function watchText({ running, pid, started_at, limit, retry_at, service }: WatchStatus): string {
  if (!running) {
    return service
      ? `installed as ${service.kind} ${service.file}, but not running. Run: tally agents watch --install`
      : 'not running'
  }
  const parts = [`running since ${minute(started_at)} UTC (process ${pid}${service ? `, ${service.kind}` : ''})`]
  if (retry_at !== null) parts.push(`cannot report, tries again at ${minute(retry_at)} UTC`)
  if (limit !== null) parts.push(limit)
  return parts.join('; ')
}
