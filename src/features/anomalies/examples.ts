import type { OutliersReport } from './schema.ts'

export const EXAMPLE_OUTLIERS: OutliersReport = {
  starting_at: '2026-10-31T23:00:00.000Z',
  ending_at: '2026-11-30T23:00:00.000Z',
  time_zone: 'Europe/Berlin',
  basis: 'cost',
  data: [
    {
      id: 'ent_01a1fa172a0277f3983322718874f2e2',
      started_at: '2026-11-20T16:53:04.000Z',
      agent_manager: { id: 'usr_01a1fa172a0277f3983322718874f2e3', name: 'Ada' },
      agent_name: 'claude-code',
      model: 'claude-opus-4-5',
      project: 'ACME',
      summary: 'Migrates the shop to the new checkout',
      cost: 48.2,
      usual: 3.1,
      times: 15.5,
      score: 21.4,
    },
  ],
}
