/** A week of a sheet as a grid: type numbers into cells as in a spreadsheet, or paste a block of them. */
import { Text } from '@mantine/core'
import { count } from '../../format/counts.ts'
import { dayInWords } from '../../format/moments.ts'
import { Caption } from '../../parts/texts.tsx'
import {
  cellText,
  exactText,
  type GridRow,
  isReadOnly,
  type Measure,
  missingFields,
  type Sum,
  sumOf,
} from './grid-model.ts'
import type { SheetEntry } from './sheet-body.ts'
import classes from './sheet-grid.module.css'
import { type Grid, type Place, useCellEditing } from './use-cell-editing.ts'

interface SheetGridProps extends Grid {
  /** Fields that the organization requires of each entry. */
  required: readonly string[]
}

const WEEKDAY = new Intl.DateTimeFormat('en-GB', { weekday: 'short', day: 'numeric', timeZone: 'UTC' })
const dayTitle = (day: string) => WEEKDAY.format(new Date(`${day}T00:00:00Z`))

const titleOf = ({ subject }: GridRow) => subject.ticket || subject.project || 'No project'

export function SheetGrid({ required, ...grid }: SheetGridProps) {
  const { rows, days, today, measure, mayEdit } = grid
  const editing = useCellEditing(grid)
  const entriesOf = (row: GridRow) => [...row.days.values()].flat()
  const inWeek = (row: GridRow) => days.flatMap((day) => row.days.get(day) ?? [])
  return (
    <div className={classes.scroller}>
      <table
        ref={editing.table}
        // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: a table with the keyboard of a grid
        role="grid"
        aria-label="Week"
        aria-readonly={!mayEdit || isReadOnly(measure)}
        className={classes.grid}
        onPaste={editing.paste}
        onCopy={editing.copy}
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
              {days.map((day, column) => (
                <Cell
                  key={day}
                  place={{ row: index, day: column }}
                  row={row}
                  day={day}
                  measure={measure}
                  editing={editing}
                />
              ))}
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
}

interface CellProps {
  place: Place
  row: GridRow
  day: string
  measure: Measure
  editing: ReturnType<typeof useCellEditing>
}

function Cell({ place, row, day, measure, editing }: CellProps) {
  const entries = row.days.get(day) ?? []
  const sum = sumOf(entries, measure)
  const text = editing.editingAt(place)
  const isHere = editing.at.row === place.row && editing.at.day === place.day
  const isEditing = text !== undefined
  return (
    <td
      // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: see above
      role="gridcell"
      data-cell={`${place.row}-${place.day}`}
      className={classes.cell}
      tabIndex={isHere && !isEditing ? 0 : -1}
      aria-label={`${titleOf(row)}, ${dayInWords(day)}: ${spoken(sum, entries, measure)}`}
      aria-disabled={editing.isFuture(day)}
      aria-busy={editing.isBusy(place)}
      data-editing={isEditing || undefined}
      data-mismatch={entries.some(({ cost_mismatch }) => cost_mismatch) || undefined}
      title={titleOfCell(sum, entries)}
      onFocus={() => editing.setCursor(place)}
      onClick={() => !isEditing && editing.focus(place)}
      onDoubleClick={() => editing.begin(place)}
      onKeyDown={isEditing ? undefined : editing.keyInCell}
    >
      {isEditing ? (
        <input
          // biome-ignore lint/a11y/noAutofocus: the person began to type in this cell
          autoFocus
          aria-label={`${titleOf(row)}, ${dayInWords(day)}`}
          className={classes.editor}
          value={text}
          spellCheck={false}
          autoComplete="off"
          inputMode="decimal"
          onChange={({ currentTarget }) => editing.type(place, currentTarget.value)}
          onKeyDown={editing.keyInEditor}
          onBlur={({ currentTarget }) => editing.leave(place, currentTarget.value)}
        />
      ) : (
        cellText(sum, measure)
      )}
    </td>
  )
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
      <Caption truncate>
        <bdi>{[agent_name, agent_harness, model].join(' · ')}</bdi>
      </Caption>
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
