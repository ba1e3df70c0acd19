/** API schema of the search, shared by OpenAPI and the command line's `--json`. */
import type { Static } from '@sinclair/typebox'
import { array, component, flag, moment, oneOf, orNull, text } from '../../schema/types.ts'

/** In the order in which they are returned. */
export const SEARCH_TYPES = ['project', 'ticket', 'client', 'bill', 'person', 'model', 'session', 'entry'] as const
export type SearchType = (typeof SEARCH_TYPES)[number]

export const SearchHit = component('SearchHit', 'Something that a search found.', {
  type: oneOf(SEARCH_TYPES, 'What it is.'),
  id: text('Its id; of a session, the id that its agent reported, and of a model, the name.', {
    examples: ['prj_019c5a7e4d1b7c3a8f2e6d5c4b3a2910'],
  }),
  name: text('What people call it: the key of a ticket, the number of a bill, the summary of an entry.', {
    examples: ['Online shop'],
  }),
  detail: orNull(
    text('What distinguishes it from others of the same name, to show next to it.', { examples: ['SHOP'] }),
  ),
  at: orNull(moment('When an entry, or the latest visible entry of a session, began; null for everything else.')),
  archived: flag('Whether it is archived, voided or disabled.'),
})
export type SearchHit = Static<typeof SearchHit>

export const SearchAnswer = component('SearchAnswer', 'What a search found.', {
  data: array('By type, and within a type the best match first.', SearchHit),
  searched_to: orNull(
    moment(
      'Summaries of entries that began before this moment were not searched, because it would take too long; null if the search ended by itself. `GET /token-entries?q=…` searches on.',
    ),
  ),
})
export type SearchAnswer = Static<typeof SearchAnswer>
