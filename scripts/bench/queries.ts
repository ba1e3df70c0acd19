/** Typical queries on a seeded database, as API paths. */

/** The last full month of seeded entries, and other periods around it. */
const MONTH = 'starting_at=2026-10-01T00:00:00%2B02:00&ending_at=2026-11-01T00:00:00%2B01:00'
const DAY = 'starting_at=2026-10-14T00:00:00%2B02:00&ending_at=2026-10-15T00:00:00%2B02:00'
const WEEK = 'starting_at=2026-10-12T00:00:00%2B02:00&ending_at=2026-10-19T00:00:00%2B02:00'
const YEAR = 'starting_at=2025-11-01T00:00:00%2B01:00&ending_at=2026-11-01T00:00:00%2B01:00'
const ALL = 'starting_at=2024-11-01T00:00:00%2B01:00&ending_at=2026-12-01T00:00:00%2B01:00'

const usage = (period: string, rest: string) => `/api/v1/reports/usage?${period}&${rest}`

/** A filter that matches nearly all entries and has no precomputed sums, so that every entry must be read. */
export const ONE_BY_ONE = '&possible_duplicate=false'

export const REPORTS: Record<string, string> = {
  'a month by project': usage(MONTH, 'bucket_width=all&group_by=project'),
  'a month by model': usage(MONTH, 'bucket_width=all&group_by=model'),
  'a month by agent manager': usage(MONTH, 'bucket_width=all&group_by=agent_manager'),
  'a month by agent and harness': usage(MONTH, 'bucket_width=all&group_by=agent_name,agent_harness'),
  'a month by client and model': usage(MONTH, 'bucket_width=all&group_by=client,model'),
  'a month by day': usage(MONTH, 'bucket_width=1d'),
  'a month by day and model': usage(MONTH, 'bucket_width=1d&group_by=model'),
  'a month of a project by day': usage(MONTH, 'bucket_width=1d&project=OWN005'),
  'a month of a project by agent manager': usage(MONTH, 'bucket_width=all&project=ABE001&group_by=agent_manager'),
  'a month of a person by project': usage(
    MONTH,
    'bucket_width=all&agent_manager=ada.abel@example.com&group_by=project',
  ),
  'a month by status': usage(MONTH, 'bucket_width=all&group_by=status'),
  'a week by day and project': usage(WEEK, 'bucket_width=1d&group_by=project'),
  'a day by hour': usage(DAY, 'bucket_width=1h'),
  'a day by project and model': usage(DAY, 'bucket_width=all&group_by=project,model'),
  'twelve months by month': usage(YEAR, 'bucket_width=1mo'),
  'twelve months by month and project': usage(YEAR, 'bucket_width=1mo&group_by=project'),
  'twelve months by week and model': usage(YEAR, 'bucket_width=1w&group_by=model'),
  'two years by month and model': usage(ALL, 'bucket_width=1mo&group_by=model'),
  'two years in one sum': usage(ALL, 'bucket_width=all'),
  'a month by repository': usage(MONTH, 'bucket_width=all&group_by=label:repository'),
  'a month by project and harness': usage(MONTH, 'bucket_width=all&group_by=project,agent_harness'),
  'a month of a person by project and model': usage(
    MONTH,
    'bucket_width=all&agent_manager=ada.abel@example.com&group_by=project,model',
  ),
  'variance of a month': `/api/v1/reports/variance?${MONTH}`,
  'variance of twelve months': `/api/v1/reports/variance?${YEAR}`,
}

/** Reports that can't be computed from single entries. */
export const COMPLETENESS: Record<string, string> = {
  'completeness of a month': `/api/v1/reports/completeness?${MONTH}`,
  'completeness of twelve months': `/api/v1/reports/completeness?${YEAR}`,
}

const list = (filter: string) => `/api/v1/token-entries?limit=50&${filter}`

export const LISTS: Record<string, string> = {
  'all, newest first': list(''),
  'all, a year back': list('ending_at=2025-11-20T00:00:00Z'),
  'a month': list(MONTH),
  'a busy project': list('project=ABE001'),
  'a small project': list('project=OWN195'),
  'a project in a month': list(`project=ABE001&${MONTH}`),
  'a project a year back': list('project=ABE001&ending_at=2025-11-20T00:00:00Z'),
  'a busy person': list('agent_manager=ada.abel@example.com'),
  'a person who does little': list('agent_manager=tara.zimmer@example.com'),
  'two people in a month': list(`agent_manager=ada.abel@example.com,ben.abel@example.com&${MONTH}`),
  'a ticket': list('ticket=ABE001-1000'),
  unattributed: list('placed=none'),
  'unattributed in a month': list(`placed=none&${MONTH}`),
  unpriced: list('priced=false'),
  'a model (no index)': list('model=claude-opus-4-8'),
  'a model that is gone (no index)': list('model=o4-mini'),
  'rejected (no index)': list('status=rejected'),
  'a client (no index)': list('client=Costa%20Logistics'),
  'a repository (no index)': list('label=repository:internal/shop-195'),
  'a text of the summary in a month (no index)': list(`q=audit%20log&${MONTH}`),
}

/** Queries of a person who sees their own entries and those of a project they lead. */
export const MEMBERS_LISTS: Record<string, string> = {
  'of a member: all they see': list(''),
  'of a member: a year back': list('ending_at=2025-11-20T00:00:00Z'),
  'of a member: a project': list('project=ABE001'),
  'of a member: rejected (no index)': list('status=rejected'),
}

/** Rare queries that are as expensive as possible. */
export const HEAVY: Record<string, string> = {
  'a report over all entries': usage(ALL, `bucket_width=1mo&group_by=ticket,model${ONE_BY_ONE}`),
  'a search that finds nothing': list('q=nobody%20ever%20wrote%20this'),
  'an export of everything': '/api/v1/token-entries?format=csv',
}
