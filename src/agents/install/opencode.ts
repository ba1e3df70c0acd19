import { join } from 'node:path'
import { pluginInstaller } from './plugin-file.ts'

export const opencode = installerOf('opencode')

/** A fork of opencode, with the same plugins. */
export const kilo = installerOf('kilo')

function installerOf(agent: 'opencode' | 'kilo') {
  return pluginInstaller({
    agent,
    pathIn: ({ configHome }) => join(configHome, agent, 'plugins', 'tally.js'),
    program: `export const Tally = async ({ directory }) => ({
  event: async ({ event }) => {
    if (event.type !== 'session.idle') return
    report({ session_id: event.properties.sessionID, cwd: directory, hook_event_name: event.type })
  },
})
`,
  })
}
