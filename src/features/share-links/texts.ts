/** What groups and periods of a shared report are called. Pure. */
import { DAY_OF_YEAR, type Formats, MONTH } from '../../shared/locales.ts'
import type { ShownReport } from './report.ts'

type Calendar = Pick<ShownReport, 'time_zone' | 'bucket_width'>

const localOf = (moment: string, { time_zone }: Calendar) => Temporal.Instant.from(moment).toZonedDateTimeISO(time_zone)

/** The end is exclusive. */
export function daysText(report: ShownReport, { days }: Formats): string {
  const last = new Date(Date.parse(report.ending_at) - 1).toISOString()
  const [from, to] = [report.starting_at, last].map((moment) => localOf(moment, report).toPlainDate().toString())
  return days(from!, to!)
}

/** On the axis of a chart: `21 Nov`, and what tables have for longer periods. */
export function shortText(moment: string, report: Calendar, formats: Formats): string {
  if (!['1d', '1w'].includes(report.bucket_width)) return periodText(moment, report, formats)
  return formats.partOf(localOf(moment, report).toPlainDate().toString(), DAY_OF_YEAR)
}

export function periodText(moment: string, report: Calendar, formats: Formats): string {
  const local = localOf(moment, report)
  const day = local.toPlainDate().toString()
  switch (report.bucket_width) {
    case '1h':
      return formats.moment(local.epochMilliseconds, report.time_zone)
    case '1mo':
      return formats.partOf(day, MONTH)
    case '1q':
      return `Q${Math.ceil(local.month / 3)} ${local.year}`
    case '1y':
      return String(local.year)
    default:
      return formats.day(day)
  }
}
