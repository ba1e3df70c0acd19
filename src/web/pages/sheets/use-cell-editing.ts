/** The cursor of a sheet's grid, the cell that is edited, and what keys and the clipboard do, as in a spreadsheet. */
import { type ClipboardEvent, type KeyboardEvent, useEffect, useRef, useState } from 'react'
import {
  cellsOfBlock,
  type Edit,
  editOf,
  editsOfBlock,
  exactText,
  type GridRow,
  isReadOnly,
  type Measure,
  readCell,
  sumOf,
} from './grid-model.ts'

export interface Grid {
  rows: GridRow[]
  /** The days of the week that are in the sheet's period. */
  days: string[]
  today: string
  measure: Measure
  mayEdit: boolean
  /** Saves; resolves when the rows contain the change. */
  apply: (edits: Edit[]) => Promise<void>
  undo: () => void
  /** Shows a message about what was typed. */
  say: (message: string) => void
}

/** A cell, by the positions of its row and its day. */
export interface Place {
  row: number
  day: number
}

const NAVIGATION: Record<string, [down: number, right: number]> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
}

export function useCellEditing({ rows, days, today, measure, mayEdit, apply, undo, say }: Grid) {
  const table = useRef<HTMLTableElement>(null)
  const [cursor, setCursor] = useState<Place>({ row: 0, day: Math.max(0, days.indexOf(today)) })
  const [editing, setEditing] = useState<{ at: Place; text: string } | null>(null)
  /** An editor that is removed may still lose the focus, which must not save its text twice. */
  const isOpen = useRef(false)
  const [busy, setBusy] = useState<ReadonlySet<string>>(new Set())
  /** A cell to edit as soon as it is saved, with what was typed meanwhile. */
  const [next, setNext] = useState<{ at: Place; text?: string | undefined } | null>(null)
  const at: Place = {
    row: Math.min(cursor.row, Math.max(0, rows.length - 1)),
    day: Math.min(cursor.day, Math.max(0, days.length - 1)),
  }
  const isFuture = (day: string) => day > today
  const keyAt = ({ row, day }: Place) => `${rows[row]?.key} ${days[day]}`

  useEffect(() => {
    if (!next || busy.has(keyAt(next.at))) return
    setNext(null)
    begin(next.at, next.text)
  })

  const focus = (place: Place) => {
    setCursor(place)
    setNext(null)
    // After the editor is gone, or the cell is there.
    requestAnimationFrame(() =>
      table.current?.querySelector<HTMLElement>(`[data-cell="${place.row}-${place.day}"]`)?.focus(),
    )
  }
  const isInside = ({ row, day }: Place) => row >= 0 && row < rows.length && day >= 0 && day < days.length
  const moved = (down: number, right: number): Place => ({ row: at.row + down, day: at.day + right })
  /** The next or previous cell in reading order; undefined at the end of the grid. */
  const beside = (step: 1 | -1): Place | undefined => {
    const index = at.row * days.length + at.day + step
    const place = { row: Math.floor(index / days.length), day: ((index % days.length) + days.length) % days.length }
    return index >= 0 && isInside(place) ? place : undefined
  }

  async function save(edits: Edit[], places: Place[]): Promise<void> {
    if (edits.length === 0) return
    const keys = places.map(keyAt)
    setBusy((before) => new Set([...before, ...keys]))
    try {
      await apply(edits)
    } finally {
      setBusy((before) => new Set([...before].filter((key) => !keys.includes(key))))
    }
  }

  /** Saves the text of a cell. Returns false if it can't be read, so that the editor stays open. */
  function commit(place: Place, text: string): boolean {
    const row = rows[place.row]
    const day = days[place.day]
    if (!row || day === undefined) return true
    const shown = exactText(sumOf(row.days.get(day) ?? [], measure))
    if (text === shown) return true
    const read = readCell(text, measure)
    const edit = 'issue' in read ? read : editOf(row, day, { measure, value: read.value })
    if (edit && 'issue' in edit) {
      say(edit.issue)
      return false
    }
    say('')
    if (edit) void save([edit], [place])
    return true
  }

  function begin(place: Place, text?: string) {
    const row = rows[place.row]
    const day = days[place.day]
    if (!mayEdit || !row || day === undefined) return
    if (busy.has(keyAt(place))) {
      // Several keys may be pressed before it is rendered again.
      return setNext((before) => ({ at: place, text: text && (before?.text ?? '') + text }))
    }
    if (isFuture(day)) return say('Usage can only be added up to today.')
    const entries = row.days.get(day) ?? []
    const refused = entries.length > 1 || isReadOnly(measure) ? editOf(row, day, { measure, value: 0 }) : undefined
    if (refused && 'issue' in refused) return say(refused.issue)
    say('')
    isOpen.current = true
    setCursor(place)
    setEditing({ at: place, text: text ?? exactText(sumOf(entries, measure)) })
  }

  function close(): void {
    isOpen.current = false
    setEditing(null)
  }

  function keyInCell(event: KeyboardEvent) {
    const step = NAVIGATION[event.key]
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'z') {
      event.preventDefault()
      return undo()
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return
    if (step) {
      event.preventDefault()
      const place = moved(...step)
      if (isInside(place)) focus(place)
    } else if (event.key === 'Tab') {
      const place = beside(event.shiftKey ? -1 : 1)
      if (!place) return
      event.preventDefault()
      focus(place)
    } else if (event.key === 'Enter' || event.key === 'F2') {
      event.preventDefault()
      begin(at)
    } else if (event.key === 'Delete' || event.key === 'Backspace') {
      event.preventDefault()
      if (mayEdit && !busy.has(keyAt(at))) commit(at, '')
    } else if (event.key.length === 1 && /[\d.$,-]/.test(event.key)) {
      event.preventDefault()
      begin(at, event.key)
    }
    // Letters are shortcuts of the page, which a grid does not have.
    if (event.key.length === 1) event.stopPropagation()
  }

  function keyInEditor(event: KeyboardEvent<HTMLInputElement>): void {
    event.stopPropagation()
    const text = event.currentTarget.value
    if (event.key === 'Escape') {
      close()
      say('')
      focus(at)
      return
    }
    if (event.key !== 'Enter' && event.key !== 'Tab') return
    event.preventDefault()
    if (!commit(at, text)) return
    close()
    const next = event.key === 'Enter' ? moved(event.shiftKey ? -1 : 1, 0) : beside(event.shiftKey ? -1 : 1)
    focus(next && isInside(next) ? next : at)
  }

  function paste(event: ClipboardEvent) {
    if (!mayEdit || editing) return
    const block = cellsOfBlock(event.clipboardData.getData('text/plain'))
    event.preventDefault()
    const places = block.flatMap((cells, down) => cells.map((_, right) => moved(down, right)))
    if (places.some((place) => busy.has(keyAt(place)))) return say('Some of these cells are still being saved.')
    if (places.some(({ day }) => days[day] !== undefined && isFuture(days[day]))) {
      return say('Usage can only be added up to today. Nothing was pasted.')
    }
    const planned = editsOfBlock(block, { rows, days, at, measure })
    if ('issue' in planned) return say(planned.issue)
    say('')
    void save(planned.edits, places)
  }

  function copy(event: ClipboardEvent): void {
    const row = rows[at.row]
    if (editing || !row) return
    event.clipboardData.setData('text/plain', exactText(sumOf(row.days.get(days[at.day]!) ?? [], measure)))
    event.preventDefault()
  }

  return {
    table,
    /** The cell with the cursor. */
    at,
    editingAt: (place: Place) =>
      editing && editing.at.row === place.row && editing.at.day === place.day ? editing.text : undefined,
    isBusy: (place: Place) => busy.has(keyAt(place)),
    isFuture,
    setCursor,
    focus,
    begin,
    type: (place: Place, text: string) => setEditing({ at: place, text }),
    leave(place: Place, text: string) {
      if (isOpen.current && commit(place, text)) close()
    },
    keyInCell,
    keyInEditor,
    paste,
    copy,
  }
}
