/** Search, period, the active filters as chips, and a menu to add more. The URL holds all of it. */
import { Button, CloseButton, Combobox, Group, Popover, Text, TextInput, useCombobox } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { IconFilter, IconSearch } from '@tabler/icons-react'
import { useEffect, useState } from 'react'
import { isListFilter } from '../../../shared/entry-filters.ts'
import { dayAndTime } from '../../format/moments.ts'
import { useSettings } from '../../server/me.ts'
import { PeriodPicker } from '../period-picker.tsx'
import { Note } from '../texts.tsx'
import { FIELDS, type Field, fieldOf } from './fields.ts'
import { FilterChip } from './filter-chip.tsx'
import classes from './filters.module.css'
import { FILTER_NAMES, type Filters, withDays } from './filters.ts'

interface FilterBarProps {
  filters: Filters
  show: (changes: Partial<Filters>, how?: { replace?: boolean }) => void
  /** Filters that the page itself sets. */
  without?: readonly string[]
  /** Whether there is always a period, as in reports. */
  hasPeriod?: boolean
}

const valuesOf = (filters: Filters, { name }: Field): string[] => [filters[name] ?? []].flat()

export function FilterBar({ filters: given, show, without = [], hasPeriod = false }: FilterBarProps) {
  const { time_zone } = useSettings()
  const filters = withDays(given, time_zone)
  const [open, setOpen] = useState<string | null>(null)
  const held = FILTER_NAMES.flatMap((name) => fieldOf(name) ?? [])
  const shown = held.filter((field) => valuesOf(filters, field).length > 0 || field.name === open)
  const change = (field: Field) => (values: string[]) =>
    show({ [field.name]: isListFilter(field.name) ? values : values[0] })
  const isFiltered = [...FILTER_NAMES, 'period' as const].some((name) => (filters[name]?.length ?? 0) > 0)
  return (
    <Group gap={6}>
      <Search value={filters.q} change={(q) => show({ q }, { replace: true })} />
      <PeriodPicker
        isOptional={!hasPeriod}
        size="xs"
        value={filters.period}
        change={(period) => show({ period, ...WITHOUT_MOMENTS })}
      />
      <Moments filters={filters} show={show} />
      {shown.map((field) => (
        <FilterChip
          key={field.name}
          field={field}
          values={valuesOf(filters, field)}
          change={change(field)}
          isOpen={open === field.name}
          setOpen={(isOpen) => setOpen(isOpen ? field.name : null)}
        />
      ))}
      <AddFilter
        offered={FIELDS.filter((field) => !shown.includes(field) && !without.includes(field.name))}
        add={(field) => setOpen(field.name)}
      />
      {isFiltered && (
        <Button variant="subtle" color="gray" size="compact-sm" onClick={() => show(NO_FILTERS)}>
          Clear filters
        </Button>
      )}
    </Group>
  )
}

const WITHOUT_MOMENTS = { starting_at: undefined, ending_at: undefined, ended_after: undefined }

const NO_FILTERS: Partial<Filters> = {
  ...Object.fromEntries(FILTER_NAMES.map((name) => [name, undefined])),
  period: undefined,
}

/** The filters to add in their groups. Typing finds one. */
export function AddFilter({ offered, add }: { offered: readonly Field[]; add: (field: Field) => void }) {
  const [isOpen, setOpen] = useState(false)
  const [typed, setTyped] = useState('')
  const combobox = useCombobox({ opened: isOpen })
  const found = offered.filter(({ title }) => title.toLowerCase().includes(typed.trim().toLowerCase()))
  const choose = (name: string) => {
    setOpen(false)
    const field = offered.find((each) => each.name === name)
    if (field) add(field)
  }
  return (
    // Returning the focus would close the list of values that opens.
    <Popover
      opened={isOpen}
      onChange={setOpen}
      onClose={() => setTyped('')}
      position="bottom-start"
      shadow="md"
      width={240}
      trapFocus
      returnFocus={false}
    >
      <Popover.Target>
        <Button
          variant="default"
          size="xs"
          leftSection={<IconFilter size={14} />}
          aria-haspopup="dialog"
          onClick={() => setOpen(!isOpen)}
        >
          Filter
        </Button>
      </Popover.Target>
      <Popover.Dropdown p={6}>
        <Combobox store={combobox} onOptionSubmit={choose}>
          <Combobox.EventsTarget>
            <TextInput
              size="xs"
              data-autofocus
              aria-label="Find a filter"
              placeholder="Find a filter"
              value={typed}
              onChange={({ currentTarget }) => {
                setTyped(currentTarget.value)
                combobox.selectFirstOption()
              }}
            />
          </Combobox.EventsTarget>
          <Combobox.Options mt={4} className={classes.fields} aria-label="Filters" tabIndex={0}>
            {[...Map.groupBy(found, ({ group }) => group)].map(([group, fields]) => (
              <Combobox.Group key={group} label={group}>
                {fields.map(({ name, title }) => (
                  <Combobox.Option key={name} value={name}>
                    {title}
                  </Combobox.Option>
                ))}
              </Combobox.Group>
            ))}
            {found.length === 0 && <Combobox.Empty>No filter has this name</Combobox.Empty>}
          </Combobox.Options>
        </Combobox>
      </Popover.Dropdown>
    </Popover>
  )
}

/** Debounce before the URL, and with it the list, changes. */
const PAUSE_MS = 300

function Search({ value, change }: { value: string | undefined; change: (text: string | undefined) => void }) {
  const [typed, setTyped] = useState(value ?? '')
  const later = useDebouncedCallback(change, PAUSE_MS)
  // Back, forward and “Clear filters” change the URL without typing.
  useEffect(() => setTyped(value ?? ''), [value])
  return (
    <TextInput
      type="search"
      size="xs"
      w={{ base: '100%', xs: 220 }}
      aria-label="Search summaries"
      placeholder="Search summaries"
      leftSection={<IconSearch size={14} />}
      value={typed}
      onChange={({ currentTarget }) => {
        setTyped(currentTarget.value)
        later(currentTarget.value || undefined)
      }}
    />
  )
}

/** Times set by a link, such as one from a report. */
function Moments({ filters, show }: FilterBarProps) {
  const { time_zone } = useSettings()
  const { starting_at, ending_at, ended_after } = filters
  const parts = [
    starting_at && `from ${inZone(starting_at, time_zone)}`,
    ending_at && `until ${inZone(ending_at, time_zone)}`,
    ended_after && `ended after ${inZone(ended_after, time_zone)}`,
  ].filter(Boolean)
  if (parts.length === 0) return null
  return (
    <Group gap={4} wrap="nowrap" className={classes.chip} pl={8}>
      <Note>Started</Note>
      <Text size="sm" fw={500}>
        {parts.join(', ')}
      </Text>
      <CloseButton size="sm" aria-label="Remove filter: Started" onClick={() => show(WITHOUT_MOMENTS)} />
    </Group>
  )
}

/** An invalid time in the URL is shown unchanged; the API reports the error. */
function inZone(moment: string, timeZone: string): string {
  return Number.isNaN(Date.parse(moment)) ? moment : dayAndTime(moment, timeZone)
}
