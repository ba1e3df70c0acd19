import { Button, Group, Popover, Stack, Text } from '@mantine/core'
import { DatePicker } from '@mantine/dates'
import { IconCalendar, IconChevronDown } from '@tabler/icons-react'
import { useState } from 'react'
import { useSettings } from '../server/me.ts'
import { ownPeriod, PERIODS, periodInWords, readPeriod } from './period.ts'

interface PeriodPickerProps {
  /** As it stands in the address. */
  value: string | undefined
  change: (value: string) => void
}

/** Chooses a period by name, or two days. */
export function PeriodPicker({ value, change }: PeriodPickerProps) {
  const { time_zone } = useSettings()
  const [isOpen, setOpen] = useState(false)
  const [days, setDays] = useState<[string | null, string | null]>([null, null])
  const period = readPeriod(value, time_zone)
  const named = Object.hasOwn(PERIODS, value ?? '30d') ? PERIODS[(value ?? '30d') as keyof typeof PERIODS].title : null
  const choose = (chosen: string) => {
    setOpen(false)
    change(chosen)
  }
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-start" trapFocus withinPortal shadow="md">
      <Popover.Target>
        <Button
          variant="default"
          leftSection={<IconCalendar size={16} />}
          rightSection={<IconChevronDown size={14} />}
          onClick={() => setOpen(!isOpen)}
          aria-label={`Period: ${named ?? periodInWords(period)}`}
        >
          {named ?? periodInWords(period)}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Group align="flex-start" gap="lg">
          <Stack gap={2}>
            {Object.entries(PERIODS).map(([name, { title }]) => (
              <Button
                key={name}
                size="compact-sm"
                justify="flex-start"
                variant={name === (value ?? '30d') ? 'light' : 'subtle'}
                color={name === (value ?? '30d') ? undefined : 'gray'}
                onClick={() => choose(name)}
              >
                {title}
              </Button>
            ))}
          </Stack>
          <Stack gap="xs">
            <DatePicker
              type="range"
              allowSingleDateInRange
              firstDayOfWeek={1}
              value={days}
              defaultDate={period.to}
              onChange={([from, to]) => {
                setDays([from, to])
                if (from && to) choose(ownPeriod({ from, to }))
              }}
            />
            <Text size="xs" c="dimmed">
              Days in {time_zone}
            </Text>
          </Stack>
        </Group>
      </Popover.Dropdown>
    </Popover>
  )
}
