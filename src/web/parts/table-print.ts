/** Printing a list: all of its rows, which are loaded before, up to a limit. */
import { useEffect, useState } from 'react'
import { count } from '../format/counts.ts'
import type { List } from '../server/list.ts'

/** About a hundred sheets of paper, which a browser lays out in seconds. */
const PRINT_LIMIT_ROWS = 5_000

export function isList<Row>(list: List<Row> | readonly Row[]): list is List<Row> {
  return !Array.isArray(list)
}

/** What a printed list says below its rows if it has more of them. */
export const leftOutText = (rows: number): string =>
  rows < PRINT_LIMIT_ROWS
    ? `The first ${count(rows)} rows. There are more: “Print all rows” in the menu of the table prints up to ${count(PRINT_LIMIT_ROWS)}.`
    : `The first ${count(rows)} rows. There are more, which a CSV file contains.`

/** Whether further rows are loaded before printing. A search that paused, and an error, are shown below the rows. */
const wantsMore = <Row>({ rows, hasMore, searchedTo, error }: List<Row>) =>
  hasMore && searchedTo === null && error === null && (rows?.length ?? 0) < PRINT_LIMIT_ROWS

/** `loaded` is the number of rows while more are being loaded to be printed, otherwise null. */
export function usePrintAll<Row>(list: List<Row> | readonly Row[]) {
  const [isPreparing, setPreparing] = useState(false)
  useEffect(() => {
    if (!isPreparing) return
    if (isList(list) && (list.isFetchingMore || wantsMore(list))) return list.fetchMore()
    setPreparing(false)
    window.print()
  }, [isPreparing, list])
  const loaded = isPreparing ? ((isList(list) ? list.rows : list)?.length ?? 0) : null
  return { loaded, print: () => setPreparing(true), cancel: () => setPreparing(false) }
}
