/** A field for several people: those known by their names, new ones by their e-mail addresses. */
import { TagsInput, type TagsInputProps } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { apiQuery } from '../server/api.ts'
import { useRole } from '../server/me.ts'
import { OFFERED } from './pickers.tsx'

/** Debounce before people are searched. */
const PAUSE_MS = 180

type People = { id: string; name: string }[]

export const namesOf = (people: People | undefined): string[] => (people ?? []).map(({ name }) => name)

/** What the API takes for the texts of the field: the ids of known people, the e-mail addresses of others. */
export function peopleOf(texts: string[], known: People | undefined): string[] {
  const ids = new Map(known?.map(({ id, name }) => [name, id]))
  return texts.map((text) => ids.get(text) ?? text)
}

/** Issues with one person are shown at the field that lists them all. */
export function issueFieldsOf(name: string, people: string[]): Record<string, string> {
  return Object.fromEntries(people.map((_, index) => [`/${name}/${index}`, name]))
}

export function PeopleField(props: Omit<TagsInputProps, 'data' | 'searchValue' | 'onSearchChange'>) {
  const seesPeople = useRole('admin')
  const [typed, setTyped] = useState('')
  const [search] = useDebouncedValue(typed.trim(), PAUSE_MS)
  const { data } = useQuery({
    ...apiQuery(['users', 'offered', search], (api) => api.users.get({ query: { search, limit: String(OFFERED) } })),
    enabled: seesPeople && search !== '',
    placeholderData: (before) => before,
  })
  return (
    <TagsInput
      // Suggested only while typing: an open list would cover the button below.
      data={typed === '' ? [] : (data?.data.map(({ email }) => email) ?? [])}
      searchValue={typed}
      onSearchChange={setTyped}
      placeholder={props.value?.length === 0 ? 'ada@example.com' : undefined}
      {...props}
    />
  )
}
