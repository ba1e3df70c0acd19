/** A billing run as the API returns it, and in words. Pure. */
import { addMonths, dayOf, firstOfMonth } from '../../format/moments.ts'
import type { api, Body } from '../../server/api.ts'

export type BillRun = Body<Awaited<ReturnType<typeof api.bills.run.get>>>
export type RunRow = BillRun['data'][number]
export type RunCheck = BillRun['checks'][number]

/** What has become of sending a row, in this window; what was sent is also known from the bills. */
export type Outcome =
  | { is: 'sending' }
  | { is: 'sent'; id: string; number: string }
  | { is: 'changed' }
  | { is: 'failed'; message: string }

export const keyOf = ({ client, project }: RunRow): string => client?.id ?? project!.id

export const nameOf = ({ client, project }: RunRow): string => client?.name ?? project!.name

/** `2026-10`: the last month that is over. */
export const lastMonth = (timeZone: string, now = new Date()): string =>
  addMonths(firstOfMonth(dayOf(now, timeZone)), -1).slice(0, 7)

const BLOCKS: Record<RunRow['blocked_by'][number], string> = {
  earlier_entries: 'earlier entries not decided',
  unpriced_entries: 'unpriced entries',
  period_not_closed: 'periods of plans not closed',
  exchange_rate: 'no exchange rate',
  bill_too_large: 'too large: bill each project',
}

/** "Blocked: no exchange rate", or nothing. */
export const blocksInWords = ({ blocked_by }: RunRow): string => blocked_by.map((block) => BLOCKS[block]).join(', ')

export const CHECKS: Record<RunCheck['check'], { title: string; advice: string }> = {
  unpriced: { title: 'Unpriced', advice: 'Their cost is unknown. Set a price for their models.' },
  unattributed: { title: 'Unattributed', advice: 'Not assigned to a project or ticket, so not billed to anyone.' },
  without_client: {
    title: 'In projects without a client',
    advice: 'Assign these projects to a client, or bill each project.',
  },
  without_project: { title: 'On tickets without a project', advice: 'Assign these tickets to a project.' },
  held: { title: 'Possible duplicates', advice: 'Release or discard them.' },
  not_approved: { title: 'Not approved', advice: 'Approve them to bill them.' },
  on_sheets: { title: 'On token sheets', advice: 'Open or submitted sheets: approve them to bill their entries.' },
  rejected: { title: 'Rejected', advice: 'Not billed. Reopen any that were rejected by mistake.' },
  earlier: { title: 'Before this month', advice: 'Unbilled entries from earlier months.' },
}

/** Rows that can be sent, by key, among those that are chosen. */
export const chosenRows = (rows: readonly RunRow[], chosen: ReadonlySet<string>): RunRow[] =>
  rows.filter((row) => row.state === 'ready' && chosen.has(keyOf(row)))

/** The sums of rows by currency. */
export function sumsOf(rows: readonly RunRow[]): [currency: string, total: number][] {
  const sums = new Map<string, number>()
  for (const { currency, total } of rows) sums.set(currency, (sums.get(currency) ?? 0) + (total ?? 0))
  return [...sums]
}

/** Rates that are missing or remembered, one for each foreign currency of the run, with the day of the newest. */
export function ratesOf(
  rows: readonly RunRow[],
): { currency: string; rate: number | undefined; on: string | undefined }[] {
  const found = new Map<string, { rate: number; on: string } | null>()
  for (const { currency, exchange_rate: rate, entries } of rows) {
    if (currency === 'USD' || entries === 0) continue
    const known = found.get(currency) ?? null
    found.set(currency, rate && (!known || rate.on > known.on) ? rate : known)
  }
  return [...found].map(([currency, rate]) => ({ currency, rate: rate?.rate, on: rate?.on }))
}
