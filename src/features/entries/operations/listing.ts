/** The list of entries, and what is read of one. */
import { fileFormat, fileResponse } from '../../../http/csv.ts'
import { EXPORT_CONTENT } from '../../../http/documentation.ts'
import { endpoint, operation, result } from '../../../operations/operation.ts'
import { listPage } from '../../../operations/parameters.ts'
import { entryFilters, entryFormat } from '../../selection/parameters.ts'
import type { SelectionService } from '../../selection/service.ts'
import { EXAMPLE_DETAIL, EXAMPLE_HISTORY, EXAMPLE_LISTED, pageOfEntry } from '../examples.ts'
import { listOrder } from '../listing/parameters.ts'
import { readListQuery, requireExportable } from '../listing/query.ts'
import { TokenEntryDetail, TokenEntryHistory, TokenEntryList } from '../schema.ts'
import type { EntriesService } from '../service.ts'

interface Needs {
  entries: EntriesService
  selection: SelectionService
}

const READING = { tag: 'Token entries', allow: ['read', 'session'], scope: 'entries:read' } as const

const params = { id: 'ID of the entry (ent_…).' }

const listTokenEntries = endpoint({
  ...READING,
  id: 'listTokenEntries',
  method: 'GET',
  path: '/token-entries',
  summary: 'List token entries',
  description:
    'Returns the entries visible to the signed-in person or the token’s creator, newest first unless `sort` or `order` say otherwise. Entries must match all given filters. A page of a filter that has no index, such as `q`, may end before it is full, even without an entry: `searched_to` then states how far the search got, and `next_page` continues it. A list that is sorted by a figure may change while you page through it: an entry whose figure changes moves. If sorting all of its entries would take too long, it begins with the latest ones, those from `searched_to` on, and the pages after them have earlier ones, sorted again. With `updated_since`, the list contains new entries, then changed ones in the order of their last change, each as it is now, and `deleted` names deleted drafts. Its `next_page` is never null: follow it while `has_more` is true, even if a page is empty, then keep it and continue from there the next time. No change is missed; an entry that changes again is listed again, and the first pages may contain changes from up to a minute before. An entry that you can no longer see, or that no longer matches the filters, is not listed. Begin again without `page` when you may see more than before, and after the database was restored from a backup: a `page` of a later state is refused.\n\nAs CSV or NDJSON (the objects of `data`, one per line), the response contains all matching entries and is streamed. If the server fails in between, the connection ends without the last chunk, which HTTP clients report as an error.',
  query: { ...entryFilters(), ...listOrder(), ...listPage('Entries'), ...entryFormat() },
  answer: result('A page of entries.', TokenEntryList, pageOfEntry(EXAMPLE_LISTED), { also: EXPORT_CONTENT }),
  problems: ['database_deadline', 'fees_hidden'],
  run: async ({ entries, selection }: Needs, { asker, approver: { viewer }, query, served }) => {
    const requested = await selection.read(asker, (timeZone) => readListQuery(query, timeZone))
    const format = fileFormat(served.request, requested.format)
    if (!format) return entries.listing.listEntries(viewer, requested)
    requireExportable(requested)
    const { filter, basis } = requested
    await entries.listing.requireBasis(viewer, basis)
    const file = entries.listing.exportFile(viewer, filter, format, { basis })
    return fileResponse(file, `token-entries.${format}`, format)
  },
})

const getTokenEntry = operation({
  ...READING,
  id: 'getTokenEntry',
  method: 'GET',
  path: '/token-entries/:id',
  params,
  object: 'ent',
  summary: 'Get a token entry',
  description: 'Includes the calculation of its list value.',
  answer: result('The entry.', TokenEntryDetail, EXAMPLE_DETAIL),
  run: ({ entries }: Needs, { params, approver }) => entries.listing.getEntry(params.id, approver.viewer),
})

const getTokenEntryHistory = operation({
  ...READING,
  id: 'getTokenEntryHistory',
  method: 'GET',
  path: '/token-entries/:id/history',
  params,
  summary: 'Get the history of a token entry',
  answer: result('Changes, oldest first.', TokenEntryHistory, EXAMPLE_HISTORY),
  run: ({ entries }: Needs, { params, approver }) => entries.listing.getHistory(params.id, approver.viewer),
})

export const listingOperations = [listTokenEntries, getTokenEntry, getTokenEntryHistory] as const
