/** The tools of the Model Context Protocol. */
import { Type } from '@sinclair/typebox'
import { type Issue, Problem, type ProblemCode, refusal } from '../errors.ts'
import { billSendingOperations, maySendBills } from '../features/bills/operations/sending.ts'
import { budgetOperations } from '../features/budgets/operations/budgets.ts'
import { actOnTokenEntries } from '../features/entries/operations/actions.ts'
import { listingOperations } from '../features/entries/operations/listing.ts'
import {
  type TokenEntriesActionResults as ActionResults,
  TokenEntriesActionResults,
  TokenEntry,
  TokenEntryReport,
} from '../features/entries/schema.ts'
import { ownAccountOperations } from '../features/people/operations/own-account.ts'
import { priceOperations } from '../features/prices/operations/prices.ts'
import { getReceipt } from '../features/receipts/operations/receipts.ts'
import { incompletenessOperations } from '../features/reports/operations/incompleteness.ts'
import { usageOperations } from '../features/reports/operations/usage.ts'
import { UsageReport } from '../features/reports/schema.ts'
import type { Given, McpTool } from '../http/mcp.ts'
import { exactNumber } from '../lib/exact-json.ts'
import { formatDecimal, moneyNanos, NANO_DIGITS } from '../lib/money.ts'
import { component, integer, money, object, oneOf, orNull } from '../schema/types.ts'
import { ITEMS_LIMIT } from './shown.ts'
import { type Called, tool } from './tool.ts'

const OPERATIONS = [
  ...ownAccountOperations,
  ...usageOperations,
  ...incompletenessOperations,
  ...listingOperations,
  ...priceOperations,
  ...budgetOperations,
  ...billSendingOperations,
]

function of(id: (typeof OPERATIONS)[number]['id']): Called {
  return OPERATIONS.find((one) => one.id === id)! as Called
}

/** Whose usage, of what and for what: the filters that questions are asked with. */
const WORK = ['project', 'ticket', 'client', 'agent_manager', 'agent_name', 'agent_harness', 'model', 'label'] as const
const PERIOD = ['starting_at', 'ending_at'] as const
const PAGED = ['has_more', 'next_page'] as const

/** The address of a page with some of what was asked. */
function addressOf(path: string, given: Given, names: readonly string[]): string {
  const texts = new URLSearchParams()
  for (const name of names) for (const value of [given[name] ?? []].flat()) texts.append(name, String(value))
  return texts.size === 0 ? path : `${path}?${texts}`
}

/** What a report shows of many groups: the first ones, and the sum of the others. */
interface Figures {
  entries: number
  unpriced_entries: number
  cost: number | null
}
type Bucket = { results: Figures[] }

/** So that the groups of all periods together are not too many to read. */
const GROUPS_LIMIT = 200

function withRest(report: { data: Bucket[] }) {
  const shown = Math.min(ITEMS_LIMIT, Math.max(1, Math.floor(GROUPS_LIMIT / Math.max(1, report.data.length))))
  const data = report.data.map((bucket) => ({
    ...bucket,
    results: bucket.results.slice(0, shown),
    rest: bucket.results.length > shown ? restOf(bucket.results.slice(shown)) : null,
  }))
  return { ...report, data }
}

function restOf(results: readonly Figures[]) {
  const sum = (name: 'entries' | 'unpriced_entries') => results.reduce((total, one) => total + one[name], 0)
  const costs = results.flatMap(({ cost }) => (cost === null ? [] : [moneyNanos(cost)]))
  const cost = costs.reduce((total, one) => total + one, 0n)
  return {
    groups: results.length,
    entries: sum('entries'),
    unpriced_entries: sum('unpriced_entries'),
    cost: costs.length === 0 ? null : exactNumber(formatDecimal(cost, NANO_DIGITS)),
  }
}

const Rest = object('Sums of the groups that are not shown; null if all are shown.', {
  groups: integer('Number of groups.'),
  entries: integer('Number of entries.'),
  unpriced_entries: integer('Unpriced entries, which `cost` excludes.'),
  cost: orNull(money('Cost of the entries for which it is known.')),
})

const { data: Buckets, ...ofReport } = UsageReport.properties
const UsageAnswer = object({
  ...ofReport,
  data: Type.Array(object({ ...Buckets.items.properties, rest: orNull(Rest) })),
})

/** Not an operation, since its route reads bodies in a way of its own. */
const reportTokenEntries: Called = {
  method: 'POST',
  path: '/token-entries/batch',
  allow: ['service'],
  forProjects: true,
  body: TokenEntryReport,
  answer: { status: 200, description: '', schema: TokenEntry, example: undefined },
}

