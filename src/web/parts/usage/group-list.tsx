/** The largest groups of some usage, each with its amount and share. */
import { Anchor, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { CostBasis } from '../../../shared/cost-basis.ts'
import { FigureLink } from '../figure-link.tsx'
import { Count, Money } from '../figures.tsx'
import classes from './group-list.module.css'
import { ShareBar } from './share-bar.tsx'
import type { Figures } from './usage.ts'

export const GroupList = ({ children }: { children: ReactNode }) => <ol className={classes.groups}>{children}</ol>

interface GroupLineProps {
  label: string
  figures: Pick<Figures, 'cost' | 'tokens'>
  measure: 'cost' | 'tokens'
  basis?: CostBasis
  /** Of 1. */
  share: number
  /** The page of the thing that the group is of, if it has one. */
  page: string | undefined
  /** The list of its entries; undefined if no filter selects them. */
  entries: string | undefined
}

export function GroupLine({ label, figures, measure, basis, share, page, entries }: GroupLineProps) {
  const name = <bdi>{label}</bdi>
  const value = measure === 'cost' ? figures.cost : figures.tokens.total
  const amount = measure === 'cost' ? <Money amount={value} /> : <Count value={figures.tokens.total} />
  const href = page ?? entries
  return (
    <li>
      {href === undefined ? (
        <Text span size="sm" truncate>
          {name}
        </Text>
      ) : (
        <Anchor component={Link} href={href} size="sm" truncate>
          {name}
        </Anchor>
      )}
      <Text span size="sm">
        {entries === undefined ? (
          amount
        ) : (
          <FigureLink figure={measure} value={value} basis={basis} to={entries}>
            {amount}
          </FigureLink>
        )}
      </Text>
      <ShareBar share={share} aria-hidden />
    </li>
  )
}
