/** The orders of the list; the first is the default. Names are found by filters: a page by model would be one model. */
export const SORTS = [
  ...(['started_at', 'cost', 'tokens', 'duration', 'list_value', 'reported_cost'] as const),
  ...(['input', 'output', 'cache_read', 'cache_write', 'cache_write_1h'] as const),
] as const
