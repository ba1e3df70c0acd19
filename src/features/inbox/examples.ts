/** Examples for the documentation. */
import type { Inbox } from './schema.ts'

export const EXAMPLE_INBOX: Inbox = {
  open: 14,
  decisions: 3,
  data: [
    {
      kind: 'sheets_to_approve',
      count: 2,
      decisions: 2,
      cost: 125.4,
      list: '/api/v1/approvals',
      oldest_at: '2026-11-20T10:00:00.000Z',
    },
    {
      kind: 'unattributed_entries',
      count: 12,
      decisions: 1,
      cost: 31.2,
      list: '/api/v1/token-entries?status=submitted&status=approved&status=billed&placed=none&superseded=false',
      oldest_at: null,
    },
  ],
}
