import { useDebouncedValue } from '@mantine/hooks'
import { useEffect, useRef } from 'react'
import { useMe } from '../../server/me.ts'
import { isWorthKeeping, keepDraft, readDrafts, removeDraft } from './drafts.ts'
import type { BillValues } from './new-bill-values.ts'

/** Short enough that a crash loses no more than the last words. */
const KEEP_AFTER_MS = 400

const newId = () => [...crypto.getRandomValues(new Uint8Array(8))].map((byte) => byte.toString(16)).join('')

/** The values of a draft in the address. */
export function useDraftValues(id: string | undefined): BillValues | undefined {
  const person = useMe().person.id
  return id === undefined ? undefined : readDrafts(person).find((draft) => draft.id === id)?.values
}

interface DraftOptions {
  /** Of the draft in the address. */
  id: string | undefined
  values: BillValues
  /** Those of a form that nobody has touched. */
  initial: BillValues
  /** Puts the id of a new draft into the address, so that a reload finds it. */
  created: (id: string) => void
}

/** Keeps what is typed until `remove` is called, as when the bill is sent. */
export function useKeptDraft({ id, values, initial, created }: DraftOptions): { remove: () => void } {
  const person = useMe().person.id
  const [settled] = useDebouncedValue(JSON.stringify(values), KEEP_AFTER_MS)
  const isRemoved = useRef(false)
  // Only what is typed makes a draft, not its id.
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  useEffect(() => {
    const typed = JSON.parse(settled) as BillValues
    if (isRemoved.current || (id === undefined && !isWorthKeeping(typed, initial))) return
    const kept = id ?? newId()
    keepDraft(person, { id: kept, at: new Date().toISOString(), values: typed })
    if (id === undefined) created(kept)
  }, [settled])
  return {
    remove: () => {
      isRemoved.current = true
      if (id !== undefined) removeDraft(person, id)
    },
  }
}
