/** Who acts: recorded with every change in the audit log and in the history of entries. */
import { userInfo } from 'node:os'
import type { Role } from '../database/schema/values.ts'
import type { Represented } from './caller.ts'
import type { Precondition } from './precondition.ts'
import type { Viewer } from './visibility.ts'

/** Who makes a change, and from where. */
export interface Actor {
  /** Null for Tally itself, and on the command line unless `--as` names a person. */
  userId: number | null
  tokenId: number | null
  /** The client's address for a request, otherwise a short description. */
  origin: string
  /** The person for whom a deputy acts. */
  for?: Represented | undefined
  /** What the request requires of the object that it changes. */
  precondition?: Precondition | undefined
}

/** The party making a request: what they can see and do, and who is recorded in the audit log. */
export interface Party {
  viewer: Viewer
  /** Null on the command line, which may do whatever an admin may. */
  person: { id: number; role: Role; actsFor?: readonly Represented[] } | null
  by: Actor
}

/** The actor of a decision by the right of the person with this key, if it is a deputy's. */
export function actingFor({ person, by }: Pick<Party, 'person' | 'by'>, userId: number | undefined): Actor {
  const represented = person?.actsFor?.find(({ id }) => id === userId)
  return represented ? { ...by, for: represented } : by
}

/** Changes made by Tally itself: at startup or on a schedule. */
export const TALLY: Actor = { userId: null, tokenId: null, origin: 'tally' }

/** What Bun returns, which reads the name from the environment, if that names no user, as under some schedulers. */
const NO_NAME = 'unknown'

/**
 * The operating system user who runs the command line: their name, or else their uid, and who became this user by sudo.
 * Whoever runs it has an admin's rights, so the person that they name (`userId`) is recorded, and decides nothing.
 */
export function commandLineActor({
  userId = null,
  sudoUser,
}: {
  userId?: number | null
  sudoUser?: string | undefined
} = {}): Actor {
  const { username, uid } = userInfo()
  const name = username === NO_NAME ? `user ${uid}` : username
  const sudo = sudoUser === undefined || sudoUser === username ? '' : ` (sudo by ${sudoUser})`
  return { userId, tokenId: null, origin: `command line of ${name}${sudo}` }
}
