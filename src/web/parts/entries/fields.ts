/** The filters for entries: their titles, choices and value names. */
import { BASIS_TITLES } from '../../../shared/cost-basis.ts'
import { SOURCE_TITLES } from '../../../shared/dimensions.ts'
import { ENTRY_FILTERS, type EntryFilterName } from '../../../shared/entry-filters.ts'
import { FUNDING_TITLES } from '../../../shared/funding.ts'
import { addDays, dayOf } from '../../format/moments.ts'
import { answer, apiUntil } from '../../server/api.ts'
import type { Part } from '../../server/queries.ts'
import { type Choice, OFFERED } from '../pickers.tsx'
import { projectLabel } from '../project-label.ts'

/** In the order of the menu. */
type Group = 'Work' | 'Agent' | 'State' | 'Cost'

export interface Field {
  name: EntryFilterName
  title: string
  /** Under which heading it is in the menu. */
  group: Group
  /** The part of the API that provides the choices. */
  part: Part
  /** The choices that match a text, found by the server; the first ones without a text. */
  search?: (text: string | undefined, signal: AbortSignal) => Promise<Choice[]>
  /** All choices, for fields that the page searches itself. */
  choices?: (signal: AbortSignal) => Promise<Choice[]> | Choice[]
  /** Whether typed text is accepted as a value that is not among the choices. */
  takesTyped?: (typed: string) => boolean
  placeholder?: string
  /** The display name of a value. */
  nameOf?: (value: string, signal: AbortSignal) => Promise<string | undefined> | string | undefined
}

/** Names used in the last year are offered; older ones can be typed. */
const USED_DAYS = 365

const DIMENSIONS = ['agent_manager', 'agent_name', 'agent_harness', 'model', 'provider'] as const
type Dimension = (typeof DIMENSIONS)[number]

/** The values of a dimension in the last year, A to Z, of all entries or those of one person. */
async function askUsed(dimension: Dimension, signal: AbortSignal, agent_manager: string[] = []): Promise<Choice[]> {
  const starting_at = addDays(dayOf(new Date(), 'UTC'), -USED_DAYS)
  const query = { starting_at, bucket_width: 'all', group_by: [dimension], agent_manager }
  const { data } = await answer(apiUntil(signal).reports.usage.get({ query }))
  const choices = (data[0]?.results ?? []).flatMap(({ [dimension]: value }): Choice[] => {
    if (value == null) return []
    return [typeof value === 'string' ? { value, label: value } : { value: value.id, label: value.name }]
  })
  return choices.sort((one, other) => one.label.localeCompare(other.label, undefined, { numeric: true }))
}

const used = (name: Dimension, title: string): Field => ({
  name,
  title,
  group: 'Agent',
  part: 'reports',
  choices: (signal) => askUsed(name, signal),
  ...(name === 'agent_manager'
    ? { nameOf: async (id, signal) => (await askUsed(name, signal, [id]))[0]?.label }
    : { takesTyped: (typed) => typed !== '' }),
})

type Fixed<Name extends EntryFilterName> = (typeof ENTRY_FILTERS)[Name] extends {
  values: readonly (infer Value extends string)[]
}
  ? Value
  : 'true' | 'false'

/** A filter with a fixed set of values, each of which needs a name. */
function fixed<Name extends EntryFilterName>(
  name: Name,
  title: string,
  group: Group,
  names: Record<Fixed<Name>, string>,
): Field {
  const choices = Object.entries<string>(names).map(([value, label]) => ({ value, label }))
  return {
    name,
    title,
    group,
    part: 'entries',
    choices: () => choices,
    nameOf: (value) => choices.find((choice) => choice.value === value)?.label,
  }
}

const capital = (word: string) => [word, word.charAt(0).toUpperCase() + word.slice(1)] as const
const STATUSES = Object.fromEntries(ENTRY_FILTERS.status.values.map(capital)) as Record<Fixed<'status'>, string>

