/** API schema of changes. */
import { array, component, oneOf, text } from '../../schema/types.ts'
import { CHANGE_KINDS } from './kinds.ts'

export const ChangesAnswer = component('Changes', 'Kinds of data that changed.', {
  id: text('Pass it as `after` the next time.', { examples: ['48213'] }),
  kinds: array('What changed; empty if nothing did.', oneOf(CHANGE_KINDS)),
})
