/** Who acts: recorded with every change in the audit log and in the history of entries. */
import { userInfo } from 'node:os'
import type { Role } from '../database/schema/values.ts'
import type { Viewer } from './visibility.ts'

/** Who makes a change, and from where. */
export interface Actor {
  /** Null on the command line and for Tally itself. */
  userId: number | null
  tokenId: number | null
  /** The client's address for a request, otherwise a short description. */
  origin: string
}

/** The party making a request: what they can see and do, and who is recorded in the audit log. */
export interface Party {
  viewer: Viewer
  /** Null on the command line, which may do whatever an admin may. */
  person: { id: number; role: Role } | null
  by: Actor
}

/** Changes made by Tally itself: at startup or on a schedule. */
export const TALLY: Actor = { userId: null, tokenId: null, origin: 'tally' }

/** What Bun returns if the environment names no user, as under some schedulers. */
const NO_NAME = 'unknown'

/** The operating system user who runs the command line: their name, or else their uid. */
export function commandLineActor(): Actor {
  const { username, uid } = userInfo()
  return { userId: null, tokenId: null, origin: `command line of ${username === NO_NAME ? `user ${uid}` : username}` }
}
