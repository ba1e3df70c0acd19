/** How a figure has changed since the previous period, whose own figure leads to its entries. */
import { Skeleton } from '@mantine/core'
import { IconArrowDownRight, IconArrowUpRight } from '@tabler/icons-react'
import type { CostBasis } from '../../../shared/cost-basis.ts'
import { type Figure, FigureLink } from '../figure-link.tsx'
import { type Period, periodInWords } from '../period.ts'
import { Caption } from '../texts.tsx'
import classes from './change.module.css'
import { changeInWords } from './change-words.ts'

interface ChangeProps {
  figure: Figure
  basis?: CostBasis
  /** More cost is never good, and less is not always: notably more is a warning, everything else is neutral. */
  isCost: boolean
  /** Null if it is unknown; undefined while it is loading. */
  now: number | null | undefined
  before: number | null | undefined
  /** The previous one, and the list of its entries. */
  period: Period
  to: string
  className?: string | undefined
}

export function Change({ figure, basis, isCost, now, before, period, to, className }: ChangeProps) {
  if (now === undefined || before === undefined) return <Skeleton height={16} width={90} mt={4} />
  const { change, isNotable, comparison } = changeInWords(now, before)
  const Arrow = now! > before! ? IconArrowUpRight : IconArrowDownRight
  return (
    <Caption mt={4}>
      {change === undefined ? (
        comparison
      ) : (
        <>
          <b className={classes.change} data-warning={(isNotable && isCost) || undefined}>
            <Arrow size={14} aria-hidden /> {change}
          </b>{' '}
          <FigureLink
            figure={figure}
            value={before}
            basis={basis}
            to={to}
            title={periodInWords(period)}
            className={className}
          >
            {comparison}
          </FigureLink>
        </>
      )}
    </Caption>
  )
}
