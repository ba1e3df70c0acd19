/** Requests and responses of share links, for the OpenAPI document. */
import type { CreatedShareLink, NewShareLink, ShareLinkBody } from './schema.ts'

export const EXAMPLE_NEW_SHARE_LINK: NewShareLink = {
  report: { period: 'last_month', group_by: ['model'], measure: 'cost', chart: 'stacked', bucket_width: '1d' },
  money: 'cost',
  note: 'Monthly call',
}

export const EXAMPLE_SHARE_LINK: ShareLinkBody = {
  id: 'shr_01a1fa172a0277f3983322718874f2ea',
  title: 'Cost by model',
  report: { period: 'last_month', bucket_width: '1d', group_by: ['model'], measure: 'cost', chart: 'stacked' },
  bill: null,
  money: 'cost',
  people: false,
  note: 'Monthly call',
  created_by: { id: 'usr_01a1fa172a0277f3983322718874f2e0', name: 'Ada' },
  created_at: '2026-11-20T17:53:04.000Z',
  expires_at: '2026-12-20T17:53:04.000Z',
  revoked_at: null,
  last_used_at: null,
  uses: 0,
  state: 'active',
}

export const EXAMPLE_CREATED_SHARE_LINK: CreatedShareLink = {
  ...EXAMPLE_SHARE_LINK,
  link: 'https://tally.example.com/share/k3Rw0pV1hB7xQm5sT9cYf2LdN8aGjE0Z',
}
