import { Autocomplete, type AutocompleteProps } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { answer, apiUntil } from '../server/api.ts'
import { OFFERED } from './pickers.tsx'

/** Debounce before the price table is searched. */
const PAUSE_MS = 200

/** A model name, with suggestions from the price table, models in use first. */
export function ModelInput(props: Omit<AutocompleteProps, 'data'>) {
  const [search] = useDebouncedValue(String(props.value ?? '').trim(), PAUSE_MS)
  const { data } = useQuery({
    queryKey: ['prices', 'names', search],
    queryFn: async ({ signal }) => {
      const { data } = await answer(
        apiUntil(signal).prices.get({ query: { search, sort: 'model', order: 'asc', limit: String(OFFERED) } }),
      )
      return [...new Set(data.map(({ model }) => model))]
    },
    enabled: search !== '',
    placeholderData: (before) => before,
  })
  return <Autocomplete data={data ?? []} spellCheck={false} autoComplete="off" {...props} />
}
