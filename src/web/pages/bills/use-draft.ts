/** Saves what is typed in a new bill as a draft, while somebody types. */
import { useDebouncedValue } from '@mantine/hooks'
import { useEffect, useRef, useState } from 'react'
import {
  addDraft,
  type BillDraft,
  changeDraft,
  discardDraft,
  forgetDrafts,
  readDraft,
} from '../../server/bill-drafts.ts'
import { asProblem, type Problem } from '../../server/problem.ts'
import { formOf, isWorthKeeping } from './drafts.ts'
import type { BillValues } from './new-bill-values.ts'

/** Short enough that a crash loses no more than the last words. */
const SAVE_AFTER_MS = 600

interface DraftOptions {
  /** The draft that was opened. */
  opened: BillDraft | undefined
  values: BillValues
  /** Those of a form that nobody has touched. */
  initial: BillValues
  /** Puts the id of a new draft into the address, so that a reload finds it. */
  created: (id: string) => void
}

export interface KeptDraft {
  /** Undefined before the first change is saved. */
  savedAt: string | undefined
  /** Why it is not saved: until the next try, or if somebody else has changed it, until `overwrite`. */
  problem: Problem | undefined
  overwrite: () => void
  /** To be sent with the bill, which deletes it; undefined before the first change is saved, and once it is gone. */
  id: string | undefined
  /** Call it with the refusal of a bill whose draft is gone. */
  lose: (refused: Problem) => void
  /** Call it once the bill is sent, with the draft that was sent with it: one that was saved meanwhile is deleted. */
  end: (sent: string | undefined) => void
}

/** Whether somebody else has sent or deleted it. */
export const isGone = (problem: Problem | undefined): boolean =>
  problem !== undefined && (problem.status === 404 || problem.code === 'draft_gone')

export function useKeptDraft({ opened, values, initial, created }: DraftOptions): KeptDraft {
  const [settled] = useDebouncedValue(JSON.stringify(formOf(values)), SAVE_AFTER_MS)
  const [draft, setDraft] = useState(opened)
  const [problem, setProblem] = useState<Problem>()
  const state = useRef({
    draft: opened,
    /** The form as it is on the server, and as it should be. */
    saved: JSON.stringify(formOf(values)),
    wanted: '',
    isSaving: false,
    isEnded: false,
    sent: undefined as string | undefined,
    hasConflict: false,
  })

  async function discardRest(): Promise<void> {
    const { draft: rest, sent } = state.current
    if (rest && rest.id !== sent) await discardDraft(rest.id)
    await forgetDrafts()
  }

  /** One request at a time: each names the revision that the one before made. */
  async function save(): Promise<void> {
    const now = state.current
    if (now.isSaving) return
    now.isSaving = true
    while (!now.isEnded && !now.hasConflict && now.wanted !== now.saved) {
      const text = now.wanted
      const form = JSON.parse(text) as BillDraft['form']
      try {
        const { id, revision } = now.draft ?? {}
        const saved = await (id === undefined ? addDraft(form) : changeDraft(id, { form, revision: revision! }))
        now.draft = saved
        now.saved = text
        setDraft(saved)
        setProblem(undefined)
        if (id === undefined && !now.isEnded) created(saved.id)
        void forgetDrafts()
      } catch (error) {
        const refused = asProblem(error)
        now.hasConflict = refused.status === 412
        setProblem(refused)
        break
      }
    }
    now.isSaving = false
    if (now.isEnded) await discardRest()
  }

  // Only what is typed makes a draft.
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  useEffect(() => {
    const now = state.current
    if (now.draft === undefined && !isWorthKeeping(values, initial)) return
    now.wanted = settled
    void save()
  }, [settled])

  return {
    savedAt: draft?.updated_at,
    problem,
    overwrite: () => {
      const now = state.current
      readDraft(now.draft!.id)
        .then((theirs) => {
          now.draft = theirs
          now.hasConflict = false
          setProblem(undefined)
          return save()
        })
        .catch((error: unknown) => setProblem(asProblem(error)))
    },
    id: isGone(problem) ? undefined : draft?.id,
    lose: setProblem,
    end: (sent) => {
      const now = state.current
      now.isEnded = true
      now.sent = sent
      if (!now.isSaving) void discardRest()
    },
  }
}
