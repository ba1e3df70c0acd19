/**
 * The right edge of a header cell, which changes the width of its column: dragged, or with the arrow keys, Home and End.
 * A double click or Delete resets it.
 */
import { type KeyboardEvent, useRef, useState } from 'react'
import classes from './data-table.module.css'

/** The limits of the API. */
const WIDTH_MIN_PX = 40
const WIDTH_MAX_PX = 1200

/** One press of an arrow key; with Shift, a larger step. */
const STEP_PX = 16
const LARGE_STEP_PX = 80

const within = (width: number) => Math.round(Math.min(WIDTH_MAX_PX, Math.max(WIDTH_MIN_PX, width)))

interface ColumnResizerProps {
  /** The title of the column. */
  title: string
  /** Called when the width is final; null resets it. */
  resize: (width: number | null) => void
}

/** The width that a key leads to; undefined for other keys. */
function widthAfter({ key, shiftKey }: KeyboardEvent, width: number): number | undefined {
  const step = shiftKey ? LARGE_STEP_PX : STEP_PX
  switch (key) {
    case 'ArrowLeft':
      return within(width - step)
    case 'ArrowRight':
      return within(width + step)
    case 'Home':
      return WIDTH_MIN_PX
    case 'End':
      return WIDTH_MAX_PX
    default:
      return undefined
  }
}

export function ColumnResizer({ title, resize }: ColumnResizerProps) {
  const drag = useRef<{ from: number; width: number } | null>(null)
  const pressed = useRef<number | null>(null)
  const handle = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(WIDTH_MIN_PX)
  const head = () => handle.current!.parentElement!
  const show = (width: number) => {
    for (const name of ['--column-width', '--column-min-width']) head().style.setProperty(name, `${within(width)}px`)
  }
  /** Saved when the key is released: a key that is held down repeats. */
  const savePressed = () => {
    if (pressed.current !== null) resize(pressed.current)
    pressed.current = null
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: a rule has no value, and cannot be moved
    <div
      ref={handle}
      role="separator"
      tabIndex={0}
      aria-orientation="vertical"
      aria-label={`Width of ${title}`}
      aria-valuemin={WIDTH_MIN_PX}
      aria-valuemax={WIDTH_MAX_PX}
      aria-valuenow={width}
      aria-valuetext={`${width} pixels`}
      title="Drag or use the arrow keys to change the width. Double-click to reset it."
      className={classes.resizer}
      onFocus={() => setWidth(within(head().offsetWidth))}
      onKeyDown={(event) => {
        if (event.key === 'Delete' || event.key === 'Backspace') {
          pressed.current = null
          resize(null)
        } else {
          const next = widthAfter(event, pressed.current ?? head().offsetWidth)
          if (next === undefined) return
          pressed.current = next
          show(next)
          setWidth(next)
        }
        event.preventDefault()
      }}
      onKeyUp={savePressed}
      onBlur={savePressed}
      onDoubleClick={() => resize(null)}
      onPointerDown={(event) => {
        event.preventDefault()
        event.currentTarget.setPointerCapture(event.pointerId)
        drag.current = { from: event.clientX, width: head().offsetWidth }
      }}
      onPointerMove={({ clientX }) => {
        if (drag.current) show(drag.current.width + clientX - drag.current.from)
      }}
      onPointerUp={({ clientX }) => {
        if (!drag.current) return
        const { from, width } = drag.current
        drag.current = null
        if (clientX !== from) resize(within(width + clientX - from))
      }}
    />
  )
}
