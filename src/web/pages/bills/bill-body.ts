/** Bills as the API returns them. */
import { decimalsOf } from '../../format/counts.ts'
import { answer, type api, apiUntil, type Body } from '../../server/api.ts'

export type Bill = Body<Awaited<ReturnType<ReturnType<typeof api.bills>['get']>>>
export type BillHead = Body<Awaited<ReturnType<typeof api.bills.get>>>['data'][number]
export type BillDocument = Bill['document']
export type BillLine = BillDocument['sections'][number]['lines'][number]
export type BillRequest = NonNullable<Parameters<typeof api.bills.preview.post>[0]>
export type BillSending = NonNullable<Parameters<typeof api.bills.post>[0]>

export const askBill = (id: string, signal: AbortSignal): Promise<Bill> => answer(apiUntil(signal).bills({ id }).get())

/** The scope of a bill: its client, one project, or everything. */
export function scopeOf({ client, project }: Pick<BillHead, 'client' | 'project'>): string {
  if (project) return project.name === project.key ? project.key : `${project.key} · ${project.name}`
  return client?.name ?? 'Everything'
}

/** Formats an amount without its currency: `1,234.50`. */
export const amountOf = (value: number, minorDigits: number): string => decimalsOf(value, minorDigits, minorDigits)
