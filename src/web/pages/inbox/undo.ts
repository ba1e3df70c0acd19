/** The last decision, which `u` and the link in its notification undo, once. */
import { createContext, useContext, useMemo, useRef } from 'react'
import { tellUndo } from '../../parts/undo.tsx'
import { asProblem } from '../../server/problem.ts'
import { tellProblem } from '../../server/send.ts'

interface Undoing {
  /** After a decision: shows what was done, and how to undo it. */
  decided: (message: string, label: string, undo: () => Promise<unknown>) => void
  /** Undoes the last decision; nothing if there is none. */
  undo: () => void
}

const UndoContext = createContext<Undoing>({ decided: () => {}, undo: () => {} })
export const UndoProvider = UndoContext.Provider
export const useDecided = () => useContext(UndoContext).decided

export function useUndoing(): Undoing {
  const last = useRef<(() => void) | null>(null)
  return useMemo(
    () => ({
      decided: (message, label, undo) => {
        const once = () => {
          if (last.current === once) last.current = null
          if (isUndone) return
          isUndone = true
          undo().catch((error) => tellProblem(asProblem(error)))
        }
        let isUndone = false
        last.current = once
        tellUndo(message, label, once)
      },
      undo: () => last.current?.(),
    }),
    [],
  )
}
