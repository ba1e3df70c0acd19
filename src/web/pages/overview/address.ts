/** What the address of the overview contains. */
import { many, one, oneOf } from '../../address.ts'
import { readBasis } from '../../parts/cost-basis.tsx'

export const OVERVIEW_ADDRESS = {
  period: one,
  client: many,
  project: many,
  by: oneOf('project', 'model', 'agent_manager'),
  measure: oneOf('cost', 'tokens'),
  basis: readBasis,
  bucket: one,
}
