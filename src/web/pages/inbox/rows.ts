/**
 * The keyboard of the inbox: `j` and `k` move the focus through the rows of all sections, and the other keys press the
 * row's own buttons, which carry them as `data-key`. Once a row is done, the focus is on the one that takes its place.
 */
import { type RefObject, useEffect } from 'react'
import { isDialogOpen, isTyping, SECOND_KEY_MS } from '../../shell/shortcuts.ts'

/** Attributes of a row: it takes the focus, but only by the keys and clicks that move it there. */
export const ROW = { 'data-row': true, tabIndex: -1 } as const

/** Attributes of the button that a key presses in its row. */
export const pressedBy = (key: string) => ({ 'data-key': key, 'aria-keyshortcuts': key })

/** With Shift, a letter presses the same button, which may do more: select all rows up to there. */
const keyOf = ({ key, shiftKey }: KeyboardEvent) => (shiftKey && key === 'X' ? 'x' : key)

const MOVES: Record<string, number> = { j: 1, k: -1 }

export function useRowKeys(container: RefObject<HTMLElement | null>, undo: () => void): void {
  useEffect(() => {
    const frame = container.current
    if (!frame) return
    let at = -1
    let leadingAt = Number.NEGATIVE_INFINITY
    const rows = () => [...frame.querySelectorAll<HTMLElement>('[data-row]')]
    const focused = () => document.activeElement?.closest<HTMLElement>('[data-row]')
    const focus = (index: number) => {
      const all = rows()
      at = Math.max(0, Math.min(all.length - 1, index))
      all[at]?.focus()
    }
    const note = () => {
      const row = focused()
      if (row) at = rows().indexOf(row)
    }
    const press = (event: KeyboardEvent) => {
      // `g a` leads to the page Audit, and approves nothing.
      const isSecond = event.timeStamp - leadingAt < SECOND_KEY_MS
      leadingAt = event.key === 'g' ? event.timeStamp : Number.NEGATIVE_INFINITY
      if (isSecond || isTyping(event) || isDialogOpen()) return
      const move = MOVES[event.key]
      const row = focused()
      if (move !== undefined) focus(row ? rows().indexOf(row) + move : Math.max(0, at))
      // A key that is held down decides about one row.
      else if (event.repeat) return
      else if (event.key === 'u') undo()
      // A focused control handles Enter itself.
      else if (!row || (event.key === 'Enter' && document.activeElement !== row)) return
      else {
        const control = row.querySelector<HTMLElement>(`[data-key="${CSS.escape(keyOf(event))}"]`)
        if (control?.closest('[data-row]') !== row) return
        control.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true, shiftKey: event.shiftKey }))
      }
      event.preventDefault()
    }
    // A row that is gone had the focus, or the dialog that it had opened.
    const follow = new MutationObserver(() => {
      if (at >= 0 && document.activeElement === document.body && !isDialogOpen()) focus(at)
    })
    frame.addEventListener('focusin', note)
    document.addEventListener('keydown', press)
    follow.observe(frame, { childList: true, subtree: true })
    return () => {
      frame.removeEventListener('focusin', note)
      document.removeEventListener('keydown', press)
      follow.disconnect()
    }
  }, [container, undo])
}
