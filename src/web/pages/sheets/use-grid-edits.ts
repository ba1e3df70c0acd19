/** Saves edits of the grid one after another, asks about costs that are far from the list value, and undoes them. */
import { useRef, useState } from 'react'
import { answer } from '../../server/api.ts'
import { asProblem, sentence } from '../../server/problem.ts'
import { forget } from '../../server/queries.ts'
import { changeOfEdit, countsOf, draftOfEdit, draftOfEntry, type Edit } from './grid-model.ts'
import { SHEET_CHANGES, type Sheet, type SheetEntry, sheetOf } from './sheet-body.ts'

/** Costs to confirm before their edits are saved. */
export interface CostsToConfirm {
  edits: Edit[]
  entries: SheetEntry[]
}

export function useGridEdits(sheet: Sheet, timeZone: string) {
  const [waiting, setWaiting] = useState(0)
  const [message, setMessage] = useState('')
  const [question, setQuestion] = useState<CostsToConfirm | null>(null)
  const [undoSteps, setUndoSteps] = useState(0)
  const undo = useRef<Edit[][]>([])
  const queue = useRef(Promise.resolve())
  /** Entries that were removed and added again have other ids. */
  const ids = useRef(new Map<string, string>())
  const { entries } = sheetOf(sheet.id)
  const idOf = ({ id }: SheetEntry): string => {
    let current = id
    for (let next = ids.current.get(current); next !== undefined; next = ids.current.get(current)) current = next
    return current
  }

  /** Saves an edit and returns the one that undoes it. */
  async function save(edit: Edit): Promise<Edit> {
    switch (edit.kind) {
      case 'add':
        return { kind: 'remove', entry: await answer(entries.post(draftOfEdit(edit, timeZone))) }
      case 'change': {
        const entry = await answer(entries({ entry: idOf(edit.entry) }).patch(changeOfEdit(edit)))
        return { kind: 'change', entry, tokens: countsOf(edit.entry), reportedCost: edit.entry.reported_cost }
      }
      case 'remove':
        await answer(entries({ entry: idOf(edit.entry) }).delete())
        return { kind: 'restore', entry: edit.entry }
      case 'restore': {
        const entry = await answer(entries.post(draftOfEntry(edit.entry)))
        ids.current.set(idOf(edit.entry), entry.id)
        return { kind: 'remove', entry }
      }
    }
  }

  /** The entries of a dry run whose cost is to be confirmed. */
  async function mismatches(edits: Edit[]): Promise<SheetEntry[]> {
    const found: SheetEntry[] = []
    const query = { dry_run: 'true' }
    for (const edit of edits) {
      if (edit.kind !== 'add' && edit.kind !== 'change') continue
      if (edit.reportedCost === null || edit.reportedCost === undefined) continue
      const planned =
        edit.kind === 'add'
          ? await answer(entries.post(draftOfEdit(edit, timeZone), { query }))
          : await answer(entries({ entry: idOf(edit.entry) }).patch(changeOfEdit(edit), { query }))
      if (planned.cost_mismatch) found.push(planned)
    }
    return found
  }

  /** Saves all edits up to the first that fails; those before it can be undone. */
  async function saveAll(edits: Edit[], { isUndo = false } = {}): Promise<void> {
    const inverse: Edit[] = []
    try {
      for (const edit of edits) inverse.unshift(await save(edit))
      setMessage(isUndo ? 'Undone.' : '')
    } catch (error) {
      const { message, issues } = asProblem(error)
      const saved = inverse.length > 0 ? ` ${inverse.length} of ${edits.length} cells were saved.` : ''
      const named = issues.map((issue) => sentence(`${issue.pointer.slice(1).replaceAll('/', ' ')} ${issue.message}`))
      setMessage(`${named.join(' ') || message}${saved}`)
    }
    if (inverse.length > 0 && !isUndo) undo.current.push(inverse)
    setUndoSteps(undo.current.length)
    await forget(SHEET_CHANGES)
  }

  function enqueue(work: () => Promise<void>): Promise<void> {
    setWaiting((number) => number + 1)
    const done = queue.current.then(work).finally(() => setWaiting((number) => number - 1))
    queue.current = done.catch(() => undefined)
    return done
  }

  return {
    isSaving: waiting > 0,
    /** The last error or result; empty if there is nothing to say. */
    message,
    say: setMessage,
    question,
    canUndo: undoSteps > 0,

    /** Saves edits, unless their costs have to be confirmed first. Resolves when the grid shows them. */
    apply: (edits: Edit[]): Promise<void> =>
      enqueue(async () => {
        try {
          const found = await mismatches(edits)
          if (found.length > 0) return setQuestion({ edits, entries: found })
        } catch {
          // Saving fails with the same error, which is shown.
        }
        await saveAll(edits)
      }),

    async confirmCosts(): Promise<void> {
      const { edits } = question!
      setQuestion(null)
      await enqueue(() => saveAll(edits))
    },

    cancelCosts: () => setQuestion(null),

    undo: (): Promise<void> =>
      enqueue(async () => {
        const step = undo.current.pop()
        if (step) await saveAll(step, { isUndo: true })
      }),
  }
}
