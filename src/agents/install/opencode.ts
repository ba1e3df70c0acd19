/** opencode loads every file of a folder as a plugin, so the hook is a separate file. */
import { join } from 'node:path'
import { type Installer, SettingsError } from './installer.ts'

/** Identifies the plugin. Must not change: installed plugins are recognized by it. */
const FIRST_LINE = '// Made by `tally agents install opencode`; `tally agents uninstall opencode` removes it.'

export const opencode: Installer = {
  agent: 'opencode',
  pathIn: ({ configHome }) => join(configHome, 'opencode', 'plugins', 'tally.js'),
  withHook: (settings, command) => {
    if (settings !== undefined && !opencode.hasHook(settings)) {
      throw new SettingsError('was not created by Tally. Move or rename it first')
    }
    return plugin(command)
  },
  withoutHook: (settings) => (opencode.hasHook(settings) ? undefined : settings),
  hasHook: (settings) => settings.startsWith(FIRST_LINE),
  warnings: () => [],
}

/** The session's id is an argument: opencode may end before it has written to a pipe. */
function plugin([executable, ...args]: readonly string[]): string {
  return `${FIRST_LINE}
import { spawn } from 'node:child_process'

export const Tally = async ({ directory }) => ({
  event: async ({ event }) => {
    if (event.type !== 'session.idle') return
    const session = { session_id: event.properties.sessionID, cwd: directory, hook_event_name: event.type }
    try {
      const args = [...${JSON.stringify(args)}, JSON.stringify(session)]
      const hook = spawn(${JSON.stringify(executable)}, args, { detached: true, stdio: 'ignore' })
      hook.on('error', () => {})
      hook.unref()
    } catch {}
  },
})
`
}
