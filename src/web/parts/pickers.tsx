/** Search fields to choose a project, ticket, client or person. */
import { Combobox, InputBase, Loader, Text, useCombobox } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { answer, apiUntil } from '../server/api.ts'
import type { Part } from '../server/queries.ts'
import { projectLabel } from './project-label.ts'
import { Caption } from './texts.tsx'

/** A choice: the value for the API, and its label. */
export interface Choice {
  value: string
  label: string
  /** Distinguishes choices with the same label. */
  detail?: string | null
}

interface PickerProps {
  label?: ReactNode
  /** The accessible name if there is no label. */
  'aria-label'?: string
  value: Choice | null
  change: (choice: Choice | null) => void
  placeholder?: string
  description?: ReactNode
  error?: ReactNode
  required?: boolean
  disabled?: boolean
  /** Offers to create what was typed: `Create “ACME”`. */
  offerNew?: (typed: string) => Choice
}

interface SearchPickerProps extends PickerProps {
  part: Part
  /** Without a text, the choices that are offered first. */
  search: (text: string | undefined, signal: AbortSignal) => Promise<Choice[]>
  /** What the search is narrowed to; part of the query key. */
  within?: string | undefined
}

/** Debounce before the search. */
const PAUSE_MS = 180

/** The number of choices offered; typing narrows them. */
export const OFFERED = 30

/** Below a list that does not show all choices. */
export const TYPE_FOR_MORE = 'Type to find others'

function SearchPicker({ part, search, within, value, change, offerNew, ...field }: SearchPickerProps) {
  const [typed, setTyped] = useState<string | null>(null)
  const [settled] = useDebouncedValue(typed ?? '', PAUSE_MS)
  const combobox = useCombobox({
    onDropdownClose: () => {
      combobox.resetSelectedOption()
      setTyped(null)
    },
  })
  const { data, isFetching } = useQuery({
    queryKey: [part, 'picker', field.label, within, settled],
    queryFn: ({ signal }) => search(settled.trim() || undefined, signal),
    enabled: combobox.dropdownOpened,
    placeholderData: (before) => before,
  })
  const options = data ?? []
  const text = (typed ?? '').trim()
  const isNew = offerNew && text !== '' && !options.some(({ label }) => label.toLowerCase() === text.toLowerCase())
  const submit = (chosen: string) => {
    change(chosen === NEW ? offerNew!(text) : (options.find((option) => option.value === chosen) ?? null))
    combobox.closeDropdown()
  }
  return (
    <Combobox store={combobox} onOptionSubmit={submit}>
      <Combobox.Target>
        <InputBase
          {...field}
          value={typed ?? value?.label ?? ''}
          onChange={(event) => {
            setTyped(event.currentTarget.value)
            combobox.openDropdown()
            combobox.updateSelectedOptionIndex()
            if (event.currentTarget.value === '') change(null)
          }}
          onClick={() => combobox.openDropdown()}
          onFocus={() => combobox.openDropdown()}
          onBlur={() => combobox.closeDropdown()}
          rightSection={isFetching ? <Loader size={14} /> : <Combobox.Chevron />}
          rightSectionPointerEvents="none"
        />
      </Combobox.Target>
      <Combobox.Dropdown>
        {/* Busy: without options, as long as they are not there. */}
        <Combobox.Options
          mah={260}
          style={{ overflowY: 'auto' }}
          aria-label="Choices"
          aria-busy={isFetching}
          tabIndex={0}
        >
          {options.map(({ value: option, label, detail }) => (
            <Combobox.Option key={option} value={option} active={option === value?.value}>
              <Text size="sm" truncate>
                {label}
              </Text>
              {detail && <Caption truncate>{detail}</Caption>}
            </Combobox.Option>
          ))}
          {isNew && <Combobox.Option value={NEW}>Create “{text}”</Combobox.Option>}
          {options.length === 0 && !isNew && (
            <Combobox.Empty>{isFetching ? 'Searching…' : 'No results'}</Combobox.Empty>
          )}
        </Combobox.Options>
        {options.length >= OFFERED && <Combobox.Footer fz="xs">{TYPE_FOR_MORE}</Combobox.Footer>}
      </Combobox.Dropdown>
    </Combobox>
  )
}

/** Not a valid id. */
const NEW = '+'

/** Projects led by one person, or all projects. */
export const ProjectPicker = ({ lead, ...props }: PickerProps & { lead?: string | undefined }) => (
  <SearchPicker
    {...props}
    part="projects"
    within={lead}
    search={async (search, signal) => {
      const query = { search, limit: String(OFFERED), ...(lead === undefined ? {} : { lead: [lead] }) }
      const { data } = await answer(apiUntil(signal).projects.get({ query }))
      return data.map(({ id, key, name, client }) => ({
        value: id,
        label: projectLabel({ key, name }),
        detail: client?.name ?? null,
      }))
    }}
  />
)

/** Tickets of one project, or all tickets. */
export const TicketPicker = ({ project, ...props }: PickerProps & { project?: string | undefined }) => (
  <SearchPicker
    {...props}
    part="tickets"
    within={project}
    search={async (search, signal) => {
      const query = { search, limit: String(OFFERED), ...(project === undefined ? {} : { project: [project] }) }
      const { data } = await answer(apiUntil(signal).tickets.get({ query }))
      return data.map(({ id, key, title, project }) => ({
        value: id,
        label: key,
        detail: [title, project?.key].filter(Boolean).join(' · ') || null,
      }))
    }}
  />
)

export const ClientPicker = (props: PickerProps) => (
  <SearchPicker
    {...props}
    part="clients"
    search={async (search, signal) => {
      const { data } = await answer(apiUntil(signal).clients.get({ query: { search, limit: String(OFFERED) } }))
      return data.map(({ id, name }) => ({ value: id, label: name }))
    }}
  />
)

/** For admins only: others cannot list people. */
export const PersonPicker = (props: PickerProps) => (
  <SearchPicker
    {...props}
    part="users"
    search={async (search, signal) => {
      const { data } = await answer(apiUntil(signal).users.get({ query: { search, limit: String(OFFERED) } }))
      return data.map(({ id, name, email }) => ({ value: id, label: name, detail: email }))
    }}
  />
)
