/** What a thing used in a period, each figure with its entries. */
import { Paper, SimpleGrid, Skeleton } from '@mantine/core'
import type { CostBasis } from '../../../shared/cost-basis.ts'
import { addressOf } from '../../address.ts'
import { counted, roughCount } from '../../format/counts.ts'
import type { EntryQuery } from '../../parts/entries/filters.ts'
import { FigureLink } from '../../parts/figure-link.tsx'
import { Count, Money } from '../../parts/figures.tsx'
import { ownPeriod, type Period } from '../../parts/period.ts'
import { Caption } from '../../parts/texts.tsx'
import { Change } from '../../parts/usage/change.tsx'
import { measureOf } from '../../parts/usage/measures.ts'
import type { Totals } from '../../parts/usage/usage.ts'
import classes from './things.module.css'
import type { UsagePeriod } from './usage-period.ts'

const FIGURES = ['cost', 'list_value', 'tokens', 'entries'] as const

const KINDS = [
  ['input', 'input'],
  ['output', 'output'],
  ['cache_read', 'cache read'],
  ['cache_write', 'cache write'],
  ['cache_write_1h', 'cache write (1 h)'],
] as const

/** "1.2M input · 30k output · 12M cache read": together they are the total. */
const kindsInWords = (tokens: Totals['tokens']): string =>
  KINDS.filter(([kind]) => tokens[kind] > 0)
    .map(([kind, title]) => `${roughCount(tokens[kind])} ${title}`)
    .join(' · ')

const unknownOn = (basis: CostBasis): EntryQuery => (basis === 'cost' ? { priced: 'false' } : { unknown_cost: [basis] })

interface ThingTotalsProps {
  filter: EntryQuery
  basis: CostBasis
  period: UsagePeriod
  totals: Totals | undefined
  /** Of the period before; absent where there is none to compare with. */
  before?: { period: Period; totals: Totals | undefined } | undefined
  isStale: boolean
}

export function ThingTotals({ filter, basis, period, totals, before, isStale }: ThingTotalsProps) {
  const of = { ...filter, period: period.name }
  if (!totals) return <Skeleton height={76} />
  return (
    <SimpleGrid cols={{ base: 2, md: 4 }} spacing="sm" opacity={isStale ? 0.55 : 1}>
      {FIGURES.map((name) => {
        const { title, of: figureOf, unit } = measureOf(name, basis)
        const value = figureOf(totals)
        return (
          <Paper key={title} withBorder p="sm" role="group" aria-label={title}>
            <Caption>{title}</Caption>
            <div className={classes.figure}>
              <FigureLink figure={name} value={value} basis={basis} to={addressOf('/entries', of)}>
                {unit === 'count' ? (
                  <Count value={value ?? 0} />
                ) : totals.entries === 0 ? (
                  '–'
                ) : (
                  <Money amount={value} />
                )}
              </FigureLink>
            </div>
            {before && (
              <Change
                figure={name}
                basis={basis}
                isCost={unit === 'money'}
                now={value}
                before={before.totals && figureOf(before.totals)}
                period={before.period}
                to={addressOf('/entries', { ...filter, period: ownPeriod(before.period) })}
              />
            )}
            {name === 'tokens' && totals.tokens.total > 0 && <Caption mt={4}>{kindsInWords(totals.tokens)}</Caption>}
            {name === 'cost' && totals.unpriced_entries > 0 && (
              <FigureLink
                figure="entries"
                value={totals.unpriced_entries}
                to={addressOf('/entries', { ...of, ...unknownOn(basis) })}
                fz="xs"
                display="block"
              >
                {counted(totals.unpriced_entries, 'entry', 'entries')}{' '}
                {basis === 'cost' ? 'without a price' : 'of unknown cost'}
              </FigureLink>
            )}
          </Paper>
        )
      })}
    </SimpleGrid>
  )
}
