import { join } from 'node:path'
import { addHooks, type HooksInJson, hasHooks, readSettings, removeHooks } from './hooks-in-json.ts'
import type { Installer } from './installer.ts'
import { shellText } from './shell.ts'

const HOOKS: HooksInJson = {
  agent: 'claude-code',
  // The end of a turn, of a turn of a background sub-agent, and of the session with its last lines.
  events: ['Stop', 'SubagentStop', 'SessionEnd'],
  // In seconds. By default, Claude Code kills SessionEnd hooks after 1.5 s, and a machine that wakes up may need longer
  // than that to start a process.
  hookFor: (command) => ({ type: 'command', command, timeout: 10 }),
}

export const claudeCode: Installer = {
  agent: 'claude-code',
  pathIn: ({ home, claudeConfigDir }) => join(claudeConfigDir?.split(',')[0] ?? join(home, '.claude'), 'settings.json'),
  withHook: (settings = '', command) => addHooks(settings, shellText(command), HOOKS),
  withoutHook: (settings) => removeHooks(settings, HOOKS),
  hasHook: (settings) => hasHooks(settings, HOOKS),
  warnings: (settings) =>
    readSettings(settings).disableAllHooks === true
      ? ['`disableAllHooks` is true. Claude Code does not run hooks until you change it.']
      : [],
}