const Reported = component('ReportedSession', {
  preview: Type.Boolean({ description: 'If true, nothing was saved.' }),
  result: oneOf(['created', 'updated', 'repeated'] as const, '`repeated`: it was known already, and nothing changed.'),
  entry: orNull(TokenEntry),
})

interface BatchAnswer {
  results: [{ result: string; entry: object | null; problem: ProblemOfItem | null }]
}
interface ProblemOfItem {
  code: ProblemCode
  detail: string
  errors?: Issue[]
}

function reported({ results }: BatchAnswer, { preview }: Given) {
  const { result, entry, problem } = results[0]
  if (problem) throw new Problem(problem.code, problem.detail, problem.errors && { issues: problem.errors })
  return { preview, result, entry }
}

const Preview = Type.Boolean({ description: 'True to see what would happen, without saving anything.' })

/** How many single results a model reads, those that need attention first. */
const EXAMPLES_LIMIT = 20

const Placed = object({
  ...TokenEntriesActionResults.properties,
  unchanged: integer('Entries that are there already.'),
})

function placed(outcome: ActionResults) {
  const order = { refused: 0, done: 1, unchanged: 2 }
  const results = outcome.results.toSorted(
    (one, other) => order[one.result as keyof typeof order] - order[other.result as keyof typeof order],
  )
  return {
    ...outcome,
    unchanged: outcome.results.length - outcome.done - outcome.refused,
    results: results.slice(0, EXAMPLES_LIMIT),
  }
}

const RECEIPT_FIGURES = ['sessions', 'active_seconds', 'entries', 'unpriced_entries', 'tokens', 'cost', 'list_value']

