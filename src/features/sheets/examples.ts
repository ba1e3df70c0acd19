/** A sheet as returned by the API, for the OpenAPI document. */
import { EXAMPLE_ENTRY, EXAMPLE_REPORT } from '../entries/examples.ts'
import type { Approvals, SheetOverlaps, TokenSheet } from './schema.ts'

const { session_id: _session, ...draft } = EXAMPLE_REPORT
export const EXAMPLE_DRAFT = draft

const ADA = { id: 'usr_01a1fa172a0277f3983322718874f2e0', name: 'Ada' }
const ACME = { id: 'prj_01a1fa172a0277f3983322718874f2e2', key: 'acme-web', name: 'acme-web' }

const SUMS = { entries: 1, unpriced_entries: 0, tokens: 25398, cost: 0.0263781, list_value: 0.0263781 }

export const EXAMPLE_SHEET: TokenSheet = {
  id: 'sht_01a1fa172a0277f3983322718874f2e4',
  status: 'open',
  agent_manager: ADA,
  period: { from: '2026-11-01', to: '2026-11-30' },
  starting_at: '2026-10-31T23:00:00.000Z',
  ending_at: '2026-11-30T23:00:00.000Z',
  note: 'Offline work on the train',
  reason: null,
  ...SUMS,
  projects: [ACME],
  has_unplaced: false,
  created_at: '2026-11-20T19:00:00.000Z',
  submitted_at: null,
  decided_at: null,
  decided_by: null,
  updated_at: '2026-11-20T19:05:00.000Z',
}

export const EXAMPLE_SUBMITTED: TokenSheet = {
  ...EXAMPLE_SHEET,
  status: 'submitted',
  submitted_at: '2026-11-30T17:00:00.000Z',
}

const DECIDED = {
  ...EXAMPLE_SUBMITTED,
  decided_at: '2026-12-01T08:00:00.000Z',
  decided_by: { id: 'usr_01a1fa172a0277f3983322718874f2e9', name: 'Grace' },
}
export const EXAMPLE_APPROVED: TokenSheet = { ...DECIDED, status: 'approved' }
export const EXAMPLE_RETURNED: TokenSheet = {
  ...DECIDED,
  status: 'returned',
  reason: 'The session on the 12th was also reported automatically',
}

export const EXAMPLE_DRAFT_ENTRY = {
  ...EXAMPLE_ENTRY,
  status: 'draft' as const,
  source: 'sheet' as const,
  session_id: null,
  part: null,
  sheet: { id: EXAMPLE_SHEET.id },
}

export const EXAMPLE_OVERLAPS: SheetOverlaps = {
  data: [
    {
      entry: {
        id: EXAMPLE_ENTRY.id,
        agent_harness: 'claude-code',
        started_at: '2026-11-20T17:53:04.000Z',
        ended_at: '2026-11-20T18:20:41.000Z',
      },
      reported: {
        id: 'ent_01a1fa172a0277f3983322718874f2ee',
        agent_harness: 'claude-code',
        started_at: '2026-11-20T18:00:00.000Z',
        ended_at: '2026-11-20T18:30:00.000Z',
      },
    },
  ],
}

export const EXAMPLE_APPROVALS: Approvals = {
  sheets: {
    sheets: 1,
    ...SUMS,
    data: [{ ...EXAMPLE_SUBMITTED, version: 'k3Rw0pV1hB7x' }],
    has_more: false,
    next_page: null,
  },
  entries: { ...SUMS, projects: [{ project: ACME, ...SUMS }] },
}
