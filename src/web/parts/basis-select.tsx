/** The control that chooses the basis by which a page counts cost. */
import { NativeSelect } from '@mantine/core'
import { BASIS_TITLES, COST_BASES, type CostBasis } from '../../shared/cost-basis.ts'
import { basesFor } from '../server/cost-basis.ts'
import { useMe } from '../server/me.ts'

interface BasisSelectProps {
  value: CostBasis
  change: (basis: CostBasis) => void
  /** Undefined where the control has no room for it. */
  label?: string
}

export function BasisSelect({ value, change, label }: BasisSelectProps) {
  const bases = basesFor(useMe())
  return (
    <NativeSelect
      size="xs"
      label={label}
      aria-label="Cost basis"
      data={(bases.includes(value) ? bases : COST_BASES).map((basis) => ({ value: basis, label: BASIS_TITLES[basis] }))}
      value={value}
      onChange={({ currentTarget }) => change(currentTarget.value as CostBasis)}
    />
  )
}
