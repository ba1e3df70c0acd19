import { Anchor } from '@mantine/core'
import { Link } from 'wouter'
import { Money } from '../../parts/figures.tsx'
import type { BillDocument } from './bill-body.ts'
import { entriesInWords } from './left-out-reasons.ts'

interface LeftOutSumProps {
  left: BillDocument['left_out']['unpriced']
  /** The list of these entries. */
  href: string
  isUnpriced?: boolean
}

/** The number and cost of entries that a bill leaves out, as a link to them. An unknown cost is not 0. */
export function LeftOutSum({ left, href, isUnpriced = false }: LeftOutSumProps) {
  const unpriced = isUnpriced ? left.entries : (left.unpriced_entries ?? 0)
  return (
    <Anchor component={Link} href={href} inherit c="inherit">
      {entriesInWords({ ...left, unpriced_entries: unpriced })}
      {unpriced < left.entries && (
        <>
          , <Money amount={left.cost} />
        </>
      )}
    </Anchor>
  )
}
