/** What `tally up` does with the agents of this machine: imports their sessions, and connects them. */
import { AGENT_NAMES, type AgentName, type SessionUse } from '../../agents/agent.ts'
import { reportUses } from '../../agents/batches.ts'
import { CredentialsError, credentialsPath, readCredentials, storeCredentials } from '../../agents/credentials.ts'
import {
  HOOKED_AGENTS,
  install,
  isChange,
  planInstall,
  type SettingsChange,
  SettingsError,
  settingsPath,
} from '../../agents/install/install.ts'
import { noteAccepted } from '../../agents/journal.ts'
import { presenceOf } from '../../agents/presence.ts'
import { type AgentsEnvironment, type ClientConfig, namedServer, namesToken } from '../../config.ts'
import { moneyNumber } from '../../lib/money.ts'
import { AGENTS } from '../../shared/agents.ts'
import { hookOf, patchOf } from '../agents/install.ts'
import { failWhereLeft, failWhereUnread, scanned, sumOf, withProgress } from '../agents/scan-run.ts'
import { printDamage, printRefused } from '../agents/scan-text.ts'
import { CommandError } from '../failures.ts'
import { ask, isInteractive } from '../terminal/confirm.ts'
import { counted, countText, inDollars } from '../terminal/numbers.ts'
import { note, printFields } from '../terminal/print.ts'
import { type Place, remember, remembered, shownPath } from './place.ts'

const listText = new Intl.ListFormat('en', { type: 'conjunction' })

const namesOf = (agents: Iterable<AgentName>) => listText.format([...agents].map((agent) => AGENTS[agent].title))

/** Where the agents of this machine report to, as `tally agents login` or the environment says; undefined for nowhere else. */
export function otherServer(environment: AgentsEnvironment, server: ClientConfig): string | undefined {
  const named = namedServer()
  if (named !== null || namesToken({})) return named ?? 'the server of TALLY_TOKEN'
  const stored = storedLogin(environment)
  return stored && stored.token !== server.token ? stored.url : undefined
}

/** What cannot be read is another login as well, which stays as it is. */
export function storedLogin(environment: AgentsEnvironment): ClientConfig | undefined {
  try {
    return readCredentials(environment)
  } catch (error) {
    if (!(error instanceof CredentialsError)) throw error
    return { url: `the server in ${credentialsPath(environment)}`, token: '' }
  }
}

/** Reports everything that the agents of this machine have kept. Returns what throws if a part of it was not read or taken. */
export async function importSessions(
  environment: AgentsEnvironment,
  server: ClientConfig,
  { isOwn }: { isOwn: boolean },
): Promise<() => void> {
  const scan = await scanned({})
  const { uses } = scan
  if (uses.length === 0) {
    printFields([['Imported', 'nothing: there are no agent sessions on this machine yet']])
    printDamage(scan)
    return () => failWhereUnread(scan.damage)
  }
  const outcome = await withProgress('Importing', (options) => reportUses(server, uses, options))
  if (isOwn) noteAccepted(environment, outcome.accepted)
  const { accepted } = outcome
  const sessions = [...Map.groupBy(accepted, ({ use }) => `${use.agentHarness} ${use.sessionId}`).values()]
  const countOf = (result: string) => sessions.filter((models) => models.every((each) => each.result === result)).length
  const [created, unchanged] = [countOf('created'), countOf('repeated')]
  const updated = sessions.length - created - unchanged
  const count =
    created === sessions.length
      ? counted(created, 'session')
      : `${countText(created)} new, ${countText(updated)} updated and ${counted(unchanged, 'unchanged session')}`
  const agents = namesOf(new Set(uses.map(({ agentHarness }) => agentHarness)))
  const entries = accepted.reduce((sum, each) => sum + each.entries, 0)
  const taken = new Set<SessionUse>(accepted.map(({ use }) => use))
  const cost = inDollars(moneyNumber(sumOf(uses.filter((use) => taken.has(use)))))
  printFields([['Imported', `${count} of ${agents}: ${counted(entries, 'entry', 'entries')}, ${cost}`]])
  printRefused(outcome.refused)
  printDamage(scan)
  return () => {
    failWhereLeft(outcome)
    failWhereUnread(scan.damage)
  }
}

