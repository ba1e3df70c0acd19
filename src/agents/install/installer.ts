/** Adds Tally's hook to the settings of an agent, and removes it. */
import type { AgentsEnvironment } from '../../config.ts'
import type { AgentName } from '../agent.ts'

/** The settings cannot be changed; the message says what to do. */
export class SettingsError extends Error {}

/** Knows one agent's settings, as text without a byte order mark. Undefined is a file that is not there. */
export interface Installer {
  agent: AgentName
  /** The file it changes. */
  pathIn(environment: AgentsEnvironment): string
  /** The settings with the hook, all else as it was. Throws {@link SettingsError}. */
  withHook(settings: string | undefined, command: readonly string[]): string
  /**
   * The settings without the hook; undefined where nothing but the hook was in them, and as they are where it is not in
   * them. Throws {@link SettingsError}.
   */
  withoutHook(settings: string): string | undefined
  /** Whether the hook is in them, whatever executable it calls. Throws {@link SettingsError}. */
  hasHook(settings: string): boolean
  /** Warnings about settings that keep the hook from running. */
  warnings(settings: string): string[]
}

/** As the file ends its lines. */
export function lineEnd(text: string): string {
  return text.includes('\r\n') ? '\r\n' : '\n'
}
