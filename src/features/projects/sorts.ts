/**
 * What lists of clients, projects and tickets can be sorted by: only what everyone sees of all of them, because an order
 * shows what it is made of.
 */

export const CLIENT_SORTS = { name: 'text', created_at: 'number' } as const
export const PROJECT_SORTS = { key: 'text', name: 'text', client: 'text', created_at: 'number' } as const
export const TICKET_SORTS = { key: 'text', title: 'text', created_at: 'number' } as const
