/**
 * The totals of the filtered entries: what reports count of the same period and filters. Entries in the list that reports
 * leave out are named beside them.
 */
import { Button, Group, Skeleton, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Fragment, type ReactNode, useState } from 'react'
import { BASIS_TEXTS, BASIS_TITLES, type CostBasis } from '../../../shared/cost-basis.ts'
import { addressOf } from '../../address.ts'
import { count, counted } from '../../format/counts.ts'
import type { EntryQuery, Filters } from '../../parts/entries/filters.ts'
import { FigureLink, total } from '../../parts/figure-link.tsx'
import { Count, Money } from '../../parts/figures.tsx'
import { Note } from '../../parts/texts.tsx'
import { basisInAddress } from '../../server/cost-basis.ts'
import { useSettings } from '../../server/me.ts'
import { asProblem } from '../../server/problem.ts'
import { listTotalsQuery, uncountedQuery } from './entry-sums.ts'

interface SumsOptions {
  /** Whether the totals may take long, as of a text search; then they are calculated only on request. */
  isLong: boolean
  basis: CostBasis
}

export function useSums(query: EntryQuery, { isLong, basis }: SumsOptions) {
  const key = JSON.stringify(query)
  const [requested, request] = useState<string>()
  const enabled = !isLong || requested === key
  const shared = { placeholderData: <Data,>(before: Data | undefined) => before }
  const { data, error, isPlaceholderData } = useQuery({
    ...shared,
    ...listTotalsQuery(query, basis),
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
  basis: CostBasis
}

export function Sums({ sums: { totals, uncounted, error, isStale, calculate }, filters, basis }: SumsProps) {
  const address = { ...filters, basis: basisInAddress(basis, useSettings()) }
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
      <Sum
        of={`${BASIS_TITLES[basis].toLowerCase()}${totals.provisional ? ' (provisional)' : ''}`}
        title={BASIS_TEXTS[basis]}
        exactly={total('cost', totals.cost)}
      >
        {totals.cost === null ? '–' : <Money amount={totals.cost} />}
      </Sum>
      {basis !== 'list' && (
        <Sum of="list value" title={BASIS_TEXTS.list} exactly={total('list_value', totals.list_value)}>
          {totals.list_value === null ? '–' : <Money amount={totals.list_value} />}
        </Sum>
      )}
      <Sum of="tokens" exactly={total('tokens', totals.tokens.total)}>
        <Count value={totals.tokens.total} />
      </Sum>
      {unpriced > 0 && (
        <Note>
          {BASIS_TITLES[basis].toLowerCase()} excludes{' '}
          <FigureLink
            figure="entries"
            value={unpriced}
            to={addressOf('/entries', {
              ...address,
              ...(basis === 'cost' ? { priced: 'false' } : { unknown_cost: [basis] }),
            })}
          >
            {basis === 'cost'
              ? counted(unpriced, 'unpriced entry', 'unpriced entries')
              : `${counted(unpriced, 'entry', 'entries')} without it`}
          </FigureLink>
        </Note>
      )}
      {uncounted && uncounted.parts.length > 0 && (
        <Note>
          not counted:{' '}
          {uncounted.parts.map(({ statuses, words, entries }, index) => (
            <Fragment key={words}>
              {index > 0 && ', '}
              <FigureLink figure="entries" value={entries} to={addressOf('/entries', { ...address, status: statuses })}>
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
  title?: string
  exactly: ReturnType<typeof total>
  children: ReactNode
}

const Sum = ({ of, title, exactly, children }: SumProps) => (
  <Note title={title}>
    <Text span fw={600} c="var(--mantine-color-text)" {...exactly}>
      {children}
    </Text>{' '}
    {of}
  </Note>
)
