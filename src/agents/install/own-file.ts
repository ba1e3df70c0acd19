/** For agents that read every file of a folder: the hook is a file of its own. */
import type { AgentsEnvironment } from '../../config.ts'
import type { AgentName } from '../agent.ts'
import { type Installer, SettingsError } from './installer.ts'

interface OwnFile {
  agent: AgentName
  pathIn(environment: AgentsEnvironment): string
  /** Whether Tally created the file. */
  isOwn(settings: string): boolean
  textOf(command: readonly string[]): string
}

export function ownFileInstaller({ agent, pathIn, isOwn, textOf }: OwnFile): Installer {
  return {
    ...{ agent, pathIn, hasHook: isOwn },
    withHook: (settings, command) => {
      if (settings !== undefined && !isOwn(settings)) {
        throw new SettingsError('was not created by Tally. Move or rename it first')
      }
      return textOf(command)
    },
    withoutHook: (settings) => (isOwn(settings) ? undefined : settings),
    warnings: () => [],
  }
}
