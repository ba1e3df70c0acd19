/**
 * The filters of token entries, from which the parameters of the API, the conditions of queries, the flags of the
 * command line, the filters of the web application and the links between them are derived. Pure data: the web
 * application loads it too.
 *
 * A new one also needs its condition in `selection/sql/conditions.ts`, and an item of `FIELDS` in `web/parts/entries/fields.ts`
 * for people to choose it.
 */
import { ENTRY_FUNDINGS, PLACED_BY, SOURCES, STATUSES, UNCOUNTED_STATUSES } from '../database/schema/values.ts'
import { COST_BASES } from './cost-basis.ts'

/** The statuses of entries that reports count, unless a filter says otherwise. */
export const COUNTED_STATUSES = STATUSES.filter((status) => !UNCOUNTED_STATUSES.includes(status))

interface EntryFilterDefinition {
  /** A `list` and `labels` have any number of values, the others one. `text` is a part of the text to look for. */
  kind: 'moment' | 'list' | 'labels' | 'flag' | 'text'
  /** The values of a list that has no others. */
  values?: readonly string[]
  /** For the API reference, without the full stop. */
  description: string
  /** The entries that the value `none` selects. Other filters have no such value. */
  none?: string
  /** The placeholder and the help text of the command line's flag. */
  argument: string
  help: string
  /**
   * Which commands have the flag. Reports have flags for a period of their own instead of `period`; `reports
   * completeness`, where every check selects the state of its entries, has only `subject`.
   */
  group: 'period' | 'subject' | 'state'
}

