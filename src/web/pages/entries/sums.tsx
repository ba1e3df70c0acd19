/** The totals of the filtered entries. */
import { Button, Group, Skeleton, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { ENTRY_FILTERS } from '../../../entry-filters.ts'
import { count, counted } from '../../format/counts.ts'
import { addDays, dayOf } from '../../format/moments.ts'
import type { EntryQuery } from '../../parts/entries/filters.ts'
import { Count, Money } from '../../parts/figures.tsx'
import { FIRST_DAY } from '../../parts/period.ts'
import { answer, apiUntil } from '../../server/api.ts'
import { asProblem } from '../../server/problem.ts'

const askSums = (query: EntryQuery, signal: AbortSignal) =>
  answer(
    apiUntil(signal).reports.usage.get({
      query: {
        // Every status: the totals match the list, which also shows statuses that reports leave out.
        status: [...ENTRY_FILTERS.status.values],
        starting_at: FIRST_DAY,
        // An agent's clock may be up to a day ahead.
        ending_at: addDays(dayOf(new Date(), 'UTC'), 2),
        ...query,
        bucket_width: 'all',
      },
    }),
  )

interface SumsOptions {
  /** Whether the totals may take long, as of a text search; then they are calculated only on request. */
  isLong: boolean
  refetchIntervalMs: number
}

export function useSums(query: EntryQuery, { isLong, refetchIntervalMs }: SumsOptions) {
  const key = JSON.stringify(query)
  const [requested, request] = useState<string>()
  const enabled = !isLong || requested === key
  const { data, error, isPlaceholderData } = useQuery({
    enabled,
    queryKey: ['reports', 'sums', query],
    queryFn: async ({ signal }) => (await askSums(query, signal)).totals,
    placeholderData: (before) => before,
    // A query that timed out would time out again.
    refetchInterval: ({ state }) => (state.error ? false : refetchIntervalMs),
  })
  return enabled ? { totals: data, error, isStale: isPlaceholderData } : { calculate: () => request(key) }
}

export function Sums({ sums: { totals, error, isStale, calculate } }: { sums: ReturnType<typeof useSums> }) {
  if (calculate) {
    return (
      <Button variant="subtle" size="compact-sm" onClick={calculate}>
        Calculate totals
      </Button>
    )
  }
  // The list shows any other error.
  if (error) {
    if (asProblem(error).code !== 'database_deadline') return null
    return (
      <Text size="sm" c="dimmed" role="status">
        Calculating the totals takes too long. Choose a shorter period or remove filters to see them.
      </Text>
    )
  }
  if (!totals) return <Skeleton height={22} width={420} maw="100%" />
  const unpriced = totals.unpriced_entries
  return (
    <Group
      gap="lg"
      style={{ rowGap: 0 }}
      role="status"
      aria-label="Totals of these entries"
      opacity={isStale ? 0.55 : 1}
    >
      <Sum of={totals.entries === 1 ? 'entry' : 'entries'}>{count(totals.entries)}</Sum>
      <Sum of="cost">{totals.cost === null ? '–' : <Money amount={totals.cost} />}</Sum>
      <Sum of="list value">{totals.list_value === null ? '–' : <Money amount={totals.list_value} />}</Sum>
      <Sum of="tokens">
        <Count value={totals.tokens.total} />
      </Sum>
      {unpriced > 0 && (
        <Text size="sm" c="dimmed">
          cost excludes {counted(unpriced, 'unpriced entry', 'unpriced entries')}
        </Text>
      )}
    </Group>
  )
}

const Sum = ({ of, children }: { of: string; children: ReactNode }) => (
  <Text size="sm" c="dimmed">
    <Text span fw={600} c="var(--mantine-color-text)">
      {children}
    </Text>{' '}
    {of}
  </Text>
)
