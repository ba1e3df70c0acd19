/** API schema of the inbox. */
import type { Static } from '@sinclair/typebox'
import { array, component, integer, moment, money, oneOf, orNull, text } from '../../schema/types.ts'
import { INBOX_KINDS, KINDS } from './kinds.ts'

export const InboxItem = component('InboxItem', 'Things of one kind that wait for the caller.', {
  kind: oneOf(INBOX_KINDS, INBOX_KINDS.map((kind) => `\`${kind}\`: ${KINDS[kind].description}.`).join(' ')),
  count: integer('How many there are.', { minimum: 1 }),
  decisions: integer(
    'How many rows the page Inbox has for them: one for each sheet, bill, period of a plan and proposed rule, one for each project with entries to approve, and one for each list of another kind.',
    { minimum: 1 },
  ),
  cost: orNull(
    money('Cost of the entries; null if it is unknown, and for everything but entries and sheets to approve.', {
      examples: [12.74],
    }),
  ),
  list: text('Path of the list of exactly these.'),
  oldest_at: orNull(
    moment('When the first sheet was submitted, or the period of the first own sheet began; null for other kinds.'),
  ),
})
export type InboxItem = Static<typeof InboxItem>

export const Inbox = component('Inbox', 'Everything that waits for the caller.', {
  open: integer('The sum of all counts.', { minimum: 0 }),
  decisions: integer('The sum of all decisions, as the page Inbox and the menu show it.', { minimum: 0 }),
  data: array('What waits, in the order to work through it; nothing for a count of 0.', InboxItem),
})
export type Inbox = Static<typeof Inbox>
