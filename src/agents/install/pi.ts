import { join } from 'node:path'
import { pluginInstaller } from './plugin-file.ts'

export const pi = pluginInstaller({
  agent: 'pi',
  pathIn: ({ home, piAgentDir }) => join(piAgentDir ?? join(home, '.pi', 'agent'), 'extensions', 'tally.js'),
  // After a run with all its retries, and for what is used outside of one.
  program: `export default function tally(pi) {
  for (const name of ['agent_settled', 'session_compact', 'session_tree', 'session_shutdown']) {
    pi.on(name, async (_, { cwd, sessionManager }) => {
      const path = sessionManager.getSessionFile()
      const session_id = sessionManager.getSessionId()
      if (path) report({ session_id, transcript_path: path, cwd, hook_event_name: name })
    })
  }
}
`,
})