/** The filters of the menu, in order. */
export const FIELDS: readonly Field[] = [
  {
    name: 'project',
    title: 'Project',
    group: 'Work',
    part: 'projects',
    search: async (search, signal) =>
      (await answer(apiUntil(signal).projects.get({ query: { search, limit: String(OFFERED) } }))).data.map(
        ({ key, name, client }) => ({
          value: key,
          label: projectLabel({ key, name }),
          detail: client?.name ?? null,
        }),
      ),
    nameOf: async (id, signal) => (await answer(apiUntil(signal).projects({ id }).get())).key,
  },
  {
    name: 'ticket',
    title: 'Ticket',
    group: 'Work',
    part: 'tickets',
    search: async (search, signal) =>
      (await answer(apiUntil(signal).tickets.get({ query: { search, limit: String(OFFERED) } }))).data.map(
        ({ key, title }) => ({
          value: key,
          label: key,
          detail: title,
        }),
      ),
    nameOf: async (id, signal) => (await answer(apiUntil(signal).tickets({ id }).get())).key,
  },
  {
    name: 'client',
    title: 'Client',
    group: 'Work',
    part: 'clients',
    search: async (search, signal) =>
      (await answer(apiUntil(signal).clients.get({ query: { search, limit: String(OFFERED) } }))).data.map(
        ({ name }) => ({
          value: name,
          label: name,
        }),
      ),
    nameOf: async (id, signal) => (await answer(apiUntil(signal).clients({ id }).get())).name,
  },
  used('agent_manager', 'Agent manager'),
  used('agent_name', 'Agent'),
  used('agent_harness', 'Harness'),
  used('model', 'Model'),
  used('provider', 'Provider'),
  fixed('status', 'Status', 'State', STATUSES),
  fixed('placed', 'Assigned by', 'State', {
    none: 'No one (unattributed)',
    named: 'Report',
    rule: 'Rule',
    manual: 'Person',
  }),
  fixed('has_client', 'Has a client', 'Work', { true: 'Yes', false: 'No (also without a project)' }),
  fixed('billable', 'Billable', 'State', { true: 'Yes', false: 'No (project is not billable)' }),
  fixed('priced', 'Price', 'Cost', { true: 'Priced', false: 'Unpriced' }),
  fixed('funding', 'Funding', 'Cost', FUNDING_TITLES),
  {
    name: 'plan',
    title: 'Plan',
    group: 'Cost',
    part: 'entries',
    placeholder: 'Plan name',
    choices: () => [{ value: 'none', label: 'No plan' }],
    takesTyped: (typed) => typed !== '',
    nameOf: (value) => value,
  },
  fixed('unknown_cost', 'Cost unknown', 'Cost', BASIS_TITLES),
  fixed('late', 'Late for its plan', 'Cost', {
    true: 'Arrived after the period was closed',
    false: 'Exclude late entries',
  }),
  fixed('correction', 'Correction of a plan', 'Cost', { true: 'Corrections only', false: 'Exclude corrections' }),
  fixed('long_context', 'Long-context price', 'Cost', {
    true: 'Long-context prices only',
    false: 'Exclude long-context prices',
  }),
  fixed('without_base_price', 'Base price', 'Cost', {
    true: 'Without a base price only',
    false: 'Exclude entries without a base price',
  }),
  fixed('cost_mismatch', 'Cost mismatch', 'Cost', { true: 'Mismatched costs only', false: 'Exclude mismatched costs' }),
  {
    name: 'bill',
    title: 'Bill',
    group: 'State',
    part: 'bills',
    placeholder: 'Bill number',
    choices: () => [{ value: 'none', label: 'Not billed' }],
    takesTyped: (typed) => typed !== '',
    nameOf: async (value, signal) =>
      value === 'none' ? 'none' : (await answer(apiUntil(signal).bills({ id: value }).get())).number,
  },
  {
    name: 'label',
    title: 'Label',
    group: 'Agent',
    part: 'entries',
    placeholder: 'repository:acme/web',
    takesTyped: (typed) => /^[a-z0-9_.-]{1,64}:./.test(typed),
  },
  {
    name: 'session_id',
    title: 'Session',
    group: 'Agent',
    part: 'entries',
    placeholder: 'Session ID',
    takesTyped: (typed) => typed !== '',
  },
  fixed('source', 'Source', 'State', SOURCE_TITLES),
  fixed('possible_duplicate', 'Duplicates', 'State', {
    true: 'Possible duplicates only',
    false: 'Exclude possible duplicates',
  }),
  fixed('superseded', 'Superseded', 'State', { true: 'Superseded only', false: 'Exclude superseded' }),
]

/** Filters that only links set. */
const FURTHER: readonly Field[] = [
  {
    name: 'without_agent_manager',
    title: 'Without agent manager',
    group: 'Agent',
    part: 'reports',
    nameOf: async (id, signal) => (await askUsed('agent_manager', signal, [id]))[0]?.label,
  },
  { name: 'without_label', title: 'Without label', group: 'Agent', part: 'entries' },
  { name: 'price_load', title: 'Price load', group: 'Cost', part: 'prices', nameOf: () => 'one' },
  { name: 'sheet', title: 'Token sheet', group: 'State', part: 'sheets', nameOf: () => 'one' },
]

export const fieldOf = (name: string): Field | undefined => [...FIELDS, ...FURTHER].find((field) => field.name === name)

/** Whether a value is an id rather than a name, as in links. */
export const isId = (value: string): boolean => /^[a-z]{3}_[0-9a-f]{32}$/.test(value)
