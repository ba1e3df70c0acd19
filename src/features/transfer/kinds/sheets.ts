import { SHEET_STATUSES } from '../../../database/schema/values.ts'
import { choice, day, moment, orNone, ownId, reference, text } from '../columns.ts'
import { kind } from '../kind.ts'

export const SHEET = kind({
  type: 'sheet',
  table: 'sheets',
  order: ['id'],
  fields: {
    id: ownId('sht'),
    agent_manager: reference('managerId', 'users'),
    first_day: day('firstDay'),
    last_day: day('lastDay'),
    starting_at: moment('startingAt'),
    ending_at: moment('endingAt'),
    note: orNone(text('note')),
    status: choice('status', SHEET_STATUSES),
    reason: orNone(text('reason')),
    created_at: moment('createdAt'),
    submitted_at: orNone(moment('submittedAt')),
    decided_at: orNone(moment('decidedAt')),
    decided_by: orNone(reference('decidedBy', 'users')),
    updated_at: orNone(moment('updatedAt')),
  },
})
