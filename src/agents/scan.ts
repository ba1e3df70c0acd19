/** Reads the session files of agents, and tells what each session used. */
import type { AgentName, AgentsEnvironment, Scan, SessionName } from './agent.ts'

export interface ScanOptions {
  environment: AgentsEnvironment
  /** All of them where absent. */
  agents?: readonly AgentName[]
  /** Told now and then how far it is. */
  onProgress?: (readBytes: number, totalBytes: number) => void
}

/** Every session of the agents under the home folder. */
export async function scanAll(_options: ScanOptions): Promise<Scan> {
  return { uses: [], damage: [], files: 0, bytes: 0 }
}

/**
 * One session, with its sub-agents and without what it holds of an earlier session. Empty where its file is not there
 * or holds no use yet.
 */
export async function scanSession(
  _agent: AgentName,
  _session: SessionName,
  _environment: AgentsEnvironment,
): Promise<Pick<Scan, 'uses' | 'damage'>> {
  return { uses: [], damage: [] }
}
