/** The days that decide whether agents are silent. Pure. */
import { addDays } from '../../lib/calendar.ts'

/** Working days without usage that are a silence: one could be a day off, or a day of meetings. */
const SILENT_DAYS = 2

/** Working days before them, and on how many of them somebody whose agents report regularly has usage. */
const REGULAR_DAYS = 7
const USED_DAYS = 5

export interface WatchedDays {
  /** The newest first. */
  silent: string[]
  before: string[]
}

/** The working days, Monday to Friday, before a day. */
export function watchedDays(today: string): WatchedDays {
  const days: string[] = []
  for (let day = addDays(today, -1); days.length < SILENT_DAYS + REGULAR_DAYS; day = addDays(day, -1)) {
    if (isWorkingDay(day)) days.push(day)
  }
  return { silent: days.slice(0, SILENT_DAYS), before: days.slice(SILENT_DAYS) }
}

function isWorkingDay(day: string): boolean {
  return Temporal.PlainDate.from(day).dayOfWeek <= 5
}

/** What a person uses: the key of the person and of the harness. */
export interface Usage {
  managerId: number
  harnessId: number
}

export interface Silence extends Usage {
  lastUsedOn: string
  usedDays: number
}

/** Who had usage on enough of the days before, and none on the silent ones. Days are in the order of `before`. */
export function silencesOf(
  { before }: WatchedDays,
  used: { silent: readonly Usage[]; before: readonly (readonly Usage[])[] },
): Silence[] {
  const textOf = ({ managerId, harnessId }: Usage) => `${managerId} ${harnessId}`
  const isUsed = new Set(used.silent.map(textOf))
  const silences = new Map<string, Silence>()
  for (const [position, ofDay] of used.before.entries()) {
    for (const usage of ofDay) {
      const text = textOf(usage)
      const known = silences.get(text)
      if (known) known.usedDays += 1
      // The first day is the newest.
      else if (!isUsed.has(text)) silences.set(text, { ...usage, lastUsedOn: before[position]!, usedDays: 1 })
    }
  }
  return [...silences.values()].filter(({ usedDays }) => usedDays >= USED_DAYS)
}
