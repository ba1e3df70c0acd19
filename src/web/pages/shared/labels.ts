/** What the groups of a viewer's usage are called. Pure. */
import type { Dimension, Result } from './usage-query.ts'

export const TITLES: Record<Dimension, string> = {
  project: 'Project',
  client: 'Client',
  ticket: 'Ticket',
  model: 'Model',
  agent_manager: 'Person',
}

const NONE: Record<Dimension, string> = {
  project: 'No project',
  client: 'Client not shared',
  ticket: 'No ticket',
  model: 'No model',
  agent_manager: 'People not shared',
}

export function labelOf(result: Result, by: Dimension): string {
  const key = result[by]
  if (key === null || key === undefined) return NONE[by]
  if (typeof key === 'string') return key
  return 'name' in key ? key.name : key.key
}
