/** Who may count cost on which basis; nothing else decides it. */
import type { Reader } from '../database/database.ts'
import { Problem } from '../errors.ts'
import type { CostBasis } from '../shared/cost-basis.ts'
import { seesFees, type Viewer } from './visibility.ts'

interface Settings {
  costBasis: CostBasis
  leadsSeeFees: boolean
}

/** @throws 403 `fees_hidden` if the basis contains fees that the viewer does not see */
export async function requireBasis(
  reader: Reader,
  viewer: Viewer,
  basis: CostBasis,
  settings: Pick<Settings, 'leadsSeeFees'>,
): Promise<void> {
  if (basis !== 'allocated' || (await seesFees(reader, viewer, settings))) return
  const remedy = viewer.withoutFees ? 'create a token with the scope plans:read' : 'ask an admin'
  throw new Problem('fees_hidden', `Allocated cost shows what plans cost. Use basis=marginal, or ${remedy}.`)
}

/** The basis that pages, the command line and e-mails take where nobody chose one. */
export async function usualBasis(reader: Reader, viewer: Viewer, settings: Settings): Promise<CostBasis> {
  const { costBasis } = settings
  return costBasis === 'allocated' && !(await seesFees(reader, viewer, settings)) ? 'cost' : costBasis
}
