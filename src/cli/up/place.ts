/** Where `tally up` keeps what is its own, in the person's folder for state. */
import { join } from 'node:path'
import type { AgentName } from '../../agents/agent.ts'
import { readJsonFile, writePrivateFile } from '../../agents/private-files.ts'
import { stateFolder } from '../../agents/state-folder.ts'
import type { AgentsEnvironment } from '../../config.ts'

export interface Place {
  folder: string
  /** The folder of the database, `--data` of other commands. */
  data: string
  lock: string
  log: string
}

export function placeIn(environment: AgentsEnvironment): Place {
  const folder = join(stateFolder(environment), 'up')
  const of = (name: string) => join(folder, name)
  return { folder, data: of('data'), lock: of('lock'), log: of('server.log') }
}

/** As shells have it: `~/.local/state/tally/up/data`. */
export const shownPath = ({ home }: AgentsEnvironment, path: string): string =>
  path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path

/** What is remembered from one `tally up` to the next. */
export interface Remembered {
  port?: number
  /** The id of the person whose machine it is. */
  owner?: string
  /** Their service token. */
  token?: string
  /** Agents that were not to be connected, about which nothing is asked any more. */
  declined?: AgentName[]
}

const memoryPath = ({ folder }: Place) => join(folder, 'up.json')

export const remembered = (place: Place): Remembered => readJsonFile<Remembered>(memoryPath(place)) ?? {}

export function remember(place: Place, change: Remembered): void {
  writePrivateFile(memoryPath(place), `${JSON.stringify({ ...remembered(place), ...change }, null, 2)}\n`)
}
