/** API schema of changes. */
import { Type } from '@sinclair/typebox'
import { oneOf, strict } from '../../schema/types.ts'
import { CHANGE_KINDS } from './kinds.ts'

export const ChangesAnswer = Type.Object(
  {
    id: Type.String({ description: 'Pass it as `after` the next time.', examples: ['48213'] }),
    kinds: Type.Array(oneOf(CHANGE_KINDS), { description: 'What changed; empty if nothing did.' }),
  },
  { ...strict, $id: 'Changes', description: 'Kinds of data that changed.' },
)
