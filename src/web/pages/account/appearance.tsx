/** The format of numbers and dates, and the first day of weeks in calendars. */
import { Group, NativeSelect } from '@mantine/core'
import { count } from '../../format/counts.ts'
import { dayAndTime } from '../../format/moments.ts'
import { exactMoney } from '../../format/money.ts'
import { WEEKDAYS, type Weekday } from '../../format/weekdays.ts'
import { Caption } from '../../parts/texts.tsx'
import { useSettings } from '../../server/me.ts'
import { useChangePreferences, usePreferences } from '../../server/preferences.ts'

/** The formats that differ: of day, month and year, and of separators. */
const LOCALES = [
  ['en-GB', 'English (United Kingdom)'],
  ['en-US', 'English (United States)'],
  ['en-CA', 'English (Canada)'],
  ['de-DE', 'German (Germany)'],
  ['de-CH', 'German (Switzerland)'],
  ['fr-FR', 'French (France)'],
  ['es-ES', 'Spanish (Spain)'],
  ['it-IT', 'Italian (Italy)'],
  ['nl-NL', 'Dutch (Netherlands)'],
  ['pl-PL', 'Polish (Poland)'],
  ['pt-BR', 'Portuguese (Brazil)'],
  ['sv-SE', 'Swedish (Sweden)'],
  ['ja-JP', 'Japanese (Japan)'],
] as const

const EXAMPLE = '2026-11-21T17:53:00Z'

export function Appearance() {
  const { time_zone, week_start } = useSettings()
  const preferences = usePreferences()
  const { mutate } = useChangePreferences()
  return (
    <>
      <Group align="flex-end" gap="sm">
        <NativeSelect
          label="Numbers and dates"
          w={300}
          data={[{ value: '', label: 'As in this browser' }, ...LOCALES.map(([value, label]) => ({ value, label }))]}
          value={preferences.locale ?? ''}
          onChange={({ currentTarget }) => mutate({ locale: currentTarget.value || null })}
        />
        <NativeSelect
          label="First day of the week in calendars"
          w={300}
          data={[
            { value: '', label: `As in the organization (${WEEKDAYS[week_start].name})` },
            ...Object.entries(WEEKDAYS).map(([value, { name }]) => ({ value, label: name })),
          ]}
          value={preferences.week_start ?? ''}
          onChange={({ currentTarget }) => mutate({ week_start: (currentTarget.value || null) as Weekday | null })}
        />
      </Group>
      <Caption mt="xs">
        {count(1_234_567)} · {exactMoney(1_234.5)} · {dayAndTime(EXAMPLE, time_zone)}
      </Caption>
    </>
  )
}
