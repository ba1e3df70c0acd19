/** A week of a sheet as a grid: type numbers into cells as in a spreadsheet, or paste a block of them. */
import { Text } from '@mantine/core'
import { type ClipboardEvent, type KeyboardEvent, useEffect, useRef, useState } from 'react'
import { count } from '../../format/counts.ts'
import { dayInWords } from '../../format/moments.ts'
import {
  cellsOfBlock,
  cellText,
  type Edit,
  editOf,
  editsOfBlock,
  exactText,
  type GridRow,
  isReadOnly,
  type Measure,
  missingFields,
  readCell,
  type Sum,
  sumOf,
} from './grid-model.ts'
import type { SheetEntry } from './sheet-body.ts'
import classes from './sheet-grid.module.css'

interface SheetGridProps {
  rows: GridRow[]
  /** The days of the week that are in the sheet's period. */
  days: string[]
  today: string
  measure: Measure
  mayEdit: boolean
  /** Fields that the organization requires of each entry. */
  required: readonly string[]
  /** Saves; resolves when the rows contain the change. */
  apply: (edits: Edit[]) => Promise<void>
  undo: () => void
  /** Shows a message about what was typed. */
  say: (message: string) => void
}

interface Place {
  row: number
  day: number
}

const WEEKDAY = new Intl.DateTimeFormat('en-GB', { weekday: 'short', day: 'numeric', timeZone: 'UTC' })
const dayTitle = (day: string) => WEEKDAY.format(new Date(`${day}T00:00:00Z`))

const NAVIGATION: Record<string, [down: number, right: number]> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
}

const titleOf = ({ subject }: GridRow) => subject.ticket || subject.project || 'No project'

export function SheetGrid({ rows, days, today, measure, mayEdit, required, apply, undo, say }: SheetGridProps) {
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
    if (busy.has(keyAt(place))) return setNext({ at: place, text: text && (next?.text ?? '') + text })
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

  const entriesOf = (row: GridRow) => [...row.days.values()].flat()
  const inWeek = (row: GridRow) => days.flatMap((day) => row.days.get(day) ?? [])
  return (
    <div className={classes.scroller}>
      <table
        ref={table}
        // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: a table with the keyboard of a grid
        role="grid"
        aria-label="Week"
        aria-readonly={!mayEdit || isReadOnly(measure)}
        className={classes.grid}
        onPaste={paste}
        onCopy={copy}
      >
        <thead>
          <tr>
            <th scope="col" className={classes.subject}>
              Work
            </th>
            {days.map((day) => (
              <th key={day} scope="col" className={`${classes.head} ${day === today ? classes.today : ''}`}>
                {dayTitle(day)}
              </th>
            ))}
            <th scope="col" className={classes.head}>
              Week
            </th>
            <th scope="col" className={classes.head}>
              Sheet
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={row.key}>
              <RowHeader row={row} missing={missingIn(entriesOf(row), required)} />
              {days.map((day, column) => {
                const place = { row: index, day: column }
                const entries = row.days.get(day) ?? []
                const sum = sumOf(entries, measure)
                const isHere = at.row === index && at.day === column
                const isEditing = editing?.at.row === index && editing.at.day === column
                return (
                  <td
                    key={day}
                    // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: see above
                    role="gridcell"
                    data-cell={`${index}-${column}`}
                    className={classes.cell}
                    tabIndex={isHere && !isEditing ? 0 : -1}
                    aria-label={`${titleOf(row)}, ${dayInWords(day)}: ${spoken(sum, entries, measure)}`}
                    aria-disabled={isFuture(day)}
                    aria-busy={busy.has(keyAt(place))}
                    data-editing={isEditing || undefined}
                    data-mismatch={entries.some(({ cost_mismatch }) => cost_mismatch) || undefined}
                    title={titleOfCell(sum, entries)}
                    onFocus={() => setCursor(place)}
                    onClick={() => focusUnlessEditing(isEditing, place)}
                    onDoubleClick={() => begin(place)}
                    onKeyDown={isEditing ? undefined : keyInCell}
                  >
                    {isEditing ? (
                      <input
                        // biome-ignore lint/a11y/noAutofocus: the person began to type in this cell
                        autoFocus
                        aria-label={`${titleOf(row)}, ${dayInWords(day)}`}
                        className={classes.editor}
                        value={editing.text}
                        spellCheck={false}
                        autoComplete="off"
                        inputMode="decimal"
                        onChange={({ currentTarget }) => setEditing({ at: place, text: currentTarget.value })}
                        onKeyDown={keyInEditor}
                        onBlur={({ currentTarget }) => {
                          if (isOpen.current && commit(place, currentTarget.value)) close()
                        }}
                      />
                    ) : (
                      cellText(sum, measure)
                    )}
                  </td>
                )
              })}
              <td className={classes.total}>{cellText(sumOf(inWeek(row), measure), measure)}</td>
              <td className={classes.total}>{cellText(sumOf(entriesOf(row), measure), measure)}</td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row" className={classes.subject}>
              Total
            </th>
            {days.map((day) => (
              <Total key={day} entries={rows.flatMap((row) => row.days.get(day) ?? [])} measure={measure} />
            ))}
            <Total entries={rows.flatMap(inWeek)} measure={measure} />
            <Total entries={rows.flatMap(entriesOf)} measure={measure} />
          </tr>
        </tfoot>
      </table>
    </div>
  )

  function focusUnlessEditing(isEditing: boolean, place: Place): void {
    if (!isEditing) focus(place)
  }
}

function Total({ entries, measure }: { entries: SheetEntry[]; measure: Measure }) {
  const sum = sumOf(entries, measure)
  return (
    <td className={classes.total} title={exactText(sum) || undefined}>
      {cellText(sum, measure)}
    </td>
  )
}

const missingIn = (entries: SheetEntry[], required: readonly string[]) => [
  ...new Set(entries.flatMap((entry) => missingFields(entry, required))),
]

function RowHeader({ row, missing }: { row: GridRow; missing: string[] }) {
  const { agent_name, agent_harness, model } = row.subject
  return (
    <th scope="row" className={classes.subject}>
      <bdi>{titleOf(row)}</bdi>
      <Text size="xs" c="dimmed" truncate>
        <bdi>{[agent_name, agent_harness, model].join(' · ')}</bdi>
      </Text>
      {missing.length > 0 && (
        <Text size="xs" c="orange">
          Missing: {missing.join(', ')}
        </Text>
      )}
    </th>
  )
}

function spoken(sum: Sum, entries: SheetEntry[], measure: Measure): string {
  const text = cellText(sum, measure) || (entries.length > 0 ? 'cost only' : 'empty')
  return entries.length > 1 ? `${text}, ${count(entries.length)} entries` : text
}

function titleOfCell(sum: Sum, entries: SheetEntry[]): string | undefined {
  const mismatch = entries.some(({ cost_mismatch }) => cost_mismatch) ? 'The cost is far from the list value.' : ''
  return [exactText(sum), mismatch].filter(Boolean).join('. ') || undefined
}
