/** The parameters of a list of entries beside its filters. */

import { momentParameter, parameter } from '../../../operations/parameters.ts'
import { LIST_ORDERS, LIST_SORTS } from '../../selection/contract.ts'
import { costBasis } from '../../selection/parameters.ts'

export const listOrder = () => ({
  sort: parameter({
    type: 'string',
    enum: [...LIST_SORTS],
    description:
      'What the list is sorted by; `started_at` by default. Entries without the amount are last in both orders: those whose cost is unknown on the `basis` by `cost`, unpriced ones by `list_value`, those without a reported cost by `reported_cost`. Sorted by anything but `started_at`, a list has no export, and with `q`, `bill`, `cost_mismatch`, `long_context`, `without_base_price` or `price_load`, and while reports are being prepared, at most 1,000,000 entries in its period.',
  }),
  order: parameter({
    type: 'string',
    enum: [...LIST_ORDERS],
    description: '`desc`, the default, lists the newest or largest first, `asc` the oldest or smallest.',
  }),
  basis: costBasis(),
  updated_since: momentParameter(
    'Lists what changed since this moment instead, in the order of change: see the description of the operation. With a `page`, the moment no longer matters.',
  ),
})
