/** The right edge of a header cell, which changes the width of its column when dragged. */
import { useRef } from 'react'
import classes from './data-table.module.css'

/** The limits of the API. */
const WIDTH_MIN_PX = 40
const WIDTH_MAX_PX = 1200

const within = (width: number) => Math.round(Math.min(WIDTH_MAX_PX, Math.max(WIDTH_MIN_PX, width)))

interface ColumnResizerProps {
  /** Called when the width is final. */
  resize: (width: number) => void
}

export function ColumnResizer({ resize }: ColumnResizerProps) {
  const drag = useRef<{ head: HTMLElement; from: number; width: number } | null>(null)
  const set = ({ head }: { head: HTMLElement }, width: number) => {
    for (const name of ['--column-width', '--column-min-width']) head.style.setProperty(name, `${within(width)}px`)
  }
  return (
    <span
      aria-hidden
      className={classes.resizer}
      onPointerDown={(event) => {
        event.preventDefault()
        const head = event.currentTarget.parentElement!
        event.currentTarget.setPointerCapture(event.pointerId)
        drag.current = { head, from: event.clientX, width: head.offsetWidth }
      }}
      onPointerMove={({ clientX }) => {
        if (drag.current) set(drag.current, drag.current.width + clientX - drag.current.from)
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
