/**
 * The totals of the filtered entries: what reports count of the same period and filters. Entries in the list that reports
 * leave out are named beside them.
 */
import { Button, Group, Skeleton, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Fragment, type ReactNode, useState } from 'react'
import { addressOf } from '../../address.ts'
import { count, counted } from '../../format/counts.ts'
import type { EntryQuery, Filters } from '../../parts/entries/filters.ts'
import { FigureLink, total } from '../../parts/figure-link.tsx'
import { Count, Money } from '../../parts/figures.tsx'
import { Note } from '../../parts/texts.tsx'
import { asProblem } from '../../server/problem.ts'
import { listTotalsQuery, uncountedQuery } from './entry-sums.ts'

interface SumsOptions {
  /** Whether the totals may take long, as of a text search; then they are calculated only on request. */
  isLong: boolean
}

export function useSums(query: EntryQuery, { isLong }: SumsOptions) {
  const key = JSON.stringify(query)
  const [requested, request] = useState<string>()
  const enabled = !isLong || requested === key
  const shared = { placeholderData: <Data,>(before: Data | undefined) => before }
  const { data, error, isPlaceholderData } = useQuery({
    ...shared,
    ...listTotalsQuery(query),
    enabled,
  })
  // The totals of chosen statuses leave nothing out.
  const leavesOut = query.status === undefined
  const uncounted = useQuery({
    ...shared,
    ...uncountedQuery(query),
    enabled: enabled && leavesOut,
  })
  if (!enabled) return { calculate: () => request(key) }
  return {
    totals: data,
    uncounted: leavesOut ? uncounted.data : NOTHING_UNCOUNTED,
    error,
    isStale: isPlaceholderData,
  }
}

const NOTHING_UNCOUNTED = { entries: 0, parts: [] }

/** How many entries the list has; undefined until that is known. */
export function listedBy({ totals, uncounted }: ReturnType<typeof useSums>): number | undefined {
  return totals && uncounted && totals.entries + uncounted.entries
}

interface SumsProps {
  sums: ReturnType<typeof useSums>
  /** As in the URL, for links that narrow them. */
  filters: Partial<Filters>
}

export function Sums({ sums: { totals, uncounted, error, isStale, calculate }, filters }: SumsProps) {
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
      <Note role="status">
        Calculating the totals takes too long. Choose a shorter period or remove filters to see them.
      </Note>
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
      <Sum of={totals.entries === 1 ? 'entry' : 'entries'} exactly={total('entries', totals.entries)}>
        {count(totals.entries)}
      </Sum>
      <Sum of="cost" exactly={total('cost', totals.cost)}>
        {totals.cost === null ? '–' : <Money amount={totals.cost} />}
      </Sum>
      <Sum of="list value" exactly={total('list_value', totals.list_value)}>
        {totals.list_value === null ? '–' : <Money amount={totals.list_value} />}
      </Sum>
      <Sum of="tokens" exactly={total('tokens', totals.tokens.total)}>
        <Count value={totals.tokens.total} />
      </Sum>
      {unpriced > 0 && (
        <Note>
          cost excludes{' '}
          <FigureLink figure="entries" value={unpriced} to={addressOf('/entries', { ...filters, priced: 'false' })}>
            {counted(unpriced, 'unpriced entry', 'unpriced entries')}
          </FigureLink>
        </Note>
      )}
      {uncounted && uncounted.parts.length > 0 && (
        <Note>
          not counted:{' '}
          {uncounted.parts.map(({ statuses, words, entries }, index) => (
            <Fragment key={words}>
              {index > 0 && ', '}
              <FigureLink figure="entries" value={entries} to={addressOf('/entries', { ...filters, status: statuses })}>
                {count(entries)} {words}
              </FigureLink>
            </Fragment>
          ))}
        </Note>
      )}
    </Group>
  )
}

interface SumProps {
  of: string
  exactly: ReturnType<typeof total>
  children: ReactNode
}

const Sum = ({ of, exactly, children }: SumProps) => (
  <Note>
    <Text span fw={600} c="var(--mantine-color-text)" {...exactly}>
      {children}
    </Text>{' '}
    {of}
  </Note>
)
