/** What the address of the overview contains. */
import { many, one, oneOf } from '../../address.ts'

export const OVERVIEW_ADDRESS = {
  period: one,
  client: many,
  project: many,
  by: oneOf('project', 'model', 'agent_manager'),
  measure: oneOf('cost', 'tokens'),
  bucket: one,
}
