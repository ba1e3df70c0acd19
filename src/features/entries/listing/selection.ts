/** The entries that a bulk action applies to. */

import { Problem } from '../../../errors.ts'
import { type Id, isId } from '../../../lib/id.ts'
import type { EntryFilter } from '../../selection/contract.ts'
import { ACTION_LIMIT } from '../schema.ts'

/** Entries by their ids, or those that match a filter. */
export type Selection = { ids: readonly string[] } | { filter: EntryFilter }

/** A selected entry; `entry` is undefined if the id does not exist or is not visible to the caller. */
export interface Selected<Entry> {
  id: string
  entry: Entry | undefined
}

/** How to read the entries that the caller may see. */
interface Reading<Entry> {
  byFilter: (filter: EntryFilter, limit: number) => Promise<Entry[]>
  byIds: (ids: Id<'ent'>[]) => Promise<Entry[]>
  idOf: (entry: Entry) => string
}

function tooManyEntries(): Problem {
  return new Problem(
    'too_many_entries',
    `More than ${ACTION_LIMIT.toLocaleString('en')} entries match. Narrow the filters, for example with starting_at and ending_at, and process the entries in several calls.`,
  )
}

/** The selected entries without duplicates, in the order of the ids. Throws `too_many_entries` (422). */
export async function select<Entry>(
  selection: Selection,
  { byFilter, byIds, idOf }: Reading<Entry>,
): Promise<Selected<Entry>[]> {
  if ('filter' in selection) {
    const found = await byFilter(selection.filter, ACTION_LIMIT + 1)
    if (found.length > ACTION_LIMIT) throw tooManyEntries()
    return found.map((entry) => ({ id: idOf(entry), entry }))
  }
  const ids = [...new Set(selection.ids)]
  if (ids.length > ACTION_LIMIT) throw tooManyEntries()
  const found = await byIds(ids.filter((id) => isId('ent', id)))
  const byId = new Map(found.map((entry) => [idOf(entry), entry]))
  return ids.map((id) => ({ id, entry: byId.get(id) }))
}
