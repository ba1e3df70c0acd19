/** What usage is grouped by: the names of groups, their ids, and the filters that select their entries. Pure. */
import { COUNTED_STATUSES } from '../../../shared/entry-filters.ts'
import { addressOf } from '../../address.ts'
import type { EntryQuery } from '../entries/filters.ts'
import type { Result } from './usage.ts'

/** In the order of the menu; the titles of columns, and what entries without a value are called. */
const DIMENSIONS = {
  project: { title: 'Project', plural: 'Projects', none: 'No project' },
  ticket: { title: 'Ticket', plural: 'Tickets', none: 'No ticket' },
  client: { title: 'Client', plural: 'Clients', none: 'No client' },
  agent_manager: { title: 'Person', plural: 'People', none: 'No person' },
  agent_name: { title: 'Agent', plural: 'Agents', none: 'No agent' },
  agent_harness: { title: 'Harness', plural: 'Harnesses', none: 'No harness' },
  model: { title: 'Model', plural: 'Models', none: 'No model' },
  provider: { title: 'Provider', plural: 'Providers', none: 'No provider' },
  status: { title: 'Status', plural: 'Statuses', none: 'No status' },
  source: { title: 'Source', plural: 'Sources', none: 'No source' },
} as const

type PlainDimension = keyof typeof DIMENSIONS
export type Dimension = PlainDimension | `label:${string}`
export const DIMENSION_NAMES = Object.keys(DIMENSIONS) as PlainDimension[]

const LABEL = /^label:[a-z0-9_.-]{1,64}$/
export const isLabel = (dimension: string): dimension is `label:${string}` => LABEL.test(dimension)
const isDimension = (text: string): text is Dimension => Object.hasOwn(DIMENSIONS, text) || isLabel(text)
const labelName = (dimension: string): string => dimension.slice('label:'.length)

/** A dimension in the address. */
export const readDimension = (values: string[]): Dimension | undefined => values.find(isDimension)

export const titleOf = (dimension: Dimension): string =>
  isLabel(dimension) ? `Label ${labelName(dimension)}` : DIMENSIONS[dimension].title

/** The heading of a list of its values. */
export const pluralOf = (dimension: Dimension): string =>
  isLabel(dimension) ? titleOf(dimension) : DIMENSIONS[dimension].plural

/** Statuses and sources are written in small letters by the API. */
const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)

const groupValue = (result: Result, dimension: Dimension) =>
  isLabel(dimension) ? (result.labels?.[labelName(dimension)] ?? null) : (result[dimension] ?? null)

/** The id of a group, which also is its filter; null for entries without a value. */
export function keyOf(result: Result, dimension: Dimension): string | null {
  const value = groupValue(result, dimension)
  return value === null || typeof value === 'string' ? value : value.id
}

export function labelOf(result: Result, dimension: Dimension): string {
  const value = groupValue(result, dimension)
  if (value === null) return isLabel(dimension) ? `No label ${labelName(dimension)}` : DIMENSIONS[dimension].none
  if (typeof value !== 'string') return 'name' in value ? value.name : value.key
  return dimension === 'status' || dimension === 'source' ? capital(value) : value
}

/** What is chosen in a dimension: the id of a group, or null for those without a value. */
export type Chosen = readonly [dimension: Dimension, key: string | null]

/** The filters for entries without a value. `client: none` would exclude entries without a project, which have no client either. */
const NONE: Partial<Record<PlainDimension, EntryQuery>> = {
  project: { project: ['none'] },
  ticket: { ticket: ['none'] },
  client: { has_client: 'false' },
  provider: { provider: ['none'] },
}

/** The filters of a report with those of a group; undefined if no filter selects it. */
export function narrowed(filter: EntryQuery, chosen: readonly Chosen[]): EntryQuery | undefined {
  let narrow: EntryQuery | undefined = filter
  for (const [dimension, key] of chosen) {
    if (!narrow) return undefined
    if (!isLabel(dimension)) {
      const chosen: EntryQuery | undefined = key === null ? NONE[dimension] : { [dimension]: [key] }
      narrow = chosen && { ...narrow, ...chosen }
      continue
    }
    const name = labelName(dimension)
    const others: string[] = (narrow.label ?? []).filter((label) => !label.startsWith(`${name}:`))
    narrow =
      key === null
        ? { ...narrow, without_label: [...(narrow.without_label ?? []), name] }
        : { ...narrow, label: [...others, `${name}:${key}`] }
  }
  return narrow
}

/** The moments between which entries started. */
export interface Between {
  starting_at: string
  ending_at: string
}

/** The list of exactly the entries that a figure is of: reports leave out some that lists show. */
export function entriesAddress(filter: EntryQuery, { starting_at, ending_at }: Between): string {
  const { status = COUNTED_STATUSES, superseded = 'false', ...others } = filter
  return addressOf('/entries', { ...others, status, superseded, starting_at, ending_at })
}
