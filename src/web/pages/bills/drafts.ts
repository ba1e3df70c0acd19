/** What makes a draft of a bill, and drafts that earlier versions of Tally kept in the browser. */
import type { DraftForm } from '../../server/bill-drafts.ts'
import type { BillValues } from './new-bill-values.ts'

/** What a person types, unlike what is chosen in a moment or filled in. */
const TYPED = [
  'days',
  'markup',
  'extra_lines',
  'note',
  'purchase_order',
  'deliver_to',
  'message',
] as const satisfies (keyof BillValues)[]

/** Whether the form has something that would be missed. */
export const isWorthKeeping = (values: BillValues, initial: BillValues): boolean =>
  TYPED.some((name) => JSON.stringify(values[name]) !== JSON.stringify(initial[name]))

/** The form as the API takes it: a number that can't be read is not kept. */
export function formOf(values: BillValues): DraftForm {
  const { include_earlier, ...rest } = JSON.parse(
    JSON.stringify(values, (_, value: unknown) => (Number.isNaN(value) ? '' : value)),
  ) as BillValues
  const choice = (chosen: BillValues['client']) =>
    chosen && { value: chosen.value, label: chosen.label, ...(chosen.detail && { detail: chosen.detail }) }
  return {
    ...rest,
    client: choice(rest.client),
    project: choice(rest.project),
    ...(include_earlier !== undefined && { include_earlier }),
  }
}

export const valuesOfForm = (form: DraftForm): BillValues => ({
  ...form,
  include_earlier: form.include_earlier,
  // Drafts of earlier versions do not have these.
  show_active_time: form.show_active_time ?? false,
  basis: form.basis ?? 'cost',
  provisional: form.provisional ?? false,
})

const storageKey = (person: string) => `tally-bill-drafts:${person}`

type Storage = Pick<globalThis.Storage, 'getItem' | 'setItem' | 'removeItem'>

interface StoredDraft {
  values: BillValues
}

/** Drafts that this browser has kept for the person; none if it has something else. */
export function storedDrafts(person: string, storage: Storage = localStorage): StoredDraft[] {
  try {
    const kept: unknown = JSON.parse(storage.getItem(storageKey(person)) ?? '[]')
    return Array.isArray(kept) ? kept.filter(isDraft) : []
  } catch {
    return []
  }
}

const isDraft = (kept: unknown): kept is StoredDraft =>
  typeof kept === 'object' && kept !== null && 'values' in kept && typeof kept.values === 'object'

/** Moves them to the server, once, and keeps here what it does not take. The number of those that it took. */
export async function moveStoredDrafts(
  person: string,
  add: (form: DraftForm) => Promise<unknown>,
  storage: Storage = localStorage,
): Promise<number> {
  const stored = storedDrafts(person, storage)
  const left: StoredDraft[] = []
  // Removed first, so that a page that is opened meanwhile does not add them again.
  if (stored.length > 0) storage.removeItem(storageKey(person))
  // The oldest first, as the list shows the newest first.
  for (const draft of stored.toReversed()) await add(formOf(draft.values)).catch(() => left.unshift(draft))
  if (left.length > 0) storage.setItem(storageKey(person), JSON.stringify(left))
  return stored.length - left.length
}
