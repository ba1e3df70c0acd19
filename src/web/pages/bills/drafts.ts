/**
 * What was typed in new bills that are not sent yet, kept in this browser for each person: it survives a reload, a crash
 * and signing out. Only the form is kept, never a number or entries.
 */
import type { BillValues } from './new-bill-values.ts'

export interface Draft {
  id: string
  /** When it was last changed. */
  at: string
  values: BillValues
}

/** The oldest are removed beyond this. */
const DRAFTS_LIMIT = 20

const storageKey = (person: string) => `tally-bill-drafts:${person}`

type Storage = Pick<globalThis.Storage, 'getItem' | 'setItem'>

/** Newest first. Empty if the browser stores nothing, or something that is not ours. */
export function readDrafts(person: string, storage: Storage = localStorage): Draft[] {
  try {
    const kept: unknown = JSON.parse(storage.getItem(storageKey(person)) ?? '[]')
    return Array.isArray(kept) ? kept.filter(isDraft) : []
  } catch {
    return []
  }
}

const isDraft = (kept: unknown): kept is Draft =>
  typeof kept === 'object' && kept !== null && 'id' in kept && 'at' in kept && 'values' in kept

export function keepDraft(person: string, draft: Draft, storage: Storage = localStorage): void {
  const others = readDrafts(person, storage).filter(({ id }) => id !== draft.id)
  write(person, [draft, ...others].slice(0, DRAFTS_LIMIT), storage)
}

export function removeDraft(person: string, id: string, storage: Storage = localStorage): void {
  const all = readDrafts(person, storage)
  const others = all.filter((draft) => draft.id !== id)
  if (others.length < all.length) write(person, others, storage)
}

/** A browser that is full or stores nothing keeps no drafts, and the form works all the same. */
function write(person: string, drafts: Draft[], storage: Storage): void {
  try {
    storage.setItem(storageKey(person), JSON.stringify(drafts))
  } catch {
    // See above.
  }
}

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
