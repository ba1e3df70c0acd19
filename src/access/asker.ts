import type { Id } from '../lib/id.ts'
import { EVERYTHING, type Viewer } from './visibility.ts'

/** Who names projects and people in a filter, and may therefore learn whether they exist. */
export interface Asker {
  viewer: Viewer
  /** Admins who are signed in or use the command line, and their API tokens that may read people. */
  listsPeople: boolean
  /** The asker, whom a filter can always name. */
  self?: { uid: Id<'usr'>; email: string }
}

export const COMMAND_LINE: Asker = { viewer: EVERYTHING, listsPeople: true }
