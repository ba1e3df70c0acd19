/** The basis by which a page counts cost: chosen in its address, or else that of the organization. */
import { NativeSelect } from '@mantine/core'
import { BASIS_TITLES, COST_BASES, type CostBasis } from '../../shared/cost-basis.ts'
import { changedAddress } from '../address.ts'
import { basesFor, type Me, useMe, usualBasis } from '../server/me.ts'

/** In an address. */
export const readBasis = (values: string[]): CostBasis | undefined => COST_BASES.find((basis) => basis === values[0])

/** The one that counts if an address has this one, or none. */
export const basisFor = (me: Me, chosen: CostBasis | undefined): CostBasis => chosen ?? usualBasis(me)

/** As a parameter of addresses, which do not depend on the settings of whoever opens them. */
export const basisInAddress = (
  basis: CostBasis,
  { cost_basis }: Pick<Me['settings'], 'cost_basis'>,
): CostBasis | undefined => (basis === 'cost' && cost_basis === 'cost' ? undefined : basis)

/** The address of a list of entries whose cost counts by a basis; other addresses as they are. */
export function onBasis(to: string, basis: CostBasis, settings: Me['settings']): string {
  const [path, search = ''] = to.split('?')
  return path === '/entries' ? changedAddress(path, search, { basis: basisInAddress(basis, settings) }) : to
}

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
