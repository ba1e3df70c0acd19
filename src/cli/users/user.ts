/** A person on the command line. */
import type { UserBody, userBody } from '../../features/people/schema.ts'
import { minute } from '../terminal/print.ts'

export type Role = UserBody['role']
export const ROLES: Role[] = ['viewer', 'member', 'billing', 'admin']
export const STATES = ['active', 'disabled'] as const

export const USER = 'e-mail address or id (usr_…) of the person'

/** `active`, `disabled` or `erased`, and since when, in UTC. */
export function stateOf({ disabled_at, erased_at }: UserBody): string {
  if (erased_at !== null) return `erased ${minute(erased_at)}`
  return disabled_at === null ? 'active' : `disabled ${minute(disabled_at)}`
}

/** The schemas are loaded with the services and not before: `--help` does without them. */
export async function bodyOf(user: Parameters<typeof userBody>[0]): Promise<UserBody> {
  return (await import('../../features/people/schema.ts')).userBody(user)
}
