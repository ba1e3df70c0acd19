/**
 * Figures that lead to a list, and the totals of lists. Figures are in a link, or have its address as `data-to`. Both carry
 * their exact, unrounded value in the page, so that a test can follow every figure and compare it with the total of its list
 * (`test/web/walks/pages.test.ts`). The link has the filters and the period of the request that the number is from; without a
 * status, the page of entries totals what reports count.
 */
import { Anchor, type AnchorProps } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { BASIS_TEXTS, type CostBasis } from '../../shared/cost-basis.ts'
import { onBasis } from '../server/cost-basis.ts'
import { useSettings } from '../server/me.ts'

/** What is counted. Money is in US dollars, unrounded; what is open of bills and of credit notes, in their currency. */
export type Figure =
  | 'entries'
  | 'cost'
  | 'list_value'
  | 'tokens'
  | 'sheets'
  | 'models'
  | 'tickets'
  | 'groups'
  | 'waiting'
  | 'drafts'
  | 'webhooks'
  | 'agents'
  | `open ${string}`
  | `credit ${string}`

const exactly = (value: number | null): string => (value === null ? 'unknown' : String(value))

/**
 * Attributes of an element that shows a figure inside of a link: `<span {...figure('cost', cost)}>`. Null is unknown, as
 * the cost of unpriced entries.
 */
export const figure = (of: Figure, value: number | null) => ({ 'data-figure': of, 'data-value': exactly(value) })

/** Attributes of an element that shows the total of a list: `<b {...total('entries', entries)}>`. */
export const total = (of: Figure, value: number | null) => ({ 'data-total': of, 'data-value': exactly(value) })

interface FigureLinkProps extends AnchorProps {
  figure: Figure
  /** Exact: what the list calculates, not what is shown. */
  value: number | null
  /** The list whose total it is, with the same filters and period. */
  to: string
  /** Of `cost`; `cost` where absent. The list counts by it, too. */
  basis?: CostBasis | undefined
  title?: string
  /** The figure as text, such as `<Money amount={cost} />`. */
  children: ReactNode
}

/** A figure as a link to the list whose total it is. */
export function FigureLink({ figure: of, value, to, basis = 'cost', title, children, ...anchor }: FigureLinkProps) {
  const settings = useSettings()
  const amount = of === 'cost' ? basis : of === 'list_value' ? 'list' : undefined
  return (
    <Anchor
      component={Link}
      href={of === 'cost' ? onBasis(to, basis, settings) : to}
      inherit
      title={[title ?? [], amount ? BASIS_TEXTS[amount] : []].flat().join('. ') || undefined}
      {...figure(of, value)}
      {...anchor}
    >
      {children}
    </Anchor>
  )
}
