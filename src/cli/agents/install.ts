import { Argument, type Command } from 'commander'
import { createTwoFilesPatch } from 'diff'
import type { AgentName } from '../../agents/agent.ts'
import {
  HOOKED_AGENTS,
  install,
  isChange,
  planInstall,
  planUninstall,
  type SettingsChange,
  SettingsError,
  settingsPath,
  uninstall,
} from '../../agents/install/install.ts'
import { type AgentsEnvironment, readAgentsEnvironment } from '../../config.ts'
import { CommandError } from '../failures.ts'
import { asksFirst } from '../flags/confirmation.ts'
import { examples } from '../flags/options.ts'
import { confirm } from '../terminal/confirm.ts'
import { note, print } from '../terminal/print.ts'
import { stableCommand } from './self.ts'

interface InstallFlags {
  yes?: boolean
}

function agentsArgument(flags: string, description: string): Argument {
  return new Argument(flags, description).choices(HOOKED_AGENTS)
}

/** The changes are shown without a terminal as well, and without any there is nothing to confirm. */
const afterTheChanges = () => false

export function addAgentsInstallCommands(agents: Command): void {
  asksFirst(agents.command('install'), afterTheChanges)
    .description("Add Tally's hook to the settings of agents, after showing the changes")
    .addArgument(agentsArgument('<agents...>', 'agents to install the hook for'))
    .addHelpText('after', examples('tally agents install claude-code', 'tally agents install codex gemini-cli --yes'))
    .action((names: AgentName[], { yes = false }: InstallFlags) => installHooks(planHooks(names), { yes }))

  asksFirst(agents.command('uninstall'), afterTheChanges)
    .description("Remove Tally's hook from the settings of agents, after showing the changes")
    .addArgument(agentsArgument('<agents...>', 'agents to remove the hook from'))
    .addHelpText('after', examples('tally agents uninstall claude-code'))
    .action(async (names: AgentName[], { yes = false }: InstallFlags) => {
      const environment = readAgentsEnvironment()
      const plans = names.map((agent) => planned(agent, environment, () => planUninstall(agent, environment)))
      const changes = plans.filter(isChange)
      for (const { agent, path } of plans.filter((plan) => !isChange(plan))) {
        print(`${agent}: no hook in ${path}.`)
      }
      await show(changes, { yes, question: 'Remove the hook?' })
      for (const change of changes) {
        withPath(change.path, () => uninstall(environment, change))
        print(`${change.agent}: removed the hook from ${change.path}.`)
      }
    })
}

/** Before anything is written, every plan is made: with an issue in one, nothing changes. */
export function planHooks(names: readonly AgentName[]): SettingsChange[] {
  const environment = readAgentsEnvironment()
  return names.map((agent) =>
    planned(agent, environment, () =>
      planInstall(agent, environment, [...stableCommand(environment), ...hookOf(agent)]),
    ),
  )
}

/** Shows the changes, asks, and makes them. */
export async function installHooks(plans: readonly SettingsChange[], { yes }: { yes: boolean }): Promise<void> {
  const changes = plans.filter(isChange)
  for (const { agent, path } of plans.filter((plan) => !isChange(plan))) {
    print(`${agent}: the hook is already in ${path}.`)
  }
  await show(changes, { yes, question: 'Install the hook?' })
  for (const change of changes) {
    withPath(change.path, () => install(readAgentsEnvironment(), change))
    print(
      `${change.agent}: installed the hook in ${change.path}. Running sessions do not use it until they are restarted.`,
    )
  }
  for (const warning of plans.flatMap(({ path, warnings }) => warnings.map((text) => `${path}: ${text}`))) {
    note(warning)
  }
}

export function hookOf(agent: AgentName): string[] {
  return ['agents', 'hook', agent]
}

function planned(agent: AgentName, environment: AgentsEnvironment, plan: () => SettingsChange): SettingsChange {
  return withPath(settingsPath(agent, environment), plan)
}

function withPath<Result>(path: string, work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    throw error instanceof SettingsError ? new CommandError(`${path} ${error.message}.`) : error
  }
}

/** Shows the changes and asks. */
async function show(changes: SettingsChange[], { yes, question }: { yes: boolean; question: string }): Promise<void> {
  if (changes.length === 0) return
  for (const change of changes) process.stderr.write(patchOf(change))
  await confirm(question, { yes })
}

export function patchOf({ path, before, after }: SettingsChange): string {
  const text = (bytes: Uint8Array | undefined) => (bytes ? Buffer.from(bytes).toString() : '')
  const name = (bytes: Uint8Array | undefined) => (bytes ? path : '/dev/null')
  return createTwoFilesPatch(name(before), name(after), text(before), text(after), '', '', { context: 3 }).replace(
    /^(Index: .*\n)?={3,}\n/,
    '',
  )
}
