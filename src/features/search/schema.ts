/** API schema of the search, shared by OpenAPI and the command line's `--json`. */
import { type Static, Type } from '@sinclair/typebox'
import { moment, oneOf, orNull, strict } from '../../schema/types.ts'

/** In the order in which they are returned. */
export const SEARCH_TYPES = ['project', 'ticket', 'client', 'bill', 'person', 'model', 'session', 'entry'] as const
export type SearchType = (typeof SEARCH_TYPES)[number]

export const SearchHit = Type.Object(
  {
    type: oneOf(SEARCH_TYPES, 'What it is.'),
    id: Type.String({
      description: 'Its id; of a session, the id that its agent reported, and of a model, the name.',
      examples: ['prj_019c5a7e4d1b7c3a8f2e6d5c4b3a2910'],
    }),
    name: Type.String({
      description: 'What people call it: the key of a ticket, the number of a bill, the summary of an entry.',
      examples: ['Online shop'],
    }),
    detail: orNull(
      Type.String({
        description: 'What distinguishes it from others of the same name, to show next to it.',
        examples: ['SHOP'],
      }),
    ),
    at: orNull(moment('When an entry, or the latest visible entry of a session, began; null for everything else.')),
    archived: Type.Boolean({ description: 'Whether it is archived, voided or disabled.' }),
  },
  { ...strict, $id: 'SearchHit', description: 'Something that a search found.' },
)
export type SearchHit = Static<typeof SearchHit>

export const SearchAnswer = Type.Object(
  {
    data: Type.Array(SearchHit, { description: 'By type, and within a type the best match first.' }),
    searched_to: orNull(
      moment(
        'Summaries of entries that began before this moment were not searched, because it would take too long; null if the search ended by itself. `GET /token-entries?q=…` searches on.',
      ),
    ),
  },
  { ...strict, $id: 'SearchAnswer', description: 'What a search found.' },
)
export type SearchAnswer = Static<typeof SearchAnswer>
