/** Installs hooks in the settings of agents, and removes them completely. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { AgentsEnvironment } from '../../config.ts'
import type { AgentName } from '../agent.ts'
import { readJsonFile, writePrivateFile } from '../private-files.ts'
import { stateFolder } from '../state-folder.ts'
import { claudeCode } from './claude-code.ts'
import { codex } from './codex.ts'
import { geminiCli } from './gemini-cli.ts'
import { githubCopilot, grok } from './hook-file.ts'
import { type Installer, SettingsError } from './installer.ts'
import { kimiCode } from './kimi-code.ts'
import { kilo, opencode } from './opencode.ts'
import { pi } from './pi.ts'
import { bytesLike, isSame, readBytes, readSettingsFile, replaceFile } from './settings-file.ts'

export { SettingsError }

const INSTALLERS = [claudeCode, codex, geminiCli, githubCopilot, grok, kilo, kimiCode, opencode, pi] as const

/** Agents that can call a hook. */
export const HOOKED_AGENTS: readonly AgentName[] = INSTALLERS.map(({ agent }) => agent)

/** A planned change of an agent's settings. */
export interface SettingsChange {
  agent: AgentName
  path: string
  before: Uint8Array | undefined
  /** If undefined, the file is removed. */
  after: Uint8Array | undefined
  /** Reasons why the hook may not be called, for the person to resolve. */
  warnings: string[]
}

/**
 * The settings before and after an installation, so that uninstalling restores the exact bytes. Also the only copy of
 * the original settings.
 */
interface Installation {
  path: string
  /** In base64; null if there was no file. */
  before: string | null
  after: string
}

function installerOf(agent: AgentName): Installer {
  return INSTALLERS.find((installer) => installer.agent === agent)!
}

export function settingsPath(agent: AgentName, environment: AgentsEnvironment): string {
  return installerOf(agent).pathIn(environment)
}

/** Throws {@link SettingsError}; its message is to be prefixed with the file's path. */
export function hasHook(agent: AgentName, environment: AgentsEnvironment): boolean {
  const settings = readSettingsFile(settingsPath(agent, environment))
  return settings !== undefined && installerOf(agent).hasHook(settings)
}

/** Why an installed hook does not run. Throws {@link SettingsError}. */
export function hookWarnings(agent: AgentName, environment: AgentsEnvironment): string[] {
  const settings = readSettingsFile(settingsPath(agent, environment))
  return settings === undefined ? [] : installerOf(agent).warnings(settings)
}

/** Throws {@link SettingsError}. */
export function planInstall(
  agent: AgentName,
  environment: AgentsEnvironment,
  command: readonly string[],
): SettingsChange {
  const installer = installerOf(agent)
  const path = installer.pathIn(environment)
  const before = readBytes(path)
  const settings = installer.withHook(readSettingsFile(path), command)
  return { agent, path, before, after: bytesLike(before, settings), warnings: installer.warnings(settings) }
}

/** Throws {@link SettingsError}. */
export function planUninstall(agent: AgentName, environment: AgentsEnvironment): SettingsChange {
  const installer = installerOf(agent)
  const path = installer.pathIn(environment)
  const before = readBytes(path)
  return { agent, path, before, after: before && withoutHook(installer, environment, path, before), warnings: [] }
}

function withoutHook(
  installer: Installer,
  environment: AgentsEnvironment,
  path: string,
  now: Uint8Array,
): Uint8Array | undefined {
  const made = readInstallation(environment, installer.agent)
  if (made?.path === path && isSame(now, Buffer.from(made.after, 'base64'))) {
    return made.before === null ? undefined : Buffer.from(made.before, 'base64')
  }
  const text = installer.withoutHook(readSettingsFile(path)!)
  return text === undefined ? undefined : bytesLike(now, text)
}

export function isChange({ before, after }: SettingsChange): boolean {
  return !isSame(before, after)
}

/** Throws {@link SettingsError}. */
export function install(environment: AgentsEnvironment, { agent, path, before, after }: SettingsChange): void {
  const made = readInstallation(environment, agent)
  // If a moved executable is installed again, the original settings are those before the first installation.
  const isAgain = made?.path === path && before && isSame(before, Buffer.from(made.after, 'base64'))
  const original = isAgain ? made.before : before ? Buffer.from(before).toString('base64') : null
  const settings = readSettingsFile(path)
  const isWithout = isAgain || settings === undefined || installerOf(agent).withoutHook(settings) === settings
  forgetInstallation(environment, agent)
  if (isWithout) {
    const record: Installation = { path, before: original, after: Buffer.from(after!).toString('base64') }
    writePrivateFile(installationPath(environment, agent), JSON.stringify(record))
  }
  replaceFile(path, before, after)
}

/** Throws {@link SettingsError}. */
export function uninstall(environment: AgentsEnvironment, { agent, path, before, after }: SettingsChange): void {
  replaceFile(path, before, after)
  forgetInstallation(environment, agent)
}

function installationPath(environment: AgentsEnvironment, agent: AgentName): string {
  return join(stateFolder(environment), 'installed', `${agent}.json`)
}

function readInstallation(environment: AgentsEnvironment, agent: AgentName): Installation | undefined {
  return readJsonFile(installationPath(environment, agent))
}

function forgetInstallation(environment: AgentsEnvironment, agent: AgentName): void {
  rmSync(installationPath(environment, agent), { force: true })
}
