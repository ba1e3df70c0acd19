/** Typical queries on a seeded database, as API paths. */

import { DIMENSIONS } from '../../src/features/reports/sums.ts'
import { ENTRY_FILTERS, type EntryFilterName } from '../../src/shared/entry-filters.ts'

/** The last full month of seeded entries, and other periods around it. */
export const MONTH = 'starting_at=2026-10-01T00:00:00%2B02:00&ending_at=2026-11-01T00:00:00%2B01:00'
const DAY = 'starting_at=2026-10-14T00:00:00%2B02:00&ending_at=2026-10-15T00:00:00%2B02:00'
const WEEK = 'starting_at=2026-10-12T00:00:00%2B02:00&ending_at=2026-10-19T00:00:00%2B02:00'
const YEAR = 'starting_at=2025-11-01T00:00:00%2B01:00&ending_at=2026-11-01T00:00:00%2B01:00'
const ALL = 'starting_at=2024-11-01T00:00:00%2B01:00&ending_at=2026-12-01T00:00:00%2B01:00'

const usage = (period: string, rest: string) => `/api/v1/reports/usage?${period}&${rest}`

/** A filter that matches nearly all entries and has no precomputed sums, so that every entry must be read. */
export const ONE_BY_ONE = '&possible_duplicate=false'

/** A month by any two of the dimensions. */
export const PAIRS: Record<string, string> = Object.fromEntries(
  DIMENSIONS.flatMap((one, at) =>
    DIMENSIONS.slice(at + 1).map((other) => [
      `${one} and ${other}`,
      usage(MONTH, `bucket_width=all&group_by=${one},${other}`),
    ]),
  ),
)

export const YEAR_BY_MONTH_AND_PROJECT = usage(YEAR, 'bucket_width=1mo&group_by=project')
export const YEAR_BY_DAY_AND_MODEL = usage(YEAR, 'bucket_width=1d&group_by=model')
export const YEAR_BY_MONTH_AND_LABEL = usage(YEAR, 'bucket_width=1mo&group_by=label:repository')

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

const NO_SESSION = '00000000-0000-4000-8000-000000000000'

