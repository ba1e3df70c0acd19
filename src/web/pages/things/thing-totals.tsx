/** What a thing used in a period, each figure with its entries. */
import { Paper, SimpleGrid, Skeleton } from '@mantine/core'
import type { ReactNode } from 'react'
import { addressOf } from '../../address.ts'
import { counted } from '../../format/counts.ts'
import type { EntryQuery } from '../../parts/entries/filters.ts'
import { FigureLink } from '../../parts/figure-link.tsx'
import { Count, Money } from '../../parts/figures.tsx'
import { Caption } from '../../parts/texts.tsx'
import type { Totals } from '../../parts/usage/usage.ts'
import classes from './things.module.css'
import type { UsagePeriod } from './usage-period.ts'

interface ThingTotalsProps {
  filter: EntryQuery
  period: UsagePeriod
  totals: Totals | undefined
  isStale: boolean
}

export function ThingTotals({ filter, period, totals, isStale }: ThingTotalsProps) {
  const of = { ...filter, period: period.name }
  const to = addressOf('/entries', of)
  if (!totals) return <Skeleton height={76} />
  const { cost, list_value, tokens, entries, unpriced_entries } = totals
  return (
    <SimpleGrid cols={{ base: 2, md: 4 }} spacing="sm" opacity={isStale ? 0.55 : 1}>
      <Card title="Cost">
        <FigureLink figure="cost" value={cost} to={to}>
          {entries === 0 ? '–' : <Money amount={cost} />}
        </FigureLink>
        {unpriced_entries > 0 && (
          <FigureLink
            figure="entries"
            value={unpriced_entries}
            to={addressOf('/entries', { ...of, priced: 'false' })}
            fz="xs"
            display="block"
          >
            {counted(unpriced_entries, 'entry', 'entries')} without a price
          </FigureLink>
        )}
      </Card>
      <Card title="List value">
        <FigureLink figure="list_value" value={list_value} to={to}>
          {entries === 0 ? '–' : <Money amount={list_value} />}
        </FigureLink>
      </Card>
      <Card title="Tokens">
        <FigureLink figure="tokens" value={tokens.total} to={to}>
          <Count value={tokens.total} />
        </FigureLink>
      </Card>
      <Card title="Entries">
        <FigureLink figure="entries" value={entries} to={to}>
          <Count value={entries} />
        </FigureLink>
      </Card>
    </SimpleGrid>
  )
}

const Card = ({ title, children }: { title: string; children: ReactNode }) => (
  <Paper withBorder p="sm">
    <Caption>{title}</Caption>
    <div className={classes.figure}>{children}</div>
  </Paper>
)
