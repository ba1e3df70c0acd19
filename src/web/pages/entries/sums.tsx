/** What the filtered entries come to. */
import { Group, Skeleton, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { count, counted } from '../../format/counts.ts'
import { addDays, dayOf } from '../../format/moments.ts'
import type { EntryQuery } from '../../parts/entries/filters.ts'
import { Count, Money } from '../../parts/figures.tsx'
import { answer, api } from '../../server/api.ts'
import { asProblem } from '../../server/problem.ts'

/** Before there was any agent whose use could be reported. */
const EVER = '2000-01-01'

/** The list shows what reports leave out, and the sums are of the list. */
const ALL_STATUSES = ['submitted', 'draft', 'pending', 'approved', 'rejected', 'billed']

const askSums = (query: EntryQuery) =>
  answer(
    api.reports.usage.get({
      query: {
        status: ALL_STATUSES,
        starting_at: EVER,
        // An agent's clock may be up to a day ahead.
        ending_at: addDays(dayOf(new Date(), 'UTC'), 2),
        ...query,
        bucket_width: 'all',
      },
    }),
  )

export function useSums(query: EntryQuery, refetchIntervalMs: number) {
  return useQuery({
    queryKey: ['reports', 'sums', query],
    queryFn: async () => (await askSums(query)).totals,
    placeholderData: (before) => before,
    // What takes too long now does so the next time as well.
    refetchInterval: ({ state }) => (state.error ? false : refetchIntervalMs),
  })
}

export function Sums({ sums: { data: totals, error, isPlaceholderData } }: { sums: ReturnType<typeof useSums> }) {
  // Whatever else is wrong with the filters, the list says.
  if (error) {
    if (asProblem(error).code !== 'database_deadline') return null
    return (
      <Text size="sm" c="dimmed" role="status">
        The sums of these entries take too long. Choose a shorter period or fewer filters to see them.
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
      aria-label="Sums of these entries"
      opacity={isPlaceholderData ? 0.55 : 1}
    >
      <Sum of={totals.entries === 1 ? 'entry' : 'entries'}>{count(totals.entries)}</Sum>
      <Sum of="cost">{totals.cost === null ? '–' : <Money amount={totals.cost} />}</Sum>
      <Sum of="list value">{totals.list_value === null ? '–' : <Money amount={totals.list_value} />}</Sum>
      <Sum of="tokens">
        <Count value={totals.tokens.total} />
      </Sum>
      {unpriced > 0 && (
        <Text size="sm" c="dimmed">
          without {counted(unpriced, 'entry', 'entries')} of unknown cost
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
