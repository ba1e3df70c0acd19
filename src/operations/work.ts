/** Shared by the routes of clients, projects and tickets. */
import { parameter } from './parameters.ts'

/** Roles that can change clients, projects and tickets. */
export const MAY_CHANGE = { session: ['billing', 'admin'] } as const

/** What the operations of clients, projects and tickets have in common. */
export const READING = { tag: 'Work', allow: ['read', 'session'], scope: 'projects:read' } as const
export const CHANGING = { tag: 'Work', allow: MAY_CHANGE, scope: 'projects:write' } as const

/** Query parameters of every list of clients, projects and tickets. */
export const archivedAndSearch = (search: string) => ({
  search: parameter({ type: 'string', description: search }),
  archived: parameter({
    type: 'string',
    enum: ['false', 'true', 'all'],
    description: '`true` for archived only, `all` for both; by default, archived ones are left out.',
  }),
})
