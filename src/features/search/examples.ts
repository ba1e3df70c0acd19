/** Examples for the documentation. */
import type { SearchAnswer } from './schema.ts'

export const EXAMPLE_SEARCH: SearchAnswer = {
  data: [
    {
      type: 'project',
      id: 'prj_019c5a7e4d1b7c3a8f2e6d5c4b3a2910',
      name: 'Online shop',
      detail: 'SHOP · Acme',
      at: null,
      archived: false,
    },
    {
      type: 'entry',
      id: 'ent_019c5a80b3c47d1e9a6f5e4d3c2b1a09',
      name: 'Fix rounding in the shop’s checkout',
      detail: 'builder · claude-opus-4-8',
      at: '2026-11-20T10:00:00.000Z',
      archived: false,
    },
  ],
  searched_to: null,
}
