/** The order of a table, changed with the buttons in its header, or with a select where there is no header. */
import { NativeSelect, UnstyledButton } from '@mantine/core'
import { IconArrowDown, IconArrowUp } from '@tabler/icons-react'
import { one, oneOf, useAddress } from '../address.ts'
import classes from './data-table.module.css'

export interface Sorting {
  /** The API's name of the order. */
  by: string
  order: 'asc' | 'desc'
  change: (by: string, order: Sorting['order']) => void
}

const ADDRESS = { sort: one, order: oneOf('desc', 'asc') }

/**
 * The order in the address of a page with one list. `query` is for the request, with the orders that the API knows; by
 * other columns, the table sorts a list that is loaded as a whole.
 */
export function useListOrder<const Sort extends string>(known: readonly Sort[]) {
  const [{ sort, order }, show] = useAddress(ADDRESS)
  const asked = known.find((name) => name === sort)
  const sorting: Sorting = { by: sort ?? '', order, change: (sort, order) => show({ sort, order }) }
  return { sorting, query: asked === undefined ? {} : { sort: asked, order } }
}

export const ariaSort = ({ by, order }: Sorting, sort: string) =>
  sort !== by ? 'none' : order === 'asc' ? 'ascending' : 'descending'

interface SortButtonProps extends Sorting {
  title: string
  sort: string
  /** The order after the first click: the largest or latest first, unless it says otherwise. Once more reverses it. */
  first?: Sorting['order']
}

export function SortButton({ title, sort, by, order, change, first = 'desc' }: SortButtonProps) {
  const isSorted = sort === by
  const Arrow = (isSorted ? order : first) === 'asc' ? IconArrowUp : IconArrowDown
  return (
    <UnstyledButton
      className={classes.sort}
      data-sorted={isSorted || undefined}
      onClick={() => change(sort, isSorted ? (order === 'desc' ? 'asc' : 'desc') : first)}
    >
      {title}
      <Arrow size={12} aria-hidden />
    </UnstyledButton>
  )
}

/** On a phone, where rows are cards. Titles by `sort` and `order`: `{ 'cost desc': 'Highest cost first' }`. */
export const SortSelect = ({ by, order, change, titles }: Sorting & { titles: Record<string, string> }) => (
  <NativeSelect
    size="xs"
    hiddenFrom="sm"
    aria-label="Sort by"
    data={Object.entries(titles).map(([value, label]) => ({ value, label }))}
    value={`${by} ${order}`}
    onChange={({ currentTarget }) => {
      const [sort, direction] = currentTarget.value.split(' ') as [string, Sorting['order']]
      change(sort, direction)
    }}
  />
)
