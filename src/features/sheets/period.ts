/** The days that a sheet is for. Pure. */
import { type Fault, validationFailed } from '../../errors.ts'
import type { NewSheetBody } from './schema.ts'

/** Days, both included, and the moments that they are in the organization's zone; `endingAt` is exclusive. */
export interface Period {
  firstDay: string
  lastDay: string
  startingAt: number
  endingAt: number
}

/** A sheet of more than a year is a slip in its dates. */
const DAYS_LIMIT = 366

const DAY_MS = 86_400_000

/** Throws 422 for days that no calendar has, in a wrong order or too far apart. */
export function readPeriod({ period, month }: Pick<NewSheetBody, 'period' | 'month'>, timeZone: string): Period {
  if ((period === undefined) === (month === undefined)) {
    const message = 'is required, or month instead; not both'
    throw validationFailed([{ pointer: '/period', code: period ? 'not_allowed' : 'required', message }])
  }
  const [firstDay, lastDay] = period ? [period.from, period.to] : daysOfMonth(month!)
  const [first, last] = [dayOf(firstDay), dayOf(lastDay)]
  const faults: Fault[] = []
  const refuse = (pointer: string, code: string, message: string) => faults.push({ pointer, code, message })
  const [from, to] = period ? ['/period/from', '/period/to'] : ['/month', '/month']
  if (!first) refuse(from, 'no_such_time', 'names a day that no calendar has')
  if (!last && (period || first)) refuse(to, 'no_such_time', 'names a day that no calendar has')
  if (first && last && lastDay < firstDay) refuse(to, 'ends_before_start', 'must not be before from')
  if (first && last && Date.parse(lastDay) - Date.parse(firstDay) >= DAYS_LIMIT * DAY_MS) {
    refuse(to, 'too_large', `must be within ${DAYS_LIMIT} days of from`)
  }
  if (faults.length > 0 || !first || !last) throw validationFailed(faults)
  return {
    firstDay,
    lastDay,
    startingAt: first.toZonedDateTime(timeZone).epochMilliseconds,
    endingAt: last.add({ days: 1 }).toZonedDateTime(timeZone).epochMilliseconds,
  }
}

function dayOf(text: string): Temporal.PlainDate | undefined {
  try {
    return Temporal.PlainDate.from(text)
  } catch {
    return undefined
  }
}

function daysOfMonth(month: string): [string, string] {
  const first = dayOf(`${month}-01`)
  return [`${month}-01`, first?.add({ months: 1 }).subtract({ days: 1 }).toString() ?? `${month}-01`]
}

/** What is wrong with an entry that starts at this moment; undefined where it is within the period. */
export function faultOfStart(
  startedAt: number,
  { firstDay, lastDay, startingAt, endingAt }: Period,
): Fault | undefined {
  if (startedAt >= startingAt && startedAt < endingAt) return undefined
  return {
    pointer: '/started_at',
    code: 'outside_period',
    message: `must be within the sheet's period, ${firstDay} to ${lastDay} (${new Date(startingAt).toISOString()} to ${new Date(endingAt).toISOString()})`,
  }
}
