/** A year of days as columns of weeks, and how strongly each day is colored. Pure. */
import { addDays, daysBetween, monthInShort } from '../../format/moments.ts'
import type { Period } from '../../parts/period.ts'

/** With today, a year of days, whose first and last weeks may be incomplete. */
const DAYS = 365
const WEEK = 7

/** From a little to the most; 0 is none. */
const LEVELS = 4

export const yearUntil = (today: string): Period => ({ from: addDays(today, 1 - DAYS), to: today })

export interface HeatmapDay {
  day: string
  /** Null if it is unknown. */
  value: number | null
}

export interface HeatmapCell extends HeatmapDay {
  /** From 0 to 4. */
  level: number
  /** From 0: the week. */
  column: number
  /** From 0: the first day of the week. */
  row: number
}

export interface Heatmap {
  cells: HeatmapCell[]
  columns: number
  /** Months where they begin, unless their label would meet that of the next one. */
  months: { column: number; label: string }[]
}

/** A label takes as much room as three weeks. */
const LABEL_COLUMNS = 3

/** The days follow each other; `firstDayOfWeek` is 0 for Sunday. */
export function heatmapOf(days: readonly HeatmapDay[], firstDayOfWeek: number): Heatmap {
  const first = days[0]?.day
  if (first === undefined) return { cells: [], columns: 0, months: [] }
  const before = (new Date(`${first}T00:00:00Z`).getUTCDay() - firstDayOfWeek + WEEK) % WEEK
  const levelOf = levelsOf(days)
  const cells = days.map(({ day, value }) => {
    const at = before + daysBetween(first, day)
    return { day, value, level: levelOf(value), column: Math.floor(at / WEEK), row: at % WEEK }
  })
  const starts = cells
    .filter(({ day }, at) => at === 0 || day.endsWith('-01'))
    .map(({ day, column }) => ({ column, label: monthInShort(day) }))
  const columns = cells.at(-1)!.column + 1
  const months = starts.filter(({ column }, at) => (starts[at + 1]?.column ?? columns) - column >= LABEL_COLUMNS)
  return { cells, columns, months }
}

/** By quartiles of the days with usage: a single expensive day does not make all others look equal. */
function levelsOf(days: readonly HeatmapDay[]): (value: number | null) => number {
  const values = days
    .flatMap(({ value }) => (value !== null && value > 0 ? [value] : []))
    .sort((one, other) => one - other)
  const limits = Array.from({ length: LEVELS - 1 }, (_, at) => values[Math.floor(((at + 1) * values.length) / LEVELS)]!)
  return (value) => (value === null || value <= 0 ? 0 : 1 + limits.filter((limit) => value >= limit).length)
}

/** The day that a key moves to, by index; undefined for keys that do not move. */
export function movedTo(key: string, at: number, count: number): number | undefined {
  const last = count - 1
  const to = { ArrowLeft: at - WEEK, ArrowRight: at + WEEK, ArrowUp: at - 1, ArrowDown: at + 1, Home: 0, End: last }[
    key
  ]
  return to === undefined ? undefined : Math.min(last, Math.max(0, to))
}
