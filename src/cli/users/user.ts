/** A person on the command line. */
import type { UserBody } from '../../features/people/schema.ts'
import { minute } from '../terminal/print.ts'

export const USER = 'e-mail address or id (usr_…) of the person'

/** `active`, `disabled` or `erased`, and since when, in UTC. */
export function stateOf({ disabled_at, erased_at }: UserBody): string {
  if (erased_at !== null) return `erased ${minute(erased_at)}`
  return disabled_at === null ? 'active' : `disabled ${minute(disabled_at)}`
}
