/** The order of a table, changed with the buttons in its header, or with a select where there is no header. */
import { ActionIcon, NativeSelect, UnstyledButton } from '@mantine/core'
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

interface Usual<Sort> {
  by: Sort
  order: Sorting['order']
}

/**
 * The order in the address of a page with one list, or the usual one, which the header shows as well. `query` is for the request,
 * with the orders that the API knows; by other columns, the table sorts a list that is loaded as a whole.
 */
export function useListOrder<const Sort extends string>(known: readonly Sort[], usual?: Usual<NoInfer<Sort>>) {
  const [address, show] = useAddress(ADDRESS)
  const { by, order } = address.sort === undefined && usual ? usual : { by: address.sort ?? '', order: address.order }
  const column = known.find((name) => name === by)
  const sorting: Sorting = { by, order, change: (sort, order) => show({ sort, order }) }
  return { sorting, query: column === undefined ? {} : { sort: column, order } }
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

/** The order after a column is chosen: texts begin with A, numbers with the largest, moments with the latest. */
export const firstOrder = (sort: string, isNumber = false): Sorting['order'] =>
  isNumber || /_(at|on)$/.test(sort) ? 'desc' : 'asc'

interface SortSelectProps extends Sorting {
  /** The table that it sorts. */
  label: string
  columns: readonly { sort: string; title: string; first: Sorting['order'] }[]
}

/** On a phone, where rows are cards and there is no header. */
export function SortSelect({ label, columns, by, order, change }: SortSelectProps) {
  const sorted = columns.find(({ sort }) => sort === by)
  const Arrow = order === 'asc' ? IconArrowUp : IconArrowDown
  return (
    <div className={classes.order}>
      <NativeSelect
        size="xs"
        aria-label={`Sort ${label}`}
        value={sorted?.sort ?? ''}
        onChange={({ currentTarget: { value } }) => {
          const chosen = columns.find(({ sort }) => sort === value)
          if (chosen) change(chosen.sort, chosen.first)
        }}
      >
        {/* Until a column is chosen. */}
        {!sorted && <option value="">Sort by…</option>}
        {columns.map(({ sort, title }) => (
          <option key={sort} value={sort}>
            {title}
          </option>
        ))}
      </NativeSelect>
      {sorted && (
        <ActionIcon
          variant="default"
          size={36}
          aria-label={`${order === 'asc' ? 'Ascending' : 'Descending'} order of ${label}. Reverse`}
          onClick={() => change(sorted.sort, order === 'asc' ? 'desc' : 'asc')}
        >
          <Arrow size={16} stroke={1.6} aria-hidden />
        </ActionIcon>
      )}
    </div>
  )
}
