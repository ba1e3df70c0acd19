/** The sessions of the agents on this machine, for the person who sets up a server that is private to it. */
import { AGENT_NAMES } from '../../agents/agent.ts'
import { presenceOf } from '../../agents/presence.ts'
import { type Config, readAgentsEnvironment, withoutOptions } from '../../config.ts'
import type { LocalSessions, LocalSessionsBody } from '../../features/people/operations/local-sessions.ts'
import { isLoopback } from '../address.ts'
import { selfCommand } from '../agents/self.ts'
import { EXIT_DONE, EXIT_INCOMPLETE } from '../failures.ts'

/** Whether other machines cannot reach the server, as far as its options tell. */
export const isPrivate = ({ host, trustedProxies, publicUrl }: Config): boolean =>
  isLoopback(host) && trustedProxies.length === 0 && !publicUrl

/** Undefined where others may reach the server, or where nobody sits in front of it. */
export function localSessionsOf(config: Config, url: () => string): LocalSessions | undefined {
  if (!isPrivate(config) || !process.stdout.isTTY) return undefined
  const environment = readAgentsEnvironment()
  let agents: LocalSessionsBody['agents'] | undefined
  let now: Omit<LocalSessionsBody, 'agents'> = { state: 'found', issue: null }
  return {
    describe() {
      agents ??= AGENT_NAMES.flatMap((agent_harness) => {
        const { sessionFiles: files } = presenceOf(agent_harness, environment)
        return files === 0 ? [] : [{ agent_harness, files }]
      })
      return { agents, ...now }
    },
    begin(token) {
      now = { state: 'importing', issue: null }
      importAll(url(), token).then(
        (done) => {
          now = done
        },
        (error: Error) => {
          now = { state: 'failed', issue: error.message }
        },
      )
    },
  }
}

/** In a process of its own: to read the files of years takes this one seconds, in which it would answer nobody. */
async function importAll(url: string, token: string): Promise<Omit<LocalSessionsBody, 'agents'>> {
  const child = Bun.spawn([...selfCommand(), 'agents', 'scan', '--report'], {
    env: { ...withoutOptions(), TALLY_URL: url, TALLY_TOKEN: token },
    stdio: ['ignore', 'ignore', 'pipe'],
    windowsHide: true,
  })
  const [said, code] = await Promise.all([new Response(child.stderr).text(), child.exited])
  const issue = said
    .trimEnd()
    .split('\n')
    .at(-1)!
    .replace(/^tally: /, '')
  if (code === EXIT_DONE) return { state: 'imported', issue: null }
  return { state: code === EXIT_INCOMPLETE ? 'imported' : 'failed', issue }
}
