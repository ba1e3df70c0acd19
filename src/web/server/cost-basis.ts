/** Which bases of cost a person may take, and which one counts: chosen in an address, or else that of the organization. Pure. */
import { COST_BASES, type CostBasis } from '../../shared/cost-basis.ts'
import { changedAddress } from '../address.ts'

/** Whether a role sees all entries, projects and bills. */
export const seesEverything = (role: string): boolean => role === 'billing' || role === 'admin'

interface Rights {
  person: { role: string }
  leads: boolean
  settings: { cost_basis: CostBasis; leads_see_fees: boolean }
}

/** Those that the person may take. */
export function basesFor({ person, leads, settings }: Rights): CostBasis[] {
  const seesFees = seesEverything(person.role) || (leads && settings.leads_see_fees)
  return COST_BASES.filter((basis) => basis !== 'allocated' || seesFees)
}

/** The one of those that the organization chose. */
export function usualBasis(me: Rights): CostBasis {
  const { cost_basis } = me.settings
  return basesFor(me).includes(cost_basis) ? cost_basis : 'cost'
}

/** In an address. */
export const readBasis = (values: string[]): CostBasis | undefined => COST_BASES.find((basis) => basis === values[0])

/** The one that counts if an address has this one, or none. */
export const basisFor = (me: Rights, chosen: CostBasis | undefined): CostBasis => chosen ?? usualBasis(me)

/** As a parameter of addresses, which do not depend on the settings of whoever opens them. */
export const basisInAddress = (basis: CostBasis, { cost_basis }: { cost_basis: CostBasis }): CostBasis | undefined =>
  basis === 'cost' && cost_basis === 'cost' ? undefined : basis

/** The address of a list of entries whose cost counts by a basis; other addresses as they are. */
export function onBasis(to: string, basis: CostBasis, settings: { cost_basis: CostBasis }): string {
  const [path, search = ''] = to.split('?')
  return path === '/entries' ? changedAddress(path, search, { basis: basisInAddress(basis, settings) }) : to
}
