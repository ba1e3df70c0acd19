/** What groups and periods of a shared report are called. Pure. */
import type { ShownReport, ShownResult } from './report.ts'

export function keyText(result: ShownResult, dimension: string): string {
  const labels = result.labels as Record<string, unknown> | undefined
  const key = dimension.startsWith('label:') ? labels?.[dimension.slice('label:'.length)] : result[dimension]
  if (key === null || key === undefined) return 'None'
  if (typeof key !== 'object') return String(key)
  return 'name' in key ? String(key.name) : 'key' in key ? String(key.key) : 'None'
}

type Calendar = Pick<ShownReport, 'time_zone' | 'bucket_width'>

const localOf = (moment: string, { time_zone }: Calendar) => Temporal.Instant.from(moment).toZonedDateTimeISO(time_zone)

const DAY = { day: 'numeric', month: 'short', year: 'numeric' } as const

export const dayText = (moment: string, report: Calendar) =>
  localOf(moment, report).toPlainDate().toLocaleString('en-GB', DAY)

/** The end is exclusive. */
export const lastDayText = (report: ShownReport) =>
  dayText(new Date(Date.parse(report.ending_at) - 1).toISOString(), report)

/** On the axis of a chart: `21 Nov`, and what tables have for longer periods. */
export function shortText(moment: string, report: Calendar): string {
  if (!['1d', '1w'].includes(report.bucket_width)) return periodText(moment, report)
  return localOf(moment, report).toPlainDate().toLocaleString('en-GB', { day: 'numeric', month: 'short' })
}

export function periodText(moment: string, report: Calendar): string {
  const local = localOf(moment, report)
  const day = local.toPlainDate().toString()
  switch (report.bucket_width) {
    case '1h':
      return `${day} ${local.toPlainTime().toString({ smallestUnit: 'minute' })}`
    case '1mo':
      return day.slice(0, 7)
    case '1q':
      return `${day.slice(0, 4)}-Q${Math.ceil(local.month / 3)}`
    case '1y':
      return day.slice(0, 4)
    default:
      return day
  }
}
