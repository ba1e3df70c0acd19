/** Examples for the documentation. */
import type { AgentStatus, AgentStatusReport } from './schema.ts'

const OPENCODE: AgentStatusReport['agents'][number] = {
  agent_harness: 'opencode',
  version: '2.0.3',
  sessions: 52,
  not_read: [{ reason: 'unknown_session', name: 'session_v3', count: 14 }],
}

const MACHINE = { machine: '5f0c7d1e9ab34268', tally_version: '1.4.0' }

export const EXAMPLE_REPORT: AgentStatusReport = {
  ...MACHINE,
  agents: [OPENCODE, { agent_harness: 'codex', version: '0.61.0', sessions: 130, not_read: [] }],
}

export const EXAMPLE_AGENT_STATUS: AgentStatus = {
  user: { id: 'usr_01a1fa172a0277f3983322718874f2e0', name: 'Ada', email: 'ada@example.com' },
  ...MACHINE,
  ...OPENCODE,
  reported_at: '2026-11-20T17:53:04.000Z',
}
