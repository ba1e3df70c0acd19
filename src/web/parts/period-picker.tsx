import { Button, Popover, Stack, Text } from '@mantine/core'
import { DatePicker } from '@mantine/dates'
import { IconCalendar, IconChevronDown } from '@tabler/icons-react'
import { useState } from 'react'
import { useFirstDayOfWeek, useSettings } from '../server/me.ts'
import { isPeriod, ownPeriod, PERIODS, periodInWords, readPeriod } from './period.ts'
import classes from './period-picker.module.css'
import { Caption } from './texts.tsx'

interface PeriodPickerProps {
  /** The value in the URL. */
  value: string | undefined
  /** Called with undefined only if the period is optional. */
  change(value: string | undefined): void
  /** Whether “Any time” is offered. */
  isOptional?: boolean
  /** Matches the height of adjacent controls. */
  size?: 'xs' | 'sm'
}

const ANY = 'Any time'

/** Chooses a named period, or a first and last day. */
export function PeriodPicker({ value, change, isOptional = false, size = 'sm' }: PeriodPickerProps) {
  const { time_zone } = useSettings()
  const firstDayOfWeek = useFirstDayOfWeek()
  const [isOpen, setOpen] = useState(false)
  const [days, setDays] = useState<[string | null, string | null]>([null, null])
  const period = readPeriod(value, time_zone)
  const name = value ?? (isOptional ? undefined : '30d')
  const title = titleOf(name) ?? periodInWords(period)
  const choose = (chosen: string | undefined) => {
    setOpen(false)
    change(chosen)
  }
  return (
    <>
      <span className="tally-only-print">Period: {name === undefined ? 'any time' : periodInWords(period)}</span>
      <Popover opened={isOpen} onChange={setOpen} position="bottom-start" trapFocus withinPortal shadow="md">
        <Popover.Target>
          <Button
            variant="default"
            size={size}
            leftSection={<IconCalendar size={16} />}
            rightSection={<IconChevronDown size={14} />}
            onClick={() => setOpen(!isOpen)}
            aria-label={`Period: ${title}`}
          >
            {title}
          </Button>
        </Popover.Target>
        <Popover.Dropdown>
          <div className={classes.choices}>
            <div className={classes.named}>
              {[...(isOptional ? [undefined] : []), ...Object.keys(PERIODS)].map((offered) => (
                <Button
                  key={offered ?? ANY}
                  size="compact-sm"
                  justify="flex-start"
                  variant={offered === name ? 'light' : 'subtle'}
                  color={offered === name ? undefined : 'gray'}
                  onClick={() => choose(offered)}
                >
                  {titleOf(offered)}
                </Button>
              ))}
            </div>
            <Stack gap="xs">
              <DatePicker
                type="range"
                allowSingleDateInRange
                firstDayOfWeek={firstDayOfWeek}
                value={days}
                defaultDate={period.to}
                onChange={([from, to]) => {
                  setDays([from, to])
                  if (from && to) choose(ownPeriod({ from, to }))
                }}
              />
              <Caption>Days in {time_zone}</Caption>
            </Stack>
          </div>
        </Popover.Dropdown>
      </Popover>
      {value !== undefined && !isPeriod(value) && (
        <Text size="xs" c="var(--mantine-color-error)" role="alert">
          “<bdi>{value}</bdi>” is not a period. Showing the last 30 days.
        </Text>
      )}
    </>
  )
}

/** Undefined for custom days. */
function titleOf(name: string | undefined): string | undefined {
  if (name === undefined) return ANY
  return Object.hasOwn(PERIODS, name) ? PERIODS[name as keyof typeof PERIODS].title : undefined
}
