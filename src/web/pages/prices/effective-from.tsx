import { Tooltip } from '@mantine/core'
import { dayAndTime, dayInWords } from '../../format/moments.ts'
import { useSettings } from '../../server/me.ts'

/** When a price takes effect. Midnight UTC is shown as a date, as price lists write it. */
export function EffectiveFrom({ at }: { at: string | null }) {
  const { time_zone } = useSettings()
  if (at === null) return <>always</>
  return (
    <Tooltip label={`${dayAndTime(at, time_zone)} · ${time_zone}`}>
      <time dateTime={at}>
        {at.endsWith('T00:00:00.000Z') ? dayInWords(at.slice(0, 10)) : dayAndTime(at, time_zone)}
      </time>
    </Tooltip>
  )
}
