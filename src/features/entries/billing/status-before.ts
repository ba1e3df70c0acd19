/** What entries are while their bill is being sent or voided in portions: to everyone else, what they were before. */
import type { Reader } from '../../../database/database.ts'
import { portionsOf } from '../../../database/portions.ts'
import { type EntryView, getViews } from '../store.ts'
import { listStatusesBefore } from './store.ts'

/** The views, with the statuses from before a bill that is being sent or voided, in the same order. */
export async function withStatusesBefore(reader: Reader, views: EntryView[]): Promise<EntryView[]> {
  const claimed = views.filter(({ entry, bill }) => entry.billId !== null && bill === null)
  if (claimed.length === 0) return views
  const before = new Map<number, EntryView>()
  for (const portion of portionsOf(claimed)) {
    const statuses = await listStatusesBefore(
      reader,
      portion.map(({ entry }) => entry.id),
    )
    const released = portion.filter(({ entry }) => !statuses.has(entry.id)).map(({ entry }) => entry.id)
    for (const view of await withStatusesBefore(reader, await getViews(reader, released)))
      before.set(view.entry.id, view)
    for (const view of portion) {
      const status = statuses.get(view.entry.id)
      if (status) before.set(view.entry.id, { ...view, entry: { ...view.entry, status } })
    }
  }
  return views.map((view) => before.get(view.entry.id) ?? view)
}
