/** What usage is grouped by: the names of groups, their ids, and the filters that select their entries. Pure. */
import type { CostBasis } from '../../../shared/cost-basis.ts'
import { type Dimension, isDimension, isLabel, labelName, type PlainDimension } from '../../../shared/dimensions.ts'
import { COUNTED_STATUSES } from '../../../shared/entry-filters.ts'
import { addressOf } from '../../address.ts'
import type { EntryQuery } from '../entries/filters.ts'

export {
  DIMENSION_NAMES,
  type Dimension,
  isLabel,
  keyOf,
  labelOf,
  pluralOf,
  titleOf,
} from '../../../shared/dimensions.ts'

/** A dimension in the address. */
export const readDimension = (values: string[]): Dimension | undefined => values.find(isDimension)

/** What is chosen in a dimension: the id of a group, or null for those without a value. */
export type Chosen = readonly [dimension: Dimension, key: string | null]

/** The filters for entries without a value. `client: none` would exclude entries without a project, which have no client either. */
const NONE: Partial<Record<PlainDimension, EntryQuery>> = {
  project: { project: ['none'] },
  ticket: { ticket: ['none'] },
  client: { has_client: 'false' },
  provider: { provider: ['none'] },
  plan: { plan: ['none'] },
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

/** The list of exactly the entries that a figure is of: reports leave out some that lists show. `basis` as in addresses. */
export function entriesAddress(
  filter: EntryQuery,
  { starting_at, ending_at }: Between,
  basis?: CostBasis | undefined,
): string {
  const { status = COUNTED_STATUSES, superseded = 'false', ...others } = filter
  return addressOf('/entries', { ...others, status, superseded, starting_at, ending_at, basis })
}
