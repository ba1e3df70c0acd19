/** What a table reads off its surroundings: the room it has, what scrolls it, whether it is printed. */
import { type RefObject, useEffect, useLayoutEffect, useState } from 'react'
import { flushSync } from 'react-dom'
import type { Column } from './column.ts'

/** The ideal width of a column that takes the remaining space: about 90 characters. The others share what is left. */
const FLEXIBLE_PX = 640

/** Columns that are wider than this factor are emptier, not easier to read. */
const STRETCH_MAX = 1.7

/** The factor changes in steps of a twentieth, so that a window that is resized renders few times. */
const STEPS = 20

/** The factor by which columns are wider than their `width` in px on a wide screen; 1 on others. */
export function stretchOf<Row>(frameWidth: number, columns: readonly Column<Row>[]): number {
  let fixed = 0
  let taken = 0
  for (const { width } of columns) {
    if (width === undefined) taken += FLEXIBLE_PX
    else if (width.endsWith('%')) taken += (Number.parseFloat(width) / 100) * frameWidth
    else fixed += Number.parseFloat(width)
  }
  if (fixed === 0) return 1
  const factor = (frameWidth - taken) / fixed
  return Math.min(STRETCH_MAX, Math.max(1, Math.floor(factor * STEPS) / STEPS))
}

/** Measures again when `changes` do. */
export function useFrame(table: RefObject<HTMLTableElement | null>, changes: readonly unknown[]) {
  const [room, setRoom] = useState({ width: 0, isScrolled: false })
  useLayoutEffect(() => {
    const frame = table.current?.parentElement
    if (!frame) return
    const look = () => {
      const next = { width: frame.clientWidth, isScrolled: table.current!.offsetWidth > frame.clientWidth }
      setRoom((room) => (room.width === next.width && room.isScrolled === next.isScrolled ? room : next))
    }
    const observer = new ResizeObserver(look)
    observer.observe(frame)
    look()
    return () => observer.disconnect()
    // biome-ignore lint/correctness/useExhaustiveDependencies: what makes the table another one
  }, changes)
  useFollowingHead(table, room.isScrolled)
  return room
}

const DIALOG = '[role="dialog"]'
const DIALOG_HEAD = '.mantine-Modal-header, .mantine-Drawer-header'

/** The dialog that scrolls the table, null for the page; and where the table is in what is scrolled, in pixels. */
export function useScroller(table: RefObject<HTMLTableElement | null>, hasRows: boolean) {
  const [scroller, setScroller] = useState<{ dialog: HTMLElement | null; offset: number }>({ dialog: null, offset: 0 })
  // biome-ignore lint/correctness/useExhaustiveDependencies: there is a table once there are rows
  useLayoutEffect(() => {
    const { current } = table
    if (!current) return
    const dialog = current.closest<HTMLElement>(DIALOG)
    const look = () => {
      const { top } = current.getBoundingClientRect()
      const offset = dialog ? top - dialog.getBoundingClientRect().top + dialog.scrollTop : top + window.scrollY
      setScroller((before) => (before.dialog === dialog && before.offset === offset ? before : { dialog, offset }))
    }
    // What is above the table may change.
    const observer = new ResizeObserver(look)
    observer.observe(dialog?.querySelector('.mantine-Modal-body, .mantine-Drawer-body') ?? document.body)
    look()
    return () => observer.disconnect()
  }, [hasRows])
  return scroller
}

/**
 * A table that scrolls sideways is a scroll container, in which a sticky header would stick to the table's own top. It
 * follows the page or the dialog instead.
 */
function useFollowingHead(table: RefObject<HTMLTableElement | null>, isScrolled: boolean) {
  useEffect(() => {
    if (!isScrolled) return
    const follow = () => {
      const { current } = table
      if (!current) return
      const { top, height } = current.getBoundingClientRect()
      const bar =
        current.closest(DIALOG)?.querySelector(DIALOG_HEAD)?.getBoundingClientRect().bottom ??
        (Number.parseFloat(getComputedStyle(current).getPropertyValue('--table-top')) || 0)
      const head = current.tHead!.offsetHeight
      current.style.setProperty('--head-shift', `${Math.max(0, Math.min(bar - top, height - 2 * head))}px`)
    }
    follow()
    // Also while a dialog scrolls, whose events do not bubble.
    const options = { passive: true, capture: true }
    window.addEventListener('scroll', follow, options)
    return () => {
      window.removeEventListener('scroll', follow, options)
      table.current?.style.removeProperty('--head-shift')
    }
  }, [table, isScrolled])
}

/** Whether the page is being printed: then all rows are rendered, not only those in sight. */
export function usePrinting(): boolean {
  const [isPrinting, setPrinting] = useState(false)
  useEffect(() => {
    const media = window.matchMedia('print')
    // At once, because the browser takes the page as it is when the listeners have returned.
    const set = (isPrinting: boolean) => flushSync(() => setPrinting(isPrinting))
    const change = () => set(media.matches)
    const begin = () => set(true)
    const end = () => set(false)
    media.addEventListener('change', change)
    window.addEventListener('beforeprint', begin)
    window.addEventListener('afterprint', end)
    return () => {
      media.removeEventListener('change', change)
      window.removeEventListener('beforeprint', begin)
      window.removeEventListener('afterprint', end)
    }
  }, [])
  return isPrinting
}
