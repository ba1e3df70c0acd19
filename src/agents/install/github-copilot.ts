/** GitHub Copilot CLI reads every file of a folder as hooks, so Tally's are in a separate file. */
import { join } from 'node:path'
import { ownFileInstaller } from './own-file.ts'
import { shellText } from './shell.ts'

const OWN = ' agents hook github-copilot'

/** By these names, it passes on the same fields as Claude Code. The end of a turn, also of a sub-agent, and of the session. */
const EVENTS = ['Stop', 'SessionEnd']

export const githubCopilot = ownFileInstaller({
  agent: 'github-copilot',
  pathIn: ({ home, copilotHome }) => join(copilotHome ?? join(home, '.copilot'), 'hooks', 'tally.json'),
  isOwn: (settings) => {
    const commands = commandsIn(settings)
    return commands.length > 0 && commands.every((command) => command.endsWith(OWN))
  },
  textOf: (command) => {
    const hook = { type: 'command', command: shellText(command), timeoutSec: 10 }
    const hooks = Object.fromEntries(EVENTS.map((event) => [event, [hook]]))
    return `${JSON.stringify({ version: 1, hooks }, null, 2)}\n`
  },
})

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
