/** One filter: its title, its values, and a list to choose from. */
import { Button, CloseButton, Combobox, Group, Loader, Popover, Text, TextInput, useCombobox } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { IconCheck } from '@tabler/icons-react'
import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { isListFilter } from '../../../shared/entry-filters.ts'
import { type Choice, OFFERED, TYPE_FOR_MORE } from '../pickers.tsx'
import { Caption, Dimmed } from '../texts.tsx'
import { type Field, isId } from './fields.ts'
import classes from './filters.module.css'

interface FilterChipProps {
  field: Field
  values: readonly string[]
  change: (values: string[]) => void
  isOpen: boolean
  setOpen: (isOpen: boolean) => void
}

/** The number of values shown by name. */
const NAMED = 2

export function FilterChip({ field, values, change, isOpen, setOpen }: FilterChipProps) {
  const names = useNames(field, values)
  const shown = [names.slice(0, NAMED).join(', '), names.length > NAMED && `+${names.length - NAMED}`]
  return (
    <>
      <span className="tally-only-print">
        {field.title}: <bdi>{names.join(', ')}</bdi>
      </span>
      <Popover opened={isOpen} onChange={setOpen} position="bottom-start" trapFocus returnFocus shadow="md" width={280}>
        <Group gap={0} wrap="nowrap" className={`${classes.chip} tally-no-print`}>
          <Popover.Target>
            <Button variant="subtle" color="gray" size="compact-sm" onClick={() => setOpen(!isOpen)}>
              <Dimmed mr={6}>{field.title}</Dimmed>
              <bdi className={classes.chipValue}>{shown.filter(Boolean).join(' ') || '…'}</bdi>
            </Button>
          </Popover.Target>
          <CloseButton size="sm" aria-label={`Remove filter: ${field.title}`} onClick={() => change([])} />
        </Group>
        <Popover.Dropdown p={6}>
          <Values field={field} values={values} change={change} close={() => setOpen(false)} />
        </Popover.Dropdown>
      </Popover>
    </>
  )
}

/** Resolves ids in links to current names. */
function useNames(field: Field, values: readonly string[]): string[] {
  const named = useQueries({
    queries: values.map((value) => ({
      queryKey: [field.part, 'name', field.name, value],
      queryFn: async ({ signal }) => (await field.nameOf?.(value, signal)) ?? value,
      enabled: field.nameOf !== undefined && (isId(value) || field.part === 'entries'),
    })),
  })
  // Without access to the object, its id is shown.
  return values.map((value, index) => named[index]?.data ?? (named[index]?.isLoading ? '…' : value))
}

/** Debounce before the choices are fetched. */
const PAUSE_MS = 150

/** Cache time of lists that are searched on the page: names that agents have used. */
const CHOICES_FRESH_MS = 300_000

/** The number of choices listed; typing narrows them. */
const LISTED = 100

const holding = (choices: readonly Choice[], typed: string): Choice[] =>
  choices.filter(({ label }) => label.toLowerCase().includes(typed.toLowerCase()))

/** The choices of a field that match a text, and whether there are more than listed. */
function useChoices({ part, name, search, choices }: Field, typed: string) {
  const [settled] = useDebouncedValue(typed, PAUSE_MS)
  const { data, isFetching, isPlaceholderData } = useQuery({
    queryKey: [part, 'choices', name, ...(search ? [settled] : [])],
    queryFn: async ({ signal }) =>
      (await (search ? search(settled.trim() || undefined, signal) : choices?.(signal))) ?? [],
    placeholderData: keepPreviousData,
    ...(search ? {} : { staleTime: CHOICES_FRESH_MS }),
  })
  // Until the server has searched for it, Enter must not choose what was found for another text.
  const isOld = isPlaceholderData || settled !== typed
  const found = search && !isOld ? (data ?? []) : holding(data ?? [], typed)
  return { found, isFetching, hasMore: search ? found.length >= OFFERED : found.length > LISTED }
}

interface ValuesProps extends Pick<FilterChipProps, 'field' | 'values' | 'change'> {
  close: () => void
}

function Values({ field, values, change, close }: ValuesProps) {
  const [typed, setTyped] = useState('')
  const text = typed.trim()
  const combobox = useCombobox({ opened: true })
  const { found, isFetching, hasMore } = useChoices(field, text)
  const isTypedOffered = field.takesTyped?.(text) && !found.some(({ value }) => value === text)
  const toggle = (value: string) => {
    // A new filter mostly has one value; who opens it again adds others.
    if (!isListFilter(field.name) || values.length === 0) {
      change([value])
      close()
    } else {
      change(values.includes(value) ? values.filter((each) => each !== value) : [...values, value])
      setTyped('')
    }
  }
  // Chosen values that are not in the list stay visible, so that they can be removed.
  const chosenElsewhere = values.filter((value) => !isId(value) && !found.some((choice) => choice.value === value))
  // Values chosen when the list opened come first; the order does not change while choosing.
  const [first] = useState(values)
  const [above, below] = [true, false].map((isFirst) => found.filter(({ value }) => first.includes(value) === isFirst))
  const listed = [...above!, ...below!].slice(0, LISTED)
  const shown: Choice[] =
    text === '' ? [...chosenElsewhere.map((value) => ({ value, label: value })), ...listed] : listed
  return (
    <Combobox store={combobox} onOptionSubmit={toggle}>
      <Combobox.EventsTarget>
        <TextInput
          size="xs"
          data-autofocus
          aria-label={`${field.title}: search`}
          placeholder={field.placeholder ?? 'Search'}
          value={typed}
          onChange={(event) => {
            setTyped(event.currentTarget.value)
            combobox.selectFirstOption()
          }}
          rightSection={isFetching ? <Loader size={12} /> : null}
        />
      </Combobox.EventsTarget>
      <Combobox.Options
        className={classes.values}
        aria-label={field.title}
        aria-busy={isFetching}
        mah={280}
        mt={4}
        tabIndex={0}
      >
        {isTypedOffered && <Option value={text} label={`“${text}”`} isChosen={values.includes(text)} />}
        {shown.map(({ value, label, detail }) => (
          <Option key={value} value={value} label={label} detail={detail} isChosen={values.includes(value)} />
        ))}
        {shown.length === 0 && !isTypedOffered && !isFetching && (
          <Combobox.Empty>
            {field.takesTyped ? `Enter a value: ${field.placeholder ?? 'name'}` : 'No results'}
          </Combobox.Empty>
        )}
      </Combobox.Options>
      {hasMore && <Combobox.Footer fz="xs">{TYPE_FOR_MORE}</Combobox.Footer>}
    </Combobox>
  )
}

const Option = ({ value, label, detail, isChosen }: Choice & { isChosen: boolean }) => (
  <Combobox.Option value={value} active={isChosen} aria-selected={isChosen}>
    <Group gap={6} wrap="nowrap">
      <IconCheck size={14} className={classes.check} data-chosen={isChosen || undefined} aria-hidden />
      <Text size="sm" truncate flex={1}>
        <bdi>{label}</bdi>
      </Text>
      {detail && (
        <Caption truncate maw={110}>
          <bdi>{detail}</bdi>
        </Caption>
      )}
    </Group>
  </Combobox.Option>
)
