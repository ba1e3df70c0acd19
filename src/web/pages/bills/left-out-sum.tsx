import { Anchor } from '@mantine/core'
import { Link } from 'wouter'
import type { CostBasis } from '../../../shared/cost-basis.ts'
import { figure } from '../../parts/figure-link.tsx'
import { Money } from '../../parts/figures.tsx'
import type { BillDocument } from './bill-body.ts'
import { entriesInWords } from './left-out-reasons.ts'

interface LeftOutSumProps {
  left: BillDocument['left_out']['unpriced']
  /** The list of these entries. */
  href: string
  isUnpriced?: boolean
  /** Of the bill. */
  basis?: CostBasis | undefined
}

/** The number and cost of entries that a bill leaves out, as a link to them. An unknown cost is not 0. */
export function LeftOutSum({ left, href, isUnpriced = false, basis }: LeftOutSumProps) {
  const unpriced = isUnpriced ? left.entries : (left.unpriced_entries ?? 0)
  return (
    <Anchor component={Link} href={href} inherit>
      <span {...figure('entries', left.entries)}>{entriesInWords({ ...left, unpriced_entries: unpriced, basis })}</span>
      {unpriced < left.entries && (
        <>
          , {/* Of entries without a price, the list has no total. */}
          <span {...(unpriced === 0 && figure('cost', left.cost))}>
            <Money amount={left.cost} />
          </span>
        </>
      )}
    </Anchor>
  )
}