/** @public In the order in which clients list them. */
export const TOOLS: readonly McpTool[] = [
  tool(of('getMe'), {
    name: 'me',
    title: 'Who is asking',
    description: 'Whose token this is, with their role, what it is limited to, and the time zone of the organization.',
    keep: ['person', 'organization', ...['kind', 'name', 'scopes', 'limit'].map((field) => `token.${field}`)],
    page: () => '/account',
  }),
  tool<{ starting_at: string; ending_at: string }>(of('reportUsage'), {
    name: 'usage',
    title: 'Tokens and cost',
    description:
      'What was spent in a period, by whom and on what: totals, and groups by project, ticket, client, agent_manager (the person), model, agent_name, agent_harness or label:<name>. The period is one bucket unless `bucket_width` is set.',
    fields: [...PERIOD, ...WORK, 'bucket_width', 'group_by', 'basis', 'time_zone', 'page'],
    usual: { bucket_width: 'all', limit: String(ITEMS_LIMIT) },
    answer: UsageAnswer,
    keep: [
      ...['starting_at', 'ending_at', 'time_zone', 'bucket_width', 'basis', 'provisional', ...PAGED],
      ...['entries', 'unpriced_entries', 'tokens', 'cost', 'list_value', 'reported_cost'].map((one) => `totals.${one}`),
      ...['data.starting_at', 'data.ending_at', 'data.results', 'data.rest'],
    ],
    read: withRest,
    page(given, { starting_at, ending_at }) {
      const [by, second] = [given.group_by ?? []].flat()
      return addressOf('/reports', { ...given, starting_at, ending_at, by, second }, [
        ...[...PERIOD, ...WORK, 'by', 'second', 'basis'],
      ])
    },
  }),
  tool(of('listTokenEntries'), {
    name: 'entries',
    title: 'Token entries',
    description:
      'Single sessions of agents and their cost, newest first: one entry per session and model. `sort` by `cost` for the most expensive ones. For sums, use `usage`.',
    fields: [...PERIOD, ...WORK, 'status', 'placed', 'priced', 'q', 'basis', 'sort', 'order', 'page'],
    usual: { limit: '25' },
    keep: [
      ...['basis', 'searched_to', ...PAGED],
      ...[
        ...['id', 'started_at', 'agent_manager.name', 'agent_harness', 'agent_name', 'model', 'tokens.total', 'cost'],
        ...['project', 'ticket', 'status', 'summary'],
      ].map((field) => `data.${field}`),
    ],
    page: (given) =>
      addressOf('/entries', given, [...PERIOD, ...WORK, 'status', 'placed', 'priced', 'q', 'basis', 'sort', 'order']),
  }),
  tool<{ id: string }>(of('getTokenEntry'), {
    name: 'entry',
    title: 'One token entry',
    description:
      'One entry in detail: how its cost was calculated, why it is assigned to its project, and what pays for it.',
    fields: ['id'],
    keep: [
      ...['id', 'status', 'source', 'agent_manager', 'agent_harness', 'agent_name', 'model', 'provider', 'started_at'],
      ...['ended_at', 'requests', 'active_seconds', 'cost', 'reported_cost', 'list_value', 'cost_mismatch'],
      ...['input', 'output', 'cache_read', 'cache_write', 'cache_write_1h', 'total'].map((count) => `tokens.${count}`),
      ...['price', 'valuation', 'project', 'ticket', 'placement', 'placed_by_rule', 'summary', 'labels', 'session_id'],
      ...[
        'superseded',
        'possible_duplicate_of',
        'bill',
        'funding.kind',
        'funding.plan',
        'funding.reason',
        'marginal_cost',
        'allocated_cost',
        'fee_share',
      ],
    ],
    page: (_, { id }) => addressOf('/entries', { open: id }, ['open']),
  }),
  tool(of('reportUnpriced'), {
    name: 'unpriced',
    title: 'Models without a price',
    description: 'Usage without a price, whose cost is therefore unknown, by model. Ask `price` why a model has none.',
    fields: [...PERIOD, ...WORK, 'page'],
    keep: [
      ...['model', 'provider', 'entries', 'tokens.total', 'first_at', 'last_at'].map((one) => `data.${one}`),
      ...PAGED,
    ],
    page: () => '/prices?tab=unpriced',
  }),
  tool(of('resolvePrice'), {
    name: 'price',
    title: 'The price of a model',
    description:
      'Which price applies to a model, which step of the search found it, and why earlier steps found none. Step 8 means that the model has no price.',
    fields: ['model', 'provider', 'at'],
    keep: [
      ...['model', 'provider', 'at', 'step', 'steps', 'sources'],
      ...['id', 'provider', 'model', 'input', 'output', 'cache_read', 'cache_write', 'source', 'effective_from'].map(
        (field) => `price.${field}`,
      ),
    ],
    page: (given) => addressOf('/prices', { tab: 'cost', ...given }, ['tab', 'model', 'provider', 'at']),
  }),
  tool(of('reportUnattributed'), {
    name: 'unattributed',
    title: 'Unattributed entries',
    description:
      'Entries that are not assigned to any project, grouped by what they have in common, and where they may belong.',
    fields: [...PERIOD, ...WORK, 'page'],
    usual: { limit: '25' },
    keep: [
      ...['totals', 'placed_on_nothing', ...PAGED],
      ...[
        ...['name', 'entries', 'unpriced_entries', 'tokens.total', 'cost', 'first_at', 'last_at', 'repository'],
        ...['agent_manager', 'agent_harness', 'agent_name', 'model', 'suggestion', 'example'],
      ].map((field) => `data.${field}`),
    ],
    page: (given) => addressOf('/unattributed', given, [...PERIOD, ...WORK]),
  }),
  tool(of('reportCompleteness'), {
    name: 'completeness',
    title: 'What is missing in a period',
    description:
      'What is incomplete in a period before it is billed: unattributed, unpriced, unapproved and unbilled entries, and possible duplicates.',
    fields: [...PERIOD, ...WORK, 'time_zone'],
    keep: ['starting_at', 'ending_at', ...['check', 'entries', 'unpriced_entries', 'cost'].map((one) => `data.${one}`)],
    page: () => '/',
  }),
  tool(of('listBudgets'), {
    name: 'budgets',
    title: 'Budgets',
    description:
      'Budgets, how much of each is spent in the current period, and whether it is exceeded. Use `state=exceeded` to find who or what is over budget.',
    fields: ['state', 'project', 'client', 'ticket', 'agent_manager', 'page'],
    usual: { limit: String(ITEMS_LIMIT) },
    keep: [
      ...['id', 'name', 'scope', 'measure', 'basis', 'amount', 'period', 'current'].map((one) => `data.${one}`),
      ...PAGED,
    ],
    page: () => '/budgets',
  }),
  tool(of('checkBudgets'), {
    name: 'budget_check',
    title: 'Budget check',
    description: 'Whether the budgets that apply to work on a project or ticket, or of a person, have anything left.',
    fields: ['client', 'project', 'ticket', 'agent_manager', 'agent_name', 'model', 'label'],
    keep: ['allowed', 'complete', 'remaining', 'remaining_tokens', 'budgets', 'as_of'],
    page: () => '/budgets',
  }),
  tool<{ page: string }>(getReceipt, {
    name: 'receipt',
    title: 'What a branch or a ticket has cost',
    description:
      'What the work on a branch, pull request or ticket has cost: totals, cost by model, unattributed entries, and the budgets that it counts for. Pass `repository` (such as acme/web) and `branch`, or `ticket`.',
    fields: ['repository', 'branch', 'ticket', ...PERIOD, 'basis', 'people'],
    keep: [
      ...['repository', 'branch', 'ticket', 'starting_at', 'ending_at', 'time_zone', 'basis', 'provisional'],
      ...['totals', 'models', 'people'].flatMap((part) => RECEIPT_FIGURES.map((figure) => `${part}.${figure}`)),
      ...['models.model', 'people.agent_manager', 'budgets'],
      ...['entries', 'unpriced_entries', 'cost'].map((figure) => `unattributed.${figure}`),
    ],
    page: (_, { page }) => page,
  }),
  tool<{ document: { period: object; scope: { client: { name: string } | null; project: { key: string } | null } } }>(
    of('previewBill'),
    {
      name: 'bill_preview',
      title: 'Preview of a bill',
      description:
        'What the bill of a month or period would be for a client or project, or for everything: lines, totals, and what it leaves out. Nothing is saved or sent. If it is refused because of unpriced or earlier entries, tell the person, and ask before you set `leave_unpriced` or `include_earlier`.',
      fields: [
        ...['month', 'period', 'client', 'project', 'group_by', 'basis', 'currency', 'exchange_rate'],
        ...['leave_unpriced', 'include_earlier', 'provisional'],
      ],
      permits: maySendBills,
      keep: [
        'period_is_over',
        ...[
          ...['scope', 'period', 'basis', 'provisional', 'currency', 'exchange_rate', 'group_by', 'sections'],
          ...['extra_lines', 'entries', 'cost', 'list_value', 'subtotal', 'tax', 'total', 'left_out', 'unused_seats'],
        ].map((field) => `document.${field}`),
      ],
      page(_, { document: { period, scope } }) {
        const of = { ...period, client: scope.client?.name, project: scope.project?.key }
        return addressOf('/bills/new', of, ['client', 'project', 'from', 'to'])
      },
    },
  ),
  tool<{ entry: { id: string } | null }>(reportTokenEntries, {
    name: 'report_session',
    title: 'Report a session',
    description:
      'Reports what an agent session has used so far, for the person whose token this is. Reporting the same totals again changes nothing. Preview first, and report after the person has agreed.',
    fields: [
      ...['agent_harness', 'agent_name', 'model', 'provider', 'started_at', 'ended_at', 'tokens', 'requests'],
      ...['reported_cost', 'summary', 'project', 'ticket', 'labels', 'session_id', 'active_seconds'],
    ],
    required: ['tokens', 'session_id', 'preview'],
    own: { preview: Preview },
    asked({ preview, session_id: session }, { method, path, body }) {
      if (typeof preview !== 'boolean') throw refusal('/preview', 'required', 'must be true or false')
      if (typeof session !== 'string') throw refusal('/session_id', 'required', 'is required')
      return { method, path: preview ? `${path}?dry_run=true` : path, body: [body] }
    },
    answer: Reported,
    read: reported,
    keep: [
      ...['preview', 'result'],
      ...[
        'id',
        'status',
        'model',
        'tokens.total',
        'cost',
        'reported_cost',
        'list_value',
        'project',
        'ticket',
        'placement',
      ].map((field) => `entry.${field}`),
    ],
    page: ({ preview }, { entry }) =>
      preview || !entry ? '/entries' : addressOf('/entries', { open: entry.id }, ['open']),
  }),
  tool(actOnTokenEntries, {
    name: 'place_entries',
    title: 'Assign entries to a project or ticket',
    description:
      'Assigns the entries in `ids`, or all that match the filters, to `to_project` or `to_ticket`. Call it with `preview` first, show the result to the person, then call it again with the same arguments and the `digest` of the preview instead. It is refused if anything has changed since.',
    fields: [...PERIOD, ...WORK, 'placed', 'q', 'ids'],
    own: {
      to_project: Type.String({ description: 'ID, key, name or alias of a project.' }),
      to_ticket: Type.String({ description: 'ID or key of a ticket.' }),
      preview: Type.Literal(true, { description: 'To see what would happen, without saving anything.' }),
      digest: Type.String({ description: 'Of the preview that the person agreed to.' }),
    },
    scope: 'entries:place',
    asked({ preview, digest, to_project: project, to_ticket: ticket }, { method, path, body }) {
      if ((preview === true) === (digest !== undefined)) {
        throw refusal('/preview', 'required', 'Send either preview: true, or the digest of a preview')
      }
      const how = digest === undefined ? { dry_run: true } : { digest }
      return { method, path, body: { ...body, action: 'place', ...how, ...omitUndefined({ project, ticket }) } }
    },
    answer: Placed,
    read: placed,
    keep: [
      ...['dry_run', 'digest', 'done', 'unchanged', 'refused', 'cost', 'unpriced_entries'],
      ...['results.id', 'results.result', 'results.problem'],
    ],
    page: (given) => addressOf('/entries', given, [...PERIOD, ...WORK, 'placed', 'q']),
  }),
]

const omitUndefined = (fields: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
