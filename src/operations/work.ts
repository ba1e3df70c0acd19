/** Shared by the routes of clients, projects and tickets. */
import { parameter } from './parameters.ts'

/** Roles that can change clients, projects and tickets. */
export const MAY_CHANGE = { session: ['billing', 'admin'] } as const

/** Query parameters of every list of clients, projects and tickets. */
export const archivedAndSearch = (search: string) => ({
  search: parameter({ type: 'string', description: search }),
  archived: parameter({
    type: 'string',
    enum: ['false', 'true', 'all'],
    description: '`true` for archived only, `all` for both; by default, archived ones are left out.',
  }),
})