interface ConnectOptions {
  place: Place
  /** How to start Tally, also later. */
  program: readonly string[]
  server: ClientConfig
  yes: boolean
}

/** Installs the hooks of the agents that are here and have them, after one question. */
export async function connectAgents(
  environment: AgentsEnvironment,
  { place, program, server, yes }: ConnectOptions,
): Promise<void> {
  const present = AGENT_NAMES.filter((agent) => isPresent(agent, environment))
  const hooked = present.filter((agent) => HOOKED_AGENTS.includes(agent))
  const plans = hooked.flatMap((agent) => planned(agent, environment, program))
  const changes = plans.filter(isChange)
  const isLoggedIn = storedLogin(environment) !== undefined
  if (plans.length > 0 && (changes.length > 0 || !isLoggedIn)) {
    if (!(await isWanted(plans, changes, { environment, place, yes }))) return
    for (const change of changes) install(environment, change)
    remember(place, { declined: [] })
  }
  // With a new address, where the server has one.
  if (plans.length > 0) storeCredentials(environment, server)
  const isNew = changes.length > 0 ? '. Running sessions are not included until they are restarted.' : ''
  if (plans.length > 0) printFields([['Connected', namesOf(plans.map(({ agent }) => agent)) + isNew]])
  for (const { path, warnings } of plans) for (const warning of warnings) note(`${path}: ${warning}`)
  const others = present.filter((agent) => !HOOKED_AGENTS.includes(agent))
  if (others.length > 0) {
    note(`No hooks for ${namesOf(others)}. To watch their session files instead: tally agents watch --install`)
  }
}

function isPresent(agent: AgentName, environment: AgentsEnvironment): boolean {
  const { program, folders } = presenceOf(agent, environment)
  return program !== null || folders.length > 0
}

/** Settings that cannot be changed are left alone, and said: the others can be connected. */
function planned(agent: AgentName, environment: AgentsEnvironment, program: readonly string[]): SettingsChange[] {
  try {
    return [planInstall(agent, environment, [...program, ...hookOf(agent)])]
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error
    note(`${AGENTS[agent].title} is not connected: ${settingsPath(agent, environment)} ${error.message}.`)
    return []
  }
}

async function isWanted(
  plans: readonly SettingsChange[],
  changes: readonly SettingsChange[],
  { environment, place, yes }: Pick<ConnectOptions, 'place' | 'yes'> & { environment: AgentsEnvironment },
): Promise<boolean> {
  if (yes) return true
  const agents = plans.map(({ agent }) => agent)
  const { declined = [] } = remembered(place)
  const isDeclined = agents.every((agent) => declined.includes(agent))
  if (isDeclined || !isInteractive()) {
    note(`${namesOf(agents)} ${agents.length === 1 ? 'is' : 'are'} not connected. To connect: tally up --yes`)
    return false
  }
  note(`\nConnect ${namesOf(agents)}, so that new sessions appear automatically?`)
  const files = listText.format(changes.map(({ path }) => shownPath(environment, path)))
  const question = `${changes.length === 0 ? 'The hooks are installed already.' : `This adds a hook to ${files}.`} [Y/n, d shows the changes] `
  for (;;) {
    const answer = await ask(question)
    if (answer === undefined) throw new CommandError('The agents are not connected. Run `tally up` again to continue.')
    if (/^(y(es)?)?$/i.test(answer)) return true
    if (/^n(o)?$/i.test(answer)) {
      remember(place, { declined: agents })
      return false
    }
    if (/^d$/i.test(answer)) for (const change of changes) process.stderr.write(patchOf(change))
  }
}