const LISTS: Record<string, string> = {
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

/** What the interface can ask for with each filter: values that entries have, and none has. */
const FILTERS: Record<EntryFilterName, { matching: string[]; unmatched: string[] }> = {
  starting_at: { matching: ['starting_at=2026-11-10'], unmatched: ['starting_at=2027-01-01'] },
  ending_at: { matching: ['ending_at=2025-11-20'], unmatched: ['ending_at=2020-01-01'] },
  ended_after: {
    matching: [`ended_after=2026-10-31T23:00:00Z&${MONTH}`, 'ended_after=2026-11-19'],
    unmatched: ['ended_after=2027-01-01'],
  },
  project: { matching: ['project=ABE001', 'project=none'], unmatched: ['project=OWN195&source=metric'] },
  ticket: { matching: ['ticket=ABE001-1000'], unmatched: ['ticket=ABE001-1000&source=metric'] },
  client: {
    matching: ['client=Abel%20Bakery', 'client=Costa%20Logistics', 'client=none'],
    unmatched: ['client=Costa%20Logistics&source=metric'],
  },
  has_client: {
    matching: ['has_client=true', 'has_client=false'],
    unmatched: ['has_client=false&client=none&project=none'],
  },
  billable: { matching: ['billable=true'], unmatched: ['billable=false'] },
  agent_manager: {
    matching: ['agent_manager=ada.abel@example.com', 'agent_manager=tara.zimmer@example.com'],
    unmatched: ['agent_manager=tara.zimmer@example.com&source=metric'],
  },
  without_agent_manager: { matching: ['without_agent_manager=ada.abel@example.com'], unmatched: [] },
  agent_name: { matching: ['agent_name=second-level'], unmatched: ['agent_name=nobody'] },
  agent_harness: { matching: ['agent_harness=support-bot'], unmatched: ['agent_harness=unheard-of'] },
  model: {
    matching: ['model=claude-opus-4-8', 'model=o4-mini', 'model=acme-coder-7b'],
    unmatched: ['model=gpt-unheard-of', `model=o4-mini&${MONTH}`],
  },
  provider: {
    matching: ['provider=google', 'provider=none'],
    unmatched: ['provider=unheard-of', 'provider=google&model=o4-mini'],
  },
  status: { matching: ['status=submitted', 'status=rejected'], unmatched: ['status=billed', 'status=pending,draft'] },
  source: { matching: ['source=report'], unmatched: ['source=metric'] },
  session_id: { matching: [], unmatched: [`session_id=${NO_SESSION}`] },
  label: {
    matching: ['label=branch:main', 'label=repository:internal/shop-195'],
    unmatched: ['label=repository:nobody/nothing'],
  },
  without_label: { matching: ['without_label=repository', 'without_label=team'], unmatched: [] },
  placed: { matching: ['placed=named', 'placed=none'], unmatched: ['placed=manual', 'placed=rule'] },
  funding: { matching: ['funding=unknown'], unmatched: ['funding=credits'] },
  plan: { matching: ['plan=none'], unmatched: ['plan=unheard-of'] },
  priced: { matching: ['priced=true', 'priced=false'], unmatched: [`priced=false&project=OWN195&source=metric`] },
  unknown_cost: { matching: ['unknown_cost=marginal'], unmatched: ['unknown_cost=cost&project=OWN195&source=metric'] },
  late: { matching: ['late=false'], unmatched: ['late=true'] },
  correction: { matching: ['correction=false'], unmatched: ['correction=true'] },
  cost_mismatch: { matching: ['cost_mismatch=false'], unmatched: ['cost_mismatch=true'] },
  long_context: {
    matching: ['long_context=true', `long_context=true&${MONTH}`],
    unmatched: ['long_context=true&model=o4-mini'],
  },
  without_base_price: { matching: ['without_base_price=false'], unmatched: ['without_base_price=true'] },
  price_load: { matching: [], unmatched: ['price_load=pld_00000000000070008000000000000000'] },
  sheet: { matching: [], unmatched: ['sheet=tsh_00000000000070008000000000000000'] },
  possible_duplicate: {
    matching: ['possible_duplicate=true', 'possible_duplicate=false'],
    unmatched: ['possible_duplicate=true&source=metric'],
  },
  superseded: { matching: ['superseded=false'], unmatched: ['superseded=true'] },
  bill: { matching: ['bill=none'], unmatched: ['bill=none&source=metric'] },
  q: { matching: ['q=audit%20log', `q=audit%20log&${MONTH}`], unmatched: [] },
}

const filtered = (key: 'matching' | 'unmatched') =>
  Object.fromEntries(
    (Object.keys(ENTRY_FILTERS) as EntryFilterName[])
      .flatMap((name) => FILTERS[name][key])
      .map((filter) => [decodeURIComponent(filter).replace(MONTH_TEXT, 'a month'), list(filter)]),
  )

const MONTH_TEXT = decodeURIComponent(MONTH)

/** Lists with every filter of the interface that has matches, and without one. */
export const MATCHING: Record<string, string> = { ...LISTS, ...filtered('matching') }
export const UNMATCHED: Record<string, string> = filtered('unmatched')

export const SORTS = ['started_at', 'cost', 'tokens', 'duration'] as const
export type Sort = (typeof SORTS)[number]

export const sorted = (sort: Sort, order: 'asc' | 'desc', filter: string) =>
  list(`sort=${sort}&order=${order}&${filter}`)

export const SEARCHES: Record<string, string> = {
  'a text of many summaries': list('q=audit%20log'),
  'a text of no summary': list('q=nobody%20ever%20wrote%20this'),
  'a text of no summary, of a project': list('q=nobody%20ever%20wrote%20this&project=ABE001'),
}

export const EXPORTS = {
  CSV: '/api/v1/token-entries?format=csv',
  NDJSON: '/api/v1/token-entries?format=ndjson',
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
  'a search that finds nothing': SEARCHES['a text of no summary']!,
  'an export as CSV': EXPORTS.CSV,
  'an export as NDJSON': EXPORTS.NDJSON,
}
