/** Examples for the API reference. */
import type { Event } from './schema.ts'

export const EXAMPLE_EVENT: Event = {
  id: 'evt_48213',
  type: 'entry.approved',
  at: '2026-11-20T17:53:04.000Z',
  actor: { user: { id: 'usr_01a1fa172a0277f3983322718874f2e0', name: 'Ada' }, token: null },
  object: {
    id: 'ent_01a1fa172a0277f3983322718874f2e1',
    name: 'builder, 2026-11-20T10:00:00.000Z',
    url: 'https://tally.example.com/entries/ent_01a1fa172a0277f3983322718874f2e1',
  },
  before: { status: 'submitted' },
  after: { status: 'approved' },
}
