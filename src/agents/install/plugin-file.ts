/** For agents that load every file of a folder as a plugin. */
import type { AgentsEnvironment } from '../../config.ts'
import type { AgentName } from '../agent.ts'
import type { Installer } from './installer.ts'
import { ownFileInstaller } from './own-file.ts'

interface Plugin {
  agent: AgentName
  pathIn(environment: AgentsEnvironment): string
  /** JavaScript that calls `report` with a session's `session_id`, `cwd` and `hook_event_name`. */
  program: string
}

export function pluginInstaller({ agent, pathIn, program }: Plugin): Installer {
  // Identifies the plugin. Must not change: installed plugins are recognized by it.
  const firstLine = `// Made by \`tally agents install ${agent}\`; \`tally agents uninstall ${agent}\` removes it.`
  return ownFileInstaller({
    ...{ agent, pathIn },
    isOwn: (settings) => settings.startsWith(firstLine),
    textOf: (command) => `${firstLine}\n${reporter(command)}\n${program}`,
  })
}

/** The session is an argument: the agent may end before it has written to a pipe. */
function reporter([executable, ...args]: readonly string[]): string {
  return `import { spawn } from 'node:child_process'

const report = (session) => {
  try {
    const args = [...${JSON.stringify(args)}, JSON.stringify(session)]
    const hook = spawn(${JSON.stringify(executable)}, args, { detached: true, stdio: 'ignore' })
    hook.on('error', () => {})
    hook.unref()
  } catch {}
}
`
}
