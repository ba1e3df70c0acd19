/** Adds Tally's hook to the settings of an agent, and removes it. */
import type { AgentsEnvironment } from '../../config.ts'
import type { AgentName } from '../agent.ts'

/** The settings cannot be changed; the message explains what to do. */
export class SettingsError extends Error {}

/** Edits one agent's settings, as text without a byte order mark; undefined if there is no file. */
export interface Installer {
  agent: AgentName
  /** The file that is changed. */
  pathIn(environment: AgentsEnvironment): string
  /** The settings with the hook added and nothing else changed. Throws {@link SettingsError}. */
  withHook(settings: string | undefined, command: readonly string[]): string
  /**
   * The settings without the hook; undefined if they contained nothing else, unchanged if they don't contain the hook.
   * Throws {@link SettingsError}.
   */
  withoutHook(settings: string): string | undefined
  /** Whether the settings contain the hook, whichever executable it calls. Throws {@link SettingsError}. */
  hasHook(settings: string): boolean
  /** Warnings about settings that keep the hook from running. */
  warnings(settings: string): string[]
}

/** The line end that the file uses. */
export function lineEnd(text: string): string {
  return text.includes('\r\n') ? '\r\n' : '\n'
}
