/** Where what hooks leave lies, below the folder that XDG names for what must outlive a process. */
import { join } from 'node:path'
import type { AgentsEnvironment } from '../config.ts'

export function stateFolder({ stateHome }: AgentsEnvironment): string {
  return join(stateHome, 'tally')
}
