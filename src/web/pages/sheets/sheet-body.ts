import { api, apiUntil, type Body } from '../../server/api.ts'
import type { Me } from '../../server/me.ts'

/** With a signal, for queries: see {@link apiUntil}. */
export const sheetOf = (id: string, signal?: AbortSignal) => (signal ? apiUntil(signal) : api)['token-sheets']({ id })

export type Sheet = Body<Awaited<ReturnType<(typeof api)['token-sheets']['get']>>>['data'][number]
export type SheetEntry = Body<Awaited<ReturnType<ReturnType<typeof sheetOf>['entries']['post']>>>
export type Overlaps = Body<Awaited<ReturnType<ReturnType<typeof sheetOf>['overlaps']['get']>>>['data']

/** Parts of the API that a change to a sheet or its entries affects. */
export const SHEET_CHANGES = ['sheets', 'entries', 'reports', 'audit'] as const

export interface Rights {
  /** May add and edit entries, and submit and remove the sheet. */
  edits: boolean
  approves: boolean
  returns: boolean
  withdraws: boolean
}

/** What a person may do with a sheet in its current state. The server enforces the same rules. */
export function rightsTo(
  { status, agent_manager, projects, has_unplaced }: Sheet,
  { person, approvedIds }: Me,
): Rights {
  const isOwn = agent_manager.id === person.id
  const isAdmin = person.role === 'admin'
  const answersFor =
    isAdmin ||
    person.role === 'billing' ||
    (projects.length > 0 && !has_unplaced && projects.every(({ id }) => approvedIds.includes(id)))
  return {
    edits: (isOwn || isAdmin) && (status === 'open' || status === 'returned'),
    // Only admins approve their own sheets.
    approves: status === 'submitted' && answersFor && (!isOwn || isAdmin),
    returns: status === 'submitted' && answersFor,
    withdraws: status === 'approved' && answersFor,
  }
}
