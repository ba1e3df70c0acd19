/** What the routes of clients, projects and tickets share. */
import type { Party } from '../features/projects/service.ts'
import { actorOf, viewerOf } from './access.ts'
import { parameter } from './query.ts'

type Context = Parameters<typeof actorOf>[0]

/** Who may change work, where leads may not. */
export const MAY_CHANGE = { session: ['billing', 'admin'] } as const

/** The caller as the one who changes something, with what they may see. */
export function partyOf(context: Context): Party {
  return { viewer: viewerOf(context.caller), by: actorOf(context) }
}

/** The parameters that every list of work has. */
export const archivedAndSearch = (search: string) => ({
  search: parameter({ type: 'string', description: search }),
  archived: parameter({
    type: 'string',
    enum: ['false', 'true', 'all'],
    description: '`true` for archived ones only, `all` for both; without it those that are not archived.',
  }),
})
