/** What the routes of clients, projects and tickets share. */
import { parameter } from './query.ts'

/** Who may change work, where leads may not. */
export const MAY_CHANGE = { session: ['billing', 'admin'] } as const

/** The parameters that every list of work has. */
export const archivedAndSearch = (search: string) => ({
  search: parameter({ type: 'string', description: search }),
  archived: parameter({
    type: 'string',
    enum: ['false', 'true', 'all'],
    description: '`true` for archived only, `all` for both; by default, archived ones are left out.',
  }),
})
