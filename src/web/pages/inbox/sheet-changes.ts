/** The calls that decide about a token sheet, and what depends on them. */
import type { Approvals } from '../../parts/approvals.ts'
import { answer, api } from '../../server/api.ts'
import { ifMatch } from '../../server/versions.ts'

export const CHANGES = ['sheets', 'entries', 'reports', 'audit'] as const

export const sheetOf = (id: string) => api['token-sheets']({ id })

export type Sheet = Approvals['sheets']['data'][number]

/** Refused if somebody has changed the sheet since it was read. */
export const approveSheet = ({ id, version }: Sheet) =>
  answer(sheetOf(id).approve.post(undefined, ifMatch(`"${version}"`)))

/** All sheets that wait for the person, longest waiting first. */
export async function readWaitingSheets(): Promise<Sheet[]> {
  const found: Sheet[] = []
  let page: string | undefined
  do {
    const { sheets } = await answer(api.approvals.get({ query: { limit: '1000', page } }))
    found.push(...sheets.data)
    page = sheets.next_page ?? undefined
  } while (page !== undefined)
  return found
}
