/** Keyboard shortcuts that work on every page, except while typing. */
import { useEffect } from 'react'
import { useLocation } from 'wouter'

/** Where `g` and a key lead. Not the whole section, which would pull in its page. */
interface Destination {
  path: string
  key: string
}

/** Shortcuts handled by pages and tables, listed next to those of the menu. */
export const SHORTCUTS = [
  { keys: ['/'], does: 'Search on this page' },
  { keys: ['j'], does: 'Next row' },
  { keys: ['k'], does: 'Previous row' },
  { keys: ['Enter'], does: 'Open row' },
  { keys: ['x'], does: 'Select row' },
  { keys: ['Esc'], does: 'Close dialog or panel' },
  { keys: ['?'], does: 'Show keyboard shortcuts' },
]

/** How soon after `g` the next key must follow. */
const SECOND_KEY_MS = 1_200

/** Whether a key press belongs to a field or menu, or is a browser shortcut. */
export function isTyping({ target, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  if (ctrlKey || metaKey || altKey) return true
  if (!(target instanceof HTMLElement)) return false
  return target.isContentEditable || target.closest('input, textarea, select, [role="menu"], [role="listbox"]') !== null
}

const isDialogOpen = () => document.querySelector('[role="dialog"]') !== null

export function useShortcuts({ sections, help }: { sections: readonly Destination[]; help: () => void }) {
  const [, navigate] = useLocation()
  useEffect(() => {
    let goPressedAt = 0
    const listen = (event: KeyboardEvent) => {
      if (isTyping(event) || isDialogOpen()) return
      const { key } = event
      if (event.timeStamp - goPressedAt < SECOND_KEY_MS) {
        goPressedAt = 0
        const section = sections.find((section) => section.key === key)
        if (section) {
          event.preventDefault()
          navigate(section.path)
        }
      } else if (key === 'g') {
        goPressedAt = event.timeStamp
      } else if (key === '?') {
        help()
      } else if (key === '/') {
        const search = document.querySelector<HTMLInputElement>('main input[type="search"]')
        if (search) {
          event.preventDefault()
          search.focus()
        }
      }
    }
    document.addEventListener('keydown', listen)
    return () => document.removeEventListener('keydown', listen)
  }, [sections, help, navigate])
}
