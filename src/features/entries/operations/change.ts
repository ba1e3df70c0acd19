import { Type } from '@sinclair/typebox'
import { requireTokenScope } from '../../../http/access.ts'
import { endpoint, result } from '../../../operations/operation.ts'
import { EXAMPLE_PLACED_ENTRY } from '../examples.ts'
import { readCorrection } from '../request.ts'
import { EntryCorrection, TokenEntry } from '../schema.ts'
import type { EntriesService } from '../service.ts'

interface Needs {
  entries: EntriesService
}

/** The fields that place an entry or describe it; all others correct its figures. */
const PLACE_FIELDS = new Set(['project', 'ticket', 'summary', 'labels'])

export const changeTokenEntry = endpoint({
  id: 'changeTokenEntry',
  tag: 'Token entries',
  method: 'PATCH',
  path: '/token-entries/:id',
  params: { id: 'ID of the entry (ent_…).' },
  object: 'ent',
  summary: 'Place an entry manually or correct it',
  description:
    'Fields that are absent stay unchanged; `null` clears a field. A manual placement is kept, whatever the session reports later and whichever rules match. This includes an entry without a project (`"project": null`). If you change the summary or labels of an entry that was not placed by a report or a person, the rules are applied again. Members can change their own entries and place entries of projects they lead. Billing and admin can change any entry; if they specify both ticket and project, the ticket is assigned to the project and its other entries move as well. Billing and admin can also correct the figures, times, model and provider of an entry that is not approved or billed, with a `reason`: `tokens` is replaced as a whole, the entry is valued again by the current prices, `corrected` then contains `figures`, and the history has what was reported. What the session uses later becomes a further entry; a later report does not undo the correction.',
  allow: ['session'],
  scope: ['entries:place', 'entries:correct'],
  // `readCorrection` explains more than a schema could.
  body: Type.Record(Type.String(), Type.Unknown()),
  shown: EntryCorrection,
  examples: {
    ticket: { summary: 'Place it on a ticket', value: { ticket: 'ACME-42' } },
    nowhere: { summary: 'Remove it from its project', value: { project: null } },
    figures: {
      summary: 'Correct its cost',
      value: { reported_cost: 0.125, reason: 'The script reported cents' },
    },
    labels: { summary: 'Correct its labels', value: { labels: { repository: 'acme/web' } } },
  },
  answer: result('The updated entry.', TokenEntry, EXAMPLE_PLACED_ENTRY),
  problems: ['entry_locked', 'on_a_sheet', 'wrong_status'],
  run: async ({ entries }: Needs, { params, body, party, served: { caller } }) => {
    const fields = Object.keys(body)
    if (fields.some((field) => PLACE_FIELDS.has(field))) requireTokenScope(caller, 'entries:place')
    // The reason is required for figures, and for them only.
    if (fields.some((field) => !PLACE_FIELDS.has(field))) requireTokenScope(caller, 'entries:correct')
    return entries.places.changeEntry(params.id, readCorrection(body), party)
  },
})
