/** The flag for the basis by which a command counts cost. */
import type { Command } from 'commander'
import { usualBasis } from '../../access/cost-basis.ts'
import type { QueryTexts } from '../../schema/query.ts'
import type { Services } from '../../services.ts'
import { BASIS_TITLES, COST_BASES, type CostBasis } from '../../shared/cost-basis.ts'
import type { Self } from '../with-services.ts'

export interface BasisFlags {
  basis?: string
}

export const addCostBasis = (command: Command): Command =>
  command.option('--basis <basis>', `what cost is: ${COST_BASES.join(', ')} (default: that of the organization)`)

/** As a parameter of the API, whose own default does not depend on the organization. */
export async function basisTexts(
  { db, organization }: Services,
  { viewer }: Self,
  { basis }: BasisFlags,
): Promise<QueryTexts> {
  return { basis: basis ?? (await usualBasis(db.read, viewer, await organization.settings())) }
}

/** The heading of a column of cost. */
export const costTitle = (basis: CostBasis): string => `${BASIS_TITLES[basis].toUpperCase()} (USD)`

/** What is shown instead of a cost that is unknown. */
export const UNKNOWN_COST: Record<CostBasis, string> = {
  cost: 'unpriced',
  list: 'unpriced',
  marginal: 'unknown',
  allocated: 'unknown',
}
