import { TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { IconSearch } from '@tabler/icons-react'
import { useEffect, useState } from 'react'

interface SearchFieldProps {
  label: string
  /** The value in the URL. */
  value: string | undefined
  change: (text: string | undefined) => void
}

/** Debounce before the search. */
const PAUSE_MS = 250

/** Narrows the list below it; `/` focuses it. */
export function SearchField({ label, value, change }: SearchFieldProps) {
  const [text, setText] = useState(value ?? '')
  const search = useDebouncedCallback((typed: string) => change(typed.trim() || undefined), PAUSE_MS)
  // Going back and clearing the filters change the URL without typing.
  useEffect(() => setText((typed) => (typed.trim() === (value ?? '') ? typed : (value ?? ''))), [value])
  return (
    <TextInput
      type="search"
      aria-label={label}
      placeholder={label}
      leftSection={<IconSearch size={15} />}
      value={text}
      w={260}
      maw="100%"
      onChange={({ currentTarget }) => {
        setText(currentTarget.value)
        search(currentTarget.value)
      }}
    />
  )
}
