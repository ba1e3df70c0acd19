import { Elysia } from 'elysia'
import { access, partyOf, viewerOf } from '../../../http/access.ts'
import { documented } from '../../../http/documentation.ts'
import { EXAMPLE_DIVIDED, EXAMPLE_ENTRY } from '../examples.ts'
import { DividedTokenEntry, EntryDivision, TokenEntry } from '../schema.ts'
import type { EntriesService } from '../service.ts'

const tag = 'Token entries'
const path = { id: 'ID of the entry (ent_…).' }
const responses = {
  200: { description: 'The parts of the entry.', schema: DividedTokenEntry, example: EXAMPLE_DIVIDED },
}

export const divisionRoutes = ({ entries: { division } }: { entries: EntriesService }) =>
  new Elysia({ name: 'division', normalize: false })
    .use(access())
    .post(
      '/:id/divide',
      ({ params, body, caller, address }) => division.divide(params.id, body, partyOf({ caller, address })),
      {
        allow: ['session'],
        scope: 'entries:place',
        object: 'ent',
        parse: 'report',
        body: EntryDivision,
        detail: documented({
          id: 'divideTokenEntry',
          tag,
          summary: 'Divide an entry between tickets or projects',
          description:
            'The entry becomes the first part; each other part is a further entry, which is approved and billed like any other. Tokens, model calls and costs of the parts sum exactly to those of the entry. A session that goes on keeps its division: as long as no part is approved or billed, what it uses is divided in the same way; then it becomes a further entry that is divided, too. You can divide the entries that you can place.',
          path,
          body: {
            examples: {
              shares: {
                summary: 'Divide it by share',
                value: { parts: [{ share: 70 }, { project: 'acme-api', share: 30 }] },
              },
              amounts: {
                summary: 'Move $12.50 of its cost to a ticket',
                value: { parts: [{}, { ticket: 'ACME-42', amount: 12.5 }] },
              },
            },
          },
          responses,
          problems: ['entry_locked', 'entry_divided', 'wrong_status', 'on_a_sheet'],
        }),
      },
    )
    .post(
      '/:id/undivide',
      ({ params, caller, address }) => division.undivide(params.id, partyOf({ caller, address })),
      {
        allow: ['session'],
        scope: 'entries:place',
        object: 'ent',
        detail: documented({
          id: 'undivideTokenEntry',
          tag,
          summary: 'Undo the division of an entry',
          description:
            'The entry that was divided gets the usage of all its parts back, and keeps the place of the first. The other parts are voided for good. Takes the ID of any part. All parts must be `submitted`.',
          path,
          responses: {
            200: { description: 'The entry that was divided.', schema: TokenEntry, example: EXAMPLE_ENTRY },
          },
          problems: ['entry_locked', 'not_divided', 'wrong_status'],
        }),
      },
    )
    .get('/:id/division', ({ params, caller }) => division.getDivision(params.id, viewerOf(caller)), {
      allow: ['session', 'read'],
      scope: 'entries:read',
      detail: documented({
        id: 'getTokenEntryDivision',
        tag,
        summary: 'List the parts of a divided entry',
        description: 'Takes the ID of any part.',
        path,
        responses,
        problems: ['not_divided'],
      }),
    })
