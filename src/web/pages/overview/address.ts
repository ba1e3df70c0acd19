/** What the address of the overview contains. */
import { many, one, oneOf } from '../../address.ts'
import { readBasis } from '../../server/cost-basis.ts'

export const OVERVIEW_ADDRESS = {
  period: one,
  client: many,
  project: many,
  by: oneOf('project', 'model', 'agent_manager'),
  measure: oneOf('cost', 'tokens'),
  basis: readBasis,
  bucket: one,
}
