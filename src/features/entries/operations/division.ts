import { type Answer, operation, result } from '../../../operations/operation.ts'
import { EXAMPLE_DIVIDED, EXAMPLE_ENTRY } from '../examples.ts'
import { DividedTokenEntry, EntryDivision, TokenEntry } from '../schema.ts'
import type { EntriesService } from '../service.ts'

interface Needs {
  entries: EntriesService
}

const tag = 'Token entries'

const params = { id: 'ID of the entry (ent_…).' }

/** What all changes of a division have in common. */
const DIVIDING = { tag, allow: ['session'], scope: 'entries:place', object: 'ent', method: 'POST', params } as const

const PARTS: Answer = result('The parts of the entry.', DividedTokenEntry, EXAMPLE_DIVIDED)

const divideTokenEntry = operation({
  ...DIVIDING,
  id: 'divideTokenEntry',
  path: '/token-entries/:id/divide',
  summary: 'Divide an entry between tickets or projects',
  description:
    'The entry becomes the first part; each other part is a further entry, which is approved and billed like any other. Tokens, model calls and costs of the parts sum exactly to those of the entry. A session that goes on keeps its division: as long as no part is approved or billed, what it uses is divided in the same way; then it becomes a further entry that is divided, too. You can divide the entries that you can place.',
  body: EntryDivision,
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
  answer: PARTS,
  problems: ['entry_locked', 'entry_divided', 'wrong_status', 'on_a_sheet'],
  run: ({ entries }: Needs, { params, body, party }) => entries.division.divide(params.id, body, party),
})

export const undivideTokenEntry = operation({
  ...DIVIDING,
  id: 'undivideTokenEntry',
  path: '/token-entries/:id/undivide',
  summary: 'Undo the division of an entry',
  description:
    'The entry that was divided gets the usage of all its parts back, and keeps the place of the first. The other parts are voided for good. Takes the ID of any part. All parts must be `submitted`.',
  answer: result('The entry that was divided.', TokenEntry, EXAMPLE_ENTRY),
  problems: ['entry_locked', 'not_divided', 'wrong_status'],
  run: ({ entries }: Needs, { params, party }) => entries.division.undivide(params.id, party),
})

const getTokenEntryDivision = operation({
  tag,
  params,
  id: 'getTokenEntryDivision',
  method: 'GET',
  path: '/token-entries/:id/division',
  summary: 'List the parts of a divided entry',
  description: 'Takes the ID of any part.',
  allow: ['session', 'read'],
  scope: 'entries:read',
  answer: PARTS,
  problems: ['not_divided'],
  run: ({ entries }: Needs, { params, viewer }) => entries.division.getDivision(params.id, viewer),
})

export const divisionOperations = [divideTokenEntry, undivideTokenEntry, getTokenEntryDivision] as const
