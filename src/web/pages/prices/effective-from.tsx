import { Tooltip } from '@mantine/core'
import { dayAndTime, dayInWords, dayOf, startOfDay } from '../../format/moments.ts'
import { useSettings } from '../../server/me.ts'

/** When a price takes effect, or ends: a day of the organization, else a day in UTC, as price tables have them. */
export function EffectiveFrom({ at }: { at: string | null }) {
  const { time_zone } = useSettings()
  if (at === null) return <>always</>
  return (
    <Tooltip label={`${dayAndTime(at, time_zone)} · ${time_zone}`}>
      <time dateTime={at}>{momentInWords(at, time_zone)}</time>
    </Tooltip>
  )
}

function momentInWords(at: string, timeZone: string): string {
  const day = dayOf(new Date(at), timeZone)
  if (startOfDay(day, timeZone) === at) return dayInWords(day)
  return at.endsWith('T00:00:00.000Z') ? `${dayInWords(at.slice(0, 10))} UTC` : dayAndTime(at, timeZone)
}
