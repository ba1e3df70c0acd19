/** For agents that read every file of a folder as hooks: Tally's are in a separate file. */
import { join } from 'node:path'
import type { AgentsEnvironment } from '../../config.ts'
import type { AgentName } from '../agent.ts'
import type { Installer } from './installer.ts'
import { ownFileInstaller } from './own-file.ts'
import { shellText } from './shell.ts'

interface HookFile {
  agent: AgentName
  pathIn(environment: AgentsEnvironment): string
  /** The content of the file, whose hooks call the command. */
  contentFor(command: string): object
}

/** At its end, the sender has only been started. */
const TIMEOUT_SECONDS = 10

/** Both pass on the same fields as Claude Code. The end of a turn, also of a sub-agent, and of the session. */
export const githubCopilot = hookFileInstaller({
  agent: 'github-copilot',
  pathIn: ({ home, copilotHome }) => join(copilotHome ?? join(home, '.copilot'), 'hooks', 'tally.json'),
  contentFor: (command) => {
    const hook = { type: 'command', command, timeoutSec: TIMEOUT_SECONDS }
    return { version: 1, hooks: { Stop: [hook], SessionEnd: [hook] } }
  },
})

export const grok = hookFileInstaller({
  agent: 'grok',
  pathIn: ({ home, grokHome }) => join(grokHome ?? join(home, '.grok'), 'hooks', 'tally.json'),
  contentFor: (command) => {
    const group = { hooks: [{ type: 'command', command, timeout: TIMEOUT_SECONDS }] }
    const ends = ['Stop', 'StopFailure', 'StopCancelled', 'SubagentStop', 'SessionEnd']
    return { hooks: Object.fromEntries(ends.map((event) => [event, [group]])) }
  },
})

function hookFileInstaller({ agent, pathIn, contentFor }: HookFile): Installer {
  return ownFileInstaller({
    ...{ agent, pathIn },
    isOwn: (settings) => {
      const commands = commandsIn(settings)
      return commands.length > 0 && commands.every((command) => command.endsWith(` agents hook ${agent}`))
    },
    textOf: (command) => `${JSON.stringify(contentFor(shellText(command)), null, 2)}\n`,
  })
}

function commandsIn(settings: string): string[] {
  const commands: string[] = []
  try {
    JSON.parse(settings, (name, value) => {
      if (name === 'command') commands.push(String(value))
      return value
    })
  } catch {
    return []
  }
  return commands
}
