/** What the addresses of the overview and of the reports contain. */
import { one, oneOf } from '../../address.ts'
import { SORTS } from './groups.ts'
import { DIMENSIONS } from './usage.ts'

export const OVERVIEW_ADDRESS = {
  period: one,
  by: oneOf('project', 'model', 'agent_manager'),
  measure: oneOf('cost', 'tokens'),
  bucket: one,
}

export const REPORTS_ADDRESS = {
  period: one,
  by: oneOf(...DIMENSIONS),
  sort: oneOf(...SORTS),
  order: oneOf('desc', 'asc'),
  search: one,
}
