/** The key figures of the usage that is shared with a viewer. */
import { Paper, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { addressOf } from '../../address.ts'
import { counted } from '../../format/counts.ts'
import { FigureLink } from '../../parts/figure-link.tsx'
import { Count } from '../../parts/figures.tsx'
import type { Period } from '../../parts/period.ts'
import { Caption, Note } from '../../parts/texts.tsx'
import classes from '../overview/overview.module.css'
import { Amounts, covered, Known, type Shared, showsMoney } from './amounts.tsx'
import { type Billed, usageQuery } from './usage-query.ts'

interface HeadlineProps {
  shared: Shared
  period: Period
  /** The period in the address. */
  name: string | undefined
}

const totalsQuery = (period: Period, billed: Billed) => usageQuery({ period, billed, bucket: 'all' })

/** What is billed and what is not, beside each other: an amount alone would seem to be that of all entries. */
export function Headline({ shared, period, name }: HeadlineProps) {
  const enabled = showsMoney(shared, 'amounts')
  const all = useQuery(totalsQuery(period, '')).data?.totals
  const billed = useQuery({ ...totalsQuery(period, 'true'), enabled }).data?.totals
  const unbilled = useQuery({ ...totalsQuery(period, 'false'), enabled }).data?.totals
  const entries = (count: number, of: Billed, shown: ReactNode) => (
    <FigureLink
      figure="entries"
      value={count}
      to={addressOf('/', { period: name, billed: of })}
      className={classes.cardLink}
    >
      {shown}
    </FigureLink>
  )
  return (
    <div className={classes.headline}>
      {enabled && (
        <>
          <Card title="Billed, before tax" caption={billed && amountsCaption(billed)}>
            {billed && entries(billed.entries, 'true', <Amounts of={billed.amounts} />)}
          </Card>
          <Card title="Not billed" caption={unbilled && <>{<Count value={unbilled.tokens.total} />} tokens</>}>
            {unbilled && entries(unbilled.entries, 'false', counted(unbilled.entries, 'entry', 'entries'))}
          </Card>
        </>
      )}
      {showsMoney(shared, 'cost') && (
        <Card title="Cost" caption={all && `of ${covered(all.cost_entries, all.entries)}`}>
          {all && (
            <FigureLink
              figure="cost"
              value={all.cost}
              to={addressOf('/', { period: name })}
              className={classes.cardLink}
            >
              <Known amount={all.cost} />
            </FigureLink>
          )}
        </Card>
      )}
      {/* Below the others on phones, unless there are four. */}
      <Card
        title="Tokens"
        isWide={enabled && !showsMoney(shared, 'cost')}
        caption={all && counted(all.entries, 'entry', 'entries')}
      >
        {all && entries(all.entries, '', <Count value={all.tokens.total} />)}
      </Card>
    </div>
  )
}

interface CardProps {
  title: string
  isWide?: boolean
  caption: ReactNode
  children: ReactNode
}

const Card = ({ title, isWide, caption, children }: CardProps) => (
  <Paper withBorder className={classes.card} data-wide={isWide || undefined} role="group" aria-label={title}>
    <Note>{title}</Note>
    <div className={classes.figure}>{children ?? <Skeleton height={28} width={120} />}</div>
    <Caption mt={4}>{caption ?? <Skeleton height={16} width={90} />}</Caption>
  </Paper>
)

const amountsCaption = ({ entries, amount_entries }: { entries: number; amount_entries: number }) =>
  amount_entries < entries ? `for ${covered(amount_entries, entries)}` : counted(entries, 'entry', 'entries')
