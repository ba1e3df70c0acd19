import type { Command } from 'commander'
import type { AgentName } from '../../agents/agent.ts'
import { HOOKED_AGENTS, hasHook, SettingsError, settingsPath } from '../../agents/install/install.ts'
import { lastDelivery, lastError, lastHook, logPath } from '../../agents/journal.ts'
import { readMe, ServerError } from '../../agents/server.ts'
import { readJobs, readRefused, refusedFolder, spoolFolder } from '../../agents/spool.ts'
import { type AgentsEnvironment, ConfigError, readAgentsEnvironment } from '../../config.ts'
import { CommandError } from '../failures.ts'
import { examples, optionOf } from '../flags/options.ts'
import { counted } from '../terminal/numbers.ts'
import { minute, note, print, printJson, printTable } from '../terminal/print.ts'
import { agentsArgument } from './install.ts'
import { agentsServer, isLoggedOut, type ServerFlags } from './server.ts'

interface StatusFlags extends ServerFlags {
  json?: boolean
}

interface AgentStatus {
  agent: AgentName
  hook: 'installed' | 'not installed' | 'unknown'
  /** The settings of the agent. */
  file: string
  /** Why the settings cannot be read. */
  error: string | null
  last_hook: { at: string; event: string } | null
  /** Number of sessions with undelivered usage. */
  waiting: number
  refused: { session_id: string; at: string; reasons: string[] }[]
  last_delivery: { at: string; session_id: string; entries: number } | null
}

export function addAgentsStatusCommand(agents: Command): void {
  agents
    .command('status')
    .description('Show which agents have the hook, what is queued, and whether the server accepts reports')
    .addArgument(agentsArgument('[agents...]', 'only these agents'))
    .addOption(optionOf('url'))
    .addOption(optionOf('token'))
    .addOption(optionOf('tokenFile'))
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tally agents status', 'tally agents status claude-code --json'))
    .action(async (names: AgentName[], _flags, command: Command) => {
      const flags = command.optsWithGlobals<StatusFlags>()
      const environment = readAgentsEnvironment()
      const statuses = (names.length > 0 ? names : HOOKED_AGENTS).map((agent) => statusOf(agent, environment))
      const status = {
        agents: statuses,
        server: await serverStatus(flags),
        last_error: lastError(environment) ?? null,
        damaged: [...readJobs(environment).damaged, ...readRefused(environment).damaged],
        spool: spoolFolder(environment),
        refused: refusedFolder(environment),
        log: logPath(environment),
      }
      if (flags.json) return printJson(status)
      printStatus(status)
    })
}

function statusOf(agent: AgentName, environment: AgentsEnvironment): AgentStatus {
  const sessions = readJobs(environment).waiting.filter(({ content }) => content.agent === agent)
  const refused = readRefused(environment).waiting.filter(({ content }) => content.job.agent === agent)
  const delivery = lastDelivery(environment, agent)
  return {
    agent,
    ...hookStatus(agent, environment),
    last_hook: lastHook(environment, agent) ?? null,
    waiting: new Set(sessions.map(({ content }) => content.sessionId)).size,
    refused: refused.map(({ content: { job, at, reasons } }) => ({ session_id: job.sessionId, at, reasons })),
    last_delivery: delivery ? { at: delivery.at, session_id: delivery.sessionId, entries: delivery.entries } : null,
  }
}

function hookStatus(agent: AgentName, environment: AgentsEnvironment): Pick<AgentStatus, 'hook' | 'file' | 'error'> {
  const file = settingsPath(agent, environment)
  try {
    return { hook: hasHook(agent, environment) ? 'installed' : 'not installed', file, error: null }
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error
    return { hook: 'unknown', file, error: `${file} ${error.message}.` }
  }
}

const LOGGED_OUT =
  'Not logged in, so sessions stay queued. Create a service token with `tally tokens create --kind svc --user … --name …`, then run `tally agents login --url …`.'

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

function printStatus(status: {
  agents: AgentStatus[]
  server: Awaited<ReturnType<typeof serverStatus>>
  last_error: { at: string; message: string } | null
  damaged: string[]
  refused: string
  log: string
}): void {
  printTable(
    [
      { title: 'AGENT', of: ({ agent }) => agent },
      { title: 'HOOK', of: ({ hook }) => hook },
      { title: 'LAST RUN (UTC)', of: ({ last_hook }) => minute(last_hook?.at ?? null) },
      { title: 'QUEUED', of: ({ waiting }) => String(waiting), align: 'right' },
      { title: 'REFUSED', of: ({ refused }) => String(refused.length), align: 'right' },
      { title: 'LAST DELIVERY (UTC)', of: ({ last_delivery }) => minute(last_delivery?.at ?? null) },
      { title: 'SETTINGS', rank: 1, of: ({ file }) => file },
    ],
    status.agents,
  )
  const { url, reports_for, held_entries, error } = status.server
  print(`\nserver  ${error ?? `${url} accepts reports for ${reports_for}`}`)
  if (held_entries)
    print(`held    ${counted(held_entries, 'entry', 'entries')}: another person has reported the same sessions`)
  print(`log     ${status.log}`)
  for (const { agent, error, refused } of status.agents) {
    if (error) note(error)
    for (const { session_id, at, reasons } of refused) {
      note(`The server refused ${agent} ${session_id} on ${minute(at)} UTC: ${reasons.join('; ')}`)
    }
  }
  if (status.agents.some(({ refused }) => refused.length > 0)) {
    note(`To retry: tally agents flush --refused. To discard refused sessions, delete their files in ${status.refused}`)
  }
  if (status.last_error) note(`Last error, ${minute(status.last_error.at)} UTC: ${status.last_error.message}`)
  for (const file of status.damaged) note(`${file} cannot be read, so it is not delivered.`)
}
