import { flag, json, moment, ownId, reference, text } from '../columns.ts'
import { kind } from '../kind.ts'

export const REPORT_VIEW = kind({
  type: 'report_view',
  table: 'reportViews',
  order: ['id'],
  fields: {
    id: ownId('rvw'),
    owner: reference('ownerId', 'users'),
    name: text('name'),
    parameters: json('parameters'),
    shared: flag('shared'),
    pinned: flag('pinned'),
    created_at: moment('createdAt'),
  },
})
