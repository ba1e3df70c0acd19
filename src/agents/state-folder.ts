/** The folder for the hooks' files, within the XDG folder for data that outlives a process. */
import { join } from 'node:path'
import type { AgentsEnvironment } from '../config.ts'

export function stateFolder({ stateHome }: AgentsEnvironment): string {
  return join(stateHome, 'tally')
}
