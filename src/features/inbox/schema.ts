/** API schema of the inbox. */
import { type Static, Type } from '@sinclair/typebox'
import { moment, oneOf, orNull, strict } from '../../schema/types.ts'
import { INBOX_KINDS, KINDS } from './kinds.ts'

export const InboxItem = Type.Object(
  {
    kind: oneOf(INBOX_KINDS, INBOX_KINDS.map((kind) => `\`${kind}\`: ${KINDS[kind].description}.`).join(' ')),
    count: Type.Integer({ minimum: 1, description: 'How many there are.' }),
    cost: orNull(
      Type.Number({
        description:
          'Cost of the entries in US dollars; null if it is unknown, and for everything but entries and sheets to approve.',
        examples: [12.74],
      }),
    ),
    list: Type.String({ description: 'Path of the list of exactly these.' }),
    oldest_at: orNull(
      moment('When the first sheet was submitted, or the period of the first own sheet began; null for other kinds.'),
    ),
  },
  { ...strict, $id: 'InboxItem', description: 'Things of one kind that wait for the caller.' },
)
export type InboxItem = Static<typeof InboxItem>

export const Inbox = Type.Object(
  {
    open: Type.Integer({ minimum: 0, description: 'The sum of all counts.' }),
    data: Type.Array(InboxItem, {
      description: 'What waits, in the order to work through it; nothing for a count of 0.',
    }),
  },
  { ...strict, $id: 'Inbox', description: 'Everything that waits for the caller.' },
)
export type Inbox = Static<typeof Inbox>
