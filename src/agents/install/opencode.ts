import { join } from 'node:path'
import { pluginInstaller } from './plugin-file.ts'

export const opencode = pluginInstaller({
  agent: 'opencode',
  pathIn: ({ configHome }) => join(configHome, 'opencode', 'plugins', 'tally.js'),
  program: `export const Tally = async ({ directory }) => ({
  event: async ({ event }) => {
    if (event.type !== 'session.idle') return
    report({ session_id: event.properties.sessionID, cwd: directory, hook_event_name: event.type })
  },
})
`,
})
