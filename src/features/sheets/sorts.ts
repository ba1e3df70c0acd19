/** What lists of sheets can be sorted by: not by the sums of their entries, which are added up only for those that are shown. */
export const SHEET_SORTS = { period: 'text', agent_manager: 'text', status: 'text', updated_at: 'number' } as const
