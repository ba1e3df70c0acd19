/** Keyboard shortcuts that work on every page, except while typing. */
import { useEffect } from 'react'
import { type KeybindingsMap, tinykeys } from 'tinykeys'
import { useLocation } from 'wouter'

/** Where `g` and a key lead. Not the whole section, which would pull in its page. */
interface Destination {
  path: string
  key: string
}

/** The key of shortcuts that also work while typing. */
export const MODIFIER = /Mac|iP(hone|ad|od)/.test(globalThis.navigator?.platform ?? '') ? '⌘' : 'Ctrl'

/** Shortcuts handled by pages and tables, listed next to those of the menu. */
export const SHORTCUTS = [
  { keys: [MODIFIER, 'k'], does: 'Search everything' },
  { keys: ['/'], does: 'Search on this page' },
  { keys: ['j'], does: 'Next row' },
  { keys: ['k'], does: 'Previous row' },
  { keys: ['Enter'], does: 'Open row' },
  { keys: ['x'], does: 'Select row' },
  { keys: ['Shift', 'x'], does: 'Select all rows from the last selected one' },
  { keys: ['a'], does: 'Approve row or selection (Inbox), or accept its suggestion' },
  { keys: ['r'], does: 'Return or reject with a reason (Inbox)' },
  { keys: ['u'], does: 'Undo the last decision (Inbox)' },
  { keys: ['Esc'], does: 'Close dialog or panel' },
  { keys: ['?'], does: 'Show keyboard shortcuts' },
]

/** How soon after `g` the next key must follow. */
export const SECOND_KEY_MS = 1_200

const FIELD = 'input:not([type="checkbox"]), textarea, select, [role="menu"], [role="listbox"]'

/** Whether a key press belongs to a field or menu, or is a browser shortcut. */
export function isTyping({ target, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  if (ctrlKey || metaKey || altKey) return true
  if (!(target instanceof HTMLElement)) return false
  return target.isContentEditable || target.closest(FIELD) !== null
}

export const isDialogOpen = () => document.querySelector('[role="dialog"]') !== null

function focusSearch(event: KeyboardEvent): void {
  const search = document.querySelector<HTMLInputElement>('main input[type="search"]')
  if (!search) return
  event.preventDefault()
  search.focus()
}

export function useShortcuts({ sections, help }: { sections: readonly Destination[]; help: () => void }) {
  const [, navigate] = useLocation()
  useEffect(() => {
    const goTo = (path: string) => (event: KeyboardEvent) => {
      event.preventDefault()
      navigate(path)
    }
    // Some keyboards need Shift for these two, others do not.
    const bindings: KeybindingsMap = { '[Shift]+?': help, '[Shift]+/': focusSearch }
    for (const { key, path } of sections) bindings[`g ${key}`] = goTo(path)
    const ignore = (event: KeyboardEvent) => isTyping(event) || isDialogOpen()
    return tinykeys(window, bindings, { timeout: SECOND_KEY_MS, ignore })
  }, [sections, help, navigate])
}
