/** Records changes of entries: in the history of each, and in the event log. */
import type { Tx } from '../../../database/database.ts'
import { recordEvents } from '../../events/service.ts'
import { eventsOfHistory } from './events.ts'
import { type Change, type HistoryRow, insertHistoryRows } from './store.ts'

/** Adds a row and an event for each of the entries. */
export async function recordHistory(
  tx: Tx,
  change: Change,
  rows: readonly Pick<HistoryRow, 'entryId' | 'details'>[],
): Promise<void> {
  const { for: represented } = change.by
  const acting = represented && { for: { id: represented.uid, name: represented.name } }
  const history = rows.map(({ entryId, details }) => ({
    entryId,
    details: acting ? { ...details, ...acting } : details,
    change,
  }))
  await insertHistoryRows(tx, history)
  await recordEvents(tx, eventsOfHistory(history), change.at)
}
