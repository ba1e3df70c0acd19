/** Examples for the documentation. */
import type { AgentStatus, AgentStatusReport, LimitsReport } from './schema.ts'

const OPENCODE: AgentStatusReport['agents'][number] = {
  agent_harness: 'opencode',
  version: '2.0.3',
  sessions: 52,
  not_read: [{ reason: 'unknown_session', name: 'session_v3', count: 14 }],
}

const MACHINE = { machine: '5f0c7d1e9ab34268', tally_version: '1.4.0' }

export const EXAMPLE_REPORT: AgentStatusReport = {
  ...MACHINE,
  agents: [
    OPENCODE,
    {
      ...{ agent_harness: 'codex', version: '0.61.0', sessions: 130, not_read: [] },
      limits: [
        {
          ...{ name: 'codex', window_minutes: 300, used_percent: 41.5 },
          ...{ resets_at: '2026-11-20T19:20:00.000Z', plan: 'codex:pro', credits_left: 12.5 },
        },
      ],
    },
  ],
}

export const EXAMPLE_AGENT_STATUS: AgentStatus = {
  user: { id: 'usr_01a1fa172a0277f3983322718874f2e0', name: 'Ada', email: 'ada@example.com' },
  ...MACHINE,
  ...OPENCODE,
  reported_at: '2026-11-20T17:53:04.000Z',
}

export const EXAMPLE_LIMITS: LimitsReport = {
  time_zone: 'Europe/Berlin',
  from: '2026-10-22',
  to: '2026-11-20',
  data: [
    {
      user: { id: 'usr_01a1fa172a0277f3983322718874f2e0', name: 'Ada' },
      agent_harness: 'codex',
      name: 'codex',
      window_minutes: 300,
      plan: 'codex:pro',
      latest: {
        used_percent: 41.5,
        read_at: '2026-11-20T15:50:00.000Z',
        resets_at: '2026-11-20T19:20:00.000Z',
        credits_left: 12.5,
      },
      projection: { used_percent: 138.33, reaches_limit: true, reaches_at: '2026-11-20T17:56:52.000Z' },
      days: [{ day: '2026-11-20', highest_percent: 41.5 }],
    },
  ],
  limits: 1,
  left_out: 0,
}
