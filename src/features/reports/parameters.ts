/** The parameters of reports. */
import { exportFormat, requiredParameter, textParameter } from '../../operations/parameters.ts'
import { entryFilters } from '../selection/parameters.ts'

export const timeZone = () =>
  textParameter('An IANA zone, such as `Europe/Berlin`: of dates and buckets. The organization’s where absent.')

export const reportPeriod = () => ({
  starting_at: requiredParameter({
    type: 'string',
    description:
      'Sessions that started at or after this moment: a timestamp with its offset, or a date for its first moment in the time zone.',
  }),
  ending_at: textParameter(
    'Sessions that started before this moment, which is now where absent; a date means its first moment.',
  ),
  time_zone: timeZone(),
})

/** Of a report of a period that is not divided into pages. */
export const undividedReport = () => ({ ...entryFilters(), ...reportPeriod(), ...exportFormat() })
