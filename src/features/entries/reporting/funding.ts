/** What pays for the entries of reports: steps of a plan, which read its state only. */
import type { SaidFunding } from '../../../database/schema/records.ts'
import { decide, fundingView } from '../funding/decided.ts'
import type { EntryView } from '../store.ts'
import type { RecordingState } from './state.ts'

/** The entry with what pays for it, by what was said and by the plans and rules as they are now. */
export function funded(state: RecordingState, view: EntryView, said: SaidFunding | null): EntryView {
  const decided = decide(state, view, said)
  const fundingId = decided && state.fundingOf(decided)
  if (fundingId === view.entry.fundingId) return view
  return { ...view, ...fundingView(decided), entry: { ...view.entry, fundingId } }
}
