/** The selection of rows: one by one, or from the last one to another with Shift. */
import { useRef } from 'react'

export type Selection = ReadonlySet<string>

interface Range {
  /** The rows in the order in which they are shown. */
  keys: readonly string[]
  from: string
  to: string
}

/** Of a range, all rows become what the row at its end becomes. */
function withRange(selected: Selection, { keys, from, to }: Range): Selection {
  const ends = [keys.indexOf(from), keys.indexOf(to)]
  const range = new Set(keys.slice(Math.min(...ends), Math.max(...ends) + 1))
  return selected.has(to) ? selected.difference(range) : selected.union(range)
}

const toggled = (selected: Selection, key: string): Selection => selected.symmetricDifference(new Set([key]))

interface SelectionOptions {
  keys: () => readonly string[]
  selected: Selection | undefined
  select: ((selected: Selection) => void) | undefined
}

/** Selects a row, or with Shift all from the one that was selected or deselected last. */
export function useToggle({ keys, selected, select }: SelectionOptions) {
  const last = useRef<string | null>(null)
  return (key: string, isRange: boolean) => {
    if (!selected || !select) return
    const shown = keys()
    if (!shown.includes(key)) return
    const from = last.current
    last.current = key
    const isThere = isRange && from !== null && shown.includes(from)
    select(isThere ? withRange(selected, { keys: shown, from, to: key }) : toggled(selected, key))
  }
}

/** Whether Shift was held at the click, or the press of a key, that changes a checkbox. */
export const isShifted = ({ nativeEvent }: { nativeEvent: Event }): boolean => (nativeEvent as MouseEvent).shiftKey

/** A click with Shift selects rows, not the text between them. */
export const keepText = (event: { shiftKey: boolean; preventDefault: () => void }): void => {
  if (event.shiftKey) event.preventDefault()
}
