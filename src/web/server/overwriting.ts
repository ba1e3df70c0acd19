/** The question whether to overwrite what somebody else has changed. `parts/overwrite.tsx` shows it. */
import type { LastChange } from './problem.ts'

export interface Question {
  change: LastChange
  answer: (overwrites: boolean) => void
}

let open: Question | null = null
const listeners = new Set<() => void>()

function show(question: Question | null): void {
  open = question
  for (const tell of listeners) tell()
}

/** Whether the person wants to overwrite the change. */
export function asksToOverwrite(change: LastChange): Promise<boolean> {
  return new Promise((resolve) => {
    // Two forms can't be sent at once, but a former question must not wait for ever.
    open?.answer(false)
    show({
      change,
      answer: (overwrites) => {
        show(null)
        resolve(overwrites)
      },
    })
  })
}

/** For `useSyncExternalStore`. */
export const openQuestion = {
  subscribe: (listener: () => void) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  },
  current: () => open,
}