export const ENTRY_FILTERS = {
  starting_at: {
    kind: 'moment',
    description: 'Sessions that started at or after this time',
    argument: 'when',
    help: 'use --from',
    group: 'period',
  },
  ending_at: {
    kind: 'moment',
    description: 'Sessions that started before this time',
    argument: 'when',
    help: 'use --to',
    group: 'period',
  },
  ended_after: {
    kind: 'moment',
    description: 'Sessions that ended after this time; together with `ending_at`, sessions that ran past it',
    argument: 'when',
    help: 'sessions that ended after this timestamp, or after the start of this day',
    group: 'state',
  },
  project: {
    kind: 'list',
    description: 'Id, key, name or alias of a project',
    none: 'entries without a project',
    argument: 'project',
    help: 'id, key, name or alias, or none; like most filters repeatable or comma-separated',
    group: 'subject',
  },
  ticket: {
    kind: 'list',
    description: 'Id or key of a ticket',
    none: 'entries without a ticket',
    argument: 'ticket',
    help: 'id or key, or none',
    group: 'subject',
  },
  client: {
    kind: 'list',
    description: 'Id or name of a client',
    none: 'entries whose project has no client',
    argument: 'client',
    help: 'id or name, or none',
    group: 'subject',
  },
  has_client: {
    kind: 'flag',
    description:
      'Whether the entry’s project has a client; false also for entries without a project, which `client=none` excludes',
    argument: 'yes|no',
    help: 'whether it is assigned to a client, through its project',
    group: 'subject',
  },
  billable: {
    kind: 'flag',
    description: 'Whether the entry’s project is billable; true for entries without a project',
    argument: 'yes|no',
    help: 'whether the project is billable',
    group: 'subject',
  },
  agent_manager: {
    kind: 'list',
    description: 'Id or e-mail address of a person',
    argument: 'person',
    help: 'id or e-mail address',
    group: 'subject',
  },
  without_agent_manager: {
    kind: 'list',
    description: 'Id or e-mail address of a person whose entries are excluded',
    argument: 'person',
    help: 'id or e-mail address of a person whose entries to exclude',
    group: 'state',
  },
  agent_name: {
    kind: 'list',
    description: 'Name of an agent',
    argument: 'name',
    help: 'name of the agent',
    group: 'subject',
  },
  agent_harness: {
    kind: 'list',
    description: 'Name of a harness',
    argument: 'name',
    help: 'name of the harness',
    group: 'subject',
  },
  model: {
    kind: 'list',
    description: 'Name of a model, as reported',
    argument: 'name',
    help: 'model as reported',
    group: 'subject',
  },
  provider: {
    kind: 'list',
    description: 'Provider of the model, as reported',
    none: 'entries without a provider',
    argument: 'name',
    help: 'provider of the model as reported, or none',
    group: 'subject',
  },
  status: {
    kind: 'list',
    values: STATUSES,
    description: 'Status',
    argument: 'status',
    help: STATUSES.join(', '),
    group: 'state',
  },
  source: {
    kind: 'list',
    values: SOURCES,
    description: 'Source of the token counts',
    argument: 'source',
    help: SOURCES.join(', '),
    group: 'subject',
  },
  session_id: {
    kind: 'list',
    description: 'Id of a session, as assigned by the harness',
    argument: 'id',
    help: 'id that the harness gave the session',
    group: 'subject',
  },
  label: {
    kind: 'labels',
    description:
      '`name:value`, such as `repository:acme/web`. Values of the same name are alternatives; different names must all match',
    argument: 'name=value',
    help: 'label, such as repository=acme/web',
    group: 'subject',
  },
  without_label: {
    kind: 'list',
    description: 'Name of a label that the entry does not have',
    argument: 'name',
    help: 'name of a label that the entry does not have',
    group: 'subject',
  },
  placed: {
    kind: 'list',
    values: ['none', ...PLACED_BY],
    description: 'How the entry was placed',
    none: 'unattributed entries',
    argument: 'how',
    help: `${PLACED_BY.join(', ')}, or none for unattributed entries`,
    group: 'state',
  },
  funding: {
    kind: 'list',
    values: ENTRY_FUNDINGS,
    description: 'How the usage is paid for',
    argument: 'how',
    help: ENTRY_FUNDINGS.join(', '),
    group: 'state',
  },
  plan: {
    kind: 'list',
    description: 'Id or name of the plan that pays, also with credits',
    none: 'entries that no plan pays',
    argument: 'plan',
    help: 'id or name of the plan that pays, or none',
    group: 'state',
  },
  priced: {
    kind: 'flag',
    description: 'Whether the cost is known',
    argument: 'yes|no',
    help: 'whether the cost is known',
    group: 'state',
  },
  unknown_cost: {
    kind: 'list',
    values: COST_BASES,
    description:
      'Basis on which the cost is unknown: `cost` selects unpriced entries, `list` those without a list value, `marginal` and `allocated` those of which it is unknown what pays, or that are not calculated yet',
    argument: 'basis',
    help: `basis on which the cost is unknown: ${COST_BASES.join(', ')}`,
    group: 'state',
  },
  late: {
    kind: 'flag',
    description:
      'Whether the entry arrived after the period of its plan was closed, or waits for a correction of that period for another reason. With `unknown_cost=allocated`: only those that wait',
    argument: 'yes|no',
    help: 'whether it arrived after the period of its plan was closed, or waits for a correction of it',
    group: 'state',
  },
  correction: {
    kind: 'flag',
    description: 'Whether the entry corrects a period of a plan that was closed',
    argument: 'yes|no',
    help: 'whether it corrects a period of a plan that was closed',
    group: 'state',
  },
  cost_mismatch: {
    kind: 'flag',
    description:
      'Whether the reported cost is more than 10 times the list value, or less than a tenth of it, and they are more than 1 US dollar apart; never without tokens',
    argument: 'yes|no',
    help: 'whether the reported cost is far from the list value (more than 10 times, and $1, apart)',
    group: 'state',
  },
  long_context: {
    kind: 'flag',
    description:
      'Whether the list value contains prices of long requests, such as those above 200,000 tokens of some models',
    argument: 'yes|no',
    help: 'whether the list value contains prices of long requests',
    group: 'state',
  },
  without_base_price: {
    kind: 'flag',
    description:
      'Whether the list value contains tokens that its price has no base price for, only one of long requests',
    argument: 'yes|no',
    help: 'whether the list value contains tokens without a base price, only with one of long requests',
    group: 'state',
  },
  price_load: {
    kind: 'list',
    description: 'Id of a load of prices from which the list value is',
    argument: 'load',
    help: 'id of a load of prices (pld_…) from which the list value is',
    group: 'state',
  },
  sheet: {
    kind: 'list',
    description: 'Id of a token sheet',
    argument: 'sheet',
    help: 'id of a token sheet',
    group: 'state',
  },
  possible_duplicate: {
    kind: 'flag',
    description: "Whether the entry is identical to an earlier one, or another person's session has the same id",
    argument: 'yes|no',
    help: "whether the entry is identical to an earlier one, or another person's session has the same id",
    group: 'state',
  },
  superseded: {
    kind: 'flag',
    description:
      'Whether later reports or another source of the session leave nothing of the entry, so that its counts are 0',
    argument: 'yes|no',
    help: 'whether later reports or another source leave nothing of the entry',
    group: 'state',
  },
  bill: {
    kind: 'list',
    description: 'Id or number of a bill',
    none: 'unbilled entries',
    argument: 'bill',
    help: 'id or number, or none',
    group: 'state',
  },
  q: {
    kind: 'text',
    description: 'Text to search for in the summary, ignoring case',
    argument: 'text',
    help: 'text in the summary',
    group: 'state',
  },
} as const satisfies Record<string, EntryFilterDefinition>

type Definitions = typeof ENTRY_FILTERS
export type EntryFilterName = keyof Definitions
export type EntryFilterKind = EntryFilterDefinition['kind']

/** The filters that have any number of values. */
export type ListFilterName = {
  [Name in EntryFilterName]: Definitions[Name]['kind'] extends 'list' | 'labels' ? Name : never
}[EntryFilterName]

export const ENTRY_FILTER_LIST = Object.entries(ENTRY_FILTERS) as [EntryFilterName, EntryFilterDefinition][]

export function isListFilter(name: EntryFilterName): name is ListFilterName {
  return ['list', 'labels'].includes(ENTRY_FILTERS[name].kind)
}
