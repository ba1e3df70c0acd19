/**
 * A table; on a phone, each row is a card. Rows are virtualized, and further pages are fetched on scroll. Keyboard
 * shortcuts: `j` and `k` move, Enter opens, `x` selects, Shift and `x` selects up to there, `a` accepts.
 */
import { Button, Checkbox, Group, Loader } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { useVirtualizer, useWindowVirtualizer } from '@tanstack/react-virtual'
import {
  type CSSProperties,
  type MouseEvent,
  type ReactNode,
  type RefObject,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import { count as formatCount } from '../format/counts.ts'
import type { List } from '../server/list.ts'
import { isTyping } from '../shell/shortcuts.ts'
import type { Column } from './column.ts'
import { ColumnResizer } from './column-resizer.tsx'
import classes from './data-table.module.css'
import { Failure } from './failure.tsx'
import { InColumn } from './figures.tsx'
import { Loading } from './loading.tsx'
import { PausedSearch } from './paused-search.tsx'
import { inOrder } from './row-order.ts'
import { isShifted, keepText, useToggle } from './selection.ts'
import { ariaSort, firstOrder, SortButton, type Sorting, SortSelect } from './sorting.tsx'
import { stretchOf, useFrame, usePrinting, useScroller } from './table-frame.ts'
import { TableMenu } from './table-menu.tsx'
import { isList, leftOutText } from './table-print.ts'
import { useTableView } from './table-view.ts'
import { Caption } from './texts.tsx'

export type { Column }

interface DataTableProps<Row> {
  /** The accessible name of the table: "Token entries". */
  label: string
  /** The name of the table in the person's preferences, which then has columns to choose and resize: `entries`. */
  name?: string
  columns: readonly Column<Row>[]
  /** A paged list, or all rows. */
  list: List<Row> | readonly Row[]
  rowKey: (row: Row) => string
  /** The empty state. */
  empty: ReactNode
  /** Called on a click on a row, or Enter. */
  open?: (row: Row) => void
  /** Called on the key `a`: does what is suggested for a row. */
  accept?: (row: Row) => void
  /** The key of the open row. */
  openKey?: string | undefined
  selected?: ReadonlySet<string>
  select?: (selected: ReadonlySet<string>) => void
  /** The accessible name of a row's checkbox. */
  selectLabel?: (row: Row) => string
  /** All rows if absent. */
  isSelectable?: (row: Row) => boolean
  /** Dims a row, such as a rejected entry. */
  isMuted?: (row: Row) => boolean
  /** The order of the rows, for columns with `sort`. */
  sorting?: Sorting
  /** Only so many rows are shown until the person asks for all, of a list that is loaded as a whole. */
  fold?: number
  /** The footer row, such as totals: one cell per column key. */
  foot?: Partial<Record<string, ReactNode>>
}

/** Where rows are cards, as in the style sheet. */
const PHONE = '(max-width: 48em)'

/** Estimated height of a row before it is measured. */
const ROW_HEIGHT_PX = 37

/** Rows rendered outside the viewport, so that scrolling shows no gap. */
const OVERSCAN_ROWS = 12

/** The next page is fetched when this many rows are left below. */
const AHEAD_ROWS = 20

export function DataTable<Row>(props: DataTableProps<Row>) {
  const { label, name, list, rowKey, empty, open, openKey, selected, select, selectLabel, isMuted, foot } = props
  const { isSelectable = () => true } = props
  const view = useTableView(name, props.columns, props.sorting?.by)
  const columns = view.visible
  const { rows: all, sorting, sortOf } = useSorted(props)
  const isPrinting = usePrinting()
  const { rows, unfold } = useFold(all, isPrinting ? undefined : props.fold)
  const count = rows?.length ?? 0
  const frame = useRef<HTMLTableElement>(null)
  const hasRows = count > 0
  const { dialog, offset } = useScroller(frame, hasRows)
  const virtualized = {
    count,
    estimateSize: () => ROW_HEIGHT_PX,
    overscan: OVERSCAN_ROWS,
    scrollMargin: offset,
    getItemKey: (index: number) => rowKey(rows![index]!),
  }
  const ofPage = useWindowVirtualizer({ ...virtualized, enabled: dialog === null })
  const ofDialog = useVirtualizer({ ...virtualized, enabled: dialog !== null, getScrollElement: () => dialog })
  const virtualizer = dialog ? ofDialog : ofPage
  const isPhone = useMediaQuery(PHONE, false, { getInitialValueInEffect: false })
  // A column that the person chose, or by which the rows are sorted, is shown on phones, too.
  const phoneOf = (column: Column<Row>) =>
    column.phone === 'hidden' && (column.isExtra || (sorting.by !== '' && sortOf(column) === sorting.by))
      ? 'line'
      : (column.phone ?? 'line')
  const items = isPrinting
    ? Array.from({ length: count }, (_, index) => ({ index, key: rowKey(rows![index]!), start: offset, end: offset }))
    : virtualizer.getVirtualItems()
  const last = items.at(-1)?.index ?? 0
  const wantsMore =
    isList(list) &&
    list.hasMore &&
    list.searchedTo === null &&
    !list.isFetchingMore &&
    count > 0 &&
    !isPrinting &&
    last >= count - AHEAD_ROWS
  useEffect(() => {
    if (wantsMore && isList(list)) list.fetchMore()
  })
  const { width: frameWidth, isScrolled } = useFrame(frame, [columns.length, hasRows])
  const stretch = stretchOf(frameWidth, columns)
  const toggle = useToggle({ keys: () => (rows ?? []).filter(isSelectable).map(rowKey), selected, select })
  const cursor = useCursor({
    rows: rows ?? [],
    open,
    accept: props.accept,
    toggle: select && toggle,
    rowKey,
    reach: virtualizer.scrollToIndex,
  })
  useFocusAfterClosing(frame, openKey, (key) => {
    cursor.set(key)
    const index = rows?.findIndex((row) => rowKey(row) === key) ?? -1
    if (index >= 0) virtualizer.scrollToIndex(index)
  })

  if (isList(list) && list.error && !rows) return <Failure error={list.error} retry={list.refetch} />
  if (!rows) return <Loading />
  if (count === 0)
    return isList(list) && list.searchedTo !== null ? <More list={list} count={0} sorting={sorting} /> : empty

  const before = items[0] ? items[0].start - offset : 0
  const after = isPrinting ? 0 : virtualizer.getTotalSize() - ((items.at(-1)?.end ?? offset) - offset)
  const span = columns.length + (select ? 1 : 0) + (name === undefined ? 0 : 1)
  const menu = name !== undefined && <TableMenu label={label} columns={props.columns} view={view} list={list} />
  const orders = count > 1 ? ordersOf(props.columns, columns, sortOf) : []
  return (
    <div
      className={classes.frame}
      data-stale={(isList(list) && list.isStale) || undefined}
      data-scrolled={isScrolled || undefined}
      data-density={view.density}
    >
      {isPhone && (menu || orders.length > 0) && (
        <div className={`${classes.tools} tally-no-print`}>
          {orders.length > 0 && <SortSelect label={label} columns={orders} {...sorting} />}
          {menu}
        </div>
      )}
      <table
        ref={frame}
        className={classes.table}
        aria-label={label}
        aria-rowcount={isList(list) && list.hasMore ? -1 : all!.length}
      >
        <thead>
          <tr>
            {select && (
              <th className={classes.check}>
                <SelectAll rows={rows.filter(isSelectable)} rowKey={rowKey} selected={selected!} select={select} />
              </th>
            )}
            {columns.map((column) => (
              <HeadCell
                key={column.key}
                column={column}
                sorting={sorting}
                sort={sortOf(column)}
                width={view.widths[column.key]}
                stretch={stretch}
                resize={name === undefined ? undefined : (width) => view.resize(column.key, width)}
              />
            ))}
            {name !== undefined && <th className={classes.end}>{!isPhone && menu}</th>}
          </tr>
        </thead>
        <tbody>
          {before > 0 && <Gap height={before} span={span} />}
          {items.map(({ index, key }) => {
            const row = rows[index]!
            const id = rowKey(row)
            return (
              <tr
                key={key}
                data-index={index}
                data-key={id}
                ref={virtualizer.measureElement}
                aria-rowindex={index + 1}
                data-cursor={cursor.index === index || undefined}
                data-open={openKey === id || undefined}
                data-muted={isMuted?.(row) || undefined}
                data-opens={open ? true : undefined}
                onClick={open && ((event) => !isControl(event) && open(row))}
              >
                {select && (
                  <td className={classes.check}>
                    {/* biome-ignore lint/a11y/noLabelWithoutControl: the box has its own name; this makes room for fingers */}
                    <label className={classes.checkArea} onMouseDown={keepText}>
                      <Checkbox
                        disabled={!isSelectable(row)}
                        size="xs"
                        aria-label={selectLabel?.(row) ?? `Select row ${index + 1}`}
                        checked={selected!.has(id)}
                        onChange={(event) => {
                          cursor.set(id)
                          toggle(id, isShifted(event))
                        }}
                      />
                    </label>
                  </td>
                )}
                {columns.map((column, position) => (
                  <td
                    key={column.key}
                    data-number={column.isNumber || undefined}
                    data-phone={phoneOf(column)}
                    data-title={column.title}
                  >
                    <InColumn value={column.isNumber ?? false}>
                      {open && position === 0 ? (
                        <button type="button" className={classes.opener} onClick={() => open(row)}>
                          <span className={classes.openerText}>{column.cell(row)}</span>
                        </button>
                      ) : (
                        column.cell(row)
                      )}
                    </InColumn>
                  </td>
                ))}
                {name !== undefined && <td className={classes.end} />}
              </tr>
            )
          })}
          {after > 0 && <Gap height={after} span={span} />}
        </tbody>
        {foot && (
          <tfoot>
            <tr>
              {select && <td className={classes.check} />}
              {columns.map(({ key, title, isNumber, phone }) => (
                <td key={key} data-number={isNumber || undefined} data-phone={phone ?? 'line'} data-title={title}>
                  <InColumn value={isNumber ?? false}>{foot[key]}</InColumn>
                </td>
              ))}
              {name !== undefined && <td className={classes.end} />}
            </tr>
          </tfoot>
        )}
      </table>
      {isList(list) && <More list={list} count={count} sorting={sorting} />}
      {unfold && (
        <Button variant="subtle" size="compact-sm" mt={4} onClick={unfold}>
          Show all {formatCount(all!.length)}
        </Button>
      )}
    </div>
  )
}

/**
 * The rows in the order of the table's header. The API sorts by the columns with `sort`. A list that is complete is also
 * sorted here, by those with a `value`; of one with more pages, the first rows are not those of another order.
 */
function useSorted<Row>({ list, sorting: given, columns }: DataTableProps<Row>) {
  const [{ by, order }, setOwn] = useState<Pick<Sorting, 'by' | 'order'>>({ by: '', order: 'asc' })
  const rows = isList(list) ? list.rows : list
  const isComplete = !isList(list) || (!list.hasMore && list.searchedTo === null)
  const sorting: Sorting = given ?? { by, order, change: (by, order) => setOwn({ by, order }) }
  const isApi = given !== undefined
  const sortOf = ({ key, sort, value }: Column<Row>) =>
    isApi && sort !== undefined ? sort : isComplete && value ? key : undefined
  const sorted = columns.find((column) => sortOf(column) === sorting.by)
  const value = isApi && sorted?.sort !== undefined ? undefined : sorted?.value
  const ordered = useMemo(
    () => (rows && value ? inOrder(rows, value, sorting.order) : rows),
    [rows, value, sorting.order],
  )
  return { rows: ordered, sorting, sortOf }
}

/** The orders to choose from: of the columns that are shown, and those that are shown once the list is sorted by them. */
const ordersOf = <Row,>(
  columns: readonly Column<Row>[],
  visible: readonly Column<Row>[],
  sortOf: (column: Column<Row>) => string | undefined,
) =>
  columns.flatMap((column) => {
    const sort = sortOf(column)
    if (sort === undefined || column.title === '' || !(visible.includes(column) || sort === column.sort)) return []
    return [{ sort, title: column.title, first: firstOrder(sort, column.isNumber) }]
  })

/** The first rows and, if there are more, what shows all of them. */
function useFold<Row>(rows: readonly Row[] | undefined, fold: number | undefined) {
  const [isUnfolded, setUnfolded] = useState(false)
  const isFolded = rows !== undefined && fold !== undefined && !isUnfolded && rows.length > fold
  return isFolded ? { rows: rows.slice(0, fold), unfold: () => setUnfolded(true) } : { rows, unfold: undefined }
}

/** Of a column that takes the remaining space: a few words. */
const FLEXIBLE_MIN = '120px'

interface HeadCellProps<Row> {
  column: Column<Row>
  sorting: Sorting
  /** The name of its order; undefined if the list is not sorted by it. */
  sort: string | undefined
  /** Chosen by the person, in pixels. */
  width: number | undefined
  stretch: number
  resize: ((width: number | null) => void) | undefined
}

function HeadCell<Row>({ column, sorting, sort, width: chosen, stretch, resize }: HeadCellProps<Row>) {
  const { title, isNumber, width, minWidth } = column
  const usual = width?.endsWith('px') ? `${Math.round(Number.parseFloat(width) * stretch)}px` : width
  const style = {
    '--column-width': chosen === undefined ? usual : `${chosen}px`,
    '--column-min-width': chosen === undefined ? (minWidth ?? width ?? FLEXIBLE_MIN) : `${chosen}px`,
  } as CSSProperties
  return (
    <th
      scope="col"
      // Without the name of the control that changes its width.
      aria-label={resize && title !== '' ? title : undefined}
      data-number={isNumber || undefined}
      aria-sort={sort !== undefined ? ariaSort(sorting, sort) : undefined}
      style={style}
    >
      {sort !== undefined ? (
        <SortButton title={title} sort={sort} {...sorting} first={firstOrder(sort, isNumber)} />
      ) : (
        title
      )}
      {resize && title !== '' && <ColumnResizer title={title} resize={resize} />}
    </th>
  )
}

/** Whoever closes what a row has opened continues from that row. */
function useFocusAfterClosing(
  table: RefObject<HTMLTableElement | null>,
  openKey: string | undefined,
  reach: (key: string) => void,
) {
  const before = useRef(openKey)
  useEffect(() => {
    const closed = openKey === undefined ? before.current : undefined
    before.current = openKey
    if (closed === undefined) return
    const focus = () => {
      const row = table.current?.querySelector(`tr[data-key="${CSS.escape(closed)}"]`)
      row?.querySelector<HTMLElement>(`.${classes.opener}`)?.focus({ preventScroll: true })
      return row !== null && row !== undefined
    }
    // Once the dialog no longer keeps the focus, and again if the row was out of sight.
    requestAnimationFrame(() => {
      const isThere = focus()
      reach(closed)
      if (!isThere) requestAnimationFrame(focus)
    })
  })
}

const Gap = ({ height, span }: { height: number; span: number }) => (
  <tr aria-hidden className={classes.gap}>
    <td colSpan={span} style={{ height }} />
  </tr>
)

interface MoreProps<Row> {
  list: List<Row>
  count: number
  sorting: Sorting
}

function More<Row>({ list, count, sorting }: MoreProps<Row>) {
  if (list.error) return <Failure error={list.error} retry={list.fetchMore} />
  if (list.searchedTo !== null && !list.isFetchingMore)
    return <PausedSearch list={list} count={count} isForward={sorting.by === 'started_at' && sorting.order === 'asc'} />
  return (
    <Group justify="center" py="xs" h={40} role="status">
      {list.isFetchingMore ? (
        <Loader size="xs" type="dots" aria-label="Loading more" />
      ) : (
        <Caption>
          {list.hasMore ? (
            <>
              <span className="tally-no-print">{count} loaded; scroll for more</span>
              <span className={classes.printed}>{leftOutText(count)}</span>
            </>
          ) : (
            `${count} total`
          )}
        </Caption>
      )}
    </Group>
  )
}

/** Whether a click is on a control in the row, or selects text. */
function isControl({ target }: MouseEvent): boolean {
  if ((target as HTMLElement).closest('a, button, input, label')) return true
  return (window.getSelection()?.toString() ?? '') !== ''
}

interface SelectAllProps<Row> {
  rows: readonly Row[]
  rowKey: (row: Row) => string
  selected: ReadonlySet<string>
  select: (selected: ReadonlySet<string>) => void
}

/** Selects all loaded rows, not those that are not fetched yet. */
function SelectAll<Row>({ rows, rowKey, selected, select }: SelectAllProps<Row>) {
  const chosen = rows.filter((row) => selected.has(rowKey(row))).length
  return (
    <Checkbox
      size="xs"
      aria-label="Select all loaded rows"
      disabled={rows.length === 0}
      checked={chosen > 0 && chosen === rows.length}
      indeterminate={chosen > 0 && chosen < rows.length}
      onChange={() => select(chosen === rows.length ? new Set() : new Set(rows.map(rowKey)))}
    />
  )
}

interface CursorOptions<Row> {
  rows: readonly Row[]
  rowKey: (row: Row) => string
  open?: ((row: Row) => void) | undefined
  accept?: ((row: Row) => void) | undefined
  toggle?: ((key: string, isRange: boolean) => void) | undefined
  reach: (index: number) => void
}

/** Whether the focused element handles Enter itself. The page has the focus after “Skip to content”. */
function isForEnter(focused: Element | null): boolean {
  return focused !== null && focused !== document.body && focused.id !== 'content'
}

/** The row that keyboard shortcuts act on. */
function useCursor<Row>({ rows, rowKey, open, accept, toggle, reach }: CursorOptions<Row>) {
  // Tracked by key, so that new rows above do not move the cursor.
  const [key, setKey] = useState<string | null>(null)
  const index = key === null ? -1 : rows.findIndex((row) => rowKey(row) === key)
  useEffect(() => {
    // Without row actions there is no cursor; a page may contain several such tables.
    if (!open && !toggle) return
    const listen = (event: KeyboardEvent) => {
      if (isTyping(event) || document.querySelector('[role="dialog"][aria-modal="true"]')) return
      const row = rows[index]
      const move = (to: number) => {
        const next = Math.max(0, Math.min(rows.length - 1, to))
        if (!rows[next]) return
        setKey(rowKey(rows[next]))
        reach(next)
      }
      if (event.key === 'j') move(index + 1)
      else if (event.key === 'k') move(index - 1)
      // A focused control handles Enter itself.
      else if (event.key === 'Enter' && row && open && !isForEnter(document.activeElement)) open(row)
      else if (event.key.toLowerCase() === 'x' && row && toggle) toggle(rowKey(row), event.shiftKey)
      else if (event.key === 'a' && row && accept) accept(row)
      else return
      event.preventDefault()
    }
    document.addEventListener('keydown', listen)
    return () => document.removeEventListener('keydown', listen)
  })
  return { index, set: setKey }
}
