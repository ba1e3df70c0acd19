/** What the table of a report is compared with and sorted by: on the page Reports and in what is shared of it. */

export const COMPARISONS = ['none', 'previous', 'year'] as const
export type Comparison = (typeof COMPARISONS)[number]

/** The orders of the table; the first is the default. */
export const SORTS = ['value', 'name', 'second', 'earlier', 'change', 'cost', 'tokens', 'entries'] as const
export type Sort = (typeof SORTS)[number]

export const ORDERS = ['desc', 'asc'] as const

/** What a row is sorted by and found with. */
export interface Sortable {
  /** One for each dimension. */
  names: readonly string[]
  /** Null where it is unknown. */
  value: number | null
  /** Of the earlier period. */
  earlier: number | null
  cost: number | null
  tokens: number
  entries: number
}

export interface RowOrder {
  /** Undefined for the order that the rows have. */
  sort: Sort | undefined
  order: (typeof ORDERS)[number]
  /** Part of a name. */
  search: string | undefined
}

/** The absolute change; null if one of the two is unknown. */
const changeOf = ({ value, earlier }: Sortable): number | null =>
  value === null || earlier === null ? null : value - earlier

/** Those that are found, in order. Unknown figures are smaller than any other. */
export function sortedRows<Row>(
  rows: readonly Row[],
  sortableOf: (row: Row) => Sortable,
  { sort, order, search }: RowOrder,
): Row[] {
  const text = search?.toLowerCase() ?? ''
  const sign = order === 'asc' ? 1 : -1
  const compare = (one: Sortable, other: Sortable): number => {
    if (sort === undefined) return 0
    if (sort === 'name' || sort === 'second') {
      const at = sort === 'name' ? 0 : 1
      return (one.names[at] ?? '').localeCompare(other.names[at] ?? '')
    }
    const [left, right] = [one, other].map((row) => (sort === 'change' ? changeOf(row) : row[sort]))
    if (left === right) return 0
    return (left ?? Number.NEGATIVE_INFINITY) - (right ?? Number.NEGATIVE_INFINITY)
  }
  return rows
    .map((row) => ({ row, by: sortableOf(row) }))
    .filter(({ by: { names } }) => names.some((name) => name.toLowerCase().includes(text)))
    .toSorted((one, other) => sign * compare(one.by, other.by))
    .map(({ row }) => row)
}
