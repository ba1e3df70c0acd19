import { timestampOrNull } from '../../../lib/duration.ts'
import { moneyNumber } from '../../../lib/money.ts'
import type { FundingPreviewBody } from '../../funding/schema.ts'
import type { FundingPreview, FundingSide } from './redecision.ts'

export function previewBody({ changes, lockedEntries, searchedTo }: FundingPreview): FundingPreviewBody {
  return {
    changes: changes
      .toSorted((one, other) => other.entries - one.entries)
      .map(({ from, to, entries, costNanos, unpricedEntries }) => ({
        from: sideBody(from),
        to: sideBody(to),
        entries,
        cost: moneyNumber(costNanos),
        unpriced_entries: unpricedEntries,
      })),
    entries: changes.reduce((sum, { entries }) => sum + entries, 0),
    locked_entries: lockedEntries,
    searched_to: timestampOrNull(searchedTo),
  }
}

function sideBody({ funding, plan }: FundingSide): FundingPreviewBody['changes'][number]['from'] {
  return { funding, plan: plan && { id: plan.uid, name: plan.name } }
}
