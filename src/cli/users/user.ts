/** A person on the command line. */
import type { UserBody, userBody } from '../../features/people/schema.ts'

export type Role = UserBody['role']
export const ROLES: Role[] = ['member', 'billing', 'admin']
export const STATES = ['active', 'disabled'] as const

export const USER = 'e-mail address or id (usr_…) of the person'

/** The schemas are loaded with the services and not before: `--help` does without them. */
export async function bodyOf(user: Parameters<typeof userBody>[0]): Promise<UserBody> {
  return (await import('../../features/people/schema.ts')).userBody(user)
}
