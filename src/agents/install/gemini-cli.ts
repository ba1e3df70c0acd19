import { join } from 'node:path'
import { addHooks, type HooksInJson, hasHooks, readSettings, removeHooks } from './hooks-in-json.ts'
import type { Installer } from './installer.ts'
import { shellText } from './shell.ts'

const HOOKS: HooksInJson = {
  agent: 'gemini-cli',
  events: ['AfterAgent', 'SessionEnd'],
  // In milliseconds, unlike in Claude Code.
  hookFor: (command) => ({ type: 'command', name: 'tally', command, timeout: 10_000 }),
}

export const geminiCli: Installer = {
  agent: 'gemini-cli',
  pathIn: ({ home, geminiHome }) => join(geminiHome ?? home, '.gemini', 'settings.json'),
  withHook: (settings = '', command) => addHooks(settings, shellText(command), HOOKS),
  withoutHook: (settings) => removeHooks(settings, HOOKS),
  hasHook: (settings) => hasHooks(settings, HOOKS),
  warnings: (settings) => {
    const { hooksConfig } = readSettings(settings)
    const isOff = hooksConfig !== null && (hooksConfig as { enabled?: unknown } | undefined)?.enabled === false
    return isOff ? ['`hooksConfig.enabled` is false. Gemini CLI does not run hooks until you change it.'] : []
  },
}
