/** What the address of the overview contains. */
import { one, oneOf } from '../../address.ts'

export const OVERVIEW_ADDRESS = {
  period: one,
  by: oneOf('project', 'model', 'agent_manager'),
  measure: oneOf('cost', 'tokens'),
  bucket: one,
}
