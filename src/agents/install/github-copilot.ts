/** GitHub Copilot CLI reads every file of a folder as hooks, so Tally's are in a separate file. */
import { join } from 'node:path'
import { type Installer, SettingsError } from './installer.ts'
import { shellText } from './shell.ts'

const OWN = ' agents hook github-copilot'

/** By these names, it passes on the same fields as Claude Code. The end of a turn, also of a sub-agent, and of the session. */
const EVENTS = ['Stop', 'SessionEnd']

export const githubCopilot: Installer = {
  agent: 'github-copilot',
  pathIn: ({ home, copilotHome }) => join(copilotHome ?? join(home, '.copilot'), 'hooks', 'tally.json'),
  withHook: (settings, command) => {
    if (settings !== undefined && !githubCopilot.hasHook(settings)) {
      throw new SettingsError('was not created by Tally. Move or rename it first')
    }
    const hook = { type: 'command', command: shellText(command), timeoutSec: 10 }
    const hooks = Object.fromEntries(EVENTS.map((event) => [event, [hook]]))
    return `${JSON.stringify({ version: 1, hooks }, null, 2)}\n`
  },
  withoutHook: (settings) => (githubCopilot.hasHook(settings) ? undefined : settings),
  hasHook: (settings) => {
    const commands = commandsIn(settings)
    return commands.length > 0 && commands.every((command) => command.endsWith(OWN))
  },
  warnings: () => [],
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
